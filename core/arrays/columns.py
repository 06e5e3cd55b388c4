"""The table's building blocks: arrays, columns of one interned value a node, and postings from values to the
nodes that hold them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar

import attrs
import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...api.objects import shortcut, wrap_int64
from ..pods import rebuilt_from

# --- Names for arrays, and whole numbers as Go has them -----------------------------------------------------
# Shapes are in the docstrings of the arrays' owners.


Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
"""Nodes or rows for which something holds."""
Rows = NDArray[np.intp]
"""Rows of a table, or indexes into a batch."""
ValueCodes = NDArray[np.intp]
"""Values of a column, as indexes into its list of distinct values."""
Scores = NDArray[np.int64]
"""The score of each node by a priority."""

NO_INTS: Ints = np.zeros(0, np.int64)
NO_ROWS: Rows = np.zeros(0, np.intp)
NOWHERE: Mask = np.zeros(0, np.bool_)
"""The initial value of arrays that are made later; nothing can be written to it, as it is empty."""


# --- arithmetic as Go has it --------------------------------------------------------------------------------


def truncated_div(numerator: Ints, denominator: Ints | int) -> Ints:
    """*numerator* / *denominator* without the fraction, rounded toward zero: int64 as given; 0 where the
    denominator is 0.

    >>> truncated_div(np.array([7, -7, 7]), np.array([2, 2, 0])).tolist()
    [3, -3, 0]
    """
    quotient: Ints
    if isinstance(denominator, int) and denominator > 0:
        # A power of two is shifted out: that rounds down too, and is four times as fast.
        if denominator.bit_count() == 1:
            quotient = numerator >> (denominator.bit_length() - 1)
        else:
            quotient = numerator // denominator
    else:
        with np.errstate(divide="ignore", over="ignore"):
            quotient = numerator // denominator
    # numpy rounds down, which differs only below zero.
    negative = quotient < 0
    if is_anywhere(negative):
        quotient += negative & (quotient * denominator != numerator)
    return quotient


def is_anywhere(mask: Mask) -> bool:
    """Whether *mask* is True anywhere. Up to some thousand entries this takes a third of the time of a count
    by numpy.

    >>> is_anywhere(np.array([True, False]))
    True
    """
    return 1 in mask.tobytes()


def is_everywhere(mask: Mask) -> bool:
    """Whether *mask* is True everywhere.

    >>> is_everywhere(np.array([True, False]))
    False
    """
    return 0 not in mask.tobytes()


def add_at(sums: Ints, at: int | tuple[int, int], number: int) -> None:
    """Add *number* to one of *sums*, int64; as Go's, a sum wraps around at 2**63.

    >>> sums = np.array([2**63 - 1])
    >>> add_at(sums, 0, 2)
    >>> sums.tolist() == [1 - 2**63]
    True
    """
    total = sums.item(at) + number
    try:
        sums[at] = total
    except OverflowError:
        sums[at] = wrap_int64(total)


def tabulated(function: Callable[[Ints], Ints], numbers: Ints) -> Ints:
    """``function(numbers)`` for *numbers* of 0 or more: int64[n]. It is computed once for each number up to
    the greatest, where these are fewer.

    >>> tabulated(lambda n: n * n, np.array([2, 0, 2, 2])).tolist()
    [4, 0, 4, 4]
    """
    most = int(numbers.max(initial=0))
    return function(numbers) if most >= len(numbers) else function(up_to(most)).take(numbers)


@lru_cache(1 << 8)
def up_to(last: int) -> Ints:
    """0 to *last*: int64[last + 1]. Not to be changed."""
    return np.arange(last + 1)


def whole(numbers: Floats) -> Ints:
    """*numbers* without their fractions: int64 as given.

    >>> whole(np.array([2.9, -2.9, -1e19])).tolist()
    [2, -2, -9223372036854775808]
    """
    # Upstream: a number that 64 bits cannot hold silently becomes the least number on amd64.
    with np.errstate(invalid="ignore"):
        return numbers.astype(np.int64)


def rounded(numbers: Floats) -> Ints:
    """*numbers* as whole ones, halves away from zero: int64[n].

    >>> rounded(np.array([0.5, 1.4, -2.5])).tolist()
    [1, 1, -3]
    """
    truncated = np.trunc(numbers)
    return whole(truncated + np.trunc(2 * (numbers - truncated)))


# --- The rows of an array that changed ----------------------------------------------------------------------
# Changes by revision, from which a derived value knows which of its rows are stale.


Step = TypeVar("Step")

NEVER = -1
"""The revision that a reader has seen before it looked for the first time."""
MAX_TRAIL = 1 << 14
"""The number of steps that are kept; a reader that is further behind looks at all rows."""


@attrs.define(eq=False, repr=False)
class Revisions(Generic[Step]):
    """Steps of change, numbered; the oldest ones are dropped where there are more than *limit*."""

    limit: int = MAX_TRAIL
    revision: int = 0
    """The number of steps so far."""
    _start: int = 0
    """The earliest revision from which all later steps are kept."""
    _steps: list[Step] = attrs.Factory(list)

    def steps_since(self, revision: int) -> list[Step] | None:
        """The steps after *revision*, oldest first; None where they are no longer kept."""
        return None if revision < self._start else self._steps[revision - self._start :]

    @property
    def kept(self) -> int:
        """The number of steps that are kept."""
        return len(self._steps)

    def extend(self, steps: Sequence[Step]) -> None:
        """Add *steps*."""
        self._steps += steps
        self.revision += len(steps)
        if len(self._steps) > self.limit:
            self._drop(len(self._steps) // 2)

    def begin_anew(self) -> None:
        """Drop all steps, as anything may have changed: readers that are behind look at everything."""
        self.revision += 1
        self._start = self.revision
        self._steps.clear()

    def _drop(self, count: int) -> None:
        """Forget the oldest *count* steps."""
        del self._steps[:count]
        self._start += count


def distinct(rows: Sequence[int]) -> Rows:
    """Each of *rows* once, ascending: intp[k]."""
    ascending = sorted(set(rows)) if len(rows) > 1 else rows
    return np.fromiter(ascending, np.intp, len(ascending))


# --- Columns ------------------------------------------------------------------------------------------------


_T = TypeVar("_T", bound=Hashable)


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
class NodeColumn(Generic[_T]):
    """One value a node, held as a code into the list of distinct values; code 0 is *absent*.

    A test over the values is asked once a distinct value and answered for every node by one ``take``.
    """

    absent: _T
    codes: ValueCodes = attrs.field(factory=lambda: np.zeros(8, np.intp))
    values: list[_T] = attrs.field(init=False)
    _code_of: dict[_T, int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.values = [self.absent]
        self._code_of = {self.absent: 0}

    def known(self, value: _T) -> int:
        """The code of *value*, -1 where no node ever had it."""
        return self._code_of.get(value, -1)

    def code(self, value: _T) -> int:
        """The code of *value*, a new one where it was not seen before."""
        code = self._code_of.get(value)
        if code is None:
            code = self._code_of[value] = len(self.values)
            self.values.append(value)
        return code

    def coded(self, values: Collection[_T]) -> ValueCodes:
        """The codes of *values*: intp[k]."""
        try:
            return np.fromiter(map(self._code_of.__getitem__, values), np.intp, len(values))
        except KeyError:
            new = [value for value in dict.fromkeys(values) if value not in self._code_of]
            self._code_of.update(zip(new, range(len(self.values), len(self.values) + len(new)), strict=True))
            self.values += new
            return self.coded(values)

    def forget(self) -> None:
        """Keep only the values that some row has, under new codes."""
        used = np.union1d(self.codes, [0])
        self.codes = used.searchsorted(self.codes)
        self.values = [self.values[code] for code in used.tolist()]
        self._code_of = {value: code for code, value in enumerate(self.values)}

    def ask(self, test: Callable[[_T], Any], dtype: DTypeLike = bool) -> NDArray[Any]:
        """*test* of each distinct value, by code."""
        return np.fromiter((test(value) for value in self.values), dtype, len(self.values))


@attrs.frozen(eq=False)
class ColumnView(Generic[_T]):
    """A column as one batch sees it: ``codes`` intp[n]."""

    column: NodeColumn[_T]
    codes: ValueCodes

    values: ClassVar[list[Any]] = shortcut("column.values")
    """The distinct values by code."""

    def where(self, test: Callable[[_T], Any], dtype: DTypeLike = bool) -> NDArray[Any]:
        """The answer of *test* for every node, asked once a distinct value: dtype[n]."""
        return self.column.ask(test, dtype)[self.codes]

    def equals(self, value: _T) -> Mask:
        """The nodes with *value*: bool[n]."""
        mask: Mask = self.codes == self.column.known(value)
        return mask

    @property
    def present(self) -> Mask:
        """The nodes with any value: bool[n]."""
        mask: Mask = self.codes != 0
        return mask

    def at(self, i: int) -> _T:
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
    """Whether no two rows have the same value; rows without a value do not count."""

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
class RowsByValue:
    """Value -> the rows that hold it: a pod asks for few values, a node holds many."""

    rows: dict[Hashable, set[int]] = attrs.Factory(dict)

    def put(self, value: Hashable, row: int) -> None:
        """Note that *row* holds *value*."""
        self.rows.setdefault(value, set()).add(row)

    def drop(self, value: Hashable, row: int) -> None:
        """Forget *value* on *row*, if it is there."""
        rows = self.rows.get(value)
        if rows is not None:
            rows.discard(row)
            if not rows:
                del self.rows[value]

    def of(self, value: Hashable) -> Collection[int]:
        """The rows that hold *value*. Not to be changed."""
        return self.rows.get(value, ())


# --- changes by row -----------------------------------------------------------------------------------------

# The log of changes to the rows of a table, by which everything kept between cycles is updated.


Event = tuple[int, Hashable]
"""A row that changed, and the size of the pod that came, if that is the only change; else None."""

STEP_COST = 1 << 7
"""The rows that can be looked at in the time of one step."""


@rebuilt_from()
@attrs.define(eq=False, repr=False)
class Derived:
    """A value derived from a table, which can be derived again: a copy begins empty."""

    kept: dict[Hashable, Any] = attrs.Factory(dict)


@attrs.define(eq=False, repr=False)
class ChangeLog(Revisions[Event]):
    """The steps of the table: rows that changed, with the pods that came."""

    node_revision: int = 0
    """Moves when a node object changes, or state that only rules see which look behind the table."""
    derived: Derived = attrs.Factory(Derived)
    """Values that follow from the node objects alone; empty when one has changed."""
    _changed_at: Ints = attrs.field(factory=lambda: np.zeros(8, np.int64))
    """Row -> the revision that its latest change made."""
    _latest: tuple[tuple[int, int], Rows] | None = None
    """The latest answer of :meth:`since`, as many readers ask for the same one."""

    def node_changed(self, row: int) -> None:
        """The node object of *row* changed, or its whole content."""
        self.unseen_changed()
        self.note(row, None)

    def nodes_changed(self, rows: Rows) -> None:
        """As :meth:`node_changed`, for many rows at once."""
        self.unseen_changed()
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
        """Note a change that no row shows, for rules that look behind the table."""
        self.node_revision += 1
        self.derived = Derived()

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
