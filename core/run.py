"""A run: cycle after cycle on a cluster that changes with each decision."""

from __future__ import annotations

import attrs

from ..api.objects import KubeObject, Pod
from .decision.decision import Decision
from .decision.plan import Preemption
from .engine import Engine
from .feed import Feed


@attrs.define(eq=False, repr=False)
class Run:
    """Runs cycles on one scheduler. Placed pods are assumed, victims are deleted at once, and the preemptor gets one retry."""

    engine: Engine
    details: bool = True
    feed: Feed = attrs.field(init=False)
    evicted: dict[str, str] = attrs.field(factory=dict)
    """Victim -> the pod that preempted it."""
    _retries: list[str] = attrs.field(factory=list)
    _pods: dict[str, Pod] = attrs.field(factory=dict)
    """Key -> pod, with its current status."""
    _waiting: dict[str, Pod] = attrs.field(factory=dict)
    """Key -> pod that waits for a node, as it was last put."""

    def __attrs_post_init__(self) -> None:
        self.feed = Feed(self.engine)

    def __repr__(self) -> str:
        return f"<Run of {self.engine!r}>"

    # --- what happens to the cluster --------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An object is added or updated. A pod without a node waits, with the nomination in its status."""
        if isinstance(item, Pod):
            self.evicted.pop(item.key, None)
        if isinstance(item, Pod) and not item.spec.node_name and not item.is_terminal:
            self._put_waiting(item)
            return
        if isinstance(item, Pod):
            self._stop_waiting(item)
        self.feed.put(item)

    def delete(self, item: KubeObject) -> None:
        """An object is deleted."""
        if isinstance(item, Pod):
            self._stop_waiting(item)
        self.feed.delete(item)

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Nominate *pod* to *node_name* before its first cycle."""
        self._set_nomination(pod, node_name)
        self.engine.nominations.add(self._pods[pod.key], node_name)

    def _put_waiting(self, pod: Pod) -> None:
        waiting, current = self._waiting.get(pod.key), self._pods.get(pod.key)
        if waiting == pod or self.engine.cache.is_assumed(pod):
            return
        self._waiting[pod.key] = self._pods[pod.key] = pod
        if current is not None:
            self.engine.nominations.update(current, pod)
        elif pod.status.nominated_node_name:
            self.engine.nominations.add(pod)

    def _stop_waiting(self, pod: Pod) -> None:
        self._waiting.pop(pod.key, None)
        waiting = self._pods.pop(pod.key, None)
        if waiting is not None:
            self.engine.nominations.remove(waiting)

    # --- cycles -----------------------------------------------------------------------------------------------------

    def cycle(self, pod: Pod, *, retry: bool = False) -> Decision:
        """One scheduling cycle for *pod*; its decision is applied to the cluster."""
        decision, waiting = self._decide(pod)
        decision.is_retry = retry
        if decision.host is not None:
            self._place(decision, decision.host)
        if decision.host is None:
            self._wait(decision, waiting, retry)
        return decision

    def follow(self, pod: Pod, led: Decision) -> Decision:
        """One cycle for *pod*, but *led*, another scheduler's decision on it, is applied to the cluster."""
        decision, waiting = self._decide(pod)
        if led.host is None:
            self._wait(attrs.evolve(decision, preemption=led.preemption, nominated=led.nominated), waiting, retry=True)
        elif self.engine.assume(decision.pod, led.host) is not None and self.engine.cache.state(decision.pod) is None:
            self.engine.cache.assume(decision.pod.bound_to(led.host))
            self.engine.nominations.remove(decision.pod)
        return decision

    def _decide(self, pod: Pod) -> tuple[Decision, str]:
        """The decision, and the node that the pod was nominated to before the cycle."""
        pod = self._pods.setdefault(pod.key, pod)
        waiting = self.engine.nominations.node_of(pod)
        # Else the equivalence cache, which leaves out each node with any nomination, would leave out the node that waits for this very pod.
        self.engine.nominations.remove(pod)
        return self.engine.schedule(pod, details=self.details), waiting

    def ask(self, pod: Pod) -> Decision:
        """What a cycle for *pod* would decide now; the scheduler and the cluster do not change."""
        pod = self._pods.get(pod.key, pod)
        with self.engine.unmoved(pod), self.engine.nominations.without(pod):
            return self.engine.schedule(pod)

    def take_retries(self) -> list[Pod]:
        """The pods that preempted others and get a retry, in order; the list is cleared."""
        keys, self._retries = self._retries, []
        return [self._pods[key] for key in keys]

    # --- what follows from a decision -------------------------------------------------------------------------------

    def _place(self, decision: Decision, host: str) -> None:
        error = self.engine.assume(decision.pod, host)
        if error is not None:
            decision.host, decision.error = None, error

    def _wait(self, decision: Decision, waiting: str, retry: bool) -> None:
        pod, plan = decision.pod, decision.preemption
        if waiting:
            # Upstream: a failed pod enters the queue again, and so moves to the end of its node's list of nominated pods.
            self.engine.nominations.add(pod, waiting)
        if plan is not None:
            self._evict(pod, plan)
        if decision.nominated == "":
            self.engine.nominations.remove(pod)
            self._set_nomination(pod, "")
        if plan is not None and plan.node is not None and not retry:
            decision.is_final = False
            self._retries.append(pod.key)

    def _evict(self, pod: Pod, plan: Preemption) -> None:
        if plan.node is not None:
            self.engine.nominations.remove(pod)
            self._set_nomination(pod, plan.node)
            self.engine.nominations.add(self._pods[pod.key], plan.node)
            for victim in plan.victims:
                self.feed.delete(victim)
                self.evicted[victim.key] = pod.key
        if plan.drops_own:
            self.engine.nominations.remove(pod)
            self._set_nomination(pod, "")
        for other in plan.clear_nominations:
            self.engine.nominations.remove(self._pods.get(other.key, other))
            self._set_nomination(other, "")

    def _set_nomination(self, pod: Pod, node_name: str) -> None:
        current = self._pods.get(pod.key, pod)
        self._pods[pod.key] = attrs.evolve(current, status=attrs.evolve(current.status, nominated_node_name=node_name))
