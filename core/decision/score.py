"""The scores of the feasible nodes, and the choice among the best.

Upstream: PrioritizeNodes and selectHost in pkg/scheduler/core/generic_scheduler.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

import attrs
import numpy as np

from ..arrays import Batch, Ints, Rows, Scores
from ..cycle import EVEN, Cycle, Priority, PriorityError, Reduction, constant_array
from .extender import Extender, extender_scores


@attrs.define(eq=False, repr=False)
class Ranking:
    """The scores of the k feasible nodes, in their order: totals, and int64[k] of each priority after its
    reduce step, without weight."""

    totals: Scores
    """int64[k]: the sum of score times weight."""
    by_priority: dict[str, Scores]
    raw: dict[str, Scores]
    """Priority -> int64[k]: its scores after the map step."""

    @property
    def standing(self) -> Scores:
        """int64[k]: the totals, possibly without a part that all nodes share."""
        return self.totals

    def at(self, places: Rows) -> Ranking:
        """The scores of the nodes at *places* alone."""
        by_priority = {name: scores.take(places) for name, scores in self.by_priority.items()}
        return Ranking(self.totals.take(places), by_priority, {})


@attrs.define(eq=False, repr=False)
class LateRanking:
    """A ranking with only its standing known: the rest costs as much as the decision, and is rarely read."""

    standing: Scores
    work_out: Callable[[Rows | None], Ranking]
    """To be called before the next cycle, with the places of the nodes in question; None: all."""

    @property
    def totals(self) -> Scores:
        return self.work_out(None).totals


class ScoreError(Exception):
    """Priorities failed; the cycle ends with this text. ``reduced``: the scores by priority that were
    computed before."""

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
    score_by_node = extender_scores(extenders, cycle.pod, described)
    return np.fromiter((score_by_node.get(nodes.name(i), 0) for i in range(nodes.n)), np.int64, nodes.n)


def reduced_scores(cycle: Cycle, priority: Priority, nodes: Batch, raw: Scores) -> Scores:
    """The scores of the feasible *nodes* after the reduce step, if there is one: int64[k]. Raises its
    PriorityError."""
    reduce = priority.reduce
    pod = cycle.template
    if reduce is None:
        return raw
    if isinstance(reduce, Reduction) and raw.strides == EVEN and reduce.zeros_alike and not raw[0]:
        # All nodes get the score of those whose raw scores are 0.
        score = pod.notes.get(reduce.slot)
        if score is None:
            first_node = Batch(nodes.table, nodes.indexes[:1])
            score = pod.notes[reduce.slot] = int(reduce(pod, np.zeros(1, np.int64), first_node, cycle)[0])
        return constant_array(score, len(raw))
    return reduce(pod, raw, nodes, cycle)


# --- The tie-break ------------------------------------------------------------------------------------------
# Upstream: selectHost in pkg/scheduler/core/generic_scheduler.go.


PickHost = Callable[[int, int], tuple[int, bool]]
"""(number of nodes with the best total, lastNodeIndex) -> (index of the host among them, whether
lastNodeIndex moves)."""


def places_of_best(totals: Ints) -> Rows:
    """The places of the highest of *totals*: intp[k]."""
    # Finding the place of the highest first takes half as long as asking numpy for the highest.
    places: Rows = (totals == totals[totals.argmax()]).nonzero()[0]
    return places


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
    """The rank of each place below 2 ** *bits* of a heap in preorder: int64[2 ** bits]."""
    numbers = np.arange(1, (1 << bits) + 1)
    depths = np.frexp(numbers.astype(np.float64))[1].astype(np.int64)
    order: Ints = (numbers << depths.max() - depths) * 64 + depths
    return order


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
        """The place of the host among the nodes that fit. The nodes with the best total are at *places*, in
        visiting order."""
        if len(places) > 1 and isinstance(self.pick, TopOfHeap):
            return int(places[self.pick.among(places)])
        return int(places[self.which(len(places))])

    def which(self, count: int) -> int:
        """The index of the host among *count* nodes with equal totals, in visiting order. The counter of
        picks moves on."""
        which, moves = self.pick(count, self.last_node_index)
        self.last_node_index += moves
        return which
