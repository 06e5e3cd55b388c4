"""The defaults that the API server fills in before it stores an object, as far as scheduling reads them.

Upstream: pkg/apis/core/v1/defaults.go, pkg/apis/storage/v1/defaults.go, pkg/apis/apps/v1beta1/defaults.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import is_
from typing import Any, TypeVar

from msgspec.structs import replace

from ..objects import (
    DEFAULT_SCHEDULER,
    NO_STRINGS,
    Container,
    ContainerPort,
    JsonObject,
    KubeObject,
    LabelSelector,
    LimitRange,
    LimitRangeSpec,
    Map,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    Quantities,
    ReplicaSet,
    ReplicationController,
    ResourceRequirements,
    StatefulSet,
    StorageClass,
    Volume,
    VolumeSource,
    notation,
)

_K = TypeVar("_K", bound=KubeObject)
S = TypeVar("S", bound=VolumeSource)

_CACHED = 1 << 15


def with_defaults(decoded: _K) -> _K:
    """*decoded* with the API's defaults; the same object if there is nothing to fill in."""
    complete = _COMPLETE.get(type(decoded))
    return decoded if complete is None else complete(decoded)


def with_default_selector(decoded: _K, document: JsonObject) -> _K:
    """A controller with a selector from its template's labels, if it has none and its kind and API version
    have that default.

    *document* is the controller in JSON form: decoded objects do not hold the template.
    """
    if not isinstance(decoded, (ReplicationController, ReplicaSet, StatefulSet)):
        return decoded
    found: Any = document
    for part in ("spec", "template", "metadata", "labels"):
        found = found.get(part) if isinstance(found, Mapping) else None
    labels = Map(found) if isinstance(found, Mapping) else NO_STRINGS
    if not labels or decoded.selector:
        return decoded
    if isinstance(decoded, ReplicationController):
        return replace(decoded, spec=replace(decoded.spec, selector=labels))
    if decoded.selector is None and document.get("apiVersion") in ("extensions/v1beta1", "apps/v1beta1"):
        return replace(decoded, spec=replace(decoded.spec, selector=LabelSelector(match_labels=labels)))
    return decoded


# --- resources ----------------------------------------------------------------------------------------------


def _rounded(amounts: Quantities) -> Quantities:
    """The API server stores resource lists in thousandths."""
    rounded = {name: amount.rounded_to_milli() for name, amount in amounts.items()}
    return amounts if rounded == amounts else Map(rounded)


# --- pods ---------------------------------------------------------------------------------------------------


def _pod(pod: Pod) -> Pod:
    """*pod* with requests from limits, protocols, host ports of pods in the host's network and so on."""
    spec = pod.spec
    given = (
        spec.scheduler_name,
        spec.host_network,
        spec.containers,
        spec.init_containers,
        spec.overhead,
        spec.volumes,
    )
    if not _needed((), *given):
        return pod
    amounts = [held for one in spec.all_containers for held in (one.requests, one.limits)]
    return replace(pod, spec=replace(spec, **_needed(notation(spec.overhead, *amounts), *given)))


@lru_cache(maxsize=_CACHED)
def _needed(
    written: tuple[object, ...],
    scheduler_name: str,
    host_network: bool,
    containers: tuple[Container, ...],
    init_containers: tuple[Container, ...],
    overhead: Quantities,
    volumes: tuple[Volume, ...],
) -> JsonObject:
    """The attributes that a pod's specification with these gets defaults in."""
    changes = {
        "scheduler_name": (scheduler_name, scheduler_name or DEFAULT_SCHEDULER),
        "containers": (containers, _containers(containers, host_network)),
        "init_containers": (init_containers, _containers(init_containers, host_network)),
        "overhead": (overhead, _rounded(overhead)),
        "volumes": (volumes, _each(_volume, volumes)),
    }
    return {name: changed for name, (given, changed) in changes.items() if given != changed}


def _each(complete: Callable[[Any], Any], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """*complete* for each value; the same tuple if nothing changes."""
    completed = tuple([complete(value) for value in values])
    return values if all(map(is_, completed, values)) else completed


def _containers(containers: tuple[Container, ...], host_network: bool) -> tuple[Container, ...]:
    def complete_port(port: ContainerPort) -> ContainerPort:
        protocol = port.protocol or "TCP"
        host_port = port.container_port if host_network and not port.host_port else port.host_port
        if (protocol, host_port) == (port.protocol, port.host_port):
            return port
        return replace(port, protocol=protocol, host_port=host_port)

    def complete(container: Container) -> Container:
        limits = _rounded(container.limits)
        requests = _rounded(container.requests)
        absent = {name: amount for name, amount in limits.items() if name not in requests}
        ports = _each(complete_port, container.ports)
        if not absent and (limits, requests, ports) == (
            container.limits,
            container.requests,
            container.ports,
        ):
            return container
        return replace(
            container,
            resources=ResourceRequirements(
                limits=limits, requests=Map({**requests, **absent}) if absent else requests
            ),
            ports=ports,
        )

    return _each(complete, containers)


def _volume(source: S) -> S:
    if source.rbd is None or source.rbd.pool:
        return source
    return replace(source, rbd=replace(source.rbd, pool="rbd"))


# --- nodes and volumes --------------------------------------------------------------------------------------


def _node(node: Node) -> Node:
    status = node.status
    capacity = _rounded(status.capacity)
    allocatable = _rounded(status.allocatable) or capacity
    if allocatable is status.allocatable and capacity is status.capacity:
        return node
    return replace(node, status=replace(status, allocatable=allocatable, capacity=capacity))


def _persistent_volume(volume: PersistentVolume) -> PersistentVolume:
    """The API server says Pending for a new volume, but the controller at once makes it Available, or Bound
    if it has a claim."""
    given = _volume(volume.spec)
    spec = replace(given, capacity=_rounded(given.capacity), volume_mode=given.volume_mode or "Filesystem")
    return replace(volume, spec=spec).in_phase(volume.phase or ("Bound" if spec.claim_ref else "Available"))


def _persistent_volume_claim(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    spec = replace(
        claim.spec,
        resources=replace(claim.spec.resources, requests=_rounded(claim.spec.requests)),
        volume_mode=claim.spec.volume_mode or "Filesystem",
    )
    return replace(claim, spec=spec).in_phase(claim.phase or ("Bound" if spec.volume_name else "Pending"))


def _limit_range(found: LimitRange) -> LimitRange:
    """Containers get the greatest limit as default limit, that as default request, and else the smallest
    request."""
    limits = []
    for item in found.spec.limits:
        if item.type == "Container":
            default = Map({**item.max, **item.default})
            item = replace(
                item, default=default, default_request=Map({**item.min, **default, **item.default_request})
            )
        limits.append(item)
    return replace(found, spec=LimitRangeSpec(limits=tuple(limits)))


_COMPLETE: Mapping[type[KubeObject], Callable[[Any], Any]] = {
    Pod: _pod,
    Node: _node,
    PersistentVolume: _persistent_volume,
    PersistentVolumeClaim: _persistent_volume_claim,
    StorageClass: lambda found: (
        found if found.volume_binding_mode else replace(found, volume_binding_mode="Immediate")
    ),
    LimitRange: _limit_range,
}
