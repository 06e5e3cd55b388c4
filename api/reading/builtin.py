"""The kinds that are read, by API group: an object is its group and kind, so that a ``Node`` of another group
is no node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_STABLE = "v1alpha1 v1beta1 v1"
_GROUPS: Mapping[str, tuple[str, str]] = {
    "": (
        "v1",
        "ConfigMap LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota"
        " Service",
    ),
    "apps": ("v1beta1 v1beta2 v1", "DaemonSet Deployment ReplicaSet StatefulSet"),
    "batch": ("v2alpha1 v1beta1 v1", "CronJob Job"),
    "extensions": ("v1beta1", "DaemonSet Deployment Job ReplicaSet"),
    "policy": (_STABLE, "PodDisruptionBudget"),
    "resource.k8s.io": (
        "v1alpha3 v1beta1 v1beta2 v1",
        "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
    ),
    "scheduling.k8s.io": (_STABLE, "PriorityClass"),
    "storage.k8s.io": (_STABLE, "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment"),
}
"""Group -> its versions, and its kinds that are read. Group and version are an apiVersion; that of the first
group has no slash."""
_KNOWN = {
    (kind, f"{group}/{version}".removeprefix("/"))
    for group, (versions, kinds) in _GROUPS.items()
    for kind in kinds.split()
    for version in versions.split()
}
_KINDS = {kind for kind, _ in _KNOWN}


def is_built_in(kind: str, api_version: Any = None) -> bool:
    """Whether *kind* of *api_version* is read here as one of Kubernetes' own; without an apiVersion the kind
    alone decides.

    >>> is_built_in("Deployment", "extensions/v1beta1"), is_built_in("Node", "longhorn.io/v1beta2"), is_built_in("Pod", "v2")
    (True, False, False)
    """
    return (kind, str(api_version)) in _KNOWN if api_version else kind in _KINDS


def kind_with_group(kind: str, api_version: Any = None) -> str:
    """A kind in messages: with its group, unless it is built in; with its version where that alone is not
    known.

    >>> kind_with_group("Node", "longhorn.io/v1beta2"), kind_with_group("Node", "v1"), kind_with_group("Node", "v2")
    ('Node (longhorn.io)', 'Node', 'Node (v2)')
    """
    group = str(api_version or "").rpartition("/")[0]
    shown = api_version if kind in _GROUPS.get(group, ("", ""))[1].split() else group
    return kind if is_built_in(kind, api_version) or not shown else f"{kind} ({shown})"
