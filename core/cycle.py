"""Rules, and one scheduling cycle: the inputs of rules besides the nodes, such as the pod, the configuration
and the listings of other objects."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Protocol, TypeGuard

import attrs
import msgspec
import numpy as np

from ..api.objects import Node, Pod
from .arrays import Batch, Clause, DescribedBatch, Failures, NodeTable, PodCount, Rows, Scores, Sums
from .arrays import Reduction as Reduction
from .binding import Binder
from .cluster.cache import Cache
from .cluster.listings import Listings
from .cluster.nominations import Nominations
from .pods import CycleState, StateKey, Template, Templates
from .release import Release

# --- Predicates, priorities and algorithms ------------------------------------------------------------------


AnyCycle = Any
"""A :class:`Cycle`, or the framework's, which has more in it: a rule's annotation says which it takes."""


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
    """Counts that another rule stored in this cycle; such answers are never cached."""


ROWWISE = Reads.REQUESTS | Reads.PORTS | Reads.PODS
"""State that changes with the pods of the row itself."""
WIDE = Reads.DOMAIN | Reads.CLUSTER
"""State that changes with pods and nodes elsewhere."""


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
    """False for pods that the predicate never rejects and for which it has no effect: it does not run for
    them."""
    key: Callable[[Template], Hashable] = attrs.field(default=lambda pod: pod)
    effect: Callable[[Template, Batch, AnyCycle], None] | None = None
    clauses: Callable[[Template, AnyCycle], Sequence[Clause] | None] | None = None
    """The clauses that decide for all rows, valid until node objects, affinity terms, services or controllers
    change. An empty sequence rejects no node. None where clauses cannot express the answer: then ``check`` is
    asked."""
    is_of_row: bool = OF_ROW
    """Whether it reads state that changes with the row's own pods, and nothing outside the rows."""
    slot: StateKey[Hashable] = SLOT
    """The slot of its key in the notes of a template."""
    keeps_itself: bool = attrs.field(
        init=False, default=attrs.Factory(lambda rule: bool(rule.reads & Reads.DEVICES), takes_self=True)
    )
    """Whether its answers depend on the pod itself, not its template, so that it is asked in each cycle."""
    error: Callable[..., str] | None = None
    """Called with the *text* of an error and the name of its *pod*: gives the error of the cycle. None: the
    text."""
    parts: Sequence[Predicate] = ()
    """The predicates that it consists of, asked one after the other: a node has to pass all of them."""

    def __repr__(self) -> str:
        return f"<Predicate {self.name}>"

    def errors_of(self, failures: Failures, pod: str) -> Sequence[str]:
        """The errors among *failures* as the cycle of the *pod* of that name ends with them."""
        return (
            failures.texts
            if self.error is None
            else [self.error(text=text, pod=pod) for text in failures.texts]
        )

    def parts_for(self, pod: Template) -> Sequence[Predicate]:
        """The predicates to ask in its place about *pod*: itself, or those of its parts that may reject
        nodes."""
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

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _by_reference(self, self.score) or object.__reduce_ex__(self, protocol)


def _by_reference(rule: Predicate | Priority, function: Callable[..., Any]) -> tuple[Any, ...] | None:
    """The pickled form of a module's rule, by the name of its function; None for another rule."""
    module = function.__module__
    name = getattr(function, "__qualname__", "")
    # The main module is another one in another process: its rules are pickled as they are.
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
    """Whether priorities or extenders score or reject nodes besides predicates; else, where the release says
    so, one feasible node is enough."""
    preemption: bool = True
    max_pd_vols: int | None = None
    """The most cloud disks of each type on a node without a limit of its own; None: the type's default."""
    ignored_resources: frozenset[str] = frozenset()
    """Extended resources that extenders manage with ignoredByScheduler."""
    metadata_fails: Callable[[AnyCycle], bool] = attrs.field(default=lambda cycle: False)
    """Whether upstream's predicate metadata would be nil in a cycle."""
    equivalence_cache: bool = False
    unread: tuple[str, ...] = ()
    """The ignored parts of its configuration, in sentences."""
    leaves_counts: bool = attrs.field(
        default=attrs.Factory(lambda self: self.enabled("BalanceAttachedNodeVolumes"), takes_self=True)
    )
    """Whether a rule reads values that others store in the cycle, such as volume counts of predicates for a
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
        """The predicates that may reject nodes for *pod*, in running order."""
        applicable = pod.notes.get(self.slot)
        if applicable is None:
            applicable = pod.notes[self.slot] = tuple(
                [p for p in self.predicates if p.concerns is every_pod or p.concerns(pod)]
            )
        return applicable

    def wanted(self, nodes: int) -> int:
        """The number of feasible nodes after which a search of *nodes* nodes ends."""
        if not self.scores and self.release.framework.one_is_enough:
            return min(nodes, 1)
        return self.release.nodes_to_find(nodes, self.percentage)

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on; an unknown gate is off."""
        return bool(self.gates.get(gate, False))

    @property
    def queues_by_priority(self) -> bool:
        """Whether the release's queue looks at priorities: some have a FIFO without gate PodPriority."""
        return not self.release.queue.fifo_without_priority or self.enabled("PodPriority")


# --- The cycle ----------------------------------------------------------------------------------------------


class CachedAnswer(Protocol):
    """The answer of one rule for all rows of the table."""

    shared: bool
    """Whether a reader keeps the arrays: then they are copied before they change (copy-on-write)."""

    @property
    def watched(self) -> list[PodCount]:
        """The counters of the census that the rule read."""

    @property
    def answer(self) -> Any:
        """Of a predicate: Failures or None; of a priority: int64[size], its raw scores."""

    @property
    def constant(self) -> int | None:
        """The score of all rows, where it is known to be the same for all."""


class Answers(Protocol):
    """The cached answers of earlier cycles; a stale one is brought up to date when it is read. See
    :mod:`.incremental`."""

    def read(self, rule: Predicate | Priority, cycle: Cycle) -> CachedAnswer:
        """The answer of *rule* for every row of the table; raises the PriorityError of a priority."""


class Cycle(msgspec.Struct, eq=False, kw_only=True):
    """One attempt to schedule one pod."""

    pod: Pod
    """The pod itself, for texts that name it and for volume decisions. Rules decide by the template."""
    template: Template
    table: NodeTable
    algorithm: Algorithm
    release: Release
    """The cells of the release."""
    listings: Listings
    binder: Binder
    has_metadata: bool = True
    """Whether upstream would have predicate metadata; without it some predicates behave differently
    (reference C.17)."""
    templates: Templates
    cache: Cache
    """For rules that read upstream's pod or node lister, which has objects that the snapshot in ``table``
    lacks."""
    listed: Callable[[], Rows] | None = None
    """Gives the rows of the snapshot's list of nodes, in its order; None where rules do not read it."""
    answers: Answers | None = None
    """Answers of earlier cycles; None if they must not be used."""
    described: Sequence[Node] | None = None
    """The feasible nodes, as the latest extender described them in its reply; None: as they are in the
    table, pods and images included."""
    details: bool = True
    """Whether the arrays are kept after the cycle, as the details of its decision."""
    notes: CycleState = msgspec.field(default_factory=CycleState)
    """Values that rules store for this cycle."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self.pod.key}>"

    @property
    def volumes_version(self) -> int:
        """Moves with every change of volumes and claims, assumed ones too."""
        return self.listings.volumes_version + self.binder.version

    def ask(self, predicates: Sequence[Predicate], nodes: Batch) -> list[Failures | None]:
        """The failures of each of *predicates* for *nodes*; from the cached answers if *nodes* is the whole
        table."""
        answers_in_order = []
        answers = self.answers if nodes.rows is None else None
        leaves_counts = self.algorithm.leaves_counts
        for predicate in predicates:
            reads_effects = leaves_counts and predicate.reads & Reads.EFFECTS
            if answers is None or predicate.keeps_itself or reads_effects:
                answers_in_order.append(predicate.check(self.template, nodes, self))
                continue
            cached = answers.read(predicate, self)
            cached.shared |= self.details
            answers_in_order.append(cached.answer)
        return answers_in_order

    def raw_scores(self, priorities: Sequence[Priority], nodes: Batch) -> list[Scores | PriorityError]:
        """The raw scores of each of *priorities* for *nodes*, or its error; from the cached answers where
        possible."""
        scores: list[Scores | PriorityError] = []
        rows = nodes.rows
        answers = self.answers if self.described is None else None
        leaves_counts = self.algorithm.leaves_counts
        for priority in priorities:
            try:
                is_fresh = (
                    priority.whole_list
                    or (priority.reads_devices is not None and priority.reads_devices(self.template))
                    or (leaves_counts and priority.reads & Reads.EFFECTS)
                )
                if answers is None or rows is None or is_fresh:
                    scores.append(priority.score(self.template, nodes, self))
                    continue
                cached = answers.read(priority, self)
                if is_even(priority, cached.constant):
                    scores.append(constant_array(cached.constant, len(rows)))
                else:
                    scores.append(cached.answer.take(rows))
            except PriorityError as error:
                scores.append(error)
        return scores

    def as_described(self, nodes: Batch) -> Batch:
        """The feasible *nodes*, as an extender described them if one did."""
        if self.described is None or nodes.rows is None or nodes.is_described:
            return nodes
        return DescribedBatch(nodes.table, nodes.rows, self.described)

    def nominated_on(self, nominations: Nominations, name: str) -> list[Pod]:
        """The pods nominated to a node that count as if they were there: those of equal or higher priority,
        without this cycle's pod where the release excludes it."""
        excludes_self = self.release.preemption.excludes_self
        return [
            pod
            for pod in nominations.on(name)
            if pod.priority >= self.pod.priority and not (excludes_self and pod.uid == self.pod.uid)
        ]

    @property
    def predicates(self) -> Sequence[Predicate]:
        """The predicates that may reject nodes for the pod, in running order."""
        return self.template.notes.get(self.algorithm.slot) or self.algorithm.predicates_for(self.template)

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on."""
        return self.algorithm.enabled(gate)


def is_even(priority: Priority, constant: int | None) -> TypeGuard[int]:
    """Whether all nodes keep equal scores in the reduce step, if their raw scores are all *constant*."""
    reduce = priority.reduce
    return constant is not None and (
        reduce is None or (isinstance(reduce, Reduction) and reduce.zeros_alike and constant == 0)
    )


EVEN = (0,)
"""The strides of an array that :func:`constant_array` made."""


@lru_cache(1 << 10)
def constant_array(score: int, count: int) -> Scores:
    """The same *score* for each of *count* nodes: int64[count], read only, in the memory of one number."""
    return np.broadcast_to(np.int64(score), count)
