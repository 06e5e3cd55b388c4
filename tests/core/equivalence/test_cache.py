"""The equivalence cache: which calls it saves, what invalidates its results, and which stale answers it
gives."""

import pytest

from kubeclassic.core.equivalence import class_of
from kubeclassic.core.feed import EventFeed
from kubeclassic.core.run import Run
from kubeclassic.simulation.explain.explain import explain
from tests.support.build import engine, pod
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
    return {
        "kind": "Policy",
        "apiVersion": "v1",
        "predicates": [{"name": name} | ({"argument": argument} if argument else {})],
    }


@both_releases
class TestGaps:
    @pytest.mark.parametrize(
        ("first", "told", "second", "true", "before", "options"),
        [
            pytest.param(
                {},
                host("a", unschedulable=True),
                {},
                CORDONED,
                (),
                {},
                id="cordoning: CheckNodeUnschedulable",
            ),
            pytest.param(
                {"labels": WEB, "affinity": keeping_away(**WEB)},
                None,
                {"labels": WEB, "affinity": keeping_away(**WEB)},
                AFFINITY,
                (),
                {},
                id="a pod assumed: MatchInterPodAffinity",
            ),
            pytest.param(
                {"labels": WEB},
                pod("foreign", on="a", affinity=keeping_away(**WEB)),
                {"labels": WEB},
                AFFINITY,
                (),
                {},
                id="a pod bound by others: MatchInterPodAffinity",
            ),
            pytest.param(
                {"volumes": DISK},
                None,
                {"volumes": DISK},
                NO_DISK,
                (),
                {},
                id="a pod assumed: NoDiskConflict",
            ),
            pytest.param(
                {"requests": {"cpu": "3"}},
                None,
                {"requests": {"cpu": "3"}},
                FULL,
                (),
                {"policy": policy("PodFitsResources")},
                id="a new pod: PodFitsResources of a Policy",
            ),
            pytest.param(
                {},
                host("a"),
                {},
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
                {"volumes": CLAIM},
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
    def test_what_is_not_seen(self, release, first, told, second, true, before, options):
        """After the first pod and the event the second, of the same class, still gets the node, which without
        a cache it would not."""

        def story(made):
            assert place(made, pod("first", **first)) == "a"
            if told is not None:
                EventFeed(made).put(told)
            return why(made, pod("second", **second))

        assert with_and_without(story, *(before or [host("a")]), release=release, **options) == ("a", true)

    def test_a_pod_that_others_bound_takes_no_room(self, release):
        """Adding a bound pod does not invalidate GeneralPredicates: its node is overcommitted."""

        def story(made):
            assert place(made, pod("first", requests={"cpu": "500m"})) == "large"
            EventFeed(made).put(pod("foreign", on="small", requests={"cpu": "1"}))
            details = made.schedule(pod("second", requests={"cpu": "500m"})).details
            assert details is not None
            return " ".join(sorted(details.feasible))

        stale, true = with_and_without(
            story, host("small", cpu="1"), host("large", cpu="64"), release=release
        )
        assert (stale, true) == ("large small", "large")

    def test_a_pod_that_expired_still_takes_room(self, release):
        """Forgetting an assumed pod invalidates nothing: the node stays full for pods that it rejected."""

        def story(made):
            big = pod("first", requests={"cpu": "3"})
            same = pod("second", requests={"cpu": "3"})
            assert place(made, big) == "a"
            assert "Insufficient cpu" in why(made, same)
            made.cache.finish_binding(big, 0.0)
            assert made.cache.expire(60.0)
            return why(made, same)

        stale, true = with_and_without(story, host("a"), release=release)
        assert (stale, true) == ("0/1 nodes are available: 1 Insufficient cpu.", "a")

    def test_a_volume_that_was_not_looked_for_is_not_assumed(self, release):
        """If CheckVolumeBinding is a cache hit no volume is found for the claim, and so none is assumed."""

        def story(made):
            foreign = pod("foreign", on="a", labels={"app": "other"})
            EventFeed(made).put(foreign)
            first, second = (
                pod(name, volumes=CLAIM, affinity=keeping_away(app="other")) for name in ("first", "second")
            )
            assert place(made, first) is None
            EventFeed(made).delete(foreign)
            assert place(made, second) == "a"
            return "free" if made.binder.volumes.get("v").spec.claim_ref is None else "taken"

        waiting = claim("c"), volume("v"), storage_class("wait", **WAIT)
        stale, true = with_and_without(story, host("a"), *waiting, release=release)
        assert (stale, true) == ("free", "taken")

    def test_the_first_pod_takes_the_volume_that_it_found_before(self, release):
        """The volumes that an earlier cycle of the pod found on a node are assumed, although the latest cycle
        did not search them."""

        def story(made):
            foreign = pod("foreign", on="a", labels={"app": "other"})
            EventFeed(made).put(foreign)
            first = pod("first", volumes=CLAIM, affinity=keeping_away(app="other"))
            assert place(made, first) is None
            EventFeed(made).delete(foreign)
            assert place(made, first) == "a"
            return "free" if made.binder.volumes.get("v").spec.claim_ref is None else "taken"

        waiting = claim("c"), volume("v"), storage_class("wait", **WAIT)
        assert with_and_without(story, host("a"), *waiting, release=release) == ("taken", "taken")


def kept_on(made, predicate, *, of=0):
    """Node -> the cached result of *predicate* for the first class (or *of*): 1 fits, more does not; without
    a result no entry."""
    assert made.flow.equivalence is not None
    rows = made.flow.equivalence.results(predicate).of(of, made.table.size)
    return {} if rows is None else {made.table.names[i]: int(code) for i, code in enumerate(rows) if code}


class TestWhatIsKept:
    def test_nothing_beyond_the_first_failure(self):
        """Predicates after the one that rejected a node do not run, so nothing is cached for them."""
        made = engine(host("a", cpu="1"), host("b"), release="1.12", equivalence_cache=True, preemption=False)
        made.schedule(ASKING)
        assert kept_on(made, "GeneralPredicates") == {"a": 2, "b": 1}
        assert kept_on(made, "PodToleratesNodeTaints") == {"b": 1}

    def test_everything_where_all_are_checked(self):
        """With alwaysCheckAllPredicates the later predicates run too."""
        names = ("GeneralPredicates", "PodToleratesNodeTaints")
        policy = {
            "kind": "Policy",
            "apiVersion": "v1",
            "alwaysCheckAllPredicates": True,
            "predicates": [{"name": name} for name in names],
        }
        made = engine(
            host("a", cpu="1"), release="1.12", policy=policy, equivalence_cache=True, preemption=False
        )
        made.schedule(ASKING)
        assert kept_on(made, "PodToleratesNodeTaints") == {"a": 1}

    def test_only_nodes_that_the_search_came_to(self):
        """A search that stops early caches the results of all visited nodes, with the surplus node that
        stopped it."""
        made = engine(
            *(host(f"n{i:03}") for i in range(200)), release="1.12", equivalence_cache=True, percentage=50
        )
        made.schedule(PLAIN)
        assert sorted(kept_on(made, "GeneralPredicates")) == [f"n{i:03}" for i in range(101)]

    def test_no_errors(self):
        """Errors are not cached: a claim with an unknown class can be bound as soon as the class exists."""
        made = engine(
            host("a"), claim("c", kind="late"), volume("v", "late"), release="1.12", equivalence_cache=True
        )
        incoming = pod("p", volumes=CLAIM)
        assert not why(made, incoming).startswith("0/1")
        assert kept(made, "GeneralPredicates", "CheckVolumeBinding") == [True, False]
        EventFeed(made).put(storage_class("late", **WAIT))
        assert why(made, incoming) == "a"

    @both_releases
    def test_nodes_with_nominated_pods_go_without(self, release):
        """For a node with any nominated pod, even of lower priority, the cache is neither read nor written."""
        made = engine(host("a"), host("b"), release=release, equivalence_cache=True, preemption=False)
        waiting = pod("waiting", priority=1, status={"nominatedNodeName": "a"})
        made.nominations.add(waiting, "a")
        made.schedule(pod("p", priority=5))
        assert kept_on(made, "GeneralPredicates") == {"b": 1}
        made.nominations.remove(waiting)
        made.schedule(pod("p", priority=5))
        assert kept_on(made, "GeneralPredicates") == {"a": 1, "b": 1}
        EventFeed(made).put(host("a", unschedulable=True))
        made.nominations.add(waiting, "a")
        details = made.schedule(pod("p", priority=5)).details
        assert details is not None
        assert details.feasible == ["b"]

    @both_releases
    def test_its_own_nomination_does_not_keep_a_pod_from_them(self, release):
        """Pop of 1.12, and the recorded answers of 1.13 too, take a pod's own nomination away before its
        cycle."""
        made = engine(host("a"), release=release, equivalence_cache=True, preemption=False)
        run = Run(made)
        big = pod("p", requests={"cpu": "9"})
        run.nominate(big, "a")
        made.schedule(pod("other"))
        assert kept_on(made, "GeneralPredicates") == {}
        run.cycle(big)
        assert made.nominations.on("a") != []
        assert kept_on(made, "GeneralPredicates", of=1) == {"a": 2}

    def test_preemption_looks_for_itself(self):
        """Trials of preemption neither read the cache, in which the node is full, nor write to it."""
        made = engine(host("a"), release="1.12", equivalence_cache=True)
        important = pod("p", requests={"cpu": "2"}, priority=10)
        assert place(made, pod("low", requests={"cpu": "3"})) == "a"
        plan = made.schedule(important).preemption
        assert plan is not None
        assert (plan.node, [victim.name for victim in plan.victims]) == ("a", ["low"])
        assert kept_on(made, "GeneralPredicates", of=1) == {"a": 2}
        assert kept_on(made, "PodToleratesNodeTaints", of=1) == {}

    def test_explaining_keeps_nothing(self):
        """Explaining a pod reads the cache but does not write to it."""
        made = engine(host("a"), release="1.12", equivalence_cache=True)
        explain(made, PLAIN)
        assert kept_on(made, "GeneralPredicates") == {}
        place(made, PLAIN)
        EventFeed(made).put(host("a", unschedulable=True))
        assert explain(made, pod("q", labels=WEB)).decision.host == "a"

    def test_off_unless_asked_for(self):
        """Without the gate or the option there is no cache, and releases that have none do not get one."""
        assert engine(release="1.12").flow.equivalence is None
        assert engine(release="1.14", equivalence_cache=True).flow.equivalence is None
        assert (
            engine(release="1.13", gates={"EnableEquivalenceClassCache": True}).flow.equivalence is not None
        )

    def test_volume_counts_are_not_left_behind_on_a_hit(self):
        """A cache hit of a count predicate stores no counts for BalancedResourceAllocation."""
        gates = {"BalanceAttachedNodeVolumes": True}
        made = engine(host("a"), release="1.12", gates=gates, equivalence_cache=True)
        incoming = pod("p", volumes=[{"name": "v", "awsElasticBlockStore": {"volumeID": "d"}}])
        made.schedule(incoming)
        assert made.table.transient[:, 0].any()
        made.schedule(incoming)
        assert not made.table.transient[:, 0].any()


class TestClasses:
    def test_what_makes_no_difference(self):
        """Name, priority, annotations and owners are not part of a class; an empty list equals an absent one."""
        meta = {
            "annotations": {"k": "v"},
            "ownerReferences": [{"kind": "ReplicaSet", "name": "r", "uid": "u", "controller": True}],
        }
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
            pod("a", requests={"cpu": "1"}),
            pod("a", initContainers=[{"name": "i"}]),
        ],
    )
    def test_what_makes_a_difference(self, other):
        """Namespace, labels, affinity, containers, node, selector, tolerations and volumes are part of a
        class."""
        assert class_of(pod("a")) != class_of(other)

    @pytest.mark.parametrize(
        ("one", "other", "alike"),
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
    def test_quantities_differ_as_they_are_written(self, one, other, alike):
        """Equal amounts that Go keeps in different forms make two classes."""
        assert (
            class_of(pod("a", requests={"cpu": one})) == class_of(pod("a", requests={"cpu": other}))
        ) is alike
