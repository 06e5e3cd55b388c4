"""The leaders of a board: kept from change to change, they are what a look at all totals finds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.trail import MOST_ROWS
from kubeclassic.core.incremental import verify
from kubeclassic.core.incremental.board import Leaders
from kubeclassic.core.incremental.verify import StaleError

ROWS = 6

ORDERS = [np.arange(ROWS, dtype=np.intp), np.array([3, 1, 5, 0, 2, 4], np.intp)]
CHANGES = st.lists(st.tuples(st.integers(0, ROWS - 1), st.integers(0, 3)), max_size=4)
STEPS = st.lists(st.tuples(CHANGES, st.sampled_from([0, 1]), st.booleans(), st.integers(0, 9)), min_size=1, max_size=20)


def naive(ranked: np.ndarray, order: np.ndarray) -> list[int]:
    """The rows with the highest total, in visiting order."""
    return [row for row in order.tolist() if ranked[row] == ranked.max()]


def turn_of(turned: int, count: int) -> int:
    """Which of *count* leaders has its turn."""
    return turned % count


def places_of(order: np.ndarray) -> np.ndarray:
    """The place of each row in *order*."""
    return np.argsort(order)


class TestLeaders:
    @given(STEPS)
    def test_they_are_those_of_a_look_at_all_totals(self, steps: list[tuple[list[tuple[int, int]], int, bool, int]]) -> None:
        """Whatever changes, in whatever order rows are visited, the chosen leader is the one that plain code chooses."""
        ranked = np.zeros(ROWS, np.int64)
        leaders = Leaders(ranked)
        for changes, turn, is_new, turned in steps:
            for row, total in changes:
                ranked[row] = total
            if is_new:
                ranked = ranked.copy()
                leaders.replaced(ranked)
            else:
                leaders.moved += [row for row, _ in changes]
            order = ORDERS[turn]
            wanted = naive(ranked, order)
            row = leaders.host(order, places_of(order), partial(turn_of, turned))
            assert row == wanted[turned % len(wanted)]
            assert leaders.all(order, places_of(order)) == wanted

    def test_many_changes_at_once(self) -> None:
        """More changed totals than are followed one by one are looked at together."""
        ranked = np.zeros(2 * MOST_ROWS, np.int64)
        leaders, order = Leaders(ranked), np.arange(2 * MOST_ROWS, dtype=np.intp)
        assert len(leaders.all(order, order)) == 2 * MOST_ROWS
        ranked[:-1] = -1
        leaders.moved += range(2 * MOST_ROWS - 1)
        assert leaders.all(order, order) == [2 * MOST_ROWS - 1]

    def test_an_untold_change_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Verify mode finds leaders that are not the best any more."""
        monkeypatch.setattr(verify.SWITCH, "is_on", True)
        ranked, order = np.zeros(ROWS, np.int64), ORDERS[0]
        leaders = Leaders(ranked)
        leaders.host(order, order, partial(turn_of, 0))
        ranked[2] = 1
        with pytest.raises(StaleError, match="stale: kept"):
            leaders.host(order, order, partial(turn_of, 0))
