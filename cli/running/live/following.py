"""What ``run`` and ``shadow`` share: the way to the API server, informers, and an end at a signal or after some time."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import attrs

from ....core.engine import Engine
from ....live.client.access import Access
from ....live.client.http import HttpTransport
from ....live.client.kubeconfig import in_cluster, read_kubeconfig
from ....live.client.transport import Transport
from ....live.eventlog.recorder import Recorder
from ....live.informers.informers import informers_of
from ....live.informers.store import Handler
from ....live.scheduler.state import LiveClocks, LiveState
from ....live.scheduler.writes.api import ClusterApi
from ...console.output import note, warn
from ...engines.setup import Setup

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STATUS: Mapping[int | None, int] = {None: 0, signal.SIGTERM: 0, signal.SIGINT: 130}
"""What ended it -> the exit status."""


class Runner(Protocol):
    """What follows a cluster: the handler of informers, and what it does."""

    async def run(self) -> None:
        """Go on until cancelled."""
        ...


@attrs.frozen
class FollowedCluster:
    """A live cluster, and the scheduler that is asked."""

    access: Access
    engine: Engine
    scheduler_name: str

    def state(self, api: ClusterApi, recorder: Recorder) -> LiveState:
        """The state of a live scheduler; to be made on the loop on which it runs."""
        loop = asyncio.get_running_loop()
        return LiveState(self.engine, api, recorder, LiveClocks(loop.time, time.time), self.scheduler_name, report=warn)


def cluster_of(kubeconfig: Path | None, context: str | None, setup: Setup) -> FollowedCluster:
    """The cluster and the scheduler that the options name."""
    engine = setup.spec.engine()
    access = in_cluster() if kubeconfig is None else read_kubeconfig(kubeconfig, context)
    return FollowedCluster(access, engine, min(setup.spec.scheduler_names))


async def follow(
    cluster: FollowedCluster, transport: Transport, handler: Handler, runner: Runner, seconds: float | None = None
) -> int | None:
    """Let informers tell *handler*, and *runner* run, until a signal or for some seconds. Answers the signal."""
    algorithm = cluster.engine.algorithm
    informers = informers_of(algorithm.release, algorithm.gates, transport, handler, warn)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(informers.run())]
        end, ended_by = end_at_signals()
        started = group.create_task(_started(informers.synced(), runner.run))
        tasks.append(started)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await end.wait()
        for task in tasks:
            task.cancel()
    return ended_by[0] if ended_by else None


async def _started(ready: Coroutine[Any, Any, None], run: Callable[[], Coroutine[Any, Any, None]]) -> None:
    await ready
    note("all lists are there; scheduling begins")
    await run()


def end_at_signals() -> tuple[asyncio.Event, list[int]]:
    """An event that is set by the first signal, and which one that was; the second one interrupts."""
    end, loop, ended_by = asyncio.Event(), asyncio.get_running_loop(), list[int]()

    def stop(number: int) -> None:
        ended_by.append(number)
        loop.remove_signal_handler(number)
        end.set()

    for number in SIGNALS:
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not on the main thread, or not on this platform
            loop.add_signal_handler(number, stop, number)
    return end, ended_by


def connection(cluster: FollowedCluster) -> HttpTransport:
    """Requests to the API server."""
    return HttpTransport(cluster.access)
