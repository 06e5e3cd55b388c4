"""How room is made for a pod: its nomination, the victims that are deleted, and the nominations that end.

With profiles a victim that waits for Permit plugins is not deleted: it is rejected, and has to look for another node.

Upstream: preempt in pkg/scheduler/scheduler.go; prepareCandidate in pkg/scheduler/framework/preemption/preemption.go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import attrs

from ...api.objects import Pod
from ...core.decision.preemptionplan import Preemption
from ...exceptions import ExtenderError
from .state import LiveState
from .writes.api import ApiError, status_of
from .writes.status import NewCondition, patch_status, status_patch, with_condition, with_nomination


def _say(state: LiveState, victim: Pod, preemptor: Pod, node_name: str) -> None:
    text = state.release.live.preempted_text.format(pod=preemptor.key, node=node_name)
    state.recorder.event(victim, "Normal", "Preempted", "Preempting", text, preemptor)


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
            await patch_status(self.state.api, victim, status_patch(before, after, self.state.release.version))

    async def _end_nomination(self, pod: Pod) -> None:
        before = status_of(pod)
        try:
            await patch_status(self.state.api, pod, status_patch(before, with_nomination(before, ""), self.state.release.version))
        except ApiError as error:
            self.state.log.warning(f"pod {pod.key}: cannot end its nomination: {error}")
