"""Disks of in-tree plugins that a CSI driver can take over: names, handles, and the nodes that reach them.

Upstream: k8s.io/csi-translation-lib.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any
from urllib.parse import unquote, urlsplit

import attrs
from msgspec.structs import replace

from ...api.meaning import BETA_REGION, BETA_ZONE, TOPOLOGY_REGION, TOPOLOGY_ZONE
from ...api.objects import (
    AWSElasticBlockStore,
    NodeSelector,
    NodeSelectorTerm,
    PersistentVolume,
    Requirement,
    VolumeSource,
)
from ..binding import VolumeError
from ..release import Gates, VolumeCells

MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"
AWS_EBS = "kubernetes.io/aws-ebs"
GCE_PD = "kubernetes.io/gce-pd"
AZURE_DISK = "kubernetes.io/azure-disk"
CINDER = "kubernetes.io/cinder"
PORTWORX = "kubernetes.io/portworx-volume"
RBD = "kubernetes.io/rbd"
RBD_HANDLE = "rbd.csi.ceph.com/volume-handle"
"""The annotation of a volume of Ceph with its handle."""
UNSPECIFIED = "UNSPECIFIED"
"""The placeholder for an unknown project or zone in the handle of a GCE disk."""

Labels = Sequence[str]


@attrs.frozen(repr=False)
class InTreePlugin:
    """An in-tree plugin: the driver that replaces it, the gate for that, and the attribute of a
    :class:`VolumeSource` with its disk.

    ``disk_handle(disk)``: the handle of a pod's own disk. ``volume_handle(volume, zone_labels)``: that of a
    PersistentVolume of the plugin, where that is another; its zone is in the first of the labels that is not
    empty. Both raise :class:`VolumeError` where the driver has no handle for it. ``topology``:
    the driver's own label for a node's zone.
    """

    driver: str
    gate: str
    disk: str
    disk_handle: Callable[[Any], str]
    volume_handle: Callable[[PersistentVolume, Labels], str] | None = None
    topology: str | None = None

    def inline(self, source: VolumeSource) -> str | None:
        """The handle of a pod's own volume, None for a volume of another plugin."""
        disk = getattr(source, self.disk)
        return None if disk is None else self.disk_handle(disk)

    def handle(self, volume: PersistentVolume, zone_labels: Labels) -> str:
        """The handle of *volume*; empty where the driver has none."""
        if self.volume_handle is None:
            return self.inline(volume.spec) or ""
        return self.volume_handle(volume, zone_labels)


def _ebs_id(disk: AWSElasticBlockStore) -> str:
    volume_id = disk.volume_id
    if not volume_id.startswith("aws://"):
        return volume_id
    disk_name = unquote(urlsplit(volume_id).path).strip("/")
    if not re.fullmatch(r"vol-[^/]*", disk_name):
        raise VolumeError(
            f"failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({volume_id})"
        )
    return disk_name


def _gce_handle(volume: PersistentVolume, zone_labels: Labels) -> str:
    disk = volume.spec.gce_persistent_disk
    zones = next(filter(None, (volume.labels.get(label, "") for label in zone_labels)), "").split("__")
    # Upstream: the handle of a regional disk has the region in place of the zone.
    return _gce_handle_in(
        (zones[0] or UNSPECIFIED) if len(zones) == 1 else _region(zones), disk.pd_name if disk else ""
    )


def _gce_handle_in(place: str, name: str) -> str:
    return f"projects/{UNSPECIFIED}/zones/{place}/disks/{name}"


def _region(zones: list[str]) -> str:
    """The region that all *zones*, such as ``us-east1-b``, are in."""
    parts = {zone: zone.split("-") for zone in zones}
    malformed = next((zone for zone, part in parts.items() if len(part) != 3), None)
    if malformed is not None:
        raise VolumeError(
            "failed to get region from zones: zone in unexpected format, "
            f"expected: {{locale}}-{{region}}-{{zone}}, got: {malformed}"
        )
    regions = sorted({"-".join(part[:2]) for part in parts.values()})
    if len(regions) > 1:
        region_texts = " ".join(f"{region}:{{}}" for region in regions)
        raise VolumeError(
            f"failed to get region from zones: multiple or no regions gotten from zones, got: map[{region_texts}]"
        )
    return regions[0]


def _rbd_handle(volume: PersistentVolume, zone_labels: Labels) -> str:
    disk = volume.spec.rbd
    handle = volume.annotations.get(RBD_HANDLE)
    if handle or disk is None:
        return handle or ""
    import hashlib

    monitors = hashlib.md5(",".join(disk.monitors).encode(), usedforsecurity=False).hexdigest()
    image = disk.image.removeprefix("kubernetes-dynamic-pvc-")
    return f"mig_mons-{monitors}_image-{image}_{disk.pool.encode().hex()}"


PLUGINS: Mapping[str, InTreePlugin] = {
    GCE_PD: InTreePlugin(
        "pd.csi.storage.gke.io",
        "CSIMigrationGCE",
        "gce_persistent_disk",
        lambda disk: _gce_handle_in(UNSPECIFIED, disk.pd_name),
        _gce_handle,
        "topology.gke.io/zone",
    ),
    AWS_EBS: InTreePlugin(
        "ebs.csi.aws.com",
        "CSIMigrationAWS",
        "aws_elastic_block_store",
        _ebs_id,
        topology="topology.ebs.csi.aws.com/zone",
    ),
    CINDER: InTreePlugin(
        "cinder.csi.openstack.org",
        "CSIMigrationOpenStack",
        "cinder",
        attrgetter("volume_id"),
        topology="topology.cinder.csi.openstack.org/zone",
    ),
    AZURE_DISK: InTreePlugin(
        "disk.csi.azure.com", "CSIMigrationAzureDisk", "azure_disk", attrgetter("disk_uri")
    ),
    PORTWORX: InTreePlugin(
        "pxd.portworx.com", "CSIMigrationPortworx", "portworx_volume", attrgetter("volume_id")
    ),
    RBD: InTreePlugin("rbd.csi.ceph.com", "CSIMigrationRBD", "rbd", attrgetter("image"), _rbd_handle),
}


def may_migrate(plugin: str, cells: VolumeCells, gates: Gates) -> bool:
    """Whether a driver can take over *plugin*."""
    if cells.migration_gate and not gates.get(cells.migration_gate):
        return False
    return plugin in cells.always_migrated or bool(gates.get(PLUGINS[plugin].gate))


def plugin_of(source: VolumeSource) -> str | None:
    """The in-tree plugin of a disk, None where a driver cannot take it over."""
    return next((name for name, plugin in PLUGINS.items() if getattr(source, plugin.disk) is not None), None)


def handle_of(
    plugin: str, volume: PersistentVolume, zone_labels: Labels, beta_zones: bool = False
) -> str | None:
    """The handle of *volume* with the driver that takes over *plugin*, None where the driver has no handle
    for it.

    *beta_zones*: see :func:`translated_affinity`, which fails for some volumes.
    """
    try:
        if beta_zones:
            translated_affinity(plugin, volume, beta_zones)
        return PLUGINS[plugin].handle(volume, zone_labels) or None
    except VolumeError:
        return None


# --- where it can be reached --------------------------------------------------------------------------------


def translated_affinity(
    plugin: str, volume: PersistentVolume, beta_zones: bool = False
) -> NodeSelector | None:
    """The node affinity of *volume* with the zones of its plugin under the driver's own label.

    *beta_zones*: as up to 1.20, from the beta label alone; raises :class:`VolumeError` where that names no
    zone. Upstream: plugins/in_tree_volume.go translateTopologyFromInTreeToCSI (up to 1.20 translateTopology).
    """
    topology = PLUGINS[plugin].topology
    affinity = volume.spec.node_affinity
    terms = affinity.node_selector_terms if affinity else ()
    if topology is None:
        return affinity
    if beta_zones:
        if _names_values(terms, topology):
            return affinity
        if _names_values(terms, BETA_ZONE):
            return NodeSelector(node_selector_terms=_renamed(terms, BETA_ZONE, topology))
        if BETA_ZONE not in volume.labels:
            return affinity
        zones = _zones(volume, BETA_ZONE)
        if not zones:
            raise VolumeError("failed to translate topology: there are no valid zones to add to pv")
        # Upstream: the zone takes the place of whatever else the volume's node affinity asks for.
        requirement = Requirement(key=topology, operator="In", given_values=zones)
        return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(requirement,)),))
    zone, region = _topology_labels(volume, terms)
    if _names_values(terms, zone):
        terms = _renamed(terms, zone, topology)
    elif zones := _zones(volume, zone):
        requirement = Requirement(key=topology, operator="In", given_values=zones)
        terms = tuple(
            replace(term, match_expressions=(*term.match_expressions, requirement))
            for term in terms or (NodeSelectorTerm(),)
        )
    if region == BETA_REGION and _names_values(terms, region):
        terms = _renamed(terms, region, TOPOLOGY_REGION)
    return NodeSelector(node_selector_terms=terms) if affinity or terms else None


def _zones(volume: PersistentVolume, label: str) -> tuple[str, ...]:
    """The zones that a label of *volume* names, in ascending order."""
    return tuple(sorted({part.strip() for part in volume.labels.get(label, "").split("__")} - {""}))


def _topology_labels(volume: PersistentVolume, terms: Iterable[NodeSelectorTerm]) -> tuple[str, str]:
    """The labels for zone and region that *volume* uses in its affinity, else as its own labels; the newer
    ones if it uses both or none."""
    used = [expression.key for term in terms for expression in term.match_expressions]
    for keys in (used, volume.labels):
        if TOPOLOGY_ZONE in keys:
            return TOPOLOGY_ZONE, TOPOLOGY_REGION
        if BETA_ZONE in keys:
            return BETA_ZONE, BETA_REGION
    return TOPOLOGY_ZONE, TOPOLOGY_REGION


def _names_values(terms: Iterable[NodeSelectorTerm], key: str) -> bool:
    return any(
        expression.values for term in terms for expression in term.match_expressions if expression.key == key
    )


def _renamed(terms: Iterable[NodeSelectorTerm], old: str, new: str) -> tuple[NodeSelectorTerm, ...]:
    def rename(expression: Requirement) -> Requirement:
        return replace(expression, key=new) if expression.key == old else expression

    return tuple(
        replace(term, match_expressions=tuple(map(rename, term.match_expressions))) for term in terms
    )
