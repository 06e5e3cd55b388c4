"""Our requests are the original's: scenarios of the recordings, with our scheduler in the original's place, on virtual time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kubeclassic.simulation.engines import engine_for
from tests.live.scheduler.recorded import by_path, is_mark, play, recorded_events, recorded_writes, writes_of

PAIRS = (("1.15", "1.15.5"), ("1.27", "1.28.7"))
"""Our release, and the original whose recordings stand for it."""
SCENARIOS = ("a4-restart", "b-schedule", "b2-burst", "c-unschedulable", "c2-retries", "d-preemption", "e-volumes")
BY_CHANCE = ("1.28.7", "b2-burst")
"""Where nodes are equally good, that original takes one at random, and so what is equally good next differs, too."""
UNSEEN_EVENTS = "skip schedule deleting pod"
"""Told of a pod that is deleted while it waits; the server of the tests deletes it at once, so there is nothing to skip."""

each_pair = pytest.mark.parametrize(("release", "version"), PAIRS)


def scenario_file(shared: Path, version: str, scenario: str) -> Path:
    """The recording of a scenario."""
    return shared / "recordings" / version / f"{scenario}.jsonl.gz"


def without_nodes(value: Any) -> Any:
    """*value* with the same name for all nodes."""
    return json.loads(re.sub(r"node-\d+", "node", json.dumps(value)))


@each_pair
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_our_writes_are_the_originals(release: str, version: str, scenario: str, shared: Path) -> None:
    """For each pod, volume and claim: the same requests in the same order, with the same bodies but for UIDs, versions and times."""
    file = scenario_file(shared, version, scenario)
    ours, theirs = by_path(writes_of(play(file, engine_for(release, {})))), by_path(recorded_writes(file))
    if (version, scenario) == BY_CHANCE:
        ours, theirs = without_nodes(ours), without_nodes(theirs)
    assert ours == theirs


@each_pair
@pytest.mark.parametrize("scenario", ["b-schedule", "c-unschedulable", "d-preemption", "e-volumes"])
def test_our_events_are_the_originals(release: str, version: str, scenario: str, shared: Path) -> None:
    """The same events with the same texts are told, whatever their number: that depends on when pods are tried again."""
    file = scenario_file(shared, version, scenario)
    ours = {(one.name, one.reason, one.text) for one in play(file, engine_for(release, {})).events.told}
    theirs = {(name, reason, text) for name, reason, text in recorded_events(file) if not text.startswith(UNSEEN_EVENTS)}
    assert ours == theirs


def test_a_victim_keeps_its_status(shared: Path) -> None:
    """The patch that marks a victim adds one condition, and removes nothing: there we differ from the original."""
    played = play(scenario_file(shared, "1.28.7", "d-preemption"), engine_for("1.27", {}))
    marks = [body for method, _, body in writes_of(played) if is_mark(method, body)]
    assert len(marks) > 4
    assert all(set(body["status"]) == {"$setElementOrder/conditions", "conditions"} for body in marks)
    assert all([one["type"] for one in body["status"]["conditions"]] == ["DisruptionTarget"] for body in marks)
