"""How Kubernetes objects look in JSON, if it does not follow from the classes of :mod:`..objects`; see :mod:`.derive`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from .. import objects as o
from ..objects.metadata import is_value
from ..objects.quantity import Quantity
from .apifields import noting_unknown, type_shape
from .derive import INLINE, UNREAD, Field, Overrides, Schema, Wrapper, over
from .fields import Mismatch, Reader, entries, flag, list_of, member, one_of, quantity, remembered, shared, text, texts_unshared, whole
from .shapes import Shape, named

_ATTRIBUTE_TYPES: Mapping[str, Reader[Any]] = {"int": whole, "bool": flag, "string": text, "version": text}
"""In the order in which upstream looks for a value."""
_EXACT = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
"""Fields that a request of v1beta1 has itself."""


def _attribute(value: Any) -> o.DeviceAttribute:
    found = entries(value)
    for name, read in _ATTRIBUTE_TYPES.items():
        if found.get(name) is not None:
            try:
                return o.DeviceAttribute(name, read(found[name]))
            except Mismatch as mismatch:
                raise mismatch.under(name) from None
    return o.DeviceAttribute()


def _each(read: Reader[Any]) -> Reader[Any]:
    """A reader for objects with any keys."""

    def read_each(value: Any) -> Any:
        found = {}
        for name, item in entries(value).items():
            try:
                found[name] = read(item)
            except Mismatch as mismatch:
                raise mismatch.under(f"[{name}]") from None
        return o.Map(found)

    return read_each


DEVICE_PLACES: Overrides = {
    o.DeviceSelector: {"expression": Field(inside="cel")},
    o.AllocationResult: {"results": Field(inside="devices")},
    o.ResourceClaimTemplateSpec: {"labels": Field(inside="metadata"), "annotations": Field(inside="metadata")},
    o.Device: {
        "attributes": Field(read=_each(_attribute)),
        "capacity": Field(read=_each(member("value", quantity, o.quantity.ZERO))),
        "consumes_counters": Field(read=bool),
        "taints": Field(read=bool),
    },
    o.ResourceSliceSpec: {"shared_counters": Field(read=bool)},
}


# --- v1beta1 --------------------------------------------------------------------------------------------------------


def _unpacked(name: str) -> Wrapper:
    """For objects with some of their fields in an inner object *name*."""

    def unpack(read: Reader[Any]) -> Reader[Any]:
        def read_flat(value: Any) -> Any:
            inner = value.get(name) if isinstance(value, dict) else None
            return read(value if inner is None else {**{key: item for key, item in value.items() if key != name}, **entries(inner)})

        return read_flat

    return over(unpack)


def _request(read: Reader[o.DeviceRequest]) -> Reader[o.DeviceRequest]:
    def read_request(value: Any) -> o.DeviceRequest:
        exact = {key: value[key] for key in _EXACT if key in value} if isinstance(value, dict) else {}
        if exact.get("deviceClassName") and "exactly" not in value:
            value = {**{key: item for key, item in value.items() if key not in exact}, "exactly": exact}
        return read(value)

    return read_request


DEVICE_WRAPPERS: Mapping[Any, Wrapper] = {
    o.PodResourceClaim: _unpacked("source"),
    o.DeviceRequest: over(_request),
    o.Device: lambda form: over(remembered)(_unpacked("basic")(form)),
    o.DeviceClaim: over(shared),
    o.Map[o.DeviceAttribute]: over(shared),
}


TYPE_META = named("kind apiVersion")
"""Fields of every object that become no attribute: the kind picks the class."""


@cache
def schema(strict: bool) -> Schema:
    """The schema of all kinds. If *strict*, unknown words in enumerations are refused as the API server would, else they are kept."""
    known = dict.fromkeys(o.KINDS.values(), TYPE_META)
    # Class -> all fields of its type in the API.
    parts = [found for found in vars(o).values() if is_value(found) and found.__module__.startswith(o.__name__)]
    classes = [found for found in parts if found not in (o.KubeObject, o.VolumeSource, Quantity)]
    made = Schema(
        _PLACES,
        known=known,
        unread={found: type_shape(*_TYPES.get(found, found.__name__).split()) for found in classes},
        wrappers=_WRAPPERS,
        never_null=_NEVER_NULL,
    )

    def word(*allowed: str, optional: bool = True) -> Reader[str]:
        return one_of(*allowed, optional=optional) if strict else text

    preemption = {"preemption_policy": word("PreemptLowerPriority", "Never")}
    volume_mode, access_mode = word("Filesystem", "Block"), word("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
    volumes = {"volume_mode": volume_mode, "access_modes": list_of(access_mode, "")}
    nodes = Field(fields={"operator": word(*_LABEL_OPERATORS, "Gt", "Lt", optional=False)})
    policy = word("Honor", "Ignore")
    return made.extended(
        {
            o.Requirement: {"operator": word(*_LABEL_OPERATORS, optional=False)},
            o.NodeSelectorTerm: {"match_expressions": nodes, "match_fields": nodes},
            o.TopologySelectorTerm: {"match_label_expressions": Field(fields={"operator": UNREAD})},
            o.Toleration: {"operator": word("Equal", "Exists"), "effect": word(*_EFFECTS)},
            o.Taint: {"effect": word(*_EFFECTS, optional=False)},
            o.ContainerPort: {"protocol": word("TCP", "UDP", "SCTP")},
            o.TopologySpreadConstraint: {
                "when_unsatisfiable": word("DoNotSchedule", "ScheduleAnyway", optional=False),
                "node_affinity_policy": policy,
                "node_taints_policy": policy,
            },
            o.PodSpec: preemption,
            o.PriorityClass: preemption,
            o.PersistentVolumeSpec: volumes,
            o.PersistentVolumeClaimSpec: volumes,
            o.StorageClass: {"volume_binding_mode": word("Immediate", "WaitForFirstConsumer")},
        }
    )


_TYPES: Mapping[type[Any], str] = {
    o.Requirement: "LabelSelectorRequirement NodeSelectorRequirement TopologySelectorLabelRequirement",
    o.Condition: "PodCondition NodeCondition",
    o.ClaimTemplate: "PersistentVolumeClaimTemplate",
    o.GCEPersistentDisk: "GCEPersistentDiskVolumeSource",
    o.AWSElasticBlockStore: "AWSElasticBlockStoreVolumeSource",
    o.ISCSI: "ISCSIPersistentVolumeSource ISCSIVolumeSource",
    o.RBD: "RBDPersistentVolumeSource RBDVolumeSource",
    o.AzureDisk: "AzureDiskVolumeSource",
    o.Cinder: "CinderPersistentVolumeSource CinderVolumeSource",
    o.PortworxVolume: "PortworxVolumeSource",
    o.CSI: "CSIPersistentVolumeSource CSIVolumeSource",
}
"""Class -> the names that its types have in Go, if they are not its own."""


# --- names and places -----------------------------------------------------------------------------------------------


def _count_or_share(value: Any) -> str:
    """A whole number, or a text such as ``50%``, as a text."""
    return value if isinstance(value, str) else str(whole(value))


_COUNT_IN_SPEC = Field(inside="spec", read=_count_or_share)
_IN_SPEC, _IN_STATUS, _IN_METADATA, _IN_RESOURCES = (Field(inside=outer) for outer in ("spec", "status", "metadata", "resources"))
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_AFFINITY = {
    "required": Field("requiredDuringSchedulingIgnoredDuringExecution"),
    "preferred": Field(_PREFERRED),
}
_NAMES = Field(read=list_of(member("name", text, "")), shape=Shape(named("name")))

_PLACES: Overrides = {
    o.ObjectMeta: {"annotations": texts_unshared},
    o.Container: {"requests": _IN_RESOURCES, "limits": _IN_RESOURCES},
    o.PodSpec: {"scheduling_gates": _NAMES, "requests": _IN_RESOURCES},
    o.ContainerStatus: {"requests": Field(inside="resources", absent=o.NO_QUANTITIES)},
    o.NodeStatus: {"kubelet_version": Field(inside="nodeInfo")},
    o.Requirement: {"has_empty_list": Field(read=lambda value: value.get("values") == [], whole=True)},
    o.NodeAffinity: _AFFINITY | {"has_empty_list": Field(read=lambda value: value.get(_PREFERRED) == [], whole=True)},
    o.PodAffinity: _AFFINITY,
    o.Volume: {
        "persistent_volume_claim": Field("claimName", inside="persistentVolumeClaim", absent=""),
        "ephemeral": Field("volumeClaimTemplate", inside="ephemeral", absent=o.ClaimTemplate()),
        "empty_dir": Field(read=lambda value: entries(value) is not None),
    },
    o.DeviceSubRequest: {"admin_access": UNREAD},
    o.DeviceAttribute: {"type": UNREAD, "value": UNREAD},
    o.ClaimTemplate: {"labels": _IN_METADATA, "annotations": _IN_METADATA},
    o.PersistentVolume: {"phase": _IN_STATUS},
    o.PersistentVolumeSpec: {"source": INLINE, "node_affinity": Field("required", inside="nodeAffinity")},
    o.PersistentVolumeClaim: {"phase": _IN_STATUS},
    o.PersistentVolumeClaimSpec: {"requests": _IN_RESOURCES},
    o.CSINode: {"drivers": _IN_SPEC},
    o.CSINodeDriver: {"count": Field(inside="allocatable")},
    o.CSIDriver: {"storage_capacity": _IN_SPEC},
    o.VolumeAttachment: {
        "attacher": _IN_SPEC,
        "node_name": _IN_SPEC,
        "persistent_volume_name": Field(inside="spec.source"),
    },
    o.Service: {"selector": _IN_SPEC},
    o.ReplicationController: {"selector": _IN_SPEC},
    o.ReplicaSet: {"selector": _IN_SPEC},
    o.StatefulSet: {"selector": _IN_SPEC},
    o.PodDisruptionBudget: {
        "selector": _IN_SPEC,
        "min_available": _COUNT_IN_SPEC,
        "max_unavailable": _COUNT_IN_SPEC,
        "disruptions_allowed": _IN_STATUS,
        "expected_pods": _IN_STATUS,
        "disrupted_pods": Field(inside="status", read=lambda value: tuple(entries(value))),
    },
    o.ResourceQuota: {
        "hard": _IN_SPEC,
        "scopes": _IN_SPEC,
        "scope_selector": Field("matchExpressions", inside="spec.scopeSelector"),
        "status_hard": Field("hard", inside="status"),
        "used": _IN_STATUS,
    },
    o.LimitRange: {"limits": _IN_SPEC},
    **DEVICE_PLACES,
}


# --- enumerations ---------------------------------------------------------------------------------------------------

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


# --- what is shared, and what may not be null -----------------------------------------------------------------------


def _container(read: Reader[o.Container]) -> Reader[o.Container]:
    # Equal maps with different notations are different objects, as maps are shared by notation.
    return shared(read, lambda made: (made, id(made.requests), id(made.limits)))


_STATUS_READ = ("name", "resources", "allocatedResources")
"""The fields of the status of a container that are read; the others differ from pod to pod."""


def _container_statuses(read: Reader[tuple[o.ContainerStatus, ...]]) -> Reader[tuple[o.ContainerStatus, ...]]:
    """Pods of one owner have equal statuses but for what is not read."""
    recall, look = remembered(read), noting_unknown(type_shape("ContainerStatus"))

    def read_statuses(value: Any) -> tuple[o.ContainerStatus, ...]:
        if type(value) is not list or not all(type(item) is dict for item in value):
            return read(value)
        look(value)
        return recall([{name: item[name] for name in _STATUS_READ if name in item} for item in value])

    return read_statuses


def _spec(read: Reader[o.PodSpec]) -> Reader[o.PodSpec]:
    """Pods of one owner have equal specs but for the node."""
    recall = remembered(read)

    def read_spec(value: Any) -> o.PodSpec:
        node = value.get("nodeName") if type(value) is dict else None
        return recall({**value, "nodeName": ""}).on(node) if node and type(node) is str else recall(value)

    return read_spec


_REMEMBERED: tuple[Any, ...] = (
    o.LabelSelector,
    o.NodeSelector,
    o.Affinity,
    tuple[o.OwnerReference, ...],
    tuple[o.Toleration, ...],
    tuple[o.TopologySpreadConstraint, ...],
    tuple[o.ContainerPort, ...],
    tuple[o.Taint, ...],
    tuple[o.Condition, ...],
    tuple[o.Volume, ...],
)
_WRAPPERS: Mapping[Any, Wrapper] = {
    **dict.fromkeys(_REMEMBERED, over(remembered)),
    o.ContainerImage: over(shared),
    o.Container: over(_container),
    tuple[o.ContainerStatus, ...]: over(_container_statuses),
    o.PodSpec: over(_spec),
    **DEVICE_WRAPPERS,
}
_NEVER_NULL = (o.Container, o.Volume, o.Requirement, o.OwnerReference, o.CSINodeDriver)
"""Items that the API server refuses if they are empty, so null there is never on purpose."""
