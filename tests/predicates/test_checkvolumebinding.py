"""CheckVolumeBinding: the binder's answer in the predicate's words."""

import numpy as np
import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.predicates.checkvolumebinding import check_volume_binding
from tests.support.build import ask, engine, node
from tests.support.volumebuild import BOUND, WAIT, claim, on, pod, storage_class, volume

NODE_CONFLICT = "node(s) had volume node affinity conflict"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
CLASS = storage_class("wait", **WAIT)


def test_both_reasons_can_stand_and_the_bound_one_comes_first():
    """A node out of reach of a bound volume and without volumes for an unbound claim has two reasons."""
    objects = [
        CLASS,
        claim("c", annotations=BOUND, volumeName="v"),
        claim("d"),
        volume("v", phase="Bound", **on(zone="a")),
        volume("w", **on(rack="1")),
    ]
    nodes = [
        node("n1", labels={"zone": "a", "rack": "1"}),
        node("n2", labels={"zone": "a"}),
        node("n3", labels={"rack": "1"}),
        node("n4"),
    ]
    assert ask(check_volume_binding, pod("c", "d"), *nodes, *objects) == {
        "n1": [],
        "n2": [BIND_CONFLICT],
        "n3": [NODE_CONFLICT],
        "n4": [NODE_CONFLICT, BIND_CONFLICT],
    }


def test_an_error_of_the_binder_is_the_predicates():
    """What the binder cannot answer is an error on the node, not a reason."""
    assert ask(check_volume_binding, pod("c"), node("n1"), claim("c", None)) == {
        "n1": "pod has unbound immediate PersistentVolumeClaims"
    }


@pytest.mark.parametrize("release, fits", [("1.12", True), ("1.13", True), ("1.14", False)])
def test_the_gate_switches_it_off_before_1_14(release, fits):
    """Gate VolumeScheduling decides in 1.12 and 1.13 whether volumes are looked at."""
    gates = {"VolumeScheduling": False} if fits else {}
    assert ask(check_volume_binding, pod("c"), node("n1"), claim("c", None), release=release, gates=gates)[
        "n1"
    ] == ([] if fits else "pod has unbound immediate PersistentVolumeClaims")


@pytest.mark.parametrize("release", list(RELEASES))
def test_what_was_found_on_the_chosen_node_is_assumed(release):
    """The volumes of a scheduled pod are taken, so that the next pod goes without."""
    objects = [CLASS, claim("c"), claim("d"), volume("v")]
    scheduler = engine(node("n1"), node("n2"), *objects, release=release)
    first = scheduler.schedule(pod("c"))
    assert first.host is not None
    assert scheduler.assume(pod("c"), first.host) is None
    second = scheduler.schedule(pod("d", name="q"))
    assert second.error == f"0/2 nodes are available: 2 {BIND_CONFLICT}."


def test_the_check_itself_remembers_nothing():
    """Asking is without consequence; only the effect makes decisions."""
    scheduler = engine(node("n1"), CLASS, claim("c"), volume("v"), release="1.12")
    cycle = scheduler.begin(pod("c"))
    check_volume_binding.check(cycle.template, Batch(cycle.table), cycle)
    scheduler.binder.assume(pod("c"), "n1")
    assert scheduler.binder.volumes.get("v").spec.claim_ref is None
    check_volume_binding.effect(cycle.template, Batch(cycle.table, np.array([0])), cycle)
    scheduler.binder.assume(pod("c"), "n1")
    assert scheduler.binder.volumes.get("v").spec.claim_ref is not None
