"""What follows an attempt that failed: the pod is queued again, an event and a condition say why, and victims may have to leave.

Upstream: recordSchedulingFailure and preempt in pkg/scheduler/scheduler.go and MakeDefaultErrorFunc in pkg/scheduler/factory/factory.go;
for profiles handleSchedulingFailure and handleBindingCycleError in pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TypeAlias

import attrs

from ...api.objects import Pod
from ...core.bindingcycle import Failure
from ...core.decision.decision import Decision
from ...core.queue.parked import QueuedPod
from ...exceptions import CacheError
from .preempting import ClassicPreemption, FrameworkPreemption
from .state import LiveState
from .writes.api import ApiError, Json, read_until_answered, status_of
from .writes.status import NewCondition, patch_status, status_patch, with_condition, with_nomination

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
        state.recorder.event(pod, "Warning", "FailedScheduling", "Scheduling", text)
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
        self._queue_again(item, nominated)
        state.recorder.event(pod, "Warning", "FailedScheduling", "Scheduling", truncated(text))
        before = status_of(pod)
        after = with_condition(before, NewCondition(reason=reason, message=text), state.timestamp) or dict(before)
        if nominated is not None:
            after = with_nomination(after, nominated)
        patch = self._patch(pod, status_patch(before, after, state.release.version))
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
