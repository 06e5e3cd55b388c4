"""The disruption controller of a replay, and drains, which wait for the budgets that it counts.

Upstream: pkg/controller/disruption/disruption.go; evictPods in staging/src/k8s.io/kubectl/pkg/drain/drain.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from attrs import Factory, define
from msgspec.structs import replace

from ...api.controlplane import Scales, is_ready, with_disruptions
from ...api.meaning import SelectorError, compile_selector
from ...api.objects import Pod, PodDisruptionBudget
from ...simulation.evictions import Budgets
from .podlifecycles import PodLifecycle, PodLifecycles

RETRY = 5.0
"""Seconds until a drain asks again for pods that budgets keep."""


@define(eq=False, repr=False)
class DisruptionController:
    """The status of budgets, counted again when pods have changed."""

    pods: PodLifecycles
    scales: Scales
    goes_on: Callable[[], bool]
    """Whether anything from outside is to come."""
    _seen: int = -1
    """The cluster's ``changes`` at the last count."""
    _written: dict[str, PodDisruptionBudget] = Factory(dict)
    """Key -> the budget as it was counted last."""
    _desired: dict[str, int] = Factory(dict)
    """Key -> how many healthy pods a budget wants, where its status came with it."""

    def count(self) -> None:
        """Bring the budgets up to date."""
        cluster = self.pods.state
        budgets = list(cluster.listings.budgets)
        if not budgets or self._seen == cluster.changes:
            return
        pods = list(cluster.router.pods.values())
        for budget in budgets:
            counted = with_disruptions(budget, pods, self.scales).status
            healthy = self._healthy(budget, pods)
            status = budget.status
            if self._written.get(budget.key) is not budget:
                self._desired.pop(budget.key, None)
                if (allowed := status.disruptions_allowed) is not None:
                    least = max(status.desired_healthy, healthy)
                    self._desired[budget.key] = healthy - allowed if allowed > 0 else least
            desired = self._desired.get(budget.key, counted.desired_healthy)
            # Upstream: without pods that are expected, or with some of unknown number, none is allowed.
            is_unknown = not counted.disruptions_allowed and counted.current_healthy > counted.desired_healthy
            allowed = 0 if is_unknown and budget.key not in self._desired else max(healthy - desired, 0)
            changed = replace(
                budget,
                status=replace(
                    status, disruptions_allowed=allowed, current_healthy=healthy, desired_healthy=desired
                ),
            )
            self._written[budget.key] = changed if changed != budget else budget
            if changed != budget:
                cluster.put(changed)
        self._seen = cluster.changes

    def _healthy(self, budget: PodDisruptionBudget, pods: Iterable[Pod]) -> int:
        try:
            matches = compile_selector(budget.selector)
        except SelectorError:
            return 0
        failures = self.pods.failures
        return sum(
            pod.namespace == budget.namespace
            and pod.status.phase == "Running"
            and pod.node_name not in failures
            and not pod.is_terminating
            and is_ready(pod)
            and matches(pod.labels)
            for pod in pods
        )

    # --- drains ---------------------------------------------------------------------------------------------

    def drain(self, lives: Sequence[PodLifecycle]) -> None:
        """Evict the pods of *lives*, each as soon as its budgets allow it."""
        self.count()
        state = self.pods.state
        budgets = Budgets.of(state.listings.budgets, state.engine.release)
        blocked = []
        for life in lives:
            pod = state.pod(life.key)
            if pod is None or self.pods.all.get(life.key) is not life or life.is_leaving:
                continue
            if budgets.blocking(pod) is None:
                budgets.take(pod)
                self.pods.evict(life, reason="node drained")
            else:
                blocked.append(life)
        if blocked:
            self._wait(blocked, state.changes)

    def _wait(self, blocked: Sequence[PodLifecycle], before: int) -> None:
        def again() -> None:
            self.pods.waiting_drains -= 1
            if state.changes != before:
                self.drain(blocked)
            elif self.goes_on() or len(state.agenda) > self.pods.idle_tasks:
                self._wait(blocked, before)

        state = self.pods.state
        self.pods.waiting_drains += 1
        state.later(RETRY, again)
