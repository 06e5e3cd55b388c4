"""SelectorSpreadPriority, its older name, and the spreading of a service over a label."""

from kubeclassic.priorities.selectorspread import selector_spread, service_spreading
from tests.support.build import manifest, node, obj, pod, scored


def owner(kind, name, selector):
    """A service or controller."""
    return obj(manifest(kind, name, namespace="default", spec={"selector": selector}))


def peer(name, on):
    """A bound pod of ``app: a``."""
    return pod(name, on=on, app="a")


NEWCOMER = pod("new", app="a")


def test_an_invalid_pair_counts_every_pod():
    """A service whose selector has an invalid pair counts every pod of the namespace."""
    odd = owner("Service", "s", {"app": "no good"})
    new = pod("new", app="no good")
    assert scored(selector_spread, new, node("a"), node("b"), odd, pod("1", on="a")) == {"a": 0, "b": 10}


def test_the_older_name_reads_controllers_too():
    """ServiceSpreadingPriority counts by controllers as well, for all its name."""
    objects = [node("a"), node("b"), owner("ReplicationController", "r", {"app": "a"}), peer("1", "a")]
    assert scored(service_spreading, NEWCOMER, *objects) == {"a": 0, "b": 10}
