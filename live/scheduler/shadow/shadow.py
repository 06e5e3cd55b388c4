"""Follows the cluster's own scheduler pod by pod, and decides each time by itself, on the same state.

The other's bindings are seen in the order in which they were written, and it writes many at once. So pods are taken in the order of our own
queue, and the outcome of each is awaited: then every decision counts the same earlier decisions as the other's did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import attrs

from ....api.objects import KubeObject, Pod
from ....core.queue.base import is_unschedulable, scheduled_condition
from ....exceptions import KubeclassicError
from ..state import LiveState
from .judging import Judgement, Tally, judged, judged_without

PATIENCE = 2.0
"""Seconds for which a pod at the head of the queue is waited for."""
SHORTEST = 0.001
"""Seconds that are not worth a wait: clocks are not exact."""


@attrs.define(eq=False)
class Shadow:
    """Told of objects like a scheduler, and writes nothing. ``report`` gets a judgement for each pod that the other one decides on."""

    state: LiveState
    report: Callable[[Judgement], None]
    patience: float = PATIENCE
    tally: Tally = attrs.field(factory=Tally)
    _bound: dict[str, Pod] = attrs.field(factory=dict)
    """Waiting pod -> the same with its node, which is not delivered yet."""
    _refused: dict[str, str] = attrs.field(factory=dict)
    """Waiting pod -> why the other one found no node, until our decision is made."""
    _told: dict[str, str] = attrs.field(factory=dict)
    """Waiting pod -> the last message of the other one."""
    _aside: set[str] = attrs.field(factory=set)
    """Pods that were taken from the queue, and whose outcome is not known yet."""

    # --- what happens -----------------------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An object was added or updated. That a waiting pod got a node is held back until our decision is made."""
        if isinstance(item, Pod) and self._is_waiting(item):
            if item.spec.node_name:
                self._bound[item.key] = item
                self.state.awake.set()
                return
            self._note_refusal(item)
        elif isinstance(item, Pod) and self._was_refused_before(item):
            self._told[item.key] = _message(item)
        self.state.put(item)

    def delete(self, item: KubeObject) -> None:
        """An object was deleted."""
        if isinstance(item, Pod):
            self._forget(item.key)
        self.state.delete(item)

    def _is_waiting(self, pod: Pod) -> bool:
        known = self.state.pod(pod.key)
        names = self.state.engine.scheduler_names(self.state.scheduler_name)
        is_ours = (pod.spec.scheduler_name or "default-scheduler") in names
        return is_ours and known is not None and known.uid == pod.uid and not known.spec.node_name and not pod.is_terminal

    @staticmethod
    def _was_refused_before(pod: Pod) -> bool:
        return not pod.spec.node_name and is_unschedulable(pod)

    def _note_refusal(self, pod: Pod) -> None:
        message = _message(pod)
        if is_unschedulable(pod) and self._told.get(pod.key) != message:
            self._told[pod.key] = self._refused[pod.key] = message

    def _forget(self, key: str) -> None:
        self._bound.pop(key, None)
        self._refused.pop(key, None)
        self._told.pop(key, None)
        self._aside.discard(key)

    # --- the loop ---------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            self.state.touch()
            item = self.state.queue.pop()
            if item is None:
                self.state.awake.clear()
                if not self._settle():
                    await self.state.awake.wait()
            elif not item.pod.is_terminating:
                self._aside.add(item.pod.key)
                await self._wait_for(item.pod.key)

    async def _wait_for(self, key: str) -> None:
        """Wait until the other one has decided on the pod at the head of the queue, or for so long that it will not soon."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self.patience
        while key in self._aside:
            self.state.awake.clear()
            left = end - loop.time()
            if key in self._settle(key) or left < SHORTEST:
                return
            handle = loop.call_later(left, self.state.awake.set)
            try:
                await self.state.awake.wait()
            finally:
                handle.cancel()

    def _settle(self, first: str = "") -> list[str]:
        """Judge what is known: the pod at the head first, then those that were taken before it. Answers which were judged."""
        known = [key for key in (first, *self._bound, *self._refused) if key in self._bound or key in self._refused]
        found = [key for key in dict.fromkeys(known) if key in self._aside]
        for key in found:
            self._judge(key)
        return found

    def _judge(self, key: str) -> None:
        state, bound = self.state, self._bound.pop(key, None)
        message = self._refused.pop(key, "")
        pod = state.pod(key)
        if pod is None:
            self._forget(key)
            return
        state.touch()
        try:
            decision = state.engine.schedule(pod)
            judgement = judged_without(decision, message) if bound is None else judged(state.engine, decision, bound.spec.node_name)
            self.tally.add(judgement)
            self.report(judgement)
        except KubeclassicError as error:
            state.report(f"pod {key}: {error}")
        if bound is not None:
            self._forget(key)
            state.put(bound)


def _message(pod: Pod) -> str:
    condition = scheduled_condition(pod)
    return "" if condition is None else condition.message
