"""Checks after each step that all kept values equal freshly computed ones, for tests and fault finding.

With ``KUBECLASSIC_VERIFY=1`` in the environment, or within :func:`verifying`, each updated board and each
answer that is read is computed again from the table, without any kept value, and compared. This makes
decisions many times slower.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import attrs
import numpy as np
from msgspec.structs import replace

from ..arrays import Batch, Failures, Ints, Mask, Reasons, Rows, Scores
from ..cycle import Cycle, Predicate, Priority, PriorityError
from ..pods import CycleState


@attrs.define
class Switch:
    """The switch for all checks."""

    is_on: bool


SWITCH = Switch(os.environ.get("KUBECLASSIC_VERIFY") == "1")


class StaleError(AssertionError):
    """A kept value differs from a freshly computed one: a fault of this package, or of a rule that declares
    too little."""


@contextmanager
def verifying(is_on: bool = True) -> Iterator[None]:
    """Check (or do not) while the context lasts."""
    before = SWITCH.is_on
    SWITCH.is_on = is_on
    try:
        yield
    finally:
        SWITCH.is_on = before


@contextmanager
def uncached(cycle: Cycle) -> Iterator[Cycle]:
    """*cycle* without any value kept before it."""
    with cycle.table.forgetful():
        yield replace(cycle, answers=None, notes=CycleState(cycle.notes))


def _judged(cycle: Cycle) -> Mask:
    """The rows whose answers count, those of existing nodes: bool[size]."""
    table = cycle.table
    mask = table.has_node[: table.size].copy()
    mask[list(table.deleted_rows)] = False
    return mask


# --- answers ------------------------------------------------------------------------------------------------


class VerifiedAnswer(Protocol):
    """The parts of an :class:`~.answers.Answer` that are checked."""

    rule: Predicate | Priority
    answer: Any

    def ask(self, cycle: Cycle, nodes: Batch) -> Any: ...


def check_answer(kept: VerifiedAnswer, cycle: Cycle) -> None:
    """Raise StaleError unless *kept* equals the rule's own answer for the nodes of the table."""
    with uncached(cycle) as fresh:
        answer = kept.ask(fresh, Batch(cycle.table))
    wrong = [
        row
        for row in np.flatnonzero(_judged(cycle)).tolist()
        if _outcome(kept.answer, row) != _outcome(answer, row)
    ]
    if wrong:
        text = f"kept {_outcome(kept.answer, wrong[0])}, worked out {_outcome(answer, wrong[0])}"
        kind = "predicate" if isinstance(kept.rule, Predicate) else "priority"
        raise _stale(cycle, f"answer of {kind} {kept.rule.name}", wrong, text)


def _outcome(answer: Failures | Scores | None, row: int) -> Reasons | str | int:
    """The reasons against *row*, the text of an error, or the row's score."""
    if answer is None:
        return ()
    if isinstance(answer, np.ndarray):
        return int(answer[row])
    code = 0 if answer.errors is None else int(answer.errors[row])
    return answer.texts[code - 1] if code else answer.reasons(row)


def _stale(cycle: Cycle, what: str, rows: list[int], more: str) -> StaleError:
    table = cycle.table
    pod = cycle.template.pod
    named = ", ".join(f"{row} ({table.names[row]})" for row in rows[:5])
    return StaleError(
        f"{what} for template {cycle.template.number} (pod {pod.key}) is stale on {len(rows)} rows: {named}: {more}"
    )


# --- boards -------------------------------------------------------------------------------------------------


def check_fits(order: Rows, fits: Mask, count: int, classes: Any, cycle: Cycle) -> None:
    """Raise StaleError unless the rows that fit, and the sizes of classes, are as the rules say."""
    with uncached(cycle) as fresh:
        expected = np.zeros(fresh.table.size, np.bool_)
        expected[order] = True
        for predicate in fresh.algorithm.predicates_for(fresh.template):
            failures = predicate.check(fresh.template, Batch(fresh.table), fresh)
            if failures is not None:
                passed = failures.passed
                wrong = np.flatnonzero(expected & fits & ~passed).tolist()
                if wrong:
                    raise _stale(
                        fresh, "board", wrong, f"they fit, but predicate {predicate.name} turns them down"
                    )
                expected &= passed
        wrong = np.flatnonzero(expected != fits).tolist()
        if wrong or count != np.count_nonzero(expected):
            raise _stale(fresh, "board", wrong, f"{count} fit, worked out {np.count_nonzero(expected)}")
    if classes is not None:
        sizes = np.bincount(classes.of_row[classes.of_row >= 0], minlength=len(classes.size)).tolist()
        if sizes != classes.size:
            raise StaleError(
                f"the sizes of the classes of a board are stale: kept {classes.size}, worked out {sizes}"
            )


def check_totals(cycle: Cycle, rows: Rows, totals: Ints) -> None:
    """Raise StaleError unless *totals* of the feasible *rows* are as the rules say. int64[k], up to a part
    that all rows share."""
    with uncached(cycle) as fresh:
        if len(rows) > 1:
            nodes = Batch(fresh.table, rows)
            scores_by_name = {}
            for priority, weight in fresh.algorithm.priorities:
                scores_by_name[priority.name] = weight * _scores(priority, nodes, fresh)
            expected = np.add.reduce([np.zeros(len(rows), np.int64), *scores_by_name.values()])
            offsets = expected - totals
            wrong = np.flatnonzero(offsets != offsets[0])
            if len(wrong):
                row = int(rows[wrong[0]])
                scores = ", ".join(f"{name} {scores[wrong[0]]}" for name, scores in scores_by_name.items())
                text = f"row {row}: totals {expected[wrong[0]]} and {expected[0]}, kept {totals[wrong[0]]} and {totals[0]}; scores: {scores}"
                raise _stale(fresh, "board", rows[wrong].tolist(), text)


def check_best(kept: Rows, expected: Rows, cycle: Cycle) -> None:
    """Raise StaleError unless the best rows that were *kept* are those *expected*."""
    before = sorted(kept.tolist())
    now = sorted(expected.tolist())
    if before != now:
        raise StaleError(
            f"the best rows for pod {cycle.pod.key} are stale: kept {before[:5]}, worked out {now[:5]}"
        )


def _scores(priority: Priority, nodes: Batch, cycle: Cycle) -> Scores:
    try:
        raw = priority.score(cycle.template, nodes, cycle)
        return raw if priority.reduce is None else priority.reduce(cycle.template, raw, nodes, cycle)
    except PriorityError as error:
        raise _stale(
            cycle, "board", nodes.indexes.tolist(), f"priority {priority.name} cannot be computed: {error}"
        ) from error
