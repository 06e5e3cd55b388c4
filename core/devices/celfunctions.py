"""Quantities and semantic versions for CEL expressions, as Kubernetes adds them to the language.

The CEL library cannot hold values of our own types, so both are objects with one field; equal amounts and
equal versions are equal objects. Upstream: k8s.io/apiserver/pkg/cel/library quantity.go, semverlib.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, total_ordering
from typing import Any

import attrs

from ...api.objects import MAX_INT64, Quantity
from ...exceptions import QuantityError

Value = Mapping[str, str]
QUANTITY = "@quantity"
SEMVER = "@semver"
NO_OVERLOAD = "no such overload"
_NANO = 10**9
_NUMBER = r"(0|[1-9][0-9]*)"
_LABEL = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_LABEL}(?:\.{_LABEL})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)


class DeviceSelectorError(Exception):
    """An expression cannot be evaluated for a device; the text is upstream's where it has one."""


# --- quantities ---------------------------------------------------------------------------------------------


def quantity_value(amount: Quantity) -> Value:
    """*amount* as a value of an expression."""
    return _from_nanos(amount.nanos)


def quantity(text: str) -> Value:
    """The quantity in *text*. Raises ValueError."""
    try:
        return quantity_value(Quantity.parse(text))
    except QuantityError:
        raise ValueError(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ) from None


def _nanos(value: Value) -> int:
    if QUANTITY not in value:
        raise ValueError(NO_OVERLOAD)
    return int(value[QUANTITY])


def _from_nanos(nanos: int) -> Value:
    return {QUANTITY: str(nanos)}


def _is_integer(value: Value) -> bool:
    whole, rest = divmod(_nanos(value), _NANO)
    return not rest and -MAX_INT64 - 1 <= whole <= MAX_INT64


def _as_integer(value: Value) -> int:
    if not _is_integer(value):
        raise ValueError("cannot convert value to integer")
    return _nanos(value) // _NANO


# --- versions -----------------------------------------------------------------------------------------------


@total_ordering
@attrs.frozen(order=False, repr=False)
class Version:
    """A semantic version, compared as by semver 2.0.0: build metadata does not count."""

    numbers: tuple[int, int, int]
    labels: tuple[str, ...] = ()

    @classmethod
    @cache
    def parse(cls, text: str) -> Version:
        """The version in *text*. Raises ValueError."""
        match = _SEMVER.fullmatch(text)
        if match is None:
            raise ValueError(f"invalid semantic version {text!r}")
        major, minor, patch, labels = match.groups()
        return cls((int(major), int(minor), int(patch)), tuple(labels.split(".")) if labels else ())

    def __lt__(self, other: Version) -> bool:
        return self._order() < other._order()

    def _order(self) -> tuple[object, ...]:
        # A number is below a word, and a version with labels below the one without.
        labels = [(0, int(label), "") if label.isdigit() else (1, 0, label) for label in self.labels]
        return self.numbers, not labels, labels

    def __str__(self) -> str:
        return ".".join(map(str, self.numbers)) + ("-" + ".".join(self.labels) if self.labels else "")


def semver_value(text: str, normalize: bool = False) -> Value:
    """The version *text* as a value of an expression; *normalize* fixes a leading ``v``, missing parts and
    leading zeros.

    Raises ValueError.
    """
    if normalize:
        core, mark, rest = re.match(r"([^-+]*)([-+]?)(.*)", text.removeprefix("v"), re.DOTALL).groups()  # type: ignore[union-attr]
        parts = [part.lstrip("0") or "0" if part else part for part in core.split(".")]
        text = ".".join(parts + ["0"] * (3 - len(parts))) + mark + rest
    return {SEMVER: str(Version.parse(text))}


def _version(value: Value) -> Version:
    if SEMVER not in value:
        raise ValueError(NO_OVERLOAD)
    return Version.parse(value[SEMVER])


# --- both ---------------------------------------------------------------------------------------------------


def _compare(value: Value, other: Value) -> int:
    left, right = (_version(value), _version(other)) if SEMVER in value else (_nanos(value), _nanos(other))
    return (left > right) - (left < right)  # type: ignore[operator]


def _validator(value_of: Callable[..., Value]) -> Callable[..., bool]:
    """A test whether *value_of* can make a value of a text."""

    def says(*arguments: Any) -> bool:
        try:
            return bool(value_of(*arguments))
        except ValueError:
            return False

    return says


Overloads = tuple[tuple[tuple[str, ...], str, Callable[..., Any]], ...]
"""The types of an overload's arguments, the type of its result, and its function."""
FUNCTIONS: Mapping[str, Overloads] = {
    "quantity": ((("string",), "value", quantity),),
    "isQuantity": ((("string",), "bool", _validator(quantity)),),
    "semver": ((("string",), "value", semver_value), (("string", "bool"), "value", semver_value)),
    "isSemver": (
        (("string",), "bool", _validator(semver_value)),
        (("string", "bool"), "bool", _validator(semver_value)),
    ),
}
"""Function -> its overloads."""
METHODS: Mapping[str, Overloads] = {
    "compareTo": ((("value", "value"), "int", _compare),),
    "isGreaterThan": ((("value", "value"), "bool", lambda value, other: _compare(value, other) > 0),),
    "isLessThan": ((("value", "value"), "bool", lambda value, other: _compare(value, other) < 0),),
    "sign": ((("value",), "int", lambda value: (_nanos(value) > 0) - (_nanos(value) < 0)),),
    "isInteger": ((("value",), "bool", _is_integer),),
    "asInteger": ((("value",), "int", _as_integer),),
    "asApproximateFloat": ((("value",), "double", lambda value: _nanos(value) / _NANO),),
    "add": (
        (("value", "value"), "value", lambda value, other: _from_nanos(_nanos(value) + _nanos(other))),
        (("value", "int"), "value", lambda value, whole: _from_nanos(_nanos(value) + whole * _NANO)),
    ),
    "sub": (
        (("value", "value"), "value", lambda value, other: _from_nanos(_nanos(value) - _nanos(other))),
        (("value", "int"), "value", lambda value, whole: _from_nanos(_nanos(value) - whole * _NANO)),
    ),
    "major": ((("value",), "int", lambda value: _version(value).numbers[0]),),
    "minor": ((("value",), "int", lambda value: _version(value).numbers[1]),),
    "patch": ((("value",), "int", lambda value: _version(value).numbers[2]),),
}
"""Method -> its overloads, with the object as the first argument."""
