"""The visiting order of the nodes as rows of the table, and where the next search begins.

Releases with predicates visit the node tree round after round. The framework visits a list that is rebuilt
when nodes change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from ..arrays.table import NodeTable
from ..arrays.types import NO_ROWS, Rows
from ..rebuilt import rebuilt_from
from ..release.framework import ReadsByCursor
from .cache import Cache
from .snapshot import Snapshot


@attrs.define(eq=False, repr=False)
class Order(ABC):
    """The order in which the next search visits nodes. The snapshot must be fresh."""

    cache: Cache
    table: NodeTable
    is_regular: bool = attrs.field(default=True, init=False)
    """Whether the coming pass visits each node once."""
    revision: Hashable = attrs.field(default=-1, init=False)
    """Moves when the visited rows or their cyclic order change."""
    _latest: tuple[Hashable, int, Rows] | None = attrs.field(default=None, init=False)
    """The latest pass, and from where it was."""
    _places: tuple[Rows, Rows] | None = attrs.field(default=None, init=False)
    """The rows of a pass and their positions in it."""

    @property
    @abstractmethod
    def position(self) -> Any:
        """The node where the next search begins; it can be set."""

    @position.setter
    @abstractmethod
    def position(self, position: Any) -> None: ...

    @abstractmethod
    def one_pass(self) -> Rows:
        """The rows that the next search visits if it does not stop early: intp[nodes]."""

    @abstractmethod
    def take(self, visited: int, *, stopped: bool = False) -> None:
        """A search visited *visited* nodes; *stopped*: the last of them was the feasible node beyond the
        wanted number."""

    def places(self) -> Rows:
        """The position of each row in the latest pass: intp[rows]."""
        rows = self.one_pass() if self._latest is None else self._latest[2]
        if self._places is None or self._places[0] is not rows:
            places = np.zeros(int(rows.max()) + 1, np.intp)
            places[rows] = np.arange(len(rows))
            self._places = rows, places
        return self._places[1]


def _rows(names: Sequence[str], row_of: Mapping[str, int]) -> Rows:
    return np.fromiter(map(row_of.__getitem__, names), np.intp, len(names))


@rebuilt_from("cache", "table")
@attrs.define(eq=False, repr=False)
class RoundOrder(Order):
    """The endless rounds of the node tree. Upstream: NodeTree.Next in
    pkg/scheduler/internal/cache/node_tree.go."""

    _counts: tuple[int, int] = (0, 0)
    """The number of nodes in the rest of the first round and in a whole round."""
    _rest: Rows = NO_ROWS
    _rounds: Rows = NO_ROWS
    """The rows of a round twice, so that a round from any start is a slice."""

    @property
    def position(self) -> Any:
        return self.cache.order.taken

    @position.setter
    def position(self, position: Any) -> None:
        self.cache.order.taken = position

    def one_pass(self) -> Rows:
        order = self.cache.order
        if order.rest is None or self.revision != (order.version, self.table.rows_version):
            # The node tree has changed, or the rows of the table.
            self._rest, full_round = (_rows(names, self.table.row_of) for names in order.rest_and_round())
            self._rounds = np.concatenate([full_round, full_round])
            self._counts = len(self._rest), len(full_round)
            self.revision, self._latest = (order.version, self.table.rows_version), None
        rest, full = self._counts
        in_rest = order.taken < rest
        start = order.taken if in_rest else (order.taken - rest) % full if full else 0
        if self._latest is None or self._latest[:2] != (in_rest, start):
            count = len(order)
            if in_rest:
                rows = np.concatenate([self._rest[start:], self._rounds])[:count]
            else:
                rows = self._rounds[start : start + full]
            self._latest = in_rest, start, rows
            self.is_regular = not in_rest or (start == 0 and rest == count)
        return self._latest[2]

    def take(self, visited: int, *, stopped: bool = False) -> None:
        # Upstream: the feasible node beyond the wanted number is consumed too.
        self.cache.order.taken += visited


@attrs.define(eq=False, repr=False)
class ListOrder(Order):
    """The snapshot's list of nodes, one of each zone in turn. Upstream: nodeTree.list,
    updateNodeInfoSnapshotList."""

    snapshot: Snapshot
    by_cursor: ReadsByCursor = "never"
    """The list is read on from where the cursor of the node tree stopped, so that after a change it can begin
    at any node, and a node can occur twice and another not at all: in each cycle, or after changes."""
    start: int = 0
    """The index at which the next search begins. Upstream: nextStartNodeIndex."""
    _twice: tuple[Hashable, Rows] = (-1, NO_ROWS)
    """The rows twice, so that a pass from any start is a slice, and of which revision they are."""
    _version: int = -1
    """That of the snapshot when the list was read."""
    _read_at: tuple[int, int, int] | None = None
    """The version of the node tree and of the table's rows when it was read on, and the place in the rest of
    a round and a whole one."""
    _readings: int = 0
    """How often the list was another than before."""
    _rows: Rows = NO_ROWS

    @property
    def position(self) -> Any:
        return self.start if self.by_cursor == "never" else (self.start, self.cache.order.taken)

    @position.setter
    def position(self, position: Any) -> None:
        if self.by_cursor == "never":
            self.start = position
        else:
            self.start, self.cache.order.taken = position

    def read_again(self) -> None:
        """The list is read anew when it is asked for."""
        self._version = -1

    def rows(self) -> Rows:
        """The rows of the nodes, in list order: intp[nodes]."""
        if self._version != self.snapshot.version:
            self._version = self.snapshot.version
            if self.by_cursor == "never":
                self._rows = _rows(self.cache.order.tree.one_round(), self.table.row_of)
                self.revision = self._version
            else:
                self._read_on()
        return self._rows

    def _read_on(self) -> None:
        """As many nodes as there are, from the cursor on; the list is as before where the cursor has gone
        round once."""
        order = self.cache.order
        (rest, full), taken, count = order.rest_and_round(), order.taken, len(order)
        if not count:
            self._take_over(NO_ROWS)
            return
        at = taken if taken < len(rest) else len(rest) + (taken - len(rest)) % len(full)
        order.taken += count
        read_at = order.version, self.table.rows_version, at
        if read_at != self._read_at:
            first = rest[at:]
            at = max(0, at - len(rest))
            names = (
                [*first, *full[at:], *full[:at]]
                if len(first) + len(full) >= count
                else [*first, *full, *full]
            )
            self._take_over(_rows(names[:count], self.table.row_of))
            self._read_at = read_at

    def _take_over(self, rows: Rows) -> None:
        if not np.array_equal(rows, self._rows):
            self._readings += 1
            self._rows = rows
            self.revision = self._readings
            self.is_regular = len(np.unique(rows)) == len(rows)

    def one_pass(self) -> Rows:
        rows = self._rows if self._version == self.snapshot.version else self.rows()
        start = self.start % len(rows) if len(rows) else 0
        if self._latest is None or self._latest[:2] != (self.revision, start):
            if self._twice[0] != self.revision:
                self._twice = self.revision, np.concatenate([rows, rows])
            self._latest = self.revision, start, self._twice[1][start : start + len(rows)]
        return self._latest[2]

    def take(self, visited: int, *, stopped: bool = False) -> None:
        # Upstream: the feasible node beyond the wanted number is not consumed; the next search begins with
        # it.
        self.start = (self.start + visited - stopped) % len(self._rows)
