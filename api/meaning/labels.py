"""Which labels and nodes a selector matches. Equal selectors are compiled once.

A compiled selector is a function of the labels. It is :func:`everything` or :func:`nothing` itself where it
can be, so that a caller may test ``matcher is everything``. Upstream: k8s.io/apimachinery pkg/labels;
pkg/apis/core/v1/helper/helpers.go
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from operator import gt, lt
from typing import Any, TypeAlias

from ..objects import LabelSelector, Map, NodeSelector, NodeSelectorTerm, Requirement, Taint, Toleration
from .label_syntax import SelectorError as SelectorError
from .label_syntax import check_pairs, check_requirement, int64_or_none, quoted

Matcher: TypeAlias = Callable[[Mapping[str, str]], bool]
NodeMatcher: TypeAlias = Callable[[Mapping[str, str], "str | None"], bool]

_CACHED = 1 << 16
_LABEL_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})
_NODE_OPERATORS = _LABEL_OPERATORS | {"Gt", "Lt"}


def everything(labels: Mapping[str, str]) -> bool:
    """Matches any labels."""
    return True


def nothing(labels: Mapping[str, str]) -> bool:
    """Matches no labels."""
    return False


# --- label selectors ----------------------------------------------------------------------------------------


def selector_matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether *selector* matches; None matches nothing, an empty one everything. Raises
    :class:`SelectorError` for an invalid one."""
    return compile_selector(selector)(labels)


@lru_cache(maxsize=_CACHED)
def compile_selector(selector: LabelSelector | None) -> Matcher:
    """The test for *selector*. Raises :class:`SelectorError` with upstream's text for an invalid one.

    Upstream: pkg/apis/meta/v1/helpers.go LabelSelectorAsSelector
    """
    if selector is None:
        return nothing
    if selector.is_empty:
        return everything
    check_pairs(selector.match_labels)
    for expression in selector.match_expressions:
        if expression.operator not in _LABEL_OPERATORS:
            raise SelectorError(f"{quoted(expression.operator)} is not a valid pod selector operator")
        check_requirement(expression.key, expression.operator, expression.values)
    tests = [_test(expression) for expression in selector.match_expressions]
    return _all_of([_pairs_test(selector.match_labels), *tests] if selector.match_labels else tests)


@lru_cache(maxsize=_CACHED)
def set_selector(pairs: Map[str] | None) -> Matcher:
    """The test for a map of labels; None, an empty map, and one with an invalid key or value match
    everything.

    Upstream: pkg/labels/selector.go SelectorFromSet (1.27 has dropped the check: :func:`pairs_match`)
    """
    try:
        check_pairs(pairs or {})
    except SelectorError:
        return everything  # Upstream: one invalid pair makes the whole selector match everything.
    return _pairs_test(pairs) if pairs else everything


def pairs_match(pairs: Mapping[str, str] | None, labels: Mapping[str, str]) -> bool:
    """Whether *labels* have all of *pairs*, valid or not."""
    return not pairs or pairs.items() <= labels.items()


def _pairs_test(pairs: Mapping[str, str]) -> Matcher:
    wanted = pairs.items()
    return lambda labels: wanted <= labels.items()


def _all_of(tests: list[Matcher]) -> Matcher:
    if len(tests) == 1:
        return tests[0]
    return lambda labels: all(test(labels) for test in tests)


def _test(expression: Requirement) -> Matcher:
    """The test of one valid expression."""
    key = expression.key
    values = frozenset(expression.values)
    match expression.operator:
        case "In":
            return lambda labels: labels.get(key) in values
        case "NotIn":
            return lambda labels: labels.get(key) not in values
        case "Exists":
            return lambda labels: key in labels
        case "DoesNotExist":
            return lambda labels: key not in labels
    bound = int(expression.values[0])

    def compare(labels: Mapping[str, str]) -> bool:
        number = int64_or_none(labels.get(key, ""))
        return number is not None and (number > bound if expression.operator == "Gt" else number < bound)

    return compare


# --- node selectors -----------------------------------------------------------------------------------------


@lru_cache(maxsize=_CACHED)
def match_expressions_selector(expressions: tuple[Requirement, ...]) -> Matcher:
    """The test for a node selector's expressions; without any it matches nothing. Raises
    :class:`SelectorError`.

    Upstream: pkg/apis/core/v1/helper/helpers.go NodeSelectorRequirementsAsSelector
    """
    if not expressions:
        return nothing
    for expression in expressions:
        if expression.operator not in _NODE_OPERATORS:
            raise SelectorError(f"{quoted(expression.operator)} is not a valid node selector operator")
        check_requirement(expression.key, expression.operator, expression.values)
    return _all_of([_test(expression) for expression in expressions])


def node_selector_matches(selector: NodeSelector, labels: Mapping[str, str], name: str | None) -> bool:
    """Whether one of the terms matches a node; an empty or invalid term matches nothing.

    *name* is the node's name; ``""`` if fields count as empty, None to ignore match_fields.
    Upstream: pkg/apis/core/v1/helper/helpers.go MatchNodeSelectorTerms
    """
    return compile_node_selector(selector)(labels, name)


@lru_cache(maxsize=_CACHED)
def compile_node_selector(selector: NodeSelector) -> NodeMatcher:
    """The test for a whole node selector, a function of a node's labels and name."""
    terms = [compile_node_term(term) for term in selector.node_selector_terms]
    if len(terms) == 1:
        return terms[0]
    return lambda labels, name: any(term(labels, name) for term in terms)


@lru_cache(maxsize=_CACHED)
def compile_node_term(term: NodeSelectorTerm) -> NodeMatcher:
    """The test for one term, a function of a node's labels and name."""
    if not term.match_expressions and not term.match_fields:
        return _no_node
    try:
        if term.match_expressions:
            by_labels = match_expressions_selector(term.match_expressions)
        else:
            by_labels = everything
    except SelectorError:
        return _no_node
    if any(field.operator not in ("In", "NotIn") or len(field.values) != 1 for field in term.match_fields):
        return _no_node
    if not term.match_fields:
        return lambda labels, name: by_labels(labels)
    fields = term.match_fields
    return lambda labels, name: (
        by_labels(labels) and (name is None or all(_field_holds(field, name) for field in fields))
    )


def _no_node(labels: Mapping[str, str], name: str | None) -> bool:
    return False


def _field_holds(field: Requirement, name: str) -> bool:
    """Upstream: a field other than metadata.name counts as empty."""
    actual = name if field.key == "metadata.name" else ""
    return (actual == field.values[0]) == (field.operator == "In")


# --- selectors as texts, taints, zones ----------------------------------------------------------------------


_SET = re.compile(r"(\S+)\s+(in|notin)\s*\(([^()]*)\)")
_PAIR = re.compile(r"([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)")
_KEY = re.compile(r"(!?)\s*([^\s=!()]+)")
_OPERATORS = {"in": "In", "notin": "NotIn", "=": "In", "==": "In", "!=": "NotIn"}


def parse_selector(text: str) -> Matcher:
    """The test that *text* describes; an empty one matches everything. Raises :class:`SelectorError`.

    >>> chosen = parse_selector("app=web, tier in (front, back), !canary")
    >>> chosen({"app": "web", "tier": "back"}), chosen({"app": "web", "tier": "back", "canary": ""})
    (True, False)
    """
    parts = re.split(r",(?![^(]*\))", text) if text.strip() else []
    return compile_selector(
        LabelSelector(match_expressions=tuple(_requirement(part.strip()) for part in parts))
    )


def _requirement(part: str) -> Requirement:
    if found := _SET.fullmatch(part):
        key, operator, inside = found.groups()
        return Requirement(
            key=key,
            operator=_OPERATORS[operator],
            given_values=tuple(value.strip() for value in inside.split(",")) if inside.strip() else (),
        )
    if found := _PAIR.fullmatch(part):
        key, operator, value = found.groups()
        return Requirement(key=key, operator=_OPERATORS[operator], given_values=(value,))
    if found := _KEY.fullmatch(part):
        return Requirement(key=found[2], operator="DoesNotExist" if found[1] else "Exists")
    raise SelectorError(
        f'expected KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY notin (A,B), KEY or !KEY, got "{part}"'
    )


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Whether one of *tolerations* covers *taint*.

    Upstream: pkg/apis/core/v1/helper/helpers.go TolerationsTolerateTaint
    """
    return any(toleration_tolerates(toleration, taint) for toleration in tolerations)


def toleration_tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether *toleration* covers *taint*: an empty effect or key covers any; seconds do not count.

    Upstream: k8s.io/api core/v1/toleration.go ToleratesTaint
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        # Upstream: an empty key with operator Equal covers every key that has this value.
        return toleration.value == taint.value
    if toleration.operator in COMPARISONS:
        wanted = whole_of(toleration.value)
        found = whole_of(taint.value)
        return None not in (wanted, found) and COMPARISONS[toleration.operator](found, wanted)
    return toleration.operator == "Exists"


COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {"Gt": gt, "Lt": lt}
"""Operator of a toleration -> how the value of a taint compares with the toleration's."""
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")


def whole_of(text: str) -> int | None:
    """The whole number of 64 bits that *text* is in its only form; None if it is none.

    >>> whole_of("-12"), whole_of("012"), whole_of("9223372036854775808")
    (-12, None, None)
    """
    return int64_or_none(text) if _WHOLE.fullmatch(text) else None


TOPOLOGY_ZONE = "topology.kubernetes.io/zone"
TOPOLOGY_REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
ZONES = (TOPOLOGY_ZONE, BETA_ZONE)
BETA_PLACES = (BETA_ZONE, BETA_REGION)
PLACES = (*ZONES, TOPOLOGY_REGION, BETA_REGION)
"""All labels that say where a node is."""


def zone_of(labels: Mapping[str, str]) -> str:
    """The zone that the *labels* of a node name, the newer label first; empty if none does.

    >>> zone_of({"topology.kubernetes.io/zone": "a"}), zone_of({})
    ('a', '')
    """
    return next((labels[label] for label in ZONES if labels.get(label)), "")
