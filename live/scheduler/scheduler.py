"""The live scheduler: the next pod of the queue, its cycle, and what follows, for ever.

Upstream: scheduleOne in pkg/scheduler/scheduler.go (1.27: pkg/scheduler/schedule_one.go), and cleanupAssumedPods of the cache.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import attrs

from ...core.decision.decision import Decision
from ...core.queue.backoff import SECOND
from ...core.queue.parked import QueuedPod
from ...exceptions import KubeclassicError
from ..process.logs import ATTEMPTS, OUTCOMES
from .bindings import Bindings
from .failures import Consequences, consequences_of
from .state import LiveState
from .volumewrites import ClaimWork

EXPIRY_PERIOD = 1.0
"""Seconds between two looks for assumed pods that have expired."""
SHORTEST_WAIT = 0.001


@attrs.define(eq=False)
class LiveScheduler:
    """Schedules the pods of *state*, which informers tell of what happens.

    :meth:`run` must not begin before all informers have their first lists.
    """

    state: LiveState
    on_decision: Callable[[Decision], None] = lambda decision: None
    """Called after each cycle, before anything follows from its decision."""
    details: bool = False
    """Decisions keep their details, which takes longer."""
    consequences: Consequences = attrs.field(init=False)
    bindings: Bindings = attrs.field(init=False)
    claims: ClaimWork | None = attrs.field(init=False)
    """Writes claims to devices; None where there are none."""
    is_running: bool = attrs.field(default=False, init=False)
    is_stopping: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self.consequences = consequences_of(self.state)
        has_claims = self.state.engine.profiles and self.state.engine.enabled("DynamicResourceAllocation")
        self.claims = ClaimWork(self.state) if has_claims else None
        for profile in self.state.engine.profiles.values():
            profile.handle.now = self.state.times.wall
        self.bindings = Bindings(self.state, self.consequences, self.claims)

    # --- the loop ---------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Schedule until cancelled, or until :meth:`stop`; then bindings may end, and whatever else is under way is cancelled.

        Raises the first defect of a task.
        """
        self.is_running = True
        self.state.spawn(self._expire())
        try:
            while not self.is_stopping:
                if not await self.step():
                    await self._wait()
            while self.bindings.under_way:
                self.state.awake.clear()
                await self.state.awake.wait()
        finally:
            self.is_running = False
            self.state.worker.shutdown(wait=False)
            for task in tuple(self.state.tasks):
                task.cancel()

    def stop(self) -> None:
        """Take no more pods out of the queue; :meth:`run` ends when the pods that have a node are bound."""
        self.is_stopping = True
        self.state.awake.set()

    async def step(self) -> bool:
        """One cycle and what follows from it; False if no pod is active."""
        state = self.state
        if state.broken:
            raise state.broken[0]
        state.touch()
        item = state.queue.pop()
        if item is None:
            return False
        await self._attempt(item)
        await asyncio.sleep(0)  # Informers and bindings have their turn.
        return True

    async def _wait(self) -> None:
        """Wait until something happens, or a flush of the queue is due."""
        state = self.state
        state.awake.clear()
        if self.is_stopping or state.broken:
            return
        due, handle = state.queue.next_due(), None
        if due is not None:
            loop, left = asyncio.get_running_loop(), max(SHORTEST_WAIT, due / SECOND - state.times.now())
            handle = loop.call_later(left, state.awake.set)
        try:
            await state.awake.wait()
        finally:
            if handle is not None:
                handle.cancel()

    async def _expire(self) -> None:
        while True:
            await asyncio.sleep(EXPIRY_PERIOD)
            await self.state.free()
            self.state.touch()
            for pod in self.state.engine.cache.expire(self.state.clock.seconds):
                self.state.log.warning(f"pod {pod.key}: its binding to {pod.spec.node_name} was not confirmed in time")

    # --- one pod ----------------------------------------------------------------------------------------------------

    async def _attempt(self, item: QueuedPod) -> None:
        pod, state = item.pod, self.state
        if pod.is_terminating:
            state.recorder.event(pod, "Warning", "FailedScheduling", f"skip schedule deleting pod: {pod.key}")
            state.queue.done(pod)
            return
        if state.engine.profiles and state.engine.is_assumed(pod):
            state.queue.done(pod)
            return
        began = state.times.now()
        state.log.info(f"pod {pod.key}: attempt {item.attempts}", ATTEMPTS)
        state.observer.began(item)
        decision = await self._decide(item)
        if self.claims is not None:
            self.claims.write_beside()
        took = state.times.now() - began
        self.on_decision(decision)
        state.observer.decided(item, decision, took)
        if decision.host is None:
            state.log.info(f"pod {pod.key}: no node: {decision.error}", OUTCOMES)
            await self.consequences.not_placed(item, decision)
            return
        failure = state.binding.reserve(pod, decision.host)
        if failure is not None:
            state.log.info(f"pod {pod.key}: no place on {decision.host}: {failure.text}", OUTCOMES)
            state.observer.not_bound(pod, state.times.now() - began, is_rejected=failure.is_rejection)
            await self.consequences.not_assumed(item, decision.host, failure)
            return
        if state.is_dry:
            state.log.info(f"pod {pod.key}: would be bound to {decision.host}", OUTCOMES)
        self.bindings.start(item, decision.host, began)

    async def _decide(self, item: QueuedPod) -> Decision:
        """The decision; an error of a rule or plugin fails the attempt, not the scheduler. Calls to extenders do not hold others up."""
        state, decide = self.state, partial(self.state.engine.schedule, item.pod, details=self.details)
        try:
            if not state.engine.asks_extenders(item.pod):
                return decide()
            try:
                return await state.apart(decide)
            finally:
                state.touch()
        except KubeclassicError as error:
            state.log.warning(f"pod {item.pod.key}: {error}")
            return Decision(item.pod, error=str(error), nominated="")
