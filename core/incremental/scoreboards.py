"""The scoreboards of the templates in use, made when a template is first asked about."""


from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar
from weakref import WeakValueDictionary

import attrs

from ..cycle import Cycle
from ..pods.template import Template
from ..rebuilt import rebuilt_from
from ..rule import Predicate, Priority
from .answers import AnswerCache
from .lookahead import Lookahead, Luck
from .rows import RowScores
from .scoreboard import Scoreboard
from .tracked import TrackedPredicate, TrackedPriority

T = TypeVar("T")


@rebuilt_from("answers", "limit")
@attrs.define(eq=False, repr=False)
class Scoreboards:
    """The scoreboards of the templates in use, up to *limit* bytes; those not asked for longest are dropped."""

    answers: AnswerCache
    limit: int
    _known: dict[Template, Scoreboard] = attrs.field(factory=dict)
    _luck: Luck = attrs.field(factory=Luck)
    _row_scores: WeakValueDictionary[Hashable, RowScores] = attrs.field(factory=WeakValueDictionary)

    def of(self, cycle: Cycle) -> Scoreboard:
        """The scoreboard of the template of *cycle*."""
        found = self._known.pop(cycle.template, None)
        now = self.answers.table.census.terms_revision, cycle.listings.owner_tick.count
        if found is not None and found.idle_at != now:
            found = found if all(rule.is_idle(cycle.template, cycle) for rule in found.idle) else None
        if found is None:
            found = self._new(cycle)
            while self._known and len(self._known) * self._size() > self.limit:
                del self._known[next(iter(self._known))]
        found.idle_at = now
        self._known[cycle.template] = found
        return found

    def _new(self, cycle: Cycle) -> Scoreboard:
        answers, pod, algorithm = self.answers, cycle.template, cycle.algorithm
        parts = [part for predicate in algorithm.predicates_for(pod) for part in predicate.parts_for(pod)]
        near, far = _divided(parts, lambda predicate: predicate.is_of_row)
        weighed = [(priority, weight) for priority, weight in algorithm.priorities if priority.concerns(pod)]
        worth, wider = _divided(weighed, lambda item: item[0].is_of_row and item[0].reduce is None)
        idle: list[Predicate | Priority] = [predicate for predicate in far if predicate.is_idle(pod, cycle)]
        idle += [priority for priority, _ in wider if priority.is_idle(pod, cycle)]
        tracked = [TrackedPredicate(predicate, answers.failures_of(predicate, pod)) for predicate in far if predicate not in idle]
        beyond, of_nodes = _divided(tracked, lambda item: item.answer.scope.is_global)
        counted = [TrackedPriority(rule, weight, answers.scores_of(rule, pod)) for rule, weight in wider if rule not in idle]
        return Scoreboard(answers, self._shared(pod, near, worth), beyond, counted, of_nodes, idle)

    def _shared(self, pod: Template, predicates: list[Predicate], priorities: list[tuple[Priority, int]]) -> RowScores:
        """The row scores of *pod*, which it shares with all templates that these rules cannot tell from it."""
        keys = [self.answers.key(rule, pod) for rule in predicates], [self.answers.key(rule, pod) for rule, _ in priorities]
        key = pod.size, *map(tuple, keys)
        found = self._row_scores.get(key)
        if found is None:
            found = self._row_scores[key] = RowScores(
                self.answers.table, predicates, priorities, ahead=Lookahead(luck=self._luck)
            )
        return found

    def _size(self) -> int:
        """Bytes that one scoreboard takes with its row scores, about."""
        return 100 * max(self.answers.table.size, 1)


def _divided(items: Iterable[T], test: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    """Those of *items* that pass *test*, and the others."""
    passed: list[T] = []
    others: list[T] = []
    for item in items:
        (passed if test(item) else others).append(item)
    return passed, others
