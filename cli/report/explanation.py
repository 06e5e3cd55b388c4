"""An explanation for people: the nodes that fit by score, and the reasons against the others."""

from __future__ import annotations

from collections.abc import Iterator

from ...simulation.explain import Explanation, NodeReport, Score, Shortage
from .text import NO_HOST, format_table
from .units import amount


def explanation_text(explanation: Explanation) -> str:
    """The decision in a line, then a table of the nodes that fit and one of those that do not."""
    decision = explanation.decision
    told = f"{decision.pod.key}: {decision.host or NO_HOST}" + (f"\n{decision.error}" if decision.error else "")
    return "\n\n".join([told, *_tables(explanation)])


def _tables(explanation: Explanation) -> Iterator[str]:
    scored = [node for node in explanation.nodes if node.scores]
    if scored:
        note = "" if explanation.was_scored else "\nthe only node that fits: taken without scoring"
        told = "plugin: raw -> normalized" if explanation.by_plugins else "priority: raw -> reduced"
        yield _score_table(scored) + f"\n(each {told} x weight)" + note
    others = [node for node in explanation.nodes if not node.scores]
    if others:
        by = ["plugin", "code"] if explanation.by_plugins else ["predicate"]
        yield format_table(["node", *by, "reasons", "short of"], (_reason_row(node, explanation.by_plugins) for node in others))
    plan = explanation.decision.preemption
    if plan is not None and plan.node is not None:
        yield f"would preempt on {plan.node}: {', '.join(victim.key for victim in plan.victims) or 'nobody'}"


def _score_table(nodes: list[NodeReport]) -> str:
    names = list(nodes[0].scores)
    headers = ["node", "total", *(name.removesuffix("Priority") for name in names)]
    return format_table(headers, [[node.name, node.total, *(_cell(node.scores[name]) for name in names)] for node in nodes])


def _cell(score: Score) -> str:
    return f"{score.raw} -> {score.reduced} x {score.weight}"


def _reason_row(node: NodeReport, by_plugins: bool) -> list[object]:
    reasons = "; ".join(node.reasons)
    if node.fits:
        reasons = "fits" if node.visited else "fits, but the search found enough nodes before it reached this one"
    elif not node.visited:
        reasons += " (not reached by the search)"
    by = [", ".join(node.rules), *([node.code] if by_plugins else [])]
    return [node.name, *by, reasons, "; ".join(map(_short, node.shortages))]


def _short(short: Shortage) -> str:
    name = short.resource
    return f"{amount(name, short.missing)} {name} (asks {amount(name, short.asked)}, free {amount(name, short.free)})"
