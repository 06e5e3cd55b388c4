"""Upstream's validation of selectors of nodes and labels.

Upstream: pkg/apis/core/validation, component-helpers scheduling/corev1/nodeaffinity, apimachinery labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ...api.meaning.label_syntax import int64_or_none, is_valid_label_key, is_valid_label_value, quoted
from ...api.meaning.labels import SelectorError, compile_selector, match_expressions_selector
from ...api.objects import LabelSelector, NodeSelector, NodeSelectorTerm, PreferredSchedulingTerm, Requirement
from ...core.release import FrameworkCells
from .fielderrors import aggregated, invalid, unsupported

_PLAIN = FrameworkCells()
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def node_selector_faults(selector: NodeSelector, cells: FrameworkCells, path: str = "") -> list[str]:
    """The faults of all terms; an empty term has none."""
    within = _child(path, "nodeSelectorTerms")
    return [
        fault
        for i, term in enumerate(selector.node_selector_terms)
        for fault in term_faults(term, cells, f"{within}[{i}]")
    ]


def preferred_faults(
    terms: Sequence[PreferredSchedulingTerm], cells: FrameworkCells, path: str = ""
) -> list[str]:
    """The faults of preferred terms; terms of weight 0 are skipped."""
    counted = ((i, term.preference) for i, term in enumerate(terms) if term.weight)
    return [fault for i, term in counted for fault in term_faults(term, cells, f"{path}[{i}]")]


def term_faults(term: NodeSelectorTerm, cells: FrameworkCells, path: str) -> list[str]:
    """The faults of one term, at most one text per expression."""
    if cells.plain_selector_faults:
        # The first fault of a term in plain words; none without one.
        reads_fields = cells.reads_preferred_fields
        try:
            match_expressions_selector(term.match_expressions)
        except SelectorError as error:
            return [str(error)]
        for field in term.match_fields if reads_fields else ():
            if field.operator not in ("In", "NotIn"):
                return [f"{quoted(field.operator)} is not a valid node field selector operator"]
            if len(field.values) != 1:
                return [
                    f"unexpected number of value ({len(field.values)}) for node field selector operator {quoted(field.operator)}"
                ]
        return []
    found = [
        _expression(e, cells, f"{_child(path, 'matchExpressions')}[{i}]")
        for i, e in enumerate(term.match_expressions)
    ]
    found += [
        _field(e, cells, f"{_child(path, 'matchFields')}[{i}]") for i, e in enumerate(term.match_fields)
    ]
    return [fault for fault in found if fault]


def label_selector_fault(selector: LabelSelector | None, cells: FrameworkCells = _PLAIN) -> str:
    """The first fault of a label selector, pairs in order of their keys; empty without one."""
    if selector is None:
        return ""
    if cells.plain_selector_faults:
        try:
            compile_selector(selector)
        except SelectorError as error:
            return str(error)
        return ""
    pairs = [
        Requirement(key=key, operator="In", given_values=(value,))
        for key, value in sorted(selector.match_labels.items())
    ]
    for expression in (*pairs, *selector.match_expressions):
        if expression.operator not in OPERATORS[:4]:
            return f"{quoted(expression.operator)} is not a valid label selector operator"
        # Upstream: the values of a label selector are copied, and the copy of an empty list is nil.
        if fault := aggregated(
            _requirement_faults(replace(expression, given_values=expression.values or None), cells, "")
        ):
            return fault
    return ""


def _child(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _expression(expression: Requirement, cells: FrameworkCells, path: str) -> str:
    if expression.operator not in OPERATORS:
        return unsupported(
            f"{path}.operator", expression.operator, OPERATORS if cells.faults_list_operators else ()
        )
    return aggregated(_requirement_faults(expression, cells, path))


def _requirement_faults(expression: Requirement, cells: FrameworkCells, path: str) -> Iterator[str]:
    key = expression.key
    operator = expression.operator
    values = _values(expression)
    if faults := is_valid_label_key(key):
        yield invalid(_child(path, "key"), key, "; ".join(faults))
    path = _child(path, "values")
    if operator in ("In", "NotIn") and not values:
        yield invalid(path, values, "for 'in', 'notin' operators, values set can't be empty", cells)
    elif operator in ("Exists", "DoesNotExist") and values:
        yield invalid(path, values, "values set must be empty for exists and does not exist", cells)
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield invalid(path, values, "for 'Gt', 'Lt' operators, exactly one value is required", cells)
        for i, value in enumerate(values):
            if int64_or_none(value) is None:
                yield invalid(f"{path}[{i}]", value, "for 'Gt', 'Lt' operators, the value must be an integer")
    for i, value in enumerate(values):
        if faults := is_valid_label_value(value):
            yield invalid(f"{path}[{i}][{key}]", value, "; ".join(faults))


def _values(expression: Requirement) -> Sequence[str]:
    """The values as :func:`shown` distinguishes an empty list from an absent one."""
    return [] if expression.given_values == () else expression.values


def _field(requirement: Requirement, cells: FrameworkCells, path: str) -> str:
    if requirement.operator not in ("In", "NotIn"):
        return unsupported(f"{path}.operator", requirement.operator, ("In", "NotIn"))
    if len(requirement.values) == 1:
        return ""
    return invalid(f"{path}.values", _values(requirement), "must have one element", cells)
