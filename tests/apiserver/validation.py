"""What the server refuses: objects of another kind, times in another form, and changes of what may not
change."""

from __future__ import annotations

import json
import re

from .answers import Object, bad_request, fault
from .resources import Resource

_MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[-+]\d\d:\d\d)")


def decoded(body: bytes, resource: Resource) -> Object:
    """The object that *body* holds; what is no object of the resource's kind is a 400."""
    try:
        item = json.loads(body)
    except ValueError:
        item = None
    if not isinstance(item, dict) or item.get("kind", resource.kind) != resource.kind:
        raise bad_request(f"expected a {resource.kind}, got {body[:100]!r}")
    times = (
        [(item.get("spec") or {}).get(name) for name in ("acquireTime", "renewTime")]
        if resource.kind == "Lease"
        else []
    )
    if not all(time is None or _MICRO_TIME.fullmatch(time) for time in times):
        raise bad_request(f"expected times with six digits, got {times}")
    return item


def invalid(resource: Resource, name: str, why: str) -> Exception:
    """422: the object is invalid."""
    return fault(
        422, "Invalid", f'{resource.kind} "{name}" is invalid: {why}', {"name": name, "kind": resource.kind}
    )


def check_update(resource: Resource, old: Object, new: Object) -> None:
    """Refuse a change of what may not change."""
    if resource.kind == "Pod" and _frozen_spec(old["spec"]) != _frozen_spec(new["spec"]):
        raise invalid(
            resource,
            old["metadata"]["name"],
            "pod updates may not change other fields than images and tolerations",
        )


def _frozen_spec(spec: Object) -> Object:
    """What of a pod's spec may not change."""
    changing = ("containers", "initContainers", "activeDeadlineSeconds", "tolerations", "schedulingGates")
    lists = {
        name: [{**each, "image": ""} for each in spec.get(name, ())]
        for name in ("containers", "initContainers")
    }
    return {key: part for key, part in spec.items() if key not in changing} | lists
