"""The plugins that only the first releases of the framework have, by example."""

import pytest

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.run import EventFeed
from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config.args import RequestedToCapacityRatioArgs, ServiceAffinityArgs, ShapePoint
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.plugins import older
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.support.asking import cycle_of, found_by, handle
from tests.support.build import manifest, node, obj, pod

HALF = {"cpu": "2", "memory": "4Gi"}
RISING = (ShapePoint(0, 0), ShapePoint(100, 10))
ZONE = "topology.kubernetes.io/zone"


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


@pytest.mark.parametrize("release", ["1.18", "1.22"])
def test_the_first_peer_is_that_of_the_list_of_nodes(release):
    """A node that only moves to another zone keeps its place in the list, and its pods with it."""
    east, west = node("east", labels={"rack": "a", ZONE: "x"}), node("west", labels={"rack": "b", ZONE: "x"})
    service = obj(manifest("Service", "s", namespace="default", spec={"selector": {"app": "a"}}))
    engine = framework_engine(read_configuration(release=FRAMEWORK_RELEASES[release]))
    feed = EventFeed(engine)
    feed.put_all([east, west, service, *(pod(f"on-{name}", on=name, app="a") for name in ("east", "west"))])
    engine.schedule(pod("before"))
    feed.put(node("east", labels={"rack": "a", ZONE: "y"}))
    cycle = engine.begin(pod("new", app="a"))
    plugin = older.ServiceAffinityPlugin(ServiceAffinityArgs(affinity_labels=("rack",)), handle(release))
    assert found_by(plugin, cycle, Batch(cycle.table)) == {
        "east": None,
        "west": "node(s) didn't match service affinity",
    }
