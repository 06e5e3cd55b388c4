"""Each shortcut that is broken on purpose is found: by verify mode, and by schedulers that keep nothing or were told only now."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kubeclassic.core.incremental import board
from kubeclassic.core.incremental.verify import StaleError, verifying
from tests.support.shortcutfaults import FAULTS, Fault
from tests.support.towns import PRESSED, RELEASES, VERBS, Town, days

TOWNS, DAYS = 60, 60
"""How many towns are looked at until one tells, and what happens in each."""


def complaints(fault: Fault) -> Iterator[Exception]:
    """What is found wrong with the *fault* in towns of all releases, with room and without: the first complaint of each town."""
    for seed in (*range(fault.first, TOWNS), *range(fault.first)):
        plain = seed % 2 == 1 if fault.plain is None else fault.plain
        town = Town(RELEASES[seed % len(RELEASES)], plain)
        try:
            town.begin()
            for step in days(seed, DAYS, PRESSED if plain else VERBS):
                town.take(step)
        except (AssertionError, IndexError) as error:  # what is too old can be too short
            yield error


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.by_verify])
def test_verify_mode_finds_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept is not what would be worked out now, and the error says so."""
    FAULTS[name].put_in(monkeypatch)
    with verifying():
        assert any(isinstance(error, StaleError) for error in complaints(FAULTS[name]))


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.by_schedulers])
def test_schedulers_disagree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without verify mode, one of the schedulers that are told the same decides differently."""
    FAULTS[name].put_in(monkeypatch)
    with verifying(False):
        assert next(complaints(FAULTS[name]), None) is not None


@pytest.mark.parametrize("most", [-1, 1 << 20])
def test_nothing_is_wrong_without_a_fault(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same towns pass where nothing is broken, whether rows are looked at one by one or in classes."""
    monkeypatch.setattr(board, "MOST_MOVED", most)
    monkeypatch.setattr(board, "ROWS_A_MOVE", 1 << 20)
    for seed in range(3):
        plain = (seed + (most < 0)) % 2 == 1
        town = Town(RELEASES[seed % len(RELEASES)], plain)
        with verifying():
            town.begin()
            for step in days(seed, DAYS, PRESSED if plain else VERBS):
                town.take(step)
