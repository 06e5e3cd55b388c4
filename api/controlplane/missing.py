"""Notices of objects that the input of a whole cluster lacks although they could matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import attrs

from ...exceptions import did_you_mean
from ..objects import (
    NO_PROVISIONER,
    DeviceClass,
    KubeObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    ResourceClaim,
    ResourceClaimTemplate,
    RuntimeClass,
    Service,
    StatefulSet,
    StorageClass,
)
from ..reading import Notice

_K = TypeVar("_K", bound=KubeObject)
PEERS = {kind.kind: kind for kind in (ReplicaSet, ReplicationController, StatefulSet)}
"""Kinds of controllers that scheduling reads: it spreads the pods that one of them selects."""

NO_OWNER = "its {} is not in the input, so its pods are not spread by owner (kubectl get {})"
NO_RUNTIME = "its RuntimeClass {} is not in the input, so the pod lacks its overhead, nodeSelector and tolerations (kubectl get runtimeclasses)"
NO_CLAIM = "its claim is not in the input (kubectl get persistentvolumeclaims)"
NO_VOLUME = "its claim's volume is not in the input (kubectl get persistentvolumes)"
NO_CLASS = "its claim's StorageClass is not in the input (kubectl get storageclasses)"
NO_DOMAIN = "no node has the label {}, over which it has a hard constraint, so there is nothing to count"
OTHER_NAME = "its image {} is on nodes as {}, and names are compared literally, so ImageLocality does not find it there"
NO_PODS = "no Pod in the input, so nodes count as empty (kubectl get pods -A)"
NO_PRIORITY_CLASSES = "no PriorityClass in the input, although pods name some (kubectl get priorityclasses)"
NO_SERVICES = "no Service in the input, so pods are not spread by service (kubectl get services)"
NO_BUDGETS = (
    "no PodDisruptionBudget in the input, so preemption protects no pods (kubectl get poddisruptionbudgets)"
)


def missing_kinds(objects: Sequence[KubeObject], lacks_classes: bool = False) -> Iterator[Notice]:
    """Notices of the kinds that *objects*, all of a cluster, lack and their waiting pods could need.
    *lacks_classes*: pods name priority classes that are not there.

    Whole kinds are missed only in a dump of a live cluster, and pods also where nodes name a kubelet: what an
    input written by hand lacks, it lacks on purpose.
    """
    pods = [item for item in objects if isinstance(item, Pod)]
    waiting = [pod for pod in pods if not (pod.node_name or pod.is_terminal or pod.is_terminating)]
    index = _Index.of(objects)
    for pod in waiting:
        owner = pod.controller
        if (
            owner is not None
            and owner.kind in PEERS
            and f"{pod.namespace}/{owner.name}" not in index.by_kind.get(PEERS[owner.kind], ())
        ):
            yield Notice(f"Pod {pod.key}", NO_OWNER.format(owner.kind, f"{owner.kind.lower()}s"))
        texts = set()
        runtime = pod.spec.runtime_class_name
        if runtime and not pod.metadata.creation_timestamp and not index.has(RuntimeClass, runtime):
            texts.add(NO_RUNTIME.format(runtime))
        for volume in pod.spec.volumes:
            if name := volume.persistent_volume_claim:
                texts.add(_missing_part(pod, name, index))
        for text in sorted(texts - {""}):
            yield Notice(f"Pod {pod.key}", text)
    nodes = [item for item in objects if isinstance(item, Node)]
    yield from _without_effect(waiting, nodes)
    is_dump = any(node.metadata.uid and node.metadata.creation_timestamp for node in nodes)
    has_pods = any(pod.metadata.uid or pod.node_name or not is_dump for pod in pods)
    if not has_pods and (is_dump or any(node.status.kubelet_version for node in nodes)):
        yield Notice("", NO_PODS)
    if not is_dump:
        return
    if lacks_classes and not index.has(PriorityClass):
        yield Notice("", NO_PRIORITY_CLASSES)
    if not index.has(Service) and any(pod.labels for pod in waiting):
        yield Notice("", NO_SERVICES)
    # A waiting pod may preempt those on nodes that have a lower priority.
    highest = max((pod.priority for pod in waiting), default=0)
    if not index.has(PodDisruptionBudget) and any(pod.node_name and pod.priority < highest for pod in pods):
        yield Notice("", NO_BUDGETS)


def _without_effect(waiting: Sequence[Pod], nodes: Sequence[Node]) -> Iterator[Notice]:
    """Requests of pods that no node can be compared with: keys of domains, and images listed by another
    name."""
    keys = {key for node in nodes for key in node.labels}
    names = {name for node in nodes for image in node.status.images for name in image.names}
    by_end: dict[str, str] = {}
    for name in sorted(names):
        by_end.setdefault(name.rpartition("/")[2], name)
    for pod in waiting if nodes else ():
        # The topology keys of the pod's hard constraints.
        hard = [
            constraint.topology_key
            for constraint in pod.spec.topology_spread_constraints
            if constraint.when_unsatisfiable == "DoNotSchedule"
        ]
        affinity = pod.spec.affinity
        for part in () if affinity is None else (affinity.pod_affinity, affinity.pod_anti_affinity):
            hard += [term.topology_key for term in (part.required if part is not None else ())]
        for key in dict.fromkeys(key for key in hard if key not in keys):
            yield Notice(f"Pod {pod.key}", NO_DOMAIN.format(key))
        images = [container.image for container in pod.spec.containers if container.image and by_end]
        # As they are compared: with the tag latest where they have none.
        for image in dict.fromkeys(
            image if ":" in image.rpartition("/")[2] else f"{image}:latest" for image in images
        ):
            similar = by_end.get(image.rpartition("/")[2], "")
            if image not in names and (similar.endswith(f"/{image}") or image.endswith(f"/{similar}")):
                yield Notice(f"Pod {pod.key}", OTHER_NAME.format(image, similar))


def missing_for(pod: Pod, objects: Sequence[KubeObject], *, devices: bool = True) -> Iterator[str]:
    """The needs of *pod* that *objects* lack, each with what to do about it. *devices*: claims to devices
    count."""
    index = _Index.of(objects)
    for name, kind, key in dict.fromkeys(_missing_names(pod, index, devices)):
        namespace, _, short = key.rpartition("/")
        key_parts = (item_key.rpartition("/") for item_key in index.by_kind.get(kind, {}))
        suggestion = did_you_mean(short, [name for place, _, name in key_parts if place == namespace])
        yield f"{name} is not in the input: create it, or add it to the input{suggestion or '.'}"


def _missing_names(pod: Pod, index: _Index, devices: bool) -> Iterator[tuple[str, type[KubeObject], str]]:
    """Missing objects: words for them, their class and key."""
    for name in (volume.persistent_volume_claim for volume in pod.spec.volumes):
        key = f"{pod.namespace}/{name}"
        claim = index.get(PersistentVolumeClaim, key)
        missing_part = _missing_part(pod, name, index) if name else ""
        if missing_part == NO_CLAIM:
            yield f"PersistentVolumeClaim {key}", PersistentVolumeClaim, key
        if claim is None:
            continue
        kind = claim.storage_class
        volume = claim.spec.volume_name
        if missing_part == NO_VOLUME:
            yield f"PersistentVolume {volume}, the volume of claim {key},", PersistentVolume, volume
        elif missing_part == NO_CLASS:
            yield f"StorageClass {kind}, the class of claim {key},", StorageClass, kind
        elif not volume and index.makes_none(kind):
            description = f"a free PersistentVolume of class {kind}, which claim {key} waits for,"
            yield description, PersistentVolume, ""
    for pod_claim in pod.spec.resource_claims if devices else ():
        template = pod_claim.resource_claim_template_name
        key, template_key = (f"{pod.namespace}/{name}" for name in (pod_claim.resource_claim_name, template))
        resource_claim = index.get(ResourceClaim, key)
        if pod_claim.resource_claim_name and resource_claim is None:
            yield f"ResourceClaim {key}", ResourceClaim, key
        elif template and not index.has(ResourceClaimTemplate, template_key):
            yield f"ResourceClaimTemplate {template_key}", ResourceClaimTemplate, template_key
        for request in () if resource_claim is None else resource_claim.spec.devices.requests:
            for ask in request.asks:
                name = ask.device_class_name
                if not index.has(DeviceClass, name):
                    yield f"DeviceClass {name}, which claim {key} asks for,", DeviceClass, name


@attrs.frozen(repr=False)
class _Index:
    """The objects that may be missed, by class and key."""

    by_kind: dict[type[KubeObject], dict[str, Any]]

    @classmethod
    def of(cls, objects: Sequence[KubeObject]) -> _Index:
        by_kind: dict[type[KubeObject], dict[str, Any]] = {}
        for item in objects:
            if not isinstance(item, Pod | Node):
                by_kind.setdefault(type(item), {})[item.key] = item
        return cls(by_kind)

    def get(self, kind: type[_K], key: str) -> _K | None:
        """The object of a kind that is called *key*."""
        return self.by_kind.get(kind, {}).get(key)

    def has(self, kind: type[KubeObject], key: str | None = None) -> bool:
        """Whether there is any of a kind, or the one called *key*."""
        by_key = self.by_kind.get(kind, {})
        return bool(by_key) if key is None else key in by_key

    def makes_none(self, name: str) -> bool:
        """Whether volumes of the class *name* are made by hand, and none is free."""
        storage_class = self.get(StorageClass, name)
        volumes = self.by_kind.get(PersistentVolume, {}).values()
        has_free = any(
            volume.spec.storage_class_name == name and volume.spec.claim_ref is None for volume in volumes
        )
        return storage_class is not None and storage_class.provisioner == NO_PROVISIONER and not has_free


def _missing_part(pod: Pod, name: str, index: _Index) -> str:
    """The missing parts of a claim, in words; empty if all is there."""
    claim = index.get(PersistentVolumeClaim, f"{pod.namespace}/{name}")
    if claim is None:
        return NO_CLAIM
    if claim.spec.volume_name:
        return "" if index.has(PersistentVolume, claim.spec.volume_name) else NO_VOLUME
    if not claim.storage_class:
        return ""
    return "" if index.has(StorageClass, claim.storage_class) else NO_CLASS
