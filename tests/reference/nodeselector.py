"""MatchNodeSelector as one plain loop: one pod, one node, no arrays and nothing compiled."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kubeclassic.api.objects import Node, NodeSelectorTerm, Pod, Requirement

_WORD = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def matches(pod: Pod, node: Node) -> bool:
    """Whether *node* satisfies *pod*'s nodeSelector and its required node affinity."""
    pairs: Mapping[str, str] = pod.spec.node_selector or {}
    if all(_is_key(key) and _is_value(value) for key, value in pairs.items()):
        for key, value in pairs.items():
            if node.labels.get(key) != value:
                return False
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None or affinity.node_affinity.required is None:
        return True
    return any(term_matches(term, node) for term in affinity.node_affinity.required.node_selector_terms)


def term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    """Whether one term matches *node*."""
    if not term.match_expressions and not term.match_fields:
        return False
    if not all(_is_valid(expression) for expression in term.match_expressions):
        return False
    if not all(field.operator in ("In", "NotIn") and len(field.values) == 1 for field in term.match_fields):
        return False
    return all(_holds(e, node) for e in term.match_expressions) and all(_field_holds(f, node) for f in term.match_fields)


def _holds(expression: Requirement, node: Node) -> bool:
    value = node.labels.get(expression.key)
    if expression.operator == "In":
        return value is not None and value in expression.values
    if expression.operator == "NotIn":
        return value is None or value not in expression.values
    if expression.operator == "Exists":
        return value is not None
    if expression.operator == "DoesNotExist":
        return value is None
    number = _number(value or "")
    if number is None:
        return False
    return number > int(expression.values[0]) if expression.operator == "Gt" else number < int(expression.values[0])


def _field_holds(field: Requirement, node: Node) -> bool:
    value = node.name if field.key == "metadata.name" else ""
    return (value == field.values[0]) if field.operator == "In" else (value != field.values[0])


def _is_valid(expression: Requirement) -> bool:
    if not _is_key(expression.key) or not all(_is_value(value) for value in expression.values):
        return False
    if expression.operator in ("In", "NotIn"):
        return len(expression.values) > 0
    if expression.operator in ("Exists", "DoesNotExist"):
        return len(expression.values) == 0
    return expression.operator in ("Gt", "Lt") and len(expression.values) == 1 and _number(expression.values[0]) is not None


def _number(text: str) -> int | None:
    if not re.fullmatch("[+-]?[0-9]+", text):
        return None
    return int(text) if -(2**63) <= int(text) < 2**63 else None


def _is_key(key: str) -> bool:
    domain, slash, name = key.rpartition("/")
    if slash and not (_DOMAIN.fullmatch(domain) and len(domain) <= 253):
        return False
    return _WORD.fullmatch(name) is not None and len(name) <= 63


def _is_value(value: str) -> bool:
    return value == "" or (_WORD.fullmatch(value) is not None and len(value) <= 63)
