"""Shortcuts, each broken on purpose in one way: for the test that asks whether anybody would notice.

A fault is a change of one method. Methods are named by class and attribute, and get what they replace as their first argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from kubeclassic.core.arrays.census import Census, PodCount
from kubeclassic.core.arrays.counts import DomainSum
from kubeclassic.core.arrays.table import NodeTable
from kubeclassic.core.arrays.trail import Revisions
from kubeclassic.core.incremental.answers import AnswerCache
from kubeclassic.core.incremental.cachedanswer import Answer
from kubeclassic.core.incremental.classes import Classes, ClassTest
from kubeclassic.core.incremental.lookahead import Lookahead
from kubeclassic.core.incremental.rows import RowScores
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


# --- classes --------------------------------------------------------------------------------------------------------


def _judged_once(whole: Method, classes: Classes, cycle: Any, *, scores: bool) -> None:
    if not any(classes.size[at] for at in classes.best):
        whole(classes, cycle, scores=scores)
    classes.is_judged = True


def _one_stays(whole: Method, classes: Classes, rows: Any) -> None:
    whole(classes, sorted(set(rows))[:-1])


def _size_stays(whole: Method, classes: Classes, row: int, before: int, now: int) -> None:
    whole(classes, row, -1, now)


def _sizes_alike(whole: Method, classes: Classes, cycle: Any, which: Any, sizes: Any) -> Any:
    return whole(classes, cycle, which, [1] * len(which))


def _one_group(whole: Method, classes: Classes) -> None:
    """Node objects are all alike."""
    classes._code = np.minimum(classes._code, 0)
    whole(classes)


def _first_domain(whole: Method, test: ClassTest, classes: Classes, which: Any) -> Any:
    return list(which)


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


def _followed_once(whole: Method, answer: Answer) -> None:
    if answer.size != answer.table.size:
        whole(answer)


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


def _rule_alone(whole: Method, rule: Any, template: Any) -> Any:
    return type(rule), rule.name


def _but_a_row(whole: Method, log: Revisions[int], rows: Any) -> None:
    whole(log, rows[1:] if len(rows) > 1 else rows)


def _no_row(whole: Method, log: Revisions[int], rows: Any) -> None:
    whole(log, rows[:0])


def _as_foreseen(whole: Method, ahead: Lookahead, events: Any, *given: Any) -> Any:
    """Rows that a pod left are as they were."""
    return whole(ahead, [(row, came) for row, came in events if came is not None], *given)


def _any_size(whole: Method, ahead: Lookahead, events: Any, size: Any, *given: Any) -> Any:
    """Whoever came is as large as the pod of the cycle."""
    return whole(ahead, [(row, None if came is None else size) for row, came in events], size, *given)


def _as_before(whole: Method, scores: RowScores, cycle: Any) -> None:
    """Row scores are worked out once for all nodes."""
    if len(scores.worth) != scores.table.size:
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
    "classes are judged once": Fault(Classes, "judge", _judged_once),
    "a row that moved stays in its class": Fault(Classes, "_move", _one_stays),
    "a class keeps the size of what left": Fault(Classes, "_change", _size_stays),
    "reduce steps do not know how many nodes there are": Fault(Classes, "totals", _sizes_alike, plain=False, by_schedulers=False, first=50),
    "classes do not tell node objects apart": Fault(Classes, "group", _one_group, plain=False),
    "clauses refuse no class": Fault(ClassTest, "passed", _first_domain, plain=False),
    "sums keep what left": Fault(NodeTable, "remove_pod", _not_taken_off, by_verify=False),
    "sums count a pod but not what it requests": Fault(NodeTable, "add_pod", _count_alone, first=5),
    "views of sums outlive them": Fault(NodeTable, "resource", _views_outlive, first=37),
    "a row that moved is left out": Fault(PodCount, "moved_since", _but_the_last, plain=False),
    "nothing follows counters": Fault(AnswerCache, "update", _no_counters, plain=False),
    "answers do not follow node objects": Fault(AnswerCache, "still", _same_nodes, first=14),
    "what a rule declared is worked out once": Fault(Answer, "follow", _followed_once, plain=False, first=4),
    "domains are added up once": Fault(DomainSum, "by_code", _summed_once, plain=False, first=10),
    "a pod that leaves counts once more": Fault(Census, "add", _wrong_sign, plain=False, by_verify=False),
    "pods share answers whatever they ask for": Fault(AnswerCache, "key", _rule_alone),
    "a log leaves out a row": Fault(Revisions, "extend", _but_a_row),
    "a log leaves out all rows": Fault(Revisions, "extend", _no_row),
    "rows that lose a pod count as foreseen": Fault(Lookahead, "follow", _as_foreseen, first=31),
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
