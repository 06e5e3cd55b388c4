"""Which nodes can go, as a page: the answer, what stops the others, who moves where, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....api.view import View
from ....api.words import count_doing
from ....questions.drain import DrainResult
from ..page.about import About
from ..page.clustermap import ClusterMap, MapSide
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, counted, joined, named, number, sentence, spoken
from ..page.outcome import PodOutcome, next_step, who_html
from ..page.parts import BAD, GOOD, NEAR, SAME, Section, card, fact, facts, facts_of, note, plain_table, section, soft, track
from ..page.tables import list_html
from .nodemap import labels_of, uses_of

Record = dict[str, Any]
CAN, CANNOT, LOST = "can go", "cannot go", "gone"
STATES = {CAN: GOOD, CANNOT: BAD, LOST: BAD}
CARDS = (("cannot.length", "nodes cannot go", BAD), ("moves.length", "pods move", SAME))
LISTS = (
    ("evictions", "Who moves where", "In this order; pods of one round leave at the same time."),
    ("staying", "Pods that stay on nodes that go", ""),
    ("budgets", "Disruption budgets",
     "How many evictions each budget allows at first, how many there are, and how many it had left when it was tightest."),
)  # fmt: skip
"""Tables that have sections of their own: name, title, and what stands above."""


def drain_html(found: DrainResult, about: About) -> str:
    """*found*, which has the occupancy of nodes, as a page."""
    record, view = found.record(), found.view()
    sections = [
        *_stops(found, view, record),
        _map(found, record),
        *(section(title, list_html(view.table(name)), lead=lead) for name, title, lead in LISTS if view.table(name).rows),
    ]
    steps = [next_step("Which nodes to add:", about.asking("capacity", *record["addNodes"]))] if record["addNodes"] else []
    return page_html(Page("kubeclassic drain", spoken(view.verdict), about, sections, _lead(record), _who(record), steps))


def _who(record: Record) -> Markup:
    """The pods that have to leave, those that are not made again first."""
    why = "for good, as it is not made again"
    gone = [PodOutcome(one["pod"], "evicted", why) for one in record["evictions"] if one["replacement"] is None]
    waiting = (one for one in record["evictions"] if one["replacement"] and not one["to"])
    waits = [PodOutcome(one["pod"], "waits", one["reason"] or one["why"]) for one in waiting]
    moves = [PodOutcome(one["pod"], "moved", sentence("from ", named(one["from"]), " to ", named(one["to"]))) for one in record["moves"]]
    title = "Who waits, who moves" if waits else "Who leaves for good, who moves" if gone else "Who moves"
    return who_html(title, [*gone, *waits, *moves], "evictions")


def _lead(record: Record) -> Markup:
    gone = sum(one["replacement"] is None for one in record["evictions"])
    lost = [fact(number(gone), "pods are gone for good", BAD)] if gone else []
    left = facts_of(record, (("staying.length", "pods stay with their node", SAME), ("summary.withoutNode", "pods wait", BAD)), ())
    apart = (("summary.waiting", "pods find no node even before", NEAR), ("summary.leftOut", "waiting pods left out", NEAR))
    waiting = facts_of(record, apart, ())
    word = LOST if record["gone"] else CAN
    can = fact(counted(record, "can.length"), f"nodes {word}", STATES[word])
    return facts(can, *facts_of(record, CARDS[record["gone"] :]), *lost, *left, *waiting)


# --- what stops nodes -----------------------------------------------------------------------------------------------


def _stops(found: DrainResult, view: View, record: Record) -> Iterator[Section]:
    parts: list[Text] = []
    gone = [one["pod"] for one in record["evictions"] if one["replacement"] is None]
    if gone:
        some = joined((named(pod) for pod in gone[:5]), ", ")
        parts.append(
            note(count_doing(len(gone), "pod", "leave"), " for good, as they are not made again: ", some, ", ..." if len(gone) > 5 else "")
        )
    if record["cannot"]:
        about = [soft(f"{found.about_reasons[0].upper()}{found.about_reasons[1:]}.")] if found.about_reasons else []
        parts.append(card("Why nodes cannot go", _reasons(found.reasons.most_common()), *about))
    yield section("What stops nodes" if record["cannot"] else "The nodes", *parts, list_html(view.table("nodes")))


def _reasons(found: Sequence[tuple[str, int]]) -> Markup:
    rows = [[named(why), number(often), track(often / found[0][1], BAD)] for why, often in found]
    return plain_table(["reason", "nodes", ""], rows, "Why nodes cannot go")


# --- before and after -----------------------------------------------------------------------------------------------


def _map(found: DrainResult, record: Record) -> Section:
    names, can = [node.name for node in found.cluster], set(record["can"])
    word = LOST if record["gone"] else CAN
    states = [word if name in can else CANNOT if name in record["cannot"] else "" for name in names]
    sides = [
        MapSide(title, uses_of(one.room, names), [one.pods.get(name, ()) for name in names], states)
        for title, one in zip(("before", "after"), found.occupancy or (), strict=False)
    ]
    placed = record["summary"]["placedBefore"]
    noun = " waiting pod" if placed == 1 else " waiting pods"
    first = [soft(counted(record, "summary.placedBefore"), noun, " got a node before the drain.")] if placed else []
    colours = {state: STATES[state] for state in STATES if state in states}
    shown = ClusterMap("map", names, sides, labels_of(found.cluster), colours=colours, follows=True).html()
    return section("Before and after", *first, shown)
