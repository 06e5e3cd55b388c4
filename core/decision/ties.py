"""The tie-break: which of several best nodes a pod gets. Upstream: selectHost in pkg/scheduler/core/generic_scheduler.go."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

from ..arrays.types import Ints, Rows

PickHost = Callable[[int, int], tuple[int, bool]]
"""(number of nodes with the best total, lastNodeIndex) -> (index of the host among them, whether lastNodeIndex moves)."""


def places_of_best(totals: Ints) -> Rows:
    """Where the highest of *totals* are: intp[k]."""
    # To find the place of the highest first takes half as long as to ask numpy for the highest.
    found: Rows = (totals == totals[totals.argmax()]).nonzero()[0]
    return found


@attrs.define(eq=False, repr=False)
class TieBreaker:
    """Picks a host among nodes with equal totals, in visiting order."""

    pick: PickHost
    last_node_index: int = 0
    """Upstream: lastNodeIndex, a counter of picks."""

    def best(self, totals: Ints) -> int:
        """The index of the host in *totals*: int64[k], in visiting order."""
        ties = np.flatnonzero(totals == totals.max())
        return int(ties[self.which(len(ties))])

    def which(self, count: int) -> int:
        """The index of the host among *count* nodes with equal totals, in visiting order; the counter of picks moves on."""
        which, moves = self.pick(count, self.last_node_index)
        self.last_node_index += moves
        return which
