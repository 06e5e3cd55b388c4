"""The state that the parts of a live scheduler share: the engine, its queue, the clock, and the API
server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, TypeVar

import attrs

from ...api.objects import DEFAULT_SCHEDULER, KubeObject, Pod
from ...core.driver import SchedulingState
from ...core.queue.backoff import Clock, nanoseconds
from ...core.release import Release
from ..client.api import loop_time
from ..process.logs import Log
from ..process.metering import SchedulerMetrics
from .events import Recorder, in_seconds
from .writes import ClusterApi, DryApi

T = TypeVar("T")
LEASE_LOOK = 0.1
"""Seconds between two looks whether this replica leads."""


@attrs.define(eq=False)
class LiveState(SchedulingState):
    """The state of one live scheduler. All that changes it happens on the thread of the event loop, so
    between two awaits nothing changes.

    Only a decision for which extenders are called is made on another thread (:meth:`apart`). While it is made
    events wait, and tasks that use the engine wait at :meth:`free`.
    """

    api: ClusterApi
    recorder: Recorder
    wall: Callable[[], float]
    """The time in seconds since 1970."""
    scheduler_name: str = DEFAULT_SCHEDULER
    log: Log = attrs.Factory(Log)
    observer: SchedulerMetrics = attrs.Factory(SchedulerMetrics)
    leads: Callable[[], bool] = lambda: True
    """Whether this replica leads for certain; so it is where there is no other one."""
    awake: asyncio.Event = attrs.Factory(asyncio.Event)
    """Set when something happened that may let a pod be tried."""
    worker: Executor = attrs.field(init=False, factory=lambda: ThreadPoolExecutor(1, "decisions"))
    """Where decisions are made for which extenders are called."""
    tasks: set[asyncio.Task[None]] = attrs.Factory(set)
    """What goes on beside the cycles: bindings, and pods that are read again."""

    def __attrs_post_init__(self) -> None:
        start = self.now()
        self.begin(
            Clock(now=nanoseconds(start), origin=nanoseconds(self.wall() - start)), self.scheduler_name
        )
        if isinstance(self.api, DryApi):
            self.api.known = self.router.pods

    @property
    def is_dry(self) -> bool:
        """Nothing is written: a binding ends when somebody else has bound the pod."""
        return isinstance(self.api, DryApi)

    @property
    def release(self) -> Release:
        return self.engine.release

    now = staticmethod(loop_time)

    # --- time -----------------------------------------------------------------------------------------------

    def touch(self) -> None:
        """Set the clock, before anything is done that depends on the time. No two events have the same time,
        as with real clocks."""
        self.clock.now = max(nanoseconds(self.now()), self.clock.now + 1)

    @property
    def timestamp(self) -> str:
        """The time as the API writes it: whole seconds."""
        return in_seconds(self.wall())

    async def leading(self) -> None:
        """Wait until this replica leads for certain: before a pod is bound or deleted. It ends if it never
        leads again."""
        while not self.leads():
            await asyncio.sleep(LEASE_LOOK)

    # --- decisions on another thread ------------------------------------------------------------------------

    async def apart(self, work: Callable[[], T]) -> T:
        """The result of *work*, which uses the engine, on the thread of :attr:`worker`."""
        self._is_busy = True
        self._freed.clear()
        task = asyncio.get_running_loop().run_in_executor(self.worker, work)
        try:
            return await task
        finally:
            if not task.cancelled():  # else the scheduler is ending, and the thread is still at work
                self._is_busy = False
                backlog = self._backlog
                self._backlog = []
                for tell, item in backlog:
                    self._tell(tell, item)
                self._freed.set()

    async def free(self) -> None:
        """Wait until no other thread uses the engine. Until the next await it stays so."""
        while self._is_busy:
            await self._freed.wait()

    # --- events ---------------------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An informer saw that an object was added or updated. In a dry run that a pod has a node ends its
        binding."""
        self._tell(self.router.put, item)
        if isinstance(self.api, DryApi) and isinstance(item, Pod) and item.spec.node_name:
            self.api.settle(item.key, is_bound=True)

    def delete(self, item: KubeObject) -> None:
        """An informer saw that an object was deleted."""
        self._tell(self.router.delete, item)
        if isinstance(self.api, DryApi) and isinstance(item, Pod):
            self.api.settle(item.key, is_bound=False)

    def _tell(self, tell: Callable[[KubeObject], None], item: KubeObject) -> None:
        if self._is_busy:
            self._backlog.append((tell, item))
            return
        self.touch()
        tell(item)
        self.awake.set()

    # --- tasks ----------------------------------------------------------------------------------------------

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do *work* beside what goes on."""

        def done(task: asyncio.Task[None]) -> None:
            self.tasks.discard(task)
            self.awake.set()
            if not task.cancelled() and (error := task.exception()) is not None:
                self.broken.append(error)

        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(done)

    broken: list[BaseException] = attrs.Factory(list)
    """Defects in tasks; the scheduler ends with the first one."""
    _is_busy: bool = False
    _freed: asyncio.Event = attrs.Factory(asyncio.Event)
    _backlog: list[tuple[Callable[[KubeObject], None], KubeObject]] = attrs.Factory(list)
    """Events that wait for the end of a decision on another thread."""
