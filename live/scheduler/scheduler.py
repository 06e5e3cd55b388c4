"""The live scheduler: the next pod of the queue, its cycle, its binding, and what follows, again and again.

After an attempt that failed the pod is queued again, an event and a condition say why, and victims may have
to leave. Preemption nominates the pod, deletes victims, and ends nominations. With profiles a victim that
waits for Permit plugins is not deleted: it is rejected, and has to look for another node.

Upstream: scheduleOne in pkg/scheduler/scheduler.go (1.27: pkg/scheduler/schedule_one.go), and
cleanupAssumedPods of the cache; recordSchedulingFailure and preempt in pkg/scheduler/scheduler.go and
MakeDefaultErrorFunc in pkg/scheduler/factory/factory.go; for profiles handleSchedulingFailure and
handleBindingCycleError in pkg/scheduler/schedule_one.go, prepareCandidate in
pkg/scheduler/framework/preemption/preemption.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from attrs import define, field

from ...api.objects import JsonDict, JsonObject, Pod
from ...core.bindingcycle import Failure, point_error
from ...core.decision import ERROR, SUCCESS, UNSCHEDULABLE, Decision, Preemption
from ...core.driver import Attempt, Driver
from ...core.queue.backoff import SECOND, QueuedPod
from ...exceptions import CacheError, ExtenderError, KubeclassicError
from ...extenders.extender import HttpExtender, binder_of
from ..client.api import NOT_THERE, ApiError
from ..process.logs import ATTEMPTS, OUTCOMES
from .state import (
    LiveState,
    NewCondition,
    is_unknown,
    read_until_answered,
    status_of,
    status_patch,
    with_condition,
    with_nomination,
)
from .volumewrites import ClaimWork, NotBound, NotWritten, VolumeWork

FIRST_READ_PAUSE = 0.2
LONGEST_READ_PAUSE = 60.0
"""Seconds between two reads of a pod that failed."""
MAX_NOTE = 1024
IN_CACHE = "is in the cache, so can't be assumed"


@define(eq=False)
class Consequences:
    """The consequences of an attempt for other pods. The two generations of schedulers add the rest, as
    declared by :class:`~...core.driver.Driver`."""

    state: LiveState

    def say(self, victim: Pod, preemptor: Pod, node_name: str) -> None:
        """Record an event on *victim*: it is preempted."""
        text = self.state.release.live.preempted_text.format(
            pod=preemptor.key, uid=preemptor.uid, node=node_name
        )
        self.state.recorder.event(victim, "Normal", "Preempted", text, preemptor.scheduler_name)

    async def tried(self, pod: Pod, what: str, write: Coroutine[Any, Any, object]) -> bool:
        """Whether *write* worked; else a warning says *what* could not be done."""
        try:
            await write
        except ApiError as error:
            self.state.log.warning(f"pod {pod.key}: {what}: {error}")
            return False
        return True


@define(eq=False)
class ClassicConsequences(Consequences):
    """The consequences with predicates and priorities: the pod is read again concurrently, and preemption
    follows the condition.

    For preemption the pod is read again and nominated; then its victims are deleted one after another. The
    first error ends it.
    """

    async def failed(
        self, item: QueuedPod, failure: Failure, nominated: str | None, attempt: Attempt | None
    ) -> None:
        state = self.state
        pod = item.pod
        reason = failure.reason
        message = failure.text
        text = failure.text
        node_name = ""
        if attempt is not None and attempt.is_reserved:
            message = text if state.release.live.binding_failure_texts else ""
            text = f"{attempt.said}{text}"
            node_name = attempt.host
        elif attempt is not None:
            step, node_name = ("AssumePod", attempt.host) if IN_CACHE in text else ("AssumePodVolumes", "")
            reason = "SchedulerError"
            text = f"{step} failed: {text}"
        probed = state.timestamp if state.release.queue.probe_times else None
        state.spawn(self._read_again(item, state.queue.cycle))
        # The read goes first; else its answer could be older than the update that an informer sees.
        await asyncio.sleep(0)
        state.recorder.event(pod, "Warning", "FailedScheduling", text)
        status = with_condition(
            status_of(pod), NewCondition(reason=reason, message=message, probed=probed), state.timestamp
        )
        if status is not None:
            await self.tried(pod, "cannot update the condition", state.api.put_status(pod, status, node_name))

    async def _read_again(self, item: QueuedPod, cycle: int) -> None:
        """Read the pod until there is an answer; it is queued again if it has no node yet."""
        state = self.state
        current = await read_until_answered(state.api, item.pod, FIRST_READ_PAUSE, LONGEST_READ_PAUSE)
        await state.free()
        if current is None:
            state.engine.binder.forget(item.pod)
        elif not current.node_name:
            state.touch()
            if (cached := state.pod(current.key)) is None or cached.uid != current.uid or cached.node_name:
                # The informer saw that it went, or got its node; the answer is older. Upstream queues the pod
                # all the same: one that has a node could make victims of other pods, and its nomination would
                # never end.
                return
            with suppress(CacheError):  # Upstream: a pod that is in the queue already is only logged.
                state.queue.add_unschedulable(item.read_again(current), cycle)
            state.awake.set()

    async def make_room(self, pod: Pod, plan: Preemption) -> str | None:
        state = self.state
        try:
            pod = await state.api.read_pod(pod)
        except ApiError as error:
            return f"cannot read it for preemption: {error}"
        if plan.later is not None:  # extenders are sent the pod as it was just read, and leave a plan
            try:
                plan = await state.apart(partial(plan.later, pod))
                state.observer.made_plan(plan)
            except ExtenderError as error:
                plan = Preemption(error=str(error))
        if plan.error is not None:
            return f"preemption: {plan.error}"
        if (
            plan.node is not None
            and (failed := await self._let_leave(pod, plan.node, plan.victims)) is not None
        ):
            return failed
        for nominee in plan.clear_nominations:
            nominee = pod if nominee.uid == pod.uid else nominee
            if (status := status_of(nominee)).get("nominatedNodeName"):
                await self.tried(
                    nominee,
                    "cannot end its nomination",
                    state.api.put_status(nominee, with_nomination(status, "")),
                )
        return None

    async def _let_leave(self, pod: Pod, node_name: str, victims: Sequence[Pod]) -> str | None:
        """Nominate *pod* and delete *victims*; returns the error that stopped it, or None."""
        state = self.state
        early = state.release.preemption.nominates_before_api
        state.touch()
        if early:
            state.queue.nominate(pod, node_name)
        try:
            await state.api.put_status(pod, with_nomination(status_of(pod), node_name))
        except ApiError as error:
            if early:
                state.queue.withdraw(pod)
            return f"cannot be nominated to {node_name}: {error}"
        for victim in victims:
            await state.leading()
            try:
                await state.api.delete_pod(victim)
            except ApiError as error:
                return f"{victim.key} cannot be preempted: {error}"
            self.say(victim, pod, node_name)
        return None


@define(eq=False)
class FrameworkConsequences(Consequences):
    """The consequences with profiles: preemption is part of the cycle, and one patch writes condition and
    nomination.

    All victims are marked and deleted at the same time; then the nominations of lower priority end.
    """

    async def failed(
        self, item: QueuedPod, failure: Failure, nominated: str | None, attempt: Attempt | None
    ) -> None:
        state = self.state
        pod = item.pod
        current = state.pod(pod.key)
        if current is not None and current.uid != pod.uid and state.release.queueing.drops_recreated:
            state.queue.done(pod)
            return
        state.touch()
        if current is not None and not current.node_name:
            item = item.read_again(current)
            pod = current if state.release.live.patches_latest else pod
            with suppress(CacheError):  # Upstream: a pod that is in the queue already is only logged.
                state.queue.add_unschedulable(item, state.queue.cycle)
        else:
            state.queue.done(pod)
        state.engine.nominations.add(item.pod, nominated, holder=item)
        state.awake.set()
        # The note of an event has at most 1024 bytes.
        text = failure.text
        raw = failure.text.encode()
        text = text if len(raw) <= MAX_NOTE else raw[: MAX_NOTE - 4].decode("utf-8", "ignore") + " ..."
        state.recorder.event(pod, "Warning", "FailedScheduling", text)
        before = status_of(pod)
        after = self._with_condition(pod, reason=failure.reason, message=failure.text) or dict(before)
        if nominated is not None:
            after = with_nomination(after, nominated)
        patch = self._patch(pod, before, after, "cannot update the status")
        if state.engine.enabled("SchedulerAsyncAPICalls"):
            # Upstream: the next cycle does not wait for the answer.
            state.spawn(patch)
        else:
            await patch

    def _with_condition(self, pod: Pod, **condition: str) -> JsonDict | None:
        """The status of *pod* with a condition, as :func:`~.state.with_condition`."""
        state = self.state
        noted = state.engine.enabled("PodObservedGenerationTracking")
        return with_condition(
            status_of(pod),
            NewCondition(**condition, generation=pod.metadata.generation if noted else 0),
            state.timestamp,
        )

    async def expect(self, pod: Pod, host: str) -> None:
        """Tell others the node of *pod*, whose binding takes time."""
        before = status_of(pod)
        await self._patch(pod, before, with_nomination(before, host), "cannot be nominated")

    async def _patch(self, pod: Pod, before: JsonObject, after: JsonObject, what: str) -> None:
        await self.tried(pod, what, self.state.api.patch_status(pod, status_patch(before, after)))

    async def make_room(self, pod: Pod, plan: Preemption) -> str | None:
        state = self.state
        spares = state.release.framework.leaving_victims_keep_nominations
        victims = [victim for victim in plan.victims if not (spares and victim.is_terminating)]
        if state.engine.enabled("SchedulerAsyncPreemption"):
            if victims:
                # Upstream: prepareCandidateAsync in pkg/scheduler/framework/preemption/preemption.go.
                # Meanwhile the pod is gated.
                state.queue.hold_back(pod, True)
                state.spawn(self._in_background(pod, plan, victims))
            return None
        error = await self._evict(victims, pod, plan)
        if error is None:
            await self._end_nominations(plan)
        return error

    async def _in_background(self, pod: Pod, plan: Preemption, victims: Sequence[Pod]) -> None:
        state = self.state
        began = state.now()
        await self._end_nominations(plan)
        error = await self._evict(victims[:-1], pod, plan)
        # Upstream: the pod is let go before the last victim goes, as it would miss the event of that one.
        state.queue.hold_back(pod, False)
        if error is None or not state.release.live.spares_victims:
            error = await self._evict(victims[-1:], pod, plan) or error
        result = "success" if error is None else "error"
        state.observer.feed("background time", state.now() - began, result=result)
        state.observer.feed("background", 1, result=result)
        if error is not None:
            state.log.warning(f"pod {pod.key}: preemption: {error}")
            await state.free()
            state.touch()
            state.queue.activate([pod])
            state.awake.set()

    async def _end_nominations(self, plan: Preemption) -> None:
        for nominee in plan.clear_nominations:
            before = status_of(nominee)
            await self._patch(nominee, before, with_nomination(before, ""), "cannot end its nomination")

    async def _evict(self, victims: Sequence[Pod], preemptor: Pod, plan: Preemption) -> str | None:
        """Mark and delete *victims* at the same time; returns the first error."""
        state = self.state
        cells = state.release.live
        # Releases without this gate are older, or mark always.
        marks = state.engine.gates.get(
            "PodDisruptionConditions", state.release.framework.waits_for_preempted_alone
        )

        async def evict(victim: Pod) -> str | None:
            is_told = state.binding.preempt(victim, preemptor)
            if not is_told and cells.ends_pre_bind and victim.uid in state.pre_bound:
                is_told = state.pre_bound[victim.uid] = True
            if not is_told:
                await state.leading()
                # Upstream: the patch was made from the preemptor's status, and removed conditions and
                # addresses of the victim. Here it adds the condition alone.
                reason, text = cells.disruption
                after = self._with_condition(
                    victim,
                    type="DisruptionTarget",
                    status="True",
                    reason=reason,
                    message=text.format(scheduler=preemptor.spec.scheduler_name),
                )
                try:
                    if marks and after is not None:
                        await state.api.patch_status(victim, status_patch(status_of(victim), after))
                    await state.api.delete_pod(victim)
                except ApiError as error:
                    return None if cells.spares_victims and error.status == NOT_THERE else str(error)
            # Upstream: says so from the release on in which such victims are not deleted.
            in_memory = " (in kube-scheduler memory)." if is_told and cells.ends_pre_bind else ""
            self.say(victim, preemptor, f"{plan.node}{in_memory}")
            return None

        outcomes = await asyncio.gather(*map(evict, victims))
        return next((outcome for outcome in outcomes if outcome is not None), None)


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
        self.victims_leave_first = bool(profiles)
        self.consequences = (FrameworkConsequences if profiles else ClassicConsequences)(state)
        self.volumes = VolumeWork(state)
        has_claims = profiles and state.engine.enabled("DynamicResourceAllocation")
        self.claims = ClaimWork(state) if has_claims else None
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
        attempt.said, said = ("", rejected) if state.engine.profiles else (rejected, "")
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
            if not state.engine.profiles:
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
        if error is not None and not self.victims_leave_first:
            self.state.log.warning(f"pod {pod.key}: {error}")
        return error
