"""How often two schedulers decide the same, choose another of the best nodes, or decide differently."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from ...core.arrays.trail import NO_ROWS
from ...core.arrays.types import Rows
from ...core.decision.decision import Decision
from ...core.decision.ties import places_of_best
from .contestants import Contestant
from .rowmaps import Feasible, RowMap

SAME, AMONG_BEST, DIFFERENT, HELD_BACK = "same", "among the best", "different", "held back"
VERDICTS = (SAME, AMONG_BEST, DIFFERENT, HELD_BACK)
"""Of a cycle, as the first contestant sees it.

``same``: the same node, or the same victims on the same node. ``among the best``: another node, which the first one scores as high as its
own, so that it could have taken it as well. ``held back``: one of the two does not try the pod, for its scheduling gates. ``different``:
all else.
"""
Decided = tuple[str | None, str | None, tuple[str, ...]]


def decided(decision: Decision) -> Decided:
    """The outcome of a decision: the host, or else the node of a preemption and its victims."""
    plan = decision.preemption
    if decision.host is not None or plan is None or plan.node is None:
        return decision.host, None, ()
    return None, plan.node, tuple(sorted(victim.key for victim in plan.victims))


def best(decision: Decision) -> Rows:
    """intp[k]: the rows that share the best total, in visiting order; none if there is no host. *decision* must have kept its details."""
    details = decision.details
    if decision.host is None:
        return NO_ROWS
    if details.ranking is None:
        return details.feasible_rows
    places = places_of_best(details.ranking.totals) if details.best is None else details.best
    found: Rows = details.feasible_rows.take(places)
    return found


@attrs.define(eq=False)
class Agreement:
    """Counts over the cycles of *first* and *second*."""

    first: Contestant
    second: Contestant
    counts: dict[str, int] = attrs.field(factory=lambda: dict.fromkeys(VERDICTS, 0))
    """Verdict -> cycles."""
    equal_for_both: int = 0
    """Of those among the best: the second one, too, gives both nodes the same score."""
    equal_for_second: int = 0
    """Of those that are different: only the second one gives both nodes the same score."""
    same_fitting: int = 0
    """Cycles in which the same nodes fit."""
    same_best: int = 0
    """Cycles in which the same nodes are best, or neither finds one."""
    best_within: int = 0
    """Cycles in which all best nodes of the second are best for the first too: whatever the tie-break, the first could have agreed."""

    def add(self, one: Decision, other: Decision, feasible: Feasible) -> str:
        """Count one cycle, before the next one begins, as the details are needed; answers its verdict."""
        ours, theirs = best(one), best(other)
        found = self._verdict(one, other, ours, theirs)
        self.counts[found] += 1
        self.same_fitting += feasible.is_same
        self._add_best(ours, feasible.rows.of_first(theirs), feasible.rows)
        return found

    def _add_best(self, ours: Rows, theirs: Rows, rows: RowMap) -> None:
        """Count which nodes are best: rows of the first one, as it and as the second one says."""
        if np.array_equal(ours, theirs):
            self.same_best, self.best_within = self.same_best + 1, self.best_within + 1
            return
        is_best = rows.marked(ours)
        self.same_best += np.array_equal(is_best, rows.marked(theirs))
        self.best_within += bool(is_best[theirs].all()) and bool(len(ours)) == bool(len(theirs))

    def _verdict(self, one: Decision, other: Decision, ours: Rows, theirs: Rows) -> str:
        if one.is_gated != other.is_gated:
            return HELD_BACK
        return SAME if decided(one) == decided(other) else self._unlike(one, other, ours, theirs)

    def _unlike(self, one: Decision, other: Decision, ours: Rows, theirs: Rows) -> str:
        found = AMONG_BEST if _holds(self.first, ours, other.host) else DIFFERENT
        if _holds(self.second, theirs, one.host):
            self.equal_for_both += found == AMONG_BEST
            self.equal_for_second += found == DIFFERENT
        return found

    def record(self) -> dict[str, Any]:
        """As plain data."""
        names = {"same": SAME, "amongBest": AMONG_BEST, "different": DIFFERENT, "heldBack": HELD_BACK}
        counts = {name: self.counts[verdict] for name, verdict in names.items()}
        split = {"equalForBoth": self.equal_for_both, "equalForSecondAlone": self.equal_for_second}
        sets = {"sameFeasible": self.same_fitting, "sameBest": self.same_best, "bestWithin": self.best_within}
        return {"cycles": sum(self.counts.values()), **counts, **split, **sets}


def _holds(contestant: Contestant, rows: Rows, host: str | None) -> bool:
    row = None if host is None else contestant.engine.row_of(host)
    return row is not None and bool((rows == row).any())
