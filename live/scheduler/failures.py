"""What follows an attempt that failed: the pod is queued again, an event and a condition say why, and victims may have to leave.

Room is made for a pod by its nomination, the victims that are deleted, and the nominations that end. With profiles a victim that waits for
Permit plugins is not deleted: it is rejected, and has to look for another node.

Upstream: recordSchedulingFailure and preempt in pkg/scheduler/scheduler.go and MakeDefaultErrorFunc in pkg/scheduler/factory/factory.go;
for profiles handleSchedulingFailure and handleBindingCycleError in pkg/scheduler/schedule_one.go, prepareCandidate in
pkg/scheduler/framework/preemption/preemption.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias

import attrs

from ...api.objects import Pod
from ...core.bindingcycle import Failure
from ...core.decision.decision import Decision
from ...core.decision.preemptionplan import Preemption
from ...core.queue.parked import QueuedPod
from ...exceptions import CacheError, ExtenderError
from ..client.replies import ApiError
from .state import LiveState
from .writes import Json, NewCondition, patch_status, read_until_answered, status_of, status_patch, with_condition, with_nomination


def _say(state: LiveState, victim: Pod, preemptor: Pod, node_name: str) -> None:
    text = state.release.live.preempted_text.format(pod=preemptor.key, node=node_name)
    state.recorder.event(victim, "Normal", "Preempted", text)


@attrs.define(eq=False)
class ClassicPreemption:
    """The pod is read again and nominated; then its victims are deleted one after another. The first error ends it."""

    state: LiveState

    async def run(self, pod: Pod, plan: Preemption) -> None:
        """Carry out *plan* for *pod*."""
        try:
            current = await self.state.api.read_pod(pod)
        except ApiError as error:
            self.state.log.warning(f"pod {pod.key}: cannot read it for preemption: {error}")
            return
        if plan.later is not None:
            plan = await self._asked(current, plan.later)
        if plan.error is not None:
            self.state.log.warning(f"pod {pod.key}: preemption: {plan.error}")
            return
        if plan.node is not None and not await self._make_room(current, plan.node, plan):
            return
        for other in plan.clear_nominations:
            await self._end_nomination(current if other.uid == current.uid else other)

    async def _asked(self, pod: Pod, ask: Callable[[Pod], Preemption]) -> Preemption:
        """The plan that extenders leave. They are sent the pod as it was just read."""
        try:
            plan = await self.state.apart(partial(ask, pod))
        except ExtenderError as error:
            return Preemption(error=str(error))
        self.state.observer.made_plan(plan)
        return plan

    async def _make_room(self, pod: Pod, node_name: str, plan: Preemption) -> bool:
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
            state.log.warning(f"pod {pod.key}: cannot be nominated to {node_name}: {error}")
            return False
        return await self._delete(plan.victims, pod, node_name)

    async def _delete(self, victims: list[Pod], preemptor: Pod, node_name: str) -> bool:
        for victim in victims:
            await self.state.leading()
            try:
                await self.state.api.delete_pod(victim)
            except ApiError as error:
                self.state.log.warning(f"pod {victim.key}: cannot be preempted: {error}")
                return False
            _say(self.state, victim, preemptor, node_name)
        return True

    async def _end_nomination(self, pod: Pod) -> None:
        status = status_of(pod)
        if not status.get("nominatedNodeName"):
            return
        try:
            await self.state.api.put_status(pod, with_nomination(status, ""))
        except ApiError as error:
            self.state.log.warning(f"pod {pod.key}: cannot end its nomination: {error}")


@attrs.define(eq=False)
class FrameworkPreemption:
    """All victims are marked and deleted at the same time; then the nominations of lower priority end."""

    state: LiveState

    async def run(self, pod: Pod, plan: Preemption) -> str | None:
        """Carry out *plan* for *pod*, which the caller nominates; answers the first error."""
        error = await self._evict_all(self._to_evict(plan), pod, plan.node or "")
        if error is None:
            for other in plan.clear_nominations:
                await self._end_nomination(other)
        return error

    def start(self, pod: Pod, plan: Preemption) -> None:
        """Carry out *plan* in the background; meanwhile *pod* is gated.

        Upstream: prepareCandidateAsync in pkg/scheduler/framework/preemption/preemption.go.
        """
        victims = self._to_evict(plan)
        if victims:
            self.state.queue.hold_back(pod, True)
            self.state.spawn(self._in_background(pod, plan, victims))

    def _to_evict(self, plan: Preemption) -> Sequence[Pod]:
        """The victims; where the release says so, without those that are being deleted already."""
        spares = self.state.release.framework.leaving_victims_keep_nominations
        return [victim for victim in plan.victims if not (spares and victim.is_terminating)]

    async def _in_background(self, pod: Pod, plan: Preemption, victims: Sequence[Pod]) -> None:
        began = self.state.times.now()
        for other in plan.clear_nominations:
            await self._end_nomination(other)
        *others, last = victims
        error = await self._evict_all(others, pod, plan.node or "")
        # Upstream: the pod is let go before the last victim goes, as it would miss the event of that one.
        self.state.queue.hold_back(pod, False)
        error = await self._evict(last, pod, plan.node or "") or error
        self.state.observer.preempted_beside(self.state.times.now() - began, is_failed=error is not None)
        if error is not None:
            self.state.log.warning(f"pod {pod.key}: preemption: {error}")
            await self.state.free()
            self._activate(pod)

    def _activate(self, pod: Pod) -> None:
        self.state.touch()
        self.state.queue.activate([pod])
        self.state.awake.set()

    async def _evict_all(self, victims: Sequence[Pod], preemptor: Pod, node_name: str) -> str | None:
        outcomes = await asyncio.gather(*(self._evict(victim, preemptor, node_name) for victim in victims))
        return next((outcome for outcome in outcomes if outcome is not None), None)

    async def _evict(self, victim: Pod, preemptor: Pod, node_name: str) -> str | None:
        if self.state.binding.preempt(victim, preemptor):
            _say(self.state, victim, preemptor, node_name)
            return None
        await self.state.leading()
        try:
            if self.state.engine.enabled("PodDisruptionConditions"):
                await self._mark(victim, preemptor)
            await self.state.api.delete_pod(victim)
        except ApiError as error:
            return str(error)
        _say(self.state, victim, preemptor, node_name)
        return None

    async def _mark(self, victim: Pod, preemptor: Pod) -> None:
        """Give *victim* the condition DisruptionTarget.

        Upstream: the patch was made from the preemptor's status, and removed conditions and addresses of the victim. Here it adds the
        condition alone.
        """
        message = f"{preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod"
        condition = NewCondition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler", message=message)
        before = status_of(victim)
        after = with_condition(before, condition, self.state.timestamp)
        if after is not None:
            await patch_status(self.state.api, victim, status_patch(before, after))

    async def _end_nomination(self, pod: Pod) -> None:
        before = status_of(pod)
        try:
            await patch_status(self.state.api, pod, status_patch(before, with_nomination(before, "")))
        except ApiError as error:
            self.state.log.warning(f"pod {pod.key}: cannot end its nomination: {error}")


FIRST_READ_PAUSE, LONGEST_READ_PAUSE = 0.2, 60.0
MAX_NOTE = 1024
IN_CACHE = "is in the cache, so can't be assumed"


@attrs.define(eq=False)
class ClassicConsequences:
    """With predicates and priorities: the pod is read again beside the rest; preemption comes after the condition.

    Both generations have the same methods; *item* is the entry of the queue that was tried.
    """

    state: LiveState
    preemption: ClassicPreemption = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.preemption = ClassicPreemption(self.state)

    async def not_placed(self, item: QueuedPod, decision: Decision) -> None:
        """The pod got no node."""
        text = decision.error or ""
        reason = self.state.engine.failure_reason(decision)
        await self._record(item, NewCondition(reason=reason, message=text, probed=self._probed()), text)
        if decision.is_fit_error and decision.preemption is not None:
            await self.preemption.run(item.pod, decision.preemption)

    async def not_assumed(self, item: QueuedPod, host: str, failure: Failure) -> None:
        """The pod could not be assumed on its node; everything is undone."""
        step = "AssumePod" if IN_CACHE in failure.text else "AssumePodVolumes"
        condition = NewCondition(reason="SchedulerError", message=failure.text, probed=self._probed())
        await self._record(item, condition, f"{step} failed: {failure.text}", host if step == "AssumePod" else "")

    async def not_bound(self, item: QueuedPod, host: str, failure: Failure, said: str = "") -> None:
        """The binding failed, and is undone; *said* comes before the text of the event, where the release has one."""
        message = failure.text if self.state.release.live.binding_failure_texts else ""
        await self._record(item, NewCondition(reason=failure.reason, message=message, probed=self._probed()), said + failure.text, host)

    def _probed(self) -> str | None:
        return self.state.timestamp if self.state.release.queue.probe_times else None

    async def _record(self, item: QueuedPod, condition: NewCondition, text: str, node_name: str = "") -> None:
        state, pod = self.state, item.pod
        state.spawn(self._read_again(item, state.queue.cycle))
        await asyncio.sleep(0)  # The read goes first; else its answer could be older than the update that an informer sees.
        state.recorder.event(pod, "Warning", "FailedScheduling", text)
        status = with_condition(status_of(pod), condition, state.timestamp)
        if status is not None:
            try:
                await state.api.put_status(pod, status, node_name)
            except ApiError as error:
                state.log.warning(f"pod {pod.key}: cannot update the condition: {error}")

    async def _read_again(self, item: QueuedPod, cycle: int) -> None:
        """Read the pod until there is an answer; it is queued again if it has no node yet."""
        current = await read_until_answered(self.state.api, item.pod, FIRST_READ_PAUSE, LONGEST_READ_PAUSE)
        await self.state.free()
        if current is None:
            self.state.engine.binder.forget(item.pod)
        else:
            self._queue_again(item, current, cycle)

    def _queue_again(self, item: QueuedPod, current: Pod, cycle: int) -> None:
        if current.spec.node_name:
            return
        self.state.touch()
        if (known := self.state.pod(current.key)) is None or known.uid != current.uid or known.spec.node_name:
            # The informer saw that it went, or got its node; the answer is older. Upstream queues the pod all the same: one that has a
            # node could make victims of other pods, and its nomination would never end.
            return
        with suppress(CacheError):  # Upstream: a pod that is in the queue already is only logged.
            self.state.queue.add_unschedulable(item.read_again(current), cycle)
        self.state.awake.set()


@attrs.define(eq=False)
class FrameworkConsequences:
    """With profiles: preemption is part of the cycle, and one patch writes condition and nomination."""

    state: LiveState
    preemption: FrameworkPreemption = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.preemption = FrameworkPreemption(self.state)

    async def not_placed(self, item: QueuedPod, decision: Decision) -> None:
        text, nominated, plan = decision.error or "", decision.nominated, decision.preemption
        item.plugins = self.state.engine.take_unschedulable_plugins(item.pod)
        if plan is not None and plan.node is not None and self.state.engine.enabled("SchedulerAsyncPreemption"):
            self.preemption.start(item.pod, plan)
        elif plan is not None and plan.node is not None:
            error = await self.preemption.run(item.pod, plan)
            if error is not None:
                text, nominated = f"{text} preemption: {error}.", None
        await self._record(item, text, self.state.engine.failure_reason(decision), nominated)

    async def not_assumed(self, item: QueuedPod, host: str, failure: Failure) -> None:
        item.plugins = failure.plugins
        await self._record(item, failure.text, failure.reason, "")

    async def not_bound(self, item: QueuedPod, host: str, failure: Failure, said: str = "") -> None:
        await self.not_assumed(item, host, failure)

    async def _record(self, item: QueuedPod, text: str, reason: str, nominated: str | None) -> None:
        """*nominated*: the nomination from now on; None leaves it as it is."""
        state, pod = self.state, item.pod
        current = state.pod(pod.key)
        if current is not None and current.uid != pod.uid and state.release.queueing.drops_recreated:
            state.queue.done(pod)
            return
        self._queue_again(item, nominated)
        state.recorder.event(pod, "Warning", "FailedScheduling", truncated(text))
        before = status_of(pod)
        after = with_condition(before, NewCondition(reason=reason, message=text), state.timestamp) or dict(before)
        if nominated is not None:
            after = with_nomination(after, nominated)
        patch = self._patch(pod, status_patch(before, after))
        if state.engine.enabled("SchedulerAsyncAPICalls"):
            # Upstream: the next cycle does not wait for the answer.
            state.spawn(patch)
        else:
            await patch

    async def _patch(self, pod: Pod, patch: Json) -> None:
        try:
            await patch_status(self.state.api, pod, patch)
        except ApiError as error:
            self.state.log.warning(f"pod {pod.key}: cannot update the status: {error}")

    def _queue_again(self, item: QueuedPod, nominated: str | None) -> None:
        state, current = self.state, self.state.pod(item.pod.key)
        state.touch()
        again = item
        if current is not None and not current.spec.node_name:
            again = item.read_again(current)
            with suppress(CacheError):  # Upstream: a pod that is in the queue already is only logged.
                state.queue.add_unschedulable(again, state.queue.cycle)
        else:
            state.queue.done(item.pod)
        state.engine.nominations.add(again.pod, nominated, holder=again)
        state.awake.set()


Consequences: TypeAlias = ClassicConsequences | FrameworkConsequences


def consequences_of(state: LiveState) -> Consequences:
    """Those of the generation of the engine."""
    return FrameworkConsequences(state) if state.engine.profiles else ClassicConsequences(state)


def truncated(text: str) -> str:
    """*text* as long as the note of an event may be, 1024 bytes."""
    raw = text.encode()
    return text if len(raw) <= MAX_NOTE else raw[: MAX_NOTE - 4].decode("utf-8", "ignore") + " ..."
