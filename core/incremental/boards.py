"""The boards of the templates in use, made when a template is first asked about."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from itertools import islice
from weakref import WeakValueDictionary

import attrs

from ..cycle import Cycle
from ..pods.template import Template
from ..rebuilt import rebuilt_from
from ..rule import every_pod
from .answers import AnswerCache
from .board import Board
from .lookahead import Lookahead, LookaheadStats
from .plan import Plan
from .rows import RowScores

BOARD_OBJECTS = 1 << 12
"""Bytes of a board and of its answers beside their arrays, as tracemalloc has measured them."""


@rebuilt_from("answers", "limit")
@attrs.define(eq=False, repr=False)
class Boards:
    """The boards of the templates in use, up to *limit* bytes; those not asked for longest are dropped."""

    answers: AnswerCache
    limit: int
    _known: dict[Template, Board] = attrs.field(factory=dict)
    _plans: dict[Hashable, Plan] = attrs.field(factory=dict)
    """By the rules that concern a pod."""
    _unweighed: int = 0
    """How many are new since they were weighed."""
    _luck: LookaheadStats = attrs.field(factory=LookaheadStats)
    _row_scores: WeakValueDictionary[Hashable, RowScores] = attrs.field(factory=WeakValueDictionary)

    def of(self, cycle: Cycle) -> Board:
        """The board of the template of *cycle*."""
        found = self._known.pop(cycle.template, None)
        if found is None:
            found = self._new(cycle)
            self._make_room()
        self._known[cycle.template] = found
        return found

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep the boards and answers of the templates *in_use* alone."""
        self._known = {template: board for template, board in self._known.items() if template in in_use}
        self.answers.forget(in_use)

    def _new(self, cycle: Cycle) -> Board:
        pod, algorithm = cycle.template, cycle.algorithm
        parts = tuple([part for predicate in algorithm.predicates_for(pod) for part in predicate.parts_for(pod)])
        weighed = tuple([item for item in algorithm.priorities if item[0].concerns is every_pod or item[0].concerns(pod)])
        plan = self._plans.get((parts, weighed))
        if plan is None:
            plan = self._plans[parts, weighed] = Plan.of(parts, weighed)
        return Board(self.answers, plan, self._shared(pod, plan))

    def _shared(self, pod: Template, plan: Plan) -> RowScores:
        """The row scores of *pod*, which it shares with all templates that these rules cannot tell from it."""
        keys = [self.answers.key(rule, pod) for rule in plan.near], [self.answers.key(rule, pod) for rule, _ in plan.worth]
        key = pod.size, *map(tuple, keys)
        found = self._row_scores.get(key)
        if found is None:
            found = self._row_scores[key] = RowScores(self.answers.table, plan.near, plan.worth, ahead=Lookahead(luck=self._luck))
        return found

    @property
    def held(self) -> int:
        """Bytes of all boards and of the row scores that they share."""
        boards, row_scores = self._known.values(), self._row_scores.values()
        return sum(BOARD_OBJECTS + board.nbytes for board in boards) + sum(near.nbytes for near in row_scores)

    def _make_room(self) -> None:
        """Where one in eight is new, weigh them, and drop those not asked for longest, an eighth at a time."""
        self._unweighed += 1
        if self._unweighed * 8 <= len(self._known):
            return
        self._unweighed = 0
        while self._known and self.held > self.limit:
            for template in list(islice(self._known, len(self._known) // 8 + 1)):
                del self._known[template]
