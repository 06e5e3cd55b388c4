"""What evicting pods would do for a pod that fits nowhere: who would leave which node, or why it does not help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from ...api.objects import Pod
from ...core.cycle import Cycle
from ...core.decision.decision import Decision
from ...core.preemption.select import is_eligible
from .values import NodeReport

OFF = "preemption is switched off"
NEVER = "its preemptionPolicy is Never"
STILL_LEAVING = "it waits for pods that are leaving node {}"
STAYS = "turned down for a reason that no eviction removes (such as a taint or a label)"
NONE_LOWER = "no pod there has a lower priority"
NOT_ENOUGH = "even without the pods of lower priority it does not fit"
NO_HELP = "evicting pods of lower priority does not help on any node"


@attrs.frozen
class Victim:
    """A pod that would have to leave."""

    pod: str
    priority: int

    @classmethod
    def of(cls, pod: Pod) -> Victim:
        """The victim that *pod* would be."""
        return cls(pod.key, pod.priority)


@attrs.frozen
class Eviction:
    """The outcome of preemption for a pod that fits nowhere."""

    priority: int
    """The pod's own priority; only pods below it can be evicted."""
    node: str | None = None
    """Where room would be made; None if that does not help."""
    victims: tuple[Victim, ...] = ()
    budget_violations: int = 0
    """How many of the victims a PodDisruptionBudget protects."""
    candidates: int = 0
    """On how many nodes it would help."""
    why_not: str = ""
    """Why no room is made, in a few words; empty if it is."""
    unresolvable: int = 0
    """Nodes with a reason that stays whichever pods leave."""
    nobody_lower: int = 0
    """Other nodes, on which no pod has a lower priority."""
    not_enough: int = 0
    """Other nodes, on which the pod does not fit even without all pods of lower priority."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "node": self.node,
            "victims": [attrs.asdict(victim) for victim in self.victims],
            "budgetViolations": self.budget_violations,
            "candidates": self.candidates,
            "whyNot": self.why_not or None,
            "priority": self.priority,
            "unresolvable": self.unresolvable,
            "nobodyLower": self.nobody_lower,
            "notEnough": self.not_enough,
        }


def eviction_for(cycle: Cycle, decision: Decision, nodes: Sequence[NodeReport]) -> Eviction | None:
    """What preemption came to in *decision*; None if the pod did not need it, or the cycle ended with an error."""
    if not decision.is_fit_error:
        return None
    plan, priority = decision.preemption, cycle.pod.priority
    if plan is None:
        return Eviction(priority, why_not=OFF)
    if plan.node is not None:
        victims, found = tuple(map(Victim.of, plan.victims)), plan.candidates
        violations = found[plan.node].violations if plan.node in found else 0
        return Eviction(priority, plan.node, victims, violations, len(found))
    if plan.error:
        return Eviction(priority, why_not=plan.error)
    return _without_help(cycle, nodes, decision.plugins is not None)


def _without_help(cycle: Cycle, nodes: Sequence[NodeReport], by_plugins: bool) -> Eviction:
    pod, cells = cycle.pod, cycle.release.preemption
    honours_never = by_plugins or (cells.never_policy and cycle.enabled("NonPreemptingPriority"))
    if honours_never and pod.spec.preemption_policy == "Never":
        return Eviction(pod.priority, why_not=NEVER)
    if not is_eligible(cycle):
        return Eviction(pod.priority, why_not=STILL_LEAVING.format(pod.status.nominated_node_name))
    hopeful = [node for node in nodes if not is_unresolvable(node)]
    lower = sum(_has_lower(cycle, node) for node in hopeful)
    unresolvable = len(nodes) - len(hopeful)
    return Eviction(pod.priority, why_not=NO_HELP, unresolvable=unresolvable, nobody_lower=len(hopeful) - lower, not_enough=lower)


def why_no_room(cycle: Cycle, node: NodeReport) -> str:
    """Why evicting pods would make no room on a node that preemption did not come to."""
    if is_unresolvable(node):
        return STAYS
    return NOT_ENOUGH if _has_lower(cycle, node) else NONE_LOWER


def _has_lower(cycle: Cycle, node: NodeReport) -> bool:
    table = cycle.table
    return any(entry.priority < cycle.pod.priority for entry in table.pods[table.row_of[node.name]])


def is_unresolvable(node: NodeReport) -> bool:
    """Whether the scheduler leaves the node out of preemption, as it found a reason that stays whichever pods leave."""
    if node.code is not None:
        return node.visited and node.code != "Unschedulable"
    return node.visited and not all(objection.evictable for objection in node.objections if objection.counted)
