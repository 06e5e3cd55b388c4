"""Scheduling pods one after another against a cluster that changes with each decision."""

from __future__ import annotations

import attrs

from ..api.objects import Pod
from ..core.decision import Decision
from ..core.engine import Engine
from ..core.feed import Feed
from ..core.preempt import Preemption


@attrs.define(eq=False)
class Run:
    """Cycles over one scheduler: what is placed is assumed, who is preempted leaves at once, and the preemptor gets one retry."""

    engine: Engine
    details: bool = True
    feed: Feed = attrs.field(init=False)
    _retries: list[str] = attrs.field(factory=list)
    _pods: dict[str, Pod] = attrs.field(factory=dict)
    """The pods that were seen, as their status stands now, by key."""

    def __attrs_post_init__(self) -> None:
        self.feed = Feed(self.engine)

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Let *pod* wait for *node_name* before its first cycle."""
        self._set_nomination(pod, node_name)
        self.engine.nominations.add(self._pods[pod.key], node_name)

    def cycle(self, pod: Pod, *, retry: bool = False) -> Decision:
        """One scheduling cycle for *pod*, and what follows from it."""
        pod = self._pods.setdefault(pod.key, pod)
        waiting = self.engine.nominations.node_of(pod)
        if self.engine.algorithm.release.queue.pop_removes_nomination:
            self.engine.nominations.remove(pod)
        decision = self.engine.schedule(pod, details=self.details)
        if decision.host is not None:
            self._place(decision, decision.host)
        if decision.host is None:
            self._wait(decision, waiting, retry)
        return decision

    def take_retries(self) -> list[Pod]:
        """The pods that preempted and are to be tried once more, in order; the list is emptied."""
        keys, self._retries = self._retries, []
        return [self._pods[key] for key in keys]

    def _place(self, decision: Decision, host: str) -> None:
        error = self.engine.assume(decision.pod, host)
        if error is not None:
            decision.host, decision.error = None, error

    def _wait(self, decision: Decision, waiting: str, retry: bool) -> None:
        pod, plan = decision.pod, decision.preemption
        if waiting:
            # Upstream: a pod that failed enters the queue again, and with it the end of its node's list of nominated pods.
            self.engine.nominations.add(pod, waiting)
        if plan is not None:
            self._evict(pod, plan)
        if plan is not None and plan.node is not None and not retry:
            self._retries.append(pod.key)

    def _evict(self, pod: Pod, plan: Preemption) -> None:
        if plan.node is not None:
            self.engine.nominations.remove(pod)
            self._set_nomination(pod, plan.node)
            self.engine.nominations.add(self._pods[pod.key], plan.node)
            for victim in plan.victims:
                self.feed.delete(victim)
        for other in plan.clear_nominations:
            self.engine.nominations.remove(self._pods.get(other.key, other))
            self._set_nomination(other, "")

    def _set_nomination(self, pod: Pod, node_name: str) -> None:
        current = self._pods.get(pod.key, pod)
        self._pods[pod.key] = attrs.evolve(current, status=attrs.evolve(current.status, nominated_node_name=node_name))
