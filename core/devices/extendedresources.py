"""Claims to devices for the extended resources of a pod: one for all of them, with a request for each
container and resource.

Upstream: pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import NAMESPACE_OID, uuid5

from msgspec.structs import replace

from ...api.objects import (
    Container,
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    Map,
    ObjectMeta,
    OwnerReference,
    Pod,
    ResourceClaim,
    ResourceClaimSpec,
)
from ..cluster.listings import EXTENDED, EXTENDED_MARK, IMPLICIT
from ..pods import is_extended_resource

LONGEST_BASE = 58
"""The letters of a generated name before its last five."""


class RequestMapping(NamedTuple):
    """The request whose devices a container gets for a resource."""

    container: str
    resource: str
    request: str


def is_device_resource(name: str) -> bool:
    """Whether devices can be asked for by the resource *name*."""
    return is_extended_resource(name) or name.startswith(IMPLICIT)


def special_claim(pod: Pod) -> ResourceClaim:
    """The claim for the extended resources of *pod*, before it is known what they are on a node."""
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True)
    return ResourceClaim(
        metadata=ObjectMeta(
            name=EXTENDED,
            namespace=pod.namespace,
            uid=f"{pod.uid}-extended-resources",
            annotations=Map({EXTENDED_MARK: "true"}),
            owner_references=(owner,),
        )
    )


def is_in_memory(claim: ResourceClaim) -> bool:
    """Whether *claim* is one for extended resources that is not written yet."""
    return claim.name == EXTENDED


def as_written(claim: ResourceClaim, pod: Pod) -> ResourceClaim:
    """The claim of *pod* for its extended resources with a name of its own."""
    end = uuid5(NAMESPACE_OID, claim.uid).hex[:5]
    return replace(
        claim, metadata=replace(claim.metadata, name=f"{pod.name}-extended-resources-"[:LONGEST_BASE] + end)
    )


def with_requests(
    claim: ResourceClaim, pod: Pod, resources: Iterable[str], class_of: Callable[[str], str]
) -> ResourceClaim:
    """*claim* for those of the extended *resources* of *pod* that a node gives as devices of the class that
    *class_of* tells."""
    found = sorted(
        (one for name in sorted(resources) for one in _of_resource(pod, name, class_of(name))[0]),
        key=lambda one: one.name,
    )
    return replace(claim, spec=ResourceClaimSpec(devices=DeviceClaim(requests=tuple(found))))


def mappings_of(pod: Pod, resources: Iterable[str]) -> list[RequestMapping]:
    """The containers of *pod* and the requests whose devices they get."""
    return [one for name in sorted(resources) for one in _of_resource(pod, name, "")[1]]


def status_of(claim: ResourceClaim, mappings: Sequence[RequestMapping]) -> dict[str, Any]:
    """The status of a pod about its *claim* for extended resources."""
    names = ("containerName", "resourceName", "requestName")
    found = {
        "requestMappings": [dict(zip(names, one, strict=True)) for one in mappings],
        "resourceClaimName": claim.name,
    }
    return {"extendedResourceClaimStatus": found}


def _of_resource(
    pod: Pod, resource: str, class_name: str
) -> tuple[list[DeviceRequest], list[RequestMapping]]:
    """The requests for one *resource*. Init containers that end use the devices of those that come after
    them, and one another's."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    brief = {at for at, container in enumerate(pod.spec.init_containers) if not container.is_sidecar}
    lasting: list[DeviceRequest | None] = [None] * len(containers)
    most: DeviceRequest | None = None
    mappings: list[RequestMapping] = []
    names = set[str]()
    for at in sorted(range(len(containers)), key=brief.__contains__):  # those that last come first
        reusable = lasting[at:] if at in brief else ()
        request, more = _of_container(at, containers[at], resource, class_name, reusable)
        mappings += more
        if at not in brief:
            lasting[at] = request
        elif request is not None:
            names.add(request.name)
            most = request if most is None or _count(request) > _count(most) else most
    if most is not None:
        mappings = [one._replace(request=most.name) if one.request in names else one for one in mappings]
    return [one for one in (most, *lasting) if one is not None], mappings


def _count(request: DeviceRequest) -> int:
    return 0 if request.exactly is None else request.exactly.count


def _of_container(
    at: int, container: Container, resource: str, class_name: str, reusable: Sequence[DeviceRequest | None]
) -> tuple[DeviceRequest | None, list[RequestMapping]]:
    """The request of one container for what the *reusable* ones do not give it already."""
    quantity = container.requests.get(resource)
    wanted = 0 if quantity is None or quantity.nanos % 10**9 else quantity.value()
    mappings: list[RequestMapping] = []
    if not wanted:
        return None, mappings
    there = 0
    for request in reusable:
        if request is not None:
            there += _count(request)
            mappings.append(RequestMapping(container.name, resource, request.name))
            if there >= wanted:
                return None, mappings
    name = f"container-{at}-request-{sorted(container.requests).index(resource)}"
    mappings.append(RequestMapping(container.name, resource, name))
    return DeviceRequest(
        name=name, exactly=ExactDeviceRequest(device_class_name=class_name, count=wanted - there)
    ), mappings
