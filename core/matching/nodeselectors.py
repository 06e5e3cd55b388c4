"""Node selectors on a batch, as masks: evaluated for each distinct label value, not for each node.

The same functions for a single map of labels are in :mod:`...api.meaning.labels`.
Upstream: pkg/apis/core/v1/helper/helpers.go MatchNodeSelectorTerms and its helpers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import and_, or_

import numpy as np

from ...api.meaning import (
    SelectorError,
    compile_selector,
    everything,
    int64_or_none,
    match_expressions_selector,
    nothing,
    set_selector,
)
from ...api.objects import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement
from ..arrays import Batch, ColumnView, Mask
from ..pods import Template

Values = ColumnView[str | None]


def pod_node_affinity_mask(pod: Template, nodes: Batch) -> Mask:
    """The nodes that *pod*'s nodeSelector and its required node affinity both allow: bool[n].

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go PodMatchesNodeSelectorAndAffinityTerms.
    """
    # Upstream: one key or value that is no valid label makes the nodeSelector match everything.
    if set_selector(pod.node_selector) is everything:
        return _with_required(pod, nodes.every(), nodes)
    return literal_node_affinity_mask(pod, nodes)


def literal_node_affinity_mask(pod: Template, nodes: Batch) -> Mask:
    """As :func:`pod_node_affinity_mask`, but invalid labels of a nodeSelector have to match like any others:
    bool[n].

    Upstream: component-helpers scheduling/corev1/nodeaffinity RequiredNodeAffinity.Match.
    """
    return _with_required(pod, pairs_mask(pod.node_selector, nodes), nodes)


def _with_required(pod: Template, mask: Mask, nodes: Batch) -> Mask:
    required = required_node_affinity(pod)
    return mask if required is None else mask & node_selector_mask(required, nodes)


def required_node_affinity(pod: Template) -> NodeSelector | None:
    """The node selector that *pod*'s node affinity requires; None where it requires nothing."""
    affinity = pod.affinity.node_affinity
    return None if affinity is None else affinity.required


def pairs_mask(pairs: Mapping[str, str], nodes: Batch) -> Mask:
    """The nodes that have all of these labels, valid or not: bool[n]."""
    return reduce(and_, (nodes.label(key).equals(value) for key, value in pairs.items()), nodes.every())


def selector_mask(selector: LabelSelector, nodes: Batch) -> Mask:
    """The nodes whose labels a label selector matches; an empty one matches all: bool[n].

    Raises :class:`~kubeclassic.api.meaning.labels.SelectorError` with upstream's text for one that is not
    valid.
    """
    compile_selector(selector)
    mask = pairs_mask(selector.match_labels, nodes)
    return mask & expressions_mask(selector.match_expressions, nodes) if selector.match_expressions else mask


def node_selector_mask(selector: NodeSelector, nodes: Batch, *, fields: bool = True) -> Mask:
    """The nodes that one of the terms matches; without any term there are none: bool[n].

    Without *fields* every field of a node counts as empty, as upstream matches the node affinity of volumes.
    """
    return reduce(
        or_, (term_mask(term, nodes, fields=fields) for term in selector.node_selector_terms), nodes.none()
    )


def term_mask(term: NodeSelectorTerm, nodes: Batch, *, fields: bool = True) -> Mask:
    """The nodes that satisfy the whole term; an empty or invalid term matches none: bool[n]."""
    if not _is_usable(term):
        return nodes.none()
    by_fields = reduce(
        and_, (_field_mask(field, nodes, fields) for field in term.match_fields), nodes.every()
    )
    if term.match_expressions:
        return by_fields & expressions_mask(term.match_expressions, nodes)
    return by_fields


def _is_usable(term: NodeSelectorTerm) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False
    try:
        match_expressions_selector(term.match_expressions)
    except SelectorError:
        return False
    return all(field.operator in ("In", "NotIn") and len(field.values) == 1 for field in term.match_fields)


def _field_mask(field: Requirement, nodes: Batch, fields: bool) -> Mask:
    value = field.values[0]
    is_name = fields and field.key == "metadata.name"
    # Upstream: an unknown field has the empty text as its value.
    mask = nodes.named(value) if is_name else np.full(nodes.n, value == "")
    return mask if field.operator == "In" else ~mask


def expressions_mask(expressions: tuple[Requirement, ...], nodes: Batch) -> Mask:
    """The nodes whose labels satisfy all of *expressions*; without any expression there are none: bool[n].

    Raises :class:`~kubeclassic.api.meaning.labels.SelectorError` with upstream's text where one of them is
    not valid.
    """
    if match_expressions_selector(expressions) is nothing:
        return nodes.none()
    return reduce(
        and_, (_expression_mask(expression, nodes.label(expression.key)) for expression in expressions)
    )


def _expression_mask(expression: Requirement, label: Values) -> Mask:
    match expression.operator:
        case "In":
            return _one_of(expression.values, label)
        case "NotIn":
            return ~_one_of(expression.values, label)
        case "Exists":
            return label.present
        case "DoesNotExist":
            return ~label.present
    bound = int(expression.values[0])

    def holds(value: str | None) -> bool:
        number = int64_or_none(value or "")
        return number is not None and (number > bound if expression.operator == "Gt" else number < bound)

    return label.where(holds)


def _one_of(values: Iterable[str], label: Values) -> Mask:
    codes = [code for code in map(label.column.known, values) if code > 0]
    if len(codes) == 1:
        return label.equals(label.values[codes[0]])
    is_value = np.zeros(len(label.values), np.bool_)
    is_value[codes] = True
    return is_value[label.codes]
