"""What 1.30 and 1.31 decide differently from the release before, a sentence a test."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.framework.cycle.state import PreFilterResult
from kubeclassic.framework.status import Code, Status
from kubeclassic.plugins import Plugin
from kubeclassic.rules import Template
from tests.support.build import node, pod
from tests.support.releasewalk import (
    bound,
    claim,
    claims,
    csi_node,
    failed,
    feasible,
    has,
    host,
    init,
    made,
    message,
    only,
    plan,
    profile,
    shows,
    sidecar,
    volume,
)

MIB = 1 << 20
IMAGES = {"rbd": "image", "portworxVolume": "volumeID"}
FULL = {"n": ["node(s) exceed max volume count"]}
OFF = "Pod has a restartable init container and the SidecarContainers feature is disabled"


def ebs(number: int) -> dict[str, Any]:
    return {"name": f"v{number}", "awsElasticBlockStore": {"volumeID": f"vol-{number}"}}


class TestPreFilter:
    def test_local_volumes_do_not_narrow(self) -> None:
        """Nodes that a bound local volume is not on fail with VolumeBinding's own reason, in new words from 1.33 on."""
        is_b = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["b"]}
        on_b = {"required": {"nodeSelectorTerms": [{"matchExpressions": [is_b]}]}}
        objects = [
            *(node(name, labels={"kubernetes.io/hostname": name}) for name in "ab"), claim("data", "v"),
            volume("v", "data", local={"path": "/d"}, nodeAffinity=on_b),
        ]  # fmt: skip
        shows(
            {
                "1.27": {"a": ["node is filtered out by the prefilter result"]}, "1.28": {},
                "1.30": {"a": ["node(s) had volume node affinity conflict"]},
                "1.33": {"a": ["node(s) didn't match PersistentVolume's node affinity"]},
            }, failed, objects, pod("p", volumes=claims("data")),
        )  # fmt: skip

    def test_the_rejection_of_sidecars_moves(self) -> None:
        """With the gate off the reason is said once for the whole cluster from 1.30 on, without a number."""
        asked, gates = pod("p", initContainers=[sidecar("1")]), {"SidecarContainers": False}
        told = "0/2 nodes are available:"
        shows({"1.28": f"{told} 2 {OFF}.", "1.30": f"{told} {OFF}."}, message, [node("a"), node("b")], asked, gates=gates, until="1.32")

    def test_the_last_rejection_counts(self) -> None:
        """After a plugin that removing pods could help the others still run, and the last rejection counts."""
        shows(
            {"1.27": "first", "1.30": "second"}, lambda found: next(iter(found["failed"]["n"])), [node("n")], pod("p"),
            profile=with_plugins("RejectsFirst", "RejectsSecond"), plugins=(RejectsFirst, RejectsSecond),
        )  # fmt: skip

    def test_disjoint_sets_cannot_be_helped(self) -> None:
        """Where plugins together leave no node, the message names them, in ascending order from 1.31 on."""
        objects, given = [node("a", cpu="1"), node("b", cpu="1")], with_plugins("NamesSecond", "NamesFirst")
        told = "node(s) didn't satisfy plugin(s) [{}] simultaneously"
        shows(
            {"1.27": told.format("NamesSecond NamesFirst"), "1.31": told.format("NamesFirst NamesSecond")},
            lambda found: found["failed"]["a"][0], objects, pod("p"), profile=given, plugins=(NamesSecond, NamesFirst),
        )  # fmt: skip


class RejectsFirst(Plugin):
    name = "RejectsFirst"

    def pre_filter(self, pod: Template, cycle: Any) -> Status:
        return Status(Code.UNSCHEDULABLE, ("first",), self.name)


class RejectsSecond(RejectsFirst):
    name = "RejectsSecond"

    def pre_filter(self, pod: Template, cycle: Any) -> Status:
        return Status(Code.UNSCHEDULABLE, ("second",), self.name)


class NamesFirst(Plugin):
    name = "NamesFirst"

    def pre_filter(self, pod: Template, cycle: Any) -> PreFilterResult:
        return PreFilterResult(frozenset({"a"}))


class NamesSecond(NamesFirst):
    name = "NamesSecond"

    def pre_filter(self, pod: Template, cycle: Any) -> PreFilterResult:
        return PreFilterResult(frozenset({"b"}))


def with_plugins(*names: str) -> dict[str, Any]:
    return profile(plugins={"preFilter": {"enabled": [{"name": name} for name in names]}})


class TestVolumes:
    def test_missing_claims_are_reasons(self) -> None:
        """A missing claim is a reason of the volume limits, where it ended the cycle with an error before."""
        told = 'persistentvolumeclaim "data" not found'
        shows(
            {"1.27": {}, "1.30": {"n": [f"looking up PVC default/data: {told}"]}}, failed,
            [node("n"), csi_node("n", d=1)], pod("p", volumes=claims("data")), profile=only("NodeVolumeLimits"),
        )  # fmt: skip

    def test_in_tree_disks_are_not_limited(self) -> None:
        """In-tree disks are limited by CSI drivers alone, so not at all on a node without a CSINode."""
        there = bound("there", "n", volumes=[ebs(number) for number in range(39)])
        shows({"1.27": FULL, "1.31": {}}, failed, [node("n"), there], pod("p", volumes=[ebs(99)]))

    def test_in_tree_limits_at_a_single_point(self) -> None:
        """A profile that enables EBSLimits at Filter is refused, and one that enables it by multiPoint works in 1.31 for the last time."""
        single = profile(plugins={"filter": {"enabled": [{"name": "EBSLimits"}]}})
        shows({"1.27": False, "1.31": True}, lambda found: "refused" in found, [node("n")], pod("p"), profile=single)
        there = bound("there", "n", volumes=[ebs(number) for number in range(39)])
        multi = profile(plugins={"multiPoint": {"enabled": [{"name": "EBSLimits"}]}})
        shows({"1.31": FULL}, failed, [node("n"), there], pod("p", volumes=[ebs(99)]), profile=multi, until="1.31")
        shows({"1.31": False, "1.32": True}, lambda found: "refused" in found, [node("n")], pod("p"), profile=multi)

    @pytest.mark.parametrize(
        ("source", "driver", "plugin", "hosts"),
        [
            ("rbd", "rbd.csi.ceph.com", "kubernetes.io/rbd", {"1.27": "n"}),
            ("portworxVolume", "pxd.portworx.com", "kubernetes.io/portworx-volume", {"1.27": "n", "1.31": None}),
        ],
    )
    def test_migrated_kinds(self, source: str, driver: str, plugin: str, hosts: dict[str, str | None]) -> None:
        """Volumes of Portworx count for their CSI driver from 1.31 on, those of RBD in no release by default."""
        objects = [node("n"), csi_node("n", plugin, **{driver.replace(".", "__"): 1})]
        objects += [claim(name, f"v-{name}") for name in ("one", "two")]
        fields = {"monitors": ["m"], "pool": "pool"} if source == "rbd" else {}
        objects += [volume(f"v-{name}", name, **{source: {**fields, IMAGES[source]: name}}) for name in ("one", "two")]
        objects += [bound("there", "n", volumes=claims("one"))]
        shows(hosts, host, objects, pod("p", volumes=claims("two")))

    def test_attributes_classes_are_refused(self) -> None:
        """With its gate off, a claim that names a VolumeAttributesClass cannot be matched to a volume."""
        kind = made("StorageClass", "wait", provisioner="kubernetes.io/no-provisioner", volumeBindingMode="WaitForFirstConsumer")
        there = volume("v", storageClassName="wait", csi={"driver": "d", "volumeHandle": "h"})
        objects = [node("n"), kind, claim("data", storageClassName="wait", volumeAttributesClassName="fast"), there]
        shows(
            {"1.27": False, "1.31": True, "1.34": False}, lambda found: "unsupported volumeAttributesClassName" in str(found["error"]),
            objects, pod("p", volumes=claims("data")),
        )  # fmt: skip


class TestImages:
    def test_init_containers_count(self) -> None:
        """Images of init containers count, and make the thresholds larger."""
        images = [{"names": ["img-init:latest"], "sizeBytes": 900 * MIB}]
        asked = pod("p", initContainers=[init("0", "img-init")])
        counts = lambda found: found["priorities"]["ImageLocality"]["a"] > 0  # noqa: E731
        shows({"1.27": False, "1.30": True}, counts, [node("a", images=images), node("b")], asked)


class TestPreemption:
    def test_victims_are_sorted_again(self) -> None:
        """Victims are in order of importance, where those that violate a budget came first."""
        budget = made("PodDisruptionBudget", "b", spec={"selector": {"matchLabels": {"app": "kept"}}}, status={"disruptionsAllowed": 0})
        kept = bound("kept", "n", labels={"app": "kept"}, requests={"cpu": "2"}, priority=1)
        free = bound("free", "n", requests={"cpu": "2"}, priority=5)
        shows(
            {"1.27": ("n", "default/kept", "default/free"), "1.30": ("n", "default/free", "default/kept")}, plan,
            [node("n", cpu="4"), budget, kept, free], pod("p", requests={"cpu": "4"}, priority=9),
        )  # fmt: skip

    def test_the_first_victim_decides(self) -> None:
        """So another node can be chosen: its most important victim counts, not the first that violates a budget."""
        budget = made("PodDisruptionBudget", "b", spec={"selector": {"matchLabels": {"app": "kept"}}}, status={"disruptionsAllowed": 0})
        objects = [node("a", cpu="4"), node("b", cpu="4"), budget]
        for name, high in (("a", 7), ("b", 5)):
            low = 1 if name == "a" else 2
            objects += [
                bound(f"kept-{name}", name, labels={"app": "kept"}, requests={"cpu": "2"}, priority=low),
                bound(f"free-{name}", name, requests={"cpu": "2"}, priority=high),
            ]  # fmt: skip
        shows({"1.27": "a", "1.30": "b"}, lambda found: plan(found)[0], objects, pod("p", requests={"cpu": "4"}, priority=9))


class TestScores:
    def test_one_node_is_enough(self) -> None:
        """Where no plugin scores, the search ends at the first node that fits."""
        shows({"1.27": ["a", "b"], "1.30": ["a"]}, feasible, [node("a"), node("b")], pod("p"), profile=only("NodeName"))

    @pytest.mark.parametrize("plugin", ["NodeAffinity", "VolumeBinding"])
    def test_plugins_with_nothing_to_say(self, plugin: str) -> None:
        """NodeAffinity and VolumeBinding give no scores where nothing counts."""
        shows({"1.28": True, "1.30": False}, has(plugin), [node("a"), node("b")], pod("p"))


class TestConfiguration:
    @pytest.mark.parametrize(
        ("gate", "since"),
        [
            ("MinDomainsInPodTopologySpread", "1.30"), ("PodSchedulingReadiness", "1.30"), ("PodDisruptionConditions", "1.31"),
            ("ReadWriteOncePod", "1.29"), ("SidecarContainers", "1.33"), ("MatchLabelKeysInPodAffinity", "1.33"),
            ("NodeInclusionPolicyInPodTopologySpread", "1.33"), ("SchedulerQueueingHints", "1.34"),
        ],
    )  # fmt: skip
    def test_locked(self, gate: str, since: str) -> None:
        """A gate that became general cannot be switched off any more."""
        told = f"cannot set feature gate {gate} to false, feature is locked to true"
        shows({since: told}, host, [node("n")], pod("p"), gates={gate: False}, until=since)

    @pytest.mark.parametrize(
        ("gate", "known"),
        [
            ("SidecarContainers", {"1.27": False, "1.28": True}), ("SchedulerQueueingHints", {"1.27": False, "1.28": True}),
            ("MatchLabelKeysInPodAffinity", {"1.27": False, "1.29": True}), ("VolumeAttributesClass", {"1.27": False, "1.29": True}),
            ("PodLevelResources", {"1.27": False, "1.32": True}), ("DRAAdminAccess", {"1.27": False, "1.32": True}),
            ("SchedulerAsyncPreemption", {"1.27": False, "1.32": True}), ("SchedulerPopFromBackoffQ", {"1.27": False, "1.33": True}),
            ("DRAPrioritizedList", {"1.27": False, "1.33": True}), ("StorageCapacityScoring", {"1.27": False, "1.33": True}),
            ("VolumeCapacityPriority", {"1.27": True, "1.33": False}), ("SchedulerAsyncAPICalls", {"1.27": False, "1.34": True}),
        ],
    )  # fmt: skip
    def test_known(self, gate: str, known: dict[str, bool]) -> None:
        """A gate can be set in the releases that know it."""
        refusal = f"unrecognized feature gate: {gate}"
        shows(known, lambda found: refusal not in found.get("refused", ""), [node("n")], pod("p"), gates={gate: True})

    def test_gates_gone(self) -> None:
        """GCE's gate of migration is gone from 1.28 on."""
        unknown = lambda found: "unrecognized feature gate" in found.get("refused", "")  # noqa: E731
        shows({"1.27": False, "1.28": True}, unknown, [node("n")], pod("p"), gates={"CSIMigrationGCE": True})

    def test_readiness_gate(self) -> None:
        """Scheduling gates can be switched off up to 1.29."""
        asked, gates = pod("p", schedulingGates=[{"name": "g"}]), {"PodSchedulingReadiness": False}
        locked = "cannot set feature gate PodSchedulingReadiness to false, feature is locked to true"
        shows({"1.27": "n", "1.30": locked}, host, [node("n")], asked, gates=gates)

    def test_selectors_are_named(self) -> None:
        """The error about an invalid selector of a constraint says what it was read for."""
        selector = {"matchExpressions": [{"key": "k", "operator": "Foo"}]}
        constraint = {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
        begins = "get constraints from pod: obtaining pod's hard topology spread constraints: "
        asked = pod("p", topologySpreadConstraints=[constraint])
        shows({"1.27": False, "1.30": True}, lambda found: begins in found["error"], [node("n", labels={"z": "1"})], asked)
