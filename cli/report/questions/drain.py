"""The tables and the summary of ``kubeclassic drain``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ....simulation.drain.plan import Plan
from ..prose import wrapped
from ..tables import TextTable
from ..text import Cell
from ..words import count_doing, count_of

MOST_REASONS = 10


def node_records(plan: Plan) -> list[dict[str, Any]]:
    """A record a node: those that can go in the order in which they are emptied, then the others."""
    evicted, staying = plan.evictions_by_node(), Counter(node for _, node, _ in plan.staying)
    can = [{"node": name, "can": True, "evicted": evicted[name], "staying": staying[name], "why": None} for name in plan.can]
    return [*can, *({"node": name, "can": False, "evicted": None, "staying": None, "why": why} for name, why in plan.cannot.items())]


def drain_tables(plan: Plan, *, wide: bool) -> Iterator[TextTable]:
    """The nodes; of a search those that can go, and why the others stay; *wide*: all nodes, and who goes where, in order."""
    is_short = plan.bound is not None and not wide
    records = [record for record in node_records(plan) if record["can"] or not is_short]
    yield TextTable(["node", "can go", "evicted", "staying", "why not"], [_node_row(record) for record in records])
    if is_short and plan.cannot:
        yield TextTable(["nodes that stay", "why"], _reasons(plan))
    if plan.evictions and (wide or plan.bound is None):
        yield TextTable(["round", "pod", "from", "to", "as", "why"], [_eviction_row(record) for record in plan.record()["evictions"]])
    if wide and plan.staying:
        yield TextTable(["pod that stays", "node", "why"], [[pod.key, node, why] for pod, node, why in plan.staying])
    if plan.budgets:
        yield TextTable(["budget", "allows", "evicted", "left at least"], [_budget_row(budget) for budget in plan.record()["budgets"]])


def _node_row(record: dict[str, Any]) -> list[Cell]:
    return [record["node"], "yes" if record["can"] else "no", record["evicted"], record["staying"], record["why"]]


def _eviction_row(record: dict[str, Any]) -> list[Cell]:
    renamed = record["replacement"] if record["replacement"] != record["pod"] else None
    why = f"preempted by {record['by']}" if record["by"] else "gone for good" if record["replacement"] is None else None
    return [record["round"], record["pod"], record["node"], record["to"], renamed, why]


def _budget_row(budget: dict[str, Any]) -> list[Cell]:
    return [budget["budget"], budget["allowed"], budget["evictions"], budget["lowest"]]


def _reasons(plan: Plan) -> list[list[Cell]]:
    """The reasons against nodes without the names of pods and without counts of nodes, the most frequent first."""
    found = Counter(without_names(why) for why in plan.cannot.values())
    rows: list[list[Cell]] = [[often, why] for why, often in found.most_common(MOST_REASONS)]
    rest = found.total() - sum(often for _, often in found.most_common(MOST_REASONS))
    return [*rows, [rest, "other reasons (-o wide)"]] if rest else rows


def without_names(why: str) -> str:
    """The reason without names and numbers, so that equal ones can be counted.

    >>> without_names("a/b finds no other node: 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.")
    'a pod finds no other node: Insufficient cpu, node(s) were unschedulable'
    """
    _, found, after = why.partition(" finds no other node: ")
    if found:
        reasons = after.partition(" nodes are available: ")[2].partition(" preemption: ")[0] or after
        return f"a pod finds no other node: {', '.join(sorted(set(re.findall(r'[0-9]+ ([^,]+?)(?=, [0-9]+ |[.]*$)', reasons))))}"
    return why.partition(": ")[0]


# --- the summary ----------------------------------------------------------------------------------------------------


def summary_text(plan: Plan, width: int | None = None) -> str:
    """The answer in sentences."""
    return "\n".join(wrapped(list(summary_lines(plan)), width, "  "))


def summary_lines(plan: Plan) -> Iterator[str]:
    """The answer, what it takes, and of a search how far it is from the best."""
    yield f"{len(plan.can):,} of {count_of(len(plan.asked), 'node')} can go" + (" together" if len(plan.can) > 1 else "")
    gone = sum(one.replacement is None for one in plan.evictions)
    told = [count_doing(len(plan.moves), "pod", "move") + f" in {count_of(plan.rounds, 'round')}"] if plan.evictions else []
    told += [f"{count_of(gone, 'pod')} gone for good"] if gone else []
    told += [f"{count_of(len(plan.staying), 'pod')} left on these nodes"] if plan.staying else []
    if told:
        yield ", ".join(told)
    if plan.bound is not None:
        weights = plan.bound.weights
        why = " and ".join(weights) + (" requests" if len(weights) == 1 else " requests together") if weights else ""
        kept = f": {count_of(plan.bound.must_stay, 'node')} must stay" + (f" for {why}" if why else "") if plan.bound.must_stay else ""
        yield f"at most {plan.bound.at_most:,} could go{kept}"
    if plan.placed or plan.waiting:
        waiting = f", {plan.waiting:,} found no node" if plan.waiting else ""
        yield f"before the drain: {count_of(plan.placed, 'waiting pod')} placed{waiting}"
