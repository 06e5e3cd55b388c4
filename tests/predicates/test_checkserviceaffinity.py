"""CheckServiceAffinity: pods of a service keep to equal node labels."""

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.run import EventFeed
from kubeclassic.predicates.checkserviceaffinity import service_affinity
from tests.support.build import answers, ask, engine, manifest, node, obj, overlay, pod

MISFIT = ["node(s) didn't match service affinity"]
RULE = service_affinity("CheckServiceAffinity", ["region"])
SERVICE = obj(manifest("Service", "s", namespace="default", spec={"selector": {"app": "a"}}))
A, B, C = (
    node(name, labels={"region": region}) for name, region in (("a", "east"), ("b", "west"), ("c", "east"))
)


def newcomer():
    """The pod that is to be scheduled, one of ``app: a``."""
    return pod("new", app="a")


def peer(name, on=""):
    """A pod of ``app: a``."""
    return pod(name, on=on, app="a")


def test_a_missing_node_is_an_error():
    """Where the first peer's node is not known the predicate cannot answer."""
    for release in ("1.12", "1.16"):
        found = ask(RULE, newcomer(), B, SERVICE, peer("1", "a"), release=release)
        assert found == {"b": 'node "a" not found'}


def test_a_deleted_peer_on_a_deleted_node_is_forgotten():
    """The list of peers is the cache's: a pod that was deleted after its node is not in it, though the
    snapshot still has it."""
    gone = peer("1", "a")
    stays = pod("other", on="a")
    made = engine(A, B, SERVICE, gone, stays)
    made.begin(newcomer())
    feed = EventFeed(made)
    feed.delete(A)
    cycle = made.begin(newcomer())
    assert answers(RULE, cycle, Batch(cycle.table))["b"] == 'node "a" not found'
    feed.delete(gone)
    cycle = made.begin(newcomer())
    assert answers(RULE, cycle, Batch(cycle.table))["b"] == []


def test_a_peer_put_back_stands_at_the_end():
    """A peer that is put back comes behind those of other nodes; without metadata it has its old place."""
    cycle = engine(A, B, SERVICE, peer("1", "a"), peer("2", "b")).begin(newcomer())
    trial = overlay(cycle, "a")
    entry = trial.pods(0)[0]
    trial.remove(entry, 0)
    trial.add(entry, 0)
    assert answers(RULE, cycle, trial) == {"a": MISFIT}
    cycle.has_metadata = False
    assert answers(RULE, cycle, trial) == {"a": []}


def test_a_nominated_peer_that_names_a_node_leads_there():
    """Upstream looks up the node in the spec of the first peer, whatever node it is nominated to."""
    cycle = engine(A, B, SERVICE).begin(newcomer())
    trial = overlay(cycle, "a", "b")
    trial.add(cycle.templates.entry(peer("1", "b"), nominated=True), 0)
    assert answers(RULE, cycle, trial) == {"a": MISFIT, "b": []}
