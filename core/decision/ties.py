"""The tie-break: which of several best nodes a pod gets. Upstream: selectHost in
pkg/scheduler/core/generic_scheduler.go."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import attrs
import numpy as np

from ..arrays.types import Ints, Rows

PickHost = Callable[[int, int], tuple[int, bool]]
"""(number of nodes with the best total, lastNodeIndex) -> (index of the host among them, whether
lastNodeIndex moves)."""


def places_of_best(totals: Ints) -> Rows:
    """The places of the highest of *totals*: intp[k]."""
    # To find the place of the highest first takes half as long as to ask numpy for the highest.
    found: Rows = (totals == totals[totals.argmax()]).nonzero()[0]
    return found


@attrs.frozen
class TopOfHeap:
    """A tie-break by the places of the best nodes among those that fit: a heap of all of them is built, and
    the one on top is taken.

    Upstream: newSortedNodeScores in pkg/scheduler/schedule_one.go; container/heap.
    """

    def __call__(self, ties: int, times: int) -> tuple[int, bool]:
        """The first, as where every node that fits has the best total."""
        return 0, False

    @staticmethod
    def among(places: Rows) -> int:
        """The index of the host among the best nodes, which are at *places* of the nodes that fit.

        On top is the first in preorder of the heap's tree: a parent before its children, the left child
        before the right one.
        """
        return int(_preorder(int(places[-1]).bit_length()).take(places).argmin()) if places[0] else 0


@cache
def _preorder(bits: int) -> Ints:
    """Numbers that rise as the places below 2 ** *bits* of a heap are met in preorder: int64[2 ** bits]."""
    numbers = np.arange(1, (1 << bits) + 1)
    depths = np.frexp(numbers.astype(np.float64))[1].astype(np.int64)
    found: Ints = (numbers << depths.max() - depths) * 64 + depths
    return found


@attrs.define(eq=False, repr=False)
class TieBreaker:
    """Picks a host among nodes with equal totals, in visiting order."""

    pick: PickHost
    last_node_index: int = 0
    """Upstream: lastNodeIndex, a counter of picks."""

    def best(self, totals: Ints) -> int:
        """The index of the host in *totals*: int64[k], in visiting order."""
        return self.of(places_of_best(totals))

    def of(self, places: Rows) -> int:
        """The place of the host among the nodes that fit; those with the best total are at *places*, in
        visiting order."""
        if len(places) > 1 and isinstance(self.pick, TopOfHeap):
            return int(places[self.pick.among(places)])
        return int(places[self.which(len(places))])

    def which(self, count: int) -> int:
        """The index of the host among *count* nodes with equal totals, in visiting order; the counter of
        picks moves on."""
        which, moves = self.pick(count, self.last_node_index)
        self.last_node_index += moves
        return which
