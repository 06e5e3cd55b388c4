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
from ...api.reading import Notice, grouped
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
from ...simulation.evictions import DrainFlags, new_claims
from ...simulation.nodesbyuse import labels_of
from ...simulation.simulate import UNPLACED
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
"""How many reasons against nodes short text lists."""
MOVES = "moves"
GONE = "gone for good"
PREEMPTED = "preempted, moves"
WAITS = CHANGES["waits"][0]
ELSEWHERE = "for another scheduler"
OUTCOMES = {MOVES: "good", PREEMPTED: "near", WAITS: "bad", GONE: "bad", ELSEWHERE: "bad"}


@attrs.frozen(eq=False, repr=False, slots=False)
class DrainResult(Result):
    """The nodes that can go together, the others and why, and the moves of pods."""

    answer: DrainDocument
    cluster: tuple[Node, ...]
    """The nodes, in the order in which they were given."""
    occupancy: tuple[Occupancy, Occupancy] | None
    """The nodes and their pods before and after; None unless a page is made."""

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
        """Reason, without names and numbers -> how many nodes have to stay for it; ``gone``: how many pods
        wait."""
        answer = self.answer
        waits = [
            eviction.reason or without_names(eviction.why or "")
            for eviction in answer.evictions
            if eviction.waits
        ]
        return Counter(waits or map(without_names, answer.cannot.values()))

    @property
    def about_reasons(self) -> str | None:
        """A note that unschedulable nodes in reasons are cordoned by this drain, if none is cordoned in the
        input; else None."""
        if any(node.spec.unschedulable for node in self.cluster) or not any(
            "unschedulable" in reason for reason in self.reasons
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
        groups = dict[str, list[tuple[str, Part]]](evicted=[], waits=[], moved=[])
        for eviction in answer.evictions:
            if eviction.is_elsewhere:
                groups["waits"].append((eviction.pod, eviction.why or ""))
            elif eviction.replacement is None:
                groups["evicted"].append((eviction.pod, "for good, as it is not made again"))
            elif eviction.waits:
                groups["waits"].append((eviction.pod, eviction.reason or eviction.why or ""))
        groups["moved"] = [(move.pod, f"from {move.origin} to {move.to}") for move in answer.moves]
        if groups["waits"]:
            title = "Who waits, who moves"
        elif groups["evicted"]:
            title = "Who leaves for good, who moves"
        else:
            title = "Who moves"
        pods = [
            PodOutcome(pod, change, reason) for change, members in groups.items() for pod, reason in members
        ]
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
def drain(inputs: Input, options: DrainOptions, observer: Observer) -> DrainResult:
    """Say which nodes of *cluster* can go: every pod on them is evicted as ``kubectl drain`` does it, and
    placed elsewhere.

    Pending pods of *cluster* are left out by default.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> drain([node], "a").can
    ['a']
    """
    leaves = {name: getattr(options, name) for name in attrs.fields_dict(DrainFlags)}
    flags = DrainFlags(**{**leaves, "pod_selector": options.matcher("pod_selector")})
    names = nodes_asked(options, inputs.scenario.nodes)
    observer.ready(inputs)
    tell_left_out(inputs, options, observer)
    # A search tries each node in several orders.
    total, unit = (inputs.scenario.node_count * ORDERS, "tries") if options.auto else (len(names), "nodes")
    with without_collection():
        with observer.telling("scheduling"):
            # All schedulers share their extenders, so that calls to these are one recording.
            spec = attrs.evolve(inputs.spec, extenders=tuple(inputs.engine.extenders))
            left_out = () if options.pending_first else inputs.scenario.pending
            scenario = attrs.evolve(inputs.scenario, pending=()) if left_out else inputs.scenario
            steady = settle(
                scenario, lambda: spec.engine(scenario.config_maps), spec.scheduler_names, inputs.order
            )
            steady = attrs.evolve(steady, left_out=len(left_out))
        with observer.counting(total, "emptying", unit) as progress:
            number = count(1)
            answer, evictions = planned(
                options, names, steady, flags, lambda node: progress(next(number), node)
            )
    occupancy = before_and_after(steady, answer, evictions) if options.makes("page") else None
    pods = [item.pod for item in evictions if item.replacement]
    _, unplaced = new_claims(pods, inputs.engine, inputs.scenario.objects)
    notices = [Notice(f"PersistentVolumeClaim {key}", UNPLACED) for key in unplaced]
    observer.noticed(notices)
    warnings = grouped((*inputs.scenario.warnings, *notices))
    return DrainResult(answer, tuple(steady.nodes), occupancy, warnings=warnings)


# --- in words -----------------------------------------------------------------------------------------------


def _verdict(answer: DrainDocument) -> str:
    """The number of nodes that can go, and what it takes, in one sentence; ``gone``: the fates of their
    pods."""
    summary = answer.summary
    if answer.gone:
        # The fates of their pods, and of those that make room.
        preempted = sum(eviction.by is not None for eviction in answer.evictions)
        fates = []
        for number, verb, what in (
            (summary.evictions - preempted, "lose", "their node"),
            (preempted, "make", "room"),
            (summary.moved, "find", "another"),
            (summary.without_node, "wait", "for a node"),
            (sum(eviction.is_elsewhere for eviction in answer.evictions), "ask", "for another scheduler"),
            (len(_gone(answer)), "leave", "for good"),
            (len(answer.staying), "end", "with their node"),
        ):
            if number:
                words = what.replace("their", "its") if number == 1 else what
                fates.append(f"{count_doing(number, 'pod', verb)} {words}")
        return f"{count_of(summary.can, 'node')} gone: {', '.join(fates) or 'no pod loses its node'}."
    cost = "; no pod has to move" if summary.can else ""
    if summary.can and summary.evictions:
        cost = f": {count_of(summary.moved, 'pod moves', 'pods move')} in {count_of(summary.rounds, 'round')}"
    if summary.asked == 1:
        node = next(iter([*answer.can, *answer.cannot]))
        return f"{node}{' can go' if summary.can else ' cannot go'}{cost}."
    if summary.can == summary.asked:
        return f"{'Both' if summary.asked == 2 else f'All {summary.asked:,}'} nodes can go together{cost}."
    can = f"{'' if answer.searched else 'Only '}{summary.can:,}" if summary.can else "None"
    return f"{can} of {summary.asked:,} nodes can go{' together' if summary.can > 1 else ''}{cost}."


def _gone(answer: DrainDocument) -> list[str]:
    """The pods that leave for good."""
    return [
        eviction.pod
        for eviction in answer.evictions
        if eviction.replacement is None and not eviction.is_elsewhere
    ]


def _sections(result: DrainResult) -> Iterator[Section]:
    answer = result.answer
    about = result.about_reasons
    if answer.gone:
        yield block(_verdict(answer))
    gone = _gone(answer)
    some = f"{', '.join(gone[:5])}{', ...' if len(gone) > 5 else ''}"
    notes = on_page(
        f"{count_doing(len(gone), 'pod', 'leave')} for good, as they are not made again: {some}"
        if gone
        else "",
        look="note",
    )
    reason = _reasons_table(result, "page" if answer.cannot else "")
    closed = on_page(f"{about[0].upper()}{about[1:]}." if about else "")
    yield Section(
        "What stops nodes" if answer.cannot else "The nodes", [*notes, reason, *closed, _nodes_table(result)]
    )
    yield Section(parts=[_reasons_table(result, "table" if answer.searched or answer.gone else "")])
    if result.occupancy is not None:
        placed = answer.summary.placed_before
        placed_note = on_page(
            f"{count_of(placed, 'waiting pod')} got a node before the drain." if placed else ""
        )
        yield Section("Before and after", [*placed_note, _node_map(result, result.occupancy)])
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
        preempted by | name | {"page" if any(eviction.by for eviction in answer.evictions) else "none"}
        message || {"wide page" if answer.summary.without_node else "none"}
        """,
        OUTCOMES,
    )
    rows = [_eviction_row(eviction) for eviction in answer.evictions]
    forms = f"{('wide' if answer.searched else 'text') if rows else ''} page data"
    evictions = Table(
        "evictions", columns, rows, noun="pod that leaves", several="pods that leave", forms=forms
    )
    yield Section("Who moves where", [evictions], "In this order; pods of one round leave at the same time.")
    stay = "pod that stays | name | wide; pod | name | page; node | name | filter; why || filter"
    rows = [[pod.pod, pod.pod, pod.node, pod.why] for pod in answer.staying]
    yield Section(
        "Pods that stay on nodes that go",
        [Table("staying", stay, rows, noun="pod", forms="wide page" if rows else "")],
    )
    bounds = "budget | name; allows | count; evicted | count; fewest left | count"
    rows = [[budget.budget, budget.allowed, budget.evictions, budget.lowest] for budget in answer.budgets]
    lead = "How many evictions each budget allows at first, how many there are, and how many it had left when it was tightest."
    yield Section(
        "Disruption budgets",
        [Table("budgets", bounds, rows, noun="budget", forms="seen" if rows else "")],
        lead,
    )


def _node_map(result: DrainResult, occupancy: tuple[Occupancy, Occupancy]) -> NodeMap:
    answer = result.answer
    names = [node.name for node in result.cluster]
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
    return NodeMap(names, sides, labels_of(result.cluster), colours, follows=True)


def summary_lines(answer: DrainDocument) -> Iterator[str]:
    """The answer, and what it takes; no lines for ``gone``, where the text itself begins with the verdict."""
    summary = answer.summary
    if answer.gone:
        return
    yield f"{summary.can:,} of {count_of(summary.asked, 'node')} can go" + (
        " together" if summary.can > 1 else ""
    )
    gone = sum(eviction.replacement is None for eviction in answer.evictions)
    parts = (
        [count_doing(summary.moved, "pod", "move") + f" in {count_of(summary.rounds, 'round')}"]
        if answer.evictions
        else []
    )
    parts += [f"{count_of(gone, 'pod')} gone for good"] if gone else []
    parts += [f"{count_of(len(answer.staying), 'pod')} left on these nodes"] if answer.staying else []
    if parts:
        yield ", ".join(parts)
    if summary.placed_before or summary.waiting:
        waiting = f", {summary.waiting:,} found no node" if summary.waiting else ""
        yield f"before the drain: {count_of(summary.placed_before, 'waiting pod')} placed{waiting}"


def without_names(reason: str) -> str:
    """The reason without names and numbers, so that equal ones can be counted.

    >>> without_names("a/b finds no other node: 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.")
    'a pod finds no other node: Insufficient cpu, node(s) were unschedulable'
    """
    _, separator, after = reason.partition(" finds no other node: ")
    if separator:
        return f"a pod finds no other node: {', '.join(sorted(reasons_in(after.partition(VOLUMES)[0])))}"
    return reason.partition(": ")[0]


# --- tables -------------------------------------------------------------------------------------------------


def _nodes_table(result: DrainResult) -> Table:
    """A row for each node: nodes that can go, in the order in which they are emptied, then the others, which
    short text of a search leaves out."""
    answer = result.answer
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
    evicted = Counter(eviction.node for eviction in answer.evictions if eviction.by is None)
    staying = Counter(pod.node for pod in answer.staying)
    rows = [[name, "yes", True, evicted[name], staying[name], None, None, None] for name in answer.can]
    rows += [
        [name, "no", False, None, None, reason, without_names(reason), reason]
        for name, reason in answer.cannot.items()
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


def _reasons_table(result: DrainResult, forms: str) -> Table:
    """The reasons why the other nodes of a search stay, most frequent first; ``gone``: why pods wait."""
    rows: list[list[Any]] = [[often, reason] for reason, often in result.reasons.most_common(MOST_REASONS)]
    if rest := result.reasons.total() - sum(often for often, _ in rows):
        rows.append([rest, "other reasons (-o wide)"])
    who = "pods that wait" if result.answer.gone else "nodes that stay"
    return Table("reasons", f"{who} | count; why", rows, forms=forms if rows else ())


def _eviction_row(eviction: DrainEviction) -> list[Any]:
    new = eviction.replacement
    outcome = GONE if new is None else WAITS if eviction.waits else PREEMPTED if eviction.by else MOVES
    if eviction.is_elsewhere:
        outcome = ELSEWHERE
    reason = outcome if outcome in (GONE, WAITS, ELSEWHERE) else None
    if eviction.by:
        reason = f"preempted by {eviction.by}"
    elif eviction.reason:
        reason = f"{WAITS}: {eviction.reason}"
    renamed = new if new != eviction.pod else None
    return [
        eviction.round,
        eviction.pod,
        eviction.node,
        eviction.by,
        new,
        eviction.node,
        eviction.to,
        renamed,
        reason,
        new,
        eviction.round,
        outcome,
        eviction.by,
        eviction.why,
    ]
