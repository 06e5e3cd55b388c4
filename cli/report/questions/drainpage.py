"""Which nodes can go, as a page: the answer, what stops the others, who moves where, before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ....api.objects import Node
from ....api.record import plain
from ....api.view import Column, Table
from ....api.words import count_doing, count_of
from ....simulation.drain.plan import DrainPlan
from ....simulation.drain.standing import NodeOccupancy
from ..page.about import About
from ..page.clustermap import ClusterMap, MapSide
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, element, joined, named, number, sentence, told
from ..page.parts import BAD, GOOD, NEAR, SAME, Section, card, fact, facts, note, paragraph, plain_table, section, soft, track
from ..page.tables import list_html
from .drain import node_records, without_names
from .nodemap import labels_of, uses_of

Record = dict[str, Any]
CAN, CANNOT, MOVES, GONE, PREEMPTED = "can go", "cannot go", "moves", "gone for good", "preempted, moves"
STATES = {CAN: GOOD, CANNOT: BAD}
OUTCOMES = {MOVES: GOOD, PREEMPTED: NEAR, GONE: BAD}


def drain_html(plan: DrainPlan, nodes: Sequence[Node], standing: tuple[NodeOccupancy, NodeOccupancy], about: About) -> str:
    """*plan* as a page; *standing*: the cluster before and after."""
    record = plain(plan.answer)
    sections = [
        *_stops(plan, record),
        _map(record, nodes, standing),
        *_moves(record),
        *_staying(record),
        *_budgets(record),
        *_bound(record),
    ]
    return page_html(Page("kubeclassic drain", verdict(record), about, sections, lead=_lead(record)))


# --- the outcome ----------------------------------------------------------------------------------------------------


def verdict(record: Record) -> Markup:
    """How many nodes can go, and what it takes, in one sentence."""
    summary = record["summary"]
    can, asked = (told(f"summary.{key}", number(summary[key])) for key in ("can", "asked"))
    if summary["asked"] == 1:
        node = next(iter([*record["can"], *record["cannot"]]))
        answer = sentence(named(node), " can go" if summary["can"] else " cannot go")
    elif summary["can"] == summary["asked"]:
        answer = sentence("Both" if summary["asked"] == 2 else sentence("All ", asked), " nodes can go together")
    else:
        only = "" if record["bound"] is not None else "Only " if summary["can"] else ""
        answer = sentence(only, can if summary["can"] else "None", " of ", asked, " nodes can go", " together" * (summary["can"] > 1))
    return sentence(answer, _takes(summary), ".")


def _takes(summary: Record) -> Text:
    """What has to happen for it."""
    if not summary["can"]:
        return ""
    if not summary["evictions"]:
        return "; no pod has to move"
    moved = summary["moved"]
    pods = sentence(told("summary.moved", number(moved)), " pod moves" if moved == 1 else " pods move")
    return sentence(
        ": ", pods, " in ", told("summary.rounds", number(summary["rounds"])), " round" if summary["rounds"] == 1 else " rounds"
    )


def _lead(record: Record) -> Markup:
    gone = sum(one["replacement"] is None for one in record["evictions"])
    cards = [fact(told("can.length", number(len(record["can"]))), "nodes can go", GOOD)]
    cards.append(fact(told("cannot.length", number(len(record["cannot"]))), "nodes cannot go", BAD if record["cannot"] else SAME))
    cards.append(fact(told("moves.length", number(len(record["moves"]))), "pods move"))
    cards += [fact(_derived(gone), "pods are gone for good", BAD)] if gone else []
    cards += [fact(told("staying.length", number(len(record["staying"]))), "pods are left on these nodes")] if record["staying"] else []
    if record["bound"] is not None:
        cards.append(fact(told("bound.atMost", number(record["bound"]["atMost"])), "nodes could go at most"))
    if record["summary"]["waiting"]:
        cards.append(fact(told("summary.waiting", number(record["summary"]["waiting"])), "pods find no node even before", NEAR))
    return facts(*cards)


def _derived(count: int) -> Markup:
    """A count over a list of the record."""
    return element("span", number(count), class_="derived")


# --- what stops nodes -----------------------------------------------------------------------------------------------


def _stops(plan: DrainPlan, record: Record) -> Iterator[Section]:
    parts: list[Text] = []
    gone = [one["pod"] for one in record["evictions"] if one["replacement"] is None]
    if gone:
        some = joined((named(pod) for pod in gone[:5]), ", ")
        parts.append(
            note(count_doing(len(gone), "pod", "leave"), " for good, as they are not made again: ", some, ", ..." if len(gone) > 5 else "")
        )
    if record["cannot"]:
        parts.append(card("Why nodes cannot go", _reasons(record)))
    yield section("What stops nodes" if record["cannot"] else "The nodes", *parts, list_html(_nodes(plan)))


def _reasons(record: Record) -> Markup:
    found = Counter(without_names(why) for why in record["cannot"].values()).most_common()
    rows = [[named(why), _derived(often), track(often / found[0][1], BAD)] for why, often in found]
    return plain_table(["reason", "nodes", ""], rows, "Why nodes cannot go")


def _nodes(plan: DrainPlan) -> Table:
    columns = (
        Column("node", "name"), Column("can go", "tag", filter=True, colours={"yes": GOOD, "no": BAD}), Column("evicted", "count"),
        Column("staying", "count"), Column("what stops it"),
    )  # fmt: skip
    rows, details = [], []
    for one in node_records(plan):
        why = None if one["why"] is None else without_names(one["why"])
        rows.append([one["node"], "yes" if one["can"] else "no", one["evicted"], one["staying"], why])
        details.append(None if one["why"] is None else [["why", one["why"]]])
    return Table("nodes", columns, rows, noun="node", details=details)


# --- before and after -----------------------------------------------------------------------------------------------


def _map(record: Record, nodes: Sequence[Node], standing: tuple[NodeOccupancy, NodeOccupancy]) -> Section:
    names, can = [node.name for node in nodes], set(record["can"])
    states = [CAN if name in can else CANNOT if name in record["cannot"] else "" for name in names]
    sides = [
        MapSide(title, uses_of(one.room, names), [one.pods.get(name, ()) for name in names], states)
        for title, one in zip(("before", "after"), standing, strict=True)
    ]
    placed = record["summary"]["placedBefore"]
    told_first = sentence(
        told("summary.placedBefore", number(placed)), f" waiting {'pod' if placed == 1 else 'pods'} got a node before the drain."
    )
    found = ClusterMap("map", names, sides, labels_of(nodes), colours={state: STATES[state] for state in STATES if state in states})
    return section("Before and after", *([soft(told_first)] if placed else []), found.html())


def _moves(record: Record) -> Iterator[Section]:
    if not record["evictions"]:
        return
    columns = (
        Column("pod", "name"), Column("from", "name", filter=True), Column("to", "name"), Column("as", "name"), Column("round", "count"),
        Column("outcome", "tag", filter=True, colours=OUTCOMES), Column("preempted by", "name"),
    )  # fmt: skip
    several = any(one["by"] for one in record["evictions"])
    rows = [[one["pod"], one["node"], one["to"], one["replacement"], one["round"], _outcome(one), one["by"]] for one in record["evictions"]]
    keep = len(columns) if several else len(columns) - 1
    yield section("Who moves where", list_html(Table("evictions", columns[:keep], [row[:keep] for row in rows], noun="pod that leaves",
                  several="pods that leave")), lead="In this order; pods of one round leave at the same time.")  # fmt: skip


def _outcome(one: Record) -> str:
    return GONE if one["replacement"] is None else PREEMPTED if one["by"] else MOVES


def _staying(record: Record) -> Iterator[Section]:
    if record["staying"]:
        columns = (Column("pod", "name"), Column("node", "name", filter=True), Column("why", filter=True))
        rows = [[one["pod"], one["node"], one["why"]] for one in record["staying"]]
        yield section("Pods that stay on nodes that go", list_html(Table("staying", columns, rows, noun="pod")))


def _budgets(record: Record) -> Iterator[Section]:
    if record["budgets"]:
        columns = (
            Column("budget", "name"),
            Column("allows", "count"),
            Column("evicted", "count"),
            Column("left at least", "count"),
        )
        rows = [[one["budget"], one["allowed"], one["evictions"], one["lowest"]] for one in record["budgets"]]
        lead = "How many evictions each budget allows at first, how many there are, and how many it had left when it was tightest."
        yield section("Disruption budgets", list_html(Table("budgets", columns, rows, noun="budget")), lead=lead)


def _bound(record: Record) -> Iterator[Section]:
    bound = record["bound"]
    if bound is None:
        return
    most, stay = told("bound.atMost", number(bound["atMost"])), told("bound.mustStay", number(bound["mustStay"]))
    of = sentence("At most ", most, " of ", told("bound.candidates", number(bound["candidates"])), " nodes could go, whatever is tried")
    why = joined((named(name) for name in bound["resources"]), " and ")
    must = sentence(": ", stay, f" {'node' if bound['mustStay'] == 1 else 'nodes'} must stay", " for " if bound["resources"] else "", why)
    proof = (
        f"The search found {count_of(len(record['can']), 'node')}. The bound counts what pods request and nodes have, and no other rule."
    )
    yield section("How many could go at most", paragraph(of, must if bound["mustStay"] else "", "."), soft(proof))
