"""What a volume binder answers, and what may be asked of it. The binder itself is in :mod:`.volumes.binder`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from ..api.objects import KubeObject, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from .arrays.batch import Batch, Mask
from .failures import Codes

Numbers = NDArray[np.int64]
"""The place of a volume in a list for each node: int64[n], -1 for none."""


@attrs.frozen
class VolumeDecision:
    """What a pod gets on one node: volumes for claims, and claims whose volumes are to be made."""

    bindings: tuple[tuple[PersistentVolume, PersistentVolumeClaim], ...] = ()
    provisionings: tuple[PersistentVolumeClaim, ...] = ()


UNDECIDED = VolumeDecision()


@attrs.define(eq=False)
class Finding:
    """What a batch of n nodes can do for a pod's claims.

    ``unbound``, ``bound``: bool[n], False where a claim cannot get a volume there, or has one that the node cannot reach.
    ``errors``: int64[n], 0 or one more than the index into ``texts`` of why the question has no answer there.
    """

    unbound: Mask
    bound: Mask
    errors: Codes
    texts: list[str] = attrs.field(factory=list)
    volumes: Sequence[PersistentVolume] = ()
    """The volumes that ``matches`` names by their index."""
    matches: list[tuple[PersistentVolumeClaim, Numbers]] = attrs.field(factory=list)
    """For each claim the volume it gets on each node: int64[n], -1 where it gets none."""
    provisions: list[tuple[PersistentVolumeClaim, Mask]] = attrs.field(factory=list)
    """The claims whose volumes have to be made, and where: bool[n]."""
    decided: Mask = attrs.field(init=False)
    """Where the search came as far as volumes for claims: bool[n]."""
    provided: Mask = attrs.field(init=False)
    """Where all that has to be made can be: bool[n]."""
    exists: Mask = attrs.field(init=False)
    """False where a claim is bound to a volume that is not there and that is no error: bool[n]."""
    enough: Mask = attrs.field(init=False)
    """False where too little storage is left for what has to be made: bool[n]."""

    def __attrs_post_init__(self) -> None:
        self.decided, self.provided = np.zeros_like(self.bound), np.zeros_like(self.bound)
        self.exists, self.enough = np.ones_like(self.bound), np.ones_like(self.bound)

    @classmethod
    def of(cls, n: int) -> Finding:
        """Nothing against any of *n* nodes so far."""
        return cls(np.ones(n, np.bool_), np.ones(n, np.bool_), np.zeros(n, np.int64))

    def fail(self, text: str, mask: Mask) -> None:
        """The question has no answer on the nodes of *mask*, unless an earlier error stands there."""
        self.texts.append(text)
        self.errors[mask & (self.errors == 0)] = len(self.texts)

    def decision(self, i: int) -> VolumeDecision:
        """What the pod gets on node *i*."""
        if not self.decided[i] or self.errors[i]:
            return UNDECIDED
        bindings = tuple((self.volumes[numbers[i]], claim) for claim, numbers in self.matches if numbers[i] >= 0)
        made = tuple(claim for claim, needed in self.provisions if needed[i]) if self.provided[i] else ()
        return VolumeDecision(bindings, made)


@attrs.frozen
class Needs:
    """A pod's claims: those with a volume, those whose volume is found when the pod has a node, with their class, and the others."""

    bound: list[PersistentVolumeClaim] = attrs.field(factory=list)
    delayed: list[tuple[PersistentVolumeClaim, StorageClass]] = attrs.field(factory=list)
    immediate: list[PersistentVolumeClaim] = attrs.field(factory=list)
    """Those that no scheduler finds a volume for."""


class Binder(Protocol):
    """The volume binder. Upstream: SchedulerVolumeBinder in pkg/controller/volume/scheduling/scheduler_binder.go."""

    @property
    def enabled(self) -> bool:
        """Whether volumes are bound and assumed at all."""
        ...

    @property
    def version(self) -> int:
        """Moves with every change that answers depend on, nodes aside."""
        ...

    def find(self, claims: Sequence[str], nodes: Batch) -> Finding:
        """What each of *nodes* can do for the claims with these keys."""
        ...

    def needs(self, claims: Sequence[str]) -> Needs:
        """Which of these claims have volumes, and which get one with the pod."""
        ...

    def remember(self, pod: Pod, claims: Sequence[str], nodes: Batch) -> None:
        """Keep what *pod* would get on each of *nodes*."""
        ...

    def assume(self, pod: Pod, node_name: str) -> bool:
        """Take it that *pod* gets on the node what was decided; answers whether all its claims had volumes already."""
        ...

    def revert(self, pod: Pod, node_name: str) -> None:
        """Take back what was assumed for *pod* on the node."""
        ...

    def volume(self, name: str) -> PersistentVolume:
        """The volume of that name as it is assumed to be; raises an error where there is none."""
        ...

    def bind(self, pod: Pod) -> tuple[KubeObject, ...]:
        """The volumes, then the claims, that are to be written to the API for *pod*, which is on its node."""
        ...

    def forget(self, pod: Pod) -> None:
        """Drop what was decided for *pod*, as when it is deleted."""
        ...

    def undone(self, pod: Pod) -> AbstractContextManager[None]:
        """What is decided for *pod* inside is dropped at the end."""
        ...

    def put(self, item: PersistentVolume | PersistentVolumeClaim) -> None:
        """A volume or claim appears or changes, which ends what was assumed of it."""
        ...

    def drop(self, item: PersistentVolume | PersistentVolumeClaim) -> None:
        """A volume or claim goes; only its kind and key matter."""
        ...
