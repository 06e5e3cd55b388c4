"""What invalidates results of the equivalence cache: after each such event the true answer is found again."""

import pytest

from kubeclassic.core.feed import EventFeed
from tests.support.build import engine, obj, pod
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

FULL = pod("full", on="a", requests={"cpu": "4"})
SHY = pod("shy", on="a", affinity=keeping_away(**WEB))
WRITER = pod("writer", on="a", volumes=DISK)
OFF = {"TaintNodesByCondition": False}
READY = {"type": "Ready", "status": "True"}
PRESSED = {"type": "MemoryPressure", "status": "True"}
TAINT = {"key": "k", "value": "v", "effect": "NoSchedule"}


@both_releases
@pytest.mark.parametrize(
    ("incoming", "before", "change", "gates"),
    [
        pytest.param(
            ASKING, [host("a"), FULL], lambda feed: feed.delete(FULL), {}, id="pod deleted: GeneralPredicates"
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
            [host("a"), FULL],
            lambda feed: feed.put(pod("full", on="a", requests={"cpu": "1"})),
            {},
            id="pod asks for less",
        ),
        pytest.param(
            pod("p", affinity=keeping_away(**WEB)),
            [host("a"), pod("web", on="a", labels=WEB)],
            lambda feed: feed.put(pod("web", on="a", labels={"app": "db"})),
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


class TestVolumes:
    def test_a_class_that_goes_ends_volume_binding(self):
        """When a class with delayed binding is deleted its claims are judged again, because they may no
        longer wait."""
        wait = storage_class("wait", **WAIT)
        made = engine(host("a"), claim("c"), volume("v"), wait, release="1.12", equivalence_cache=True)
        assert why(made, pod("p", volumes=CLAIM)) == "a"
        EventFeed(made).delete(wait)
        assert why(made, pod("p", volumes=CLAIM)) != "a"

    def test_a_claim_bound_elsewhere_ends_the_counts(self):
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
        assert kept(made, "CheckVolumeBinding", "MaxEBSVolumeCount", "NoVolumeZoneConflict") == [
            True,
            True,
            True,
        ]
        EventFeed(made).put(bound)
        # Upstream: the zones of the new volume are not looked at.
        assert kept(made, "CheckVolumeBinding", "MaxEBSVolumeCount", "NoVolumeZoneConflict") == [
            False,
            False,
            True,
        ]

    def test_volumes_assumed_end_volume_binding_everywhere(self):
        """Every placed pod, with or without claims, invalidates CheckVolumeBinding on all nodes."""
        made = engine(
            host("a"),
            claim("c"),
            volume("v"),
            storage_class("wait", **WAIT),
            release="1.13",
            equivalence_cache=True,
        )
        made.schedule(pod("p", volumes=CLAIM))
        assert kept(made, "CheckVolumeBinding") == [True]
        place(made, pod("plain"))
        assert kept(made, "CheckVolumeBinding") == [False]

    def test_a_service_ends_service_affinity(self):
        """Services that are added, deleted or get another selector invalidate CheckServiceAffinity; other
        updates do not."""
        rule = {"name": "CheckServiceAffinity", "argument": {"serviceAffinity": {"labels": ["rack"]}}}
        policy = {"kind": "Policy", "apiVersion": "v1", "predicates": [rule]}
        made = engine(host("a"), release="1.12", policy=policy, equivalence_cache=True)
        ends = []
        for version, selector in (("1", WEB), ("2", WEB), ("3", {"app": "db"})):
            made.schedule(pod("p"))
            service = obj(
                {
                    "kind": "Service",
                    "metadata": {"name": "s", "resourceVersion": version},
                    "spec": {"selector": selector},
                }
            )
            EventFeed(made).put(service)
            ends.append(kept(made, "CheckServiceAffinity") == [False])
        assert ends == [True, False, True]
