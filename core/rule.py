"""What a predicate, a priority and an algorithm are, for the cycle that runs them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from .arrays.batch import Batch
from .failures import Failures
from .pods.notes import Slot
from .pods.template import Template
from .release import Release

Scores = NDArray[np.int64]
AnyCycle = Any
"""A :class:`~kubeclassic.core.cycle.Cycle`, which knows the rules, so that this file cannot know it."""


class Reads(enum.Flag):
    """What a rule looks at, so that what it answered can be kept until that changes."""

    NOTHING = 0
    NODE = enum.auto()
    """The node object of the row: labels, taints, conditions, allocatable, images."""
    REQUESTS = enum.auto()
    """The row's requested sums and number of pods."""
    PORTS = enum.auto()
    """The row's host ports in use."""
    PODS = enum.auto()
    """The pods of the row: their labels and volumes."""
    COUNTS = enum.auto()
    """How many pods of the row some query counts, asked of the census."""
    VOLUMES = enum.auto()
    """Persistent volumes, claims, storage classes and CSINodes, anywhere."""
    DOMAIN = enum.auto()
    """Pods counted in topology domains, the row's own or all of them."""
    CLUSTER = enum.auto()
    """A number over the whole cluster, such as how many nodes there are."""
    LISTINGS = enum.auto()
    """Services, controllers and namespaces."""
    EFFECTS = enum.auto()
    """What another rule left behind in this cycle; never kept."""


ROWWISE = Reads.REQUESTS | Reads.PORTS | Reads.PODS
"""What the pods of the row itself change."""
WIDE = Reads.DOMAIN | Reads.CLUSTER
"""What pods and nodes elsewhere change."""


def _of_row(rule: Predicate | Priority) -> bool:
    return bool(rule.reads & (ROWWISE | Reads.COUNTS)) and not rule.reads & (WIDE | Reads.LISTINGS | Reads.VOLUMES)


OF_ROW: Any = attrs.field(init=False, repr=False, default=attrs.Factory(_of_row, takes_self=True))
SLOT: Any = attrs.field(init=False, repr=False, default=attrs.Factory(lambda rule: Slot(rule.name), takes_self=True))


@attrs.frozen(kw_only=True, eq=False)
class Predicate:
    """A question whose *no* turns a node down. ``check(pod, nodes, cycle)`` answers for all nodes of a batch at once.

    ``key``: what of the pod the answer depends on; pods with equal keys share answers. ``effect(pod, nodes, cycle)`` runs on the rows that
    the search reached (no earlier predicate failed them), whether or not this predicate then passed them, in visiting order, once a pass.
    """

    name: str
    check: Callable[[Template, Batch, AnyCycle], Failures | None]
    reads: Reads
    concerns: Callable[[Template], bool] = attrs.field(default=lambda pod: True)
    """False for pods that the predicate can never object to, and on which it has no effect: it is not asked about them."""
    key: Callable[[Template], Hashable] = attrs.field(default=lambda pod: pod)
    effect: Callable[[Template, Batch, AnyCycle], None] | None = None
    is_of_row: bool = OF_ROW
    """It looks at what changes on the row itself, and at nothing that no row tells of."""
    slot: Slot[Hashable] = SLOT
    """Where a template's notes have its key."""


@attrs.frozen
class Reduction:
    """A reduce step in two halves: what it must know of all feasible nodes together, and then one score a node from that.

    ``summarise(pod, raw, nodes, cycle)`` looks at all feasible nodes, in any order, and gives a value that compares by equality;
    ``apply(pod, raw, summary, nodes, cycle)`` scores each node of a batch by its raw score and the summary alone, so that it can be asked
    again for changed nodes only. With *zeros_alike* raw scores of 0 everywhere have one summary, whichever nodes they belong to.
    """

    summarise: Callable[[Template, Scores, Batch, AnyCycle], Hashable]
    apply: Callable[[Template, Scores, Any, Batch, AnyCycle], Scores]
    zeros_alike: bool = False

    def __call__(self, pod: Template, raw: Scores, nodes: Batch, cycle: AnyCycle) -> Scores:
        """Both halves: int64[k] raw scores of the feasible *nodes* -> int64[k]."""
        return self.apply(pod, raw, self.summarise(pod, raw, nodes, cycle), nodes, cycle)


@attrs.frozen(kw_only=True, eq=False)
class Priority:
    """A preference among the nodes that fit.

    ``score(pod, nodes, cycle)`` gives int64[n] raw scores; ``reduce(pod, raw, nodes, cycle)``, where there is one, turns those of the
    feasible nodes into 0 to 10; as a :class:`Reduction` it is redone only where something changed. With ``whole_list`` the score is
    already a function of all feasible nodes together. Either may raise :class:`RuleError`, which ends the cycle.
    ``concerns`` is False for pods for which every node gets the same score, whatever stands on it.
    """

    name: str
    score: Callable[[Template, Batch, AnyCycle], Scores]
    reads: Reads
    key: Callable[[Template], Hashable] = attrs.field(default=lambda pod: pod)
    reduce: Callable[[Template, Scores, Batch, AnyCycle], Scores] | None = None
    whole_list: bool = False
    concerns: Callable[[Template], bool] = attrs.field(default=lambda pod: True)
    is_of_row: bool = OF_ROW
    """As a predicate's."""
    slot: Slot[Hashable] = SLOT
    """As a predicate's."""


class RuleError(Exception):
    """A priority cannot be computed; the cycle fails with this text, once for each feasible node or, with *once*, a single time."""

    def __init__(self, text: str, *, once: bool = False) -> None:
        super().__init__(text)
        self.once = once


@attrs.frozen(kw_only=True, eq=False)
class Algorithm:
    """A resolved configuration: which rules run in which order with which weights. Made by ``algorithmprovider.resolve``."""

    release: Release
    gates: Mapping[str, bool]
    predicates: Sequence[Predicate]
    """In running order; those that are accepted but never run are not here."""
    priorities: Sequence[tuple[Priority, int]]
    """Sorted by name, each with its weight."""
    extenders: Sequence[Any] = ()
    """Configurations of extenders, in the order in which they are called."""
    check_all: bool = False
    """alwaysCheckAllPredicates."""
    hard_pod_affinity_weight: int = 1
    percentage: int = 0
    """percentageOfNodesToScore as the scheduler's constructor gets it."""
    preemption: bool = True
    ignored_resources: frozenset[str] = frozenset()
    """Extended resources that extenders manage with ignoredByScheduler."""
    metadata_fails: Callable[[AnyCycle], bool] = attrs.field(default=lambda cycle: False)
    """Whether upstream's predicate metadata would be nil for a cycle."""
    equivalence_cache: bool = False
    leaves_counts: bool = attrs.field(
        default=attrs.Factory(lambda self: self.enabled("BalanceAttachedNodeVolumes"), takes_self=True)
    )
    """Some rule reads what others left behind in the cycle, such as the volume count predicates for a priority."""
    has_predicates: bool = True
    """False where the predicate map is empty: every node of the lister is feasible."""
    has_effects: bool = attrs.field(
        init=False, default=attrs.Factory(lambda self: any(rule.effect is not None for rule in self.predicates), takes_self=True)
    )
    """Some predicate has an effect."""
    slot: Slot[Sequence[Predicate]] = attrs.field(init=False, repr=False, factory=lambda: Slot("predicates"))
    """Where a template's notes have its predicates."""

    def predicates_for(self, pod: Template) -> Sequence[Predicate]:
        """The predicates that may object to *pod*, in running order."""
        found = pod.notes.get(self.slot)
        if found is None:
            found = pod.notes[self.slot] = tuple(p for p in self.predicates if p.concerns(pod))
        return found

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on; a gate that the release does not have is off."""
        return bool(self.gates.get(gate, False))
