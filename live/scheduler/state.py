"""What the parts of a live scheduler share: the engine, its queue, the clock, and the way to the API server."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import attrs

from ...api.objects import KubeObject, Pod
from ...core.bindingcycle import BindingCycle
from ...core.engine import Engine
from ...core.queue.clock import Clock
from ...core.queue.protocol import SchedulingQueue
from ...core.release import Release
from ...core.router import EventRouter
from ..eventlog.recorder import Recorder
from .writes.api import ClusterApi


@attrs.frozen
class Times:
    """Where time comes from: ``now`` in seconds that never go back, ``wall`` in seconds since 1970."""

    now: Callable[[], float]
    wall: Callable[[], float]


@attrs.define(eq=False)
class LiveState:
    """The state of one live scheduler. Everything happens on the thread of the event loop, so between two awaits nothing changes."""

    engine: Engine
    api: ClusterApi
    recorder: Recorder
    times: Times
    scheduler_name: str = "default-scheduler"
    report: Callable[[str], None] = lambda text: None
    """Called with what went wrong and does not end the scheduler."""
    clock: Clock = attrs.field(init=False)
    queue: SchedulingQueue = attrs.field(init=False)
    router: EventRouter = attrs.field(init=False)
    binding: BindingCycle = attrs.field(init=False)
    awake: asyncio.Event = attrs.field(init=False, factory=asyncio.Event)
    """Set when something happened that may let a pod be tried."""
    tasks: set[asyncio.Task[None]] = attrs.field(init=False, factory=set)
    """What goes on beside the cycles: bindings, and pods that are read again."""

    def __attrs_post_init__(self) -> None:
        start = self.times.now()
        self.clock = Clock(now=start, origin=self.times.wall() - start)
        self.queue = self.engine.flow.queue(self.clock)
        self.router, self.binding = self.engine.flow.router(self.queue, self.scheduler_name), self.engine.flow.binding

    @property
    def release(self) -> Release:
        return self.engine.algorithm.release

    # --- time -------------------------------------------------------------------------------------------------------

    def touch(self) -> None:
        """Set the clock, before anything is done that depends on the time. No two events have the same time, as with real clocks."""
        self.clock.now = max(self.times.now(), math.nextafter(self.clock.now, math.inf))

    @property
    def timestamp(self) -> str:
        """The time as the API writes it: whole seconds."""
        return datetime.fromtimestamp(self.times.wall(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    # --- events -----------------------------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An informer saw that an object was added or updated."""
        self.touch()
        self.router.put(item)
        self.awake.set()

    def delete(self, item: KubeObject) -> None:
        """An informer saw that an object was deleted."""
        self.touch()
        self.router.delete(item)
        self.awake.set()

    def pod(self, key: str) -> Pod | None:
        """The pod ``namespace/name`` as the informer knows it."""
        return self.router.pods.get(key)

    # --- tasks ------------------------------------------------------------------------------------------------------

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do *work* beside what goes on."""
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        self.awake.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            self.broken.append(error)

    broken: list[BaseException] = attrs.field(init=False, factory=list)
    """Defects in tasks; the scheduler ends with the first one."""
