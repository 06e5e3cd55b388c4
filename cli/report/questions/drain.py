"""The tables and the summary of ``kubeclassic drain``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ....api.words import count_doing, count_of
from ....simulation.drain.plan import DrainDocument, DrainEviction, DrainPlan
from ..prose import wrapped
from ..tables import TextTable
from ..text import Cell

MOST_REASONS = 10


def node_records(plan: DrainPlan) -> list[dict[str, Any]]:
    """A record a node: those that can go in the order in which they are emptied, then the others."""
    answer, evicted, staying = plan.answer, plan.evictions_by_node(), Counter(one.node for one in plan.answer.staying)
    can = [{"node": name, "can": True, "evicted": evicted[name], "staying": staying[name], "why": None} for name in answer.can]
    return [*can, *({"node": name, "can": False, "evicted": None, "staying": None, "why": why} for name, why in answer.cannot.items())]


def drain_tables(plan: DrainPlan, *, wide: bool) -> Iterator[TextTable]:
    """The nodes; of a search those that can go, and why the others stay; *wide*: all nodes, and who goes where, in order."""
    answer, is_short = plan.answer, plan.answer.bound is not None and not wide
    records = [record for record in node_records(plan) if record["can"] or not is_short]
    yield TextTable(["node", "can go", "evicted", "staying", "why not"], [_node_row(record) for record in records])
    if is_short and answer.cannot:
        yield TextTable(["nodes that stay", "why"], _reasons(answer))
    if answer.evictions and (wide or answer.bound is None):
        yield TextTable(["round", "pod", "from", "to", "as", "why"], list(map(_eviction_row, answer.evictions)))
    if wide and answer.staying:
        yield TextTable(["pod that stays", "node", "why"], [[one.pod, one.node, one.why] for one in answer.staying])
    if answer.budgets:
        budgets: list[list[Cell]] = [[one.budget, one.allowed, one.evictions, one.lowest] for one in answer.budgets]
        yield TextTable(["budget", "allows", "evicted", "left at least"], budgets)


def _node_row(record: dict[str, Any]) -> list[Cell]:
    return [record["node"], "yes" if record["can"] else "no", record["evicted"], record["staying"], record["why"]]


def _eviction_row(one: DrainEviction) -> list[Cell]:
    renamed = one.replacement if one.replacement != one.pod else None
    why = f"preempted by {one.by}" if one.by else "gone for good" if one.replacement is None else None
    return [one.round, one.pod, one.node, one.to, renamed, why]


def _reasons(answer: DrainDocument) -> list[list[Cell]]:
    """The reasons against nodes without the names of pods and without counts of nodes, the most frequent first."""
    found = Counter(without_names(why) for why in answer.cannot.values())
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


def summary_text(answer: DrainDocument, width: int | None = None) -> str:
    """The answer in sentences."""
    return "\n".join(wrapped(list(summary_lines(answer)), width, "  "))


def summary_lines(answer: DrainDocument) -> Iterator[str]:
    """The answer, what it takes, and of a search how far it is from the best."""
    summary, bound = answer.summary, answer.bound
    yield f"{summary.can:,} of {count_of(summary.asked, 'node')} can go" + (" together" if summary.can > 1 else "")
    gone = sum(one.replacement is None for one in answer.evictions)
    told = [count_doing(summary.moved, "pod", "move") + f" in {count_of(summary.rounds, 'round')}"] if answer.evictions else []
    told += [f"{count_of(gone, 'pod')} gone for good"] if gone else []
    told += [f"{count_of(len(answer.staying), 'pod')} left on these nodes"] if answer.staying else []
    if told:
        yield ", ".join(told)
    if bound is not None:
        names = bound.resources
        why = f" for {' and '.join(names)}" + (" requests" if len(names) == 1 else " requests together") if names else ""
        kept = f": {count_of(bound.must_stay, 'node')} must stay{why}" if bound.must_stay else ""
        yield f"at most {bound.at_most:,} could go{kept}"
    if summary.placed_before or summary.waiting:
        waiting = f", {summary.waiting:,} found no node" if summary.waiting else ""
        yield f"before the drain: {count_of(summary.placed_before, 'waiting pod')} placed{waiting}"
