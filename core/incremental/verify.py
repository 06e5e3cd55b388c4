"""Whether what is kept is what would be worked out now: a check after each step, for tests and for those who look for a fault.

With ``KUBECLASSIC_VERIFY=1`` in the environment, or within :func:`verifying`, each board that was brought up to date and each answer
that is read is worked out again from the table, without anything that was kept, and compared. It makes decisions many times slower.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.types import Ints, Mask, Rows, Scores
from ..cycle import Cycle
from ..failures import Failures, Reasons
from ..pods.notes import CycleState
from ..rule import Predicate, Priority, PriorityError
from .cachedanswer import Answer


@attrs.define
class Switch:
    """Whether there is checking at all."""

    is_on: bool


SWITCH = Switch(os.environ.get("KUBECLASSIC_VERIFY") == "1")


class StaleError(AssertionError):
    """Something that was kept is not what would be worked out now: a fault of this package, or of a rule that declares too little."""


@contextmanager
def verifying(is_on: bool = True) -> Iterator[None]:
    """Check (or do not) while the context lasts."""
    before, SWITCH.is_on = SWITCH.is_on, is_on
    try:
        yield
    finally:
        SWITCH.is_on = before


@contextmanager
def uncached(cycle: Cycle) -> Iterator[Cycle]:
    """*cycle* as if nothing had been kept before it."""
    with cycle.table.forgetful():
        yield attrs.evolve(cycle, answers=None, notes=CycleState(cycle.notes))


def _judged(cycle: Cycle) -> Mask:
    """The rows whose answers count: those of nodes that are there: bool[size]."""
    table = cycle.table
    mask = table.has_node[: table.size].copy()
    mask[list(table.deleted_rows)] = False
    return mask


# --- answers --------------------------------------------------------------------------------------------------------


def check_answer(kept: Answer[Any], cycle: Cycle) -> None:
    """Raise StaleError unless the rule answers for the nodes of the table what is *kept*."""
    with uncached(cycle) as fresh:
        found = kept.ask(cycle.template, Batch(cycle.table), fresh)
    wrong = [row for row in np.flatnonzero(_judged(cycle)).tolist() if _outcome(kept.answer, row) != _outcome(found, row)]
    if wrong:
        text = f"kept {_outcome(kept.answer, wrong[0])}, worked out {_outcome(found, wrong[0])}"
        kind = "predicate" if isinstance(kept.rule, Predicate) else "priority"
        raise _stale(cycle, f"answer of {kind} {kept.rule.name}", wrong, text)


def _outcome(found: Failures | Scores | None, row: int) -> Reasons | str | int:
    """What rules out *row*: reasons, or the text of an error; or its score."""
    if found is None:
        return ()
    if isinstance(found, np.ndarray):
        return int(found[row])
    code = 0 if found.errors is None else int(found.errors[row])
    return found.texts[code - 1] if code else found.reasons(row)


def _stale(cycle: Cycle, what: str, rows: list[int], more: str) -> StaleError:
    table, pod = cycle.table, cycle.template.pod
    named = ", ".join(f"{row} ({table.names[row]})" for row in rows[:5])
    return StaleError(f"{what} for template {cycle.template.number} (pod {pod.key}) is stale on {len(rows)} rows: {named}: {more}")


# --- boards ----------------------------------------------------------------------------------------------------


class Verified(Protocol):
    """What is checked of a :class:`~.board.Board`."""

    fits: Mask
    ranked: Ints
    count: int
    order: Rows
    window: bool


def check_board(board: Verified, cycle: Cycle) -> None:
    """Raise StaleError unless fits, count and, where more than one row fits, totals of *board*, if it has any, are what its rules say."""
    with uncached(cycle) as fresh:
        wanted = np.zeros(fresh.table.size, np.bool_)
        wanted[board.order] = True
        for predicate in fresh.algorithm.predicates_for(fresh.template):
            failures = predicate.check(fresh.template, Batch(fresh.table), fresh)
            if failures is not None:
                passed = failures.passed
                wrong = np.flatnonzero(wanted & board.fits & ~passed).tolist()
                if wrong:
                    raise _stale(fresh, "board", wrong, f"they fit, but predicate {predicate.name} turns them down")
                wanted &= passed
        wrong = np.flatnonzero(wanted != board.fits).tolist()
        if wrong or board.count != np.count_nonzero(wanted):
            raise _stale(fresh, "board", wrong, f"{board.count} fit, worked out {np.count_nonzero(wanted)}")
        if board.count > 1 and len(board.ranked):
            _check_totals(board, fresh)


def _check_totals(board: Verified, cycle: Cycle) -> None:
    rows = board.order[board.fits[board.order]]
    # The totals of *rows*, which fit, by the long way, those left out which depend on how far a pass goes; and the scores in them.
    nodes, found = Batch(cycle.table, rows), {}
    for priority, weight in cycle.algorithm.priorities:
        if not (board.window and priority.reduce is not None):
            found[priority.name] = weight * _scores(priority, nodes, cycle)
    wanted, by_priority = np.add.reduce([np.zeros(len(rows), np.int64), *found.values()]), found
    # Scores that are the same for all rows are left out of a board.
    offsets = wanted - board.ranked[rows]
    wrong = np.flatnonzero(offsets != offsets[0])
    if len(wrong):
        row = int(rows[wrong[0]])
        scores = ", ".join(f"{name} {scores[wrong[0]]}" for name, scores in by_priority.items())
        text = f"totals {wanted[wrong[0]]} and {wanted[0]}, kept {board.ranked[row]} and {board.ranked[rows[0]]}; scores: {scores}"
        raise _stale(cycle, "board", rows[wrong].tolist(), text)


def check_leaders(ranked: Ints, leaders: Sequence[int], count: int) -> None:
    """Raise StaleError unless *leaders*, which are *count*, are the rows with the highest of *ranked*: int64[rows]."""
    wanted = np.flatnonzero(ranked == ranked.max()).tolist()
    if sorted(leaders) != wanted or count != len(wanted):
        raise StaleError(f"the leaders of a board are stale: kept {sorted(leaders)[:5]}, worked out {wanted[:5]}")


def _scores(priority: Priority, nodes: Batch, cycle: Cycle) -> Scores:
    try:
        raw = priority.score(cycle.template, nodes, cycle)
        return raw if priority.reduce is None else priority.reduce(cycle.template, raw, nodes, cycle)
    except PriorityError as error:
        raise _stale(cycle, "board", nodes.indexes.tolist(), f"priority {priority.name} cannot be computed: {error}") from error
