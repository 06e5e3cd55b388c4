"""The live scheduler: the next pod of the queue, its cycle, its binding, and what follows, again and again.

Upstream: scheduleOne in pkg/scheduler/scheduler.go (1.27: pkg/scheduler/schedule_one.go), and
cleanupAssumedPods of the cache; for profiles handleBindingCycleError in pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

from attrs import define, field

from ...api.objects import Pod
from ...core.bindingcycle import Failure, point_error
from ...core.decision import ERROR, SUCCESS, UNSCHEDULABLE, Decision, Preemption
from ...core.driver import Attempt, Driver
from ...core.queue.backoff import SECOND, QueuedPod
from ...exceptions import ExtenderError, KubeclassicError
from ...extenders.extender import HttpExtender, binder_of
from ..client.api import ApiError
from ..process.logs import ATTEMPTS, OUTCOMES
from .consequences import ClassicConsequences, FrameworkConsequences
from .state import LiveState, is_unknown, read_until_answered
from .volumewrites import ClaimWork, NotBound, NotWritten, VolumeWork

BINDING_READ_PAUSE = 0.1
LONGEST_BINDING_READ_PAUSE = 10.0
"""Seconds between two reads of a pod whose binding had no answer."""
DEVICE_POLL = 5.0
"""Seconds between two checks of devices that are not ready."""
EXPIRY_PERIOD = 1.0
"""Seconds between two checks for assumed pods that have expired."""
SHORTEST_WAIT = 0.001


@define(eq=False)
class LiveScheduler(Driver):
    """The scheduler of the pods of *state*, which informers keep up to date.

    :meth:`run` must not begin before all informers have their first lists.
    """

    state: LiveState
    on_decision: Callable[[Decision], None] = lambda decision: None
    """Called after each cycle, before anything follows from its decision."""
    details: bool = False
    """Decisions keep their details, which takes longer."""
    consequences: ClassicConsequences | FrameworkConsequences = field(init=False)
    volumes: VolumeWork = field(init=False)
    under_way: int = field(init=False, default=0)
    """The number of pods between a reserved place and their binding."""
    claims: ClaimWork | None = field(init=False)
    """Writes claims to devices; None where there are none."""
    is_running: bool = False
    is_stopping: bool = False

    def __attrs_post_init__(self) -> None:
        state = self.state
        profiles = state.engine.profiles
        cells = state.release.live
        self.victims_leave_first = cells.preempts_first
        self.consequences = (ClassicConsequences if cells.puts_status else FrameworkConsequences)(state)
        self.volumes = VolumeWork(state)
        has_claims = profiles and state.engine.enabled("DynamicResourceAllocation")
        self.claims = ClaimWork(state) if has_claims else None
        state.binding.contain_errors(state.log.warning)
        for profile in profiles.values():
            profile.handle.now = state.wall

    # --- the loop -------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Schedule until cancelled, or until :meth:`stop`; then bindings may end, and whatever else is under
        way is cancelled.

        Raises the first defect of a task.
        """
        state = self.state
        self.is_running = True
        state.spawn(self._expire())
        try:
            while not self.is_stopping:
                if not await self.step():
                    await self._wait()
            while self.under_way:
                state.awake.clear()
                await state.awake.wait()
        finally:
            self.is_running = False
            state.worker.shutdown(wait=False)
            for task in tuple(state.tasks):
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
        pod = item.pod
        if pod.is_terminating:
            state.recorder.event(pod, "Warning", "FailedScheduling", f"skip schedule deleting pod: {pod.key}")
        if pod.is_terminating or (state.engine.profiles and state.engine.is_assumed(pod)):
            state.queue.done(pod)
        else:
            began = state.now()
            state.log.info(f"pod {pod.key}: attempt {item.attempts}", ATTEMPTS)
            state.observer.began(item)
            decision = await self._decide(item)
            if self.claims is not None:
                self.claims.write_beside()
            took = state.now() - began
            self.on_decision(decision)
            state.observer.decided(item, decision, took)
            if decision.host is None:
                state.log.info(f"pod {pod.key}: no node: {decision.error}", OUTCOMES)
            await self.conclude(item, decision, began)
        await asyncio.sleep(0)  # Informers and bindings have their turn.
        return True

    async def _wait(self) -> None:
        """Wait until something happens, or a flush of the queue is due."""
        state = self.state
        state.awake.clear()
        if self.is_stopping or state.broken:
            return
        due = state.queue.next_due()
        timeout = None if due is None else max(SHORTEST_WAIT, due / SECOND - state.now())
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await state.awake.wait()

    async def _expire(self) -> None:
        state = self.state
        while True:
            await asyncio.sleep(EXPIRY_PERIOD)
            await state.free()
            state.touch()
            for pod in state.engine.cache.expire(state.clock.seconds):
                state.log.warning(f"pod {pod.key}: its binding to {pod.node_name} was not confirmed in time")

    # --- one pod --------------------------------------------------------------------------------------------

    async def _decide(self, item: QueuedPod) -> Decision:
        """The decision; an error of a rule or plugin fails the attempt, not the scheduler. Calls to extenders
        do not delay other work."""
        state = self.state
        decide = partial(state.engine.schedule, item.pod, details=self.details)
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

    # --- a binding ------------------------------------------------------------------------------------------

    def beside(self, attempt: Attempt, work: Coroutine[Any, Any, None]) -> None:
        """Run *work*, the binding, beside the cycles of other pods; many run at once."""
        state = self.state
        if state.is_dry:
            state.log.info(f"pod {attempt.pod.key}: would be bound to {attempt.host}", OUTCOMES)
        attempt.reserved, attempt.needs_volumes = state.now(), self.volumes.is_needed(attempt.pod)
        self.under_way += 1

        async def counted() -> None:
            try:
                await work
            finally:
                self.under_way -= 1

        state.spawn(counted())

    async def permit(self, attempt: Attempt) -> Failure | None:
        state = self.state
        waiting = state.binding.waiting(attempt.pod)
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def on_end() -> None:
            loop.call_soon_threadsafe(ended.set)

        if state.engine.enabled("NominatedNodeNameForExpectation"):
            assert isinstance(self.consequences, FrameworkConsequences)
            template = state.engine.template_of(attempt.pod)
            has_devices = template.spec.resource_claims or template.device_resources
            if waiting is not None or attempt.needs_volumes or has_devices:
                await self.consequences.expect(attempt.pod, attempt.host)
        if waiting is not None:
            waiting.on_end = on_end
            while not waiting.is_over:
                waited = state.now() - attempt.reserved
                with suppress(TimeoutError):
                    async with asyncio.timeout(waiting.timeout - waited):
                        await ended.wait()
                await state.free()
                waiting.pass_time(state.now() - attempt.reserved)
        waited = state.now() - attempt.reserved
        await state.free()
        failure = state.binding.permitted(attempt.pod, attempt.host)
        if waiting is not None:
            state.observer.feed("permit", waited, result="Success" if failure is None else "Unschedulable")
        return failure

    async def allowed(self, attempt: Attempt) -> None:
        attempt.allowed = self.state.now()

    async def bind_volumes(self, attempt: Attempt) -> Failure | None:
        if not attempt.needs_volumes:
            return None
        state = self.state
        release = state.release
        is_plugin = bool(state.engine.profiles) and not release.framework.assumes_volumes_first
        began = state.now()
        text = ""
        uid = attempt.pod.uid
        state.pre_bound[uid] = False
        try:
            await self.volumes.bind(attempt.pod.bound_to(attempt.host))
        except NotWritten as error:
            text = str(error)
        except NotBound as error:
            text = f"{release.live.unbound_text}{error}"
        finally:
            del state.pre_bound[uid]
        await state.free()
        if not text:
            state.observer.feed("volume", state.now() - began, operation="bind")
            return None
        state.observer.feed("volume error", 1, operation="bind")
        if not is_plugin:
            return Failure(text, "VolumeBindingFailed")
        return state.binding.failure(
            point_error(release.framework.point_errors, "PreBind", "VolumeBinding", attempt.pod, text)
        )

    def ended(self, attempt: Attempt, failure: Failure | None) -> None:
        self._tell_end(attempt, "PreBind", attempt.allowed, failure)

    def _tell_end(self, attempt: Attempt, point: str, began: float, failure: Failure | None) -> None:
        status = SUCCESS if failure is None else UNSCHEDULABLE if failure.is_rejection else ERROR
        profile = attempt.pod.scheduler_name
        self.state.observer.feed(
            "point", self.state.now() - began, extension_point=point, status=status, profile=profile
        )

    async def write(self, attempt: Attempt) -> Failure | None:
        pod = attempt.pod
        host = attempt.host
        state = self.state
        reason = None if self.claims is None else await self.claims.write(self.claims.taken())
        reason = reason or await self._until_ready(pod, host)
        if reason is not None:
            return state.binding.failure(
                point_error(state.release.framework.point_errors, "PreBind", "DynamicResources", pod, reason)
            )
        await state.leading()
        asked_at = state.now()
        error = await self._request(pod, host)
        await state.free()
        state.touch()
        lasts = state.release.live.assumed_pods_expire
        if lasts is not None:
            state.engine.cache.finish_binding(pod.bound_to(host), state.clock.seconds, lasts)
        rejected = state.release.live.rejected_text
        attempt.said, said = (rejected, "") if state.release.live.puts_status else ("", rejected)
        failure = None if error is None else state.binding.failure(f"{said}{error}")
        self._tell_end(attempt, "Bind", asked_at, failure)
        if failure is None:
            state.observer.bound(attempt.item, state.now(), attempt.began, asked_at)
            if not state.is_dry:
                state.log.info(f"pod {pod.key}: bound to {host}", OUTCOMES)
            state.recorder.event(pod, "Normal", "Scheduled", f"Successfully assigned {pod.key} to {host}")
        return failure

    async def _until_ready(self, pod: Pod, host: str) -> str | None:
        """Wait until the devices of *pod* are ready, as their drivers say in its claims; returns why they are
        not."""
        state = self.state
        wait = state.binding.device_wait(pod)
        if wait is None or not wait.waits(pod):
            return None
        state.recorder.event(
            pod,
            "Normal",
            "BindingConditionsPending",
            f"waiting for binding conditions for device on node {host}",
        )
        end = state.now() + wait.binding_seconds
        state.pre_bound[pod.uid] = False
        while (reason := wait.readiness(pod)) is None and state.now() < end and not state.pre_bound[pod.uid]:
            await asyncio.sleep(DEVICE_POLL)
            await state.free()
        if state.pre_bound.pop(pod.uid):
            return "context canceled"
        return None if reason == "" else reason or wait.late_text

    async def _request(self, pod: Pod, host: str) -> str | None:
        """Ask an extender or the API server to bind; returns the error."""
        state = self.state
        binder = binder_of(
            [extender for extender in state.engine.extenders if isinstance(extender, HttpExtender)], pod
        )
        try:
            if binder is None or not await self._bound_by(binder, pod, host):
                await state.api.bind(pod, host)
        except ApiError as error:
            if is_unknown(error):
                # Find out whether it was carried out: until then the pod keeps its place on the node.
                current = await read_until_answered(
                    state.api, pod, BINDING_READ_PAUSE, LONGEST_BINDING_READ_PAUSE
                )
                if current is not None and current.uid == pod.uid and current.node_name == host:
                    return None
            if not state.release.live.binds_by_plugin:
                return str(error)
            return point_error(state.release.framework.point_errors, "Bind", "DefaultBinder", pod, str(error))
        except ExtenderError as error:
            return str(error)
        return None

    async def _bound_by(self, binder: HttpExtender, pod: Pod, host: str) -> bool:
        """Whether an extender bound *pod*; not if it failed and that is ignored."""
        try:
            await asyncio.to_thread(binder.bind, pod, host)
        except ExtenderError as error:
            if not (binder.is_ignorable and binder.release.extenders.ignores_failed_binding):
                raise
            self.state.log.warning(f"pod {pod.key}: not bound by extender {binder.url}: {error}")
            return False
        return True

    # --- failures -------------------------------------------------------------------------------------------

    def given_back(self, attempt: Attempt, failure: Failure) -> None:
        state = self.state
        if self.claims is not None:
            self.claims.write_beside()
        state.touch()
        state.awake.set()
        state.log.info(f"pod {attempt.pod.key}: not bound to {attempt.host}: {failure.text}", OUTCOMES)
        state.observer.not_bound(attempt.pod, state.now() - attempt.began, is_rejected=failure.is_rejection)

    async def failed(
        self, item: QueuedPod, failure: Failure, nominated: str | None, attempt: Attempt | None = None
    ) -> None:
        state = self.state
        if attempt is not None and not attempt.is_reserved:
            state.log.info(f"pod {item.pod.key}: no place on {attempt.host}: {failure.text}", OUTCOMES)
            state.observer.not_bound(item.pod, state.now() - attempt.began, is_rejected=failure.is_rejection)
        await self.consequences.failed(item, failure, nominated, attempt)
        await state.free()
        state.awake.set()

    async def make_room(self, pod: Pod, plan: Preemption) -> str | None:
        error = await self.consequences.make_room(pod, plan)
        if error is not None and self.state.release.live.puts_status:
            self.state.log.warning(f"pod {pod.key}: {error}")
        return error
