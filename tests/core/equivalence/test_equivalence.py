"""The equivalence cache: which calls it saves, what invalidates its results, and which stale answers it
gives."""

import pytest
import yaml

from kubeclassic.core.equivalence import class_of
from kubeclassic.core.run import EventFeed
from kubeclassic.simulation.explain.explain import explain
from tests.support.build import engine, pod, policy_of
from tests.support.equivalencebuild import (
    ASKING,
    CLAIM,
    DISK,
    PLAIN,
    WEB,
    ZONE,
    both_releases,
    host,
    keeping_away,
    kept,
    place,
    why,
)
from tests.support.volumebuild import BOUND, WAIT, claim, storage_class, volume


def with_and_without(story, *objects, **options):
    """The result of *story* with the cache on and with it off."""
    options = {"preemption": False, **options}
    return story(engine(*objects, equivalence_cache=True, **options)), story(engine(*objects, **options))


CORDONED = "0/1 nodes are available: 1 node(s) were unschedulable."
AFFINITY = (
    "0/1 nodes are available: 1 node(s) didn't match pod affinity/anti-affinity, "
    "1 node(s) didn't satisfy existing pods anti-affinity rules."
)
NO_DISK, NO_ZONE = (
    f"0/1 nodes are available: 1 node(s) had no available {what}." for what in ("disk", "volume zone")
)
UNLABELLED = "0/1 nodes are available: 1 node(s) didn't have the requested labels."
FULL = "0/1 nodes are available: 1 Insufficient cpu."


def policy(name, **argument):
    """A Policy with one predicate."""
    return policy_of(predicates=[{"name": name} | ({"argument": argument} if argument else {})])


@both_releases
class TestGaps:
    @pytest.mark.parametrize(
        "spec, told, true, before, options",
        [
            pytest.param(
                {}, host("a", unschedulable=True), CORDONED, (), {}, id="cordoning: CheckNodeUnschedulable"
            ),
            pytest.param(
                {"labels": WEB, "affinity": keeping_away(**WEB)},
                None,
                AFFINITY,
                (),
                {},
                id="a pod assumed: MatchInterPodAffinity",
            ),
            pytest.param(
                {"labels": WEB},
                pod("foreign", on="a", affinity=keeping_away(**WEB)),
                AFFINITY,
                (),
                {},
                id="a pod bound by others: MatchInterPodAffinity",
            ),
            pytest.param({"volumes": DISK}, None, NO_DISK, (), {}, id="a pod assumed: NoDiskConflict"),
            pytest.param(
                {"cpu": "3"},
                None,
                FULL,
                (),
                {"policy": policy("PodFitsResources")},
                id="a new pod: PodFitsResources of a Policy",
            ),
            pytest.param(
                {},
                host("a"),
                UNLABELLED,
                [host("a", labels={"rack": "r"})],
                {
                    "policy": policy(
                        "CheckNodeLabelPresence", labelsPresence={"labels": ["rack"], "presence": True}
                    )
                },
                id="a label taken away: CheckNodeLabelPresence",
            ),
            pytest.param(
                {"volumes": CLAIM},
                host("a", labels={ZONE: "z2"}),
                NO_ZONE,
                [
                    host("a"),
                    claim("c", annotations=BOUND, volumeName="v"),
                    volume("v", meta={"labels": {ZONE: "z1"}}),
                ],
                {},
                id="a zone that a node did not have: NoVolumeZoneConflict",
            ),
        ],
    )
    def test_what_is_not_seen(self, release, spec, told, true, before, options):
        """After the first pod and the event the second, of the same class, still gets the node, which without
        a cache it would not."""

        def story(made):
            assert place(made, pod("first", **spec)) == "a"
            if told is not None:
                EventFeed(made).put(told)
            return why(made, pod("second", **spec))

        assert with_and_without(story, *(before or [host("a")]), release=release, **options) == ("a", true)

    def test_a_pod_that_expired_still_takes_room(self, release):
        """Forgetting an assumed pod invalidates nothing: the node stays full for pods that it rejected."""

        def story(made):
            big = pod("first", cpu="3")
            same = pod("second", cpu="3")
            assert place(made, big) == "a"
            assert "Insufficient cpu" in why(made, same)
            made.cache.finish_binding(big, 0.0)
            assert made.cache.expire(60.0)
            return why(made, same)

        stale, true = with_and_without(story, host("a"), release=release)
        assert (stale, true) == ("0/1 nodes are available: 1 Insufficient cpu.", "a")


def kept_on(made, predicate, *, of=0):
    """Node -> the cached result of *predicate* for the first class (or *of*): 1 fits, more does not; without
    a result no entry."""
    rows = made.flow.equivalence.results(predicate).of(of, made.table.size)
    return {} if rows is None else {made.table.names[i]: int(code) for i, code in enumerate(rows) if code}


# --- What is kept -------------------------------------------------------------------------------------------


def test_preemption_looks_for_itself():
    """Trials of preemption neither read the cache, in which the node is full, nor write to it."""
    made = engine(host("a"), release="1.12", equivalence_cache=True)
    important = pod("p", cpu="2", priority=10)
    assert place(made, pod("low", cpu="3")) == "a"
    plan = made.schedule(important).preemption
    assert (plan.node, [victim.name for victim in plan.victims]) == ("a", ["low"])
    assert kept_on(made, "GeneralPredicates", of=1) == {"a": 2}
    assert kept_on(made, "PodToleratesNodeTaints", of=1) == {}


def test_explaining_keeps_nothing():
    """Explaining a pod reads the cache but does not write to it."""
    made = engine(host("a"), release="1.12", equivalence_cache=True)
    explain(made, PLAIN)
    assert kept_on(made, "GeneralPredicates") == {}
    place(made, PLAIN)
    EventFeed(made).put(host("a", unschedulable=True))
    assert explain(made, pod("q", labels=WEB)).decision.host == "a"


def test_off_unless_asked_for():
    """Without the gate or the option there is no cache, and releases that have none do not get one."""
    assert engine(release="1.12").flow.equivalence is None
    assert engine(release="1.14", equivalence_cache=True).flow.equivalence is None
    assert engine(release="1.13", gates={"EnableEquivalenceClassCache": True}).flow.equivalence is not None


def test_volume_counts_are_not_left_behind_on_a_hit():
    """A cache hit of a count predicate stores no counts for BalancedResourceAllocation."""
    gates = {"BalanceAttachedNodeVolumes": True}
    made = engine(host("a"), release="1.12", gates=gates, equivalence_cache=True)
    incoming = pod("p", volumes=yaml.safe_load("[{name: v, awsElasticBlockStore: {volumeID: d}}]"))
    made.schedule(incoming)
    assert made.table.transient[:, 0].any()
    made.schedule(incoming)
    assert not made.table.transient[:, 0].any()


# --- Classes ------------------------------------------------------------------------------------------------


def test_what_makes_no_difference():
    """Name, priority, annotations and owners are not part of a class; an empty list equals an absent one."""
    meta = yaml.safe_load("""
        annotations: {k: v}
        ownerReferences:
        - {kind: ReplicaSet, name: r, uid: u, controller: true}
        """)
    assert class_of(pod("a")) == class_of(
        pod("b", priority=7, metadata=meta, nodeSelector={}, tolerations=[], volumes=[])
    )


@pytest.mark.parametrize(
    "other",
    [
        pod("a", namespace="other"),
        pod("a", labels=WEB),
        pod("a", on="n"),
        pod("a", nodeSelector={"k": "v"}),
        pod("a", volumes=DISK),
        pod("a", tolerations=[{"key": "k"}]),
        pod("a", affinity={}),
        pod("a", cpu="1"),
        pod("a", initContainers=[{"name": "i"}]),
    ],
)
def test_what_makes_a_difference(other):
    """Namespace, labels, affinity, containers, node, selector, tolerations and volumes are part of a
    class."""
    assert class_of(pod("a")) != class_of(other)


@pytest.mark.parametrize(
    "one, other, alike",
    [
        ("1", "1000m", False),
        ("100m", "0.100", False),
        ("100m", "100e-3", False),
        ("1500m", "1.500", False),
        ("1Gi", "1024Mi", False),
        ("200Mi", "204800Ki", True),
        ("1000m", "1.000", True),
        ("500m", "500m", True),
    ],
)
def test_quantities_differ_as_they_are_written(one, other, alike):
    """Equal amounts that Go keeps in different forms make two classes."""
    assert (class_of(pod("a", cpu=one)) == class_of(pod("a", cpu=other))) is alike


# --- what invalidates results, so that the true answer is found again ---------------------------------------


FILLING = pod("full", on="a", cpu="4")
SHY = pod("shy", on="a", affinity=keeping_away(**WEB))
WRITER = pod("writer", on="a", volumes=DISK)
OFF = {"TaintNodesByCondition": False}
READY = {"type": "Ready", "status": "True"}
PRESSED = {"type": "MemoryPressure", "status": "True"}
TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


@both_releases
@pytest.mark.parametrize(
    "incoming, before, change, gates",
    [
        pytest.param(
            ASKING,
            [host("a"), FILLING],
            lambda feed: feed.delete(FILLING),
            {},
            id="pod deleted: GeneralPredicates",
        ),
        pytest.param(
            PLAIN,
            [host("a"), SHY],
            lambda feed: feed.delete(SHY),
            {},
            id="pod deleted: MatchInterPodAffinity",
        ),
        pytest.param(
            pod("p", volumes=DISK),
            [host("a"), WRITER],
            lambda feed: feed.delete(WRITER),
            {},
            id="pod deleted: NoDiskConflict",
        ),
        pytest.param(
            ASKING,
            [host("a"), FILLING],
            lambda feed: feed.put(pod("full", on="a", cpu="1")),
            {},
            id="pod asks for less",
        ),
        pytest.param(
            pod("p", affinity=keeping_away(**WEB)),
            [host("a"), pod("web", on="a", labels=WEB)],
            lambda feed: feed.put(pod("web", on="a", app="db")),
            {},
            id="pod labelled anew: MatchInterPodAffinity",
        ),
        pytest.param(
            ASKING,
            [host("a", cpu="1")],
            lambda feed: feed.put(host("a")),
            {},
            id="allocatable: GeneralPredicates",
        ),
        pytest.param(
            pod("p", nodeSelector={"k": "v"}),
            [host("a")],
            lambda feed: feed.put(host("a", labels={"k": "v"})),
            {},
            id="labels: GeneralPredicates",
        ),
        pytest.param(
            PLAIN,
            [host("a", taints=[TAINT])],
            lambda feed: feed.put(host("a")),
            {},
            id="taints: PodToleratesNodeTaints",
        ),
        pytest.param(
            PLAIN,
            [host("a", conditions=[READY, PRESSED])],
            lambda feed: feed.put(host("a", conditions=[READY, {**PRESSED, "status": "False"}])),
            OFF,
            id="pressure",
        ),
        pytest.param(
            PLAIN,
            [host("a", conditions=[{**READY, "status": "False"}])],
            lambda feed: feed.put(host("a", conditions=[READY])),
            OFF,
            id="ready: CheckNodeCondition",
        ),
        pytest.param(
            PLAIN,
            [host("a", conditions=[READY], unschedulable=True)],
            lambda feed: feed.put(host("a", conditions=[READY])),
            OFF,
            id="uncordoned: CheckNodeCondition",
        ),
        pytest.param(
            PLAIN,
            [host("a", unschedulable=True)],
            lambda feed: (feed.delete(host("a")), feed.put(host("a"))),
            {},
            id="node deleted: everything",
        ),
        pytest.param(
            pod("p", volumes=CLAIM),
            [host("a"), claim("c"), storage_class("wait", **WAIT)],
            lambda feed: feed.put(volume("v")),
            {},
            id="volume added: CheckVolumeBinding",
        ),
        pytest.param(
            pod("p", volumes=CLAIM),
            [
                host("a", labels={ZONE: "z2"}),
                claim("c", annotations=BOUND, volumeName="v"),
                volume("v", meta={"labels": {ZONE: "z1"}}),
            ],
            lambda feed: feed.put(volume("v", meta={"labels": {ZONE: "z2"}, "resourceVersion": "8"})),
            {},
            id="volume moved: NoVolumeZoneConflict",
        ),
    ],
)
class TestWhatEndsResults:
    def test_a_change_for_the_better_is_seen(self, release, incoming, before, change, gates):
        """A node that rejected the pod accepts it after the event; before it, the answer to an equal pod was
        a cache hit."""
        made = engine(*before, release=release, gates=gates, equivalence_cache=True, preemption=False)
        refused = why(made, incoming)
        assert refused.startswith("0/1")
        assert why(made, incoming) == refused
        change(EventFeed(made))
        assert why(made, incoming) == "a"


def test_a_class_that_goes_ends_volume_binding():
    """When a class with delayed binding is deleted its claims are judged again, because they may no
    longer wait."""
    wait = storage_class("wait", **WAIT)
    made = engine(host("a"), claim("c"), volume("v"), wait, release="1.12", equivalence_cache=True)
    assert why(made, pod("p", volumes=CLAIM)) == "a"
    EventFeed(made).delete(wait)
    assert why(made, pod("p", volumes=CLAIM)) != "a"


def test_a_claim_bound_elsewhere_ends_the_counts():
    """A claim that gets a volume invalidates CheckVolumeBinding and the volume counts on all nodes."""
    made = engine(
        host("a"),
        claim("c"),
        volume("v"),
        storage_class("wait", **WAIT),
        release="1.12",
        equivalence_cache=True,
    )
    made.schedule(pod("p", volumes=CLAIM))
    bound = claim("c", annotations=BOUND, volumeName="v")
    assert kept(made, "CheckVolumeBinding", "MaxEBSVolumeCount", "NoVolumeZoneConflict") == [True, True, True]
    EventFeed(made).put(bound)
    # Upstream: the zones of the new volume are not looked at.
    assert kept(made, "CheckVolumeBinding", "MaxEBSVolumeCount", "NoVolumeZoneConflict") == [
        False,
        False,
        True,
    ]
