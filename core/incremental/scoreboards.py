"""The standings of the templates in use, made when a template is first asked about."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar
from weakref import WeakValueDictionary

import attrs

from ..cycle import Cycle
from ..pods.template import Template
from .answers import AnswerCache
from .rows import RowScores
from .scoreboard import Scoreboard
from .tracked import TrackedPredicate, TrackedPriority

T = TypeVar("T")


@attrs.define(eq=False)
class Scoreboards:
    """The standings of the templates in use, up to *limit* bytes; those not asked for longest are dropped."""

    memory: AnswerCache
    limit: int
    _known: dict[Template, Scoreboard] = attrs.field(factory=dict)
    _parts: WeakValueDictionary[Hashable, RowScores] = attrs.field(factory=WeakValueDictionary)

    def of(self, cycle: Cycle) -> Scoreboard:
        """The standing of the template of *cycle*."""
        found = self._known.pop(cycle.template, None)
        if found is None:
            found = self._new(cycle)
            while self._known and len(self._known) * self._size() > self.limit:
                del self._known[next(iter(self._known))]
        self._known[cycle.template] = found
        return found

    def _new(self, cycle: Cycle) -> Scoreboard:
        memory, pod = self.memory, cycle.template
        near, far = _divided(cycle.algorithm.predicates_for(pod), lambda predicate: predicate.is_of_row)
        weighed = [(priority, weight) for priority, weight in cycle.algorithm.priorities if priority.concerns(pod)]
        worth, wider = _divided(weighed, lambda item: item[0].is_of_row and item[0].reduce is None)
        key = pod.size, tuple(memory.key(rule, pod) for rule in near), tuple(memory.key(rule, pod) for rule, _ in worth)
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = RowScores(memory.table, near, worth)
        questions = [TrackedPredicate(predicate, memory.entry(predicate, pod)) for predicate in far]
        wide, of_nodes = _divided(questions, lambda question: question.kept.stamped)
        preferences = [TrackedPriority(priority, weight, memory.entry(priority, pod)) for priority, weight in wider]
        return Scoreboard(memory, part, wide, preferences, of_nodes)

    def _size(self) -> int:
        """Bytes that one standing takes with its part, about."""
        return 100 * max(self.memory.table.size, 1)


def _divided(items: Iterable[T], test: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    """Those of *items* that pass *test*, and the others."""
    passed: list[T] = []
    others: list[T] = []
    for item in items:
        (passed if test(item) else others).append(item)
    return passed, others
