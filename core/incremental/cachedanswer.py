"""One rule's answer for the whole table: a derived value, what it was derived from, and which rows of it changed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

import attrs

from ..arrays.batch import Batch
from ..arrays.census import PodCount
from ..arrays.counts import CountTerm, Watched
from ..arrays.table import NodeTable
from ..arrays.trail import NEVER, Trail
from ..arrays.types import Rows
from ..rule import ROWWISE, WIDE, Reads

Value = TypeVar("Value")
Environment = tuple[int, int, int, int]
"""The revisions of node objects and, as far as the rule reads them, of affinity terms, services and controllers, volumes."""
Still = tuple[int, int, int]
"""The revisions of node objects, affinity terms, services and controllers."""


class Unanswerable(Exception):
    """A predicate has an error for some row: this cycle must find out node by node whether the error counts."""


@attrs.frozen(eq=False)
class Scope:
    """What a rule reads, as far as it matters for when its answer is stale. There is one for each declaration."""

    rowwise: bool
    """The pods of the row itself."""
    counted: bool
    """How many pods of the row some query counts: only where a counter moved are rows stale."""
    wide: bool
    """What is on other rows."""
    owners: bool
    """Services and controllers."""
    volumes: bool
    """Volumes and claims."""

    @property
    def is_global(self) -> bool:
        """It reads something that no row shows."""
        return self.wide or self.owners or self.volumes

    @staticmethod
    @cache
    def of(reads: Reads) -> Scope:
        """That of a rule which declares *reads*."""
        return Scope(*(bool(reads & kind) for kind in (ROWWISE, Reads.COUNTS, WIDE, Reads.LISTINGS, Reads.VOLUMES)))


@attrs.define(eq=False, repr=False)
class Answer(ABC, Generic[Value]):
    """What a rule answered for all rows of the table, and at which revisions of what it reads this was verified.

    It is *declared* where the rule said which counts it follows from, by ``clauses`` or ``sums``, and then it follows these by itself.
    It is written by :class:`~.answers.AnswerCache` alone. Readers follow ``trail``.
    """

    rule: Any
    ask: Callable[..., Any]
    """What asks it: (pod, nodes, cycle) -> what it answers for these nodes."""
    table: NodeTable
    answer: Any = None
    """What it answers for all rows, unless it ``is_pending``: see the subclasses."""
    trail: Trail = attrs.field(factory=Trail)
    """The rows where the answer may have changed."""
    size: int = 0
    """Rows of the table when all were evaluated."""
    shared: bool = False
    """Others may have the arrays too, the rule or a reader: copy them before they change."""
    watches: Sequence[Watched | CountTerm] = ()
    """The counters of the census that it depends on."""
    is_pending: bool = False
    """The answer for each row is still to be laid out."""
    is_declared: bool = False
    is_restless: bool = True
    """It depends on something that neither ``still`` nor a counter shows: pods of the row, or volumes."""
    has_errors: bool = False
    """A predicate has an error for some row."""
    verified_at: int = NEVER
    """The revision of the table for which the answer is right; NEVER: all rows are stale."""
    still: Still | None = None
    """The revisions of what seldom moves, then."""
    environment: Environment | None = None
    """The revisions of what this rule reads, when the answer was verified; None: it is stale."""
    is_kept: bool = True
    """The cache has not dropped it; else it is there as long as its readers are."""
    scope: Scope = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.scope = Scope.of(self.rule.reads)

    def whole(self) -> Value:
        """What it answers for all rows, laid out where it was not."""
        if self.is_pending:
            self.lay_out()
        found: Value = self.answer
        return found

    @abstractmethod
    def lay_out(self) -> None:
        """Make ``answer`` of what is known by domain."""

    @abstractmethod
    def declare(self, declared: Any) -> Sequence[Watched | CountTerm]:
        """Take over what the rule *declared*, for all rows; gives the counters that it depends on."""

    @abstractmethod
    def follow(self) -> None:
        """Bring a declared answer up to date, where nothing but counters moved."""

    @abstractmethod
    def replace(self, found: Value) -> None:
        """Take a new answer for all rows."""

    @abstractmethod
    def put(self, rows: Rows, found: Value) -> None:
        """Take a new answer for *rows*."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of its arrays, about."""

    @property
    def everywhere(self) -> Batch:
        """All rows."""
        return Batch.everywhere(self.table)

    @property
    def watched(self) -> list[PodCount]:
        """The counters, each once."""
        return list(dict.fromkeys(watch.counter for watch in self.watches))

    @property
    def is_behind(self) -> bool:
        """Whether a counter moved since the answer was verified."""
        return any(watch.counter.revision != watch.seen for watch in self.watches)

    def forget(self) -> None:
        """Evaluate all rows next time."""
        self.verified_at, self.still, self.environment = NEVER, None, None
