"""The consequences of an attempt: a failed pod, and the victims that make room.

The pod is queued again, an event and a condition say why, and victims may have to leave. Preemption nominates
the pod, deletes victims, and ends nominations. With profiles a victim that waits for Permit plugins is not
deleted: it is rejected, and has to look for another node.

Upstream: recordSchedulingFailure and preempt in pkg/scheduler/scheduler.go and MakeDefaultErrorFunc in
pkg/scheduler/factory/factory.go; from 1.19 on handleSchedulingFailure in pkg/scheduler/schedule_one.go,
prepareCandidate in pkg/scheduler/framework/preemption/preemption.go (1.36: executor.go).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from attrs import define, frozen

from ...api.objects import JsonDict, JsonObject, Pod
from ...core.bindingcycle import Failure
from ...core.decision import Preemption
from ...core.driver import Attempt
from ...core.queue.backoff import QueuedPod
from ...exceptions import CacheError, ExtenderError
from ..client.api import NOT_THERE, ApiError
from .state import (
    LiveState,
    NewCondition,
    read_until_answered,
    status_of,
    status_patch,
    with_condition,
    with_nomination,
)

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
    """The consequences where statuses are written whole: the pod is read again concurrently, and preemption
    follows the condition, or comes before it.

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
        elif attempt is not None and state.engine.profiles and (failure.is_rejection or " plugin" in text):
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
            cached = state.pod(current.key)
            if cached is None or cached.node_name or {cached.uid, current.uid} != {item.pod.uid}:
                # The informer saw that it went, or got its node, and the answer is older; or it was made
                # again, which the informer tells, too. Upstream queues the pod all the same: one that has a
                # node could make victims of other pods, its nomination would never end, and one that is
                # assumed already would be tried again and again.
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
            state.binding.preempt(victim, pod)
            self.say(victim, pod, node_name)
        return None


@frozen
class Evicted:
    """The outcome of an eviction: its error, and whether any victim was still there."""

    error: str | None = None
    any_left: bool = True


@define(eq=False)
class FrameworkConsequences(Consequences):
    """The consequences with patches: preemption is part of the cycle, and one patch writes condition and
    nomination.

    Victims are marked and deleted; then the nominations of lower priority end.
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
        await self.tried(
            pod,
            what,
            self.state.api.patch_status(
                pod, status_patch(before, after), self.state.release.live.patch_tries
            ),
        )

    async def make_room(self, pod: Pod, plan: Preemption) -> str | None:
        state = self.state
        if plan.node is None:
            return None
        spares = state.release.framework.leaving_victims_keep_nominations
        victims = [victim for victim in plan.victims if not (spares and victim.is_terminating)]
        if state.engine.enabled("SchedulerAsyncPreemption"):
            if victims:
                # Upstream: prepareCandidateAsync in pkg/scheduler/framework/preemption/preemption.go.
                # Meanwhile the pod is gated.
                state.queue.hold_back(pod, True)
                state.spawn(self._in_background(pod, plan, victims))
            return None
        error = (await self._evict(victims, pod, plan)).error
        if error is None:
            await self._end_nominations(plan)
        return error

    async def _in_background(self, pod: Pod, plan: Preemption, victims: Sequence[Pod]) -> None:
        state = self.state
        began = state.now()
        await self._end_nominations(plan)
        cells = state.release.live
        evicted = await self._evict(victims[:-1], pod, plan)
        # Upstream: the pod is let go before the last victim goes, as it would miss the event of that one.
        state.queue.hold_back(pod, False)
        error = evicted.error
        any_left = evicted.any_left
        if error is None or not cells.spares_last_victim:
            evicted = await self._evict(victims[-1:], pod, plan)
            error = evicted.error or error
            any_left |= evicted.any_left
        result = "success" if error is None else "error"
        state.observer.feed("background time", state.now() - began, result=result)
        state.observer.feed("background", 1, result=result)
        if error is not None:
            state.log.warning(f"pod {pod.key}: preemption: {error}")
        if error is not None or (cells.tries_after_gone and not any_left):
            await state.free()
            state.touch()
            state.queue.activate([pod])
            state.awake.set()

    async def _end_nominations(self, plan: Preemption) -> None:
        for nominee in plan.clear_nominations:
            before = status_of(nominee)
            await self._patch(nominee, before, with_nomination(before, ""), "cannot end its nomination")

    async def _evict(self, victims: Sequence[Pod], preemptor: Pod, plan: Preemption) -> Evicted:
        """Evict *victims*, all at the same time or one after another, until an error."""
        if self.state.release.live.evicts_at_once:
            outcomes = await asyncio.gather(*(self._leave(victim, preemptor, plan) for victim in victims))
        else:
            outcomes = []
            for victim in victims:
                outcomes.append(await self._leave(victim, preemptor, plan))
                if outcomes[-1].error is not None:
                    break
        error = next((outcome.error for outcome in outcomes if outcome.error is not None), None)
        return Evicted(error, any(outcome.any_left for outcome in outcomes))

    async def _leave(self, victim: Pod, preemptor: Pod, plan: Preemption) -> Evicted:
        """Mark and delete *victim*, or end its binding."""
        state = self.state
        cells = state.release.live
        is_told = not cells.deletes_waiting and state.binding.preempt(victim, preemptor)
        if not is_told and cells.ends_pre_bind and victim.uid in state.pre_bound:
            is_told = state.pre_bound[victim.uid] = True
        if not is_told:
            await state.leading()
            method = "PATCH"
            try:
                await self._mark(victim, preemptor)
                method = "DELETE"
                await state.api.delete_pod(victim)
            except ApiError as error:
                is_gone = error.status == NOT_THERE and method in cells.gone_victims
                return Evicted(None if is_gone else str(error), any_left=False)
            if cells.deletes_waiting:
                state.binding.preempt(victim, preemptor)
        # Upstream: says so from the release on in which such victims are not deleted.
        in_memory = " (in kube-scheduler memory)." if is_told and cells.ends_pre_bind else ""
        self.say(victim, preemptor, f"{plan.node}{in_memory}")
        return Evicted()

    async def _mark(self, victim: Pod, preemptor: Pod) -> None:
        """Add condition DisruptionTarget, where the release has it. Upstream: the patch was made from the
        preemptor's status, and removed conditions and addresses of the victim."""
        state = self.state
        # Releases without this gate are older, or mark always.
        if state.engine.gates.get(
            "PodDisruptionConditions", state.release.framework.waits_for_preempted_alone
        ):
            reason, text = state.release.live.disruption
            after = self._with_condition(
                victim,
                type="DisruptionTarget",
                status="True",
                reason=reason,
                message=text.format(scheduler=preemptor.spec.scheduler_name),
            )
            if after is not None:
                await state.api.patch_status(victim, status_patch(status_of(victim), after))
