"""One interned value a node, and postings from values to the nodes that hold them: the table's building
blocks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any, Generic, TypeVar

import attrs
import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..rebuilt import rebuilt_from
from .trail import NEVER, Revisions, distinct
from .types import NO_ROWS, Ints, Mask, Rows, ValueCodes

T = TypeVar("T", bound=Hashable)


def grown(array: NDArray[Any], size: int) -> NDArray[Any]:
    """*array* with room for *size* entries along its last axis, doubled and filled with zeros where it was
    too short."""
    if array.shape[-1] >= size:
        return array
    room = max(size, 2 * array.shape[-1], 8)
    wider = np.zeros((*array.shape[:-1], room), array.dtype)
    wider[..., : array.shape[-1]] = array
    return wider


@attrs.define(eq=False, repr=False)
class NodeColumn(Generic[T]):
    """One value a node, held as a code into the list of distinct values; code 0 is *absent*.

    A test over the values is asked once a distinct value and answered for every node by one ``take``.
    """

    absent: T
    codes: ValueCodes = attrs.field(factory=lambda: np.zeros(8, np.intp))
    values: list[T] = attrs.field(init=False)
    _code_of: dict[T, int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.values = [self.absent]
        self._code_of = {self.absent: 0}

    def known(self, value: T) -> int:
        """The code of *value*, -1 where no node ever had it."""
        return self._code_of.get(value, -1)

    def code(self, value: T) -> int:
        """The code of *value*, a new one where it was not seen before."""
        found = self._code_of.get(value)
        if found is None:
            found = self._code_of[value] = len(self.values)
            self.values.append(value)
        return found

    def coded(self, values: Collection[T]) -> ValueCodes:
        """The codes of *values*: intp[k]."""
        try:
            return np.fromiter(map(self._code_of.__getitem__, values), np.intp, len(values))
        except KeyError:
            new = [value for value in dict.fromkeys(values) if value not in self._code_of]
            self._code_of.update(zip(new, range(len(self.values), len(self.values) + len(new)), strict=True))
            self.values += new
            return self.coded(values)

    def forget(self) -> None:
        """Keep the values that some row has alone, under new codes."""
        used = np.union1d(self.codes, [0])
        self.codes = used.searchsorted(self.codes)
        self.values = [self.values[code] for code in used.tolist()]
        self._code_of = {value: code for code, value in enumerate(self.values)}

    def ask(self, test: Callable[[T], Any], dtype: DTypeLike = bool) -> NDArray[Any]:
        """*test* of each distinct value, by code."""
        return np.fromiter((test(value) for value in self.values), dtype, len(self.values))


@attrs.frozen(eq=False)
class ColumnView(Generic[T]):
    """A column as one batch sees it: ``codes`` intp[n]."""

    column: NodeColumn[T]
    codes: ValueCodes

    @property
    def values(self) -> list[T]:
        """The distinct values by code."""
        return self.column.values

    def where(self, test: Callable[[T], Any], dtype: DTypeLike = bool) -> NDArray[Any]:
        """The answer of *test* for every node, asked once a distinct value: dtype[n]."""
        return self.column.ask(test, dtype)[self.codes]

    def equals(self, value: T) -> Mask:
        """The nodes with *value*: bool[n]."""
        found: Mask = self.codes == self.column.known(value)
        return found

    @property
    def present(self) -> Mask:
        """The nodes with any value: bool[n]."""
        found: Mask = self.codes != 0
        return found

    def at(self, i: int) -> T:
        """The value of node *i* of the batch."""
        return self.column.values[int(self.codes[i])]


@attrs.frozen(eq=False)
class RowsByCode:
    """The rows with each value of a column."""

    rows: Rows
    """All rows, those of one code together."""
    starts: Ints
    """int64[codes + 1]: where in ``rows`` those of a code begin."""
    are_apart: bool
    """No two rows have the same value; those that have none do not count."""

    @classmethod
    def of(cls, codes: ValueCodes) -> RowsByCode:
        """The rows of *codes*: intp[rows]."""
        numbers = np.bincount(codes)
        starts = np.concatenate([np.zeros(1, np.int64), numbers.cumsum()])
        return cls(codes.argsort(kind="stable"), starts, bool(numbers[1:].max(initial=0) <= 1))

    def at(self, code: int) -> Rows:
        """The rows with the value of *code*, ascending: intp[k]."""
        if code + 1 < len(self.starts):
            return self.rows[self.starts[code] : self.starts[code + 1]]
        return NO_ROWS


@attrs.define(eq=False, repr=False)
class Postings:
    """From a value to the rows that hold it: a pod asks for few values, a node holds many."""

    rows: dict[Hashable, set[int]] = attrs.Factory(dict)

    def put(self, value: Hashable, row: int) -> None:
        """Note that *row* holds *value*."""
        self.rows.setdefault(value, set()).add(row)

    def drop(self, value: Hashable, row: int) -> None:
        """Forget *value* on *row*, if it is there."""
        held = self.rows.get(value)
        if held is not None:
            held.discard(row)
            if not held:
                del self.rows[value]

    def of(self, value: Hashable) -> Collection[int]:
        """The rows that hold *value*. Not to be changed."""
        return self.rows.get(value, ())


# --- changes by row -----------------------------------------------------------------------------------------

# The log of what happened to the rows of a table: the input from which all that is kept between cycles is
# brought up to date.


Event = tuple[int, Hashable]
"""A row that changed, and the size of the pod that came, where that is all; else None."""

STEP_COST = 1 << 7
"""To look at one step takes as long as to look at that many rows."""


@rebuilt_from()
@attrs.define(eq=False, repr=False)
class Derived:
    """A value derived from a table, which can be derived again: a copy begins empty."""

    kept: dict[Hashable, Any] = attrs.Factory(dict)


@attrs.define(eq=False, repr=False)
class ChangeLog(Revisions[Event]):
    """The steps of the table: rows that changed, with the pods that came."""

    node_revision: int = 0
    """Moves when a node object changes, or something that only rules see which look behind the table."""
    _changed_at: Ints = attrs.field(factory=lambda: np.zeros(8, np.int64))
    """Row -> the revision that its latest change made."""
    _latest: tuple[tuple[int, int], Rows] | None = None
    """The answer to the latest question, as many readers ask the same one."""

    def node_changed(self, row: int) -> None:
        """The node object of *row* changed, or its whole content."""
        self.node_revision += 1
        self.note(row, None)

    def nodes_changed(self, rows: Rows) -> None:
        """As :meth:`node_changed`, for many rows at once."""
        self.node_revision += 1
        self.extend([(row, None) for row in rows.tolist()])
        self._changed_at = grown(self._changed_at, int(rows.max(initial=-1)) + 1)
        self._changed_at[rows] = self.revision

    def note(self, row: int, arrival: Hashable) -> None:
        """A pod of the size *arrival* was put on *row*; None: one was taken off."""
        self._steps.append((row, arrival))
        self.revision: int = self.revision + 1
        if row >= len(self._changed_at):
            self._changed_at = grown(self._changed_at, row + 1)
        self._changed_at[row] = self.revision
        if len(self._steps) > self.limit:
            self._drop(len(self._steps) // 2)

    def unseen_changed(self) -> None:
        """Something changed that no row shows, for rules that look behind the table."""
        self.node_revision += 1

    def since(self, revision: int) -> Rows | None:
        """The rows that changed after *revision*, each once, ascending: intp[k]; None: look at all."""
        if self._latest is None or self._latest[0] != (revision, self.revision):
            if revision == NEVER:
                return None
            if revision >= self._start and (self.revision - revision) * STEP_COST < STEP_COST + len(
                self._changed_at
            ):
                rows = distinct([row for row, _ in self._steps[revision - self._start :]])
            else:
                rows = (self._changed_at > revision).nonzero()[0]
            self._latest = (revision, self.revision), rows
        return self._latest[1]
