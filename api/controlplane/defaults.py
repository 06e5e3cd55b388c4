"""The defaults that the API server fills in before it stores an object, as far as scheduling reads them.

Upstream: pkg/apis/core/v1/defaults.go, pkg/apis/storage/v1/defaults.go, pkg/apis/apps/v1beta1/defaults.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import is_
from typing import Any, TypeVar

from msgspec.structs import asdict, replace

from ..meaning import limits_of, requests_of, total_of
from ..objects import (
    DEFAULT_SCHEDULER,
    NO_STRINGS,
    Affinity,
    Container,
    ContainerPort,
    EphemeralVolumeSource,
    JsonObject,
    KubeObject,
    LabelSelector,
    LimitRange,
    LimitRangeSpec,
    Map,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    Pod,
    PodSpec,
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

HUGE_PAGES = "hugepages-"
POD_LEVEL = ("cpu", "memory")
"""The resources that a pod as a whole can request, beside huge pages."""
_K = TypeVar("_K", bound=KubeObject)
S = TypeVar("S", bound=VolumeSource)

_CACHED = 1 << 15
_NAME_LABEL = "kubernetes.io/metadata.name"


def with_defaults(decoded: _K) -> _K:
    """*decoded* with the API's defaults; the same object if there is nothing to fill in."""
    complete = _COMPLETE.get(type(decoded))
    return decoded if complete is None else complete(decoded)


def with_default_selector(decoded: _K, document: JsonObject) -> _K:
    """*decoded* with the labels of its template as selector, if its kind and API version have that default.

    A selector of its own stays. *document* is the controller in JSON form: decoded objects do not hold the
    template.
    """
    if not isinstance(decoded, (ReplicationController, ReplicaSet, StatefulSet)):
        return decoded
    value: Any = document
    for part in ("spec", "template", "metadata", "labels"):
        value = value.get(part) if isinstance(value, Mapping) else None
    labels = Map(value) if isinstance(value, Mapping) else NO_STRINGS
    if not labels or decoded.selector:
        return decoded
    if isinstance(decoded, ReplicationController):
        return replace(decoded, spec=replace(decoded.spec, selector=labels))
    if decoded.selector is None and document.get("apiVersion") in ("extensions/v1beta1", "apps/v1beta1"):
        return replace(decoded, spec=replace(decoded.spec, selector=LabelSelector(match_labels=labels)))
    return decoded


# --- defaults of resources ----------------------------------------------------------------------------------


def _rounded(amounts: Quantities) -> Quantities:
    """*amounts* rounded to thousandths, as the API server stores resource lists."""
    rounded = {name: amount.rounded_to_milli() for name, amount in amounts.items()}
    return amounts if rounded == amounts else Map(rounded)


# --- defaults of pods ---------------------------------------------------------------------------------------


def _pod(pod: Pod) -> Pod:
    """*pod* with requests from limits, protocols, host ports of pods in the host's network and so on."""
    spec = pod.spec
    attributes = (
        spec.scheduler_name,
        spec.host_network,
        spec.node_selector,
        spec.affinity,
        spec.containers,
        spec.init_containers,
        spec.overhead,
        spec.volumes,
        spec.resources if spec.resources.limits or spec.resources.requests else None,
    )
    if not _defaulted_attributes((), *attributes):
        return pod
    resources = [spec.resources, *(container.resources for container in spec.all_containers)]
    amounts = [quantities for given in resources for quantities in (given.requests, given.limits)]
    return replace(
        pod, spec=replace(spec, **_defaulted_attributes(notation(spec.overhead, *amounts), *attributes))
    )


@lru_cache(maxsize=_CACHED)
def _defaulted_attributes(
    notations: tuple[object, ...],
    scheduler_name: str,
    host_network: bool,
    node_selector: Map[str] | None,
    affinity: Affinity | None,
    containers: tuple[Container, ...],
    init_containers: tuple[Container, ...],
    overhead: Quantities,
    volumes: tuple[Volume, ...],
    resources: ResourceRequirements | None,
) -> JsonObject:
    """The attributes that a pod's specification with these gets defaults in."""
    changes: dict[str, tuple[Any, Any]] = {
        "scheduler_name": (scheduler_name, scheduler_name or DEFAULT_SCHEDULER),
        # What is stored has no empty lists and maps.
        "node_selector": (node_selector, node_selector or None),
        "affinity": (affinity, _affinity(affinity)),
        "containers": (containers, _containers(containers, host_network)),
        "init_containers": (init_containers, _containers(init_containers, host_network)),
        "overhead": (overhead, _rounded(overhead)),
        "volumes": (volumes, _complete_each(_volume, volumes)),
    }
    if resources is not None:
        completed = PodSpec(
            containers=changes["containers"][1], init_containers=changes["init_containers"][1]
        )
        changes["resources"] = resources, _of_whole_pod(resources, completed)
    return {name: completed for name, (value, completed) in changes.items() if value != completed}


def _affinity(affinity: Affinity | None) -> Affinity | None:
    nodes = affinity.node_affinity if affinity is not None else None
    if affinity is None or nodes is None or nodes.preferred:
        return affinity
    return replace(affinity, node_affinity=replace(nodes, given_preferred=None))


def _of_whole_pod(resources: ResourceRequirements, spec: PodSpec) -> ResourceRequirements:
    """The *resources* of the pod as a whole, completed by those of the containers in *spec*; requests that
    neither has are the limits."""
    requests = _rounded(resources.requests)
    limits = {
        **{
            name: amount
            for name, amount in total_of(spec, limits_of).items()
            if name.startswith(HUGE_PAGES) and name not in requests
        },
        **_rounded(resources.limits),
    }
    if limits:
        asked = {name: amount for name, amount in total_of(spec, requests_of).items() if name in POD_LEVEL}
        bounds = {
            name: amount
            for name, amount in limits.items()
            if name in POD_LEVEL or name.startswith(HUGE_PAGES)
        }
        requests = Map({**bounds, **asked, **requests})
    return ResourceRequirements(limits=Map(limits), requests=requests)


def _complete_each(complete: Callable[[Any], Any], values: tuple[Any, ...]) -> tuple[Any, ...]:
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
        ports = _complete_each(complete_port, container.ports)
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

    return _complete_each(complete, containers)


def _volume(source: S) -> S:
    if source.rbd is not None and not source.rbd.pool:
        return replace(source, rbd=replace(source.rbd, pool="rbd"))
    if isinstance(source, Volume) and source.ephemeral is not None:
        template = replace(source.ephemeral, spec=_claim_spec(source.ephemeral.spec))
        return replace(source, ephemeral_source=EphemeralVolumeSource(volume_claim_template=template))
    return source


def _claim_spec(spec: PersistentVolumeClaimSpec) -> PersistentVolumeClaimSpec:
    return replace(
        spec,
        resources=replace(spec.resources, requests=_rounded(spec.requests)),
        volume_mode=spec.volume_mode or "Filesystem",
    )


# --- defaults of nodes and volumes --------------------------------------------------------------------------


def _node(node: Node) -> Node:
    status = node.status
    capacity = _rounded(status.capacity)
    allocatable = _rounded(status.allocatable) or capacity
    if allocatable is status.allocatable and capacity is status.capacity:
        return node
    return replace(node, status=replace(status, allocatable=allocatable, capacity=capacity))


def _persistent_volume(volume: PersistentVolume) -> PersistentVolume:
    """*volume* with its defaults. A new one is Available, or Bound if it has a claim: the controller replaces
    the API server's Pending at once."""
    spec = _volume(volume.spec)
    completed = replace(spec, capacity=_rounded(spec.capacity), volume_mode=spec.volume_mode or "Filesystem")
    return replace(volume, spec=completed).in_phase(
        volume.phase or ("Bound" if completed.claim_ref else "Available")
    )


def _persistent_volume_claim(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    spec = _claim_spec(claim.spec)
    return replace(claim, spec=spec).in_phase(claim.phase or ("Bound" if spec.volume_name else "Pending"))


def _limit_range(limit_range: LimitRange) -> LimitRange:
    """*limit_range* with its defaults for containers. ``default`` is ``max`` where absent; ``defaultRequest``
    is ``default``, or else ``min``."""
    limits = []
    for given in limit_range.spec.limits:
        amounts = {name: _rounded(value) for name, value in asdict(given).items() if name != "type"}
        item = replace(given, **amounts)
        if item.type == "Container":
            default = Map({**item.max, **item.default})
            item = replace(
                item, default=default, default_request=Map({**item.min, **default, **item.default_request})
            )
        limits.append(item)
    return replace(limit_range, spec=LimitRangeSpec(limits=tuple(limits)))


def _namespace(namespace: Namespace) -> Namespace:
    """*namespace* with its name as a label, for selectors of namespaces."""
    if namespace.labels.get(_NAME_LABEL) == namespace.name:
        return namespace
    labels = Map({**namespace.labels, _NAME_LABEL: namespace.name})
    return replace(namespace, metadata=replace(namespace.metadata, labels=labels))


_COMPLETE: Mapping[type[KubeObject], Callable[[Any], Any]] = {
    Namespace: _namespace,
    Pod: _pod,
    Node: _node,
    PersistentVolume: _persistent_volume,
    PersistentVolumeClaim: _persistent_volume_claim,
    StorageClass: lambda storage_class: (
        storage_class
        if storage_class.volume_binding_mode
        else replace(storage_class, volume_binding_mode="Immediate")
    ),
    LimitRange: _limit_range,
}
