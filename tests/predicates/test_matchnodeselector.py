"""MatchNodeSelector: nodeSelector and required node affinity."""

import numpy as np
import pytest

from kubeclassic.api.meaning.labels import SelectorError
from kubeclassic.api.objects import NodeSelector, NodeSelectorTerm, Requirement
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.matching.nodeselectors import expressions_mask, node_selector_mask
from tests.support.build import engine, node, pod

LABELS = {
    "n0": {"zone": "a", "gen": "3"},
    "n1": {"zone": "b", "gen": "10"},
    "n2": {"gen": "x"},
    "n3": {"zone": ""},
}
NODES = [node(name, labels=labels) for name, labels in LABELS.items()]


def test_fields_can_be_empty():
    """Without fields a node's name counts as empty, as for the node affinity of volumes."""
    nodes = Batch(engine(*NODES).begin(pod("p")).table)
    selector = NodeSelector(
        node_selector_terms=(
            NodeSelectorTerm(
                match_fields=(Requirement(key="metadata.name", operator="In", given_values=("n0",)),)
            ),
        )
    )
    assert node_selector_mask(selector, nodes)[: len(NODES)].any()
    assert not node_selector_mask(selector, nodes, fields=False).any()


def test_expressions_alone():
    """No expressions match no node; an invalid one is an error with upstream's text."""
    nodes = Batch(engine(*NODES).begin(pod("p")).table, np.array([1, 0]))
    assert expressions_mask(
        (Requirement(key="zone", operator="In", given_values=("a",)),), nodes
    ).tolist() == [False, True]
    assert not expressions_mask((), nodes).any()
    with pytest.raises(SelectorError, match='"Like" is not a valid node selector operator'):
        expressions_mask((Requirement(key="zone", operator="Like", given_values=("a",)),), nodes)
