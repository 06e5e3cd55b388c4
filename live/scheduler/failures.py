"""What follows an attempt that failed: the pod is queued again, an event and a condition say why, and victims
may have to leave.

Room is made for a pod by its nomination, the victims that are deleted, and the nominations that end. With
profiles a victim that waits for Permit plugins is not deleted: it is rejected, and has to look for another
node.

Upstream: recordSchedulingFailure and preempt in pkg/scheduler/scheduler.go and MakeDefaultErrorFunc in
pkg/scheduler/factory/factory.go; for profiles handleSchedulingFailure and handleBindingCycleError in
pkg/scheduler/schedule_one.go, prepareCandidate in pkg/scheduler/framework/preemption/preemption.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import attrs

from ...api.objects import Pod
from ...core.bindingcycle import Failure
from ...core.decision.preemptionplan import Preemption
from ...core.driver import Attempt
from ...core.queue.parked import QueuedPod
from ...exceptions import CacheError, ExtenderError
from ..client.api import ApiError
from .state import LiveState
from .writes import (
    NewCondition,
    patch_status,
    read_until_answered,
    status_of,
    status_patch,
    with_condition,
    with_nomination,
)

FIRST_READ_PAUSE = 0.2
LONGEST_READ_PAUSE = 60.0
MAX_NOTE = 1024
IN_CACHE = "is in the cache, so can't be assumed"


@attrs.define(eq=False)
class Consequences:
    """What follows for others; the two generations of schedulers write the rest, as
    :class:`~...core.driver.Driver` has it."""

    state: LiveState

    def say(self, victim: Pod, preemptor: Pod, node_name: str) -> None:
        """Tell *victim* that it is preempted."""
        text = self.state.release.live.preempted_text.format(pod=preemptor.key, node=node_name)
        self.state.recorder.event(victim, "Normal", "Preempted", text)

    async def tried(self, pod: Pod, what: str, write: Coroutine[Any, Any, object]) -> bool:
        """Whether *write* worked; else a warning says *what* could not be done."""
        try:
            await write
        except ApiError as error:
            self.state.log.warning(f"pod {pod.key}: {what}: {error}")
            return False
        return True


@attrs.define(eq=False)
class ClassicConsequences(Consequences):
    """With predicates and priorities: the pod is read again beside the rest; preemption comes after the
    condition.

    For that the pod is read again and nominated; then its victims are deleted one after another. The first
    error ends it.
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
        await asyncio.sleep(
            0
        )  # The read goes first; else its answer could be older than the update that an informer sees.
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
        elif not current.spec.node_name:
            state.touch()
            if (known := state.pod(current.key)) is None or known.uid != current.uid or known.spec.node_name:
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
        for other in plan.clear_nominations:
            other = pod if other.uid == pod.uid else other
            if (status := status_of(other)).get("nominatedNodeName"):
                await self.tried(
                    other,
                    "cannot end its nomination",
                    state.api.put_status(other, with_nomination(status, "")),
                )
        return None

    async def _let_leave(self, pod: Pod, node_name: str, victims: Sequence[Pod]) -> str | None:
        """Nominate *pod* and delete *victims*; answers why that ended before its end."""
        state = self.state
        early = self.state.release.preemption.nominates_before_api
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


@attrs.define(eq=False)
class FrameworkConsequences(Consequences):
    """With profiles: preemption is part of the cycle, and one patch writes condition and nomination.

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
        if current is not None and not current.spec.node_name:
            item = item.read_again(current)
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
        after = with_condition(
            before, NewCondition(reason=failure.reason, message=failure.text), state.timestamp
        ) or dict(before)
        if nominated is not None:
            after = with_nomination(after, nominated)
        patch = self._patch(pod, before, after, "cannot update the status")
        if state.engine.enabled("SchedulerAsyncAPICalls"):
            # Upstream: the next cycle does not wait for the answer.
            state.spawn(patch)
        else:
            await patch

    async def _patch(self, pod: Pod, before: Mapping[str, Any], after: Mapping[str, Any], what: str) -> None:
        await self.tried(pod, what, patch_status(self.state.api, pod, status_patch(before, after)))

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
        began = self.state.now()
        await self._end_nominations(plan)
        error = await self._evict(victims[:-1], pod, plan)
        # Upstream: the pod is let go before the last victim goes, as it would miss the event of that one.
        state.queue.hold_back(pod, False)
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
        for other in plan.clear_nominations:
            before = status_of(other)
            await self._patch(other, before, with_nomination(before, ""), "cannot end its nomination")

    async def _evict(self, victims: Sequence[Pod], preemptor: Pod, plan: Preemption) -> str | None:
        """Mark and delete *victims* at the same time; answers the first error."""
        state = self.state

        async def evict(victim: Pod) -> str | None:
            if not state.binding.preempt(victim, preemptor):
                await state.leading()
                try:
                    if state.engine.enabled("PodDisruptionConditions"):
                        # Upstream: the patch was made from the preemptor's status, and removed conditions and
                        # addresses of the victim. Here it adds the condition alone.
                        message = f"{preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod"
                        condition = NewCondition(
                            type="DisruptionTarget",
                            status="True",
                            reason="PreemptionByScheduler",
                            message=message,
                        )
                        before = status_of(victim)
                        after = with_condition(before, condition, state.timestamp)
                        if after is not None:
                            await patch_status(state.api, victim, status_patch(before, after))
                    await state.api.delete_pod(victim)
                except ApiError as error:
                    return str(error)
            self.say(victim, preemptor, plan.node or "")
            return None

        outcomes = await asyncio.gather(*map(evict, victims))
        return next((outcome for outcome in outcomes if outcome is not None), None)
