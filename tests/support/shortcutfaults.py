"""Shortcuts, each broken on purpose in one way: for the test that asks whether anybody would notice.

A fault is a change of one method. Methods are named by class and attribute, and get what they replace as their first argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from kubeclassic.core.arrays.census import Census, PodCount
from kubeclassic.core.arrays.counts import DomainSum
from kubeclassic.core.arrays.table import NodeTable
from kubeclassic.core.arrays.trail import Trail
from kubeclassic.core.incremental.answers import AnswerCache
from kubeclassic.core.incremental.board import Board, Leaders
from kubeclassic.core.incremental.failuresanswer import DomainTest, FailuresAnswer
from kubeclassic.core.incremental.lookahead import Lookahead
from kubeclassic.core.incremental.rows import RowScores
from kubeclassic.core.incremental.scored import FeasibleSet, ScoreHistogram
from kubeclassic.core.incremental.scoresanswer import ScoresAnswer
from kubeclassic.core.pods.template import Entry, Templates
from kubeclassic.core.preemption.layout import PodLayout
from kubeclassic.core.preemption.outcomes import Outcomes

Method = Callable[..., Any]


@attrs.frozen
class Fault:
    """What is broken: *broken* gets the method that it stands for, and all that this gets."""

    owner: type[Any]
    method: str
    broken: Method
    by_verify: bool = True
    """Verify mode finds it; what stands below all that it compares only the comparison of schedulers finds."""
    by_schedulers: bool = True
    """Schedulers disagree soon; else only verify mode finds it soon."""
    plain: bool | None = None
    """In which towns it shows: those without affinity, where pods often find no room, those with it, or (None) both."""
    first: int = 0
    """The town that is looked at first: one in which it shows soon."""

    def put_in(self, patch: pytest.MonkeyPatch) -> None:
        """Break it as long as *patch* lasts."""
        whole, broken = vars(self.owner)[self.method], self.broken
        if isinstance(whole, property):
            patch.setattr(self.owner, self.method, property(lambda own: broken(whole.fget, own)))
        elif isinstance(whole, staticmethod):
            patch.setattr(self.owner, self.method, staticmethod(lambda *given: broken(whole.__func__, *given)))
        else:
            patch.setattr(self.owner, self.method, lambda *given, **named: broken(whole, *given, **named))


# --- the best rows --------------------------------------------------------------------------------------------------


def _never_dropped(whole: Method, leaders: Leaders, ranked: Any) -> None:
    leaders.ranked = ranked
    leaders.moved.clear()


def _not_told(whole: Method, leaders: Leaders, *given: Any) -> Any:
    leaders.moved.clear()
    return whole(leaders, *given)


def _one_not_told(whole: Method, leaders: Leaders, *given: Any) -> Any:
    del leaders.moved[:-1]
    return whole(leaders, *given)


def _one_missed(whole: Method, board: Board, rows: Any, *more: Any) -> Any:
    return whole(board, rows and sorted(set(rows))[:-1], *more)


# --- sums of rows ---------------------------------------------------------------------------------------------------


def _not_taken_off(whole: Method, table: NodeTable, row: int, entry: Any) -> None:
    before = table.sums[:, row].copy()
    whole(table, row, entry)
    table.sums[:, row] = before


def _count_alone(whole: Method, table: NodeTable, row: int, entry: Any) -> None:
    before = table.requested[:, row].copy()
    whole(table, row, entry)
    table.requested[: len(before), row] = before


def _views_outlive(whole: Method, table: NodeTable, name: str) -> int:
    kept = dict(table._once.kept)
    found: int = whole(table, name)
    table._once.kept.update(kept)
    return found


# --- answers and what they hang on ----------------------------------------------------------------------------------


def _but_the_last(whole: Method, counter: PodCount, revision: int) -> list[int] | None:
    moved = whole(counter, revision)
    return moved and moved[:-1]


def _no_counters(whole: Method, answers: AnswerCache, found: Any, cycle: Any, still: Any) -> None:
    """Answers are brought up to date where something durable moved."""
    whole(answers, [answer for answer in found if answer.still != still], cycle, still)


def _same_nodes(whole: Method, answers: AnswerCache, cycle: Any) -> Any:
    """Node objects stay as they are."""
    return 0, *whole(answers, cycle)[1:]


def _not_followed(whole: Method, answer: Any) -> None:
    """What was declared is judged once."""


def _no_domain(whole: Method, test: DomainTest) -> Any:
    whole(test)
    return ()


def _summed_once(whole: Method, sums: DomainSum) -> Any:
    """What a key's sums were when they were first asked for."""
    return _first(sums, "sums", lambda: whole(sums))


def _first(sums: DomainSum, name: Any, make: Callable[[], Any]) -> Any:
    kept = KEPT.setdefault(id(sums), (sums, {}))[1]
    if name not in kept:
        kept[name] = make()
    return kept[name]


KEPT: dict[int, tuple[DomainSum, dict[Any, Any]]] = {}


def _wrong_sign(whole: Method, census: Census, template: Any, row: int, count: int = 1) -> None:
    """A pod that leaves comes once more."""
    whole(census, template, row, abs(count))


def _not_flipped(whole: Method, feasible: FeasibleSet, rows: Any, number: int) -> None:
    whole(feasible, rows[:0], number)


def _uncounted(whole: Method, tally: ScoreHistogram, row: int, now: int) -> None:
    """A row counts as what it counted as at first."""


def _rule_alone(whole: Method, rule: Any, template: Any) -> Any:
    return type(rule), rule.name


def _but_a_row(whole: Method, trail: Trail, rows: Any) -> None:
    whole(trail, rows[1:] if len(rows) > 1 else rows)


def _no_row(whole: Method, trail: Trail, rows: Any) -> None:
    whole(trail, rows[:0])


def _as_foreseen(whole: Method, ahead: Lookahead, events: Any, *given: Any) -> Any:
    """Rows that a pod left are as they were."""
    return whole(ahead, [(row, came) for row, came in events if came is not None], *given)


def _any_size(whole: Method, ahead: Lookahead, events: Any, size: Any, *given: Any) -> Any:
    """Whoever came is as large as the pod of the cycle."""
    return whole(ahead, [(row, None if came is None else size) for row, came in events], size, *given)


def _unflipped(whole: Method, ahead: Lookahead, *given: Any) -> Any:
    """Nobody hears which rows fit no more."""
    return whole(ahead, *given[:-1], [])


def _as_before(whole: Method, scores: RowScores, cycle: Any) -> None:
    """Row scores are worked out once for all nodes."""
    if len(scores.fits) != scores.table.size:
        whole(scores, cycle)


def _same_size(whole: Method, templates: Templates, *pods: Any) -> Any:
    """All templates are of one size, so that they share row scores."""
    made = whole(templates, *pods)
    object.__setattr__(made, "size", "one")
    return made


# --- preemption -----------------------------------------------------------------------------------------------------


def _kept_too_long(whole: Method, kept: Outcomes, table: Any, environment: Any, coming: Any) -> None:
    if len(kept.known) != table.size or kept._environment != environment:
        whole(kept, table, environment, coming)


def _nobody_comes(whole: Method, kept: Outcomes, table: Any, environment: Any, coming: Any) -> None:
    whole(kept, table, environment, ())


def _old_budgets(whole: Method, kept: Outcomes, table: Any, environment: Any, coming: Any) -> None:
    whole(kept, table, (*environment[:2], 0), coming)


def _old_layout(whole: Method, layout: PodLayout, priority: int, rows: Any) -> Any:
    """Rows are laid out as they stood when they were laid out first."""
    layout._seen = layout.table.changed.revision
    return whole(layout, priority, rows)


def _nobody_lower(whole: Method, table: NodeTable, row: int, entry: Any) -> None:
    """With one pod of a priority all others seem to go."""
    whole(table, row, entry)
    table.priorities.pop(entry.priority, None)


# --- pods on rows ---------------------------------------------------------------------------------------------------


def _unbound(whole: Method, entry: Entry) -> Any:
    return entry._pod


FAULTS = {
    "leaders are never looked for again": Fault(Leaders, "replaced", _never_dropped),
    "leaders are not told what moved": Fault(Leaders, "host", _not_told),
    "leaders are told of the last row that moved": Fault(Leaders, "host", _one_not_told),
    "of the rows whose fits are put right one is left out": Fault(Board, "_refresh_fits", _one_missed),
    "of the rows whose totals are put right one is left out": Fault(Board, "_refresh_totals", _one_missed),
    "a row that fits or no longer does is not told to reduce steps": Fault(FeasibleSet, "flip", _not_flipped, by_schedulers=False, first=4),
    "sums keep what left": Fault(NodeTable, "remove_pod", _not_taken_off, by_verify=False),
    "sums count a pod but not what it requests": Fault(NodeTable, "add_pod", _count_alone, first=5),
    "views of sums outlive them": Fault(NodeTable, "resource", _views_outlive, first=37),
    "a row that moved is left out": Fault(PodCount, "moved_since", _but_the_last, plain=False),
    "nothing follows counters": Fault(AnswerCache, "update", _no_counters, plain=False),
    "answers do not follow node objects": Fault(AnswerCache, "still", _same_nodes, first=14),
    "what a predicate declared is judged once": Fault(FailuresAnswer, "follow", _not_followed, plain=False, first=4),
    "what a priority declared is added up once": Fault(ScoresAnswer, "follow", _not_followed, plain=False, first=4),
    "domains that are refused now are not told": Fault(DomainTest, "follow", _no_domain, plain=False, first=4),
    "domains are added up once": Fault(DomainSum, "by_code", _summed_once, plain=False, first=10),
    "a pod that leaves counts once more": Fault(Census, "add", _wrong_sign, plain=False, by_verify=False),
    "scores are not counted again": Fault(ScoreHistogram, "_count", _uncounted, plain=False, first=26),
    "pods share answers whatever they ask for": Fault(AnswerCache, "key", _rule_alone),
    "a trail leaves out a row": Fault(Trail, "touch", _but_a_row),
    "a trail leaves out all rows": Fault(Trail, "touch", _no_row),
    "rows that lose a pod count as foreseen": Fault(Lookahead, "follow", _as_foreseen, first=31),
    "a row that does not fit any more is not told to boards": Fault(Lookahead, "follow", _unflipped),
    "pods of any size count as foreseen": Fault(Lookahead, "follow", _any_size),
    "row scores stay": Fault(RowScores, "refresh", _as_before),
    "templates share row scores whatever their size": Fault(Templates, "_make", _same_size),
    "outcomes of dry runs are kept too long": Fault(Outcomes, "follow", _kept_too_long, plain=True),
    "outcomes do not follow nominations": Fault(Outcomes, "follow", _nobody_comes, plain=True, first=17),
    "outcomes do not follow budgets": Fault(Outcomes, "follow", _old_budgets, plain=True, first=7),
    "rows are laid out once": Fault(PodLayout, "lower_than", _old_layout, plain=True),
    "nobody seems to have a lower priority": Fault(NodeTable, "remove_pod", _nobody_lower, by_verify=False, plain=True),
    "pods do not know their node": Fault(Entry, "pod", _unbound, by_verify=False),
}
"""In words -> what is broken."""
