"""Which new nodes are needed, as a page: what to add, which pods find no node without it, and why not less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....api.record import plain
from ....simulation.newnodes.answer import NewNodesAnswer
from ..page.about import About
from ..page.amounts import column_kind
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, joined, named, number, sentence, told
from ..page.parts import BAD, GOOD, Section, bullets, card, fact, facts, paragraph, plain_table, section
from ..page.tables import Column, DataTable
from ..units import short_name
from .newnodes import proof

Record = Mapping[str, Any]


def new_nodes_html(answer: NewNodesAnswer, about: About) -> str:
    """*answer* as a page."""
    record = plain(answer.document())
    sections = [*_without(record), *_added(record), *_why(answer, record)]
    return page_html(Page("kubeclassic capacity --add-node", verdict(record), about, sections, lead=_lead(record)))


# --- the outcome ----------------------------------------------------------------------------------------------------


def verdict(record: Record) -> Markup:
    """What to add, or that nothing helps, in one sentence."""
    pods, left = told("pods", number(record["pods"])), record["withoutNode"]["count"]
    without = sentence(told("withoutNode.count", number(left)), " of ", pods, " pods")
    if record["placed"]:
        finds = sentence("each of ", pods, " pods finds a node") if record["pods"] != 1 else "the pod finds a node"
        return sentence("Add ", _mix(record), ": ", finds, ".") if record["added"] else sentence("No new node is needed: ", finds, ".")
    if record["withoutNode"]["never"]:
        return sentence(without, " can never be placed, whatever number of these nodes is added.")
    return sentence("No number of these nodes is enough: ", without, " find no node." if left != 1 else " finds no node.")


def _mix(record: Record) -> Markup:
    added = (sentence(told(f"added.{at}.count", number(one["count"])), " ", named(one["node"])) for at, one in enumerate(record["added"]))
    return joined(added, " and ")


def _lead(record: Record) -> Markup:
    count = " + ".join(f"added.{at}.count" for at in range(len(record["added"])))
    total = number(sum(one["count"] for one in record["added"]))
    cards = [fact(told(count, total) if count else "none", "new nodes", GOOD), fact(told("pods", number(record["pods"])), "pods to place")]
    if record["withoutNode"]["count"]:
        cards.append(fact(told("withoutNode.count", number(record["withoutNode"]["count"])), "pods without a node", BAD))
    if record["added"]:
        cards.append(fact(told("cost", number(record["cost"])), "cost"))
    return facts(*cards)


# --- the rest -------------------------------------------------------------------------------------------------------


def _without(record: Record) -> Iterator[Section]:
    if record["withoutNode"]["pods"]:
        rows = [[one["pod"], one["message"]] for one in record["withoutNode"]["pods"]]
        yield section("Pods without a node", DataTable("without", (Column("pod", "name"), Column("why")), rows, noun="pod").html())


def _added(record: Record) -> Iterator[Section]:
    if not record["added"]:
        return
    kinds = [
        [named(one["node"]), *(told(f"added.{at}.{key}", number(one[key])) for key in ("count", "costOfOne", "cost"))]
        for at, one in enumerate(record["added"])
    ]
    table = card("", plain_table(["new node", "count", "cost of one", "cost"], kinds, "What to add"))
    yield section("What to add", table, _nodes(record).html())


def _nodes(record: Record) -> DataTable:
    resources = dict.fromkeys(name for node in record["nodes"] for name, amount in node["allocatable"].items() if amount and name != "pods")
    columns = [Column("name", "name"), Column("kind", "name", filter=True), Column("pods", "count")]
    sides = ("requested", "allocatable")
    columns += [Column(f"{short_name(name)} {side}", column_kind(name)) for name in resources for side in sides]
    rows = [
        [node["name"], node["node"], node["pods"], *(node[side].get(name) for name in resources for side in sides)]
        for node in record["nodes"]
    ]
    return DataTable("nodes", columns, rows, noun="new node")


def _why(answer: NewNodesAnswer, record: Record) -> Iterator[Section]:
    """Why not less; of an answer that is no, what was tried."""
    if record["placed"] and record["added"]:
        fewer: list[Text] = [named(f"With one fewer, {one}") for one in answer.fewer]
        yield section("Why not less", bullets(fewer), paragraph(named(proof(answer))))
    elif not record["placed"]:
        tried = ", ".join(f"{count:,} {name}" for name, count in record["tried"].items())
        yield section("What was tried", paragraph("Up to this, and none of it is enough: ", named(tried), "."))
