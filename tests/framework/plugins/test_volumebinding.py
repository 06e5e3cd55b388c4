"""VolumeBinding: volumes in reach, volumes for claims, storage left, what is assumed, and how full volumes would be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kubeclassic.api.objects import Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.config.args import read_args
from kubeclassic.framework.cycle.state import PreFilterResult
from kubeclassic.framework.plugins.volumebinding import VolumeBinding
from kubeclassic.framework.status import error, unresolvable
from tests.support.asking import cycle_of, handle
from tests.support.build import error_text, node
from tests.support.volumebuild import (
    EPHEMERAL,
    SELECTED,
    WAIT,
    bound,
    claim,
    csi_driver,
    csi_node,
    ebs,
    made_for,
    on,
    storage_class,
    storage_left,
    using,
    volume,
)

CONFLICT = "node(s) had volume node affinity conflict"
NOTHING = "node(s) didn't find available persistent volumes to bind"
SHORT = "node(s) did not have enough free storage"
GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
NODES = (node("a", labels={"zone": "a"}), node("b", labels={"zone": "b"}))
LATE = storage_class("wait", **WAIT, provisioner="kubernetes.io/no-provisioner")
MAKING = storage_class("wait", **WAIT, provisioner="maker")
HOST = "kubernetes.io/hostname"
ZONE_A = {"matchLabels": {"zone": "a"}}


def plugin(shape: list[tuple[int, int]] | None = None, **gates: bool) -> VolumeBinding:
    args = {"shape": [{"utilization": u, "score": s} for u, s in shape]} if shape else {}
    return VolumeBinding(read_args("VolumeBinding", args), handle(**gates))


def before(new: Pod, *objects: Any) -> Any:
    cycle = cycle_of(new, *NODES, *objects)
    return plugin().pre_filter(cycle.template, cycle)


def against(new: Pod, *objects: Any) -> dict[str, list[str]]:
    """Node -> the reasons, or the text of an error."""
    cycle = cycle_of(new, *NODES, *objects)
    nodes = Batch(cycle.table)
    failures = plugin().filter(cycle.template, nodes, cycle)
    if failures is None:
        return {nodes.name(i): [] for i in range(nodes.n)}
    assert not any(reason.resolvable for reasons in failures.sequences.values() for reason in reasons)
    texts = [error_text(failures, i) for i in range(nodes.n)]
    return {nodes.name(i): [text] if text else [r.text for r in failures.reasons(i)] for i, text in enumerate(texts)}


class TestPreFilter:
    def test_a_class_without_a_mode_is_an_error(self) -> None:
        """Without a mode it is unknown whether claims wait, so the cycle fails."""
        text = 'VolumeBindingMode not set for StorageClass "unset"'
        assert before(using("p", "c"), claim("c", "unset"), storage_class("unset")) == error(text)

    def test_claims_of_ephemeral_volumes_must_be_there_and_the_pods_own(self) -> None:
        """A claim of an ephemeral volume must exist and be owned by the pod, by UID."""
        new = using("p", EPHEMERAL)
        waiting = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v0"'
        assert before(new) == unresolvable(waiting)
        foreign = "PVC default/p-v0 was not created for pod default/p (pod is not owner)"
        assert before(new, made_for("other", "p-v0")) == unresolvable(foreign)
        assert before(new, LATE, made_for(new.uid, "p-v0")) is None

    def test_local_volumes_narrow_the_search(self) -> None:
        """Hostnames in the affinity of bound volumes are used as node names; a node must be named by all of them."""
        here, there = volume("v", **on(**{HOST: "a"})), volume("w", **on(**{HOST: "b"}))
        assert before(using("p", "c"), here, bound("c", "v")) == PreFilterResult(frozenset({"a"}))
        assert before(using("p", "c", "d"), here, there, bound("c", "v"), bound("d", "w")) == PreFilterResult(frozenset())
        assert before(using("p", "c", "d"), here, bound("c", "v"), bound("d", "gone")) is None
        assert before(using("p", "c"), volume("v", **on(zone="a")), bound("c", "v")) is None


class TestBoundClaims:
    def test_a_missing_volume_is_a_reason(self) -> None:
        """A claim bound to a missing volume rejects nodes, unless an earlier volume of the pod is out of reach."""
        objects = [volume("v", **on(zone="a")), bound("c", "v"), bound("d", "gone")]
        assert against(using("p", "c", "d"), *objects) == {"a": [GONE], "b": [CONFLICT]}

    def test_a_driver_reaches_volumes_by_its_own_label(self) -> None:
        """On a node whose plugin is migrated, the volume's zone is compared with the driver's label."""
        zone, plugins = "topology.kubernetes.io/zone", "kubernetes.io/aws-ebs"
        mine = node("mine", labels={"topology.ebs.csi.aws.com/zone": "z"})
        yours = node("yours", labels={zone: "z"})
        objects = [mine, yours, csi_node("mine", plugins), volume("v", **ebs("vol-1"), **on(**{zone: "z"})), bound("c", "v")]
        found = against(using("p", "c"), *objects)
        assert (found["mine"], found["yours"], found["a"]) == ([], [], [CONFLICT])

    def test_a_volume_that_the_driver_cannot_name_is_an_error(self) -> None:
        """It is an error only on nodes where the plugin is migrated."""
        objects = [csi_node("a", "kubernetes.io/aws-ebs"), volume("v", **ebs("aws://z/odd")), bound("c", "v")]
        text = "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/odd)"
        assert against(using("p", "c"), *objects) == {"a": [f"could not translate pv: {text}"], "b": []}


class TestUnboundClaims:
    def test_a_volume_belongs_to_its_beta_class(self) -> None:
        """The beta annotation comes before the spec, also when volumes are looked up."""
        old = volume("v", "other", meta={"annotations": {"volume.beta.kubernetes.io/storage-class": "wait"}})
        assert against(using("p", "c"), LATE, old, claim("c")) == {"a": [], "b": []}


class TestStorageCapacity:
    @pytest.mark.parametrize(
        ("sizes", "enough"),
        [
            ({"capacity": "1Gi"}, True),
            ({"capacity": "1023Mi"}, False),
            ({"capacity": "9Gi", "maximumVolumeSize": "1Mi"}, False),
            ({"capacity": "1Mi", "maximumVolumeSize": "1Gi"}, True),
            ({}, False),
        ],
    )
    def test_enough_must_be_left_where_the_driver_reports(self, sizes: dict[str, str], enough: bool) -> None:
        """The maximum volume size counts if it is given, else the capacity; nodes outside the topology have none."""
        objects = [MAKING, csi_driver("maker"), storage_left("s", "wait", ZONE_A, **sizes), claim("c")]
        assert against(using("p", "c"), *objects) == {"a": [] if enough else [SHORT], "b": [SHORT]}

    @pytest.mark.parametrize(("topology", "found"), [({}, []), (None, [SHORT]), ({"matchLabels": {"zone": "not valid!"}}, [SHORT])])
    def test_topologies(self, topology: Any, found: list[str]) -> None:
        """An empty topology matches every node; an absent or invalid one matches none."""
        objects = [MAKING, csi_driver("maker"), storage_left("s", "wait", topology, capacity="9Gi"), claim("c")]
        assert against(using("p", "c"), *objects) == {"a": found, "b": found}

    def test_drivers_that_do_not_report_have_enough(self) -> None:
        """Without a CSIDriver object, or with one that says so, nothing is counted."""
        assert against(using("p", "c"), MAKING, claim("c")) == {"a": [], "b": []}
        assert against(using("p", "c"), MAKING, csi_driver("maker", reports=False), claim("c")) == {"a": [], "b": []}

    def test_the_first_claim_that_fails_says_why(self) -> None:
        """The first claim that cannot be provisioned decides the reason: no provisioner, or too little storage."""
        claims = [claim("small", "none", "1Mi"), claim("big", "wait", "1Gi"), claim("huge", "none", "2Gi")]
        objects = [MAKING, storage_class("none", **WAIT), csi_driver("maker"), *claims]
        assert against(using("p", "small", "big"), *objects) == {"a": [NOTHING], "b": [NOTHING]}
        assert against(using("p", "huge", "big"), *objects) == {"a": [SHORT], "b": [SHORT]}


class TestReserve:
    def test_what_is_found_is_assumed_and_given_back(self) -> None:
        """Reserve assumes the volume for the claim, and Unreserve undoes it."""
        new, made = using("p", "c"), plugin()
        cycle = cycle_of(new, *NODES, LATE, volume("v", **on(zone="a")), claim("c"))
        assert made.reserve(new.bound_to("a"), "a", cycle) is None
        reference = cycle.binder.volumes.get("v").spec.claim_ref
        assert reference is not None
        assert reference.name == "c"
        assert made.pre_bind(new.bound_to("a"), "a", cycle) is None
        made.unreserve(new.bound_to("a"), "a", cycle)
        assert cycle.binder.volumes.get("v").spec.claim_ref is None

    def test_a_volume_to_be_made_marks_its_claim(self) -> None:
        """Reserve sets the claim's selected node, also for an ephemeral volume, and Unreserve undoes it."""
        new, made = using("p", EPHEMERAL), plugin()
        cycle = cycle_of(new, *NODES, MAKING, made_for(new.uid, "p-v0"))
        assert made.reserve(new.bound_to("b"), "b", cycle) is None
        assert cycle.binder.claims.get("default/p-v0").annotations[SELECTED] == "b"
        made.unreserve(new.bound_to("b"), "b", cycle)
        assert SELECTED not in cycle.binder.claims.get("default/p-v0").annotations


class TestScore:
    def scores(self, made: VolumeBinding, new: Pod, *objects: Any) -> list[int]:
        cycle = cycle_of(new, *NODES, *objects)
        rows = np.array([cycle.table.row_of[item.name] for item in NODES], np.intp)
        return [int(n) for n in made.score(cycle.template, Batch(cycle.table, rows), cycle)]

    def test_without_the_gate_it_is_nothing(self) -> None:
        """Every node gets 0."""
        assert self.scores(plugin(), using("p", "c"), LATE, volume("v"), claim("c")) == [0, 0]

    def test_fuller_volumes_are_better(self) -> None:
        """Nodes score by the share of the volumes' capacity that the claims request; without a volume they get 0."""
        made = plugin(VolumeCapacityPriority=True)
        objects = [MAKING, volume("v", size="4Gi", **on(zone="a")), claim("c", size="1Gi")]
        assert self.scores(made, using("p", "c"), *objects) == [25, 0]

    def test_classes_count_alike(self) -> None:
        """The score is the mean over the classes, with halves rounded up, by the shape in the profile."""
        made = plugin([(0, 10), (100, 0)], VolumeCapacityPriority=True)
        other = storage_class("other", **WAIT)
        quarter, half = (volume("v", size="4Gi"), claim("c", size="1Gi")), (volume("w", "other", "2000Mi"), claim("d", "other", "1000Mi"))
        assert self.scores(made, using("p", "c", "d"), LATE, other, *quarter, *half) == [63, 63]
