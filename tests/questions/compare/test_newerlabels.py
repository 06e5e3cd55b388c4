"""Nodes of old releases with the labels that newer ones put beside the old."""

from kubeclassic.api.objects import Node
from kubeclassic.questions.compare.ask import with_newer_labels, zones_warning
from kubeclassic.simulation.simulate import Scenario
from tests.support.build import node, pod

OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
NEW_ZONE = "topology.kubernetes.io/zone"


def test_newer_labels_stand_beside_the_old_ones():
    """A node gets each newer label that it lacks and keeps one that it has, whatever the old one says; pods
    stay as they are."""
    nodes = (
        node("a", labels={OLD_ZONE: "x", "disk": "ssd"}),
        node("b", labels={OLD_ZONE: "x", NEW_ZONE: "y"}),
        node("c"),
    )
    found = Scenario(nodes, (pod("p"),))
    changed = with_newer_labels(found)
    assert {item.name: dict(item.metadata.labels) for item in changed.objects if isinstance(item, Node)} == {
        "a": {OLD_ZONE: "x", NEW_ZONE: "x", "disk": "ssd"},
        "b": {OLD_ZONE: "x", NEW_ZONE: "y"},
        "c": {},
    }
    assert changed.pending == found.pending


def test_zones_by_the_old_label_alone_are_told_of():
    """The nodes whose zone newer rules cannot see are counted; where there are none nothing is said."""
    found = Scenario(
        (node("a", labels={OLD_ZONE: "x"}), node("b", labels={OLD_ZONE: "x", NEW_ZONE: "x"}), node("c")), ()
    )
    assert (zones_warning(found) or "").startswith(f"1 node has label {OLD_ZONE} and not {NEW_ZONE}")
    assert zones_warning(with_newer_labels(found)) is None
