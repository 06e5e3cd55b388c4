"""The volume binder: the volumes that pods would get on nodes, and assumed changes of volumes and claims.

Upstream: pkg/controller/volume/scheduling/scheduler_binder.go (before 1.15 in
pkg/controller/volume/persistentvolume).
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, Generic, TypeVar

import numpy as np
from attrs import Factory, define, field
from msgspec.structs import replace

from ...api.meaning import BOUND_BY_CONTROLLER, DELAYED, is_bound_to, requested_size, volume_class
from ...api.objects import (
    BIND_COMPLETED,
    KubeObject,
    LabelSelector,
    Map,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from ..arrays import Batch, Mask, NodeTable
from ..binding import UNDECIDED, Finding, PodClaims, VolumeDecision, VolumeError
from ..cluster.listings import Listing, Listings
from ..matching import node_selector_mask, selector_error
from ..pods import claim_keys, claim_name, has_ephemeral_claims, is_made_for_pod, not_owned
from ..release import VolumeCells
from .intree import MIGRATED_PLUGINS, PLUGINS, may_migrate, plugin_of, translated_affinity
from .match import VolumeMatcher, can_provision, storage_left

# --- Volumes or claims, with changes that are assumed before the API has them -------------------------------
# Upstream: pkg/controller/volume/scheduling/scheduler_assume_cache.go (before 1.15 in
# pkg/controller/volume/persistentvolume).


Kind = TypeVar("Kind", bound=KubeObject)


@define(eq=False, repr=False)
class AssumeCache(Generic[Kind]):
    """The objects of one kind by key, as in the API and as assumed; *version* grows with every change.

    ``group``: the part of an object by which :meth:`within` finds it.
    """

    kind: str
    """The kind as upstream's errors write it, such as ``v1.PersistentVolume``."""
    group: Callable[[Kind], str] = attrgetter("namespace")
    version: int = 0
    _latest: dict[str, Kind] = Factory(dict)
    _stored: dict[str, Kind] = Factory(dict)
    _groups: dict[str, list[str]] = Factory(dict)

    def get(self, key: str) -> Kind:
        """The object with its assumed changes; raises :class:`VolumeError` where there is none."""
        item = self._latest.get(key)
        if item is None:
            raise VolumeError(f'could not find {self.kind} "{key}"')
        return item

    def within(self, group: str) -> list[Kind]:
        """The objects of *group* with their assumed changes, in ascending order of key."""
        return [self._latest[key] for key in self._groups.get(group, ())]

    def put(self, item: Kind) -> None:
        """Store an object of the API if it is newer than the known one; this ends an assumption."""
        key = item.key
        current = self._latest.get(key)
        if current is not None:
            try:
                version = self._number(item)
                stored = self._number(current)
            except VolumeError:
                return
            # Upstream: an event that is not newer than the assumed object is dropped, even if it has the same
            # version.
            if version is not None and stored is not None and version <= stored:
                return
            self._ungroup(current)
        self._latest[key] = self._stored[key] = item
        insort(self._groups.setdefault(self.group(item), []), key)
        self.version += 1

    def drop(self, key: str) -> None:
        """Forget an object, if it is known."""
        current = self._latest.pop(key, None)
        if current is not None:
            self._ungroup(current)
            del self._stored[key]
            self.version += 1

    def assume(self, item: Kind) -> None:
        """Replace an object until the API sends a newer one; raises :class:`VolumeError` where it is unknown
        or newer already."""
        current = self.get(item.key)
        version = self._number(item)
        stored = self._number(current)
        if version is not None and stored is not None and version < stored:
            raise VolumeError(f'{self.kind} "{item.key}" is out of sync')
        self._latest[item.key] = item
        self.version += 1

    def restore(self, key: str) -> None:
        """Undo the assumed changes of an object, if it is still known."""
        if key in self._stored:
            self._latest[key] = self._stored[key]
            self.version += 1

    def _ungroup(self, item: Kind) -> None:
        keys = self._groups[self.group(item)]
        del keys[bisect_left(keys, item.key)]

    def _number(self, item: Kind) -> int | None:
        """The resourceVersion; None where a manifest has none: it counts as newer than all others."""
        text = item.metadata.resource_version
        if not text:
            return None
        if re.fullmatch(r"[+-]?[0-9]+", text) is None:
            raise VolumeError(
                f'error parsing ResourceVersion "{text}" for {self.kind} "{item.key}": '
                f'strconv.ParseInt: parsing "{text}": invalid syntax'
            )
        return int(text)


# --- The binder ---------------------------------------------------------------------------------------------


SELECTED_NODE = "volume.kubernetes.io/selected-node"
UNBOUND_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"
SOLE_USER = "ReadWriteOncePod"
"""The access mode of a claim that only one pod may use."""


def is_fully_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether *claim* has a volume and the volume controller has finished binding it."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.annotations


def delays_binding(kind: StorageClass) -> bool:
    """Whether volumes of class *kind* are bound only when a pod has a node. Raises :class:`VolumeError`."""
    if kind.volume_binding_mode is None:
        raise VolumeError(f'VolumeBindingMode not set for StorageClass "{kind.name}"')
    return kind.volume_binding_mode == DELAYED


def basic_checks(
    pod: Pod, claims: Listing[PersistentVolumeClaim], ephemeral: bool = False, foreign: str = ""
) -> str | None:
    """The refusal of *pod* before any rule: one of its claims is missing or being deleted; None where there
    is no such claim.

    *ephemeral*: generic ephemeral volumes have claims; *foreign*: the text for one that was not made for the
    pod. Upstream: pkg/scheduler/core/generic_scheduler.go podPassesBasicChecks.
    """
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume, ephemeral)
        if name is None:
            continue
        claim = claims.get(f"{pod.namespace}/{name}")
        if claim is None:
            return f'persistentvolumeclaim "{name}" not found'
        if claim.metadata.deletion_timestamp is not None:
            return f'persistentvolumeclaim "{name}" is being deleted'
        if is_made_for_pod(volume) and (text := not_owned(pod, claim, foreign)):
            return text
    return None


@define(eq=False, repr=False)
class VolumeBinder:
    """See :class:`~kubeclassic.core.binding.Binder`, which says what the methods do. It also knows its own
    assumptions."""

    cells: VolumeCells
    gates: Mapping[str, bool]
    listings: Listings
    selector_fault: Callable[[LabelSelector], str | None] = selector_error
    """The error of an invalid selector of a claim."""
    skips_nodes: bool = False
    """A cycle may skip nodes, as with the equivalence cache; earlier decisions about those nodes then
    stay."""
    volumes: AssumeCache[PersistentVolume] = field(init=False)
    claims: AssumeCache[PersistentVolumeClaim] = field(init=False)
    _decisions: dict[str, dict[str, VolumeDecision]] = Factory(dict)
    """Pod -> node -> its volumes, as decided or, later, assumed."""
    _table_by_pod: dict[str, NodeTable] = Factory(dict)
    """Pod -> the table of the nodes that decisions were asked for; each is computed only when needed."""

    def __attrs_post_init__(self) -> None:
        self.volumes = AssumeCache(
            "v1.PersistentVolume",
            volume_class if self.cells.groups_by_beta_class else attrgetter("spec.storage_class_name"),
        )
        self.claims = AssumeCache("v1.PersistentVolumeClaim")
        for item in (*self.listings.volumes, *self.listings.claims):
            self.put(item)

    @property
    def enabled(self) -> bool:
        return not self.cells.binding_gate or bool(self.gates.get("VolumeScheduling"))

    @property
    def version(self) -> int:
        return self.volumes.version + self.claims.version + self.listings.classes.version

    def put(self, item: PersistentVolume | PersistentVolumeClaim) -> None:
        # Upstream: an object older than the binder's own is dropped here, whether or not the listings take
        # it.
        self._cache_of(item).put(item)

    def drop(self, item: PersistentVolume | PersistentVolumeClaim) -> None:
        self._cache_of(item).drop(item.key)

    def _cache_of(self, item: KubeObject) -> AssumeCache[Any]:
        return self.volumes if isinstance(item, PersistentVolume) else self.claims

    def are_settled(self, claims: Sequence[str]) -> bool:
        try:
            needs = self.needs(claims)
        except VolumeError:
            return False
        has_sole_user = any(SOLE_USER in claim.spec.access_modes for claim in needs.bound)
        return not (needs.delayed or needs.immediate or has_sole_user)

    def volume(self, name: str) -> PersistentVolume:
        return self.volumes.get(name)

    def remember(self, pod: Pod, claims: Sequence[str], nodes: Batch) -> None:
        """Store for :meth:`assume` the volumes of *pod* on each of *nodes*.

        Upstream: FindPodVolumes stores them for each node that it is asked about. Where a release keeps
        nothing of earlier cycles, the stored decision for the chosen node equals one made now, so it is
        computed later.
        """
        key = pod.key
        adds_up = self.cells.keeps_stale_decisions
        if not adds_up and not self.skips_nodes:
            self._table_by_pod[key] = nodes.table
            return
        finding = self.find(claims, nodes)
        stored = self._decisions.setdefault(key, {})
        for i in range(nodes.n):
            decision = finding.decision(i)
            previous = stored.get(nodes.name(i), UNDECIDED) if adds_up else UNDECIDED
            # Upstream: bindings and provisionings are replaced separately, and never by an empty list.
            stored[nodes.name(i)] = VolumeDecision(
                decision.bindings or previous.bindings, decision.provisionings or previous.provisionings
            )

    def forget(self, pod: Pod) -> None:
        self._decisions.pop(pod.key, None)
        self._table_by_pod.pop(pod.key, None)

    @contextmanager
    def undone(self, pod: Pod) -> Iterator[None]:
        key = pod.key
        table = self._table_by_pod.get(key)
        decisions = dict(self._decisions.get(key, {}))
        try:
            yield
        finally:
            self.forget(pod)
            if table is not None:
                self._table_by_pod[key] = table
            if decisions:
                self._decisions[key] = decisions

    def assume(self, pod: Pod, node_name: str) -> bool:
        """Assume the decision for *pod* on the node. Returns whether all its claims had volumes already.

        Raises :class:`VolumeError`, and then nothing of it stays assumed. Upstream: AssumePodVolumes.
        """
        key = pod.key
        claims = claim_keys(pod, has_ephemeral_claims(self.cells, self.gates)) if self.enabled else ()
        try:
            is_bound = all(is_fully_bound(self.claims.get(claim)) for claim in claims)
        except VolumeError:
            is_bound = False
        if is_bound:
            self._table_by_pod.pop(key, None)
            return True
        table = self._table_by_pod.get(key)
        if table is None:
            decision = self._decisions.get(key, {}).get(node_name, UNDECIDED)
        else:
            nodes = Batch(table, np.array([table.row_of[node_name]], np.intp))
            decision = self.find(claims, nodes).decision(0)
        assumed_decision = VolumeDecision(
            tuple((_bound_to(volume, claim), claim) for volume, claim in decision.bindings),
            tuple(
                replace(
                    claim,
                    metadata=replace(
                        claim.metadata, annotations=Map({**claim.annotations, SELECTED_NODE: node_name})
                    ),
                )
                for claim in decision.provisionings
            ),
        )
        assumed: list[KubeObject] = []
        try:
            for (volume, _), (unbound_volume, _) in zip(
                assumed_decision.bindings, decision.bindings, strict=True
            ):
                if volume is not unbound_volume:
                    self.volumes.assume(volume)
                assumed.append(volume)
            for claim in assumed_decision.provisionings:
                self.claims.assume(claim)
                assumed.append(claim)
        except VolumeError:
            self.restore(assumed)
            raise
        if not self.cells.keeps_stale_decisions and not self.skips_nodes:
            self.forget(pod)
        self._decisions.setdefault(key, {})[node_name] = assumed_decision
        return False

    def revert(self, pod: Pod, node_name: str) -> None:
        decision = self._decisions.get(pod.key, {}).pop(node_name, UNDECIDED)
        self.restore((*(volume for volume, _ in decision.bindings), *decision.provisionings))

    def restore(self, items: Iterable[KubeObject]) -> None:
        for item in items:
            self._cache_of(item).restore(item.key)

    def bind(self, pod: Pod) -> tuple[KubeObject, ...]:
        """The volumes, then the claims, to be written to the API for *pod*, which has its node.

        Raises :class:`VolumeError` where nothing was assumed for it. Upstream: BindPodVolumes.
        """
        decision = self._decisions.get(pod.key, {}).get(pod.node_name)
        if decision is None:
            raise VolumeError(f'failed to get cached bindings for pod "{pod.key}"')
        return (*(volume for volume, _ in decision.bindings), *decision.provisionings)

    # --- the search -----------------------------------------------------------------------------------------
    # Bound volumes within reach, free volumes that match, or new ones to provision. Upstream: FindPodVolumes.
    # It stores nothing.

    def find(self, claims: Sequence[str], nodes: Batch) -> Finding:
        """The volumes of each of *nodes* for the claims with these keys."""
        finding = Finding.of(nodes.n)
        matcher = VolumeMatcher(
            nodes,
            self.cells,
            bool(self.gates.get("BlockVolume")),
            bool(self.gates.get(self.cells.attributes_class_gate)),
            self.selector_fault,
        )
        try:
            needs = self.needs(claims)
            if needs.immediate:
                raise VolumeError(UNBOUND_IMMEDIATE)
        except VolumeError as error:
            finding.fail(str(error), nodes.every())
            return finding
        for claim in needs.bound:
            # Upstream: the first volume that the node cannot reach ends the check, so a missing one after it
            # is not noticed.
            try:
                volume = self.volumes.get(claim.spec.volume_name)
            except VolumeError as error:
                if self.cells.missing_volume_is_reason:
                    finding.exists &= ~finding.bound
                    break
                finding.fail(str(error), finding.bound)
                continue
            finding.bound &= self._reach(volume, matcher, finding)
        if needs.delayed:
            self._find_unbound(needs, matcher, finding)
        return finding

    def needs(self, claims: Sequence[str]) -> PodClaims:
        """The needs of the claims with these keys; raises :class:`VolumeError` for a claim without an answer.
        Upstream: GetPodVolumeClaims."""
        needs = PodClaims()
        for key in claims:
            try:
                claim = self.claims.get(key)
            except VolumeError as error:
                name = key if self.cells.claim_text_has_namespace else key.partition("/")[2]
                raise VolumeError(f'error getting PVC "{name}": {error}') from error
            if is_fully_bound(claim):
                needs.bound.append(claim)
                continue
            kind = self.listings.classes.get(claim.storage_class)
            if self.cells.selected_node_is_immediate and SELECTED_NODE in claim.annotations:
                kind = None
            if kind is not None and delays_binding(kind) and not claim.spec.volume_name:
                needs.delayed.append((claim, kind))
            else:
                needs.immediate.append(claim)
        return needs

    def _reach(self, volume: PersistentVolume, matcher: VolumeMatcher, finding: Finding) -> Mask:
        """The nodes that can reach a bound volume: bool[n]."""
        nodes = matcher.nodes
        mask = np.isin(np.arange(nodes.n), matcher.reach(volume))
        plugin = plugin_of(volume.spec) if self.cells.translates_bound_volumes else None
        replaced = self._migrated_nodes(plugin, nodes) if plugin is not None else None
        if plugin is None or replaced is None:
            return mask
        affinity = volume.spec.node_affinity
        try:
            PLUGINS[plugin].handle(volume, self.cells.zone_labels)
            affinity = translated_affinity(plugin, volume, self.cells.beta_zones_alone)
        except VolumeError as error:
            finding.fail(f"could not translate pv: {error}", replaced & finding.bound)
        by_driver = nodes.every() if affinity is None else node_selector_mask(affinity, nodes, fields=False)
        return np.where(replaced, by_driver, mask)

    def _migrated_nodes(self, plugin: str, nodes: Batch) -> Mask | None:
        """The nodes whose CSINode says that a driver has taken over *plugin*: bool[n]; None where none
        does."""
        if not may_migrate(plugin, self.cells, self.gates):
            return None
        rows = [
            row
            for csi_node in self.listings.csi_nodes
            if plugin in csi_node.annotations.get(MIGRATED_PLUGINS, "").split(",")
            for row in nodes.table.rows_of(csi_node.name)
        ]
        return np.isin(nodes.indexes, rows) if rows else None

    def _find_unbound(self, needs: PodClaims, matcher: VolumeMatcher, finding: Finding) -> None:
        nodes = matcher.nodes
        finding.decided = finding.errors == 0
        with_selected_node = [pair for pair in needs.delayed if SELECTED_NODE in pair[0].annotations]
        for claim, _ in with_selected_node:
            selected_node = nodes.named(claim.annotations[SELECTED_NODE])
            finding.unbound &= selected_node
            finding.decided &= selected_node
        unselected = [pair for pair in needs.delayed if SELECTED_NODE not in pair[0].annotations]
        # Upstream: the sort is unstable, which makes no difference below twelve claims.
        unselected.sort(key=lambda pair: requested_size(pair[0]))
        for claim, _ in unselected:
            name = claim.spec.storage_class_name or ""
            if self.cells.matches_by_beta_class:
                name = claim.storage_class
            try:
                numbers, failed = matcher.match(claim, self.volumes.within(name))
            except VolumeError as error:
                finding.fail(str(error), finding.decided)
                numbers = np.full(nodes.n, -1, np.int64)
                failed = None
            if failed is not None:
                finding.fail(
                    "error checking if volumeMode was a mismatch: api defaulting for volumeMode failed",
                    failed & finding.decided,
                )
            finding.matches.append((claim, numbers))
            finding.volumes = matcher.volumes
        kinds = [kind for _, kind in (*with_selected_node, *unselected)]
        everywhere = nodes.every()
        finding.provisions = [(claim, everywhere) for claim, _ in with_selected_node]
        finding.provisions += [(claim, numbers < 0) for claim, numbers in finding.matches]
        # The nodes where volumes can be provisioned for all claims that need one; the first claim that fails
        # gives the reason.
        pending = everywhere.copy()
        for kind, (claim, where_needed) in zip(kinds, finding.provisions, strict=True):
            if where_needed.any():
                is_provided = ~where_needed | can_provision(kind, nodes)
                finding.unbound &= is_provided | ~pending
                pending &= is_provided
                gate = self.cells.storage_capacity_gate
                if self.cells.checks_storage_capacity and (not gate or bool(self.gates.get(gate))):
                    storage = storage_left(kind, claim, nodes, self.listings, self.cells.reads_maximum_size)
                    enough = ~where_needed | (True if storage is None else storage[0])
                    finding.enough &= enough | ~pending | ~finding.decided
                    pending &= enough
        finding.provided = pending


def _bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """*volume* as bound to *claim*; *volume* itself if it is bound to it already."""
    reference = ObjectReference(kind=claim.kind, namespace=claim.namespace, name=claim.name, uid=claim.uid)
    old = volume.spec.claim_ref
    annotations = volume.annotations
    if not is_bound_to(volume, claim) and BOUND_BY_CONTROLLER not in annotations:
        annotations = Map({**annotations, BOUND_BY_CONTROLLER: "yes"})
    same = old is not None and (old.namespace, old.name, old.uid) == (claim.namespace, claim.name, claim.uid)
    if same and annotations is volume.annotations:
        return volume
    return replace(
        volume,
        metadata=replace(volume.metadata, annotations=annotations),
        spec=volume.spec if same else replace(volume.spec, claim_ref=reference),
    )
