"""The check of what is kept: silent where all is right, and clear where something is stale."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest

from kubeclassic.core.cycle import Cycle
from kubeclassic.core.engine import Engine
from kubeclassic.core.incremental.answers import AnswerCache
from kubeclassic.core.incremental.board import Board
from kubeclassic.core.incremental.boards import Boards
from kubeclassic.core.incremental.verify import SWITCH, StaleError, verifying
from kubeclassic.core.rule import Predicate, Priority
from tests.support.build import engine, node, pod

INCOMING = pod("new", requests={"cpu": "1", "memory": "1Gi"})


@pytest.fixture(autouse=True)
def checking() -> Iterator[None]:
    """Check all that is kept."""
    with verifying():
        yield


def cluster() -> Engine:
    """Three nodes, one of them in use."""
    return engine(*[node(name) for name in "abc"], pod("p", on="b", requests={"cpu": "2", "memory": "2Gi"}))


def refreshed(board: Board, cycle: Cycle) -> bool:
    """Bring *board* up to date."""
    return board.refresh(cycle, np.arange(3), "all", window=False)


@pytest.fixture
def trial() -> tuple[Board, Cycle]:
    """A board that is up to date."""
    cycle = cluster().begin(INCOMING, details=False)
    board = Boards(AnswerCache(cycle.table), 1 << 20).of(cycle)
    assert refreshed(board, cycle)
    return board, cycle


class TestBoards:
    def test_what_is_right_passes(self, trial: tuple[Board, Cycle]) -> None:
        """Nothing happens where all is as it should be."""
        assert refreshed(*trial)

    def test_a_wrong_total_is_found(self, trial: tuple[Board, Cycle]) -> None:
        """The error names the template, the row and the scores that it should have."""
        board, cycle = trial
        board.ranked[1] += 1
        words = "board for template .* (pod default/new) is stale on 1 rows: 1 (b): totals .* LeastRequestedPriority "
        with pytest.raises(StaleError, match=re.escape(words).replace(r"\.\*", ".*")):
            refreshed(board, cycle)

    def test_a_row_that_should_not_fit_is_found(self, trial: tuple[Board, Cycle]) -> None:
        """The error names the predicate that turns it down."""
        board, cycle = trial
        cycle.table.pod_count[2] = 110  # a change that nothing is told of
        with pytest.raises(StaleError, match=r"stale on 1 rows: 2 \(c\): they fit, but predicate GeneralPredicates turns them down"):
            refreshed(board, cycle)

    def test_a_row_that_should_fit_is_found(self, trial: tuple[Board, Cycle]) -> None:
        """So is one that no predicate turns down."""
        board, cycle = trial
        board.fits[0], board.count = False, 2
        with pytest.raises(StaleError, match=r"stale on 1 rows: 0 \(a\): 2 fit, worked out 3"):
            refreshed(board, cycle)


class TestAnswers:
    def test_stale_reasons_are_found(self) -> None:
        """What a predicate is kept to have said is compared with what it says, and the error names it."""
        cycle = cluster().begin(INCOMING)
        predicate: Predicate = next(rule for rule in cycle.algorithm.predicates if rule.name == "GeneralPredicates")
        answers = AnswerCache(cycle.table)
        answers.failures(predicate, cycle)
        cycle.table.pod_count[0] = 110
        with pytest.raises(StaleError, match=r"predicate GeneralPredicates .* is stale on 1 rows: 0 \(a\): kept \(\), worked out"):
            answers.failures(predicate, cycle)

    def test_stale_scores_are_found(self) -> None:
        """So are raw scores."""
        cycle = cluster().begin(INCOMING)
        priority: Priority = next(rule for rule, _ in cycle.algorithm.priorities if rule.name == "LeastRequestedPriority")
        answers = AnswerCache(cycle.table)
        answers.scores(priority, cycle)
        cycle.table.nonzero[:, 0] += 1 << 40
        with pytest.raises(StaleError, match=r"answer of priority LeastRequestedPriority .* is stale on 1 rows: 0 \(a\): kept \d+, worked"):
            answers.scores(priority, cycle)


class TestTheSwitch:
    def test_it_is_as_before_afterwards(self) -> None:
        """Contexts can be nested, and whatever happens in one does not outlast it."""
        seen = []
        with suppress(ZeroDivisionError), verifying(False):
            seen.append(SWITCH.is_on)
            raise ZeroDivisionError
        assert [*seen, SWITCH.is_on] == [False, True]

    def test_what_is_off_checks_nothing(self, trial: tuple[Board, Cycle]) -> None:
        """Without it a stale total stays."""
        board, cycle = trial
        board.ranked[1] += 1
        with verifying(False):
            assert refreshed(board, cycle)
