"""What the API server's admission plugins do to new pods and claims: priorities by class, and the default
storage class.

Objects with a ``creationTimestamp`` have been admitted already and stay as they are.
Upstream: plugin/pkg/admission/priority, plugin/pkg/admission/storage/storageclass/setdefault
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs
from msgspec.structs import replace

from ..objects import KubeObject, ObjectMeta, PersistentVolumeClaim, Pod, PriorityClass, StorageClass
from ..objects.storage import BETA_CLASS

SYSTEM_CLUSTER_CRITICAL = PriorityClass(
    metadata=ObjectMeta(name="system-cluster-critical"), value=2_000_000_000
)
SYSTEM_NODE_CRITICAL = PriorityClass(metadata=ObjectMeta(name="system-node-critical"), value=2_000_001_000)

_IS_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


@attrs.frozen(repr=False)
class Admitted:
    """The objects after admission, in order, and the refused ones with their reasons."""

    objects: tuple[KubeObject, ...]
    refused: tuple[tuple[KubeObject, str], ...] = ()


def admit(
    objects: Iterable[KubeObject], known: Iterable[KubeObject] = (), *, priorities: bool = True
) -> Admitted:
    """Give new pods their priority and new claims the default storage class.

    Priority classes and storage classes come from *objects* and *known*, the objects of an existing cluster.
    Without *priorities*, as where gate PodPriority is off, new pods lose their priority and the name of its
    class, and no class is looked up.
    """
    given = tuple(objects)
    everything = (SYSTEM_CLUSTER_CRITICAL, SYSTEM_NODE_CRITICAL, *known, *given)
    classes = {found.name: found for found in everything if isinstance(found, PriorityClass)}
    storage = [
        found
        for found in everything
        if isinstance(found, StorageClass)
        and any(found.annotations.get(mark) == "true" for mark in _IS_DEFAULT_CLASS)
    ]
    admitted = list[KubeObject]()
    refused = list[tuple[KubeObject, str]]()
    for found in given:
        made: KubeObject | str = found
        if found.metadata.creation_timestamp is not None:
            pass
        elif isinstance(found, Pod):
            made = _with_priority(found, classes) if priorities else _without_priority(found)
        elif isinstance(found, PersistentVolumeClaim):
            made = _with_storage_class(found, storage)
        if isinstance(made, str):
            refused.append((found, made))
        else:
            admitted.append(made)
    return Admitted(tuple(admitted), tuple(refused))


def _with_priority(pod: Pod, classes: Mapping[str, PriorityClass]) -> Pod | str:
    """The pod with its class's priority, or why it is refused, in upstream's words; a priority without a
    class stays."""
    name = pod.spec.priority_class_name
    given = pod.spec.preemption_policy
    if not name and pod.spec.priority is not None:
        return pod
    # Pods that name none get the class marked ``globalDefault``; of several the one with the lowest value.
    marked = [found for found in classes.values() if found.global_default]
    chosen = classes.get(name) if name else min(marked, key=lambda found: found.value, default=None)
    if name and chosen is None:
        return f"no PriorityClass with name {name} was found"
    priority, wanted = (chosen.value, chosen.preemption_policy) if chosen else (0, None)
    if pod.spec.priority not in (None, priority):
        return (
            f"the integer value of priority ({pod.spec.priority}) must not be provided in pod spec; "
            f"priority admission controller computed {priority} from the given PriorityClass name"
        )
    if given and wanted and given != wanted:
        return (
            f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec; "
            f"priority admission controller computed {wanted} from the given PriorityClass name"
        )
    name = chosen.name if chosen else ""
    return replace(
        pod,
        spec=replace(
            pod.spec, priority=priority, priority_class_name=name, preemption_policy=wanted or given
        ),
    )


def _without_priority(pod: Pod) -> Pod:
    """The pod as the API server stores it while gate PodPriority is off. Upstream: pkg/api/pod/util.go"""
    if pod.spec.priority is None and not pod.spec.priority_class_name:
        return pod
    return replace(pod, spec=replace(pod.spec, priority=None, priority_class_name=""))


def _with_storage_class(
    claim: PersistentVolumeClaim, defaults: list[StorageClass]
) -> PersistentVolumeClaim | str:
    """The claim with the default class, if there is one and the claim names none; an empty text is a name."""
    if claim.spec.storage_class_name is not None or BETA_CLASS in claim.annotations or not defaults:
        return claim
    if len(defaults) > 1:
        return f"Internal error occurred: {len(defaults)} default StorageClasses were found"
    return replace(claim, spec=replace(claim.spec, storage_class_name=defaults[0].name))
