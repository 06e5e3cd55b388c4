"""A decision takes no more work than the committed figures say: counts, so that no noise of a machine can
matter."""

import json

import pytest

from tests.bench.counts import CASES, FIGURES, counted

LEAST = 0.9
MOST = 1.05
"""The most that a count may be, as a multiple of its figure."""


def figures():
    """The committed figures."""
    return json.loads(FIGURES.read_text())


@pytest.mark.parametrize("name", CASES)
def test_no_decision_got_dearer(name):
    """Calls, numpy calls and rows that rules look at are at most five in a hundred above the figures of the
    case.

    Where a decision got cheaper by more than a tenth, the figures have to follow, so that nothing is lost
    again.
    """
    found = counted(name)
    known = figures()[name]
    assert {
        what: number
        for what, number in found.items()
        if not LEAST * known[what] <= number <= MOST * known[what]
    } == {}


def test_every_case_has_its_figures():
    """The file has the cases that are counted, and no others."""
    assert figures().keys() == CASES.keys()


def test_more_work_is_seen(monkeypatch):
    """A decision that takes one more call of ours shows in the counts."""
    from kubeclassic.core.engine import Engine

    name = "basic 1.16"
    counted(name)  # what Python remembers from run to run is there now
    before = counted(name)
    schedule = Engine.schedule

    def twice(self, pod, **options):
        self.latest_template(pod)
        return schedule(self, pod, **options)

    monkeypatch.setattr(Engine, "schedule", twice)
    assert counted(name)["calls"] == before["calls"] + CASES[name][0].pods
