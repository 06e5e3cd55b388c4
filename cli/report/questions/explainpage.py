"""An explanation as a page: where the pod goes, what decided, reasons against nodes, nodes by rules, evictions; or all about one node."""

from __future__ import annotations

from collections.abc import Iterator

from ....api.view import View
from ....questions.closeupview import rule_name
from ....questions.explain import ExplainedCluster, ExplainResult
from ....questions.explainview import STATES, state_of
from ....simulation.explain.closeup import CloseUp
from ....simulation.explain.eviction import NO_HELP, NONE_LOWER, NOT_ENOUGH, STAYS, EvictionOutcome, Victim
from ....simulation.explain.explanation import ExplanationDocument
from ..page.about import About
from ..page.clustermap import ClusterMap, MapSide
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, counted, joined, named, number, sentence, spoken, told, value_at
from ..page.outcome import NextStep
from ..page.parts import BAD, GOOD, SAME, Section, bullets, card, fact, facts, facts_of, note, paragraph, section, soft
from ..page.tables import list_html, short_table
from .explainmatrix import matrix, overwhelming
from .nodemap import labels_of, uses_of

CARDS = (
    ("counts.fit", "nodes fit", GOOD), ("counts.turnedDown", "nodes turned down", BAD),
    ("counts.visited", "nodes looked at", SAME), ("counts.nodes", "nodes", SAME),
)  # fmt: skip
SHOWN = 20
"""That many victims are named."""


def explanation_html(found: ExplainResult, about: About) -> str:
    """*found* as a page, all about one node where that was asked for."""
    document, close = found.document, found.explanation.close_up
    title = f"kubeclassic explain: {document.pod}" + (f" on {close.node}" if close is not None else "")
    said = spoken(found.view().verdict)
    return page_html(Page(title, said, about, explanation_sections(found), explanation_lead(found), steps=_next(found, about)))


def explanation_sections(found: ExplainResult) -> list[Section]:
    """All sections under the verdict."""
    document, view, close = found.document, found.view(), found.explanation.close_up
    return list(_sections(found, document, view) if close is None else _close_up(document, view, close))


def explanation_lead(found: ExplainResult) -> Markup:
    """What stands right under the verdict."""
    document, close = found.document, found.explanation.close_up
    return _lead(document) if close is None else _close_lead(document, close)


def _next(found: ExplainResult, about: About) -> list[NextStep]:
    """What would help, where the pod has no node, or not the one that is asked about."""
    close, pod = found.explanation.close_up, found.decision.pod.key
    if found.host is not None and (close is None or close.node == found.host):
        return []
    words = ("--what-if",) if close is None else ("--want", close.node)
    return [NextStep("What would help:", about.asking("explain", pod, *words))]


# --- the pod --------------------------------------------------------------------------------------------------------


def _lead(document: ExplanationDocument) -> Markup:
    counts = document.counts
    cards = [one for one in CARDS if one[0] != "counts.visited" or counts.visited < counts.nodes]
    shown = facts(*facts_of(document, cards)) if counts.nodes else ""
    return sentence(shown, *_workload(document), *_placed(document))


def _workload(document: ExplanationDocument) -> Iterator[Text]:
    if document.workload is not None:
        pods, noun = counted(document, "workloadPods.length"), " pod" if len(document.workload_pods) == 1 else " pods"
        yield soft("A pod of ", named(document.workload), ", which has ", pods, noun, ".")


def _placed(document: ExplanationDocument) -> Iterator[Text]:
    if document.placed_on is not None:
        yield soft("Decided as if the pod had no node and were not on ", named(document.placed_on), ".")


def _sections(result: ExplainResult, document: ExplanationDocument, view: View) -> Iterator[Section]:
    found = result.explanation
    if document.choice is not None:
        yield section("What decided", card("", *_choice(document, view)), *_reached(document))
    if document.reasons:
        lead = "A node can have several reasons. Only this: nodes that have no other."
        causes = [card("What fails", short_table(view.table("causes"), "What fails"))] if document.causes else []
        yield section("Reasons against nodes", card("", short_table(view.table("reasons"), "Reasons against nodes")), *causes, lead=lead)
    elif document.error:
        yield section("Why it has no node", note(named(document.error)))
    if document.missing:
        yield section("What is missing", *(paragraph(named(one)) for one in document.missing))
    if document.eviction is not None:
        yield section("Would evictions help?", *_eviction(document, document.eviction), name="evictions")
    if found.rules and found.nodes:
        lead = "✓ passed, ✗ turned down, · not asked. Nodes that fare alike share a line; the rule that decides is marked."
        idle = [rule for rule, concerned in found.rules.items() if not concerned]
        rest = soft("The pod wants nothing that these rules look at: ", joined(map(named, idle)), ".") if idle else ""
        huge = [named(rule_name(rule)) for rule in overwhelming(found)]
        hidden = soft("Bars of scores leave out ", joined(huge), ", as all nodes have the same by it and it would hide the others.")
        yield section("Nodes by rules", matrix(found).html(), hidden if huge else "", rest, lead=lead)
    if found.nodes and result.cluster is not None:
        yield section("The nodes", _map(result, result.cluster).html(), list_html(view.table("nodes")), name="all-nodes")


def _reached(document: ExplanationDocument) -> list[Text]:
    if document.counts.visited == document.counts.nodes:
        return []
    looked, every = counted(document, "counts.visited"), counted(document, "counts.nodes")
    return [soft("The search looked at ", looked, " of ", every, " nodes and had found enough then.")]


def _choice(document: ExplanationDocument, view: View) -> Iterator[Text]:
    """What decided among the nodes that fit."""
    choice, host = document.choice, document.host or ""
    if choice is None:
        return
    best = counted(document, "choice.best")
    if len(choice.ties) > 1:
        who = joined(map(named, choice.ties[:SHOWN]))
        more = ", and others" if len(choice.ties) > SHOWN else ""
        yield paragraph("These nodes share the best total, ", best, ": ", who, more, ". Of these, ", named(choice.tie_break), ".")
    else:
        yield paragraph(named(host), " has the best total, ", best, ".")
    if choice.leads:
        yield short_table(view.table("leads"), f"{host} beside {choice.against}")
    if choice.constant:
        same = ", ".join(map(rule_name, choice.constant))
        yield soft("These rules give every node the same score, so they decide nothing: ", named(same), ".")


def _eviction(document: ExplanationDocument, eviction: EvictionOutcome) -> Iterator[Text]:
    """What evicting pods would do."""
    if eviction.node is not None:
        yield paragraph("It would make room on ", named(eviction.node), " and evict:")
        yield _victims("eviction.victims", eviction.victims)
        if eviction.budget_violations:
            yield soft("Protected by a PodDisruptionBudget: ", counted(document, "eviction.budgetViolations"), ".")
        if eviction.candidates > 1:
            yield soft("Evictions would make room on ", counted(document, "eviction.candidates"), " nodes; there it matters least.")
    elif eviction.why_not != NO_HELP:
        yield paragraph("No pod is evicted for it: ", named(eviction.why_not or ""), ".")
    else:
        priority = counted(document, "eviction.priority")
        places = {"eviction.unresolvable": STAYS, "eviction.nobodyLower": NONE_LOWER, "eviction.notEnough": NOT_ENOUGH}
        yield paragraph("Evicting pods of a lower priority than its own, ", priority, ", would not help:")
        yield bullets(sentence(counted(document, at), " nodes: ", why) for at, why in places.items() if value_at(document, at))


def _victims(path: str, victims: tuple[Victim, ...]) -> Markup:
    return bullets(
        sentence(named(victim.pod), ", priority ", told(f"{path}.{at}.priority", number(victim.priority)))
        for at, victim in enumerate(victims[:SHOWN])
    )


def _map(result: ExplainResult, cluster: ExplainedCluster) -> ClusterMap:
    """The nodes when the pod is decided, each with how it fares."""
    found = result.explanation
    reports = {node.name: node for node in found.nodes}
    names = [node.name for node in cluster.nodes]
    states = [state_of(found, reports[name]) if name in reports else "" for name in names]
    notes = ["; ".join(reports[name].reasons) if name in reports else "" for name in names]
    side = MapSide("", uses_of(cluster.room, names), cluster.pods, states, notes)
    colours = {state: colour for state, colour in STATES.items() if state in states}
    return ClusterMap("map", names, [side], labels_of(cluster.nodes), colours=colours)


# --- one node -------------------------------------------------------------------------------------------------------


def _close_lead(document: ExplanationDocument, close: CloseUp) -> Markup:
    cards = []
    if close.total is not None:
        what = "total score it would have" if close.would_score else "total score"
        cards.append(fact(counted(document, "closeUp.total"), what))
    if close.place is not None:
        cards.append(fact(counted(document, "closeUp.place"), "place among the nodes that fit", GOOD))
    cards.append(fact(counted(document, "closeUp.outOf"), "nodes scored"))
    return sentence(facts(*cards), *_workload(document), *_placed(document))


def _close_up(document: ExplanationDocument, view: View, close: CloseUp) -> Iterator[Section]:
    whole = [paragraph("Decided before any node was looked at: ", named(reason)) for reason in close.whole_pod]
    if close.verdicts or whole:
        rules = [card("", short_table(view.table("rules"), "Each rule in running order"))] if close.verdicts else []
        yield section("Each rule on this node", *whole, *rules, lead="In running order." if rules else "")
    if close.room:
        yield section("Room", card("", short_table(view.table("room"), "Room on the node")))
    if not close.fits and document.eviction is not None:
        yield section("Would evictions help?", _close_eviction(close, document.eviction), name="evictions")
    if close.leads:
        lead = f"Rule by rule, {close.node} beside {close.against}; below zero where {close.against} scores better."
        table = short_table(view.table("leads"), f"{close.node} beside {close.against}")
        yield section("Beside the other node", card("", table), lead=lead)
    if close.scores:
        lead = "What the node would score if it were among the nodes to choose from." if close.would_score else ""
        yield section("Scores", card("", short_table(view.table("scores"), "Scores of the node")), lead=lead)


def _close_eviction(close: CloseUp, eviction: EvictionOutcome) -> Text:
    """Who would have to leave the node."""
    if close.victims is None:
        why = close.no_room if eviction.why_not in (None, NO_HELP) else eviction.why_not
        return paragraph("Evicting pods makes no room on ", named(close.node), ": ", named(why or ""), ".")
    return card("It would fit if these pods left", _victims("closeUp.victims", close.victims))
