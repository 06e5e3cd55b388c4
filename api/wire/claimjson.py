"""ResourceClaims as the API server takes them, in any version of resource.k8s.io: these fields are the same in all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..objects import AllocationResult, ResourceClaim
from .ownfields import own_fields

Json = dict[str, Any]
NO_CLASSES: Mapping[str, Mapping[str, Any]] = {}


def with_finalizers(manifest: Mapping[str, Any], claim: ResourceClaim) -> Json:
    """The claim of *manifest* with the finalizers of *claim*: for an update of the claim itself, which comes before that of its status."""
    return {**manifest, "metadata": {**manifest.get("metadata", {}), "finalizers": list(claim.metadata.finalizers)}}


def with_status(
    manifest: Mapping[str, Any], claim: ResourceClaim, classes: Mapping[str, Mapping[str, Any]] = NO_CLASSES, names_requests: bool = False
) -> Json:
    """The claim of *manifest* with the devices and users of *claim*: for an update of its status. *classes*: manifests, by name.

    With *names_requests* what a class tells drivers names the requests that it is for.
    """
    status = dict(manifest.get("status") or {})
    before = status.pop("allocation", None)
    status.pop("reservedFor", None)
    allocation = claim.status.allocation
    if allocation is not None:
        since = allocation.allocation_timestamp
        made = allocation_json(allocation, _config(manifest, allocation, classes, names_requests)) if before is None else before
        status["allocation"] = {**made, **({"allocationTimestamp": since} if since is not None else {})}
    else:
        status.pop("devices", None)
    users = list(map(own_fields, claim.status.reserved_for))
    return {**manifest, "status": {**status, **({"reservedFor": users} if users else {})}}


def allocation_json(allocation: AllocationResult, config: list[Json]) -> Json:
    """The devices of a claim, and what their drivers get."""
    written = own_fields(allocation)
    return {**written, "devices": {"results": [], **written.get("devices", {}), **({"config": config} if config else {})}}


def _config(
    manifest: Mapping[str, Any], allocation: AllocationResult, classes: Mapping[str, Mapping[str, Any]], names_requests: bool
) -> list[Json]:
    """What the classes of the requests that were chosen tell drivers, and then what the claim does.

    Upstream: the end of Allocate in structured/internal/experimental/allocator_experimental.go.
    """
    devices = manifest.get("spec", {}).get("devices", {})
    chosen = {one.request.partition("/")[0]: one.request for one in allocation.results}
    found: list[Json] = []
    which = ((one, chosen.get(one["name"], "")) for one in devices.get("requests", ()))
    asked = [(_class_of(one, name), name or one["name"]) for one, name in which]
    for name in dict.fromkeys(name for name, _ in asked) if names_requests else [name for name, _ in asked]:
        named = {"requests": [request for other, request in asked if other == name]} if names_requests else {}
        told = classes.get(name, {}).get("spec", {}).get("config", ())
        found += [{"source": "FromClass", **one, **named} for one in told]
    for one in devices.get("config", ()):
        named = one.get("requests")
        times = 1 if not named else sum(bool({name, whole} & set(named)) for name, whole in chosen.items())
        found += [{"source": "FromClaim", **one}] * times
    return found


def _class_of(request: Mapping[str, Any], chosen: str) -> str:
    """The class of *request*, or of the alternative of it that was chosen."""
    alternatives = {f"{request['name']}/{one['name']}": one for one in request.get("firstAvailable", ())}
    name: str = alternatives.get(chosen, request.get("exactly", request)).get("deviceClassName", "")
    return name


