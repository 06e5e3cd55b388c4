"""Upstream's texts for invalid fields. Upstream: apimachinery pkg/util/validation/field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from msgspec import Struct
from msgspec.structs import replace

from ...algorithmprovider.gates import resolved_gates
from ...api.meaning import (
    SelectorError,
    compile_selector,
    duration_text,
    int64_or_none,
    is_valid_label_key,
    is_valid_label_value,
    match_expressions_selector,
    quoted,
)
from ...api.objects import LabelSelector, NodeSelector, NodeSelectorTerm, PreferredSchedulingTerm, Requirement
from ...api.objects.metadata import annotated
from ...api.reading import Mismatch
from ...api.reading import shown as shown_value
from ...api.record import Record
from ...core.release import ConfigurationCells, FrameworkCells, Gates, Release
from ...exceptions import PolicyError
from ..releases import PROFILE_RELEASE
from .apiversions import cells_in

_HTML = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def shown(value: Any) -> str:
    """A value as field errors print it; ``()`` is an absent list, ``[]`` an empty one."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        if value == ():
            return "[]string(nil)"  # Upstream: as Go prints a nil slice.
        return f"[]string{{{', '.join(map(shown, value))}}}"
    return str(value)


def as_json(value: Any) -> str:
    """A value as Go marshals it; ``()`` is an absent list."""
    if value == () and isinstance(value, tuple):
        return "null"
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return "".join(
        _HTML.get(character, character) for character in text
    )  # Upstream: Go escapes what HTML could read.


def go_fields(value: Any) -> Any:
    """Arguments with the names and forms that Go marshals."""
    kind = type(value)
    if attrs.has(kind):
        return {
            f"{name[:1].upper()}{name[1:]}": go_fields(getattr(value, attribute))
            for attribute, name, _ in annotated(kind)
        }
    if isinstance(value, Struct):  # fields of the core API, which have their JSON names and may be left out
        fields = {name: getattr(value, attribute) for attribute, name, _ in annotated(kind)}
        return {name: go_fields(field) for name, field in fields.items() if field not in (None, "", (), {})}
    if isinstance(value, tuple):
        return [go_fields(item) for item in value] or None
    if isinstance(value, float):
        return duration_text(value)
    return dict(value) if isinstance(value, Mapping) else value


def invalid(path: str, value: Any, message: str, cells: FrameworkCells | None = None) -> str:
    """The fault of *value*; *cells*, needed only for a list, say how that is shown."""
    as_list = isinstance(value, tuple | list) and cells is not None and cells.faults_as_json
    return f"{path}: Invalid value: {as_json(value) if as_list else shown(value)}: {message}"


def outside(path: str, value: int, most: int = 100, text: str = "") -> Iterator[str]:
    """The fault of a number that is not between 0 and *most*."""
    if not 0 <= value <= most:
        yield invalid(path, value, text or f"not in valid range [0, {most}]")


def required(path: str, message: str = "") -> str:
    return f"{path}: Required value: {message}" if message else f"{path}: Required value"


def duplicate(path: str, value: Any) -> str:
    return f"{path}: Duplicate value: {shown(value)}"


def forbidden(path: str, message: str) -> str:
    return f"{path}: Forbidden: {message}"


def unsupported(path: str, value: str, allowed: Sequence[str] = ()) -> str:
    supported = f": supported values: {', '.join(map(shown, allowed))}" if allowed else ""
    return f"{path}: Unsupported value: {shown(value)}{supported}"


def aggregated(texts: Iterable[str]) -> str:
    """Several errors as one text, without duplicates; empty without errors."""
    distinct = list(dict.fromkeys(texts))
    return f"[{', '.join(distinct)}]" if len(distinct) > 1 else "".join(distinct)


def unknown(paths: Iterable[str]) -> str:
    """The text of strict decoding about unknown fields; empty without any."""
    return ", ".join(f'unknown field "{path}"' for path in paths)


class ProfileFault(Record):
    """One fault of a configuration."""

    where: str
    """The path of the field; empty: the whole."""
    what: str
    """The fault in words, upstream's where it has a text for it."""
    got: str | None = None
    wanted: str | None = None


class ConfigurationError(PolicyError):
    """A configuration cannot be decoded; the error has the faults that were found."""

    def __init__(self, text: str, faults: Iterable[ProfileFault]) -> None:
        super().__init__(text)
        self.faults: tuple[ProfileFault, ...] = tuple(faults)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self.args, self.faults), vars(self)


def mismatched(mismatch: Mismatch, within: str = "") -> list[ProfileFault]:
    """The fault of a value of another type; *within*: the beginning of its path."""
    return [
        ProfileFault(f"{within}{mismatch.path}", "wrong type", shown_value(mismatch.got), mismatch.wanted)
    ]


_FAULT = re.compile(
    r"(?P<where>[A-Za-z][A-Za-z0-9.\[\]]*): (?P<kind>Invalid value|Required value|Duplicate value|Unsupported value|Forbidden)"
    r"(: (?P<rest>.*))?",
    re.DOTALL,
)
_VALUE = re.compile(r'(?P<value>"(?:[^"\\]|\\.)*"|.*?)(?:: (?P<text>.*))?', re.DOTALL)


def fault_of(text: str) -> ProfileFault:
    """The fault that upstream words as *text*.

    >>> fault_of('parallelism: Invalid value: 0: should be an integer value greater than zero')
    ProfileFault(where='parallelism', what='should be an integer value greater than zero', got='0', wanted=None)
    >>> fault_of("nothing is right")
    ProfileFault(where='', what='nothing is right', got=None, wanted=None)
    """
    match = _FAULT.fullmatch(text)
    if match is None:
        return ProfileFault("", text)
    where = match["where"]
    kind = match["kind"]
    rest = match["rest"] or ""
    if kind in ("Required value", "Forbidden"):
        return ProfileFault(where, f"{kind}: {rest}" if rest else kind)
    value = _VALUE.fullmatch(rest)
    assert value is not None
    message = value["text"] or kind
    if kind == "Unsupported value":
        return ProfileFault(
            where, kind, value["value"], message.removeprefix("supported values: ") if value["text"] else None
        )
    return ProfileFault(where, message, value["value"])


@attrs.frozen
class Context:
    """A release, its gates, and the version of the configuration that it reads."""

    release: Release = PROFILE_RELEASE
    gates: Gates = attrs.field(factory=lambda: resolved_gates(PROFILE_RELEASE))

    version: str = ""
    """The version of the configuration; empty: the default one."""
    cells: ConfigurationCells = attrs.field(init=False, eq=False)
    """The cells of the release for configurations of the version."""

    @cells.default
    def _cells(self) -> ConfigurationCells:
        return cells_in(self.release.configuration, self.version)

    @property
    def framework(self) -> FrameworkCells:
        """The cells of decisions, which also word faults of fields."""
        return self.release.framework

    @property
    def scores_capacity(self) -> bool:
        """Whether VolumeBinding scores the capacity of volumes."""
        return self.gates.get(self.cells.capacity_gate, False)

    @property
    def times_devices(self) -> bool:
        """Whether the search for devices on a node ends after a time."""
        return self.gates.get("DRASchedulerFilterTimeout", False)

    @property
    def waits_for_devices(self) -> bool:
        """Whether a pod is bound once its devices are ready."""
        return "DRADeviceBindingConditions" in self.release.devices.gated and self.gates.get(
            "DRADeviceBindingConditions", False
        )


PLAIN = Context()
"""The default release, with its default gates."""


# --- Selectors of nodes and labels --------------------------------------------------------------------------
# Upstream: pkg/apis/core/validation, component-helpers scheduling/corev1/nodeaffinity, apimachinery labels.


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
    weighted = ((i, term.preference) for i, term in enumerate(terms) if term.weight)
    return [fault for i, term in weighted for fault in term_faults(term, cells, f"{path}[{i}]")]


def term_faults(term: NodeSelectorTerm, cells: FrameworkCells, path: str) -> list[str]:
    """The faults of one term, expression by expression."""
    if cells.plain_selector_faults:
        # The first fault of a term in plain words; none without one.
        try:
            match_expressions_selector(term.match_expressions, cells.label_words)
        except SelectorError as error:
            return [str(error)]
        for field in term.match_fields if cells.reads_preferred_fields else ():
            if field.operator not in ("In", "NotIn"):
                return [f"{quoted(field.operator)} is not a valid node field selector operator"]
            if len(field.values) != 1:
                return [
                    f"unexpected number of value ({len(field.values)}) for node field selector operator {quoted(field.operator)}"
                ]
        return []
    faults = list[str]()
    for i, expression in enumerate(term.match_expressions):
        where = f"{_child(path, 'matchExpressions')}[{i}]"
        if expression.operator in OPERATORS:
            faults += _requirement_faults(expression, cells, where)
        else:
            operators = OPERATORS if cells.faults_list_operators else ()
            faults.append(unsupported(f"{where}.operator", expression.operator, operators))
    for i, field in enumerate(term.match_fields):
        faults += _field_faults(field, cells, f"{_child(path, 'matchFields')}[{i}]")
    return faults


def label_selector_fault(selector: LabelSelector | None, cells: FrameworkCells = _PLAIN) -> str:
    """The first fault of a label selector, pairs in order of their keys; empty without one."""
    if selector is None:
        return ""
    if cells.plain_selector_faults:
        try:
            compile_selector(selector, cells.label_words)
        except SelectorError as error:
            return str(error)
        return ""
    pairs = [
        Requirement(key=key, operator="In", given_values=(value,))
        for key, value in sorted(selector.match_labels.items())
    ]
    for expression in (*pairs, *selector.match_expressions):
        if expression.operator not in OPERATORS[:4]:
            return (
                f"{quoted(expression.operator)} is not a valid {cells.label_operators_of} selector operator"
            )
        # Upstream: the values of a label selector are copied, and the copy of an empty list is nil.
        if fault := aggregated(
            _requirement_faults(replace(expression, given_values=expression.given_values or None), cells, "")
        ):
            return fault
    return ""


def _child(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _requirement_faults(expression: Requirement, cells: FrameworkCells, path: str) -> Iterator[str]:
    key = expression.key
    operator = expression.operator
    values = _values(expression)
    if faults := is_valid_label_key(key, cells.label_words):
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
        if faults := is_valid_label_value(value, cells.label_words):
            yield invalid(f"{path}[{i}][{key}]", value, "; ".join(faults))


def _values(expression: Requirement) -> Sequence[str]:
    """The values as :func:`shown` distinguishes an empty list from an absent one."""
    return [] if expression.given_values == () else expression.given_values or ()


def _field_faults(requirement: Requirement, cells: FrameworkCells, path: str) -> Iterator[str]:
    if requirement.operator not in ("In", "NotIn"):
        yield unsupported(f"{path}.operator", requirement.operator, ("In", "NotIn"))
    elif len(requirement.values) != 1:
        yield invalid(f"{path}.values", _values(requirement), "must have one element", cells)
