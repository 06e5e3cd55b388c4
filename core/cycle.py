"""One scheduling cycle: what rules get besides the nodes, such as the pod, the configuration and the listings
of other objects."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeGuard

import msgspec
import numpy as np

from ..api.objects import Node, Pod
from .arrays.batch import Batch, DescribedBatch
from .arrays.census import PodCount
from .arrays.table import NodeTable
from .arrays.types import Scores
from .binding import Binder
from .cluster.cache import Cache
from .cluster.listings import Listings
from .cluster.nominations import Nominations
from .failures import Failures
from .pods.template import CycleState, Template, Templates
from .release import Release
from .rule import Algorithm, Predicate, Priority, PriorityError, Reads, Reduction


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
    answers: Answers | None = None
    """Answers of earlier cycles; None if they must not be used."""
    described: Sequence[Node] | None = None
    """The feasible nodes, as the latest extender described them in its reply; None: as they are in the
    table."""
    details: bool = True
    """Whether the arrays are kept after the cycle, as the details of its decision."""
    notes: CycleState = msgspec.field(default_factory=CycleState)
    """What rules store for this cycle."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self.pod.key}>"

    @property
    def volumes_version(self) -> int:
        """Moves with every change of volumes and claims, assumed ones too."""
        return self.listings.volumes_version + self.binder.version

    def ask(self, predicates: Sequence[Predicate], nodes: Batch) -> list[Failures | None]:
        """The failures of each of *predicates* for *nodes*; from the cached answers if *nodes* is the whole
        table."""
        found = []
        answers = self.answers if nodes.rows is None else None
        for predicate in predicates:
            if answers is None or predicate.keeps_itself or not self.keeps(predicate):
                found.append(predicate.check(self.template, nodes, self))
                continue
            kept = answers.read(predicate, self)
            kept.shared |= self.details
            found.append(kept.answer)
        return found

    def keeps(self, rule: Predicate | Priority) -> bool:
        """Whether answers of *rule* may be cached: not if it reads what other rules left behind in the
        cycle."""
        return not (self.algorithm.leaves_counts and rule.reads & Reads.EFFECTS)

    def raw_scores(self, priorities: Sequence[Priority], nodes: Batch) -> list[Scores | PriorityError]:
        """The raw scores of each of *priorities* for *nodes*, or its error; from the cached answers where
        possible."""
        found: list[Scores | PriorityError] = []
        rows = nodes.rows
        answers = self.answers if self.described is None else None
        for priority in priorities:
            try:
                is_fresh = priority.whole_list or (
                    priority.reads_devices is not None and priority.reads_devices(self.template)
                )
                if answers is None or rows is None or is_fresh or not self.keeps(priority):
                    found.append(priority.score(self.template, nodes, self))
                    continue
                kept = answers.read(priority, self)
                if is_even(priority, kept.constant):
                    found.append(constant_array(kept.constant, len(rows)))
                else:
                    found.append(kept.answer.take(rows))
            except PriorityError as error:
                found.append(error)
        return found

    def as_described(self, nodes: Batch) -> Batch:
        """The feasible *nodes*, as an extender described them if one did."""
        if self.described is None or nodes.rows is None or nodes.is_described:
            return nodes
        return DescribedBatch(nodes.table, nodes.rows, self.described)

    def nominated_on(self, nominations: Nominations, name: str) -> list[Pod]:
        """The pods nominated to a node that count as if they were there: those of equal or higher priority,
        but for this cycle's pod."""
        excludes_self = self.release.preemption.excludes_self
        return [
            pod
            for pod in nominations.on(name)
            if pod.priority >= self.pod.priority and not (excludes_self and pod.uid == self.pod.uid)
        ]

    @property
    def predicates(self) -> Sequence[Predicate]:
        """The predicates that may object to the pod, in running order."""
        return self.template.notes.get(self.algorithm.slot) or self.algorithm.predicates_for(self.template)

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on."""
        return self.algorithm.enabled(gate)


def is_even(priority: Priority, constant: int | None) -> TypeGuard[int]:
    """Whether the scores of all nodes stay the same in the reduce step, if raw ones are *constant*."""
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
