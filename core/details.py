"""The details of a decision, read off a board: the nodes that fit, and their scores by rule.

A comparison of schedulers needs the scores of every cycle, but the reasons against only a few nodes. So
reasons are worked out on demand, before the next cycle begins.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import attrs
import numpy as np

from .arrays import Batch, Rows, Scores
from .cycle import Cycle, PriorityError, constant_array
from .decision import FilterPass, LateRanking, Ranking, Verdict, judge, reduced_scores
from .incremental import verify
from .incremental.board import Board
from .incremental.quick import Detour, QuickPath
from .pods import rebuilt_from


@rebuilt_from("quick_path")
@attrs.define(eq=False, repr=False)
class BoardDetails:
    """The details of the cycles of one algorithm. Each detour rules them out, except for the wish for
    details."""

    quick_path: QuickPath
    _latest: tuple[Cycle, Board] | None = None
    """The latest cycle whose verdict was read off a board."""

    def verdict(self, cycle: Cycle, prepare: Callable[[], object] = bool) -> Verdict | None:
        """The nodes that fit; None: the rules have to be asked. Read the rest of the verdict before the next
        cycle begins.

        *prepare*: a step that rules need before they are asked.
        """
        self._latest = None
        path = self.quick_path
        if path.beyond_details(cycle) is not None:
            return None
        board = path.read(cycle, lambda board: board, by_rows=True)
        if isinstance(board, Detour):
            return None
        self._latest = cycle, board
        revision = cycle.table.changed.revision

        def judged() -> FilterPass:
            """The pass of all predicates over all nodes."""
            assert cycle.table.changed.revision == revision, "the next cycle has begun"
            prepare()
            return judge(cycle, Batch.everywhere(cycle.table), cycle.algorithm.check_all)

        return Verdict(judged, board.fits)

    def ranking(
        self,
        cycle: Cycle,
        rows: Rows,
        ask: Callable[[], Ranking],
        skipped: Callable[[], Collection[str]] = frozenset,
    ) -> Ranking | LateRanking:
        """The scores of the feasible *rows*: worked out late if the verdict of *cycle* is from here, else by
        *ask*.

        *skipped*: a function for the names of the rules that do not score. Raises the ScoreError of *ask*.
        """
        if self._latest is None or self._latest[0] is not cycle or not cycle.algorithm.priorities:
            return ask()
        board = self._latest[1]
        revision = cycle.table.changed.revision
        standing = board.near.worth.take(rows)
        reduced = dict[str, Scores]()
        try:
            for far_score in board.far.scores:
                scores = reduced[far_score.rule.name] = board.far.reduced(cycle, far_score, rows)
                standing += scores * far_score.weight
        except PriorityError:
            return ask()

        def work_out(places: Rows | None) -> Ranking:
            assert cycle.table.changed.revision == revision, "the next cycle has begun"
            if places is None:
                return _ranking(cycle, board, rows, reduced, skipped())
            reduced_at = {name: scores.take(places) for name, scores in reduced.items()}
            return _ranking(cycle, board, rows.take(places), reduced_at, skipped())

        if verify.SWITCH.is_on:
            ranking = work_out(None)
            fresh = ask()
            is_same = (
                [*ranking.by_priority] == [*fresh.by_priority]
                and not np.ptp(fresh.totals - standing)
                and all(
                    np.array_equal(kept_scores, fresh_scores)
                    for kept_scores, fresh_scores in zip(
                        (ranking.totals, *ranking.by_priority.values()),
                        (fresh.totals, *fresh.by_priority.values()),
                        strict=True,
                    )
                )
            )
            if not is_same:
                raise verify.StaleError(
                    f"the details of pod {cycle.pod.key} are stale: {ranking.by_priority}, worked out {fresh.by_priority}"
                )
        return LateRanking(standing, work_out)


def _ranking(
    cycle: Cycle, board: Board, rows: Rows, reduced: Mapping[str, Scores], skipped: Collection[str]
) -> Ranking:
    nodes = Batch(cycle.table, rows)
    near_names = {rule.name for rule, _ in board.plan.worth}
    totals = np.zeros(len(rows), np.int64)
    offset = 0
    by_priority = dict[str, Scores]()
    for rule, weight in cycle.algorithm.priorities:
        name = rule.name
        if name in skipped:
            continue
        if name in reduced or name in near_names:
            scores = reduced[name] if name in reduced else rule.score(cycle.template, nodes, cycle)
            by_priority[name] = scores
            totals += scores if weight == 1 else scores * weight
            continue
        score = board.alike.get(name)
        if score is None:
            first_node = nodes.some(np.zeros(1, np.intp))
            score = board.alike[name] = int(
                reduced_scores(cycle, rule, first_node, rule.score(cycle.template, first_node, cycle))[0]
            )
        by_priority[name], offset = constant_array(score, nodes.n), offset + score * weight
    return Ranking(totals + offset, by_priority, {})
