"""Can the node attach the pod's cloud disks besides those that it has?"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from functools import partial

import attrs
import numpy as np

from ..api.objects import Volume, VolumeSource
from ..core.release import VolumeCells
from ..core.volumes import AWS_EBS, AZURE_DISK, CINDER, GCE_PD
from .novolumezoneconflict import NO_NAME
from .rule import (
    MAX_VOLUME_COUNT_EXCEEDED,
    Batch,
    Cycle,
    Failures,
    Ints,
    Mask,
    Predicate,
    Reads,
    Reason,
    StateKey,
    Template,
    claim_name,
    has_volumes,
    is_made_for_pod,
    migrated_plugins,
    not_owned,
)

Ids = frozenset[Hashable]
"""Disks by id; a disk that is not known yet by the (namespace, name) of its claim."""
NO_LIMIT = -(2**63)
VOLUMES_GATE = "BalanceAttachedNodeVolumes"
"""The gate for numbers of disks that BalancedResourceAllocation reads."""
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
    """The number of disks that a node can have, if nothing else sets a limit."""
    nitro_limit: int | None = None
    """The limit on machines of the newer AWS types."""
    slots: Mapping[bool, StateKey[tuple[int, Ids | Fault]]] = attrs.field(
        init=False,
        eq=False,
        repr=False,
        factory=lambda: {True: StateKey("disks of an incoming pod"), False: StateKey("disks")},
    )
    """Whether a pod is to be scheduled -> the version of the volumes and its disks of the type, in its
    notes."""


@attrs.frozen
class Count:
    """Disks on n nodes: ``attached`` by the pods there, ``new`` with the incoming one, and the ``limit``:
    int64[n].

    ``exempt``: bool[n], where a driver counts the disks instead; ``faults``: node -> the fault of a claim of
    a pod there.
    """

    attached: Ints
    new: Ints
    limit: Ints
    exempt: Mask
    faults: dict[int, Fault]

    @property
    def erred(self) -> Mask:
        """The nodes without an answer: bool[n]."""
        mask = np.zeros(len(self.limit), np.bool_)
        mask[list(self.faults)] = True
        return mask

    @property
    def exceeded(self) -> Mask:
        """The nodes that would have too many: bool[n]."""
        return (self.attached + self.new > self.limit) & ~self.erred & ~self.exempt


@attrs.frozen
class Fault:
    """A fault of a pod's volume. *rejects*: it only turns nodes down; else it is an error."""

    text: str
    rejects: bool = False

    def on(self, mask: Mask) -> Failures | None:
        """The same as the failure of the nodes of *mask*: bool[n]."""
        if self.rejects:
            return Failures.where(Reason(self.text, resolvable=False), mask)
        return Failures.error(self.text, mask)


def own_limit(key: str, limit_by_key: Mapping[str, int]) -> int:
    """The limit that a node gives under *key*, ``NO_LIMIT`` where it gives none."""
    return limit_by_key.get(key, NO_LIMIT)


def errors_of(faults: Mapping[int, Fault], n: int) -> Failures | None:
    """*faults*, those of pods on the nodes, as errors of *n* nodes."""
    return Failures.of_rows([faults[i].text if i in faults else None for i in range(n)]) if faults else None


def counts_ephemeral(cells: VolumeCells) -> bool:
    """Whether the claims of generic ephemeral volumes count."""
    return cells.ephemeral_claims and cells.counts_ephemeral_claims


def claim_fault(pod: Template, volume: Volume, cycle: Cycle, incoming: bool) -> Fault | None:
    """The fault of the claim of one of *pod*'s volumes; None where it is fine or where there is no claim.

    *incoming*: *pod* is to be scheduled, and not on a node already.
    """
    cells = cycle.release.volumes
    name = claim_name(pod.pod, volume, counts_ephemeral(cells))
    if name is None:
        return None
    if not name:
        return Fault(NO_NAME)
    claim = cycle.listings.claims.get(f"{pod.namespace}/{name}")
    if claim is not None:
        text = not_owned(pod.pod, claim) if is_made_for_pod(volume) else None
        return None if text is None else Fault(text)
    text = f'looking up PVC {pod.namespace}/{name}: persistentvolumeclaim "{name}" not found'
    return Fault(text, cells.missing_claim_is_reason) if incoming and cells.missing_claim_errs else None


def _ids(pod: Template, disk: DiskType, cycle: Cycle, *, incoming: bool = False) -> Ids | Fault:
    """The disks of a type that *pod* uses, or the error of one of its claims."""
    version = cycle.listings.volumes_version if pod.claims else 0
    slot = disk.slots[incoming]
    cached = pod.notes.get(slot)
    if cached is None or cached[0] != version:
        cached = pod.notes[slot] = (version, _read_ids(pod, disk, cycle, incoming))
    return cached[1]


def _read_ids(pod: Template, disk: DiskType, cycle: Cycle, incoming: bool) -> Ids | Fault:
    ids: set[Hashable] = set()
    for volume in pod.volumes:
        inline = disk.id_of(volume)
        if inline is not None:
            ids.add(inline)
            continue
        fault = claim_fault(pod, volume, cycle, incoming)
        if fault is not None:
            return fault
        name = claim_name(pod.pod, volume, counts_ephemeral(cycle.release.volumes))
        identity = _claimed_id(pod.namespace, name, disk, cycle) if name is not None else None
        if identity is not None:
            ids.add(identity)
    return frozenset(ids)


def _claimed_id(namespace: str, name: str, disk: DiskType, cycle: Cycle) -> Hashable | None:
    """The id of the disk behind a claim, that of the claim if the disk is unknown; None where it does not
    count."""
    claim = cycle.listings.claims.get(f"{namespace}/{name}")
    volume = cycle.listings.volumes.get(claim.spec.volume_name) if claim is not None else None
    if volume is not None:
        return disk.id_of(volume.spec)
    # Upstream: before 1.16 a claim that cannot be resolved counts as a disk of every type.
    counts = cycle.release.volumes.counts_unresolved_claims
    if not counts and claim is not None:
        # Upstream: the beta annotation for the class is not read here.
        kind = cycle.listings.classes.get(claim.spec.storage_class_name or "")
        counts = kind is not None and kind.provisioner == disk.plugin
    return (namespace, name) if counts else None


def nodes_limit_volumes(cycle: Cycle) -> bool:
    """Whether nodes say how many volumes they can have."""
    gate = cycle.release.volumes.limits_gate
    return not gate or bool(cycle.algorithm.gates.get(gate))


def _limits(disk: DiskType, nodes: Batch, cycle: Cycle) -> Ints:
    """The number of disks of the type that each node can have: int64[n]."""
    limits = np.full(nodes.n, disk.limit, np.int64)
    max_pd_vols = cycle.algorithm.max_pd_vols
    if max_pd_vols is not None:
        limits[:] = max_pd_vols
    elif disk.nitro_limit is not None:
        # Upstream: where a node has both labels, 1.27 takes either by chance; here the newer one counts.
        for label in cycle.release.volumes.instance_type_labels:
            kinds = nodes.label(label)
            is_nitro = kinds.where(lambda kind: _NITRO.search(kind or "") is not None)
            limits = np.where(kinds.present, np.where(is_nitro, disk.nitro_limit, disk.limit), limits)
    if nodes_limit_volumes(cycle):
        own_limits = nodes.attachable.where(partial(own_limit, disk.key), np.int64)
        limits = np.where(own_limits == NO_LIMIT, limits, own_limits)
    return limits


def disk_count(pod: Template, disk: DiskType, nodes: Batch, cycle: Cycle) -> Count | Fault | None:
    """The disks of one type on *nodes* and of *pod*; the fault of a claim of *pod*, or None where it has no
    such disk."""
    ids = _ids(pod, disk, cycle, incoming=True) if pod.volumes else frozenset[Hashable]()
    if isinstance(ids, Fault):
        return ids
    if not ids:
        return None
    attached = nodes.zeros()
    new = np.full(nodes.n, len(ids), np.int64)
    exempt = nodes.none()
    csi_nodes = cycle.listings.csi_nodes
    if cycle.release.volumes.csi_reads_migration and len(csi_nodes):
        # A CSI driver has replaced the plugin of this type.
        replaced = (
            csi_node.name for csi_node in csi_nodes if disk.plugin in migrated_plugins(csi_node, cycle)
        )
        exempt = np.isin(nodes.indexes, [nodes.table.row_of.get(name, -1) for name in replaced])
    faults = {}
    for i in nodes.with_volumes():
        attached_ids: set[Hashable] = set()
        for entry in nodes.pods(i):
            pod_ids = _ids(entry.template, disk, cycle) if entry.template.volumes else frozenset[Hashable]()
            if isinstance(pod_ids, Fault):
                faults[i] = pod_ids
                break
            attached_ids.update(pod_ids)
        attached[i], new[i] = len(attached_ids), len(ids - attached_ids)
    faults = {i: fault for i, fault in faults.items() if not exempt[i]}
    return Count(attached, new, _limits(disk, nodes, cycle), exempt, faults)


def disk_failures(disk: DiskType, pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """The objections to *nodes* because of disks of one type."""
    count = disk_count(pod, disk, nodes, cycle)
    if not isinstance(count, Count):
        return None if count is None else count.on(nodes.every())
    exceeded = Failures.where(MAX_VOLUME_COUNT_EXCEEDED, count.exceeded)
    return Failures.joined([errors_of(count.faults, nodes.n), exceeded])


def _predicate(disk: DiskType) -> Predicate:
    def check(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
        return disk_failures(disk, pod, nodes, cycle)

    check.__doc__ = f"""Turn down nodes on which the disks of *pod* and of the pods there would exceed the limit for {disk.plugin}.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go NewMaxPDVolumeCountPredicate.
    """

    return Predicate(
        name=disk.name,
        check=check,
        reads=Reads.PODS | Reads.VOLUMES | Reads.NODE,
        key=lambda pod: (pod.namespace, pod.volumes) if pod.volumes else None,
        effect=partial(leave_counts, disk),
        concerns=has_volumes,
    )


def leave_counts(disk: DiskType, pod: Template, nodes: Batch, cycle: Cycle) -> None:
    """Leave the free and new disks of one type on *nodes* that fit, for BalancedResourceAllocation. Only with
    gate BalanceAttachedNodeVolumes; each count predicate overwrites the one before."""
    count = disk_count(pod, disk, nodes, cycle) if cycle.enabled(VOLUMES_GATE) else None
    if isinstance(count, Count):
        for i in np.flatnonzero(~count.exceeded & ~count.erred & ~count.exempt).tolist():
            nodes.set_transient(i, int(count.limit[i] - count.attached[i]), int(count.new[i]))


EBS = DiskType(
    name="MaxEBSVolumeCount",
    key="attachable-volumes-aws-ebs",
    plugin=AWS_EBS,
    id_of=lambda it: it.aws_elastic_block_store.volume_id if it.aws_elastic_block_store else None,
    limit=39,
    nitro_limit=25,
)
GCE = DiskType(
    name="MaxGCEPDVolumeCount",
    key="attachable-volumes-gce-pd",
    plugin=GCE_PD,
    id_of=lambda it: it.gce_persistent_disk.pd_name if it.gce_persistent_disk else None,
    limit=16,
)
AZURE = DiskType(
    name="MaxAzureDiskVolumeCount",
    key="attachable-volumes-azure-disk",
    plugin=AZURE_DISK,
    id_of=lambda it: it.azure_disk.disk_name if it.azure_disk else None,
    limit=16,
)
OPENSTACK = DiskType(
    name="MaxCinderVolumeCount",
    key="attachable-volumes-cinder",
    plugin=CINDER,
    id_of=lambda it: it.cinder.volume_id if it.cinder else None,
    limit=256,
)

max_ebs_volume_count: Predicate = _predicate(EBS)
max_gce_pd_volume_count: Predicate = _predicate(GCE)
max_azure_disk_volume_count: Predicate = _predicate(AZURE)
max_cinder_volume_count: Predicate = _predicate(OPENSTACK)
