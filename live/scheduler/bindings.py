"""The binding of a pod that is assumed on a node. It goes on beside the cycles of other pods; many are under way at once.

Upstream: the goroutine at the end of scheduleOne in pkg/scheduler/scheduler.go; bindingCycle in pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

import attrs

from ...api.objects import Pod
from ...core.bindingcycle import Failure
from ...core.decision.flow import ERROR, SUCCESS, UNSCHEDULABLE
from ...core.queue.parked import QueuedPod
from ...exceptions import CacheError, ExtenderError
from ...extenders.extender import HttpExtender, binder_of
from ..client.replies import ApiError
from ..process.logs import OUTCOMES
from .failures import Consequences
from .state import LiveState
from .volumewrites import ClaimWork, NotBound, NotWritten, VolumeWork
from .writes import is_unknown, read_until_answered

READ_PAUSE, LONGEST_READ_PAUSE = 0.1, 10.0
DEVICE_POLL = 5.0
"""Seconds between two looks at devices that are not ready."""


@attrs.frozen
class Attempt:
    """A pod on its way from a reserved place to its binding. Times are seconds of the scheduler."""

    item: QueuedPod
    host: str
    began: float
    reserved: float
    needs_volumes: bool

    @property
    def pod(self) -> Pod:
        return self.item.pod


@attrs.define(eq=False)
class Bindings:
    """Binds pods; what follows a failure is the business of *consequences*."""

    state: LiveState
    consequences: Consequences
    claims: ClaimWork | None = None
    volumes: VolumeWork = attrs.field(init=False)
    under_way: int = attrs.field(init=False, default=0)
    """How many pods are between a reserved place and their binding."""

    def __attrs_post_init__(self) -> None:
        self.volumes = VolumeWork(self.state)

    def start(self, item: QueuedPod, host: str, began: float = 0.0) -> None:
        """Bind the pod of *item*, which was just reserved on *host*; its attempt *began* at that time."""
        attempt = Attempt(item, host, began, self.state.times.now(), self.volumes.is_needed(item.pod))
        self.under_way += 1
        self.state.spawn(self._counted(attempt))

    async def _counted(self, attempt: Attempt) -> None:
        try:
            await self._bind(attempt)
        finally:
            self.under_way -= 1

    async def _bind(self, attempt: Attempt) -> None:
        pod, host, binding = attempt.pod, attempt.host, self.state.binding
        waited = await self._end_of_wait(attempt)
        await self.state.free()
        failure = binding.permitted(pod, host)
        if waited is not None:
            self.state.observer.permitted("Success" if failure is None else "Unschedulable", waited)
        if failure is not None:
            await self._undone(attempt, failure)
            return
        self.state.queue.done(pod)
        began = self.state.times.now()
        if (failure := binding.begin(pod, host)) is not None:
            self._tell_end(attempt, "PreBind", began, failure)
            await self._undone(attempt, failure)
            return
        if attempt.needs_volumes:
            failure = await self._bind_volumes(pod.bound_to(host))
        self._tell_end(attempt, "PreBind", began, failure)
        if failure is not None:
            await self._undo(attempt, failure)
            return
        failure = binding.bind(pod, host)
        if failure is not None:
            await self._undone(attempt, failure)
            return
        failure = await self._write_claims() or await self._until_ready(pod, host)
        if failure is not None:
            await self._undo(attempt, failure)
            return
        await self._write(attempt)

    async def _write_claims(self) -> Failure | None:
        """Write the devices that the claims of a pod have just got."""
        error = None if self.claims is None else await self.claims.write(self.claims.taken())
        return None if error is None else self._not_allocated(error)

    async def _until_ready(self, pod: Pod, host: str) -> Failure | None:
        """Wait until the devices of *pod* are ready, as their drivers say it in its claims."""
        wait, state = self.state.binding.device_wait(pod), self.state
        if wait is None or not wait.waits(pod):
            return None
        state.recorder.event(pod, "Normal", "BindingConditionsPending", f"waiting for binding conditions for device on node {host}")
        end = state.times.now() + wait.binding_seconds
        while (told := wait.readiness(pod)) is None and state.times.now() < end:
            await asyncio.sleep(DEVICE_POLL)
            await state.free()
        return None if told == "" else self._not_allocated(told or wait.late_text)

    def _not_allocated(self, told: str) -> Failure:
        return self.state.binding.failure(f'running PreBind plugin "DynamicResources": {told}')

    def _tell_end(self, attempt: Attempt, point: str, began: float, failure: Failure | None) -> None:
        status = SUCCESS if failure is None else UNSCHEDULABLE if failure.is_rejection else ERROR
        self.state.observer.point(attempt.pod, point, status, self.state.times.now() - began)

    async def _end_of_wait(self, attempt: Attempt) -> float | None:
        """Wait until Permit plugins allow or reject the pod, or their time is over; answers the seconds, None if it need not wait."""
        waiting, state = self.state.binding.waiting(attempt.pod), self.state
        if waiting is None:
            return None
        ended, loop = asyncio.Event(), asyncio.get_running_loop()

        def on_end() -> None:
            loop.call_soon_threadsafe(ended.set)

        waiting.on_end = on_end
        while not waiting.is_over:
            waited = state.times.now() - attempt.reserved
            with suppress(TimeoutError):
                async with asyncio.timeout(waiting.timeout - waited):
                    await ended.wait()
            await state.free()
            waiting.pass_time(state.times.now() - attempt.reserved)
        return state.times.now() - attempt.reserved

    async def _bind_volumes(self, pod: Pod) -> Failure | None:
        plugin = 'running PreBind plugin "VolumeBinding": ' if self._has_plugins else ""
        began, text = self.state.times.now(), ""
        try:
            await self.volumes.bind(pod)
        except NotWritten as error:
            text = f"{plugin}{error}"
        except NotBound as error:
            text = f"{plugin}binding volumes: {error}" if plugin else str(error)
        await self.state.free()
        self.state.observer.volumes(self.state.times.now() - began, is_failed=bool(text))
        if not text:
            return None
        return self.state.binding.failure(text) if plugin else Failure(text, "VolumeBindingFailed")

    @property
    def _has_plugins(self) -> bool:
        return bool(self.state.engine.profiles)

    # --- the request ------------------------------------------------------------------------------------------------

    async def _write(self, attempt: Attempt) -> None:
        pod, host, state = attempt.pod, attempt.host, self.state
        await state.leading()
        asked = state.times.now()
        error = await self._request(pod, host)
        await state.free()
        state.touch()
        lasts = state.release.live.assumed_pods_expire
        if lasts is not None:
            state.engine.cache.finish_binding(pod.bound_to(host), state.clock.seconds, lasts)
        failure = None if error is None else state.binding.failure(error)
        self._tell_end(attempt, "Bind", asked, failure)
        if failure is None:
            now = state.times.now()
            state.observer.bound(attempt.item, now, attempt.began, asked)
            if not state.is_dry:
                state.log.info(f"pod {pod.key}: bound to {host}", OUTCOMES)
            state.recorder.event(pod, "Normal", "Scheduled", f"Successfully assigned {pod.key} to {host}")
            return
        said = "" if self._has_plugins else "Binding rejected: "
        await self._undo(attempt, failure, said)

    async def _request(self, pod: Pod, host: str) -> str | None:
        """Ask an extender or the API server to bind; answers the error."""
        binder = binder_of([each for each in self.state.engine.extenders if isinstance(each, HttpExtender)], pod)
        plugin = 'running Bind plugin "DefaultBinder": ' if self._has_plugins and binder is None else ""
        try:
            if binder is not None:
                await asyncio.to_thread(binder.bind, pod, host)
            else:
                await self.state.api.bind(pod, host)
        except ApiError as error:
            is_bound = is_unknown(error) and await self._was_bound(pod, host)
            return None if is_bound else f"{plugin}{error}"
        except ExtenderError as error:
            return str(error)
        return None

    async def _was_bound(self, pod: Pod, host: str) -> bool:
        """Whether a binding without an answer was carried out. Until that is known the pod keeps its place on the node."""
        current = await read_until_answered(self.state.api, pod, READ_PAUSE, LONGEST_READ_PAUSE)
        return current is not None and current.uid == pod.uid and current.spec.node_name == host

    # --- failures ---------------------------------------------------------------------------------------------------

    async def _undo(self, attempt: Attempt, failure: Failure, said: str = "") -> None:
        """Give back what the pod had reserved."""
        is_given_back = False
        with suppress(CacheError):  # Upstream: only logged; the pod was confirmed, or went, before.
            self.state.binding.give_back(attempt.pod, attempt.host)
            is_given_back = True
        if self.claims is not None:
            self.claims.write_beside()
        await self._undone(attempt, failure, said, moves=is_given_back)

    async def _undone(self, attempt: Attempt, failure: Failure, said: str = "", *, moves: bool = True) -> None:
        """The steps are undone; other pods may fit now."""
        state = self.state
        state.touch()
        state.awake.set()
        state.log.info(f"pod {attempt.pod.key}: not bound to {attempt.host}: {failure.text}", OUTCOMES)
        state.observer.not_bound(attempt.pod, state.times.now() - attempt.began, is_rejected=failure.is_rejection)
        if moves and not failure.is_rejection:
            state.router.pod_given_up(attempt.pod.bound_to(attempt.host), but_itself=False)
        await self.consequences.not_bound(attempt.item, attempt.host, failure, said)
        await state.free()
        if moves and failure.is_rejection:
            state.router.pod_given_up(attempt.pod.bound_to(attempt.host), but_itself=True)
            state.awake.set()
