"""An explanation as a page: where the pod goes, what decided, reasons against nodes, nodes by rules, evictions; or all about one node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....api.record import plain
from ....simulation.explain.closeup import CloseUp
from ....simulation.explain.explanation import Explanation
from ..page.about import About
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, joined, named, number, sentence, told
from ..page.parts import BAD, GOOD, SAME, Section, card, counted, fact, facts, note, paragraph, section, soft
from ..page.tables import list_html
from .explainparts import (
    choice_parts,
    close_eviction,
    eviction_parts,
    leads_table,
    reasons_table,
    room_table,
    rules_table,
    scores_table,
)
from .explanation import rule_name
from .nodetable import ExplainedCluster, matrix, node_map, node_table, overwhelming
from .verdicts import close_verdict, verdict

Record = dict[str, Any]
CARDS = (
    ("fit", "nodes fit", GOOD), ("turnedDown", "nodes turned down", BAD),
    ("visited", "nodes looked at", SAME), ("nodes", "nodes", SAME),
)  # fmt: skip


def explanation_html(found: Explanation, standing: ExplainedCluster, about: About) -> str:
    """*found* as a page, all about one node where that was asked for."""
    record, close = plain(found.document()), found.close_up
    title = f"kubeclassic explain: {record['pod']}" + (f" on {close.node}" if close is not None else "")
    if close is not None:
        sections = list(_close_up(found, record, close))
        return page_html(Page(title, close_verdict(record), about, sections, lead=_close_lead(record)))
    return page_html(Page(title, verdict(record), about, list(_sections(found, record, standing)), lead=_lead(record)))


# --- the pod --------------------------------------------------------------------------------------------------------


def _lead(record: Record) -> Markup:
    shown = counted("counts", record["counts"], CARDS) if record["counts"]["nodes"] else ""
    return sentence(shown, *_workload(record), *_placed(record))


def _workload(record: Record) -> Iterator[Text]:
    if record["workload"] is not None:
        pods = told("workloadPods.length", number(len(record["workloadPods"])))
        noun = " pod" if len(record["workloadPods"]) == 1 else " pods"
        yield soft("A pod of ", named(record["workload"]), ", which has ", pods, noun, ".")


def _placed(record: Record) -> Iterator[Text]:
    if record["placedOn"] is not None:
        yield soft("Decided as if the pod had no node and were not on ", named(record["placedOn"]), ".")


def _sections(found: Explanation, record: Record, standing: ExplainedCluster) -> Iterator[Section]:
    counts = record["counts"]
    if record["choice"] is not None:
        reached = _reached(counts)
        yield section("What decided", card("", *choice_parts(record)), *reached)
    if record["reasons"]:
        lead = "A node can have several reasons. Only this: nodes that have no other."
        yield section("Reasons against nodes", card("", reasons_table(record)), lead=lead)
    elif record["error"]:
        yield section("Why it has no node", note(named(record["error"])))
    if record["eviction"] is not None:
        yield section("Would evictions help?", *eviction_parts(record), name="evictions")
    if found.rules and found.nodes:
        lead = "✓ passed, ✗ turned down, · not asked. Nodes that fare alike share a line; the rule that decides is marked."
        idle = [rule for rule, concerned in found.rules.items() if not concerned]
        rest = soft("The pod wants nothing that these rules look at: ", joined(map(named, idle)), ".") if idle else ""
        huge = [named(rule_name(rule)) for rule in overwhelming(found)]
        hidden = soft("Bars of scores leave out ", joined(huge), ", as all nodes have the same by it and it would hide the others.")
        yield section("Nodes by rules", matrix(found).html(), hidden if huge else "", rest, lead=lead)
    if found.nodes:
        yield section("The nodes", node_map(found, standing).html(), list_html(node_table(found)), name="all-nodes")


def _reached(counts: Record) -> list[Text]:
    if counts["visited"] == counts["nodes"]:
        return []
    looked, every = (told(f"counts.{key}", number(counts[key])) for key in ("visited", "nodes"))
    return [soft("The search looked at ", looked, " of ", every, " nodes and had found enough then.")]


# --- one node -------------------------------------------------------------------------------------------------------


def _close_lead(record: Record) -> Markup:
    close = record["closeUp"]
    cards = []
    if close["total"] is not None:
        what = "total score it would have" if close["wouldScore"] else "total score"
        cards.append(fact(told("closeUp.total", number(close["total"])), what))
    if close["place"] is not None:
        cards.append(fact(told("closeUp.place", number(close["place"])), "place among the nodes that fit", GOOD))
    cards.append(fact(told("closeUp.outOf", number(close["outOf"])), "nodes scored"))
    return sentence(facts(*cards), *_workload(record), *_placed(record))


def _close_up(found: Explanation, record: Record, close: CloseUp) -> Iterator[Section]:
    data = record["closeUp"]
    whole = [paragraph("Decided before any node was looked at: ", named(reason)) for reason in data["wholePod"]]
    if data["verdicts"] or whole:
        by = "plugin" if found.by_plugins else "predicate"
        rules = [card("", rules_table(data, by))] if data["verdicts"] else []
        yield section("Each rule on this node", *whole, *rules, lead="In running order." if rules else "")
    if data["room"]:
        yield section("Room", card("", room_table(data)))
    if not data["fits"] and record["eviction"] is not None:
        yield section("Would evictions help?", close_eviction(record), name="evictions")
    if data["leads"]:
        lead = f"Rule by rule, {close.node} beside {close.against}; below zero where {close.against} scores better."
        table = leads_table("closeUp.leads", data["leads"], close.node, close.against or "")
        yield section("Beside the other node", card("", table), lead=lead)
    if data["scores"]:
        lead = "What the node would score if it were among the nodes to choose from." if data["wouldScore"] else ""
        yield section("Scores", card("", scores_table(data)), lead=lead)
