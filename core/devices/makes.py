"""Devices that are alike: of one driver, with equal attributes and capacity. What is true of one is true of all of its make."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import attrs

from ...api.objects import Device, DeviceAttribute, Map
from .celfunctions import DeviceSelectorError, quantity_value, semver_value

Values = Mapping[str, Any]


@attrs.define(eq=False, repr=False)
class Make:
    """A make of devices. Equal makes are the same object; *number* is its own."""

    number: int
    driver: str
    attributes: Map[DeviceAttribute]
    device: Device
    """One of them."""
    _input: Values | DeviceSelectorError | None = None

    def __repr__(self) -> str:
        return f"<Make {self.number} of {self.driver}>"

    def attribute(self, name: str) -> DeviceAttribute | None:
        """The attribute called *name*, which begins with its domain; None where the device has none.

        Upstream: lookupAttribute.
        """
        found = self.attributes.get(name)
        if found is None:
            domain, slash, short = name.partition("/")
            found = self.attributes.get(short) if slash and domain == self.driver else None
        return found

    def as_input(self) -> Values:
        """The variable ``device`` of an expression. Raises DeviceSelectorError for an attribute that has no value to compare.

        Upstream: DeviceMatches in dynamic-resource-allocation/cel/compile.go.
        """
        if self._input is None:
            try:
                self._input = self._as_input()
            except DeviceSelectorError as error:
                self._input = error
        if isinstance(self._input, DeviceSelectorError):
            raise self._input
        return self._input

    def _as_input(self) -> Values:
        attributes: dict[str, dict[str, Any]] = {}
        for name, attribute in self.attributes.items():
            domain, short = _split(name, self.driver)
            attributes.setdefault(domain, {})[short] = _value(name, attribute)
        capacity: dict[str, dict[str, Any]] = {}
        for name, amount in self.device.capacity.items():
            domain, short = _split(name, self.driver)
            capacity.setdefault(domain, {})[short] = quantity_value(amount)
        return {"driver": self.driver, "attributes": attributes, "capacity": capacity}


def _split(name: str, driver: str) -> tuple[str, str]:
    domain, slash, short = name.partition("/")
    return (domain, short) if slash else (driver, name)


def _value(name: str, attribute: DeviceAttribute) -> Any:
    try:
        if attribute.type == "version":
            return semver_value(str(attribute.value))
    except ValueError as error:
        raise DeviceSelectorError(f"attribute {name}: parse semantic version: {error}") from None
    if not attribute.type:
        raise DeviceSelectorError(f"attribute {name}: unsupported attribute value")
    return attribute.value


@attrs.define(eq=False, repr=False)
class Makes:
    """All makes that were met."""

    _known: dict[Hashable, Make] = attrs.field(factory=dict)

    def of(self, driver: str, device: Device) -> Make:
        """The make of *device*."""
        key = driver, device.attributes, device.capacity, bool(device.binding_conditions), device.consumes_counters
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Make(len(self._known), driver, device.attributes, device)
        return found
