"""The equivalence cache: a predicate's result for a class of pods is reused until an event invalidates it,
with all of upstream's gaps.

Only the releases with gate EnableEquivalenceClassCache have it. Two conditions of the invalidation are left
out, as no result depends on them: taints in annotations, and conditions whose texts alone changed. Upstream:
pkg/scheduler/core/equivalence/eqivalence.go; the invalidate functions of pkg/scheduler/factory/factory.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

import attrs
import numpy as np
from numpy.typing import NDArray

from ..api.meaning import BETA_PLACES
from ..api.objects import (
    NO_STRINGS,
    Container,
    KubeObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    Service,
    StorageClass,
    VolumeSource,
)
from .arrays import Failures, Mask, NodeTable, Reasons, Rows, grown
from .cluster.nominations import Nominations
from .cycle import Predicate
from .decision import FilterPass
from .release import Release

Gates = Mapping[str, bool]
Ends = Iterable[tuple[str, str | None]]
"""Predicate and node; None for every node."""

ALL = "*"
"""Every predicate."""
GENERAL = "GeneralPredicates"
CONDITION = "CheckNodeCondition"
TAINTS = "PodToleratesNodeTaints"
AFFINITY = "MatchInterPodAffinity"
SERVICES = "CheckServiceAffinity"
DISKS = "NoDiskConflict"
BINDING = "CheckVolumeBinding"
ZONE = "NoVolumeZoneConflict"
EBS = "MaxEBSVolumeCount"
GCE = "MaxGCEPDVolumeCount"
AZURE = "MaxAzureDiskVolumeCount"
CSI = "MaxCSIVolumeCountPred"
PRESSURES = {
    "MemoryPressure": "CheckNodeMemoryPressure",
    "DiskPressure": "CheckNodeDiskPressure",
    "PIDPressure": "CheckNodePIDPressure",
    "Ready": CONDITION,
    "OutOfDisk": CONDITION,
    "NetworkUnavailable": CONDITION,
}


def of_change(old: KubeObject | None, new: KubeObject | None, release: Release, gates: Gates) -> Ends:
    """The entries that end when an object is new (*old* is None), changes, or is deleted (*new* is None).
    Pods must be bound to a node."""
    match old, new:
        case Node(), Node():
            return [(name, old.name) for name in _of_changed_node(old, new)]
        case Node(), None:
            return [(ALL, old.name)]
        case Pod(), Pod():
            labels = [(AFFINITY, None)] if old.labels != new.labels else []
            requests = (
                [(GENERAL, old.spec.node_name)]
                if release.incoming(old, gates) != release.incoming(new, gates)
                else []
            )
            return [*labels, *requests]
        case Pod(), None:
            ended = of_pod_arrival(old, gates)
            kinds = ("gce_persistent_disk", "aws_elastic_block_store", "rbd", "iscsi")
            if any(getattr(volume, kind) is not None for volume in old.spec.volumes for kind in kinds):
                ended.add(DISKS)
            return [(AFFINITY, None), *((name, old.spec.node_name) for name in ended)]
    # Upstream: only the scheduler's own pods invalidate results, when they are assumed; pods bound by others
    # do not.
    return [(predicate, None) for predicate in _everywhere(old, new, gates)]


def _everywhere(old: KubeObject | None, new: KubeObject | None, gates: Gates) -> set[str]:
    """The entries that end on all nodes when an object, neither pod nor node, comes, changes or is
    deleted."""
    late = gates.get("VolumeScheduling", False)
    match old, new:
        case PersistentVolume(), PersistentVolume():
            changed_labels = (
                key for key in BETA_PLACES if key in new.labels and new.labels[key] != old.labels.get(key, "")
            )
            # Upstream: a removed zone label does not invalidate NoVolumeZoneConflict.
            return _binding(gates) | ({ZONE} if any(changed_labels) else set())
        case (PersistentVolume() as volume, None) | (None, PersistentVolume() as volume):
            ended = _source_predicates(volume.spec) & _counts(gates) | _binding(gates)
            return ended | ({ZONE} if any(key in volume.labels for key in BETA_PLACES) else set())
        case PersistentVolumeClaim(), PersistentVolumeClaim():
            # Upstream: an update does not invalidate NoVolumeZoneConflict; without gate VolumeScheduling
            # updates are ignored.
            return (
                _counts(gates) | {BINDING} if late and old.spec.volume_name != new.spec.volume_name else set()
            )
        case (PersistentVolumeClaim(), None) | (None, PersistentVolumeClaim()):
            return _counts(gates) | {ZONE} | _binding(gates)
        case StorageClass(volume_binding_mode="WaitForFirstConsumer"), None:
            return {BINDING, ZONE} if late else set()
        case Service(), Service():
            return {SERVICES} if old.selector != new.selector else set()
        case (Service(), None) | (None, Service()):
            return {SERVICES}
    return set()


# --- pods ---------------------------------------------------------------------------------------------------


def of_pod_arrival(pod: Pod, gates: Gates) -> set[str]:
    """The entries that end on a node when the scheduler puts *pod* there; upstream uses the same list when
    the pod leaves."""
    # Upstream: neither MatchInterPodAffinity nor NoDiskConflict is among them.
    ended = {GENERAL}
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            ended.update(_counts(gates))
        else:
            ended |= _source_predicates(volume) - {CSI}
    return ended


def _source_predicates(source: VolumeSource) -> set[str]:
    kinds = (
        (EBS, source.aws_elastic_block_store),
        (GCE, source.gce_persistent_disk),
        (AZURE, source.azure_disk),
        (CSI, source.csi),
    )
    return {name for name, source_part in kinds if source_part is not None}


# --- nodes and volumes --------------------------------------------------------------------------------------


def _of_changed_node(old: Node, new: Node) -> set[str]:
    old_statuses, new_statuses = (
        {condition.type: condition.status for condition in node.status.conditions} for node in (old, new)
    )
    ended = {
        predicate
        for kind, predicate in PRESSURES.items()
        if old_statuses.get(kind, "") != new_statuses.get(kind, "")
    }
    if old.labels != new.labels:
        # Upstream: a label that the node did not have before invalidates neither of the two below.
        changed_labels = {key for key, value in old.labels.items() if value != new.labels.get(key, "")}
        ended |= {GENERAL, SERVICES}
        if changed_labels:
            ended.add(AFFINITY)
        if changed_labels.intersection(BETA_PLACES):
            ended.add(ZONE)
    if _forms(old) != _forms(new):
        ended.add(GENERAL)
    if old.spec.taints != new.spec.taints:
        ended.add(TAINTS)
    if old.spec.unschedulable != new.spec.unschedulable:
        # Upstream: this invalidates CheckNodeCondition, but not CheckNodeUnschedulable.
        ended.add(CONDITION)
    return ended


def _forms(node: Node) -> dict[str, object]:
    return {name: amount.form for name, amount in node.status.allocatable.items()}


def _binding(gates: Gates) -> set[str]:
    return {BINDING} if gates.get("VolumeScheduling", False) else set()


def _counts(gates: Gates) -> set[str]:
    return {EBS, GCE, AZURE, CSI} if gates.get("AttachVolumeLimit", False) else {EBS, GCE, AZURE}


CachedRows = NDArray[np.int32]
"""The cached result of each row: 0 none, 1 it fits, 2 and more the number of its reasons."""
FITS = 1


def class_of(pod: Pod) -> Hashable:
    """The equivalence class of a pod. Upstream: getEquivalencePod, where it is hashed.

    Priority, annotations, owners and topology spread are no part of it; the written form of quantities is.
    """
    spec = pod.spec
    containers, inits = (
        tuple(map(_container_form, group)) for group in (spec.containers, spec.init_containers)
    )
    selector = spec.node_selector or NO_STRINGS
    return (
        pod.namespace,
        pod.labels,
        spec.affinity,
        containers,
        inits,
        spec.node_name,
        selector,
        spec.tolerations,
        spec.volumes,
    )


def _container_form(container: Container) -> Hashable:
    # Upstream: quantities are hashed in their written form, so 1000m and 1 make two classes.
    amounts = (
        frozenset((name, amount.form) for name, amount in part.items())
        for part in (container.requests, container.limits)
    )
    return (container, *amounts)


@attrs.define(eq=False, repr=False)
class Results:
    """The cached results of one predicate: class -> rows."""

    _rows_by_class: dict[int, CachedRows] = attrs.Factory(dict)
    _numbers: dict[Reasons, int] = attrs.Factory(dict)
    _reasons: dict[int, Reasons] = attrs.Factory(dict)

    def of(self, number: int, size: int) -> CachedRows | None:
        """The results for class *number*: int32[size]; None where there are none."""
        results = self._rows_by_class.get(number)
        if results is None:
            return None
        results = self._rows_by_class[number] = grown(results, size)
        return results[:size]

    def keep(self, number: int, size: int, rows: Rows, failures: Failures | None) -> None:
        """Cache the results found on *rows* for class *number*; errors are not cached."""
        results = self._rows_by_class[number] = grown(
            self._rows_by_class.get(number, np.zeros(0, np.int32)), size
        )
        if failures is None:
            results[rows] = FITS
            return
        rows = rows[failures.errors_or_zero[rows] == 0]
        codes = failures.codes[rows]
        results[rows] = FITS
        for code in np.unique(codes[codes > 0]).tolist():
            results[rows[codes == code]] = self._number(failures.sequences[code])

    def _number(self, reasons: Reasons) -> int:
        number = self._numbers.setdefault(reasons, len(self._numbers) + FITS + 1)
        self._reasons[number] = reasons
        return number

    def over(self, fresh: Failures | None, cached: CachedRows, hits: Mask) -> Failures | None:
        """*fresh*, with cached results in place of it on *hits*."""
        base = fresh if fresh is not None else Failures(np.zeros(len(cached), np.int64), {})
        offset = max(base.sequences, default=0)
        codes = np.where(hits, np.where(cached > FITS, cached + offset, 0), base.codes)
        errors = None if base.errors is None else np.where(hits, 0, base.errors)
        if not codes.any() and (errors is None or not errors.any()):
            return None
        used = np.unique(cached[hits & (cached > FITS)]).tolist()
        return Failures(
            codes,
            {**base.sequences, **{number + offset: self._reasons[number] for number in used}},
            errors,
            base.texts,
        )

    def end_on(self, row: int) -> None:
        """Invalidate the results of *row*."""
        for results in self._rows_by_class.values():
            if row < len(results):
                results[row] = 0

    def end(self) -> None:
        """Invalidate all results."""
        self._rows_by_class.clear()


@attrs.define(eq=False, repr=False)
class EquivalenceCache:
    """The results of all predicates on the nodes of *table*.

    Here cycles and events take turns, so a result cannot be stale when it is stored; upstream has to check
    for that.
    """

    table: NodeTable
    release: Release
    gates: Gates
    read_only: bool = False
    """Whether nothing new is cached."""
    _results: dict[str, Results] = attrs.Factory(dict)
    _classes: dict[Hashable, int] = attrs.Factory(dict)

    def view(self, pod: Pod, nominations: Nominations) -> CacheView:
        """The results for the class of *pod*, for one search over the whole table. The snapshot must be up to
        date."""
        number = self._classes.setdefault(class_of(pod), len(self._classes))
        usable = np.ones(self.table.size, np.bool_)
        # Upstream: the cache is not used for a node with any nominated pod, whatever its priority.
        usable[[self.table.row_of[name] for name in nominations if name in self.table.row_of]] = False
        return CacheView(self, number, usable)

    def frozen(self) -> EquivalenceCache:
        """The same results, for reading only."""
        return attrs.evolve(self, read_only=True, results=self._results, classes=dict(self._classes))

    def results(self, predicate: str) -> Results:
        """The results of *predicate*."""
        return self._results.setdefault(predicate, Results())

    # --- invalidation ---------------------------------------------------------------------------------------

    def follow(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """Invalidate results when an object is new (*old* is None), changed, or deleted (*new* is None).
        Scheduler and listings must be up to date."""
        for predicate, node_name in of_change(old, new, self.release, self.gates):
            self._end(predicate, node_name)

    def pod_assumed(self, pod: Pod, node_name: str) -> None:
        """Invalidate results when *pod* is assumed on the node."""
        for predicate in of_pod_arrival(pod, self.gates):
            self._end(predicate, node_name)

    def volumes_assumed(self) -> None:
        """Invalidate results when a pod's volumes were assumed, or it has none, or assuming them failed."""
        for predicate in _binding(self.gates):
            self._end(predicate, None)

    def _end(self, predicate: str, node_name: str | None) -> None:
        ended_results = (
            self._results.values()
            if predicate == ALL
            else (self._results[predicate],)
            if predicate in self._results
            else ()
        )
        row = None if node_name is None else self.table.row_of.get(node_name, -1)
        for results in ended_results:
            if row is None:
                results.end()
            elif row >= 0:
                results.end_on(row)


@attrs.define(eq=False, repr=False)
class CacheView:
    """The view of the cache for one search: cached results replace fresh ones, and evaluated results are
    cached afterwards."""

    cache: EquivalenceCache
    number: int
    """The pod's class."""
    usable: Mask
    """Rows for which the cache may be used."""
    hits: dict[str, Mask] = attrs.Factory(dict)
    """Predicate -> rows with a cache hit; absent where there is none."""

    def over(self, predicate: Predicate, fresh: Failures | None) -> Failures | None:
        """The failures of *predicate* on the rows of the table; *fresh*: its latest answer."""
        results = self.cache.results(predicate.name)
        cached = results.of(self.number, len(self.usable))
        if cached is None:
            return fresh
        hits = (cached > 0) & self.usable
        if not hits.any():
            return fresh
        self.hits[predicate.name] = hits
        return results.over(fresh, cached, hits)

    def keep(self, judgement: FilterPass, visited: Rows) -> None:
        """Cache the answer of each predicate for those *visited* rows on which it was evaluated."""
        if self.cache.read_only:
            return
        visited = visited[self.usable[visited]]
        failures_by_name = {predicate.name: failures for predicate, failures in judgement.findings}
        for name in [predicate.name for predicate in judgement.predicates]:
            evaluated = visited[judgement.reached(name)[visited]]
            if len(evaluated):
                self.cache.results(name).keep(
                    self.number, len(self.usable), evaluated, failures_by_name.get(name)
                )
