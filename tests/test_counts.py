"""A decision takes no more work than the committed figures say: counts, so that no noise of a machine can matter."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.bench.counts import CASES, FIGURES, counted

LEAST, MOST = 0.9, 1.05
"""How many times a figure a count may be."""


def figures() -> dict[str, dict[str, int]]:
    """The committed figures."""
    found: dict[str, dict[str, int]] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", CASES)
def test_no_decision_got_dearer(name: str) -> None:
    """Calls, numpy calls and rows that rules look at are at most five in a hundred above the figures of the case.

    Where a decision got cheaper by more than a tenth, the figures have to follow, so that nothing is lost again.
    """
    found, known = counted(name), figures()[name]
    assert {what: number for what, number in found.items() if not LEAST * known[what] <= number <= MOST * known[what]} == {}


def test_every_case_has_its_figures() -> None:
    """The file has the cases that are counted, and no others."""
    assert figures().keys() == CASES.keys()


def test_more_work_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decision that takes one more call of ours shows in the counts."""
    from kubeclassic.core.engine import Engine

    name = "basic 1.16"
    counted(name)  # what Python remembers from run to run is there now
    before, schedule = counted(name), Engine.schedule

    def twice(self: Engine, pod: Any, **options: Any) -> Any:
        self.latest_template(pod)
        return schedule(self, pod, **options)

    monkeypatch.setattr(Engine, "schedule", twice)
    assert counted(name)["calls"] == before["calls"] + CASES[name][0].pods
