"""The interface of the volume binder, and the form of its answers. The binder itself is in
:mod:`.volumes.binder`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import attrs
import numpy as np

from ..api.objects import KubeObject, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from .arrays import Batch, Codes, Failures, Ints, Mask


class VolumeError(Exception):
    """A question about volumes has no answer; the text is upstream's own."""


@attrs.frozen(repr=False)
class VolumeDecision:
    """The volumes of a pod on one node: volumes for its claims, and claims whose volumes have to be
    provisioned."""

    bindings: tuple[tuple[PersistentVolume, PersistentVolumeClaim], ...] = ()
    provisionings: tuple[PersistentVolumeClaim, ...] = ()


UNDECIDED = VolumeDecision()


@attrs.define(eq=False, repr=False)
class Finding:
    """The nodes of n that can serve a pod's claims, and how.

    ``unbound``: bool[n], False where a claim without a volume cannot get one. ``bound``: bool[n], False where
    a claim's volume is out of reach. ``errors``: int64[n], 0 or 1 + the index into ``texts`` of the node's
    error.
    """

    unbound: Mask
    bound: Mask
    errors: Codes
    texts: list[str] = attrs.Factory(list)
    volumes: Sequence[PersistentVolume] = ()
    """The volumes that ``matches`` names by their index."""
    matches: list[tuple[PersistentVolumeClaim, Ints]] = attrs.Factory(list)
    """Each claim with the index into ``volumes`` of its volume on each node: int64[n], -1 for none."""
    provisions: list[tuple[PersistentVolumeClaim, Mask]] = attrs.Factory(list)
    """The claims whose volumes have to be provisioned, each with the nodes for that: bool[n]."""
    decided: Mask = attrs.field(init=False)
    """Nodes for which the search reached the step that finds volumes for claims: bool[n]."""
    provided: Mask = attrs.field(init=False)
    """Nodes for which every missing volume can be provisioned: bool[n]."""
    exists: Mask = attrs.field(init=False)
    """False where a claim is bound to a missing volume, in releases where that is no error: bool[n]."""
    enough: Mask = attrs.field(init=False)
    """False where there is too little storage to provision volumes: bool[n]."""

    def __attrs_post_init__(self) -> None:
        self.decided, self.provided = np.zeros_like(self.bound), np.zeros_like(self.bound)
        self.exists, self.enough = np.ones_like(self.bound), np.ones_like(self.bound)

    @classmethod
    def of(cls, n: int) -> Finding:
        """A finding with no objection to any of *n* nodes yet."""
        return cls(np.ones(n, np.bool_), np.ones(n, np.bool_), np.zeros(n, np.int64))

    def fail(self, text: str, mask: Mask) -> None:
        """Set error *text* on the nodes of *mask*, bool[n], that have no earlier error."""
        self.texts.append(text)
        self.errors[mask & (self.errors == 0)] = len(self.texts)

    def failures(self) -> list[Failures | None]:
        """The errors, each on its nodes."""
        return [Failures.error(text, self.errors == code) for code, text in enumerate(self.texts, 1)]

    def decision(self, i: int) -> VolumeDecision:
        """The volumes of the pod on node *i*."""
        if not self.decided[i] or self.errors[i]:
            return UNDECIDED
        bindings = tuple(
            (self.volumes[numbers[i]], claim) for claim, numbers in self.matches if numbers[i] >= 0
        )
        claims = tuple(claim for claim, mask in self.provisions if mask[i]) if self.provided[i] else ()
        return VolumeDecision(bindings, claims)


@attrs.frozen(repr=False)
class PodClaims:
    """A pod's claims by kind: bound; delayed (they wait for their first consumer), with their class; and
    immediate."""

    bound: list[PersistentVolumeClaim] = attrs.Factory(list)
    delayed: list[tuple[PersistentVolumeClaim, StorageClass]] = attrs.Factory(list)
    immediate: list[PersistentVolumeClaim] = attrs.Factory(list)
    """The unbound claims whose volume is not the scheduler's task."""


class Binder(Protocol):
    """The volume binder. Upstream: SchedulerVolumeBinder in
    pkg/controller/volume/scheduling/scheduler_binder.go."""

    @property
    def enabled(self) -> bool:
        """Whether the scheduler binds and assumes volumes at all."""

    @property
    def version(self) -> int:
        """Moves with every change that answers depend on, except changes of nodes."""

    def find(self, claims: Sequence[str], nodes: Batch) -> Finding:
        """The *nodes* that can serve the claims with these keys, and how; nothing is stored.
        Upstream: FindPodVolumes."""

    def needs(self, claims: Sequence[str]) -> PodClaims:
        """The claims with these keys, by kind; raises VolumeError for a claim without an answer. Upstream:
        GetPodVolumeClaims."""

    def are_settled(self, claims: Sequence[str]) -> bool:
        """Whether each of these claims has its volume and is open to other pods: the host then decides
        nothing."""

    def remember(self, pod: Pod, claims: Sequence[str], nodes: Batch) -> None:
        """Store the decision for *pod* on each of *nodes*."""

    def assume(self, pod: Pod, node_name: str) -> bool:
        """Assume the decision for *pod* on the node. Returns whether all its claims were bound before."""

    def revert(self, pod: Pod, node_name: str) -> None:
        """Undo :meth:`assume` for *pod* on the node. Upstream: RevertAssumedPodVolumes."""

    def restore(self, items: Iterable[KubeObject]) -> None:
        """Undo the assumptions about these volumes and claims only."""

    def volume(self, name: str) -> PersistentVolume:
        """The volume called *name*, with what is assumed of it; raises VolumeError if there is none."""

    def bind(self, pod: Pod) -> tuple[KubeObject, ...]:
        """The volumes, then the claims, to be written to the API for *pod*, which has its node."""

    def forget(self, pod: Pod) -> None:
        """Drop the decisions for *pod*, for example when it is deleted."""

    def undone(self, pod: Pod) -> AbstractContextManager[None]:
        """A context at whose end the decisions made for *pod* inside are dropped."""

    def put(self, item: PersistentVolume | PersistentVolumeClaim) -> None:
        """Take an added or updated volume or claim, which ends assumptions about it."""

    def drop(self, item: PersistentVolume | PersistentVolumeClaim) -> None:
        """Drop a deleted volume or claim; only its kind and key matter."""
