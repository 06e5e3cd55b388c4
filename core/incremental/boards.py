"""The boards of the templates in use, made when a template is first asked about."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from itertools import islice
from typing import TypeVar
from weakref import WeakValueDictionary

import attrs

from ..cycle import Cycle
from ..pods.template import Template
from ..rebuilt import rebuilt_from
from ..rule import Predicate, Priority, Reads, every_pod
from .answers import AnswerCache
from .board import Board, Filtered
from .cachedanswer import Scope, Still
from .lookahead import Lookahead, LookaheadStats
from .rows import RowScores, reads_of
from .scored import Scored

T = TypeVar("T")
BOARD_OBJECTS = 1 << 12
"""Bytes of a board and of its answers beside their arrays, as tracemalloc has measured them."""


@attrs.frozen(eq=False, repr=False)
class Plan:
    """Which layer asks which of the rules that concern a pod: the same for all pods that these concern."""

    near: Sequence[Predicate]
    """Of the row alone."""
    beyond: Sequence[Predicate]
    of_nodes: Sequence[Predicate]
    """Of node objects alone."""
    worth: Sequence[tuple[Priority, int]]
    """Of the row alone, without a reduce step."""
    wider: Sequence[tuple[Priority, int]]
    perhaps_idle: Sequence[Predicate | Priority]
    """Those that may say the same of every node until what is durable changes."""
    reads: Reads
    """What the rules of the row read."""

    @classmethod
    def of(cls, predicates: Sequence[Predicate], priorities: Sequence[tuple[Priority, int]]) -> Plan:
        """That of these rules."""
        near, far = _divided(predicates, lambda rule: rule.is_of_row)
        beyond, of_nodes = _divided(far, lambda rule: Scope.of(rule.reads).is_global)
        worth, wider = _divided(priorities, lambda item: item[0].is_of_row and item[0].reduce is None)
        perhaps_idle = [rule for rule in beyond if rule.clauses], [rule for rule, _ in wider if rule.sums or rule.reads in Reads.NODE]
        return cls(near, beyond, of_nodes, worth, wider, [*perhaps_idle[0], *perhaps_idle[1]], reads_of(near, worth))


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

    def of(self, cycle: Cycle, lines: bool = False) -> Board:
        """The board of the template of *cycle*; *lines*: with the scores of each rule, as in :class:`~.rows.RowScores`."""
        found, still = self._known.pop(cycle.template, None), self.answers.still(cycle)
        if found is not None and found.still != still:
            found.even.clear()
            found = found if all(self.answers.is_idle(rule, cycle, still) for rule in found.idle) else None
        if found is None or found.near.keeps_lines is not lines:
            found = self._new(cycle, still, lines)
            self._make_room()
        found.still = still
        self._known[cycle.template] = found
        return found

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep the boards and answers of the templates *in_use* alone."""
        self._known = {template: board for template, board in self._known.items() if template in in_use}
        self.answers.forget(in_use)

    def _new(self, cycle: Cycle, still: Still, lines: bool) -> Board:
        answers, pod, algorithm = self.answers, cycle.template, cycle.algorithm
        parts = tuple([part for predicate in algorithm.predicates_for(pod) for part in predicate.parts_for(pod)])
        weighed = tuple([item for item in algorithm.priorities if item[0].concerns is every_pod or item[0].concerns(pod)])
        plan = self._plans.get((parts, weighed))
        if plan is None:
            plan = self._plans[parts, weighed] = Plan.of(parts, weighed)
        idle = [rule for rule in plan.perhaps_idle if answers.is_idle(rule, cycle, still)]
        beyond = [Filtered(answers.failures_of(rule, pod)) for rule in plan.beyond if rule not in idle]
        wider = [Scored(answers.scores_of(rule, pod), weight) for rule, weight in plan.wider if rule not in idle]
        of_nodes = [answers.failures_of(rule, pod) for rule in plan.of_nodes]
        return Board(answers, self._shared(pod, plan, lines), beyond, wider, of_nodes, idle)

    def _shared(self, pod: Template, plan: Plan, lines: bool) -> RowScores:
        """The row scores of *pod*, which it shares with all templates that these rules cannot tell from it."""
        keys = [self.answers.key(rule, pod) for rule in plan.near], [self.answers.key(rule, pod) for rule, _ in plan.worth]
        key = lines, pod.size, *map(tuple, keys)
        found = self._row_scores.get(key)
        if found is None:
            found = self._row_scores[key] = RowScores(
                self.answers.table, plan.near, plan.worth, ahead=Lookahead(luck=self._luck), reads=plan.reads, keeps_lines=lines
            )
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


def _divided(items: Iterable[T], test: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    """Those of *items* that pass *test*, and the others."""
    passed: list[T] = []
    others: list[T] = []
    for item in items:
        (passed if test(item) else others).append(item)
    return passed, others
