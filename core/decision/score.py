"""The scores of the feasible nodes.

Upstream: PrioritizeNodes and selectHost in pkg/scheduler/core/generic_scheduler.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.types import Rows, Scores
from ..cycle import EVEN, Cycle, Priority, PriorityError, Reduction, constant_array
from .extender import Extender, extender_scores


@attrs.define(eq=False, repr=False)
class Ranking:
    """Scores of the k feasible nodes, in their order: in total, and of each priority, int64[k], after its
    reduce step, without weight."""

    totals: Scores
    """int64[k]: the sum of score times weight."""
    by_priority: dict[str, Scores]
    raw: dict[str, Scores]
    """Priority -> int64[k]: its scores after the map step."""

    @property
    def standing(self) -> Scores:
        """int64[k]: the totals, perhaps but for what all nodes get alike."""
        return self.totals


@attrs.define(eq=False, repr=False)
class LateRanking:
    """A ranking of which only the standing is known: the rest costs as much as the decision, and few ask for
    it."""

    standing: Scores
    work_out: Callable[[], Ranking]
    """To be called before the next cycle."""

    @property
    def totals(self) -> Scores:
        return self.work_out().totals


class ScoreError(Exception):
    """Priorities failed; the cycle ends with this text. ``reduced``: scores by priority, where they were
    worked out before that."""

    def __init__(self, text: str, reduced: Mapping[str, Scores] = MappingProxyType({})) -> None:
        super().__init__(text)
        self.reduced = reduced


def prioritize(cycle: Cycle, feasible: Rows, extenders: Sequence[Extender] = ()) -> Ranking:
    """Score the rows *feasible*; without priorities and extenders every node scores 1. Raises
    :class:`ScoreError`."""
    algorithm = cycle.algorithm
    totals = np.zeros(len(feasible), np.int64)
    ranking = Ranking(totals, {}, {})
    if not algorithm.priorities and not algorithm.extenders and not extenders:
        totals += 1
        return ranking
    nodes = Batch(cycle.table, feasible)
    errors = []
    priorities = [priority for priority, _ in algorithm.priorities]
    for (priority, weight), raw in zip(
        algorithm.priorities, cycle.raw_scores(priorities, nodes), strict=True
    ):
        try:
            if isinstance(raw, PriorityError):
                raise raw
            reduced = reduced_scores(cycle, priority, nodes, raw)
            ranking.raw[priority.name], ranking.by_priority[priority.name] = raw, reduced
            totals += reduced if weight == 1 else reduced * weight
        except PriorityError as error:
            # Upstream: a map function runs node by node, and the error of each node is kept.
            errors += [str(error)] * (1 if priority.whole_list or error.once else nodes.n)
    if errors:
        raise ScoreError(cycle.release.error_joiner(sorted(errors)))
    if extenders:
        totals += scores_by_extenders(cycle, nodes, extenders)
    return ranking


def scores_by_extenders(cycle: Cycle, nodes: Batch, extenders: Sequence[Extender]) -> Scores:
    """The scores by *extenders* of the feasible *nodes*, with their weights: int64[n]."""
    described = cycle.described or [node for i in range(nodes.n) if (node := nodes.node(i)) is not None]
    found = extender_scores(extenders, cycle.pod, described)
    return np.fromiter((found.get(nodes.name(i), 0) for i in range(nodes.n)), np.int64, nodes.n)


def reduced_scores(cycle: Cycle, priority: Priority, nodes: Batch, raw: Scores) -> Scores:
    """The scores of the feasible *nodes* after the reduce step, if there is one: int64[k]. Raises its
    PriorityError."""
    reduce = priority.reduce
    pod = cycle.template
    if reduce is None:
        return raw
    if isinstance(reduce, Reduction) and raw.strides == EVEN and reduce.zeros_alike and not raw[0]:
        # All nodes get the score of those whose raw scores are 0.
        found = pod.notes.get(reduce.slot)
        if found is None:
            first = Batch(nodes.table, nodes.indexes[:1])
            found = pod.notes[reduce.slot] = int(reduce(pod, np.zeros(1, np.int64), first, cycle)[0])
        return constant_array(found, len(raw))
    return reduce(pod, raw, nodes, cycle)
