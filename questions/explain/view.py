"""The view of an explanation: the verdict, sentences, and tables of nodes and reasons; or all about one
node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api.record import UNSET
from ...api.view import (
    Amount,
    Column,
    Matrix,
    MatrixLine,
    RuleScore,
    Section,
    Table,
    block,
    columns_of,
    on_page,
)
from ...api.words import count_of, listed, quoted, rounded, short_name
from ...core.decision import Decision
from ...simulation.explain.values import (
    NO_HELP,
    NONE_LOWER,
    NOT_ENOUGH,
    STAYS,
    CloseUp,
    EvictionOutcome,
    Explanation,
    ExplanationDocument,
    HostChoice,
    NodeReport,
    NodeScore,
)
from ...simulation.reasons import about
from ..asking import phrase_among
from .closeup import (
    BEST,
    CHOSEN,
    FITS,
    MOST_CAUSES,
    NEAREST,
    NOT_REACHED,
    SHOWN,
    STATES,
    TURNED_DOWN,
    Part,
    device_part,
    lead_sentences,
    lead_text,
    leads_table,
    paragraphs,
    rule_name,
    score_cell,
    short_of,
)

# --- the verdict --------------------------------------------------------------------------------------------


def verdict(document: ExplanationDocument) -> str:
    """The pod's node and what decided, or the reasons against the nodes; in a close-up, whether the pod fits
    on that node."""
    if document.close_up is not None:
        return _node_verdict(document, document.close_up)
    pod = document.pod
    waiting = len(document.workload_waiting or ())
    if document.ignored is not None:
        return f"{pod} is not scheduled: {document.ignored}."
    if document.gated:
        return f"{pod} is gated and not tried."
    start = pod
    if waiting:
        count = len(document.workload_pods)
        start = f"{count - waiting:,} of {count:,} pods find a node; {pod}"
    start = start if document.placed_on is None else f"{start}, which is on {document.placed_on},"
    if document.host is None and document.eviction is not None and document.eviction.node is not None:
        leave = len(document.eviction.victims)
        return f"{start} makes room on {document.eviction.node}: {count_of(leave, 'pod has', 'pods have')} to leave."
    if document.host is None and document.missing:
        return f"{start} finds no node. {document.missing[0]}"
    if document.host is None:
        # The reasons against the nodes.
        nodes = dict[str, set[str]]()
        for group in document.reasons:
            nodes.setdefault(about(group.reason), set()).update(group.nodes)
        pieces = [
            f"{phrase_among(what, 1, nodes)} on {count_of(len(names), 'node')}"
            for what, names in nodes.items()
        ]
        reason = f": {document.error.rstrip('.')}" if document.error else ""
        if pieces:
            rest = [f"{len(pieces) - SHOWN:,} other reasons"] if len(pieces) > SHOWN + 1 else pieces[SHOWN:]
            reason = f": stopped by {', '.join([*pieces[:SHOWN], *rest])}"
        return f"{start} finds no node{reason}."
    if document.placed_on == document.host:
        return f"{start} would stay there{_choice_clause(document)}."
    return f"{start}{' would go to ' if document.placed_on else ' goes to '}{document.host}{_choice_clause(document)}{until(document)}."


def _node_verdict(document: ExplanationDocument, close: CloseUp) -> str:
    """Whether the pod fits on the node that was asked for, and why it does not go there."""
    pod = document.pod
    node = close.node
    host = document.host
    if host == close.node:
        return f"{pod} fits on {node}, and goes there{until(document)}."
    if not close.fits:
        failing = (rule.reasons for rule in close.verdicts if rule.outcome == "fails")
        reasons = dict.fromkeys([*close.whole_pod, *(reason for texts in failing for reason in texts)])
        why = f": {'; '.join(reasons)}" if reasons else ""
        return f"{pod} does not fit on {node}{why}{(f', so it goes to {host}' if host else '')}."
    if host is None:
        return f"{pod} fits on {node}."
    worse = [lead.rule for lead in close.leads if lead.ahead < 0]
    why = ": both score the same, and the tie-break takes that one"
    if close.would_score:
        why = ": the search had found enough nodes before it came here"
    elif worse:
        why = f", which scores better by {', '.join([rule_name(rule) for rule in worse[-SHOWN:][::-1]])}"
    return f"{pod} fits on {node}, but goes to {host}{why}."


def _choice_clause(document: ExplanationDocument) -> str:
    """The reason for this node."""
    choice = document.choice
    counts = document.counts
    if choice is None:
        if counts.fit != 1 or counts.visited <= 1:
            return ", which is taken without scoring"
        return f", the only one of {count_of(counts.visited, 'node')} that fits"
    fit = f"{counts.fit:,}"
    ties = len(choice.ties)
    if ties == counts.fit == 2:
        return ": both nodes that fit have the same score, and the tie-break takes it"
    if ties == counts.fit:
        return f": all {fit} nodes that fit have the same score, and the tie-break takes it"
    if ties > 1:
        number = f"{ties:,}"
        return f": {number} of {fit} nodes that fit share the best score, and the tie-break takes it"
    return (
        f", the best of {fit} nodes that fit{(f', by {rule_name(choice.decided)}' if choice.decided else '')}"
    )


# --- text ---------------------------------------------------------------------------------------------------


def explanation_sections(explanation: Explanation, every: bool) -> Iterator[Section]:
    """The whole explanation without the list of nodes; with *every* text has all nodes, not only the best and
    the nearest ones."""
    answer = explanation.answer
    choice = answer.choice
    host = answer.host or ""
    evictions = list(eviction_lines(answer.eviction))
    reasons = [reasons_table(answer)] if answer.reasons else []
    notes = "" if any(cause.note for cause in answer.causes) else "none"
    columns = f"what fails | name; nodes | count; in the cluster | name | {notes}"
    rows = [[cause.words, cause.nodes, cause.note or None] for cause in answer.causes]
    causes = Table("causes", columns, rows, forms="page", caption="What fails")
    head = [where_to(answer), *subject_lines(answer)]
    yield block(*paragraphs(head), *message_parts(explanation.decision), *paragraphs(answer.missing))
    if not answer.missing:
        shown = rows if every else rows[:MOST_CAUSES]
        note = ""
        if len(shown) < len(rows):
            note = f"(the first {len(shown):,} of {len(rows):,}; --all shows every one)"
        devices = next((node for node in answer.nodes if node.devices and answer.host is None), None)
        parts: list[Part] = [
            paragraphs(_choice_sentences(explanation)),
            _fitting_nodes(answer, every),
            [
                *reasons,
                *paragraphs(["(nodes: with this reason; only this: with no other)"] if reasons else []),
            ],
            [attrs.evolve(causes, rows=shown, forms="text", caption=""), *paragraphs([note])]
            if shown
            else [],
            _nearest_nodes(answer, every),
            [] if devices is None else device_part(devices.name, devices.devices or ()),
            paragraphs(evictions),
        ]
        yield from (block(*part) for part in parts if part)
    if choice is not None:
        constant_rules = ", ".join(map(rule_name, choice.constant))
        constant = (
            f"These rules give every node the same score, so they decide nothing: {constant_rules}."
            if constant_rules
            else ""
        )
        leads = leads_table(choice.leads, host, choice.against or "")
        yield Section(
            "What decided",
            [*on_page(choice_sentence(host, choice), look=""), leads, *on_page(constant, *reached(answer))],
        )
    if reasons:
        lead = "A node can have several reasons. Only this: nodes that have no other."
        tables = [*reasons, causes]
        yield Section("Reasons against nodes", tables, lead, forms="page")
    elif answer.error:
        yield Section("Why it has no node", on_page(answer.error, look="note"))
    yield Section("What is missing", on_page(*answer.missing, look=""))
    yield Section("Would evictions help?", on_page(*evictions, look=""), name="evictions")
    if answer.rules and answer.nodes:
        lead = "✓ passed, ✗ rejected, · not asked. Nodes with the same results share a line; the rule that decides is marked."
        idle = ", ".join(rule.rule for rule in answer.rules if not rule.concerned)
        rest = f"These rules do not apply to the pod: {idle}." if idle else ""
        yield Section("Nodes by rules", [matrix(explanation), *on_page(rest)], lead)


def where_to(document: ExplanationDocument) -> str:
    """The pod, and the node that it gets or on which it makes room."""
    room = f"makes room on {document.room}" if document.room else "<none>"
    return f"{document.pod}: {document.host or room}{until(document)}"


def until(document: ExplanationDocument) -> str:
    """The pod that takes its place later, if one does."""
    return f", until {document.evicted_by} preempts it" if document.evicted_by else ""


def message_parts(decision: Decision) -> Part:
    """The scheduler's message; short text leaves out PostFilter's part, as evictions have sentences of their
    own."""
    error = decision.error or ""
    fit_error = decision.fit_error
    if fit_error is None or fit_error.headline == error:
        return paragraphs([error])
    return [*paragraphs([fit_error.headline], "table"), *paragraphs([error], "wide")]


def subject_lines(document: ExplanationDocument) -> Iterator[str]:
    """The pod, and the way it was decided."""
    host = document.host
    choice = document.choice
    node = document.placed_on
    if document.workload is not None:
        yield of_workload(document)
    if document.gated:
        yield "It is gated, so it is not tried."
    if document.ignored is not None:
        yield document.not_scheduled
    elif node is not None:
        yield f"It is on {node}. Below is what would be decided now if it had no node, with the pod itself taken off {node}."
        report = document.report_of(node)
        others = document.elsewhere
        if report is None:
            yield f"Node {node} is not in the input." if document.nodes else ""
        elif host == node:
            yield "It would stay there."
        elif not report.fits:
            yield f"Its node would reject it now: {'; '.join(report.reasons)}."
        elif choice is not None and node in choice.ties:
            yield f"Its node is as good as {host}: both have the best total, {choice.best:,}."
        elif report.total is None or choice is None:
            yield f"It would go to {host}; the search did not reach its own node, which would fit too."
        else:
            yield f"It would go to {host} now, whose total is {choice.best:,}; its own node has {report.total:,}."
        if others:
            yield f"It could be on {count_of(len(others), 'other node')}: {listed(others)}."
        elif document.nodes:
            yield "It fits on no other node."


def of_workload(document: ExplanationDocument) -> str:
    """The pod's place in its workload, and how many of its pods find a node."""
    name = quoted(document.pod.partition("/")[2])
    count = len(document.workload_pods)
    waiting = document.workload_waiting or ()
    nodes = document.waiting_nodes or ()
    if waiting:
        which = "waits" if len(waiting) == 1 else "is the first without a node"
        rest = f"; the pods for {listed(nodes, len(nodes))} wait" if len(nodes) > 1 else ""
        return f"{count - len(waiting):,} of {count_of(count, 'pod')} of {document.workload} find a node; {name} {which}{rest}."
    others = f"; {name} stands for {count_of(count, 'pod')}" if count > 1 else ""
    return f"A pod of {document.workload}{others}."


def _choice_sentences(explanation: Explanation) -> Iterator[str]:
    """The reason for the host, or how near the pod is to one."""
    answer = explanation.answer
    host = answer.host
    counts = answer.counts
    choice = answer.choice
    if not answer.nodes:
        return
    if host is None:
        nearest = answer.nodes[0]
        if not nearest.fits and explanation.decision.is_fit_error:
            obstacles = f"; {count_of(nearest.obstacles, 'reason')} in all" if nearest.obstacles > 1 else ""
            lacking = f": {'; '.join(nearest.causes or nearest.reasons)}"
            if nearest.shortages:
                lacking = f", short of {'; '.join(map(short_of, nearest.shortages))}"
            yield f"No node fits. The nearest is {nearest.name}{lacking}{obstacles}."
    elif (
        choice is None
        and counts.fit == counts.visited
        and explanation.decision.pod.status.nominated_node_name == host
    ):
        yield f"The pod waited for {host}, which was tried first; it fits, so no other node is evaluated."
    elif choice is None:
        yield f"Of {count_of(counts.visited, 'node')} only {host} fits, so it is taken without scoring."
    else:
        yield f"{counts.fit:,} of {count_of(counts.visited, 'node')} fit. {choice_sentence(host, choice)}"
        if choice.against is not None and choice.decided is not None:
            first_lead, *more = choice.leads
            yield f"What decided: {lead_text(first_lead, f' of {choice.max_score}')} on {choice.against}, the next best."
            yield " ".join(filter(None, lead_sentences(more, f"Also for {host}", "Against it")))
    yield from reached(answer)


def reached(document: ExplanationDocument) -> Iterator[str]:
    """The reach of the search, where it did not look at every node."""
    counts = document.counts
    if counts.visited < counts.nodes and document.choice is not None:
        more = sum(node.fits and not node.visited for node in document.nodes)
        looked = f"The search stopped after {counts.visited:,} of {count_of(counts.nodes, 'node')}, when it had found enough"
        yield f"{looked}; of the others {more:,} would fit too."


def choice_sentence(host: str, choice: HostChoice) -> str:
    if len(choice.ties) == 1:
        return f"{host} has the best total, {choice.best:,}."
    of_these = f"of these, {choice.tie_break}"
    if choice.against is None:
        return f"All have the same total, {choice.best:,}, so no rule decides; {of_these}."
    return f"{len(choice.ties):,} share the best total, {choice.best:,} ({listed(choice.ties)}); {of_these}."


def eviction_lines(eviction: EvictionOutcome | None) -> Iterator[str]:
    """The effect of evicting pods."""
    if eviction is None:
        return
    if eviction.node is not None:
        victims = [f"{victim.pod} (priority {victim.priority:,})" for victim in eviction.victims]
        budgets = f"; {count_of(eviction.budget_violations, 'of them is', 'of them are')} protected by a PodDisruptionBudget"
        who = listed(victims, 10) if victims else "no pod"
        yield f"It would preempt on {eviction.node} and evict {who}{budgets if eviction.budget_violations else ''}."
        if eviction.candidates > 1:
            yield f"Evicting pods would make room on {count_of(eviction.candidates, 'node')}; on {eviction.node} it matters least."
    elif eviction.why_not != NO_HELP:
        yield f"No pod is evicted for it: {eviction.why_not}."
    else:
        yield f"Evicting pods of a lower priority than its own, {eviction.priority:,}, would not help:"
        counts = {
            STAYS: eviction.unresolvable,
            NONE_LOWER: eviction.nobody_lower,
            NOT_ENOUGH: eviction.not_enough,
        }
        yield from (f"  {count_of(number, 'node')}: {reason}" for reason, number in counts.items() if number)


# --- tables of text -----------------------------------------------------------------------------------------


def _fitting_nodes(document: ExplanationDocument, every: bool) -> Part:
    """The best nodes that fit, with their scores."""
    scored = [node for node in document.nodes if node.total is not None]
    choice = document.choice
    if not scored:
        return []
    shown = scored if every else scored[:BEST]
    constant = {} if choice is None else choice.constant
    decisive = () if choice is None else [lead.rule for lead in choice.leads]
    rows = [
        [node.name, node.total, _scores(node, decisive, constant), _scores(node, decisive, {}, score_cell)]
        for node in shown
    ]
    short, wide = (
        form if any(row[at] for row in rows) else "none" for at, form in ((2, "table"), (3, "wide"))
    )
    kind, scaled = ("priority", "reduced") if document.plugins is UNSET else ("plugin", "normalized")
    note = f"(each {kind}: raw -> {scaled} x weight)"
    more = (
        [f"({len(shown):,} of {count_of(len(scored), 'node')}; --all shows every one)"]
        if len(shown) < len(scored)
        else []
    )
    texts = ", ".join(f"{rule_name(rule)} {_weighed_score(score)}" for rule, score in constant.items())
    constant_note = ""
    if constant:
        constant_note = f"(the same on each node, {sum(score.total for score in constant.values()):,} of the total: {texts})"
    return [
        Table("fitting", f"node | name; total | count; scores || {short}; scores || {wide}", rows),
        *paragraphs([note], "wide"),
        *paragraphs([constant_note], "table"),
        *paragraphs(more),
    ]


def _weighed_score(score: NodeScore) -> str:
    return f"{score.reduced}" if score.weight == 1 else f"{score.reduced} x {score.weight}"


def _scores(
    node: NodeReport,
    leading: Sequence[str],
    constant: Mapping[str, NodeScore],
    cell: Callable[[NodeScore], str] = _weighed_score,
) -> str:
    """The node's scores without those in *constant*, first by the rules in *leading*."""
    rules = (rule for rule in dict.fromkeys([*leading, *node.scores]) if rule not in constant)
    return ", ".join(f"{rule_name(rule)} {cell(node.scores[rule])}" for rule in rules)


def _nearest_nodes(document: ExplanationDocument, every: bool) -> Part:
    """The nodes that are nearest to fitting."""
    others = [node for node in document.nodes if node.total is None and (every or not node.fits)]
    shown = others if every else others[:NEAREST]
    if not shown:
        return []
    rule, code = ("predicate", "none") if document.plugins is UNSET else ("plugin", "wide")
    fails = "text" if any(node.causes for node in shown) else "none"
    short = "text" if any(node.shortages for node in shown) else "none"
    table = f"""
        node | name
        {rule} | names | wide
        code || {code}
        reasons
        what fails || {fails}
        short of || {short}
    """
    rows = []
    for node in shown:
        hidden = [
            reason for objection in node.objections for reason in objection.reasons if not objection.counted
        ]
        reasons = "; ".join(node.reasons) + (
            f" (and, not checked any more: {'; '.join(hidden)})" if hidden else ""
        )
        if node.fits:
            reasons = "fits, but the search found enough nodes before it reached this one"
            if node.visited:
                reasons = "fits"
        elif not node.visited:
            reasons = f"{reasons} (not reached by the search)"
        lacks = "; ".join(map(short_of, node.shortages))
        rows.append([node.name, node.rules, node.code or None, reasons, "; ".join(node.causes), lacks])
    note = ""
    if len(shown) < len(others):
        note = f"(the nearest {len(shown):,} of {count_of(len(others), 'node')}; --all shows every one)"
    return [Table("nearest", table, rows), *paragraphs([note])]


def reasons_table(document: ExplanationDocument) -> Table:
    """The reasons against nodes: each with its nodes, and the node that is nearest to it."""
    groups = document.reasons
    most = max((group.count for group in groups), default=1)
    table = f"""
        reason | name
        nodes | count
        | bar | bad
        only this | count
        nearest | name
        short of | amount | {"text" if any(group.least_short for group in groups) else "none"}
        short of || page
        can evictions help || page
        {"predicate" if document.plugins is UNSET else "plugin"} | name
    """
    rows = []
    for group in groups:
        least = group.least_short
        nearest = group.nodes[0]
        short = None
        words = None
        if least is not None:
            nearest = least.node
            name = least.resource
            short = Amount(least.resource, least.missing)
            missing, asked, free = (
                str(rounded(name, number)) for number in (least.missing, least.asked, least.free)
            )
            words = f"{missing}{' cores ' if name == 'cpu' else f' {short_name(name)} '}(needs {asked}, free {free})"
        helps = "yes" if group.evictable else "no"
        rules = ", ".join(group.rules)
        rows.append(
            [group.reason, group.count, group.count / most, group.alone, nearest, short, words, helps, rules]
        )
    return Table("reasons", table, rows)


# --- nodes by rules -----------------------------------------------------------------------------------------


MANY = 100
"""The multiple of a rule's highest score above which a constant score is left out of bars, as it would hide
the others."""


def matrix(explanation: Explanation) -> Matrix:
    """The scored nodes one by one, and the others in groups with equal results."""
    answer = explanation.answer
    nodes = answer.nodes
    choice = answer.choice
    groups = dict[Any, list[int]]()
    for at, node in enumerate(nodes):
        alike = (
            node.fits,
            node.visited,
            tuple((objection.rule, objection.reasons) for objection in node.objections if objection.counted),
        )
        groups.setdefault(alike if node.total is None else at, []).append(at)
    hidden = (
        []
        if choice is None
        else [rule for rule, score in choice.constant.items() if score.total > MANY * choice.max_score]
    )
    lines = []
    for places in groups.values():
        node = nodes[places[0]]
        others = len(places) - 1
        failed = {
            objection.rule: "; ".join(objection.reasons) for objection in node.objections if objection.counted
        }
        passed = [rule.rule for rule in answer.rules] if node.visited and (failed or not node.reasons) else []
        if failed and not explanation.asks_all:
            passed = passed[: min((passed.index(rule) for rule in failed if rule in passed), default=None)]
        lines.append(
            MatrixLine(
                node=node.name if not others else f"{node.name} and {count_of(others, 'other')}",
                failed=failed,
                passed=[rule for rule in passed if rule not in failed],
                state="not reached"
                if not node.visited
                else ""
                if node.fits or node.objections
                else "left out",
                scores=[
                    RuleScore(rule_name(rule), score.reduced, score.weight)
                    for rule, score in node.scores.items()
                    if rule not in hidden
                ],
                total=node.total,
                winner=node.name == answer.host,
            )
        )
    lines.sort(key=lambda line: (not line.winner, line.total is None))
    if choice is not None:
        deciding = "" if choice.decided is None else rule_name(choice.decided)
    else:
        rules = answer.reasons[0].rules if answer.host is None and answer.reasons else ()
        deciding = rules[0] if rules else ""
    return Matrix([rule.rule for rule in answer.rules if rule.concerned], lines, deciding)


# --- every node ---------------------------------------------------------------------------------------------


def node_list(document: ExplanationDocument) -> list[Table]:
    """Every node, the best first, then the nearest to fitting: for a page and as data; for CSV with a
    close-up that node alone."""
    csv_nodes = [
        node for node in document.nodes if document.close_up is None or node.name == document.close_up.node
    ]
    return [_node_table(document, document.nodes, "page data"), _node_table(document, csv_nodes, "csv")]


def _node_table(document: ExplanationDocument, nodes: Sequence[NodeReport], forms: str) -> Table:
    details = []
    rules = list(dict.fromkeys(rule for node in document.nodes for rule in node.scores))
    rules_field = "predicates" if document.plugins is UNSET else "plugins"
    table = columns_of(
        f"""
        node | name
        state | tag | filter page
        fits || data csv
        visited || csv
        total | count
        turned down by | names | filter page
        {rules_field} || csv
        reasons || page
        reasons || data csv
        what fails || page
        causes || data csv
        short of || page
        missing || data
        obstacles | count | page csv
        short || csv
        """,
        STATES,
    )
    table += [Column(rule, "count", forms="data csv") for rule in rules]
    rows = []
    for node in nodes:
        lacks = node.shortages
        rows.append(
            [
                node.name,
                state_of(document, node),
                node.fits,
                node.visited,
                node.total,
                list(node.rules),
                node.rules,
                "; ".join(node.reasons) or None,
                node.reasons,
                "; ".join(node.causes) or None,
                node.causes,
                "; ".join(map(short_of, lacks)) or None,
                ", ".join(f"{lack.resource} {lack.missing}" for lack in lacks),
                None if node.fits and "page" in forms else node.obstacles,
                tuple(f"{lack.resource}={lack.missing}" for lack in lacks),
                *(node.scores[rule].total if rule in node.scores else None for rule in rules),
            ]
        )
        scores = [
            [rule_name(rule), f"{score.total:,} ({score_cell(score)}: raw, score, weight)"]
            for rule, score in node.scores.items()
        ]
        against = [
            [
                objection.rule,
                "; ".join(objection.reasons) + ("" if objection.counted else " (not asked any more)"),
            ]
            for objection in node.objections
        ]
        details.append([*scores, *against])
    shown = [detail or None for detail in details] if "page" in forms and any(details) else None
    return Table("nodes", table, rows, noun="node", details=shown, forms=forms)


def state_of(document: ExplanationDocument, node: NodeReport) -> str:
    """The state of the node, in a word or two."""
    if node.name == document.host:
        return CHOSEN
    if node.fits:
        return FITS if node.visited else NOT_REACHED
    return TURNED_DOWN
