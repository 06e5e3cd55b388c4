"""How the objects of resource.k8s.io look in JSON.

v1beta2 is as v1; v1beta1 has some fields elsewhere, which are put in their places first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import objects as o
from .derive import Field, Overrides, Wrapper, over
from .fields import Mismatch, Reader, entries, flag, member, quantity, remembered, shared, text, whole

_ATTRIBUTE_TYPES: Mapping[str, Reader[Any]] = {"int": whole, "bool": flag, "string": text, "version": text}
"""In the order in which upstream looks for a value."""
_EXACT = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
"""Fields that a request of v1beta1 has itself."""


def _attribute(value: Any) -> o.DeviceAttribute:
    found = entries(value)
    for name, read in _ATTRIBUTE_TYPES.items():
        if found.get(name) is not None:
            try:
                return o.DeviceAttribute(name, read(found[name]))
            except Mismatch as mismatch:
                raise mismatch.under(name) from None
    return o.DeviceAttribute()


def _each(read: Reader[Any]) -> Reader[Any]:
    """A reader for objects with any keys."""

    def read_each(value: Any) -> Any:
        found = {}
        for name, item in entries(value).items():
            try:
                found[name] = read(item)
            except Mismatch as mismatch:
                raise mismatch.under(f"[{name}]") from None
        return o.Map(found)

    return read_each


def _is_there(value: Any) -> bool:
    return bool(value)


DEVICE_PLACES: Overrides = {
    o.DeviceSelector: {"expression": Field(inside="cel")},
    o.AllocationResult: {"results": Field(inside="devices")},
    o.ResourceClaimTemplateSpec: {"labels": Field(inside="metadata"), "annotations": Field(inside="metadata")},
    o.Device: {
        "attributes": Field(read=_each(_attribute)),
        "capacity": Field(read=_each(member("value", quantity, o.quantity.ZERO))),
        "consumes_counters": Field(read=_is_there),
        "taints": Field(read=_is_there),
    },
    o.ResourceSliceSpec: {"shared_counters": Field(read=_is_there)},
}


# --- v1beta1 --------------------------------------------------------------------------------------------------------


def _unpacked(name: str) -> Wrapper:
    """For objects with some of their fields in an inner object *name*."""

    def unpack(read: Reader[Any]) -> Reader[Any]:
        def read_flat(value: Any) -> Any:
            inner = value.get(name) if isinstance(value, dict) else None
            return read(value if inner is None else {**{key: item for key, item in value.items() if key != name}, **entries(inner)})

        return read_flat

    return over(unpack)


def _request(read: Reader[o.DeviceRequest]) -> Reader[o.DeviceRequest]:
    def read_request(value: Any) -> o.DeviceRequest:
        exact = {key: value[key] for key in _EXACT if key in value} if isinstance(value, dict) else {}
        if exact.get("deviceClassName") and "exactly" not in value:
            value = {**{key: item for key, item in value.items() if key not in exact}, "exactly": exact}
        return read(value)

    return read_request


def _both(first: Wrapper, then: Wrapper) -> Wrapper:
    return lambda form: then(first(form))


DEVICE_WRAPPERS: Mapping[Any, Wrapper] = {
    o.PodResourceClaim: _unpacked("source"),
    o.DeviceRequest: over(_request),
    o.Device: _both(_unpacked("basic"), over(remembered)),
    o.DeviceClaim: over(shared),
    o.Map[o.DeviceAttribute]: over(shared),
}
