"""Can the node attach the pod's cloud disks besides those that it has?"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Mapping
from functools import partial

import attrs
import numpy as np
from numpy.typing import NDArray

from ..api.objects import PersistentVolumeClaim, VolumeSource
from ..core.batch import Batch, Ints, Mask
from ..core.cycle import Cycle
from ..core.failures import Failures
from ..core.rule import Predicate, Reads
from ..core.template import Template
from .csimigration import AWS_EBS, AZURE_DISK, CINDER, GCE_PD, migrated_plugins
from .reasons import MAX_VOLUME_COUNT_EXCEEDED
from .rule import has_volumes
from .volumezone import NO_NAME

Ids = frozenset[Hashable]
"""Disks by their ids; one that is not known yet, by the (namespace, name) of its claim."""
ENVIRONMENT = "KUBE_MAX_PD_VOLS"
NO_LIMIT = -(2**63)
_NITRO = re.compile(r"^[cmr]5.*|t3|z1d")


@attrs.frozen(kw_only=True)
class DiskType:
    """A kind of cloud disk; ``id_of`` gives a disk's id, None for a volume of another kind."""

    name: str
    """The predicate that counts it."""
    key: str
    """The allocatable resource that limits it."""
    plugin: str
    id_of: Callable[[VolumeSource], str | None]
    limit: int
    """How many a node can have, unless something else says more or less."""
    nitro_limit: int | None = None
    """The limit on machines of the newer AWS types."""


@attrs.frozen
class Count:
    """Disks on n nodes: ``attached`` by the pods there, ``new`` with the incoming one, and the ``limit``: int64[n].

    ``erred``, ``exempt``: bool[n], where a claim of a pod there has no name, and where a driver counts the disks instead.
    """

    attached: Ints
    new: Ints
    limit: Ints
    erred: Mask
    exempt: Mask

    @property
    def exceeded(self) -> Mask:
        """Where there would be too many: bool[n]."""
        return (self.attached + self.new > self.limit) & ~self.erred & ~self.exempt


def volume_limit_of(environment: Mapping[str, str]) -> int | None:
    """The limit that the environment sets for every node without one of its own; None unless it is a whole number above 0."""
    written = environment.get(ENVIRONMENT, "")
    return int(written) if re.fullmatch(r"\+?[0-9]+", written) and int(written) > 0 else None


def own_limit(key: str, given: Mapping[str, int]) -> int:
    """The limit that a node gives under *key*, ``NO_LIMIT`` where it gives none."""
    return given.get(key, NO_LIMIT)


def _ids(pod: Template, disk: DiskType, cycle: Cycle) -> Ids | None:
    """The disks of a type that *pod* uses; None where a claim has no name."""
    version = cycle.listings.volumes_version if pod.claims else 0
    known: tuple[int, Ids | None] | None = pod.memo.get(disk.name)
    if known is None or known[0] != version:
        known = pod.memo[disk.name] = (version, _read_ids(pod, disk, cycle))
    return known[1]


def _read_ids(pod: Template, disk: DiskType, cycle: Cycle) -> Ids | None:
    found: set[Hashable] = set()
    for volume in pod.spec.volumes:
        inline = disk.id_of(volume)
        if inline is not None:
            found.add(inline)
        elif volume.persistent_volume_claim == "":
            return None
        elif volume.persistent_volume_claim is not None:
            identity = _claimed(pod.namespace, volume.persistent_volume_claim, disk, cycle)
            if identity is not None:
                found.add(identity)
    return frozenset(found)


def _claimed(namespace: str, name: str, disk: DiskType, cycle: Cycle) -> Hashable | None:
    """The id of the disk behind a claim, a made-up one where it is not known, None where it does not count."""
    claim = cycle.listings.claims.get(f"{namespace}/{name}")
    volume = cycle.listings.volumes.get(claim.spec.volume_name) if claim is not None else None
    if volume is not None:
        return disk.id_of(volume.spec.source)
    # Upstream: before 1.16 a claim that leads nowhere counts as a disk of every type.
    counts = cycle.release.volumes.counts_unresolved_claims or (claim is not None and _provisions(claim, disk, cycle))
    return (namespace, name) if counts else None


def _provisions(claim: PersistentVolumeClaim, disk: DiskType, cycle: Cycle) -> bool:
    # Upstream: the beta annotation for the class is not looked at here.
    found = cycle.listings.classes.get(claim.spec.storage_class_name or "")
    return found is not None and found.provisioner == disk.plugin


def _limits(disk: DiskType, nodes: Batch, cycle: Cycle) -> Ints:
    """How many disks of the type each node can have: int64[n]."""
    limits = np.full(nodes.n, disk.limit, np.int64)
    given = volume_limit_of(os.environ)
    if given is not None:
        limits[:] = given
    elif disk.nitro_limit is not None:
        nitro = nodes.label("beta.kubernetes.io/instance-type").where(lambda kind: _NITRO.search(kind or ""))
        limits[nitro] = disk.nitro_limit
    if cycle.enabled("AttachVolumeLimit"):
        own: NDArray[np.int64] = nodes.attachable.where(partial(own_limit, disk.key), np.int64)
        limits = np.where(own == NO_LIMIT, limits, own)
    return limits


def _exempt(disk: DiskType, nodes: Batch, cycle: Cycle) -> Mask:
    """Where the type's plugin was replaced by a CSI driver: bool[n]."""
    csi_nodes = cycle.listings.csi_nodes
    if not cycle.release.volumes.csi_reads_migration or not cycle.enabled("CSIMigration") or not len(csi_nodes):
        return np.zeros(nodes.n, np.bool_)
    rows = [nodes.table.row_of.get(found.name, -1) for found in csi_nodes if disk.plugin in migrated_plugins(found, cycle)]
    return np.isin(nodes.indexes, rows)


def _count(ids: Ids, disk: DiskType, nodes: Batch, cycle: Cycle) -> Count:
    attached, new = np.zeros(nodes.n, np.int64), np.full(nodes.n, len(ids), np.int64)
    erred, exempt = np.zeros(nodes.n, np.bool_), _exempt(disk, nodes, cycle)
    for i in nodes.with_volumes():
        here: set[Hashable] = set()
        for entry in nodes.pods(i):
            found = _ids(entry.template, disk, cycle) if entry.template.spec.volumes else ()
            if found is None:
                erred[i] = not exempt[i]
                break
            here.update(found)
        attached[i], new[i] = len(here), len(ids - here)
    return Count(attached, new, _limits(disk, nodes, cycle), erred, exempt)


def _predicate(disk: DiskType) -> Predicate:
    def check(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
        if not pod.spec.volumes:
            return None
        ids = _ids(pod, disk, cycle)
        if ids is None:
            return Failures.error(NO_NAME, np.ones(nodes.n, np.bool_))
        if not ids:
            return None
        count = _count(ids, disk, nodes, cycle)
        return Failures.joined([Failures.error(NO_NAME, count.erred), Failures.where(MAX_VOLUME_COUNT_EXCEEDED, count.exceeded)])

    check.__doc__ = f"""Turn down nodes on which the disks of *pod* and of the pods there would exceed the limit for {disk.plugin}.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go NewMaxPDVolumeCountPredicate.
    """

    def effect(pod: Template, nodes: Batch, cycle: Cycle) -> None:
        if not pod.spec.volumes or not cycle.enabled("BalanceAttachedNodeVolumes"):
            return
        ids = _ids(pod, disk, cycle)
        if ids:
            _leave(_count(ids, disk, nodes, cycle), nodes)

    return Predicate(
        name=disk.name,
        check=check,
        reads=Reads.PODS | Reads.VOLUMES | Reads.NODE,
        key=lambda pod: (pod.namespace, pod.spec.volumes) if pod.spec.volumes else None,
        effect=effect,
        concerns=has_volumes,
    )


def _leave(count: Count, nodes: Batch) -> None:
    """Leave free and wanted disks on the nodes that fit, for BalancedResourceAllocation; each count predicate overwrites the last."""
    for i in np.flatnonzero(~count.exceeded & ~count.erred & ~count.exempt).tolist():
        nodes.set_transient(i, int(count.limit[i] - count.attached[i]), int(count.new[i]))


def _ebs_id(source: VolumeSource) -> str | None:
    return source.aws_elastic_block_store.volume_id if source.aws_elastic_block_store else None


def _gce_id(source: VolumeSource) -> str | None:
    return source.gce_persistent_disk.pd_name if source.gce_persistent_disk else None


def _azure_id(source: VolumeSource) -> str | None:
    return source.azure_disk.disk_name if source.azure_disk else None


def _cinder_id(source: VolumeSource) -> str | None:
    return source.cinder.volume_id if source.cinder else None


max_ebs_volume_count = _predicate(
    DiskType(name="MaxEBSVolumeCount", key="attachable-volumes-aws-ebs", plugin=AWS_EBS, id_of=_ebs_id, limit=39, nitro_limit=25)
)
max_gce_pd_volume_count = _predicate(
    DiskType(name="MaxGCEPDVolumeCount", key="attachable-volumes-gce-pd", plugin=GCE_PD, id_of=_gce_id, limit=16)
)
max_azure_disk_volume_count = _predicate(
    DiskType(name="MaxAzureDiskVolumeCount", key="attachable-volumes-azure-disk", plugin=AZURE_DISK, id_of=_azure_id, limit=16)
)
max_cinder_volume_count = _predicate(
    DiskType(name="MaxCinderVolumeCount", key="attachable-volumes-cinder", plugin=CINDER, id_of=_cinder_id, limit=256)
)
