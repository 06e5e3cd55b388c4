"""Disks whose old in-tree plugin a CSI driver has taken over: names, and where that is so.

Upstream: k8s.io/csi-translation-lib; pkg/scheduler/algorithm/predicates/utils.go isCSIMigrationOn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import unquote, urlsplit

import attrs

from ..api.objects import CSINode, PersistentVolume
from ..core.cycle import Cycle
from .volumezone import ZONE

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
AWS_EBS = "kubernetes.io/aws-ebs"
GCE_PD = "kubernetes.io/gce-pd"
AZURE_DISK = "kubernetes.io/azure-disk"
CINDER = "kubernetes.io/cinder"
AZURE_FILE = "kubernetes.io/azure-file"
NOWHERE = "UNSPECIFIED"
"""What the handle of a GCE disk says for a project or zone that is not known."""


@attrs.frozen
class Plugin:
    """An in-tree plugin: the driver that takes its place, the gate that lets it, and a volume's handle there (None: no handle)."""

    driver: str
    gate: str
    handle: Callable[[PersistentVolume], str | None]


def _ebs_handle(volume: PersistentVolume) -> str | None:
    written = volume.spec.source.aws_elastic_block_store.volume_id if volume.spec.source.aws_elastic_block_store else ""
    if not written.startswith("aws://"):
        return written
    found = unquote(urlsplit(written).path).strip("/")
    return found if re.fullmatch(r"vol-[^/]*", found) else None


def _gce_handle(volume: PersistentVolume) -> str | None:
    disk = volume.spec.source.gce_persistent_disk
    zones = volume.labels.get(ZONE, "").split("__")
    # Upstream: a regional disk is written with its region where the zone stands.
    place = (zones[0] or NOWHERE) if len(zones) == 1 else _region(zones)
    return None if disk is None or place is None else f"projects/{NOWHERE}/zones/{place}/disks/{disk.pd_name}"


def _region(zones: list[str]) -> str | None:
    """The region that all *zones*, such as ``us-east1-b``, are in; None where there is no one such region."""
    parts = [zone.split("-") for zone in zones]
    regions = {"-".join(part[:2]) for part in parts}
    return regions.pop() if len(regions) == 1 and all(len(part) == 3 for part in parts) else None


def _azure_handle(volume: PersistentVolume) -> str | None:
    return volume.spec.source.azure_disk.disk_uri if volume.spec.source.azure_disk else None


def _cinder_handle(volume: PersistentVolume) -> str | None:
    return volume.spec.source.cinder.volume_id if volume.spec.source.cinder else None


PLUGINS: Mapping[str, Plugin] = {
    AWS_EBS: Plugin("ebs.csi.aws.com", "CSIMigrationAWS", _ebs_handle),
    GCE_PD: Plugin("pd.csi.storage.gke.io", "CSIMigrationGCE", _gce_handle),
    AZURE_DISK: Plugin("disk.csi.azure.com", "CSIMigrationAzureDisk", _azure_handle),
    CINDER: Plugin("cinder.csi.openstack.org", "CSIMigrationOpenStack", _cinder_handle),
}
MIGRATABLE = frozenset({*PLUGINS, AZURE_FILE})
"""Plugins that know how to be replaced; azure-file never is, for want of a gate."""


def plugin_of(volume: PersistentVolume) -> str | None:
    """The in-tree plugin that *volume* belongs to, None where a driver cannot take it over."""
    source = volume.spec.source
    sources = {
        GCE_PD: source.gce_persistent_disk,
        AWS_EBS: source.aws_elastic_block_store,
        CINDER: source.cinder,
        AZURE_DISK: source.azure_disk,
    }
    return next((name for name, disk in sources.items() if disk is not None), None)


def migrated_plugins(csi_node: CSINode | None, cycle: Cycle) -> frozenset[str]:
    """The in-tree plugins that drivers have taken over on a node: by the gates, and by what its CSINode says."""
    if csi_node is None or not cycle.enabled("CSIMigration"):
        return frozenset()
    listed = csi_node.annotations.get(MIGRATED_PLUGINS, "").split(",")
    return frozenset(name for name in listed if name in PLUGINS and cycle.enabled(PLUGINS[name].gate))
