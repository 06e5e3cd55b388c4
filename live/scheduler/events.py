"""The events of a scheduler about pods and itself: Scheduled, FailedScheduling, Preempted, LeaderElection.

The release says in which API group events of pods go; where the server does not have that group they go to core/v1. Events about the
leader are always of core/v1.

Upstream: cmd/kube-scheduler/app, NewEventBroadcasterAdapter in client-go's tools/events.
"""

from __future__ import annotations

import asyncio
import random
import socket
import time
from collections.abc import Callable

import attrs

from ..client.transport import Request, Transport, TransportError
from ..eventlog.core import CoreEvents
from ..eventlog.eventseries import SeriesEvents
from ..eventlog.sending import Recorder, Sender, Stamp
from ..settings.cells import LiveRelease

LOOK = 0.01
"""Seconds between two looks whether all is sent."""


@attrs.define(eq=False)
class Events:
    """The events of one process: recorders that take them, and :meth:`run`, which sends them."""

    core: CoreEvents
    series: SeriesEvents | None
    """None: all events go to core/v1."""

    def recorder(self, scheduler_name: str) -> Recorder:
        """The recorder of events about pods, in the name of a scheduler."""
        return Recorder(scheduler_name, (self.series or self.core).put)

    def leader_recorder(self, scheduler_name: str) -> Recorder:
        """The recorder of who leads."""
        return Recorder(scheduler_name, self.core.put)

    async def run(self) -> None:
        """Send events until this is cancelled."""
        await asyncio.gather(self.core.run(), *(() if self.series is None else (self.series.run(),)))

    async def drain(self, seconds: float) -> int:
        """Wait until all events are sent, at most *seconds*; how many are left. :meth:`run` has to run at the same time."""
        end = asyncio.get_running_loop().time() + seconds
        while self._unsent and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(LOOK)
        return self._unsent

    @property
    def _unsent(self) -> int:
        return self.core.unsent + (0 if self.series is None else self.series.unsent)


async def connect_events(
    transport: Transport,
    release: LiveRelease,
    *,
    say: Callable[[str], None] = lambda text: None,
    on_drop: Callable[[], None] = lambda: None,
    wall: Callable[[], int] = time.time_ns,
    host: str = "",
    dice: random.Random | None = None,
) -> Events:
    """The events of a process; asks the server whether it has the release's API group for them.

    *say* gets a line for each event that is refused, and one for a burst of those that are dropped; *on_drop* is called for each of these.
    *wall* is the time in nanoseconds since 1970, *host* the name of this machine.
    """
    cells, stamp = release.events, Stamp(wall)
    sender = Sender(transport, say, dice or random.Random())
    core = CoreEvents(sender, release.version, cells.names_reporter, stamp, on_drop)
    if not cells.group or not await _has_group(transport, cells.group):
        return Events(core, None)
    return Events(core, SeriesEvents(sender, cells, release.version, host or socket.gethostname(), stamp))


async def _has_group(transport: Transport, group: str) -> bool:
    try:
        response = await transport.send(Request("GET", f"/apis/{group}", headers={"Accept": "application/json, */*"}))
    except TransportError:
        return False
    return response.status == 200
