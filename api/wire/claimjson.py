"""ResourceClaims as the API server takes them, in any version of resource.k8s.io: these fields are the same in all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..objects import AllocationResult, NodeSelector, Requirement, ResourceClaim

Json = dict[str, Any]
NO_CLASSES: Mapping[str, Mapping[str, Any]] = {}


def with_finalizers(manifest: Mapping[str, Any], claim: ResourceClaim) -> Json:
    """The claim of *manifest* with the finalizers of *claim*: for an update of the claim itself, which comes before that of its status."""
    return {**manifest, "metadata": {**manifest.get("metadata", {}), "finalizers": list(claim.metadata.finalizers)}}


def with_status(manifest: Mapping[str, Any], claim: ResourceClaim, classes: Mapping[str, Mapping[str, Any]] = NO_CLASSES) -> Json:
    """The claim of *manifest* with the devices and users of *claim*: for an update of its status. *classes*: manifests, by name."""
    status = dict(manifest.get("status") or {})
    before = status.pop("allocation", None)
    status.pop("reservedFor", None)
    allocation = claim.status.allocation
    if allocation is not None:
        status["allocation"] = before if before is not None else allocation_json(allocation, _config(manifest, allocation, classes))
    else:
        status.pop("devices", None)
    users = [
        {"resource": one.resource, "name": one.name, "uid": one.uid, **({"apiGroup": one.api_group} if one.api_group else {})}
        for one in claim.status.reserved_for
    ]
    return {**manifest, "status": {**status, **({"reservedFor": users} if users else {})}}


def allocation_json(allocation: AllocationResult, config: list[Json]) -> Json:
    """The devices of a claim, and what their drivers get."""
    results = [
        {
            "request": one.request, "driver": one.driver, "pool": one.pool, "device": one.device,
            **({"adminAccess": one.admin_access} if one.admin_access is not None else {}),
        }
        for one in allocation.results
    ]  # fmt: skip
    selector = {} if allocation.node_selector is None else {"nodeSelector": _selector(allocation.node_selector)}
    return {"devices": {"results": results, **({"config": config} if config else {})}, **selector}


def _config(manifest: Mapping[str, Any], allocation: AllocationResult, classes: Mapping[str, Mapping[str, Any]]) -> list[Json]:
    """What the classes of the requests that were chosen tell drivers, and then what the claim does.

    Upstream: the end of Allocate in structured/internal/experimental/allocator_experimental.go.
    """
    devices = manifest.get("spec", {}).get("devices", {})
    chosen = {one.request.partition("/")[0]: one.request for one in allocation.results}
    found: list[Json] = []
    for request in devices.get("requests", ()):
        spec = classes.get(_class_of(request, chosen.get(request["name"], "")), {}).get("spec", {})
        found += [{"source": "FromClass", **one} for one in spec.get("config", ())]
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


def _selector(selector: NodeSelector) -> Json:
    terms = []
    for term in selector.node_selector_terms:
        parts = {"matchExpressions": term.match_expressions, "matchFields": term.match_fields}
        terms.append({name: list(map(_requirement, found)) for name, found in parts.items() if found})
    return {"nodeSelectorTerms": terms}


def _requirement(one: Requirement) -> Json:
    return {"key": one.key, "operator": one.operator, **({"values": list(one.values)} if one.values else {})}
