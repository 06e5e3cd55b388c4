"""Tables for label selectors, node selectors and affinities; see :mod:`.schema`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from .. import objects as o
from .fields import Reader, Table, list_of, record, remembered, text, text_list, texts, whole

Word: TypeAlias = Callable[..., Reader[str]]

_LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def _requirement(operator: Reader[str]) -> Reader[o.Requirement]:
    return record(o.Requirement, {"key": ("key", text), "operator": ("operator", operator), "values": ("values", text_list)})


def label_selector(word: Word) -> Reader[o.LabelSelector]:
    """The reader of a label selector."""
    expression = _requirement(word(*_LABEL_OPERATORS, optional=False))
    table: Table = {"matchLabels": ("match_labels", texts), "matchExpressions": ("match_expressions", list_of(expression))}
    return remembered(record(o.LabelSelector, table))


def _node_selector_term(word: Word) -> Reader[o.NodeSelectorTerm]:
    expressions = list_of(_requirement(word(*_LABEL_OPERATORS, "Gt", "Lt", optional=False)))
    table: Table = {"matchExpressions": ("match_expressions", expressions), "matchFields": ("match_fields", expressions)}
    return record(o.NodeSelectorTerm, table)


def node_selector(word: Word) -> Reader[o.NodeSelector]:
    """The reader of a node selector."""
    terms = list_of(_node_selector_term(word), o.NodeSelectorTerm())
    return remembered(record(o.NodeSelector, {"nodeSelectorTerms": ("node_selector_terms", terms)}))


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def node_affinity(word: Word) -> Reader[o.NodeAffinity]:
    """The reader of a node affinity."""
    preference: Table = {"weight": ("weight", whole), "preference": ("preference", _node_selector_term(word))}
    table: Table = {
        _REQUIRED: ("required", node_selector(word)),
        _PREFERRED: ("preferred", list_of(record(o.PreferredSchedulingTerm, preference), o.PreferredSchedulingTerm())),
    }
    return record(o.NodeAffinity, table)


def affinity(word: Word) -> Reader[o.Affinity]:
    """The reader of a pod's affinities."""
    pods = _pod_affinity(word)
    table: Table = {
        "nodeAffinity": ("node_affinity", node_affinity(word)),
        "podAffinity": ("pod_affinity", pods),
        "podAntiAffinity": ("pod_anti_affinity", pods),
    }
    return remembered(record(o.Affinity, table))


def _pod_affinity(word: Word) -> Reader[o.PodAffinity]:
    term = record(
        o.PodAffinityTerm,
        {
            "labelSelector": ("label_selector", label_selector(word)),
            "namespaces": ("namespaces", text_list),
            "topologyKey": ("topology_key", text),
            "namespaceSelector": ("namespace_selector", label_selector(word)),
        },
    )
    weighted: Table = {"weight": ("weight", whole), "podAffinityTerm": ("pod_affinity_term", term)}
    table: Table = {
        _REQUIRED: ("required", list_of(term, o.PodAffinityTerm())),
        _PREFERRED: ("preferred", list_of(record(o.WeightedPodAffinityTerm, weighted), o.WeightedPodAffinityTerm())),
    }
    return record(o.PodAffinity, table)
