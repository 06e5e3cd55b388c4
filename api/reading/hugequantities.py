"""Amounts that do not fit into 64 bits. Upstream counts them as something else, mostly without a word, and so do we: with a warning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from ...exceptions import QuantityError
from ..objects import KubeObject, Map, Node, PersistentVolume, PersistentVolumeClaim, Pod
from ..objects.quantity import MAX_INT64, Quantity, round_away
from .fields import shown

_LISTS = ("requests", "limits", "overhead", "capacity", "allocatable")
"""Fields with amounts by resource."""


@attrs.define(repr=False)
class HugeQuantities:
    """Finds them. Equal lists of amounts are one object, which is looked at once."""

    _fine: dict[int, Map[Quantity]] = attrs.field(factory=dict)

    def has_none(self, item: KubeObject | None) -> bool:
        """Whether all amounts of *item* fit. Quick."""
        return all(id(amounts) in self._fine or self._fits(amounts) for amounts in _amounts(item))

    def _fits(self, amounts: Map[Quantity]) -> bool:
        if any(_huge(name, amount) for name, amount in amounts.items()):
            return False
        self._fine[id(amounts)] = amounts
        return True


def _amounts(item: KubeObject | None) -> Iterable[Map[Quantity]]:
    if isinstance(item, Pod):
        spec = item.spec
        found = [spec.overhead] if spec.overhead else []
        for container in (*spec.containers, *spec.init_containers) if spec.init_containers else spec.containers:
            found += (container.requests, container.limits)
        return found
    if isinstance(item, Node):
        return (item.status.allocatable, item.status.capacity)
    if isinstance(item, PersistentVolume):
        return (item.spec.capacity,)
    return (item.spec.requests,) if isinstance(item, PersistentVolumeClaim) else ()


def _huge(name: str, amount: Quantity) -> bool:
    return abs(round_away(amount.nanos, 10**6 if name == "cpu" else 10**9)) >= MAX_INT64


def huge_quantities(value: Any, path: str = "") -> Iterator[str]:
    """What there is to say about each such amount in *value*, the JSON form of an object.

    >>> list(huge_quantities({"status": {"capacity": {"memory": "20E", "cpu": "4"}}}))
    ['status.capacity[memory]: got "20E", which counts as 0: it does not fit into 64 bits']
    """
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from huge_quantities(item, f"{path}[{index}]")
    elif isinstance(value, Mapping):
        for name, item in value.items():
            inner = f"{path}.{name}" if path else str(name)
            yield from _in_list(item, inner) if name in _LISTS and isinstance(item, Mapping) else huge_quantities(item, inner)


def _in_list(amounts: Mapping[Any, Any], path: str) -> Iterator[str]:
    for name, written in amounts.items():
        try:
            amount = Quantity.parse(written)
        except QuantityError:
            continue
        if _huge(name, amount):
            counted = amount.milli_value() if name == "cpu" else amount.value()
            unit = " thousandths" if name == "cpu" else ""
            yield f"{path}[{name}]: got {shown(written)}, which counts as {counted:,}{unit}: it does not fit into 64 bits"
