"""The volume binder: which volumes pods would get on nodes, and what is assumed of volumes and claims when a
pod has a node.

Upstream: pkg/controller/volume/scheduling/scheduler_binder.go (before 1.15 in
pkg/controller/volume/persistentvolume).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import attrs
import numpy as np
from msgspec.structs import replace

from ...api.objects import KubeObject, Map, ObjectReference, PersistentVolume, PersistentVolumeClaim, Pod
from ..arrays.batch import Batch
from ..arrays.table import NodeTable
from ..binding import UNDECIDED, Finding, PodClaims, VolumeDecision
from ..cluster.listings import Listing, Listings
from ..pods.template import claim_keys, claim_name, has_ephemeral_claims, is_made_for_pod, not_owned
from ..release import Release
from .assumecache import AssumeCache, VolumeError
from .match import is_bound_to, volume_class
from .volumesearch import SELECTED_NODE, VolumeSearch, is_fully_bound

SOLE_USER = "ReadWriteOncePod"
"""The access mode of a claim that one pod alone may use."""
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"


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


@attrs.define(eq=False, repr=False)
class VolumeBinder:
    """See :class:`~kubeclassic.core.binding.Binder`, which says what the methods do. It also knows its own
    assumptions."""

    release: Release
    gates: Mapping[str, bool]
    listings: Listings
    skips_nodes: bool = False
    """A cycle may skip nodes, as with the equivalence cache; earlier decisions about those nodes then
    stay."""
    volumes: AssumeCache[PersistentVolume] = attrs.field(init=False)
    claims: AssumeCache[PersistentVolumeClaim] = attrs.field(init=False)
    _search: VolumeSearch = attrs.field(init=False)
    _decisions: dict[str, dict[str, VolumeDecision]] = attrs.Factory(dict)
    """Pod -> node -> what was decided or, later, assumed."""
    _asked: dict[str, NodeTable] = attrs.Factory(dict)
    """Pod -> the table for whose nodes decisions were asked; each is worked out only when it is needed."""

    def __attrs_post_init__(self) -> None:
        self.volumes = AssumeCache(
            "v1.PersistentVolume",
            volume_class
            if self.release.volumes.groups_by_beta_class
            else attrgetter("spec.storage_class_name"),
        )
        self.claims = AssumeCache("v1.PersistentVolumeClaim")
        for item in (*self.listings.volumes, *self.listings.claims):
            self.put(item)
        self._search = VolumeSearch(
            self.release.volumes, self.gates, self.listings, self.volumes, self.claims
        )

    @property
    def enabled(self) -> bool:
        return not self.release.volumes.binding_gate or bool(self.gates.get("VolumeScheduling", False))

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

    def find(self, claims: Sequence[str], nodes: Batch) -> Finding:
        return self._search.find(claims, nodes)

    def needs(self, claims: Sequence[str]) -> PodClaims:
        return self._search.needs(claims)

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
        """Store for :meth:`assume` what *pod* would get on each of *nodes*.

        Upstream: FindPodVolumes stores it for each node that it is asked about. Where a release keeps nothing
        of earlier cycles, the stored decision for the chosen node is the one that would be found now, so it
        is worked out later.
        """
        adds_up = self.release.volumes.keeps_stale_decisions
        if not adds_up and not self.skips_nodes:
            self._asked[pod.key] = nodes.table
            return
        finding = self.find(claims, nodes)
        stored = self._decisions.setdefault(pod.key, {})
        for i in range(nodes.n):
            found = finding.decision(i)
            before = stored.get(nodes.name(i), UNDECIDED) if adds_up else UNDECIDED
            # Upstream: bindings and provisionings are replaced separately, and never by an empty list.
            stored[nodes.name(i)] = VolumeDecision(
                found.bindings or before.bindings, found.provisionings or before.provisionings
            )

    def forget(self, pod: Pod) -> None:
        self._decisions.pop(pod.key, None)
        self._asked.pop(pod.key, None)

    @contextmanager
    def undone(self, pod: Pod) -> Iterator[None]:
        asked = self._asked.get(pod.key)
        decided = dict(self._decisions.get(pod.key, {}))
        try:
            yield
        finally:
            self.forget(pod)
            if asked is not None:
                self._asked[pod.key] = asked
            if decided:
                self._decisions[pod.key] = decided

    def assume(self, pod: Pod, node_name: str) -> bool:
        """Assume that *pod* gets what was decided for the node; answers whether all its claims had volumes
        already.

        Raises :class:`VolumeError`, and then nothing of it stays assumed. Upstream: AssumePodVolumes.
        """
        claims = (
            claim_keys(pod, has_ephemeral_claims(self.release.volumes, self.gates)) if self.enabled else ()
        )
        try:
            is_bound = all(is_fully_bound(self.claims.get(key)) for key in claims)
        except VolumeError:
            is_bound = False
        if is_bound:
            self._asked.pop(pod.key, None)
            return True
        table = self._asked.get(pod.key)
        if table is None:
            decision = self._decisions.get(pod.key, {}).get(node_name, UNDECIDED)
        else:
            nodes = Batch(table, np.array([table.row_of[node_name]], np.intp))
            decision = self.find(claims, nodes).decision(0)
        made = VolumeDecision(
            tuple((_for_claim(volume, claim), claim) for volume, claim in decision.bindings),
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
            for (volume, _), (before, _) in zip(made.bindings, decision.bindings, strict=True):
                if volume is not before:
                    self.volumes.assume(volume)
                assumed.append(volume)
            for claim in made.provisionings:
                self.claims.assume(claim)
                assumed.append(claim)
        except VolumeError:
            self.restore(assumed)
            raise
        if not self.release.volumes.keeps_stale_decisions and not self.skips_nodes:
            self.forget(pod)
        self._decisions.setdefault(pod.key, {})[node_name] = made
        return False

    def revert(self, pod: Pod, node_name: str) -> None:
        made = self._decisions.get(pod.key, {}).pop(node_name, UNDECIDED)
        self.restore((*(volume for volume, _ in made.bindings), *made.provisionings))

    def restore(self, items: Iterable[KubeObject]) -> None:
        for item in items:
            self._cache_of(item).restore(item.key)

    def bind(self, pod: Pod) -> tuple[KubeObject, ...]:
        """The volumes, then the claims, that are to be written to the API for *pod*, which is on its node.

        Raises :class:`VolumeError` where nothing was assumed for it. Upstream: BindPodVolumes.
        """
        decision = self._decisions.get(pod.key, {}).get(pod.spec.node_name)
        if decision is None:
            raise VolumeError(f'failed to get cached bindings for pod "{pod.key}"')
        return (*(volume for volume, _ in decision.bindings), *decision.provisionings)


def _for_claim(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """*volume* as bound to *claim*; *volume* itself if it is bound to it already."""
    reference = ObjectReference(kind=claim.kind, namespace=claim.namespace, name=claim.name, uid=claim.uid)
    old = volume.spec.claim_ref
    annotations = volume.annotations
    if not is_bound_to(volume, claim) and BOUND_BY_CONTROLLER not in annotations:
        annotations = Map({**annotations, BOUND_BY_CONTROLLER: "yes"})
    named = old is not None and (old.namespace, old.name, old.uid) == (claim.namespace, claim.name, claim.uid)
    if named and annotations is volume.annotations:
        return volume
    return replace(
        volume,
        metadata=replace(volume.metadata, annotations=annotations),
        spec=volume.spec if named else replace(volume.spec, claim_ref=reference),
    )
