"""Tables for disks, volumes, claims, storage classes and CSI objects; see :mod:`.schema`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import objects as o
from .fields import Reader, Table, flag, list_of, member, quantities, quantity, record, text, text_list, texts, whole, within
from .schema_selectors import Word, label_selector, node_selector

_ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")


def volume_tables(word: Word) -> Mapping[str, Table]:
    """The tables of the kinds that volumes are made of."""
    return {
        "PersistentVolume": _persistent_volume(word),
        "PersistentVolumeClaim": _persistent_volume_claim(word),
        "StorageClass": _storage_class(word),
        "CSINode": _CSI_NODE,
        "CSIDriver": {"spec": within({"storageCapacity": ("storage_capacity", flag)})},
        "CSIStorageCapacity": {
            "storageClassName": ("storage_class_name", text),
            "nodeTopology": ("node_topology", label_selector(word)),
            "capacity": ("capacity", quantity),
            "maximumVolumeSize": ("maximum_volume_size", quantity),
        },
    }


def _disk(kind: type[Any], **table: tuple[str, Reader[Any]]) -> Reader[Any]:
    return record(kind, {**table, "readOnly": ("read_only", flag)})


_SOURCES: Table = {
    "gcePersistentDisk": ("gce_persistent_disk", _disk(o.GCEPersistentDisk, pdName=("pd_name", text))),
    "awsElasticBlockStore": ("aws_elastic_block_store", _disk(o.AWSElasticBlockStore, volumeID=("volume_id", text))),
    "iscsi": ("iscsi", _disk(o.ISCSI, iqn=("iqn", text), targetPortal=("target_portal", text), lun=("lun", whole))),
    "rbd": ("rbd", _disk(o.RBD, monitors=("monitors", text_list), pool=("pool", text), image=("image", text))),
    "azureDisk": ("azure_disk", _disk(o.AzureDisk, diskName=("disk_name", text), diskURI=("disk_uri", text))),
    "cinder": ("cinder", _disk(o.Cinder, volumeID=("volume_id", text))),
    "csi": ("csi", _disk(o.CSI, driver=("driver", text), volumeHandle=("volume_handle", text))),
}


def volume(word: Word) -> Reader[o.Volume]:
    """A volume of a pod."""
    metadata: Table = {"labels": ("labels", texts), "annotations": ("annotations", texts)}
    template = record(o.ClaimTemplate, {"metadata": within(metadata), **_claim_spec(word)})
    table: Table = {
        **_SOURCES,
        "name": ("name", text),
        "persistentVolumeClaim": ("persistent_volume_claim", member("claimName", text, "")),
        "ephemeral": ("ephemeral", member("volumeClaimTemplate", template, o.ClaimTemplate())),
    }
    return record(o.Volume, table)


def _persistent_volume(word: Word) -> Table:
    reference: Table = {"kind": ("kind", text), "namespace": ("namespace", text), "name": ("name", text), "uid": ("uid", text)}
    table: Table = {
        "capacity": ("capacity", quantities),
        "accessModes": ("access_modes", list_of(word(*_ACCESS_MODES), "")),
        "storageClassName": ("storage_class_name", text),
        "volumeMode": ("volume_mode", word("Filesystem", "Block")),
        "claimRef": ("claim_ref", record(o.ObjectReference, reference)),
        "nodeAffinity": within({"required": ("node_affinity", node_selector(word))}),
    }
    spec = record(o.PersistentVolumeSpec, table, source=record(o.VolumeSource, _SOURCES))
    return {"spec": ("spec", spec), "status": within({"phase": ("phase", text)})}


def _claim_spec(word: Word) -> Table:
    spec: Table = {
        "volumeName": ("volume_name", text),
        "storageClassName": ("storage_class_name", text),
        "accessModes": ("access_modes", list_of(word(*_ACCESS_MODES), "")),
        "resources": within({"requests": ("requests", quantities)}),
        "selector": ("selector", label_selector(word)),
        "volumeMode": ("volume_mode", word("Filesystem", "Block")),
    }
    return {"spec": ("spec", record(o.PersistentVolumeClaimSpec, spec))}


def _persistent_volume_claim(word: Word) -> Table:
    return {**_claim_spec(word), "status": within({"phase": ("phase", text)})}


def _storage_class(word: Word) -> Table:
    expression = record(o.Requirement, {"key": ("key", text), "values": ("values", text_list)})
    term = record(o.TopologySelectorTerm, {"matchLabelExpressions": ("match_label_expressions", list_of(expression))})
    return {
        "provisioner": ("provisioner", text),
        "volumeBindingMode": ("volume_binding_mode", word("Immediate", "WaitForFirstConsumer")),
        "allowedTopologies": ("allowed_topologies", list_of(term, o.TopologySelectorTerm())),
    }


_CSI_DRIVER: Table = {
    "name": ("name", text),
    "nodeID": ("node_id", text),
    "topologyKeys": ("topology_keys", text_list),
    "allocatable": within({"count": ("count", whole)}),
}
_CSI_NODE: Table = {"spec": within({"drivers": ("drivers", list_of(record(o.CSINodeDriver, _CSI_DRIVER)))})}
