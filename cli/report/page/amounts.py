"""Amounts of resources in a page: cores, bytes and pieces as people say them, marked with their place in ``-o json``."""

from __future__ import annotations

from ....api.words import BYTES, rounded
from .markup import Markup, told

CPU = "cpu"


def amount_told(path: str, resource: str, number: int | None) -> Markup | None:
    """A number of millicores, bytes or pieces; None stays None, which tables show as ``-``.

    >>> amount_told("a.b", "cpu", 1500), amount_told("a.b", "memory", None)
    ('<span data-json="a.b" data-unit="milli">1.5</span>', None)
    """
    if number is None:
        return None
    return told(path, rounded(resource, number), unit="milli" if resource == CPU else None)


def unit_of(resource: str) -> str:
    """What stands behind an amount of *resource*, with a blank before it.

    >>> unit_of("cpu"), unit_of("memory")
    (' cores', '')
    """
    return " cores" if resource == CPU else ""


def column_kind(resource: str) -> str:
    """The kind of a column with amounts of *resource* (:data:`~.tables.KINDS`)."""
    if resource == CPU:
        return "cores"
    return "bytes" if resource in BYTES or resource.startswith("hugepages-") else "count"


def amount_with_unit(path: str, resource: str, number: int) -> Markup:
    """As :func:`amount_told`, with its unit, for sentences."""
    return Markup(f"{amount_told(path, resource, number)}{unit_of(resource)}")
