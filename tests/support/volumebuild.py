"""Volumes, claims, classes, pods that use them, and binders for tests."""

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.table import NodeTable
from kubeclassic.core.cluster.listings import Listings
from kubeclassic.core.volumes.binder import VolumeBinder
from tests.support import build
from tests.support.build import manifest, obj, owned_by

WAIT = {"volumeBindingMode": "WaitForFirstConsumer"}
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
SELECTED = "volume.kubernetes.io/selected-node"
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"


def node(name, **labels):
    return obj(manifest("Node", name, labels=labels))  # type: ignore[no-any-return]  # an object of any kind


def storage_class(name, **fields):
    return obj({"kind": "StorageClass", "metadata": {"name": name}, **fields})  # type: ignore[no-any-return]  # as above


def claim(name, kind="wait", size="1Gi", *, annotations=None, **spec):
    meta = {"name": name, "namespace": "default", "resourceVersion": "7", "annotations": annotations or {}}
    spec = {"storageClassName": kind, "resources": {"requests": {"storage": size}}, **spec}
    return obj({"kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec})  # type: ignore[no-any-return]  # as above


def volume(name, kind="wait", size="1Gi", *, phase="Available", meta=None, **spec):
    metadata = {"name": name, "resourceVersion": "7", **(meta or {})}
    spec = {"storageClassName": kind, "capacity": {"storage": size}, **spec}
    document = {"kind": "PersistentVolume", "metadata": metadata, "spec": spec, "status": {"phase": phase}}
    return obj(document)  # type: ignore[no-any-return]  # as above


def on(**labels):
    """A volume's node affinity for nodes with these labels."""
    expressions = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}}


def pod(*claims):
    volumes = [
        {"name": f"v{i}", "persistentVolumeClaim": {"claimName": claim}} for i, claim in enumerate(claims)
    ]
    return obj(manifest("Pod", "p", spec={"volumes": volumes}))  # type: ignore[no-any-return]  # as above


def binder(*objects, release="1.16", **gates):
    listings = Listings()
    for item in objects:
        listing = listings.of(item)
        listing.put(item)
    defaults = {name: gate.default for name, gate in RELEASES[release].gates.items()}
    return VolumeBinder(RELEASES[release].volumes, {**defaults, **gates}, listings)


def batch(*nodes):
    table = NodeTable(lambda labels: "")
    table.set_nodes({table.row(item.name): (item, {}) for item in nodes})
    return Batch(table)


def flags(found, nodes, *claims):
    """(unbound, bound) of each node, or the text of its error."""
    finding = found.find([f"default/{name}" for name in claims], nodes)
    return [
        finding.texts[finding.errors[i] - 1]
        if finding.errors[i]
        else (bool(finding.unbound[i]), bool(finding.bound[i]))
        for i in range(nodes.n)
    ]


# --- what plugins look at -----------------------------------------------------------------------------------


def using(name, *volumes, **more):
    """A pod with these volumes; a text is the name of a claim."""
    written = [{"persistentVolumeClaim": {"claimName": v}} if isinstance(v, str) else v for v in volumes]
    return build.pod(name, volumes=[{"name": f"v{i}", **volume} for i, volume in enumerate(written)], **more)


def ebs(identity):
    return {"awsElasticBlockStore": {"volumeID": identity}}


EPHEMERAL = {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}


def bound(name, volume):
    """A claim that the volume controller has bound."""
    return claim(name, annotations=BOUND, volumeName=volume)


def made_for(owner, name, **spec):
    """A claim owned by a pod of this UID."""
    metadata = {"namespace": "default", **owned_by("Pod", "new", owner)}
    spec = {"storageClassName": "wait", **spec}
    return obj(manifest("PersistentVolumeClaim", name, metadata=metadata, spec=spec))


def csi_node(name, migrated="", **counts):
    """A CSINode; *counts*: driver -> the most volumes that it attaches."""
    drivers = [
        {"name": driver, "nodeID": name, "allocatable": {"count": count}} for driver, count in counts.items()
    ]
    meta = {"name": name, "annotations": {MIGRATED: migrated} if migrated else {}}
    return obj({"kind": "CSINode", "metadata": meta, "spec": {"drivers": drivers}})


DRIVER = obj(manifest("CSIDriver", "maker", spec={"storageCapacity": True}))
"""A driver that reports its storage capacity."""


def storage_left(name, topology, capacity):
    """The storage capacity of class wait that is left on the nodes that *topology* selects."""
    more = {"storageClassName": "wait", "capacity": capacity, "nodeTopology": topology}
    return obj(manifest("CSIStorageCapacity", name, namespace="default", **more))
