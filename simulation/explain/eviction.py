"""What evicting pods would do for a pod that fits nowhere: who would leave which node, or why it does not help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from ...api.objects import Pod
from ...api.record import Count, Record, says
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


class Victim(Record):
    """A pod that would have to leave."""

    pod: str
    priority: int

    @classmethod
    def of(cls, pod: Pod) -> Victim:
        """The victim that *pod* would be."""
        return cls(pod.key, pod.priority)


class EvictionOutcome(Record, kw_only=True):
    """The outcome of preemption for a pod that fits nowhere."""

    node: Annotated[str | None, says("Where room would be made; null if that does not help.")] = None
    victims: tuple[Victim, ...] = ()
    budget_violations: Annotated[Count, says("Victims that a PodDisruptionBudget protects.")] = 0
    candidates: Annotated[Count, says("Nodes on which it would help.")] = 0
    why_not: Annotated[str | None, says("Why no room is made, in a few words; null if it is.")] = None
    priority: Annotated[int, says("The pod's own; only pods below it can be evicted.")]
    unresolvable: Annotated[Count, says("Nodes with a reason that no eviction removes.")] = 0
    nobody_lower: Annotated[Count, says("Other nodes, without a pod of lower priority.")] = 0
    not_enough: Annotated[Count, says("Other nodes, on which it does not fit even without these pods.")] = 0


def eviction_for(cycle: Cycle, decision: Decision, nodes: Sequence[NodeReport]) -> EvictionOutcome | None:
    """What preemption came to in *decision*; None if the pod did not need it, or the cycle ended with an error."""
    if not decision.is_fit_error:
        return None
    plan, priority = decision.preemption, cycle.pod.priority
    if plan is None:
        return EvictionOutcome(priority=priority, why_not=OFF)
    if plan.node is not None:
        victims, found = tuple(map(Victim.of, plan.victims)), plan.candidates
        violations = found[plan.node].violations if plan.node in found else 0
        return EvictionOutcome(priority=priority, node=plan.node, victims=victims, budget_violations=violations, candidates=len(found))
    if plan.error:
        return EvictionOutcome(priority=priority, why_not=plan.error)
    return _without_help(cycle, nodes, decision.plugins is not None)


def _without_help(cycle: Cycle, nodes: Sequence[NodeReport], by_plugins: bool) -> EvictionOutcome:
    pod, cells = cycle.pod, cycle.release.preemption
    honours_never = by_plugins or (cells.never_policy and cycle.enabled("NonPreemptingPriority"))
    if honours_never and pod.spec.preemption_policy == "Never":
        return EvictionOutcome(priority=pod.priority, why_not=NEVER)
    if not is_eligible(cycle):
        return EvictionOutcome(priority=pod.priority, why_not=STILL_LEAVING.format(pod.status.nominated_node_name))
    hopeful = [node for node in nodes if not is_unresolvable(node)]
    lower = sum(_has_lower(cycle, node) for node in hopeful)
    unresolvable = len(nodes) - len(hopeful)
    return EvictionOutcome(
        priority=pod.priority, why_not=NO_HELP, unresolvable=unresolvable, nobody_lower=len(hopeful) - lower, not_enough=lower
    )


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
    if node.code:
        return node.visited and node.code != "Unschedulable"
    return node.visited and not all(objection.evictable for objection in node.objections if objection.counted)
