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
from ...simulation.reasons import about, phrase
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
    lead_told,
    leads_table,
    leads_told,
    paragraphs,
    rule_name,
    score_cell,
    short_of,
)

# --- the verdict --------------------------------------------------------------------------------------------


def verdict(found: ExplanationDocument) -> str:
    """The pod's node and what decided, or the reasons against the nodes; of one node, whether the pod fits
    there."""
    if found.close_up is not None:
        return _on_node(found, found.close_up)
    pod = found.pod
    lost = len(found.workload_waiting or ())
    if found.ignored is not None:
        return f"{pod} is not scheduled: {found.ignored}."
    if found.gated:
        return f"{pod} is gated and not tried."
    start = pod
    if lost:
        count = len(found.workload_pods)
        start = f"{count - lost:,} of {count:,} pods find a node; {pod}"
    start = start if found.placed_on is None else f"{start}, which is on {found.placed_on},"
    if found.host is None and found.eviction is not None and found.eviction.node is not None:
        leave = len(found.eviction.victims)
        return f"{start} makes room on {found.eviction.node}: {count_of(leave, 'pod has', 'pods have')} to leave."
    if found.host is None and found.missing:
        return f"{start} finds no node. {found.missing[0]}"
    if found.host is None:
        # The reasons against the nodes.
        nodes = dict[str, set[str]]()
        for group in found.reasons:
            nodes.setdefault(phrase(about(group.reason), 1), set()).update(group.nodes)
        pieces = [f"{what} on {count_of(len(names), 'node')}" for what, names in nodes.items()]
        why = f": {found.error.rstrip('.')}" if found.error else ""
        if pieces:
            rest = [f"{len(pieces) - SHOWN:,} other reasons"] if len(pieces) > SHOWN + 1 else pieces[SHOWN:]
            why = f": stopped by {', '.join([*pieces[:SHOWN], *rest])}"
        return f"{start} finds no node{why}."
    if found.placed_on == found.host:
        return f"{start} would stay there{_because(found)}."
    return f"{start}{' would go to ' if found.placed_on else ' goes to '}{found.host}{_because(found)}{until(found)}."


def _on_node(found: ExplanationDocument, close: CloseUp) -> str:
    """Whether the pod fits on the node that was asked for, and why it does not go there."""
    pod = found.pod
    node = close.node
    host = found.host
    if host == close.node:
        return f"{pod} fits on {node}, and goes there{until(found)}."
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


def _because(found: ExplanationDocument) -> str:
    """The reason for this node."""
    choice = found.choice
    counts = found.counts
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


def explanation_sections(found: Explanation, every: bool) -> Iterator[Section]:
    """The whole explanation without the list of nodes; with *every* text has all nodes, not only the best and
    the nearest ones."""
    answer = found.answer
    choice = answer.choice
    host = answer.host or ""
    evictions = list(eviction_lines(answer.eviction))
    reasons = [reasons_table(answer)] if answer.reasons else []
    notes = "" if any(cause.note for cause in answer.causes) else "none"
    columns = f"what fails | name; nodes | count; in the cluster | name | {notes}"
    rows = [[cause.words, cause.nodes, cause.note or None] for cause in answer.causes]
    causes = Table("causes", columns, rows, forms="page", caption="What fails")
    head = [where_to(answer), *subject_lines(answer)]
    yield block(*paragraphs(head), *message_parts(found.decision), *paragraphs(answer.missing))
    if not answer.missing:
        first = rows if every else rows[:MOST_CAUSES]
        told = ""
        if len(first) < len(rows):
            told = f"(the first {len(first):,} of {len(rows):,}; --all shows every one)"
        devices = next((node for node in answer.nodes if node.devices and answer.host is None), None)
        parts: list[Part] = [
            paragraphs(_why(found)),
            _fitting(answer, every),
            [
                *reasons,
                *paragraphs(["(nodes: with this reason; only this: with no other)"] if reasons else []),
            ],
            [attrs.evolve(causes, rows=first, forms="text", caption=""), *paragraphs([told])]
            if first
            else [],
            _nearest(answer, every),
            [] if devices is None else device_part(devices.name, devices.devices or ()),
            paragraphs(evictions),
        ]
        yield from (block(*part) for part in parts if part)
    if choice is not None:
        same = ", ".join(map(rule_name, choice.constant))
        constant = (
            f"These rules give every node the same score, so they decide nothing: {same}." if same else ""
        )
        leads = leads_table(choice.leads, host, choice.against or "")
        yield Section(
            "What decided",
            [*on_page(best_told(host, choice), look=""), leads, *on_page(constant, *reached(answer))],
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
        idle = ", ".join(one.rule for one in answer.rules if not one.concerned)
        rest = f"These rules do not apply to the pod: {idle}." if idle else ""
        yield Section("Nodes by rules", [matrix(found), *on_page(rest)], lead)


def where_to(found: ExplanationDocument) -> str:
    """The pod, and the node that it gets or on which it makes room."""
    room = f"makes room on {found.room}" if found.room else "<none>"
    return f"{found.pod}: {found.host or room}{until(found)}"


def until(found: ExplanationDocument) -> str:
    """The pod that takes its place later, if one does."""
    return f", until {found.evicted_by} preempts it" if found.evicted_by else ""


def message_parts(decision: Decision) -> Part:
    """The scheduler's message; short text leaves out what PostFilter said, as evictions have sentences of
    their own."""
    error = decision.error or ""
    found = decision.fit_error
    if found is None or found.headline == error:
        return paragraphs([error])
    return [*paragraphs([found.headline], "table"), *paragraphs([error], "wide")]


def subject_lines(found: ExplanationDocument) -> Iterator[str]:
    """The pod, and the way it was decided."""
    host = found.host
    choice = found.choice
    node = found.placed_on
    if found.workload is not None:
        yield of_workload(found)
    if found.gated:
        yield "It is gated, so it is not tried."
    if found.ignored is not None:
        yield found.not_scheduled
    elif node is not None:
        yield f"It is on {node}. Below is what would be decided now if it had no node, with the pod itself taken off {node}."
        report = found.report_of(node)
        others = found.elsewhere
        if report is None:
            yield f"Node {node} is not in the input." if found.nodes else ""
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
        elif found.nodes:
            yield "It fits on no other node."


def of_workload(found: ExplanationDocument) -> str:
    """The pod's place in its workload, and how many of its pods find a node."""
    name = quoted(found.pod.partition("/")[2])
    count = len(found.workload_pods)
    waiting = found.workload_waiting or ()
    nodes = found.waiting_nodes or ()
    if waiting:
        which = "waits" if len(waiting) == 1 else "is the first without a node"
        those = f"; the pods for {listed(nodes, len(nodes))} wait" if len(nodes) > 1 else ""
        return f"{count - len(waiting):,} of {count_of(count, 'pod')} of {found.workload} find a node; {name} {which}{those}."
    others = f"; {name} stands for {count_of(count, 'pod')}" if count > 1 else ""
    return f"A pod of {found.workload}{others}."


def _why(found: Explanation) -> Iterator[str]:
    """The reason for the host, or how near the pod is to one."""
    answer = found.answer
    host = answer.host
    counts = answer.counts
    choice = answer.choice
    if not answer.nodes:
        return
    if host is None:
        near = answer.nodes[0]
        if not near.fits and found.decision.is_fit_error:
            obstacles = f"; {count_of(near.obstacles, 'reason')} in all" if near.obstacles > 1 else ""
            lacking = f": {'; '.join(near.causes or near.reasons)}"
            if near.shortages:
                lacking = f", short of {'; '.join(map(short_of, near.shortages))}"
            yield f"No node fits. The nearest is {near.name}{lacking}{obstacles}."
    elif (
        choice is None
        and counts.fit == counts.visited
        and found.decision.pod.status.nominated_node_name == host
    ):
        yield f"The pod waited for {host}, which was tried first; it fits, so no other node is evaluated."
    elif choice is None:
        yield f"Of {count_of(counts.visited, 'node')} only {host} fits, so it is taken without scoring."
    else:
        yield f"{counts.fit:,} of {count_of(counts.visited, 'node')} fit. {best_told(host, choice)}"
        if choice.against is not None and choice.decided is not None:
            first, *more = choice.leads
            yield f"What decided: {lead_told(first, f' of {choice.max_score}')} on {choice.against}, the next best."
            yield " ".join(filter(None, leads_told(more, f"Also for {host}", "Against it")))
    yield from reached(answer)


def reached(found: ExplanationDocument) -> Iterator[str]:
    """The reach of the search, where it did not look at every node."""
    counts = found.counts
    if counts.visited < counts.nodes and found.choice is not None:
        more = sum(node.fits and not node.visited for node in found.nodes)
        looked = f"The search stopped after {counts.visited:,} of {count_of(counts.nodes, 'node')}, when it had found enough"
        yield f"{looked}; of the others {more:,} would fit too."


def best_told(host: str, choice: HostChoice) -> str:
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
        told = [f"{victim.pod} (priority {victim.priority:,})" for victim in eviction.victims]
        budgets = f"; {count_of(eviction.budget_violations, 'of them is', 'of them are')} protected by a PodDisruptionBudget"
        who = listed(told, 10) if told else "no pod"
        yield f"It would preempt on {eviction.node} and evict {who}{budgets if eviction.budget_violations else ''}."
        if eviction.candidates > 1:
            yield f"Evicting pods would make room on {count_of(eviction.candidates, 'node')}; on {eviction.node} it matters least."
    elif eviction.why_not != NO_HELP:
        yield f"No pod is evicted for it: {eviction.why_not}."
    else:
        yield f"Evicting pods of a lower priority than its own, {eviction.priority:,}, would not help:"
        told_of = {
            STAYS: eviction.unresolvable,
            NONE_LOWER: eviction.nobody_lower,
            NOT_ENOUGH: eviction.not_enough,
        }
        yield from (f"  {count_of(number, 'node')}: {why}" for why, number in told_of.items() if number)


# --- tables of text -----------------------------------------------------------------------------------------


def _fitting(found: ExplanationDocument, every: bool) -> Part:
    """The best nodes that fit, with their scores."""
    scored = [node for node in found.nodes if node.total is not None]
    choice = found.choice
    if not scored:
        return []
    shown = scored if every else scored[:BEST]
    constant = {} if choice is None else choice.constant
    first = () if choice is None else [lead.rule for lead in choice.leads]
    rows = [
        [node.name, node.total, _scores(node, first, constant), _scores(node, first, {}, score_cell)]
        for node in shown
    ]
    short, wide = (
        form if any(row[at] for row in rows) else "none" for at, form in ((2, "table"), (3, "wide"))
    )
    kind, scaled = ("priority", "reduced") if found.plugins is UNSET else ("plugin", "normalized")
    note = f"(each {kind}: raw -> {scaled} x weight)"
    more = (
        [f"({len(shown):,} of {count_of(len(scored), 'node')}; --all shows every one)"]
        if len(shown) < len(scored)
        else []
    )
    told = ", ".join(f"{rule_name(rule)} {_weighed(score)}" for rule, score in constant.items())
    same = ""
    if constant:
        same = f"(the same on each node, {sum(score.total for score in constant.values()):,} of the total: {told})"
    return [
        Table("fitting", f"node | name; total | count; scores || {short}; scores || {wide}", rows),
        *paragraphs([note], "wide"),
        *paragraphs([same], "table"),
        *paragraphs(more),
    ]


def _weighed(score: NodeScore) -> str:
    return f"{score.reduced}" if score.weight == 1 else f"{score.reduced} x {score.weight}"


def _scores(
    node: NodeReport,
    first: Sequence[str],
    constant: Mapping[str, NodeScore],
    cell: Callable[[NodeScore], str] = _weighed,
) -> str:
    """The node's scores, those by the rules in *first* before others; without those in *constant*."""
    rules = (rule for rule in dict.fromkeys([*first, *node.scores]) if rule not in constant)
    return ", ".join(f"{rule_name(rule)} {cell(node.scores[rule])}" for rule in rules)


def _nearest(found: ExplanationDocument, every: bool) -> Part:
    """The nodes that are nearest to fitting."""
    others = [node for node in found.nodes if node.total is None and (every or not node.fits)]
    shown = others if every else others[:NEAREST]
    if not shown:
        return []
    rule, code = ("predicate", "none") if found.plugins is UNSET else ("plugin", "wide")
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
    told = ""
    if len(shown) < len(others):
        told = f"(the nearest {len(shown):,} of {count_of(len(others), 'node')}; --all shows every one)"
    return [Table("nearest", table, rows), *paragraphs([told])]


def reasons_table(found: ExplanationDocument) -> Table:
    """The reasons against nodes: each with its nodes, and the node that is nearest to it."""
    groups = found.reasons
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
        {"predicate" if found.plugins is UNSET else "plugin"} | name
    """
    rows = []
    for group in groups:
        least = group.least_short
        near = group.nodes[0]
        short = None
        words = None
        if least is not None:
            near = least.node
            name = least.resource
            short = Amount(least.resource, least.missing)
            missing, asked, free = (
                str(rounded(name, number)) for number in (least.missing, least.asked, least.free)
            )
            words = f"{missing}{' cores ' if name == 'cpu' else f' {short_name(name)} '}(needs {asked}, free {free})"
        helps = "yes" if group.evictable else "no"
        rules = ", ".join(group.rules)
        rows.append(
            [group.reason, group.count, group.count / most, group.alone, near, short, words, helps, rules]
        )
    return Table("reasons", table, rows)


# --- nodes by rules -----------------------------------------------------------------------------------------


MANY = 100
"""A score of that many times the highest one hides the others in a bar."""


def matrix(found: Explanation) -> Matrix:
    """The nodes that were scored one by one, and the others in groups that fare alike."""
    answer = found.answer
    nodes = answer.nodes
    choice = answer.choice
    groups = dict[Any, list[int]]()
    for at, node in enumerate(nodes):
        alike = (
            node.fits,
            node.visited,
            tuple((one.rule, one.reasons) for one in node.objections if one.counted),
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
        failed = {one.rule: "; ".join(one.reasons) for one in node.objections if one.counted}
        passed = [one.rule for one in answer.rules] if node.visited and (failed or not node.reasons) else []
        if failed and not found.asks_all:
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
                    RuleScore(rule_name(rule), one.reduced, one.weight)
                    for rule, one in node.scores.items()
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
        first = answer.reasons[0].rules if answer.host is None and answer.reasons else ()
        deciding = first[0] if first else ""
    return Matrix([one.rule for one in answer.rules if one.concerned], lines, deciding)


# --- every node ---------------------------------------------------------------------------------------------


def node_list(found: ExplanationDocument) -> list[Table]:
    """Every node, the best first, then the nearest to fitting: for a page and as data; for CSV with a
    close-up that node alone."""
    alone = [node for node in found.nodes if found.close_up is None or node.name == found.close_up.node]
    return [_node_table(found, found.nodes, "page data"), _node_table(found, alone, "csv")]


def _node_table(found: ExplanationDocument, nodes: Sequence[NodeReport], forms: str) -> Table:
    details = []
    rules = list(dict.fromkeys(rule for node in found.nodes for rule in node.scores))
    by = "predicates" if found.plugins is UNSET else "plugins"
    table = columns_of(
        f"""
        node | name
        state | tag | filter page
        fits || data csv
        visited || csv
        total | count
        turned down by | names | filter page
        {by} || csv
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
                state_of(found, node),
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
            [one.rule, "; ".join(one.reasons) + ("" if one.counted else " (not asked any more)")]
            for one in node.objections
        ]
        details.append([*scores, *against])
    shown = [each or None for each in details] if "page" in forms and any(details) else None
    return Table("nodes", table, rows, noun="node", details=shown, forms=forms)


def state_of(found: ExplanationDocument, node: NodeReport) -> str:
    """The state of the node, in a word or two."""
    if node.name == found.host:
        return CHOSEN
    if node.fits:
        return FITS if node.visited else NOT_REACHED
    return TURNED_DOWN
