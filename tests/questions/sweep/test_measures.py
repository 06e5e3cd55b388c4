"""The measures of a run, compared with numbers computed by hand."""

import pytest

import kubeclassic
from kubeclassic.api.objects import Node, ObjectMeta, Pod
from kubeclassic.api.objects.metadata import Map, OwnerReference
from kubeclassic.framework.options import options_of
from kubeclassic.questions.sweep.spec import zone_skew
from tests.conftest import ROOT

ZONE = "topology.kubernetes.io/zone"
DAY = str(ROOT / "examples" / "day.yaml")


def node(name, zone):
    """A node in a zone."""
    return Node(metadata=ObjectMeta(name=name, labels=Map({ZONE: zone} if zone else {})))


def owned(name, owner):
    """A pod of a ReplicaSet."""
    owners = (OwnerReference(kind="ReplicaSet", name=owner, controller=True),) if owner else ()
    return Pod(metadata=ObjectMeta(name=name, namespace="a", owner_references=owners))


# --- Zone skew ----------------------------------------------------------------------------------------------


NODES = (node("n1", "east"), node("n2", "west"), node("n3", "north"), node("n4", ""))


def skew(*hosts):
    """The skew of pods by owner and node."""
    return zone_skew(
        NODES, [(owned(f"p{number}", owner), host) for number, (owner, host) in enumerate(hosts)]
    )


def test_by_hand():
    """Three in one zone and none in the others is 3; one in each is 0; their mean is 1.5."""
    packed = [("x", "n1")] * 3
    spread = [("y", "n1"), ("y", "n2"), ("y", "n3")]
    assert skew(*packed) == 3
    assert skew(*spread) == 0
    assert skew(*packed, *spread) == 1.5


def test_what_does_not_count():
    """Single pods, pods without an owner and pods on a node without a zone do not count; one zone has no
    skew."""
    assert skew(("x", "n1"), ("", "n1"), ("", "n1"), ("z", "n4"), ("z", "n4")) is None
    assert zone_skew([node("n1", "east")], [(owned("p", "x"), "n1"), (owned("q", "x"), "n1")]) is None


class TestTraces:
    COUNTS = ("pods", "placed", "unschedulable", "evictions", "waiting p50", "waiting max")
    OBJECTIVES = (*COUNTS, "cpu used")

    def row(self, **grid):
        """The row of the example's day."""
        asked = {"trace": DAY, "grid": grid, "objectives": list(self.OBJECTIVES)}
        return kubeclassic.sweep(asked).rows[0]

    @pytest.mark.parametrize("release", ["1.13", "1.27"])
    def test_they_are_those_of_replay(self, release):
        """Counts, use and waits are those of ``replay``."""
        row = self.row(release=release, seed=7)
        told = kubeclassic.replay(DAY, scheduler=options_of({"release": release, "seed": 7}))
        summary = told.summary
        assert (row["pods"], row["placed"], row["evictions"]) == (
            summary.arrived,
            summary.scheduled,
            summary.evicted,
        )
        assert row["unschedulable"] == summary.still_waiting + summary.never_scheduled
        assert row["cpu used"] == summary.mean_use["cpu"]
        assert (row["waiting p50"], row["waiting max"]) == (summary.waits["p50"], summary.waits["max"])

    def test_a_trace_has_its_own_order(self):
        """Another order is an error of the run, and so are edits."""
        rows = kubeclassic.sweep(
            {"trace": DAY, "grid": {"order": ["input", "queue"], "set": [None, "pod * requests.cpu=1"]}}
        ).rows
        assert [row["error"] for row in rows] == [
            None,
            "set: expected a cluster, got 'pod * requests.cpu=1' for a trace",
            *["order: got queue for a trace, whose pods come in their own order"] * 2,
        ]
