"""What the nodes of a batch can do for a pod's claims: reach the volumes they have, find them some, or have some made.

Upstream: pkg/controller/volume/scheduling/scheduler_binder.go FindPodVolumes (before 1.15 in pkg/controller/volume/persistentvolume).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_

import attrs
import numpy as np

from ..api.labels import SelectorError
from ..api.objects import PersistentVolume, PersistentVolumeClaim, Requirement, StorageClass, TopologySelectorTerm
from .assumecache import AssumeCache, VolumeError
from .batch import Batch, Mask
from .failures import Codes
from .listings import Listing
from .nodeselectors import expressions_mask
from .release import VolumeCells
from .volumematch import Numbers, VolumeMatcher, claim_class, requested_size

BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
UNBOUND_IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"
MODE_NOT_DEFAULTED = "error checking if volumeMode was a mismatch: api defaulting for volumeMode failed"


def is_fully_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether *claim* has a volume and the volume controller is done with it."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.annotations


def can_provision(kind: StorageClass, nodes: Batch) -> Mask:
    """The nodes for which volumes of class *kind* can be made: bool[n]."""
    if kind.provisioner in ("", NO_PROVISIONER):
        return np.zeros(nodes.n, np.bool_)
    if not kind.allowed_topologies:
        return np.ones(nodes.n, np.bool_)
    return reduce(or_, (_topology_mask(term, nodes) for term in kind.allowed_topologies))


def _topology_mask(term: TopologySelectorTerm, nodes: Batch) -> Mask:
    wanted = tuple(Requirement(key=e.key, operator="In", values=e.values) for e in term.match_label_expressions)
    try:
        return expressions_mask(wanted, nodes)
    except SelectorError:
        return np.zeros(nodes.n, np.bool_)


@attrs.frozen
class Decision:
    """What a pod gets on one node: volumes for claims, and claims whose volumes are to be made."""

    bindings: tuple[tuple[PersistentVolume, PersistentVolumeClaim], ...] = ()
    provisionings: tuple[PersistentVolumeClaim, ...] = ()


UNDECIDED = Decision()


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

    def __attrs_post_init__(self) -> None:
        self.decided, self.provided = np.zeros_like(self.bound), np.zeros_like(self.bound)

    @classmethod
    def of(cls, n: int) -> Finding:
        """Nothing against any of *n* nodes so far."""
        return cls(np.ones(n, np.bool_), np.ones(n, np.bool_), np.zeros(n, np.int64))

    def fail(self, text: str, mask: Mask) -> None:
        """The question has no answer on the nodes of *mask*, unless an earlier error stands there."""
        self.texts.append(text)
        self.errors[mask & (self.errors == 0)] = len(self.texts)

    def decision(self, i: int) -> Decision:
        """What the pod gets on node *i*."""
        if not self.decided[i] or self.errors[i]:
            return UNDECIDED
        bindings = tuple((self.volumes[numbers[i]], claim) for claim, numbers in self.matches if numbers[i] >= 0)
        made = tuple(claim for claim, needed in self.provisions if needed[i]) if self.provided[i] else ()
        return Decision(bindings, made)


@attrs.frozen
class Needs:
    """A pod's claims: those with a volume, and those whose volume is found when the pod has a node, with their class."""

    bound: list[PersistentVolumeClaim]
    delayed: list[tuple[PersistentVolumeClaim, StorageClass]]


@attrs.define(eq=False)
class VolumeSearch:
    """Answers from the volumes and claims as they are assumed to be; it remembers nothing."""

    cells: VolumeCells
    gates: Mapping[str, bool]
    classes: Listing[StorageClass]
    volumes: AssumeCache[PersistentVolume]
    claims: AssumeCache[PersistentVolumeClaim]

    def find(self, claims: Sequence[str], nodes: Batch) -> Finding:
        """What each of *nodes* can do for the claims with these keys."""
        finding = Finding.of(nodes.n)
        matcher = VolumeMatcher(nodes, self.cells, bool(self.gates.get("BlockVolume", False)))
        try:
            needs = self._needs(claims)
        except VolumeError as error:
            finding.fail(str(error), np.ones(nodes.n, np.bool_))
            return finding
        self._check_bound(needs, matcher, finding)
        if needs.delayed:
            self._find_unbound(needs, matcher, finding)
        return finding

    def _needs(self, claims: Sequence[str]) -> Needs:
        needs, immediate = Needs([], []), False
        for key in claims:
            claim = self._claim(key)
            if is_fully_bound(claim):
                needs.bound.append(claim)
                continue
            delayed = self._waits_for_pod(claim)
            if delayed is not None and not claim.spec.volume_name:
                needs.delayed.append((claim, delayed))
            else:
                immediate = True
        if immediate:
            raise VolumeError(UNBOUND_IMMEDIATE)
        return needs

    def _claim(self, key: str) -> PersistentVolumeClaim:
        try:
            return self.claims.get(key)
        except VolumeError as error:
            name = key if self.cells.claim_text_has_namespace else key.partition("/")[2]
            raise VolumeError(f'error getting PVC "{name}": {error}') from error

    def _waits_for_pod(self, claim: PersistentVolumeClaim) -> StorageClass | None:
        """The claim's class where that binds volumes only once a pod has a node."""
        if self.cells.selected_node_is_immediate and SELECTED_NODE in claim.annotations:
            return None
        found = self.classes.get(claim_class(claim))
        if found is None:
            return None
        if found.volume_binding_mode is None:
            raise VolumeError(f'VolumeBindingMode not set for StorageClass "{found.name}"')
        return found if found.volume_binding_mode == "WaitForFirstConsumer" else None

    def _check_bound(self, needs: Needs, matcher: VolumeMatcher, finding: Finding) -> None:
        for claim in needs.bound:
            try:
                reach = matcher.reach(self.volumes.get(claim.spec.volume_name))
                finding.bound &= np.isin(np.arange(matcher.nodes.n), reach)
            except VolumeError as error:
                # Upstream: the first volume out of reach ends the check, so a missing one behind it is not noticed.
                finding.fail(str(error), finding.bound)

    def _find_unbound(self, needs: Needs, matcher: VolumeMatcher, finding: Finding) -> None:
        nodes = matcher.nodes
        finding.decided = finding.errors == 0
        selected = [(claim, kind) for claim, kind in needs.delayed if SELECTED_NODE in claim.annotations]
        for claim, _ in selected:
            here = nodes.named(claim.annotations[SELECTED_NODE])
            finding.unbound &= here
            finding.decided &= here
        others = [(claim, kind) for claim, kind in needs.delayed if SELECTED_NODE not in claim.annotations]
        # Upstream: sorted unstably, which does not show below twelve claims.
        others.sort(key=lambda pair: requested_size(pair[0]))
        for claim, _ in others:
            self._match(claim, matcher, finding)
        kinds = [kind for _, kind in (*selected, *others)]
        everywhere = np.ones(nodes.n, np.bool_)
        finding.provisions = [(claim, everywhere) for claim, _ in selected]
        finding.provisions += [(claim, numbers < 0) for claim, numbers in finding.matches]
        finding.provided = _provided(kinds, finding.provisions, nodes)
        finding.unbound &= finding.provided

    def _match(self, claim: PersistentVolumeClaim, matcher: VolumeMatcher, finding: Finding) -> None:
        name = claim_class(claim) if self.cells.matches_by_beta_class else claim.spec.storage_class_name or ""
        try:
            numbers, failed = matcher.match(claim, self.volumes.within(name))
        except VolumeError as error:
            finding.fail(str(error), finding.decided)
            numbers, failed = np.full(matcher.nodes.n, -1, np.int64), None
        if failed is not None:
            finding.fail(MODE_NOT_DEFAULTED, failed & finding.decided)
        finding.matches.append((claim, numbers))
        finding.volumes = matcher.volumes


def _provided(kinds: Sequence[StorageClass], needed: Sequence[tuple[PersistentVolumeClaim, Mask]], nodes: Batch) -> Mask:
    """Where volumes can be made for all claims that need one: bool[n]."""
    provided = np.ones(nodes.n, np.bool_)
    for kind, (_, mask) in zip(kinds, needed, strict=True):
        if mask.any():
            provided &= ~mask | can_provision(kind, nodes)
    return provided
