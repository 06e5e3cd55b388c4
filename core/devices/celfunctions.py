"""Quantities and semantic versions for CEL expressions, as Kubernetes adds them to the language.

The library has no values of our own types, so both are objects with one field; equal amounts and equal versions are equal objects.
Upstream: k8s.io/apiserver/pkg/cel/library quantity.go, semverlib.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, total_ordering
from typing import Any

import attrs

from ...api.objects.quantity import MAX_INT64, Quantity
from ...exceptions import QuantityError

Value = Mapping[str, str]
QUANTITY, SEMVER = "@quantity", "@semver"
NO_OVERLOAD = "no such overload"
_NANO = 10**9
_NUMBER = r"(0|[1-9][0-9]*)"
_LABEL = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_LABEL}(?:\.{_LABEL})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?", re.ASCII)


class DeviceSelectorError(Exception):
    """An expression cannot be evaluated for a device; the text is upstream's where it has one."""


# --- quantities -----------------------------------------------------------------------------------------------------


def quantity_value(amount: Quantity) -> Value:
    """*amount* as a value of an expression."""
    return {QUANTITY: str(amount.nanos)}


def quantity(text: str) -> Value:
    """The quantity that *text* says. Raises ValueError."""
    try:
        return quantity_value(Quantity.parse(text))
    except QuantityError:
        raise ValueError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'") from None


def is_quantity(text: str) -> bool:
    """Whether *text* says a quantity."""
    try:
        return bool(quantity(text))
    except ValueError:
        return False


def _nanos(value: Value) -> int:
    if QUANTITY not in value:
        raise ValueError(NO_OVERLOAD)
    return int(value[QUANTITY])


def _of(nanos: int) -> Value:
    return {QUANTITY: str(nanos)}


def _sign(value: Value) -> int:
    nanos = _nanos(value)
    return (nanos > 0) - (nanos < 0)


def _is_integer(value: Value) -> bool:
    whole, rest = divmod(_nanos(value), _NANO)
    return not rest and -MAX_INT64 - 1 <= whole <= MAX_INT64


def _as_integer(value: Value) -> int:
    if not _is_integer(value):
        raise ValueError("cannot convert value to integer")
    return _nanos(value) // _NANO


def _as_float(value: Value) -> float:
    return _nanos(value) / _NANO


def _add(value: Value, other: Value) -> Value:
    return _of(_nanos(value) + _nanos(other))


def _add_whole(value: Value, other: int) -> Value:
    return _of(_nanos(value) + other * _NANO)


def _subtract(value: Value, other: Value) -> Value:
    return _of(_nanos(value) - _nanos(other))


def _subtract_whole(value: Value, other: int) -> Value:
    return _of(_nanos(value) - other * _NANO)


# --- versions -------------------------------------------------------------------------------------------------------


@total_ordering
@attrs.frozen(order=False, repr=False)
class Version:
    """A semantic version, compared as semver 2.0.0 says: build metadata does not count."""

    numbers: tuple[int, int, int]
    labels: tuple[str, ...] = ()

    @classmethod
    @cache
    def parse(cls, text: str) -> Version:
        """The version that *text* says. Raises ValueError."""
        found = _SEMVER.fullmatch(text)
        if found is None:
            raise ValueError(f"invalid semantic version {text!r}")
        major, minor, patch, labels = found.groups()
        return cls((int(major), int(minor), int(patch)), tuple(labels.split(".")) if labels else ())

    def __lt__(self, other: Version) -> bool:
        return self._order() < other._order()

    def _order(self) -> tuple[object, ...]:
        # A number is below a word, and a version with labels below the one without.
        labels = [(0, int(label), "") if label.isdigit() else (1, 0, label) for label in self.labels]
        return self.numbers, not labels, labels

    def __str__(self) -> str:
        return ".".join(map(str, self.numbers)) + ("-" + ".".join(self.labels) if self.labels else "")


def semver_value(text: str) -> Value:
    """The version *text* as a value of an expression. Raises ValueError."""
    return {SEMVER: str(Version.parse(text))}


def normalized(text: str, normalize: bool = True) -> Value:
    """As :func:`semver_value`; with *normalize* a ``v`` in front, missing parts and leading zeros are mended."""
    if normalize:
        core, mark, rest = re.match(r"([^-+]*)([-+]?)(.*)", text.removeprefix("v"), re.DOTALL).groups()  # type: ignore[union-attr]
        parts = [part.lstrip("0") or "0" if part else part for part in core.split(".")]
        text = ".".join(parts + ["0"] * (3 - len(parts))) + mark + rest
    return semver_value(text)


def is_semver(text: str, normalize: bool = False) -> bool:
    """Whether *text* says a semantic version."""
    try:
        return bool(normalized(text, normalize))
    except ValueError:
        return False


def _part(place: int) -> Callable[[Value], int]:
    return lambda value: _version(value).numbers[place]


def _version(value: Value) -> Version:
    if SEMVER not in value:
        raise ValueError(NO_OVERLOAD)
    return Version.parse(value[SEMVER])


# --- both -----------------------------------------------------------------------------------------------------------


def _compare(value: Value, other: Value) -> int:
    one, two = (_version(value), _version(other)) if SEMVER in value else (_nanos(value), _nanos(other))
    return (one > two) - (one < two)  # type: ignore[operator]


FUNCTIONS: Mapping[str, tuple[tuple[tuple[str, ...], str, Callable[..., Any]], ...]] = {
    "quantity": ((("string",), "value", quantity),),
    "isQuantity": ((("string",), "bool", is_quantity),),
    "semver": ((("string",), "value", semver_value), (("string", "bool"), "value", normalized)),
    "isSemver": ((("string",), "bool", is_semver), (("string", "bool"), "bool", is_semver)),
}
"""Function -> its overloads: the types of what it takes, of what it gives, and what it does."""
METHODS: Mapping[str, tuple[tuple[tuple[str, ...], str, Callable[..., Any]], ...]] = {
    "compareTo": ((("value", "value"), "int", _compare),),
    "isGreaterThan": ((("value", "value"), "bool", lambda value, other: _compare(value, other) > 0),),
    "isLessThan": ((("value", "value"), "bool", lambda value, other: _compare(value, other) < 0),),
    "sign": ((("value",), "int", _sign),),
    "isInteger": ((("value",), "bool", _is_integer),),
    "asInteger": ((("value",), "int", _as_integer),),
    "asApproximateFloat": ((("value",), "double", _as_float),),
    "add": ((("value", "value"), "value", _add), (("value", "int"), "value", _add_whole)),
    "sub": ((("value", "value"), "value", _subtract), (("value", "int"), "value", _subtract_whole)),
    "major": ((("value",), "int", _part(0)),),
    "minor": ((("value",), "int", _part(1)),),
    "patch": ((("value",), "int", _part(2)),),
}
"""The same, called as methods of what they take first."""
