"""Our requests are the original's: scenarios of the recordings, with our scheduler in the original's place,
on virtual time."""

import json
import re
from functools import cache

import attrs
import pytest
from msgspec.structs import replace

from kubeclassic.cli.console.output import BAD_INPUT, status_of
from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.options import options_of
from kubeclassic.framework.schedulerspec import SchedulerSpec
from kubeclassic.live.client.http import Access
from kubeclassic.live.process.process import Process
from kubeclassic.live.scheduler.flags import RunSettings, config_maps_of
from kubeclassic.simulation.conform import engine_for
from tests.apiserver import OLD_SERVER, Store, StoreTransport
from tests.live.scheduler.recorded import asked_by, is_mark, play, reads, recorded_asked, told, writes
from tests.live.scheduler.recordedpace import SCHEDULER, exchanges
from tests.support.virtualtime import run_virtually

PAIRS = (("1.15", "1.15.5"), ("1.28", "1.28.7"))
"""Our release, and the original whose recordings stand for it."""
SCENARIOS = (
    "a4-restart",
    "b-schedule",
    "b2-burst",
    "c-unschedulable",
    "c2-retries",
    "d-preemption",
    "e-volumes",
    "e-volumes-kcm",
)
BY_CHANCE = {("1.28.7", "b2-burst"): r"node-\d+", ("1.28.7", "e-volumes-kcm"): r"claim2-[ab]"}
"""Names that are chance: where nodes are equally good, that original takes one at random, and so what is
equally good next differs, too; and it looks at volumes in no fixed order.
"""
RETRIED = {("1.15.5", scenario) for scenario in ("c2-retries", "d-preemption", "e-volumes", "e-volumes-kcm")}
"""Where pods are tried for so long that a moment more or less changes how often."""

each_pair = pytest.mark.parametrize("release, version", PAIRS)


def scenario_file(shared, version, scenario):
    """The recording of a scenario."""
    return shared / "recordings" / version / f"{scenario}.jsonl.gz"


def without_chance(value, version, scenario):
    """*value* with the same name for all that are chosen by chance, at whatever place."""
    names = BY_CHANCE.get((version, scenario))
    return json.loads(re.sub(names, "any", json.dumps(value))) if names else value


def as_recorded(engine):
    """*engine* as 1.15.5: it forgets failures sooner than later releases of 1.15, for which ours stands."""
    release = engine.algorithm.release
    if release.version == "1.15":
        queue = replace(release.queue, backoff_forget_after=10.0)
        engine.algorithm = attrs.evolve(engine.algorithm, release=replace(release, queue=queue))
    return engine


def making(release, config=None, **options):
    """Makes a scheduler of *release* with the *config* of a conformance case."""

    async def make(link):
        return as_recorded(engine_for(release, config or {}, **options))

    return make


@cache
def played(file, release):
    """The scenario in *file*, played once for all tests."""
    return play(file, making(release))


@each_pair
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_our_writes_are_the_originals(release, version, scenario, shared):
    """For each pod, volume and claim: the same requests in the same order, with the same bodies but for UIDs,
    versions and times."""
    file = scenario_file(shared, version, scenario)
    ours, theirs = (writes(asked) for asked in (asked_by(played(file, release)), recorded_asked(file)))
    assert without_chance(ours, version, scenario) == without_chance(theirs, version, scenario)


@each_pair
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_our_reads_and_events_are_the_originals(release, version, scenario, shared):
    """Pods are read as often as by the original, and events say the same of the same pods."""
    file = scenario_file(shared, version, scenario)
    ours = asked_by(played(file, release))
    theirs = recorded_asked(file)
    said = {(event.name, event.reason, event.text) for event in played(file, release).events.told}
    assert without_chance(sorted(said), version, scenario) == without_chance(
        sorted(told(file)), version, scenario
    )
    if (version, scenario) in RETRIED:
        assert set(reads(ours)) == set(reads(theirs))
    else:
        assert reads(ours) == reads(theirs)


def test_a_victim_keeps_its_status(shared):
    """The patch that marks a victim adds one condition, and removes nothing: there we differ from the
    original."""
    asked = asked_by(played(scenario_file(shared, "1.28.7", "d-preemption"), "1.28"))
    marks = [body for method, _, body in asked if is_mark(method, body)]
    assert len(marks) > 4
    assert all(set(body["status"]) == {"$setElementOrder/conditions", "conditions"} for body in marks)
    assert all(
        [one["type"] for one in body["status"]["conditions"]] == ["DisruptionTarget"] for body in marks
    )


MISSING = "g2-policy-configmap-missing"


def asked_for_maps(recorded):
    """The scheduler's requests about ConfigMaps."""
    found = (one for one in recorded if one.get("who") == SCHEDULER and "/configmaps" in one.get("path", ""))
    return [(one["method"], one["path"], one["query"] or "") for one in found]


def test_it_is_read_once(shared):
    """The Policy is read at the start with the recorded request; what becomes of the ConfigMap after that
    changes nothing."""
    file = scenario_file(shared, "1.15.5", "g-policy-configmap")
    used = []

    async def make(link):
        spec = SchedulerSpec.of(options_of({"release": "1.15", "policy_configmap": "scheduler-policy"}))
        used.append(spec.engine(await config_maps_of(spec, link)))
        return used[-1]

    played = play(file, make)
    maps = [(one.method, one.path, one.query) for one in played.requests if "/configmaps" in one.path]
    assert maps == asked_for_maps(exchanges(file))
    ours = asked_by(played)
    theirs = recorded_asked(file)
    assert (writes(ours), reads(ours)) == (writes(theirs), reads(theirs))
    assert [priority.name for priority, _ in used[0].algorithm.priorities] == ["LeastRequestedPriority"]


def test_without_it_the_scheduler_ends(shared):
    """Without the ConfigMap the scheduler requests nothing else, and ends with upstream's message; the status
    is 2, as for all bad input."""
    recorded = exchanges(scenario_file(shared, "1.15.5", MISSING))
    message = next(one["log"] for one in recorded if "log" in one)[-1]
    options = options_of({"release": "1.15", "policy_configmap": "nosuch"})
    link = StoreTransport(Store(OLD_SERVER), records=True)

    async def run():
        await Process.of(SchedulerSpec.of(options), RunSettings(), Access(server="http://there"), link)

    with pytest.raises(PolicyError) as found:
        run_virtually(run())
    assert str(found.value) == message
    assert [(one.method, one.path, one.query) for one in link.requests] == asked_for_maps(recorded)
    assert "exit status 1" in {one.get("note") for one in recorded}
    assert status_of(found.value, ()) == BAD_INPUT == 2
