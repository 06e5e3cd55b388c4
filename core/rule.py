"""Predicates, priorities and algorithms, for the cycle that runs them."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib import import_module
from typing import Any

import attrs

from .arrays.batch import Batch
from .arrays.counts import Clause, Sums
from .arrays.reduction import Reduction as Reduction
from .arrays.types import Scores
from .failures import Failures
from .pods.template import StateKey, Template
from .release import Release

AnyCycle = Any
"""A :class:`~kubeclassic.core.cycle.Cycle`. It is Any here because that module imports this one."""


class Reads(enum.Flag):
    """The reads of a rule: its answers are cached until one of them changes."""

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
    """Counts of the row's pods, by queries to the census."""
    VOLUMES = enum.auto()
    """Persistent volumes, claims, storage classes and CSINodes, anywhere."""
    DOMAIN = enum.auto()
    """Counts of pods by topology domain."""
    CLUSTER = enum.auto()
    """A number for the whole cluster, such as its number of nodes."""
    LISTINGS = enum.auto()
    """Services, controllers and namespaces."""
    DEVICES = enum.auto()
    """The pod's own claims to devices, and which devices are in use. Such answers are kept by the rule
    itself."""
    EFFECTS = enum.auto()
    """What another rule stored in this cycle; such answers are never cached."""


ROWWISE = Reads.REQUESTS | Reads.PORTS | Reads.PODS
"""What changes with the pods of the row itself."""
WIDE = Reads.DOMAIN | Reads.CLUSTER
"""What changes with pods and nodes elsewhere."""


def every_pod(pod: Template) -> bool:
    """True: a rule concerns every pod unless it says otherwise."""
    return True


OF_ROW = attrs.field(
    init=False,
    default=attrs.Factory(
        lambda rule: (
            bool(rule.reads & (ROWWISE | Reads.COUNTS))
            and not rule.reads & (WIDE | Reads.LISTINGS | Reads.VOLUMES)
        ),
        takes_self=True,
    ),
)
SLOT: Any = attrs.field(init=False, default=attrs.Factory(lambda rule: StateKey(rule.name), takes_self=True))


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Predicate:
    """A rule that rejects nodes. ``check(pod, nodes, cycle)`` answers for all nodes of a batch at once.

    ``key``: the part of the pod that the answer depends on; pods with equal keys share answers. ``effect(pod,
    nodes, cycle)`` runs once a pass, in visiting order, on the rows at which upstream calls this predicate:
    those that no earlier predicate rejected.
    """

    name: str
    check: Callable[[Template, Batch, AnyCycle], Failures | None]
    reads: Reads
    concerns: Callable[[Template], bool] = every_pod
    """False for pods to which the predicate never objects, and for which it has no effect: it does not run
    for them."""
    key: Callable[[Template], Hashable] = attrs.field(default=lambda pod: pod)
    effect: Callable[[Template, Batch, AnyCycle], None] | None = None
    clauses: Callable[[Template, AnyCycle], Sequence[Clause] | None] | None = None
    """What the answer for all rows follows from, until more changes than pods: node objects, affinity terms,
    services and controllers. Without any clause it has nothing against any node. None where the answer cannot
    be given so: then ``check`` is asked."""
    is_of_row: bool = OF_ROW
    """It reads what changes with the row's own pods, and nothing outside the rows."""
    slot: StateKey[Hashable] = SLOT
    """The slot of its key in the notes of a template."""
    keeps_itself: bool = attrs.field(
        init=False, default=attrs.Factory(lambda rule: bool(rule.reads & Reads.DEVICES), takes_self=True)
    )
    """Its answers depend on the very pod, so it is asked in each cycle."""
    parts: Sequence[Predicate] = ()
    """Predicates that it asks one after the other and nothing else: a node passes it that passes all of
    them."""

    def __repr__(self) -> str:
        return f"<Predicate {self.name}>"

    def declares(self, cycle: AnyCycle) -> Sequence[Clause] | None:
        """The clauses that decide its answer about the pod of *cycle*; None: none are declared, so ask it."""
        return None if self.clauses is None else self.clauses(cycle.template, cycle)

    def parts_for(self, pod: Template) -> Sequence[Predicate]:
        """The predicates to ask in its place about *pod*: itself, or those of its parts that may object."""
        return [part for part in self.parts if part.concerns(pod)] if self.parts else (self,)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _by_reference(self, self.check) or object.__reduce_ex__(self, protocol)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Priority:
    """A preference among the nodes that fit.

    ``score(pod, nodes, cycle)`` returns int64[n] raw scores. ``reduce(pod, raw, nodes, cycle)``, if there is
    one, turns those of the feasible nodes into 0 to 10; a :class:`Reduction` is redone only for nodes that
    changed. ``whole_list``: the raw scores depend on all feasible nodes together. Both may raise
    :class:`PriorityError`, which ends the cycle. ``concerns`` is False where every node gets the same score,
    whatever pods it has.
    """

    name: str
    score: Callable[[Template, Batch, AnyCycle], Scores]
    reads: Reads
    key: Callable[[Template], Hashable] = attrs.field(default=lambda pod: pod)
    reduce: Callable[[Template, Scores, Batch, AnyCycle], Scores] | None = None
    whole_list: bool = False
    concerns: Callable[[Template], bool] = every_pod
    reads_devices: Callable[[Template], bool] | None = None
    """Whether the raw scores of a pod depend on devices in use, too: then they are not kept. None: those of
    no pod do."""
    sums: Callable[[Template, AnyCycle], Sums | None] | None = None
    """As ``clauses`` of :class:`Predicate`. Without any sum all nodes get the same score, the reduce step
    included."""
    is_of_row: bool = OF_ROW
    """As in :class:`Predicate`."""
    slot: StateKey[Hashable] = SLOT
    """As in :class:`Predicate`."""

    def __repr__(self) -> str:
        return f"<Priority {self.name}>"

    def declares(self, cycle: AnyCycle) -> Sums | None:
        """As in :class:`Predicate`."""
        return None if self.sums is None else self.sums(cycle.template, cycle)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _by_reference(self, self.score) or object.__reduce_ex__(self, protocol)


def _by_reference(rule: Predicate | Priority, function: Callable[..., Any]) -> tuple[Any, ...] | None:
    """The pickled form of a rule of a module, by the name of its function; None for another rule."""
    module = function.__module__
    name = getattr(function, "__qualname__", "")
    # The module of the program itself is another one in another process: its rules are pickled as they are.
    stands = name and module != "__main__" and getattr(sys.modules.get(module), name, None) is rule
    return (_standing, (module, name)) if stands else None


def _standing(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


class PriorityError(Exception):
    """A priority cannot be computed. The cycle fails with this text, repeated for each feasible node or, with
    *once*, only once."""

    def __init__(self, text: str, *, once: bool = False) -> None:
        super().__init__(text)
        self.once = once


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Algorithm:
    """A resolved configuration: which rules run in which order with which weights. Made by
    ``algorithmprovider.resolve``."""

    release: Release
    gates: Mapping[str, bool]
    predicates: Sequence[Predicate]
    """In running order, without those that a release accepts but never runs."""
    priorities: Sequence[tuple[Priority, int]]
    """Sorted by name, each with its weight."""
    extenders: Sequence[Any] = ()
    """Configurations of extenders, in the order in which they are called."""
    check_all: bool = False
    """alwaysCheckAllPredicates."""
    hard_pod_affinity_weight: int = 1
    percentage: int = 0
    """percentageOfNodesToScore, as passed to the scheduler's constructor."""
    scores: bool = True
    """Something scores nodes or rejects them besides predicates; else, where the release says so, one
    feasible node is enough."""
    preemption: bool = True
    max_pd_vols: int | None = None
    """How many cloud disks of each type a node can have that does not say so itself; None: what the type
    says."""
    ignored_resources: frozenset[str] = frozenset()
    """Extended resources that extenders manage with ignoredByScheduler."""
    metadata_fails: Callable[[AnyCycle], bool] = attrs.field(default=lambda cycle: False)
    """Whether upstream's predicate metadata would be nil in a cycle."""
    equivalence_cache: bool = False
    unread: tuple[str, ...] = ()
    """What of its configuration does not count, in sentences."""
    leaves_counts: bool = attrs.field(
        default=attrs.Factory(lambda self: self.enabled("BalanceAttachedNodeVolumes"), takes_self=True)
    )
    """A rule reads what others store in the cycle, such as the counts that the volume predicates store for a
    priority."""
    has_predicates: bool = True
    """False if the predicate map is empty: then every node of the lister is feasible."""
    has_effects: bool = attrs.field(
        init=False,
        default=attrs.Factory(
            lambda self: any(rule.effect is not None for rule in self.predicates), takes_self=True
        ),
    )
    """Whether any predicate has an effect."""
    slot: StateKey[Sequence[Predicate]] = attrs.field(init=False, factory=lambda: StateKey("predicates"))
    """The slot of its predicates in the notes of a template."""

    def __repr__(self) -> str:
        return f"<Algorithm of {self.release.version}: {len(self.predicates)} predicates, {len(self.priorities)} priorities>"

    def predicates_for(self, pod: Template) -> Sequence[Predicate]:
        """The predicates that may object to *pod*, in running order."""
        found = pod.notes.get(self.slot)
        if found is None:
            found = pod.notes[self.slot] = tuple(
                p for p in self.predicates if p.concerns is every_pod or p.concerns(pod)
            )
        return found

    def wanted(self, nodes: int) -> int:
        """The number of feasible nodes after which a search of *nodes* nodes ends."""
        if not self.scores and self.release.framework.one_is_enough:
            return min(nodes, 1)
        return self.release.nodes_to_find(nodes, self.percentage)

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on; an unknown gate is off."""
        return bool(self.gates.get(gate, False))
