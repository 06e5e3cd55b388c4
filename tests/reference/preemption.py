"""Preemption as plain loops: node by node, pod by pod, every question asked anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import attrs

from kubeclassic.api.meaning.labels import SelectorError, selector_matches
from kubeclassic.api.objects import Node, Pod, PodDisruptionBudget
from tests.reference.resources import short_of

LAST = "9999-12-31T23:59:59Z"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
Reason = tuple[str, bool]
"""Its text, and whether removing pods could help."""
Filter = Callable[[Pod, Node, Sequence[Pod]], list[Reason]]


@attrs.define
class World:
    """Nodes, the pods on each in the order in which they came, pods nominated to a node, and budgets."""

    nodes: list[Node]
    pods: dict[str, list[Pod]]
    nominated: list[tuple[str, Pod]]
    budgets: list[PodDisruptionBudget]


# --- filters --------------------------------------------------------------------------------------------------------


def taints(pod: Pod, node: Node, there: Sequence[Pod]) -> list[Reason]:
    """No taint is tolerated."""
    bad = [taint for taint in node.spec.taints if taint.effect in ("NoSchedule", "NoExecute")]
    return [(f"node(s) had untolerated taint {{{bad[0].key}: {bad[0].value}}}", False)] if bad else []


def selector(pod: Pod, node: Node, there: Sequence[Pod]) -> list[Reason]:
    """Every pair of the node selector has to be there."""
    missing = any(node.labels.get(key) != value for key, value in (pod.spec.node_selector or {}).items())
    return [("node(s) didn't match Pod's node affinity/selector", False)] if missing else []


def resources(pod: Pod, node: Node, there: Sequence[Pod]) -> list[Reason]:
    """Nothing may be short."""
    return [("Too many pods" if name == "pods" else f"Insufficient {name}", True) for name in short_of(pod, node, there)]


def general(pod: Pod, node: Node, there: Sequence[Pod]) -> list[Reason]:
    """Both in one, as GeneralPredicates."""
    return resources(pod, node, there) + selector(pod, node, there)


# --- the attempt ----------------------------------------------------------------------------------------------------


@attrs.define
class Attempt:
    """One pod's attempt. ``is_framework``: a node needs victims, and budgets are counted down."""

    world: World
    pod: Pod
    filters: Sequence[Filter]
    by_start_time: bool
    is_framework: bool
    candidates: dict[str, tuple[list[Pod], int]] = attrs.field(factory=dict)
    reasons: Counter[str] = attrs.field(factory=Counter)

    def run(self) -> Attempt:
        """Fill in candidates, in order of name, and what stands against other nodes."""
        for node in sorted(self.world.nodes, key=lambda node: node.name):
            if all(resolvable for _, resolvable in self.against(node, self.world.pods[node.name])):
                self.try_out(node)
            else:
                self.reasons[NOT_HELPFUL] += 1
        return self

    def against(self, node: Node, there: Sequence[Pod]) -> list[Reason]:
        """What the first filter that fails says, with nominated pods and then without."""
        for pods in ([*there, *self.nominated(node)], there):
            for check in self.filters:
                if found := check(self.pod, node, pods):
                    return found
        return []

    def nominated(self, node: Node) -> Iterator[Pod]:
        """Those that count."""
        for name, pod in self.world.nominated:
            if name == node.name and pod.priority >= self.pod.priority and pod.name != self.pod.name:
                yield pod

    def try_out(self, node: Node) -> None:
        """Find the fewest victims on one node."""
        lower = [pod for pod in self.world.pods[node.name] if pod.priority < self.pod.priority]
        staying = [pod for pod in self.world.pods[node.name] if pod.priority >= self.pod.priority]
        found = [(NO_VICTIMS, False)] if self.is_framework and not lower else self.against(node, staying)
        if found:
            self.reasons.update(text for text, _ in found)
            return
        lower.sort(key=lambda pod: (-pod.priority, self.start(pod)))
        protected = self.protected(lower)
        victims: list[Pod] = []
        for pod in protected + [pod for pod in lower if pod not in protected]:
            if self.against(node, [*staying, pod]):
                victims.append(pod)
            else:
                staying.append(pod)
        self.candidates[node.name] = victims, sum(pod in protected for pod in victims)

    def start(self, pod: Pod) -> str:
        """When it started, where that matters."""
        return pod.status.start_time or LAST if self.by_start_time else ""

    def protected(self, pods: Sequence[Pod]) -> list[Pod]:
        """Whose eviction violates a budget, of pods that would leave in this order."""
        found = []
        left = {budget.name: budget.disruptions_allowed for budget in self.world.budgets}
        for pod in pods:
            mine = [budget for budget in self.world.budgets if self.covers(budget, pod)]
            for budget in mine if self.is_framework else ():
                left[budget.name] -= 1
            if any(left[budget.name] < 0 if self.is_framework else left[budget.name] <= 0 for budget in mine):
                found.append(pod)
        return found

    def covers(self, budget: PodDisruptionBudget, pod: Pod) -> bool:
        """Whether the pod takes from the budget."""
        if budget.namespace != pod.namespace or not pod.labels or budget.selector is None or budget.selector.is_empty:
            return False
        try:
            is_exempt = self.is_framework and pod.name in budget.disrupted_pods
            return selector_matches(budget.selector, pod.labels) and not is_exempt
        except SelectorError:
            return False

    def choice(self) -> str | None:
        """The node whose victims matter least."""
        unscathed = [name for name, (victims, _) in self.candidates.items() if not victims]
        return unscathed[0] if unscathed else min(self.candidates, key=self.harm, default=None)

    def harm(self, name: str) -> tuple[int, int, int, int, list[int]]:
        """The smaller, the better."""
        victims, violations = self.candidates[name]
        highest = max(pod.priority for pod in victims)
        earliest = min(self.start(pod) for pod in victims if pod.priority == highest)
        worth = sum(pod.priority + 2**31 for pod in victims)
        return violations, victims[0].priority, worth, len(victims), [-ord(letter) for letter in earliest]
