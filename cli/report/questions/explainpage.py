"""The pages of ``explain``: where the pod goes, what decided, reasons against nodes, nodes by rules, evictions; all about one node; what
would help; and what two releases make of the pod.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from ....api.view import View
from ....questions.closeupview import eviction_here, rule_name
from ....questions.explain import ExplainedCluster, ExplainResult
from ....questions.explainview import STATES, best_told, eviction_lines, reached, state_of, subject_lines
from ....questions.whatif import GROUPS, WhatIfResult, helping, is_edit, outcome_of
from ....simulation.explain.explanation import Explanation, ExplanationDocument
from ....simulation.explain.values import CloseUp, EvictionOutcome, NodeReport, Victim
from ....simulation.whatif.context import Suggestion
from ..page.about import About
from ..page.clustermap import ClusterMap, MapSide
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, code, counted, element, joined, named, number, sentence, spoken
from ..page.matrix import Matrix, MatrixLine, RuleScore
from ..page.outcome import next_step
from ..page.parts import BAD, GOOD, SAME, Section, bullets, card, fact, facts, facts_of, note, paragraph, section, soft
from ..page.tables import list_html, short_table
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
    return list(_sections(found, document, view) if close is None else _close_up(found.explanation, view, close))


def explanation_lead(found: ExplainResult) -> Markup:
    """What stands right under the verdict."""
    document, close = found.document, found.explanation.close_up
    cards = _cards(document) if close is None else _close_cards(document, close)
    return sentence(facts(*cards) if cards else "", *map(soft, subject_lines(found.explanation)))


def _next(found: ExplainResult, about: About) -> list[Markup]:
    """What would help, where the pod has no node, or not the one that is asked about."""
    close, pod = found.explanation.close_up, found.decision.pod.key
    if found.host is not None and (close is None or close.node == found.host):
        return []
    words = ("--what-if",) if close is None else ("--want", close.node)
    return [next_step("What would help:", about.asking("explain", pod, *words))]


# --- the pod --------------------------------------------------------------------------------------------------------


def _cards(document: ExplanationDocument) -> list[Markup]:
    counts = document.counts
    cards = [one for one in CARDS if one[0] != "counts.visited" or counts.visited < counts.nodes]
    return facts_of(document, cards) if counts.nodes else []


def _sections(result: ExplainResult, document: ExplanationDocument, view: View) -> Iterator[Section]:
    found = result.explanation
    if document.choice is not None:
        yield section("What decided", card("", *_choice(document, view)), *map(soft, reached(found)))
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
        yield section("Nodes by rules", matrix(found).html(), rest, lead=lead)
    if found.nodes and result.cluster is not None:
        yield section("The nodes", _map(result, result.cluster).html(), list_html(view.table("nodes")), name="all-nodes")


def _choice(document: ExplanationDocument, view: View) -> Iterator[Text]:
    """What decided among the nodes that fit."""
    choice, host = document.choice, document.host or ""
    if choice is None:
        return
    yield paragraph(best_told(host, choice))
    if choice.leads:
        yield short_table(view.table("leads"), f"{host} beside {choice.against}")
    if choice.constant:
        same = ", ".join(map(rule_name, choice.constant))
        yield soft("These rules give every node the same score, so they decide nothing: ", named(same), ".")


def _eviction(document: ExplanationDocument, eviction: EvictionOutcome) -> Iterator[Text]:
    """What evicting pods would do."""
    if eviction.node is not None:
        yield paragraph("It would make room on ", named(eviction.node), " and evict:")
        yield _victims(eviction.victims)
        if eviction.budget_violations:
            yield soft("Protected by a PodDisruptionBudget: ", counted(document, "eviction.budgetViolations"), ".")
        if eviction.candidates > 1:
            yield soft("Evictions would make room on ", counted(document, "eviction.candidates"), " nodes; there it matters least.")
    else:
        first, *more = eviction_lines(eviction)
        yield paragraph(first)
        yield bullets(more) if more else ""


def _victims(victims: tuple[Victim, ...]) -> Markup:
    return bullets(sentence(named(victim.pod), ", priority ", number(victim.priority)) for victim in victims[:SHOWN])


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


def _close_cards(document: ExplanationDocument, close: CloseUp) -> list[Markup]:
    cards = []
    if close.total is not None:
        what = "total score it would have" if close.would_score else "total score"
        cards.append(fact(counted(document, "closeUp.total"), what))
    if close.place is not None:
        cards.append(fact(counted(document, "closeUp.place"), "place among the nodes that fit", GOOD))
    return [*cards, fact(counted(document, "closeUp.outOf"), "nodes scored")]


def _close_up(found: Explanation, view: View, close: CloseUp) -> Iterator[Section]:
    whole = [paragraph("Decided before any node was looked at: ", named(reason)) for reason in close.whole_pod]
    if close.verdicts or whole:
        rules = [card("", short_table(view.table("rules"), "Each rule in running order"))] if close.verdicts else []
        yield section("Each rule on this node", *whole, *rules, lead="In running order." if rules else "")
    if close.room:
        yield section("Room", card("", short_table(view.table("room"), "Room on the node")))
    if not close.fits and found.eviction is not None:
        yield section("Would evictions help?", _close_eviction(found, close), name="evictions")
    if close.leads:
        lead = f"Rule by rule, {close.node} beside {close.against}; below zero where {close.against} scores better."
        table = short_table(view.table("leads"), f"{close.node} beside {close.against}")
        yield section("Beside the other node", card("", table), lead=lead)
    if close.scores:
        lead = "What the node would score if it were among the nodes to choose from." if close.would_score else ""
        yield section("Scores", card("", short_table(view.table("scores"), "Scores of the node")), lead=lead)


def _close_eviction(found: Explanation, close: CloseUp) -> Text:
    """Who would have to leave the node."""
    if close.victims is None:
        return paragraph(*eviction_here(found, close))
    return card("It would fit if these pods left", _victims(close.victims))


# --- nodes by rules -------------------------------------------------------------------------------------------------


MANY = 100
"""A score of that many times the highest one hides the others in a bar."""


def matrix(found: Explanation) -> Matrix:
    """The nodes that were scored one by one, and the others in groups that fare alike."""
    columns = [rule for rule, concerned in found.rules.items() if concerned]
    groups: dict[Any, list[int]] = {}
    for at, node in enumerate(found.nodes):
        groups.setdefault(_fate(node, at), []).append(at)
    lines = [_line(found, places) for places in groups.values()]
    lines.sort(key=lambda line: (not line.winner, line.total is None))
    return Matrix("matrix", columns, lines, deciding=_deciding(found), title="Nodes by rules")


def _fate(node: NodeReport, at: int) -> Any:
    """What nodes on one line have in common."""
    if node.total is not None:
        return at
    counted = tuple((one.rule, one.reasons) for one in node.objections if one.counted)
    return (node.fits, node.visited, counted)


def _line(found: Explanation, places: list[int]) -> MatrixLine:
    node = found.nodes[places[0]]
    failed = {one.rule: "; ".join(one.reasons) for one in node.objections if one.counted}
    scores = [RuleScore(rule_name(rule), one.reduced, one.weight) for rule, one in node.scores.items() if rule not in overwhelming(found)]
    return MatrixLine(
        node=_names(found, places), failed=failed, passed=_passed(found, node, failed), state=_state(found, node),
        scores=scores, total=node.total, winner=node.name == found.decision.host,
    )  # fmt: skip


def overwhelming(found: Explanation) -> list[str]:
    """Rules that give every node the same score, so high that the others could not be seen beside it."""
    choice = found.choice
    return [] if choice is None else [rule for rule, score in choice.constant.items() if score.total > MANY * choice.max_score]


def _names(found: Explanation, places: list[int]) -> Markup:
    first = named(found.nodes[places[0]].name)
    if len(places) == 1:
        return first
    others = number(len(places) - 1)
    return sentence(first, " and ", others, " other" if len(places) == 2 else " others")


def _passed(found: Explanation, node: NodeReport, failed: dict[str, str]) -> frozenset[str]:
    """The rules that were asked and had nothing against the node."""
    if not node.visited or (node.reasons and not failed):
        return frozenset()
    passed: set[str] = set()
    for rule in found.rules:
        if rule not in failed:
            passed.add(rule)
        elif not found.asks_all:
            break
    return frozenset(passed)


def _state(found: Explanation, node: NodeReport) -> str:
    if not node.visited:
        return "not reached"
    return "" if node.fits or node.objections else "left out"


def _deciding(found: Explanation) -> str:
    """The scoring rule that decided; for a pod without a node, the filtering rule that turned down most."""
    if found.choice is not None:
        return rule_name(found.choice.decided) if found.choice.decided is not None else ""
    groups = found.groups
    return groups[0].rules[0] if found.decision.host is None and groups and groups[0].rules else ""


# --- what would help ------------------------------------------------------------------------------------------------


def whatif_html(found: WhatIfResult, about: About) -> str:
    """*found*, which has the explanation, as a page."""
    explained = found.explained
    if explained is None:
        raise ValueError("the pod was not explained")
    wanted = f" on {found.found.want}" if found.found.want else ""
    title = f"kubeclassic explain: {explained.decision.pod.key}{wanted}, what would help"
    sections = [*_helping(found), *explanation_sections(explained)]
    lead = explanation_lead(explained)
    return page_html(Page(title, _verdict(found, explained), about, sections, lead, steps=_next_of_changes(found, about)))


def _verdict(found: WhatIfResult, explained: ExplainResult) -> Markup:
    """Why, and how many changes help."""
    if found.fits or found.found.explanation.missing or not found.suggestions:
        return spoken(found.view().verdict)
    return sentence(spoken(explained.view().verdict), " ", counted(found.document, "suggestions.length"), helping(found.suggestions))


def _helping(found: WhatIfResult) -> Iterator[Section]:
    if found.fits or found.found.explanation.missing:
        return
    tried = counted(found.document, "tried")
    if not found.suggestions:
        yield section("What would help", note("No change helps, nor do two together: ", tried, " decisions were tried."))
        return
    cards, at = list[Markup](), 1
    for group, members in groupby(found.suggestions, key=lambda one: one.group):
        lines = list(members)
        cards.append(card(GROUPS[group].rstrip(":"), element("ol", *map(_change, lines), class_="helps", start=str(at))))
        at += len(lines)
    lead = "Those that disturb least first. Each was tried, as the cluster is when it is the pod's turn; one is enough."
    yield section("What would help", *cards, soft(tried, " decisions were tried."), lead=lead)


def _change(one: Suggestion) -> Markup:
    """One change: what it is, where the pod goes then, who has to leave, and how to try it."""
    change = element("b", named(f"{one.change[0].upper()}{one.change[1:]}"))
    how = (element("div", code(f"--set {shlex.quote(text)}") if is_edit(text) else named(text)) for text in one.patch)
    return element("li", change, ": then it gets ", spoken(outcome_of(one)), *how)


def _next_of_changes(found: WhatIfResult, about: About) -> list[Markup]:
    """How to try the first change on all pods."""
    first = next((one for one in found.suggestions if one.patch and all(map(is_edit, one.patch))), None)
    if first is None:
        return []
    edits = (word for text in first.patch for word in ("--set", text))
    return [next_step("See what the first change does to all pods:", about.asking("simulate", *edits))]
