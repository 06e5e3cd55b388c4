"""Exports of other tools in one object: kube-scheduler-simulator's, with a list of objects for each kind."""

from __future__ import annotations

from collections.abc import Mapping

from ...exceptions import ManifestError
from ..objects import JsonObject
from .mismatch import shown

LISTS: Mapping[str, tuple[str, str]] = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "pvs": ("v1", "PersistentVolume"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
}
"""A list of the export -> apiVersion and kind of its objects, in the order in which they are taken."""
CONFIG = "schedulerConfig"
NOT_READ = f"the scheduler's configuration in it is not read: make a file of `{CONFIG}` for --profile"


def is_simulator_export(data: JsonObject) -> bool:
    """Whether *data* is an export: it has nodes and pods, no kind, and nothing else than what exports have."""
    return "kind" not in data and {"nodes", "pods"} <= data.keys() <= {*LISTS, CONFIG}


def simulator_items(data: JsonObject, where: str) -> list[JsonObject]:
    """The objects of an export, with their kinds. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    items: list[JsonObject] = []
    for name, (api_version, kind) in LISTS.items():
        found = data.get(name) or []
        if not isinstance(found, list):
            raise ManifestError(f"{where}: {name}: expected a list, got {shown(found)}")
        for number, item in enumerate(found, 1):
            if not isinstance(item, dict):
                raise ManifestError(
                    f"{where}: {name}: item {number}: expected a Kubernetes object, got {shown(item)}"
                )
            items.append({"apiVersion": api_version, **item, "kind": kind})
    return items
