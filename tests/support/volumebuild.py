"""Volumes, claims, classes and binders for tests."""

from __future__ import annotations

from typing import Any

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.objects import Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from kubeclassic.api.reading.decode import decode
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.table import NodeTable
from kubeclassic.core.cluster.listings import Listings
from kubeclassic.core.volumes.binder import VolumeBinder

Json = dict[str, Any]
WAIT = {"volumeBindingMode": "WaitForFirstConsumer"}
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
SELECTED = "volume.kubernetes.io/selected-node"


def made(document: Json) -> Any:
    return decode(document, "test", strict=False)


def node(name: str, **labels: str) -> Node:
    return made({"kind": "Node", "metadata": {"name": name, "labels": labels}})  # type: ignore[no-any-return]  # decode gives any kind


def storage_class(name: str, **fields: Any) -> StorageClass:
    return made({"kind": "StorageClass", "metadata": {"name": name}, **fields})  # type: ignore[no-any-return]  # as above


def claim(
    name: str, kind: str | None = "wait", size: str = "1Gi", *, annotations: Json | None = None, **spec: Any
) -> PersistentVolumeClaim:
    meta = {"name": name, "namespace": "default", "resourceVersion": "7", "annotations": annotations or {}}
    spec = {"storageClassName": kind, "resources": {"requests": {"storage": size}}, **spec}
    return made({"kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec})  # type: ignore[no-any-return]  # as above


def volume(
    name: str, kind: str = "wait", size: str = "1Gi", *, phase: str = "Available", meta: Json | None = None, **spec: Any
) -> PersistentVolume:
    metadata = {"name": name, "resourceVersion": "7", **(meta or {})}
    spec = {"storageClassName": kind, "capacity": {"storage": size}, **spec}
    document = {"kind": "PersistentVolume", "metadata": metadata, "spec": spec, "status": {"phase": phase}}
    return made(document)  # type: ignore[no-any-return]  # as above


def on(**labels: str) -> Json:
    """A volume's node affinity for nodes with these labels."""
    expressions = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}}


def pod(*claims: str, name: str = "p") -> Pod:
    volumes = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": claim}} for i, claim in enumerate(claims)]
    return made({"kind": "Pod", "metadata": {"name": name}, "spec": {"volumes": volumes}})  # type: ignore[no-any-return]  # as above


def binder(*objects: Any, release: str = "1.16", **gates: bool) -> VolumeBinder:
    listings = Listings()
    for item in objects:
        listing = listings.of(item)
        assert listing is not None
        listing.put(item)
    defaults = {name: gate.default for name, gate in RELEASES[release].gates.items()}
    return VolumeBinder(RELEASES[release], {**defaults, **gates}, listings)


def batch(*nodes: Node) -> Batch:
    table = NodeTable(lambda labels: "")
    table.set_nodes({table.row(item.name): (item, {}) for item in nodes})
    return Batch(table)


def flags(found: VolumeBinder, nodes: Batch, *claims: str) -> list[tuple[bool, bool] | str]:
    """(unbound, bound) of each node, or the text of its error."""
    finding = found.find([f"default/{name}" for name in claims], nodes)
    return [
        finding.texts[finding.errors[i] - 1] if finding.errors[i] else (bool(finding.unbound[i]), bool(finding.bound[i]))
        for i in range(nodes.n)
    ]
