"""A simulation for people: where each pod went, and how full the cluster is then."""

from __future__ import annotations

from collections.abc import Mapping

from ...api.objects.quantity import Quantity
from ...core.decision.decision import Decision
from ...simulation.simulate import Outcome, Simulation
from ...simulation.summary import Summary, Usage
from .text import NO_HOST, format_table
from .words import count_of


def outcome_table(simulation: Simulation) -> str:
    """One line a pod: its node, or upstream's message."""
    rows = [[key, outcome.host or NO_HOST, outcome.error] for key, outcome in simulation.outcomes.items()]
    if simulation.all_placed:
        return format_table(["pod", "node"], [row[:2] for row in rows])
    return format_table(["pod", "node", "message"], rows)


def wide_table(simulation: Simulation, decisions: Mapping[str, Decision]) -> str:
    """As :func:`outcome_table`, with the requests of the pod and the score of its node; *decisions* are each pod's last."""
    headers = ["pod", "node", "priority", "cpu", "memory", "fitting", "score", "message"]
    return format_table(headers, [_wide_row(simulation, outcome, decisions[key]) for key, outcome in simulation.outcomes.items()])


def _wide_row(simulation: Simulation, outcome: Outcome, decision: Decision) -> list[object]:
    requests = simulation.engine.templates.of(outcome.pod).requests
    asked = [amount(name, requests.get(name, 0)) for name in ("cpu", "memory")]
    score = decision.scores.get(outcome.host) if outcome.host else None
    name = outcome.pod.key
    return [name, outcome.host or NO_HOST, outcome.pod.priority, *asked, len(set(decision.feasible)), score, outcome.error]


def summary_text(summary: Summary) -> str:
    """The counts in a sentence, and a table of resources."""
    told = [f"{summary.placed:,} of {count_of(summary.pods, 'pod')} placed on {count_of(summary.nodes, 'node')}"]
    told.append(f"{summary.unschedulable:,} unschedulable")
    if summary.gated:
        told.append(f"{summary.gated} held back and not tried")
    if summary.evicted:
        told.append(f"{summary.evicted} evicted")
    headers = ["resource", "requested", "allocatable", "use", "deviation", "max-min"]
    return "\n".join([", ".join(told), *passed_over_text(summary.passed_over), format_table(headers, map(_usage_row, summary.resources))])


def passed_over_text(passed_over: Mapping[str, int]) -> list[str]:
    """A line on what was ignored, if anything was."""
    told = ", ".join(f"{count} {why}" for why, count in passed_over.items())
    return [f"passed over: {told}"] if told else []


def _usage_row(usage: Usage) -> list[object]:
    sums = [amount(usage.resource, usage.requested), amount(usage.resource, usage.allocatable)]
    return [usage.resource, *sums, percent(usage.use), percent(usage.standard_deviation), percent(usage.spread)]


def percent(share: float) -> str:
    """A share of 1 as ``12.3 %``."""
    return f"{100 * share:.1f} %"


def amount(resource: str, number: int) -> str:
    """A number of millicores, bytes or pieces as people write it.

    >>> amount("cpu", 1500), amount("memory", 3 * 2**29), amount("nvidia.com/gpu", 2)
    ('1500m', '1536Mi', '2')
    """
    if resource == "cpu":
        return str(Quantity.parse(f"{number}m"))
    if resource not in ("memory", "ephemeral-storage"):
        return str(number)
    power = next((power for power in (3, 2, 1) if number and number % 1024**power == 0), 0)
    return f"{number // 1024**power}{('', 'Ki', 'Mi', 'Gi')[power]}"
