"""Can the node attach the pod's CSI volumes besides those that it has?"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import partial

import attrs
import numpy as np

from ..api.objects import PersistentVolume, PersistentVolumeClaim, Volume
from ..core.arrays.batch import Batch
from ..core.arrays.types import Ints, Mask
from ..core.cycle import Cycle
from ..core.failures import Failures
from ..core.pods.claims import claim_name
from ..core.pods.notes import Slot
from ..core.pods.template import Template
from ..core.rule import Reads
from ..core.volumes.assumecache import VolumeError
from ..core.volumes.intree import PLUGINS, handle_of, plugin_of
from ..core.volumes.match import claim_class
from .csimigration import migrated_plugins
from .reasons import MAX_VOLUME_COUNT_EXCEEDED
from .rule import has_volumes, predicate
from .volumecounts import NO_LIMIT, claim_fault, errors_of, nodes_limit_volumes, own_limit

NAME = "MaxCSIVolumeCountPred"
PREFIX = "attachable-volumes-csi-"
LONGEST_NAME = 63


@attrs.frozen
class Attachable:
    """A volume that a driver attaches: its identity and its limit. With *plugin* it counts only where the driver replaced that plugin."""

    identity: Hashable
    limit_key: str
    plugin: str | None = None


_VOLUMES: Mapping[bool, Slot[tuple[int, tuple[Attachable, ...] | str]]] = {
    True: Slot(f"{NAME} incoming"), False: Slot(NAME),
}  # fmt: skip
"""By whether the pod is to be scheduled: the version of the volumes, and the pod's own volumes."""


def csi_limit_key(driver: str) -> str:
    """The allocatable resource that limits a driver's volumes; a long driver name is cut and completed by a part of its SHA-1."""
    if len(PREFIX) + len(driver) < LONGEST_NAME:
        return PREFIX + driver
    return PREFIX + driver[:23] + hashlib.sha1(driver.encode()).hexdigest()[:16]


Found = tuple[str, Hashable, str | None]
"""Driver, handle and, for an in-tree volume, plugin."""


def _volumes(pod: Template, cycle: Cycle, *, incoming: bool = False) -> tuple[Attachable, ...] | str:
    """The volumes of *pod* that drivers attach, in order, or the error of one of its claims."""
    if not pod.spec.volumes:
        return ()
    version, slot = cycle.listings.volumes_version if pod.claims else 0, _VOLUMES[incoming]
    known = pod.notes.get(slot)
    if known is None or known[0] != version:
        faults = (claim_fault(pod, volume, cycle, incoming) for volume in pod.spec.volumes)
        fault = next((fault for fault in faults if fault is not None), None)
        known = pod.notes[slot] = (version, tuple(_read_volumes(pod, cycle)) if fault is None else fault)
    return known[1]


def _read_volumes(pod: Template, cycle: Cycle) -> Iterator[Attachable]:
    cells = cycle.algorithm.release.volumes
    for volume in pod.spec.volumes:
        name = claim_name(pod.pod, volume, cells.ephemeral_claims)
        found = _of_inline(volume, cycle) if name is None else _of_claim(f"{pod.namespace}/{name}", cycle)
        if found is not None:
            driver, handle, plugin = found
            # Upstream: before 1.16 equal handles of two drivers are one volume.
            identity = (driver, handle) if cells.csi_reads_migration else handle
            yield Attachable(identity, csi_limit_key(driver), plugin)


def _of_inline(volume: Volume, cycle: Cycle) -> Found | None:
    plugin = plugin_of(volume) if cycle.algorithm.release.volumes.inline_migrates else None
    if plugin is None:
        return None
    try:
        return PLUGINS[plugin].driver, PLUGINS[plugin].inline(volume), plugin
    except VolumeError:
        return None


def _of_claim(key: str, cycle: Cycle) -> Found | None:
    claim = cycle.listings.claims.get(key)
    volume = cycle.listings.volumes.get(claim.spec.volume_name) if claim is not None else None
    if volume is not None:
        return _of_volume(volume, cycle)
    return _of_class(claim, cycle) if claim is not None and cycle.algorithm.release.volumes.csi_reads_unbound_claims else None


def _of_volume(volume: PersistentVolume, cycle: Cycle) -> Found | None:
    csi, cells = volume.spec.source.csi, cycle.algorithm.release.volumes
    if csi is not None:
        counted = bool(csi.driver and csi.volume_handle) or not cells.csi_reads_unbound_claims
        return (csi.driver, csi.volume_handle, None) if counted else None
    plugin = plugin_of(volume.spec.source) if cells.csi_reads_migration else None
    handle = handle_of(plugin, volume, cells.zone_labels) if plugin is not None else None
    return (PLUGINS[plugin].driver, handle, plugin) if plugin is not None and handle else None


def _of_class(claim: PersistentVolumeClaim, cycle: Cycle) -> Found | None:
    """As :func:`_of_volume`, for a volume that does not exist yet: the claim's name is used as the handle."""
    migration = cycle.algorithm.release.volumes.csi_reads_migration
    found = cycle.listings.classes.get(claim_class(claim) if migration else claim.spec.storage_class_name or "")
    if found is None or not found.provisioner:
        return None
    handle = (claim.namespace, claim.name)
    if not migration or found.provisioner not in cycle.algorithm.release.volumes.migratable:
        return found.provisioner, handle, None
    plugin = PLUGINS.get(found.provisioner)
    return None if plugin is None else (plugin.driver, handle, found.provisioner)


@attrs.frozen
class Limits:
    """What limits volumes on n nodes. ``plugins``: an index into ``migrated`` for each node: int64[n]."""

    limited: Mask
    """Where the node has any limit: bool[n]."""
    by_key: dict[str, Ints]
    plugins: Ints
    migrated: list[frozenset[str]]


def _limits(keys: Iterable[str], nodes: Batch, cycle: Cycle) -> Limits:
    view = nodes.attachable
    by_key = {key: view.where(partial(own_limit, key), np.int64) for key in keys}
    found = Limits(view.present.copy(), by_key, np.zeros(nodes.n, np.int64), [frozenset()])
    if cycle.algorithm.release.volumes.csi_reads_migration and len(cycle.listings.csi_nodes):
        for i in range(nodes.n):
            _read_csi_node(i, nodes.name(i), found, cycle)
    return found


def _read_csi_node(i: int, name: str, limits: Limits, cycle: Cycle) -> None:
    csi_node = cycle.listings.csi_nodes.get(name)
    if csi_node is None:
        return
    for driver in csi_node.drivers:
        if driver.count is not None:
            limits.limited[i] = True
            numbers = limits.by_key.get(csi_limit_key(driver.name))
            if numbers is not None:
                numbers[i] = driver.count
    plugins = migrated_plugins(csi_node, cycle)
    if plugins:
        if plugins not in limits.migrated:
            limits.migrated.append(plugins)
        limits.plugins[i] = limits.migrated.index(plugins)


def _there(volumes: Iterable[Attachable], migrated: frozenset[str]) -> dict[Hashable, str]:
    """Volume -> limit key, for the volumes that a driver attaches where these plugins are replaced; of equal volumes the last counts."""
    return {volume.identity: volume.limit_key for volume in volumes if volume.plugin is None or volume.plugin in migrated}


def _attached(i: int, nodes: Batch, migrated: frozenset[str], cycle: Cycle) -> dict[Hashable, str] | str:
    """The volumes of the pods on node *i*, or the error of one of their claims."""
    attached: dict[Hashable, str] = {}
    for entry in nodes.pods(i):
        volumes = _volumes(entry.template, cycle)
        if isinstance(volumes, str):
            return volumes
        attached |= _there(volumes, migrated)
    return attached


def _exceeds(new: dict[Hashable, str], attached: dict[Hashable, str], limits: Limits, i: int) -> bool:
    before = Counter(attached.values())
    more = Counter(key for identity, key in new.items() if identity not in attached)
    numbers = {key: int(limits.by_key[key][i]) for key in more}
    return any(numbers[key] != NO_LIMIT and before[key] + count > numbers[key] for key, count in more.items())


@predicate(NAME, reads=Reads.PODS | Reads.VOLUMES | Reads.NODE, key=lambda pod: pod.claims, concerns=has_volumes)
def max_csi_volume_count(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes on which the volumes of a CSI driver, those of the pods there and of *pod*, would exceed the node's limit for it.

    Upstream: pkg/scheduler/algorithm/predicates/csi_volume_predicate.go NewCSIMaxVolumeLimitPredicate.
    """
    return csi_failures(pod, nodes, cycle) if nodes_limit_volumes(cycle) else None


def csi_failures(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """The objections to *nodes* because of volumes that drivers attach."""
    volumes = _volumes(pod, cycle, incoming=True)
    if not volumes:
        return None
    if isinstance(volumes, str):
        # Upstream: before 1.16 a node without limits fits before the claims are looked at.
        everywhere = cycle.algorithm.release.volumes.csi_reads_migration
        return Failures.error(volumes, np.ones(nodes.n, np.bool_) if everywhere else _limits((), nodes, cycle).limited)
    limits = _limits({volume.limit_key for volume in volumes}, nodes, cycle)
    news = [_there(volumes, migrated) for migrated in limits.migrated]
    judged = limits.limited & np.array([bool(new) for new in news])[limits.plugins]
    exceeded, faults = judged & _alone(news, limits), dict[int, str]()
    for i in nodes.with_volumes():
        if judged[i]:
            group = int(limits.plugins[i])
            attached = _attached(i, nodes, limits.migrated[group], cycle)
            if isinstance(attached, str):
                faults[i], exceeded[i] = attached, False
            else:
                exceeded[i] = _exceeds(news[group], attached, limits, i)
    return Failures.joined([errors_of(faults, nodes.n), Failures.where(MAX_VOLUME_COUNT_EXCEEDED, exceeded)])


def _alone(news: list[dict[Hashable, str]], limits: Limits) -> Mask:
    """Where the pod's own volumes alone exceed a limit: bool[n]."""
    found = np.zeros_like(limits.limited)
    for group, new in enumerate(news):
        here = limits.plugins == group
        for key, count in Counter(new.values()).items():
            found |= here & (limits.by_key[key] != NO_LIMIT) & (count > limits.by_key[key])
    return found
