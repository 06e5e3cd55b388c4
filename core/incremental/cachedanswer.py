"""One rule's answer for the whole table: a derived value, what it was derived from, and which rows of it changed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

import attrs

from ..arrays.batch import Batch
from ..arrays.census import PodCount
from ..arrays.table import NodeTable
from ..arrays.trail import NEVER, NO_ROWS, Trail
from ..arrays.types import Rows
from ..cycle import Cycle
from ..rule import ROWWISE, WIDE, Reads
from .byvalue import Told, is_same, kept, moved_rows

Value = TypeVar("Value")
Environment = tuple[int, int, int]
"""The revisions of what no row tells of, counters aside: affinity terms, services and controllers, volumes."""
Still = tuple[int, int, int]
"""The revisions of node objects, affinity terms, services and controllers."""
FEW_ROWS = 8
"""Rows that a rule is asked about one by one."""


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
    is_global: bool
    """Something that no row tells of."""
    is_restless: bool
    """Something that neither ``Answer.still`` nor a counter tells of: pods of the row, or volumes."""

    @staticmethod
    @cache
    def of(reads: Reads) -> Scope:
        """That of a rule which declares *reads*."""
        rowwise, volumes = bool(reads & ROWWISE), bool(reads & Reads.VOLUMES)
        wide, owners = bool(reads & WIDE), bool(reads & Reads.LISTINGS)
        return Scope(rowwise, bool(reads & Reads.COUNTS), wide, owners, volumes, wide or owners or volumes, rowwise or volumes)

    @staticmethod
    @cache
    def together(scopes: frozenset[Scope]) -> Scope:
        """What several rules read."""
        return Scope(*(any(flags) for flags in zip(*map(attrs.astuple, scopes), strict=True))) if scopes else Scope.of(Reads.NOTHING)


@attrs.define(eq=False, repr=False)
class Answer(ABC, Generic[Value]):
    """What a rule answered for all rows of the table, and at which revisions of what it reads this was verified.

    ``answer`` is written by :class:`~.answers.AnswerCache` alone. Readers follow ``trail``.
    """

    scope: Scope
    trail: Trail = attrs.field(factory=Trail)
    """The rows where the answer may have changed."""
    size: int = 0
    """Rows of the table when all were evaluated."""
    shared: bool = False
    """Others may have the arrays too, the rule or a reader: copy them before they change."""
    watched: list[PodCount] = attrs.field(factory=list)
    """The counters of the census that the rule looked at."""
    moves: bool = True
    """Something of what it depends on is not in ``still``."""
    narrow: Sequence[bool] | None = None
    """For each of them, whether a pod that it counts concerns no row but its own; None: not known."""
    watches_terms: bool = True
    """It asked for terms, of which there may be more later."""
    tells: Callable[[], Told] | None = None
    """Computes the answer by value, once it was asked for."""
    values: Told | None = None
    """What the rule told by value, if that is where the answer is from."""
    tells_row: Callable[[int], Any] | None = None
    """Computes the answer for one row, once it was asked for; like ``tells`` until all rows are evaluated again."""
    by_domain: bool = False
    """A pod that comes or goes concerns the rows of its domains alone; no more once these were too many again and again."""
    too_many: int = 0
    """How often in a row they were too many."""
    verified_at: int = NEVER
    """The revision of the table for which the answer is right; NEVER: all rows are stale."""
    still: Still | None = None
    """The revisions of what seldom moves, when the answer was verified; None: it is stale."""
    node_revision: int = NEVER
    each_seen: Sequence[int] = ()
    """The revision of each counter that it watches, when the answer was verified."""
    environment: Environment = (0, 0, 0)
    """The revisions of what this rule reads, when the answer was verified."""
    bytes_held: int = 0
    """As the cache has counted them."""

    @abstractmethod
    def ask(self, rule: Any, cycle: Cycle, nodes: Batch) -> Value:
        """What *rule* answers for *nodes*."""

    @abstractmethod
    def told(self, nodes: Batch) -> Value:
        """What ``values`` say about *nodes*."""

    def follow(self, table: NodeTable) -> bool:
        """Bring the answer up to date by what was prepared, where nothing but counters moved; gives whether that was possible."""
        if self.tells_row is not None and self.narrow is not None:
            rows = self._own_rows()
            if rows is None:
                return False
            self.put_each(rows, self.tells_row)
            self.values = None
        elif self.tells is not None and not self.by_domain:
            self.still = None  # it stays stale if the rule has an error
            self.tell(self.tells(), table)
        else:
            return False
        return True

    def _own_rows(self) -> list[int] | None:
        """The rows on which counters moved, each once, where these are few and no others are concerned; None: it is not so."""
        found: list[int] = []
        assert self.narrow is not None
        for counter, seen, narrow in zip(self.watched, self.each_seen, self.narrow, strict=True):
            if counter.revision != seen:
                moved = counter.moved_since(seen) if narrow else None
                if moved is None or len(moved) > FEW_ROWS:
                    return None
                found += moved
        return sorted(set(found)) if len(found) > 1 else found

    def tell(self, values: Told, table: NodeTable) -> None:
        """Take the rule's answer for all rows, told by value."""
        before = self.values
        if before is not None and len(values) == len(before) == 1 and is_same(values[0], before[0]):
            return
        rows = None if before is None else moved_rows(before, values, table)
        if rows is NO_ROWS:
            return  # early cutoff: the values are as they were
        self.values = kept(values)
        if rows is None:
            self.tell_all(Batch.everywhere(table))
        elif len(rows):
            self.put(rows, self.told(Batch(table, rows)))

    def tell_all(self, nodes: Batch) -> None:
        """Take over what ``values`` say about all rows, which are *nodes*."""
        self.replace(self.told(nodes), nodes.n)

    def untell(self) -> None:
        """Forget what was prepared and told: it no longer holds."""
        self.values = self.tells = self.tells_row = self.narrow = None

    @abstractmethod
    def replace(self, found: Value, size: int) -> None:
        """Take a new answer for all of *size* rows."""

    @abstractmethod
    def put(self, rows: Rows, found: Value) -> None:
        """Take a new answer for *rows*."""

    @abstractmethod
    def put_each(self, rows: Sequence[int], tell: Callable[[int], Any]) -> None:
        """As :meth:`put`, where *tell* says what the answer is for each of *rows*."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of its arrays, about."""

    def forget(self) -> None:
        """Evaluate all rows next time."""
        self.verified_at = self.node_revision = NEVER
        self.still = None
