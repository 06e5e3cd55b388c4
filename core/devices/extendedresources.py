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
"""The length of a generated name without its last five letters."""


class RequestMapping(NamedTuple):
    """The request whose devices a container gets for a resource."""

    container: str
    resource: str
    request: str


def is_device_resource(name: str) -> bool:
    """Whether the resource *name* can request devices."""
    return is_extended_resource(name) or name.startswith(IMPLICIT)


def special_claim(pod: Pod) -> ResourceClaim:
    """The claim for the extended resources of *pod*, before its requests on a node are known."""
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
    """*claim* with requests for the extended *resources* of *pod* that a node gives as devices. *class_of*:
    resource -> the class of its devices."""
    requests = sorted(
        (request for name in sorted(resources) for request in _requests_for(pod, name, class_of(name))[0]),
        key=lambda request: request.name,
    )
    return replace(claim, spec=ResourceClaimSpec(devices=DeviceClaim(requests=tuple(requests))))


def mappings_of(pod: Pod, resources: Iterable[str]) -> list[RequestMapping]:
    """The containers of *pod* and the requests whose devices they get."""
    return [mapping for name in sorted(resources) for mapping in _requests_for(pod, name, "")[1]]


def status_of(claim: ResourceClaim, mappings: Sequence[RequestMapping]) -> dict[str, Any]:
    """The status of a pod about its *claim* for extended resources."""
    names = ("containerName", "resourceName", "requestName")
    status = {
        "requestMappings": [dict(zip(names, mapping, strict=True)) for mapping in mappings],
        "resourceClaimName": claim.name,
    }
    return {"extendedResourceClaimStatus": status}


def _requests_for(
    pod: Pod, resource: str, class_name: str
) -> tuple[list[DeviceRequest], list[RequestMapping]]:
    """The requests for one *resource*. Init containers that end use the devices of later containers, and one
    another's."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    ending = {at for at, container in enumerate(pod.spec.init_containers) if not container.is_sidecar}
    lasting: list[DeviceRequest | None] = [None] * len(containers)
    most: DeviceRequest | None = None
    mappings: list[RequestMapping] = []
    names = set[str]()
    for at in sorted(range(len(containers)), key=ending.__contains__):  # those that last come first
        reusable = lasting[at:] if at in ending else ()
        request, container_mappings = _container_request(at, containers[at], resource, class_name, reusable)
        mappings += container_mappings
        if at not in ending:
            lasting[at] = request
        elif request is not None:
            names.add(request.name)
            most = request if most is None or _count(request) > _count(most) else most
    if most is not None:
        mappings = [
            mapping._replace(request=most.name) if mapping.request in names else mapping
            for mapping in mappings
        ]
    return [request for request in (most, *lasting) if request is not None], mappings


def _count(request: DeviceRequest) -> int:
    return 0 if request.exactly is None else request.exactly.count


def _container_request(
    at: int, container: Container, resource: str, class_name: str, reusable: Sequence[DeviceRequest | None]
) -> tuple[DeviceRequest | None, list[RequestMapping]]:
    """The request of one container for devices that the *reusable* ones do not cover."""
    quantity = container.requests.get(resource)
    count = 0 if quantity is None or quantity.nanos % 10**9 else quantity.value()
    mappings: list[RequestMapping] = []
    if not count:
        return None, mappings
    reusable_count = 0
    for request in reusable:
        if request is not None:
            reusable_count += _count(request)
            mappings.append(RequestMapping(container.name, resource, request.name))
            if reusable_count >= count:
                return None, mappings
    name = f"container-{at}-request-{sorted(container.requests).index(resource)}"
    mappings.append(RequestMapping(container.name, resource, name))
    return DeviceRequest(
        name=name, exactly=ExactDeviceRequest(device_class_name=class_name, count=count - reusable_count)
    ), mappings
