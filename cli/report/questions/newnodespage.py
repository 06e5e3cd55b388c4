"""Which new nodes are needed, as a page: what to add, which pods find no node without it, and why not less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....api.view import View
from ....questions.newnodes import NewNodesResult, proof
from ....simulation.newnodes.answer import NewNodesAnswer
from ....simulation.records import reasons_in
from ..page.about import About
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, counted, named, number, sentence, spoken, told
from ..page.outcome import NextStep, PodOutcome, who_html
from ..page.parts import BAD, GOOD, Section, bullets, card, fact, facts, facts_of, paragraph, section
from ..page.tables import list_html, short_table

Record = Mapping[str, Any]


def new_nodes_html(found: NewNodesResult, about: About) -> str:
    """*found* as a page."""
    record, view = found.record(), found.view()
    sections = [*_without(view), *_added(view), *_why(found.answer, record)]
    said = spoken(view.verdict)
    return page_html(Page("kubeclassic capacity --add-node", said, about, sections, _lead(record), _who(view), _next(view, about)))


def _who(view: View) -> Markup:
    """The pods that no new node helps."""
    pods = [PodOutcome(str(row[0]), "waits", next(iter(reasons_in(str(row[1]))))) for row in view.table("without").rows]
    return who_html("Who finds no node", pods, "without")


def _next(view: View, about: About) -> list[NextStep]:
    """What helps the first pod that no new node helps; copies of a template are no pods of the cluster."""
    first = next((str(row[0]) for row in view.table("without").rows), None)
    if first is None or "--pod" in about.command:
        return []
    return [NextStep(sentence("What would help ", named(first), ":"), about.asking("explain", first, "--what-if"))]


def _lead(record: Record) -> Markup:
    paths = " + ".join(f"added.{at}.count" for at in range(len(record["added"])))
    total = number(sum(one["count"] for one in record["added"]))
    cards = [fact(told(paths, total) if paths else "none", "new nodes", GOOD), fact(counted(record, "pods"), "pods to place")]
    cards += facts_of(record, (("withoutNode.count", "pods without a node", BAD),), ())
    return facts(*cards, *([fact(counted(record, "cost"), "cost")] if record["added"] else []))


# --- the rest -------------------------------------------------------------------------------------------------------


def _without(view: View) -> Iterator[Section]:
    if view.table("without").rows:
        yield section("Pods without a node", list_html(view.table("without")))


def _added(view: View) -> Iterator[Section]:
    if view.table("added").rows:
        yield section("What to add", card("", short_table(view.table("added"), "What to add")), list_html(view.table("nodes")))
    if view.table("notTaken").rows:
        yield section("What was not taken", card("", short_table(view.table("notTaken"), "What was not taken")))


def _why(answer: NewNodesAnswer, record: Record) -> Iterator[Section]:
    """Why not less; of an answer that is no, what was tried."""
    if record["added"]:
        fewer: list[Text] = [named(f"With one fewer, {one}") for one in answer.fewer]
        yield section("Why not less", bullets(fewer), paragraph(named(proof(answer))))
    elif record["cost"] is None and any(record["tried"].values()):
        tried = ", ".join(f"{count:,} {name}" for name, count in record["tried"].items())
        yield section("What was tried", paragraph("Up to this, and none of it is enough: ", named(tried), "."))
