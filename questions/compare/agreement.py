"""How often two schedulers decide the same, choose another of the best nodes, or decide differently."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Final, Literal, TypeAlias

import attrs
import numpy as np

from ...api.record import Count, Record, says
from ...core.arrays.trail import NO_ROWS
from ...core.arrays.types import Rows
from ...core.decision.decision import Decision
from .contestants import Contestant, Feasible, RowMap

LOCKED: Final = "locked"
FREE: Final = "free"
Mode: TypeAlias = Literal["locked", "free"]
MODES = (LOCKED, FREE)
"""``locked``: all decide on the same state each time, and only the first one's decisions take effect; ``free``: each goes its own way."""


Verdict = Annotated[
    Literal["equally good", "different", "gated"],
    says(
        "Another node that the first configuration scores as high as its own; gated: one of the two does not try it, for its gates; "
        "or anything else."
    ),
]
"""Of a cycle in which two decide otherwise."""
SAME: Final = "same"
EQUALLY_GOOD: Final = "equally good"
DIFFERENT: Final = "different"
GATED: Final = "gated"
VERDICTS = (SAME, EQUALLY_GOOD, DIFFERENT, GATED)
"""Of a cycle, as the first contestant sees it.

``same``: the same node, or the same victims on the same node. ``equally good``: another node, which the first one scores as high as its
own, so that it could have taken it as well. ``gated``: one of the two does not try the pod, for its scheduling gates. ``different``:
all else.
"""
Decided = tuple[str | None, str | None, tuple[str, ...]]


def decided(decision: Decision) -> Decided:
    """The outcome of a decision: the host, or else the node of a preemption and its victims."""
    plan = decision.preemption
    if decision.host is not None or plan is None or plan.node is None:
        return decision.host, None, ()
    return None, plan.node, tuple(sorted(victim.key for victim in plan.victims))


def nodes_of(*outcomes: Decided) -> list[str]:
    """The nodes of some outcomes, each once: hosts, and those where room is made."""
    return list(dict.fromkeys(name for host, room, _ in outcomes for name in (host, room) if name is not None))


def best(decision: Decision) -> Rows:
    """intp[k]: the rows that share the best total, in visiting order; none if there is no host. *decision* must have kept its details."""
    details = decision.details
    if decision.host is None:
        return NO_ROWS
    return details.feasible_rows if details.best is None else details.feasible_rows.take(details.best)


class AgreementCounts(Record):
    """Counts of the decisions that both took."""

    decisions: Count
    same: Count
    errors: Annotated[Count, says("Of these: both ended in an error, such as that of an extender, so that they say nothing.")]
    equally_good: Count
    different: Count
    gated: Count
    equal_for_both: Annotated[Count, says("Of those equally good: the second one, too, scores both nodes the same.")]
    equal_for_second_alone: Annotated[Count, says("Of those that are different: only the second one scores both nodes the same.")]
    same_feasible: Annotated[Count, says("The same nodes fit.")]
    same_best: Annotated[Count, says("The same nodes are best.")]
    best_within: Annotated[Count, says("All best nodes of the second are best for the first, too.")]


@attrs.define(eq=False, repr=False)
class Agreement:
    """Counts over the cycles of *first* and *second*."""

    first: Contestant
    second: Contestant
    counts: Counter[str] = attrs.field(factory=Counter)
    """Cycles by verdict, and what else :class:`AgreementCounts` has, by its name there."""

    def add(self, one: Decision, other: Decision, feasible: Feasible) -> Literal["same"] | Verdict:
        """Count one cycle, before the next one begins, as the details are needed; answers its verdict."""
        ours, theirs = best(one), best(other)
        found = self._verdict(one, other, ours, theirs)
        self.counts[found] += 1
        self.counts["errors"] += found == SAME and (
            one.host is None and one.error is not None and not one.is_fit_error and not one.is_gated
        )
        self.counts["same_feasible"] += feasible.is_same
        self._add_best(ours, feasible.rows.of_first(theirs), feasible.rows)
        return found

    def _add_best(self, ours: Rows, theirs: Rows, rows: RowMap) -> None:
        """Count which nodes are best: rows of the first one, as it and as the second one says."""
        if np.array_equal(ours, theirs):
            self.counts.update(("same_best", "best_within"))
            return
        is_best = rows.marked(ours)
        self.counts["same_best"] += np.array_equal(is_best, rows.marked(theirs))
        self.counts["best_within"] += bool(is_best[theirs].all()) and bool(len(ours)) == bool(len(theirs))

    def _verdict(self, one: Decision, other: Decision, ours: Rows, theirs: Rows) -> Literal["same"] | Verdict:
        if one.is_gated != other.is_gated:
            return GATED
        if decided(one) == decided(other):
            return SAME
        found: Verdict = EQUALLY_GOOD if _holds(self.first, ours, other.host) else DIFFERENT
        if _holds(self.second, theirs, one.host):
            self.counts["equal_for_both" if found == EQUALLY_GOOD else "equal_for_second_alone"] += 1
        return found

    def record(self) -> AgreementCounts:
        """As data."""
        counts = self.counts
        named = {name: counts[name] for name in AgreementCounts.__struct_fields__ if name not in ("decisions", "equally_good")}
        return AgreementCounts(decisions=sum(counts[verdict] for verdict in VERDICTS), equally_good=counts[EQUALLY_GOOD], **named)


def _holds(contestant: Contestant, rows: Rows, host: str | None) -> bool:
    row = None if host is None else contestant.engine.row_of(host)
    return row is not None and bool((rows == row).any())
