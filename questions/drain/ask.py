"""Drain: the question, and its view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import count
from typing import Any

import attrs

from ...api.garbage import settled as without_collection
from ...api.objects import Node
from ...api.record import replace
from ...api.view import (
    CHANGES,
    MapSide,
    NextStep,
    NodeMap,
    Part,
    PodOutcome,
    PodOutcomes,
    Section,
    Share,
    Table,
    View,
    block,
    columns_of,
    on_page,
)
from ...api.words import count_doing, count_of
from ...core.decision import reasons_in
from ...simulation.evictions import DrainFlags
from ...simulation.nodesbyuse import labels_of
from ..asking import Input, Observer, Result, asked_by, tell_left_out
from .options import DrainOptions
from .plan import (
    ORDERS,
    DrainDocument,
    DrainEviction,
    DrainMove,
    Occupancy,
    before_and_after,
    nodes_asked,
    planned,
)
from .trial import VOLUMES, settle

MOST_REASONS = 10
"""Of those against nodes that short text lists."""
MOVES = "moves"
GONE = "gone for good"
PREEMPTED = "preempted, moves"
WAITS = CHANGES["waits"][0]
OUTCOMES = {MOVES: "good", PREEMPTED: "near", WAITS: "bad", GONE: "bad"}


@attrs.frozen(eq=False, repr=False, slots=False)
class DrainResult(Result):
    """The nodes that can go together, the others and why, and the moves of pods."""

    answer: DrainDocument
    cluster: tuple[Node, ...]
    """The nodes, in the order in which they were given."""
    occupancy: tuple[Occupancy, Occupancy] | None
    """What nodes have, and which pods are on them, before and after; None unless it was asked for."""

    @property
    def ok(self) -> bool:
        """Whether all nodes that were named can go, or a search found any."""
        return self.answer.ok

    @property
    def can(self) -> list[str]:
        """The nodes that can go, all of them together, in the order in which they are emptied."""
        return list(self.answer.can)

    @property
    def cannot(self) -> dict[str, str]:
        """Node that cannot go -> why."""
        return dict(self.answer.cannot)

    @cached_property
    def reasons(self) -> Counter[str]:
        """The reasons against nodes, without names and numbers -> how many have to stay for it; of nodes that
        are gone: pods wait."""
        answer = self.answer
        waits = [one.reason or without_names(one.why or "") for one in answer.evictions if one.waits]
        return Counter(waits or map(without_names, answer.cannot.values()))

    @property
    def about_reasons(self) -> str | None:
        """The nodes that reasons call unschedulable, where none of the input is: those that the drain
        closes."""
        if any(node.spec.unschedulable for node in self.cluster) or not any(
            "unschedulable" in why for why in self.reasons
        ):
            return None
        return "the unschedulable nodes are those that this drain cordons; none is cordoned in the input"

    @property
    def moves(self) -> tuple[DrainMove, ...]:
        """The moves of pods, from node to node."""
        return self.answer.moves

    @property
    def document(self) -> DrainDocument:
        return replace(self.answer, warnings=self.told_warnings())

    def _view(self) -> View:
        answer = self.answer
        # The pods that have to leave, those that are not made again first.
        found = dict[str, list[tuple[str, Part]]](evicted=[], waits=[], moved=[])
        for one in answer.evictions:
            if one.replacement is None:
                found["evicted"].append((one.pod, "for good, as it is not made again"))
            elif one.waits:
                found["waits"].append((one.pod, one.reason or one.why or ""))
        found["moved"] = [(one.pod, f"from {one.origin} to {one.to}") for one in answer.moves]
        if found["waits"]:
            title = "Who waits, who moves"
        elif found["evicted"]:
            title = "Who leaves for good, who moves"
        else:
            title = "Who moves"
        pods = [PodOutcome(pod, change, why) for change, members in found.items() for pod, why in members]
        return View(
            verdict=_verdict(answer),
            facts={
                "release": answer.release,
                "nodes": answer.summary.asked,
                "can": len(self.can),
                "moves": len(self.moves),
                "rounds": answer.summary.rounds,
            },
            shares=[]
            if answer.gone
            else [Share("can go", len(self.can), "good"), Share("cannot go", len(self.cannot), "bad")],
            who=PodOutcomes(title, pods, "evictions"),
            next=[NextStep("Which nodes to add:", ("capacity", *answer.add_nodes))]
            if answer.add_nodes
            else [],
            sections=list(_sections(self)),
        )


# --- asking -------------------------------------------------------------------------------------------------


@asked_by(DrainOptions, "cluster", "nodes", "scheduler")
def drain(given: Input, options: DrainOptions, observer: Observer) -> DrainResult:
    """Say which nodes of *cluster* can go: every pod on them is evicted as ``kubectl drain`` does it, and
    placed elsewhere.

    Pods that wait in *cluster* are left out.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> drain([node], "a").can
    ['a']
    """
    leaves = {name: getattr(options, name) for name in attrs.fields_dict(DrainFlags)}
    flags = DrainFlags(**{**leaves, "pod_selector": options.matcher("pod_selector")})
    asked = nodes_asked(options, given.scenario.nodes)
    observer.ready(given)
    tell_left_out(given, options, observer)
    # A search tries each node in several orders.
    total, unit = (given.scenario.node_count * ORDERS, "tries") if options.auto else (len(asked), "nodes")
    with without_collection():
        with observer.telling("scheduling"):
            # All schedulers have the same extenders: what is recorded of these is one record.
            spec = attrs.evolve(given.spec, extenders=tuple(given.engine.extenders))
            left_out = () if options.pending_first else given.scenario.pending
            scenario = attrs.evolve(given.scenario, pending=()) if left_out else given.scenario
            steady = settle(
                scenario, lambda: spec.engine(scenario.config_maps), spec.scheduler_names, given.order
            )
            steady = attrs.evolve(steady, left_out=len(left_out))
        with observer.counting(total, "emptying", unit) as progress:
            number = count(1)
            answer, evictions = planned(
                options, asked, steady, flags, lambda node: progress(next(number), node)
            )
    occupancy = before_and_after(steady, answer, evictions) if options.makes("page") else None
    return DrainResult(answer, tuple(steady.nodes), occupancy, warnings=given.warnings)


# --- in words -----------------------------------------------------------------------------------------------


def _verdict(answer: DrainDocument) -> str:
    """The number of nodes that can go, and what it takes, in one sentence; of nodes that are gone the fates
    of their pods."""
    summary = answer.summary
    if answer.gone:
        # The fates of their pods, and of those that make room.
        preempted = sum(one.by is not None for one in answer.evictions)
        fates = []
        for number, verb, what in (
            (summary.evictions - preempted, "lose", "their node"),
            (preempted, "make", "room"),
            (summary.moved, "find", "another"),
            (summary.without_node, "wait", "for a node"),
            (sum(one.replacement is None for one in answer.evictions), "leave", "for good"),
            (len(answer.staying), "end", "with their node"),
        ):
            if number:
                its = what.replace("their", "its") if number == 1 else what
                fates.append(f"{count_doing(number, 'pod', verb)} {its}")
        return f"{count_of(summary.can, 'node')} gone: {', '.join(fates) or 'no pod loses its node'}."
    takes = "; no pod has to move" if summary.can else ""
    if summary.can and summary.evictions:
        takes = (
            f": {count_of(summary.moved, 'pod moves', 'pods move')} in {count_of(summary.rounds, 'round')}"
        )
    if summary.asked == 1:
        node = next(iter([*answer.can, *answer.cannot]))
        return f"{node}{' can go' if summary.can else ' cannot go'}{takes}."
    if summary.can == summary.asked:
        return f"{'Both' if summary.asked == 2 else f'All {summary.asked:,}'} nodes can go together{takes}."
    can = f"{'' if answer.searched else 'Only '}{summary.can:,}" if summary.can else "None"
    return f"{can} of {summary.asked:,} nodes can go{' together' if summary.can > 1 else ''}{takes}."


def _sections(found: DrainResult) -> Iterator[Section]:
    answer = found.answer
    about = found.about_reasons
    if answer.gone:
        yield block(_verdict(answer))
    gone = [one.pod for one in answer.evictions if one.replacement is None]
    some = f"{', '.join(gone[:5])}{', ...' if len(gone) > 5 else ''}"
    notes = on_page(
        f"{count_doing(len(gone), 'pod', 'leave')} for good, as they are not made again: {some}"
        if gone
        else "",
        look="note",
    )
    why = _reasons(found, "page" if answer.cannot else "")
    closed = on_page(f"{about[0].upper()}{about[1:]}." if about else "")
    yield Section("What stops nodes" if answer.cannot else "The nodes", [*notes, why, *closed, _nodes(found)])
    yield Section(parts=[_reasons(found, "table" if answer.searched or answer.gone else "")])
    if found.occupancy is not None:
        placed = answer.summary.placed_before
        first = on_page(f"{count_of(placed, 'waiting pod')} got a node before the drain." if placed else "")
        yield Section("Before and after", [*first, _map(found, found.occupancy)])
    # In the order in which pods leave.
    columns = columns_of(
        f"""
        round | count | text data
        pod | name
        node || data
        by || data
        replacement || data
        from | name | filter seen
        to | name
        as | name | text
        why || text
        as | name | page
        round | count | page
        outcome | tag | filter page
        preempted by | name | {"page" if any(one.by for one in answer.evictions) else "none"}
        message || {"wide page" if answer.summary.without_node else "none"}
        """,
        OUTCOMES,
    )
    rows = [_eviction(one) for one in answer.evictions]
    forms = f"{('wide' if answer.searched else 'text') if rows else ''} page data"
    evictions = Table(
        "evictions", columns, rows, noun="pod that leaves", several="pods that leave", forms=forms
    )
    yield Section("Who moves where", [evictions], "In this order; pods of one round leave at the same time.")
    stay = "pod that stays | name | wide; pod | name | page; node | name | filter; why || filter"
    rows = [[one.pod, one.pod, one.node, one.why] for one in answer.staying]
    yield Section(
        "Pods that stay on nodes that go",
        [Table("staying", stay, rows, noun="pod", forms="wide page" if rows else "")],
    )
    bounds = "budget | name; allows | count; evicted | count; fewest left | count"
    rows = [[one.budget, one.allowed, one.evictions, one.lowest] for one in answer.budgets]
    lead = "How many evictions each budget allows at first, how many there are, and how many it had left when it was tightest."
    yield Section(
        "Disruption budgets",
        [Table("budgets", bounds, rows, noun="budget", forms="seen" if rows else "")],
        lead,
    )


def _map(found: DrainResult, occupancy: tuple[Occupancy, Occupancy]) -> NodeMap:
    answer = found.answer
    names = [node.name for node in found.cluster]
    word = dict.fromkeys(answer.can, "gone" if answer.gone else "can go") | dict.fromkeys(
        answer.cannot, "cannot go"
    )
    states = [word.get(name, "") for name in names]
    sides = [
        MapSide(title, room.uses(names), pods, states)
        for title, (room, pods) in zip(("before", "after"), occupancy, strict=True)
    ]
    colours = {
        state: colour
        for state, colour in (("can go", "good"), ("cannot go", "bad"), ("gone", "bad"))
        if state in states
    }
    return NodeMap(names, sides, labels_of(found.cluster), colours, follows=True)


def summary_lines(answer: DrainDocument) -> Iterator[str]:
    """The answer, and what it takes; of nodes that are gone its text begins with that."""
    summary = answer.summary
    if answer.gone:
        return
    yield f"{summary.can:,} of {count_of(summary.asked, 'node')} can go" + (
        " together" if summary.can > 1 else ""
    )
    gone = sum(one.replacement is None for one in answer.evictions)
    told = (
        [count_doing(summary.moved, "pod", "move") + f" in {count_of(summary.rounds, 'round')}"]
        if answer.evictions
        else []
    )
    told += [f"{count_of(gone, 'pod')} gone for good"] if gone else []
    told += [f"{count_of(len(answer.staying), 'pod')} left on these nodes"] if answer.staying else []
    if told:
        yield ", ".join(told)
    if summary.placed_before or summary.waiting:
        waiting = f", {summary.waiting:,} found no node" if summary.waiting else ""
        yield f"before the drain: {count_of(summary.placed_before, 'waiting pod')} placed{waiting}"


def without_names(why: str) -> str:
    """The reason without names and numbers, so that equal ones can be counted.

    >>> without_names("a/b finds no other node: 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.")
    'a pod finds no other node: Insufficient cpu, node(s) were unschedulable'
    """
    _, found, after = why.partition(" finds no other node: ")
    if found:
        return f"a pod finds no other node: {', '.join(sorted(reasons_in(after.partition(VOLUMES)[0])))}"
    return why.partition(": ")[0]


# --- tables -------------------------------------------------------------------------------------------------


def _nodes(found: DrainResult) -> Table:
    """A row a node: those that can go in the order in which they are emptied, then the others, which short
    text of a search leaves out."""
    answer = found.answer
    columns = columns_of(
        f"""
        node | name
        {"gone" if answer.gone else "can go"} | tag | filter seen
        can || data csv
        evicted | count | seen csv
        staying | count | seen csv
        why not || text
        what stops it || page
        why || data csv
        """,
        {"yes": "good", "no": "bad"},
    )
    evicted = Counter(one.node for one in answer.evictions if one.by is None)
    staying = Counter(one.node for one in answer.staying)
    rows = [[name, "yes", True, evicted[name], staying[name], None, None, None] for name in answer.can]
    rows += [
        [name, "no", False, None, None, why, without_names(why), why] for name, why in answer.cannot.items()
    ]
    details = [None if row[-1] is None else [["why", row[-1]]] for row in rows]
    minor = range(len(answer.can), len(rows)) if answer.searched else ()
    return Table(
        "nodes",
        columns,
        rows,
        noun="node",
        details=details,
        minor=minor,
        forms="wide page data csv" if answer.gone else "all",
    )


def _reasons(found: DrainResult, forms: str) -> Table:
    """Of a search: why the other nodes stay, the most frequent reason first; of nodes that are gone: why pods
    wait."""
    rows: list[list[Any]] = [[often, why] for why, often in found.reasons.most_common(MOST_REASONS)]
    if rest := found.reasons.total() - sum(often for often, _ in rows):
        rows.append([rest, "other reasons (-o wide)"])
    who = "pods that wait" if found.answer.gone else "nodes that stay"
    return Table("reasons", f"{who} | count; why", rows, forms=forms if rows else ())


def _eviction(one: DrainEviction) -> list[Any]:
    new = one.replacement
    outcome = GONE if new is None else WAITS if one.waits else PREEMPTED if one.by else MOVES
    why = outcome if outcome in (GONE, WAITS) else None
    if one.by:
        why = f"preempted by {one.by}"
    elif one.reason:
        why = f"{WAITS}: {one.reason}"
    renamed = new if new != one.pod else None
    return [
        one.round,
        one.pod,
        one.node,
        one.by,
        new,
        one.node,
        one.to,
        renamed,
        why,
        new,
        one.round,
        outcome,
        one.by,
        one.why,
    ]
