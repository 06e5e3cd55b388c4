"""MatchNodeSelector: nodeSelector and required node affinity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from kubeclassic.api.meaning.labels import SelectorError
from kubeclassic.api.objects import NodeSelector, NodeSelectorTerm, Pod, Requirement
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.matching.nodeselectors import expressions_mask, node_selector_mask
from kubeclassic.predicates.nodeselector import pod_match_node_selector
from tests.support.build import ask, engine, node, pod

REASON = "node(s) didn't match node selector"
Json = dict[str, Any]
LABELS: dict[str, Json] = {"n0": {"zone": "a", "gen": "3"}, "n1": {"zone": "b", "gen": "10"}, "n2": {"gen": "x"}, "n3": {"zone": ""}}
NODES = [node(name, labels=labels) for name, labels in LABELS.items()]


def expression(key: str, operator: str, *values: str) -> Json:
    return {"key": key, "operator": operator, "values": list(values)}


def requiring(*terms: Json) -> Pod:
    """A pod whose node affinity requires one of *terms*."""
    return pod("p", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}})


def matching(incoming: Pod) -> list[str]:
    """The nodes of ``NODES`` that fit."""
    found = ask(pod_match_node_selector, incoming, *NODES)
    assert all(reasons in ([], [REASON]) for reasons in found.values())
    return [name for name, reasons in found.items() if not reasons]


def matching_term(*expressions: Json, fields: list[Json] | None = None) -> list[str]:
    return matching(requiring({"matchExpressions": list(expressions), "matchFields": fields or []}))


ALL = [*LABELS]


class TestNodeSelector:
    @pytest.mark.parametrize("pair", [("zone", "-"), ("zone", "x" * 64), ("not a key", "a"), ("a/b/c", "a")])
    def test_one_invalid_pair_makes_the_whole_selector_match_everything(self, pair: tuple[str, str]) -> None:
        """A key or value that is no valid label switches the whole nodeSelector off, its valid pairs too."""
        assert matching(pod("p", nodeSelector=dict([pair], gen="3"))) == ALL


class TestRequiredNodeAffinity:
    def test_preferred_terms_turn_nobody_down(self) -> None:
        """Node affinity that requires nothing matches all nodes."""
        preferred = {"weight": 1, "preference": {"matchExpressions": [expression("zone", "In", "q")]}}
        assert matching(pod("p", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}})) == ALL


class TestMatchFields:
    @pytest.mark.parametrize(
        "field",
        [expression("metadata.name", "In", "n0", "n1"), expression("metadata.name", "In"), expression("metadata.name", "Exists")],
    )
    def test_anything_but_one_value_matches_nothing(self, field: Json) -> None:
        """A field takes In or NotIn with exactly one value; else its term matches no node."""
        assert matching_term(fields=[field]) == []

    def test_an_unknown_field_is_empty(self) -> None:
        """A field that is not known has the empty text for a value on every node."""
        assert matching_term(fields=[expression("spec.name", "In", "n0")]) == []
        assert matching_term(fields=[expression("spec.name", "In", "")]) == ALL
        assert matching_term(fields=[expression("spec.name", "NotIn", "n0")]) == ALL


class TestMasks:
    """The masks that other rules build on."""

    def test_fields_can_be_empty(self) -> None:
        """Without fields a node's name counts as empty, as for the node affinity of volumes."""
        nodes = Batch(engine(*NODES).begin(pod("p")).table)
        selector = NodeSelector(
            node_selector_terms=(NodeSelectorTerm(match_fields=(Requirement(key="metadata.name", operator="In", values=("n0",)),)),)
        )
        assert node_selector_mask(selector, nodes)[: len(NODES)].any()
        assert not node_selector_mask(selector, nodes, fields=False).any()

    def test_expressions_alone(self) -> None:
        """No expressions match no node; an invalid one is an error with upstream's text."""
        nodes = Batch(engine(*NODES).begin(pod("p")).table, np.array([1, 0]))
        assert expressions_mask((Requirement(key="zone", operator="In", values=("a",)),), nodes).tolist() == [False, True]
        assert not expressions_mask((), nodes).any()
        with pytest.raises(SelectorError, match='"Like" is not a valid node selector operator'):
            expressions_mask((Requirement(key="zone", operator="Like", values=("a",)),), nodes)


KEYS = st.sampled_from(["zone", "gen", "nowhere", "bad key"])
VALUES = st.sampled_from(["a", "b", "", "3", "10", "x", "-1", "9" * 19, "9" * 20])
OPERATORS = st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Like"])


@st.composite
def expressions(draw: st.DrawFn) -> Json:
    """Mostly valid ones: as many values as the operator takes."""
    operator = draw(OPERATORS)
    most = 0 if operator in ("Exists", "DoesNotExist") else 1 if operator in ("Gt", "Lt") else 3
    return expression(draw(KEYS), operator, *draw(st.lists(VALUES, min_size=min(most, 1), max_size=draw(st.sampled_from([most, 2])) or 0)))
