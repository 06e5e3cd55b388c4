"""Scenarios with a Policy in a ConfigMap: it is read once, and the scheduler ends if it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubeclassic.cli.console.exitstatus import BAD_INPUT, status_of
from kubeclassic.core.engine import Engine
from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.options import options_of
from kubeclassic.framework.schedulerspec import SchedulerSpec
from kubeclassic.live.client.credentials import Access
from kubeclassic.live.client.transport import Transport
from kubeclassic.live.process.process import Process
from kubeclassic.live.scheduler.runsettings import config_maps_of, settings_of
from tests.apiserver.resources import OLD_SERVER
from tests.apiserver.store import Store
from tests.apiserver.transport import StoreTransport
from tests.live.scheduler.comparing import asked_by, events, reads, recorded_asked, writes
from tests.live.scheduler.recorded import play
from tests.live.scheduler.recordedpace import SCHEDULER, Json, exchanges
from tests.live.scheduler.test_recordings import scenario_file
from tests.support.virtualtime import run_virtually

MISSING = "g2-policy-configmap-missing"


def asked_for_maps(recorded: list[Json]) -> list[tuple[str, str, str]]:
    """The scheduler's requests about ConfigMaps."""
    found = (one for one in recorded if one.get("who") == SCHEDULER and "/configmaps" in one.get("path", ""))
    return [(one["method"], one["path"], one["query"] or "") for one in found]


def test_it_is_read_once(shared: Path) -> None:
    """The Policy is read at the start with the recorded request; what becomes of the ConfigMap after that changes nothing."""
    file = scenario_file(shared, "1.15.5", "g-policy-configmap")
    used: list[Engine] = []

    async def make(link: Transport) -> Engine:
        spec = SchedulerSpec.of(options_of({"release": "1.15", "policy_configmap": "scheduler-policy"}))
        used.append(spec.engine(await config_maps_of(spec, link)))
        return used[-1]

    played = play(file, make)
    maps = [(one.method, one.path, one.query) for one in played.requests if "/configmaps" in one.path]
    assert maps == asked_for_maps(exchanges(file))
    ours, theirs = asked_by(played), recorded_asked(file)
    assert (writes(ours), reads(ours), events(ours)) == (writes(theirs), reads(theirs), events(theirs))
    assert [priority.name for priority, _ in used[0].algorithm.priorities] == ["LeastRequestedPriority"]


def test_without_it_the_scheduler_ends(shared: Path) -> None:
    """It asks for the ConfigMap and nothing else, and ends with the original's message; the status is 2, as for all bad input."""
    recorded = exchanges(scenario_file(shared, "1.15.5", MISSING))
    message = next(one["log"] for one in recorded if "log" in one)[-1]
    options, settings = settings_of(options_of({"release": "1.15", "policy_configmap": "nosuch"}), {})
    link = StoreTransport(Store(OLD_SERVER), records=True)

    async def run() -> None:
        await Process.of(SchedulerSpec.of(options), settings, Access(server="http://there"), link)

    with pytest.raises(PolicyError) as found:
        run_virtually(run())
    assert str(found.value) == message
    assert [(one.method, one.path, one.query) for one in link.requests] == asked_for_maps(recorded)
    assert "exit status 1" in {one.get("note") for one in recorded}
    assert status_of(found.value, ()) == BAD_INPUT == 2
