"""Can the node attach the pod's CSI volumes besides those that it has?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import partial

import attrs
import numpy as np

from ..core.binding import VolumeError
from ..core.volumes import PLUGINS, handle_of, plugin_of
from .maxvolumecount import (
    NO_LIMIT,
    Fault,
    claim_fault,
    counts_ephemeral,
    errors_of,
    nodes_limit_volumes,
    own_limit,
)
from .rule import (
    MAX_VOLUME_COUNT_EXCEEDED,
    Batch,
    Cycle,
    Failures,
    Ints,
    Mask,
    Reads,
    Reason,
    StateKey,
    Template,
    claim_name,
    has_volumes,
    migrated_plugins,
    predicate,
)

NAME = "MaxCSIVolumeCountPred"
PREFIX = "attachable-volumes-csi-"
LONGEST_NAME = 63


@attrs.frozen
class Attachable:
    """A volume that a driver attaches: its identity and the key of its limit, or its fault.

    With *plugin* it counts only where the driver replaced that plugin.
    """

    identity: Hashable
    limit_key: str
    plugin: str | None = None
    fault: Fault | None = None


_VOLUMES: Mapping[bool, StateKey[tuple[int, tuple[Attachable, ...]]]] = {
    True: StateKey(f"{NAME} incoming"),
    False: StateKey(NAME),
}
"""Whether the pod is to be scheduled -> the version of the volumes, and the pod's own volumes."""


def csi_limit_key(driver: str) -> str:
    """The allocatable resource that limits a driver's volumes. A long driver name is cut, and a part of its
    SHA-1 is appended."""
    if len(PREFIX) + len(driver) < LONGEST_NAME:
        return PREFIX + driver
    import hashlib

    return PREFIX + driver[:23] + hashlib.sha1(driver.encode()).hexdigest()[:16]


def _limit_key(driver: str, cycle: Cycle) -> str:
    """The key of a driver's limit."""
    return csi_limit_key(driver) if cycle.release.volumes.node_limits else driver


ClaimedVolume = tuple[str, Hashable, str | None]
"""Driver, handle and, for an in-tree volume, plugin."""


def _volumes(pod: Template, cycle: Cycle, *, incoming: bool = False) -> tuple[Attachable, ...]:
    """The volumes of *pod* that drivers attach, in order, up to the first one whose claim has a fault."""
    if not pod.volumes:
        return ()
    version = cycle.listings.volumes_version if pod.claims else 0
    slot = _VOLUMES[incoming]
    cached = pod.notes.get(slot)
    if cached is None or cached[0] != version:
        cached = pod.notes[slot] = (version, tuple(_read_volumes(pod, cycle, incoming)))
    return cached[1]


def _read_volumes(pod: Template, cycle: Cycle, incoming: bool) -> Iterator[Attachable]:
    cells = cycle.release.volumes
    for volume in pod.volumes:
        name = claim_name(pod.pod, volume, counts_ephemeral(cells))
        if name is None:
            plugin = plugin_of(volume) if cells.inline_migrates else None
            if plugin is not None:
                driver = PLUGINS[plugin].driver
                try:
                    yield Attachable(
                        (driver, PLUGINS[plugin].inline(volume)), _limit_key(driver, cycle), plugin
                    )
                except VolumeError as error:
                    # Upstream: 1.27 writes the whole volume, with addresses in memory, in place of its name.
                    yield Attachable(
                        None,
                        "",
                        plugin,
                        Fault(f"converting volume({volume.name}) from inline to csi: {error}"),
                    )
            continue
        fault = claim_fault(pod, volume, cycle, incoming)
        if fault is not None:
            yield Attachable(None, "", fault=fault)
            return
        claimed = _claimed_volume(f"{pod.namespace}/{name}", cycle)
        if claimed is not None:
            driver, handle, plugin = claimed
            # Upstream: before 1.16 equal handles of two drivers are one volume.
            identity = (driver, handle) if cells.csi_reads_migration else handle
            yield Attachable(identity, _limit_key(driver, cycle), plugin)


def _claimed_volume(key: str, cycle: Cycle) -> ClaimedVolume | None:
    cells = cycle.release.volumes
    claim = cycle.listings.claims.get(key)
    volume = cycle.listings.volumes.get(claim.spec.volume_name) if claim is not None else None
    if volume is not None:
        csi = volume.spec.csi
        if csi is not None:
            is_counted = bool(csi.driver and csi.volume_handle) or not cells.csi_reads_unbound_claims
            return (csi.driver, csi.volume_handle, None) if is_counted else None
        plugin = plugin_of(volume.spec) if cells.csi_reads_migration else None
        if plugin is None:
            return None
        handle = handle_of(plugin, volume, cells.zone_labels, cells.beta_zones_alone)
        return (PLUGINS[plugin].driver, handle, plugin) if handle else None
    if claim is None or not cells.csi_reads_unbound_claims:
        return None
    # A volume of a class that does not exist yet: the claim's name is used as the handle.
    migration = cells.csi_reads_migration
    storage_class = cycle.listings.classes.get(
        claim.storage_class if migration else claim.spec.storage_class_name or ""
    )
    if storage_class is None or not storage_class.provisioner:
        return None
    name = (claim.namespace, claim.name)
    if not migration or storage_class.provisioner not in cells.migratable:
        return storage_class.provisioner, name, None
    in_tree_plugin = PLUGINS.get(storage_class.provisioner)
    return None if in_tree_plugin is None else (in_tree_plugin.driver, name, storage_class.provisioner)


@attrs.frozen
class VolumeLimits:
    """The limits of volumes on n nodes. ``plugins``: an index into ``migrated`` for each node: int64[n]."""

    limited: Mask
    """The nodes with any limit: bool[n]."""
    by_key: dict[str, Ints]
    plugins: Ints
    migrated: list[frozenset[str]]


def _limits(keys: Iterable[str], nodes: Batch, cycle: Cycle) -> VolumeLimits:
    if cycle.release.volumes.node_limits:
        view = nodes.attachable
        limited = view.present.copy()
        by_key = {key: view.where(partial(own_limit, key), np.int64) for key in keys}
    else:
        limited = nodes.none()
        by_key = {key: np.full(nodes.n, NO_LIMIT, np.int64) for key in keys}
    limits = VolumeLimits(limited, by_key, nodes.zeros(), [frozenset()])
    reads_csi_nodes = cycle.release.volumes.csi_reads_migration and len(cycle.listings.csi_nodes)
    names = [nodes.name(i) for i in range(nodes.n)] if reads_csi_nodes else []
    csi_nodes = [cycle.listings.csi_nodes.get(name) for name in names]
    migrated = [migrated_plugins(csi_node, cycle) for csi_node in csi_nodes]
    for i, (csi_node, plugins) in enumerate(zip(csi_nodes, migrated, strict=True)):
        for driver in csi_node.spec.drivers if csi_node is not None else ():
            if driver.allocatable.count is not None:
                limited[i] = True
                numbers = by_key.get(_limit_key(driver.name, cycle))
                if numbers is not None:
                    numbers[i] = driver.allocatable.count
        if plugins:
            if plugins not in limits.migrated:
                limits.migrated.append(plugins)
            limits.plugins[i] = limits.migrated.index(plugins)
    return limits


Volumes = dict[Hashable, str]
"""Volume -> limit key."""
Excess = tuple[str, int, int, int]
"""A driver, or the key of its limit; the number of its volumes there, the number that the pod adds, and the
limit."""


def _attachable(volumes: Iterable[Attachable], migrated: frozenset[str]) -> Volumes | Fault:
    """The volumes that a driver attaches where the plugins *migrated* are replaced, or a fault; of equal
    volumes the last counts."""
    limit_keys = {}
    for volume in volumes:
        if volume.plugin is None or volume.plugin in migrated:
            if volume.fault is not None:
                return volume.fault
            limit_keys[volume.identity] = volume.limit_key
    return limit_keys


def _attached(i: int, nodes: Batch, migrated: frozenset[str], cycle: Cycle) -> Volumes | Fault:
    """The volumes of the pods on node *i*, or the fault of one of them."""
    attached: Volumes = {}
    for entry in nodes.pods(i):
        pod_volumes = _attachable(_volumes(entry.template, cycle), migrated)
        if isinstance(pod_volumes, Fault):
            return pod_volumes
        attached |= pod_volumes
    return attached


def _excess(
    new: Volumes, attached: Volumes, limits: VolumeLimits, i: int, nodes: Batch, cycle: Cycle
) -> Iterator[Excess]:
    # The volumes of CSI drivers that VolumeAttachments attach to the node; their status does not matter.
    volume_attachments: Volumes = {}
    counts = cycle.release.volumes.counts_attachments
    for item in cycle.listings.attachments.within(nodes.name(i)) if counts else ():
        volume = cycle.listings.volumes.get(item.spec.source.persistent_volume_name)
        csi = None if volume is None else volume.spec.csi
        if (driver := item.spec.attacher) and csi is not None:
            volume_attachments[driver, csi.volume_handle] = _limit_key(driver, cycle)
    # Upstream: a volume of the pod that only a VolumeAttachment has counts twice.
    current_counts = Counter({**volume_attachments, **attached}.values())
    for key, count in Counter(key for identity, key in new.items() if identity not in attached).items():
        limit = int(limits.by_key[key][i])
        if limit != NO_LIMIT and current_counts[key] + count > limit:
            yield key.removeprefix(PREFIX), current_counts[key], count, limit


def csi_excess(pod: Template, nodes: Batch, cycle: Cycle, i: int) -> Iterator[Excess]:
    """The drivers whose limit *pod* would exceed on node *i*."""
    limits = _limits({volume.limit_key for volume in _volumes(pod, cycle, incoming=True)}, nodes, cycle)
    migrated = limits.migrated[int(limits.plugins[i])]
    new = _attachable(_volumes(pod, cycle, incoming=True), migrated)
    attached = _attached(i, nodes, migrated, cycle)
    if not isinstance(new, Fault) and not isinstance(attached, Fault):
        yield from _excess(new, attached, limits, i, nodes, cycle)


@predicate(
    NAME, reads=Reads.PODS | Reads.VOLUMES | Reads.NODE, key=lambda pod: pod.claims, concerns=has_volumes
)
def max_csi_volume_count(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes on which the volumes of a CSI driver would exceed the node's limit for it.

    The volumes of *pod* and of the pods there count.

    Upstream: pkg/scheduler/algorithm/predicates/csi_volume_predicate.go NewCSIMaxVolumeLimitPredicate.
    """
    return csi_failures(pod, nodes, cycle) if nodes_limit_volumes(cycle) else None


def csi_failures(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """The objections to *nodes* because of volumes that drivers attach."""
    volumes = _volumes(pod, cycle, incoming=True)
    if not volumes:
        return None
    limits = _limits({volume.limit_key for volume in volumes}, nodes, cycle)
    volumes_by_group = [_attachable(volumes, migrated) for migrated in limits.migrated]
    # Upstream: before 1.16 a node without limits fits before the claims are looked at.
    everywhere = limits.limited | cycle.release.volumes.csi_reads_migration
    faulty = [
        volumes_of_group.on(everywhere & (limits.plugins == group))
        for group, volumes_of_group in enumerate(volumes_by_group)
        if isinstance(volumes_of_group, Fault)
    ]
    counted = [new if isinstance(new, dict) else {} for new in volumes_by_group]
    missing = _without_driver(counted, limits, nodes, cycle) if cycle.enabled("VolumeLimitScaling") else {}
    for mask in missing.values():
        limits.limited[mask] = False
    driver_failures = (
        Failures.where(Reason(f"{driver} CSI driver is not installed on the node"), mask)
        for driver, mask in missing.items()
    )
    return Failures.joined([*faulty, *driver_failures, *_over_limits(counted, limits, nodes, cycle)])


def _without_driver(
    volumes_by_group: list[Volumes], limits: VolumeLimits, nodes: Batch, cycle: Cycle
) -> dict[str, Mask]:
    """Driver -> the nodes that do not have it, but need it for the pod's volumes; of several drivers the
    first."""
    opt_in = cycle.release.volumes.missing_drivers_opt_in
    drivers = (
        cycle.listings.csi_drivers.get(name)
        for name in {name for volumes_of_group in volumes_by_group for name in volumes_of_group.values()}
    )
    required_drivers = {
        csi_driver.name
        for csi_driver in drivers
        if csi_driver is not None and (csi_driver.spec.prevent_pod_scheduling_if_missing or not opt_in)
    }
    nodes_by_driver: dict[str, Mask] = {}
    for i in range(nodes.n) if required_drivers else ():
        csi_node = cycle.listings.csi_nodes.get(nodes.name(i))
        installed = {driver.name for driver in csi_node.spec.drivers} if csi_node is not None else set[str]()
        driver_name = next(
            (
                name
                for name in volumes_by_group[int(limits.plugins[i])].values()
                if name in required_drivers and name not in installed
            ),
            None,
        )
        if driver_name is not None:
            nodes_by_driver.setdefault(driver_name, nodes.none())[i] = True
    return nodes_by_driver


def _over_limits(
    volumes_by_group: list[Volumes], limits: VolumeLimits, nodes: Batch, cycle: Cycle
) -> tuple[Failures | None, ...]:
    """The objections to nodes with too many volumes; *volumes_by_group*: the pod's own volumes."""
    limited = limits.limited & np.array([bool(new) for new in volumes_by_group])[limits.plugins]
    exceeded = np.zeros_like(limited)
    for group, volumes_of_group in enumerate(volumes_by_group):
        # Where the pod's own volumes alone exceed a limit.
        in_group = limited & (limits.plugins == group)
        for key, count in Counter(volumes_of_group.values()).items():
            limit = limits.by_key[key]
            exceeded |= in_group & (limit != NO_LIMIT) & (count > limit)
    # Only nodes with pods that have volumes, or with VolumeAttachments that count.
    occupied: Iterable[int] = nodes.with_volumes()
    if cycle.release.volumes.counts_attachments and len(cycle.listings.attachments):
        rows = [nodes.table.row_of.get(name, -1) for name in cycle.listings.attachments.groups()]
        occupied = sorted({*occupied, *np.flatnonzero(np.isin(nodes.indexes, rows)).tolist()})
    faults = dict[int, Fault]()
    for i in occupied:
        if limited[i]:
            group = int(limits.plugins[i])
            attached = _attached(i, nodes, limits.migrated[group], cycle)
            if isinstance(attached, Fault):
                faults[i], exceeded[i] = attached, False
            else:
                exceeded[i] = any(_excess(volumes_by_group[group], attached, limits, i, nodes, cycle))
    return errors_of(faults, nodes.n), Failures.where(MAX_VOLUME_COUNT_EXCEEDED, exceeded)
