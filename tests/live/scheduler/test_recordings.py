"""Our requests are the original's: scenarios of the recordings, with our scheduler in the original's place, on virtual time."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import pytest

from kubeclassic.core.engine import Engine
from kubeclassic.live.client.transport import Transport
from kubeclassic.simulation.engines import engine_for
from tests.live.scheduler.comparing import asked_by, events, is_mark, reads, recorded_asked, texts, writes
from tests.live.scheduler.recorded import MakeEngine, Played, play

PAIRS = (("1.15", "1.15.5"), ("1.28", "1.28.7"))
"""Our release, and the original whose recordings stand for it."""
SCENARIOS = ("a4-restart", "b-schedule", "b2-burst", "c-unschedulable", "c2-retries", "d-preemption", "e-volumes", "e-volumes-kcm")
BY_CHANCE = {("1.28.7", "b2-burst"): r"node-\d+", ("1.28.7", "e-volumes-kcm"): r"claim2-[ab]"}
"""Names that are chance: where nodes are equally good, that original takes one at random, and so what is equally good next differs, too;
and it looks at volumes in no fixed order.
"""
RETRIED = {("1.15.5", scenario) for scenario in ("c2-retries", "d-preemption", "e-volumes", "e-volumes-kcm")}
"""Where pods are tried for so long that a moment more or less changes how often."""

each_pair = pytest.mark.parametrize(("release", "version"), PAIRS)


def scenario_file(shared: Path, version: str, scenario: str) -> Path:
    """The recording of a scenario."""
    return shared / "recordings" / version / f"{scenario}.jsonl.gz"


def without_chance(value: Any, version: str, scenario: str) -> Any:
    """*value* with the same name for all that are chosen by chance, at whatever place."""
    names = BY_CHANCE.get((version, scenario))
    return json.loads(re.sub(names, "any", json.dumps(value))) if names else value


def as_recorded(engine: Engine) -> Engine:
    """*engine* as 1.15.5: it forgets failures sooner than later releases of 1.15, for which ours stands."""
    release = engine.algorithm.release
    if release.version == "1.15":
        queue = attrs.evolve(release.queue, backoff_forget_after=10.0)
        engine.algorithm = attrs.evolve(engine.algorithm, release=attrs.evolve(release, queue=queue))
    return engine


def making(release: str, config: Mapping[str, Any] | None = None, **options: Any) -> MakeEngine:
    """Makes a scheduler of *release* with the *config* of a conformance case."""

    async def make(link: Transport) -> Engine:
        return as_recorded(engine_for(release, config or {}, **options))

    return make


@cache
def played(file: Path, release: str) -> Played:
    """The scenario in *file*, played once for all tests."""
    return play(file, making(release))


@each_pair
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_our_writes_are_the_originals(release: str, version: str, scenario: str, shared: Path) -> None:
    """For each pod, volume and claim: the same requests in the same order, with the same bodies but for UIDs, versions and times."""
    file = scenario_file(shared, version, scenario)
    ours, theirs = (writes(asked) for asked in (asked_by(played(file, release)), recorded_asked(file)))
    assert without_chance(ours, version, scenario) == without_chance(theirs, version, scenario)


@each_pair
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_our_reads_and_events_are_the_originals(release: str, version: str, scenario: str, shared: Path) -> None:
    """Pods are read as often as by the original, and their events are made and counted by the same requests."""
    file = scenario_file(shared, version, scenario)
    ours, theirs = asked_by(played(file, release)), recorded_asked(file)
    if (version, scenario) in RETRIED:
        assert texts(events(ours)) == texts(events(theirs))
        assert set(reads(ours)) == set(reads(theirs))
        return
    assert reads(ours) == reads(theirs)
    assert without_chance(events(ours), version, scenario) == without_chance(events(theirs), version, scenario)


def test_a_victim_keeps_its_status(shared: Path) -> None:
    """The patch that marks a victim adds one condition, and removes nothing: there we differ from the original."""
    asked = asked_by(played(scenario_file(shared, "1.28.7", "d-preemption"), "1.28"))
    marks = [body for method, _, body in asked if is_mark(method, body)]
    assert len(marks) > 4
    assert all(set(body["status"]) == {"$setElementOrder/conditions", "conditions"} for body in marks)
    assert all([one["type"] for one in body["status"]["conditions"]] == ["DisruptionTarget"] for body in marks)
