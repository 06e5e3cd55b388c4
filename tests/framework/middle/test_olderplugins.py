"""The plugins that only the first releases of the framework have, by example."""

import pytest

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config.args import RequestedToCapacityRatioArgs, ShapePoint
from kubeclassic.framework.plugins import older
from tests.support.asking import cycle_of, handle
from tests.support.build import node, pod

HALF = {"cpu": "2", "memory": "4Gi"}
RISING = (ShapePoint(0, 0), ShapePoint(100, 10))


def scores(plugin, new, *objects):
    """Node -> its score before it is normalized, or after."""
    cycle = cycle_of(new, *objects, release="1.21")
    batch = Batch(cycle.table)
    found = plugin.score(cycle.template, batch, cycle)
    return {batch.name(i): int(score) for i, score in enumerate(found)}


def test_without_resources_all_are_alike():
    """A Policy's argument without resources scores nothing; without any argument the plugin refuses."""
    plugin = older.RequestedToCapacityRatio(RequestedToCapacityRatioArgs(RISING), handle("1.21"))
    assert scores(plugin, pod("new", requests=HALF), node("n")) == {"n": 0}
    with pytest.raises(PolicyError, match="want args to be of type RequestedToCapacityRatioArgs, got <nil>"):
        older.RequestedToCapacityRatio(None, handle("1.22"))
