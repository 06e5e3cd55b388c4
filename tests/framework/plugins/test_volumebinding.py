"""VolumeBinding: volumes in reach, volumes for claims, storage left, what is assumed, and how full volumes
would be."""

import numpy as np

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.config.args import read_args
from kubeclassic.framework.plugins.volumebinding import VolumeBinding
from tests.support.asking import cycle_of, handle
from tests.support.build import error_text, node
from tests.support.volumebuild import (
    EPHEMERAL,
    SELECTED,
    WAIT,
    bound,
    claim,
    csi_node,
    ebs,
    made_for,
    on,
    storage_class,
    using,
    volume,
)

NODES = (node("a", labels={"zone": "a"}), node("b", labels={"zone": "b"}))
LATE = storage_class("wait", **WAIT, provisioner="kubernetes.io/no-provisioner")
MAKING = storage_class("wait", **WAIT, provisioner="maker")


def plugin(shape=None, **gates):
    args = {"shape": [{"utilization": u, "score": s} for u, s in shape]} if shape else {}
    return VolumeBinding(read_args("VolumeBinding", args), handle(**gates))


def against(new, *objects):
    """Node -> the reasons, or the text of an error."""
    cycle = cycle_of(new, *NODES, *objects)
    nodes = Batch(cycle.table)
    failures = plugin().filter(cycle.template, nodes, cycle)
    if failures is None:
        return {nodes.name(i): [] for i in range(nodes.n)}
    assert not any(reason.resolvable for reasons in failures.sequences.values() for reason in reasons)
    texts = [error_text(failures, i) for i in range(nodes.n)]
    return {
        nodes.name(i): [text] if text else [r.text for r in failures.reasons(i)]
        for i, text in enumerate(texts)
    }


def test_a_volume_that_the_driver_cannot_name_is_an_error():
    """A volume that the driver cannot name is an error only on nodes where its plugin is migrated."""
    objects = [csi_node("a", "kubernetes.io/aws-ebs"), volume("v", **ebs("aws://z/odd")), bound("c", "v")]
    text = "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (aws://z/odd)"
    assert against(using("p", "c"), *objects) == {"a": [f"could not translate pv: {text}"], "b": []}


def test_what_is_found_is_assumed_and_given_back():
    """Reserve assumes the volume for the claim, and Unreserve undoes it."""
    new = using("p", "c")
    made = plugin()
    cycle = cycle_of(new, *NODES, LATE, volume("v", **on(zone="a")), claim("c"))
    assert made.reserve(new.bound_to("a"), "a", cycle) is None
    reference = cycle.binder.volumes.get("v").spec.claim_ref
    assert reference.name == "c"
    assert made.pre_bind(new.bound_to("a"), "a", cycle) is None
    made.unreserve(new.bound_to("a"), "a", cycle)
    assert cycle.binder.volumes.get("v").spec.claim_ref is None


def test_a_volume_to_be_made_marks_its_claim():
    """Reserve sets the claim's selected node, also for an ephemeral volume, and Unreserve undoes it."""
    new = using("p", EPHEMERAL)
    made = plugin()
    cycle = cycle_of(new, *NODES, MAKING, made_for(new.uid, "p-v0"))
    assert made.reserve(new.bound_to("b"), "b", cycle) is None
    assert cycle.binder.claims.get("default/p-v0").annotations[SELECTED] == "b"
    made.unreserve(new.bound_to("b"), "b", cycle)
    assert SELECTED not in cycle.binder.claims.get("default/p-v0").annotations


# --- Score --------------------------------------------------------------------------------------------------


def scores(made, new, *objects):
    cycle = cycle_of(new, *NODES, *objects)
    rows = np.array([cycle.table.row_of[item.name] for item in NODES], np.intp)
    return [int(n) for n in made.score(cycle.template, Batch(cycle.table, rows), cycle)]


def test_without_the_gate_it_is_nothing():
    """Every node gets 0."""
    assert scores(plugin(), using("p", "c"), LATE, volume("v"), claim("c")) == [0, 0]


def test_fuller_volumes_are_better():
    """Nodes score by the share of the volumes' capacity that the claims request; without a volume they
    get 0."""
    made = plugin(VolumeCapacityPriority=True)
    objects = [MAKING, volume("v", size="4Gi", **on(zone="a")), claim("c", size="1Gi")]
    assert scores(made, using("p", "c"), *objects) == [25, 0]


def test_classes_count_alike():
    """The score is the mean over the classes, with halves rounded up, by the shape in the profile."""
    made = plugin([(0, 10), (100, 0)], VolumeCapacityPriority=True)
    other = storage_class("other", **WAIT)
    quarter = (volume("v", size="4Gi"), claim("c", size="1Gi"))
    half = (volume("w", "other", "2000Mi"), claim("d", "other", "1000Mi"))
    assert scores(made, using("p", "c", "d"), LATE, other, *quarter, *half) == [63, 63]
