"""The pages of ``capacity``: how many more fit, what stops the next copy, where the copies go, and what is left;
and the new nodes that pods need.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....api.view import View
from ....api.words import count_of, listed
from ....core.decision.fiterror import reasons_in
from ....questions.capacity import CapacityResult, requests_told, stop_lines
from ....questions.newnodes import NewNodesResult
from ....simulation.newnodes.answer import NewNodesAnswer
from ..page.about import About
from ..page.clustermap import ClusterMap, MapSide
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, counted, joined, named, number, sentence, spoken
from ..page.outcome import PodOutcome, help_step, who_html
from ..page.parts import (
    BAD,
    GOOD,
    NEAR,
    Section,
    bullets,
    card,
    fact,
    facts,
    facts_of,
    note,
    paragraph,
    section,
    soft,
)
from ..page.tables import list_html, short_table
from ..questions.nodemap import labels_of, uses_of

TAKES = "takes copies"
CARDS = (
    ("pending.placedFirst", "waiting pods placed before all copies", GOOD), ("pending.waiting", "pods of the cluster still wait", NEAR),
    ("evicted.length", "pods evicted to make room", BAD), ("excludedNodes.length", "nodes left out", NEAR),
)  # fmt: skip


def capacity_html(found: CapacityResult, about: About) -> str:
    """*found* as a page."""
    names = listed([placed.name for placed in found.counted.placed])
    stop = found.stop
    parts: list[Text] = [paragraph(named(stop.message))]
    if lines := list(stop_lines(stop)):
        parts.append(bullets(lines))
    if stop.reasons:
        title = "Reasons against the next copy"
        parts.append(card(title, short_table(found.view().table("reasons"), title), soft("A node can have several.")))
    sections = (
        section("What stops the next copy", *parts),
        _where(found),
        _left(found),
        section("What a copy requests", *_requests(found)),
    )
    return page_html(Page(f"kubeclassic capacity: {names}", spoken(found.view().verdict), about, sections, lead=_lead(found)))


def _lead(found: CapacityResult) -> Markup:
    document = found.document
    copies = (
        fact(counted(document, f"templates.{at}.fits"), sentence("copies of ", named(one.name)))
        for at, one in enumerate(document.templates)
    )
    return facts(*copies, fact(counted(document, "nodes.length"), "nodes that take copies", GOOD), *facts_of(document, CARDS, ()))


# --- where ----------------------------------------------------------------------------------------------------------


def _where(found: CapacityResult) -> Section:
    view = found.view()
    parts: list[Text] = [_map(found).html()]
    if found.zones:
        parts.append(card("Copies by zone", short_table(view.table("zones"), "Copies by zone")))
    if found.counted.evicted:
        parts.append(card("Evicted to make room", list_html(view.table("evicted"))))
    return section("Where the copies go", *parts, list_html(view.table("nodes")))


def _map(found: CapacityResult) -> ClusterMap:
    names, copies = [node.name for node in found.cluster], found.nodes
    states = [TAKES if name in copies else "" for name in names]
    words = [count_of(copies[name], "copy", "copies") if name in copies else "" for name in names]
    before = MapSide("before", uses_of(found.counted.before, names), found.pods_before)
    after = MapSide("with all copies", uses_of(found.counted.after, names), found.pods_after, states, words)
    return ClusterMap("map", names, [before, after], labels_of(found.cluster), colours={TAKES: GOOD}, follows=True)


# --- what is left ---------------------------------------------------------------------------------------------------


def _left(found: CapacityResult) -> Section:
    alone = len(found.counted.placed) == 1
    lead = "Room for copies by it alone: how many would fit if no other resource counted, on nodes that take such pods." if alone else ""
    return section("What is left", card("", short_table(found.view().table("headroom"), "What is left of each resource")), lead=lead)


def _requests(found: CapacityResult) -> Iterator[Text]:
    for template in found.document.templates:
        where = f" ({template.kind} in namespace ", named(template.namespace), "): "
        yield paragraph(named(template.name), *where, requests_told(template))
    if found.excluded:
        yield note("Left out: ", joined(map(named, found.excluded)))


Record = dict[str, Any]


# --- new nodes ------------------------------------------------------------------------------------------------------


def new_nodes_html(found: NewNodesResult, about: About) -> str:
    """*found* as a page."""
    record, view = found.record(), found.view()
    sections = [*_without(view), *_added(view), *_why(found.answer, record)]
    said = spoken(view.verdict)
    total = number(sum(one["count"] for one in record["added"]))
    cards = [fact(total if record["added"] else "none", "new nodes", GOOD), fact(counted(record, "pods"), "pods to place")]
    cards += facts_of(record, (("withoutNode.count", "pods without a node", BAD),), ())
    return page_html(
        Page(
            "kubeclassic capacity --add-node",
            said,
            about,
            sections,
            facts(*cards, *([fact(counted(record, "cost"), "cost")] if record["added"] else [])),
            _who(view),
            _next(view, about),
        )
    )


def _who(view: View) -> Markup:
    """The pods that no new node helps."""
    pods = [PodOutcome(str(row[0]), "waits", next(iter(reasons_in(str(row[1]))))) for row in view.table("without").rows]
    return who_html("Who finds no node", pods, "without")


def _next(view: View, about: About) -> list[Markup]:
    """What helps the first pod that no new node helps; copies of a template are no pods of the cluster."""
    return [help_step(str(row[0]), about) for row in view.table("without").rows[:1] if "--pod" not in about.command]


# --- the rest -------------------------------------------------------------------------------------------------------


def _without(view: View) -> Iterator[Section]:
    if view.table("without").rows:
        yield section("Pods without a node", list_html(view.table("without")))


def _added(view: View) -> Iterator[Section]:
    if view.table("added").rows:
        yield section("What to add", card("", short_table(view.table("added"), "What to add")), list_html(view.table("nodes")))
    if view.table("notTaken").rows:
        yield section("What was not taken", card("", short_table(view.table("notTaken"), "What was not taken")))


WHY = "Each was simulated. Another mix that costs less can still exist."


def _why(answer: NewNodesAnswer, record: Record) -> Iterator[Section]:
    """Why not less; of an answer that is no, what was tried."""
    if record["added"]:
        fewer: list[Text] = [named(f"With one fewer, {one}") for one in answer.fewer]
        yield section("Why not less", bullets(fewer), paragraph(WHY))
    elif record["cost"] is None and any(record["tried"].values()):
        tried = ", ".join(f"{count:,} {name}" for name, count in record["tried"].items())
        yield section("What was tried", paragraph("Up to this, and none of it is enough: ", named(tried), "."))
