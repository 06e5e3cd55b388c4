"""What the API server's admission plugins do to new pods and claims: priorities by class, and the default storage class.

Objects with a ``creationTimestamp`` have been admitted already and stay as they are.
Upstream: plugin/pkg/admission/priority, plugin/pkg/admission/storage/storageclass/setdefault
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
from msgspec.structs import replace

from ..objects import KubeObject, ObjectMeta, PersistentVolumeClaim, Pod, PriorityClass, StorageClass
from ..objects.storage import BETA_CLASS

SYSTEM_CLUSTER_CRITICAL = PriorityClass(metadata=ObjectMeta(name="system-cluster-critical"), value=2_000_000_000)
SYSTEM_NODE_CRITICAL = PriorityClass(metadata=ObjectMeta(name="system-node-critical"), value=2_000_001_000)

_IS_DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


@attrs.frozen(repr=False)
class Admitted:
    """The objects after admission, in order, and the refused ones with their reasons."""

    objects: tuple[KubeObject, ...]
    refused: tuple[tuple[KubeObject, str], ...] = ()


class _Refusal(Exception):
    """An object is refused; the text is upstream's."""


def admit(objects: Iterable[KubeObject], known: Iterable[KubeObject] = (), *, priorities: bool = True) -> Admitted:
    """Give new pods their priority and new claims the default storage class.

    Priority classes and storage classes come from *objects* and *known*, the objects of an existing cluster. Without *priorities*, as
    where gate PodPriority is off, new pods lose their priority and the name of its class, and no class is looked up.
    """
    given = tuple(objects)
    everything = (*known, *given)
    classes = priority_classes(found for found in everything if isinstance(found, PriorityClass))
    storage = _default_storage_classes(found for found in everything if isinstance(found, StorageClass))
    admitted, refused = [], []
    for found in given:
        try:
            admitted.append(_admit(found, classes if priorities else None, storage))
        except _Refusal as refusal:
            refused.append((found, str(refusal)))
    return Admitted(tuple(admitted), tuple(refused))


def _admit(found: KubeObject, classes: Mapping[str, PriorityClass] | None, storage: list[StorageClass]) -> KubeObject:
    if found.metadata.creation_timestamp is not None:
        return found
    if isinstance(found, Pod):
        return _without_priority(found) if classes is None else _with_priority(found, classes)
    if isinstance(found, PersistentVolumeClaim):
        return _with_storage_class(found, storage)
    return found


# --- priority classes -----------------------------------------------------------------------------------------------


def priority_classes(classes: Iterable[PriorityClass]) -> dict[str, PriorityClass]:
    """The priority classes by name, with the two that every cluster has."""
    built_in = (SYSTEM_CLUSTER_CRITICAL, SYSTEM_NODE_CRITICAL)
    return {found.name: found for found in (*built_in, *classes)}


def default_priority_class(classes: Mapping[str, PriorityClass]) -> PriorityClass | None:
    """The class for pods that name none: the one marked ``globalDefault``; of several the one with the lowest value."""
    marked = [found for found in classes.values() if found.global_default]
    return min(marked, key=lambda found: found.value, default=None)


def _with_priority(pod: Pod, classes: Mapping[str, PriorityClass]) -> Pod:
    """The pod with its class's priority; a priority without a class stays."""
    name = pod.spec.priority_class_name
    if not name and pod.spec.priority is not None:
        return pod
    chosen = classes.get(name) if name else default_priority_class(classes)
    if name and chosen is None:
        raise _Refusal(f"no PriorityClass with name {name} was found")
    priority = chosen.value if chosen else 0
    if pod.spec.priority not in (None, priority):
        raise _Refusal(
            f"the integer value of priority ({pod.spec.priority}) must not be provided in pod spec; "
            f"priority admission controller computed {priority} from the given PriorityClass name"
        )
    spec = replace(
        pod.spec,
        priority=priority,
        priority_class_name=chosen.name if chosen else "",
        preemption_policy=_preemption_policy(pod, chosen),
    )
    return replace(pod, spec=spec)


def _without_priority(pod: Pod) -> Pod:
    """The pod as the API server stores it while gate PodPriority is off. Upstream: pkg/api/pod/util.go"""
    if pod.spec.priority is None and not pod.spec.priority_class_name:
        return pod
    return replace(pod, spec=replace(pod.spec, priority=None, priority_class_name=""))


def _preemption_policy(pod: Pod, chosen: PriorityClass | None) -> str | None:
    given, wanted = pod.spec.preemption_policy, chosen.preemption_policy if chosen else None
    if given and wanted and given != wanted:
        raise _Refusal(
            f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec; "
            f"priority admission controller computed {wanted} from the given PriorityClass name"
        )
    return wanted or given


# --- storage classes ------------------------------------------------------------------------------------------------


def _default_storage_classes(classes: Iterable[StorageClass]) -> list[StorageClass]:
    return [found for found in classes if any(found.annotations.get(mark) == "true" for mark in _IS_DEFAULT_CLASS)]


def _with_storage_class(claim: PersistentVolumeClaim, defaults: list[StorageClass]) -> PersistentVolumeClaim:
    """The claim with the default class, if there is one and the claim names none; an empty text is a name."""
    if claim.spec.storage_class_name is not None or BETA_CLASS in claim.annotations or not defaults:
        return claim
    if len(defaults) > 1:
        raise _Refusal(f"Internal error occurred: {len(defaults)} default StorageClasses were found")
    changes: dict[str, Any] = {"storage_class_name": defaults[0].name}
    return replace(claim, spec=replace(claim.spec, **changes))
