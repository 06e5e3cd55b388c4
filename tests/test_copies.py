"""Clusters and decisions can be copied and pickled; a scheduler says that it cannot."""

import copy
import pickle

import cloudpickle
import pytest

from kubeclassic import Cluster, KubeclassicError, Scheduler
from tests.support.build import node
from tests.support.examples import ENDS

WAYS = {
    "pickle": lambda item: pickle.loads(pickle.dumps(item)),
    "cloudpickle": lambda item: pickle.loads(cloudpickle.dumps(item)),
    "deepcopy": copy.deepcopy,
}
each_way = pytest.mark.parametrize("way", WAYS)
IN_RELEASES = [
    *((release, "pickle") for release in ENDS),
    *((release, way) for release in ("1.13", "1.27") for way in WAYS),
]
in_releases = pytest.mark.parametrize("release, way", dict.fromkeys(IN_RELEASES))
"""Every release can be pickled; the other ways are tried in one of each kind."""


@in_releases
def test_decisions(release, way, root):
    """A copied decision reads as the original, and holds nothing of the scheduler."""
    ours = Scheduler(Cluster.load(root / "examples" / "cluster"), release)
    decisions = ours.run()
    for mine, theirs in zip(decisions, WAYS[way](decisions), strict=True):
        assert theirs.record(details=True) == mine.record(details=True)
        assert (repr(theirs), theirs.details.visited) == (repr(mine), mine.details.visited)
        rows = range(len(mine.details.names))
        assert [theirs.details.refusal(row) for row in rows] == [mine.details.refusal(row) for row in rows]
        assert pickle.loads(pickle.dumps(theirs)).record(details=True) == mine.record(details=True)
    assert len(pickle.dumps(decisions[-1])) < 20_000


@each_way
def test_clusters(way, root):
    """A copied cluster has equal objects, which change apart."""
    mine = Cluster.load(root / "examples" / "cluster")
    theirs = WAYS[way](mine)
    assert theirs.objects == mine.objects
    theirs.delete("node/gpu-b1")
    assert (len(mine.nodes), len(theirs.nodes)) == (11, 10)


@pytest.mark.parametrize("way", [*WAYS.values(), copy.copy], ids=[*WAYS, "copy"])
def test_schedulers(way):
    """A scheduler has a state that only it knows; no copy of it shares that in silence."""
    with pytest.raises(KubeclassicError, match=r"^a scheduler cannot be copied or pickled: make a new one"):
        way(Scheduler(Cluster([node("a")])))
