"""An explanation for people: the decision, what decided it, and the reasons against the other nodes, the nearest to fitting first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ....api.words import amount, count_of, listed, rounded
from ....simulation.explain.choice import HostChoice, Lead
from ....simulation.explain.eviction import NO_HELP, NONE_LOWER, NOT_ENOUGH, STAYS, EvictionOutcome
from ....simulation.explain.explanation import Explanation
from ....simulation.explain.values import NodeReport, NodeScore, NodeShortage, ReasonGroup
from ..prose import wrapped
from ..tables import TextTable
from ..text import NO_HOST
from .devicelines import device_lines

NEAREST, BEST = 5, 5
"""How many nodes are shown that do not fit, and that do, unless all are asked for."""


def explanation_lines(found: Explanation, width: int | None, *, wide: bool = False, every: bool = False) -> Iterator[str]:
    """The whole explanation, in lines of at most *width* characters; *wide*: how scores come about; *every*: every node."""
    decision = found.decision
    yield f"{decision.pod.key}: {decision.host or NO_HOST}"
    yield from wrapped(_subject(found), width)
    if found.question.passed_over is not None:
        return
    yield from wrapped([decision.error or ""], width)
    for part in _parts(found, width, wide, every):
        lines = list(part)
        if lines:
            yield ""
            yield from lines


def _parts(found: Explanation, width: int | None, wide: bool, every: bool) -> Iterator[Iterator[str]]:
    yield wrapped(_why(found), width)
    yield _fitting(found, width, wide, every)
    yield _groups(found, width)
    yield _nearest(found, width, wide, every)
    yield _devices(found, width)
    yield wrapped(eviction_sentences(found.eviction), width)


# --- in sentences ---------------------------------------------------------------------------------------------------


def _subject(found: Explanation) -> Iterator[str]:
    """Which pod it is, and how it was decided."""
    question, pod = found.question, found.decision.pod
    if question.workload is not None:
        others = f"; {pod.name} stands for {count_of(len(question.workload_pods), 'pod')}" if len(question.workload_pods) > 1 else ""
        yield f"A pod of {question.workload}{others}."
    if found.decision.is_gated:
        yield "It is held back, so it is not tried."
    if question.passed_over is not None:
        yield f"Not scheduled: {question.passed_over}."
    elif question.placed_on is not None:
        yield (
            f"It is on {question.placed_on}. Below is what would be decided now if it had no node, with the pod itself taken off"
            f" {question.placed_on}."
        )
        yield _still_there(found, question.placed_on)
        yield _elsewhere(found)


def _still_there(found: Explanation, node: str) -> str:
    report, host, choice = found.report_of(node), found.decision.host, found.choice
    if report is None:
        return f"Node {node} is not in the input." if found.nodes else ""
    if host == node:
        return "It would stay there."
    if not report.fits:
        return f"Its node would not take it any more: {'; '.join(report.reasons)}."
    if choice is not None and node in choice.ties:
        return f"Its node is as good as {host}: both have the best total, {choice.best:,}."
    if report.total is None or choice is None:
        return f"It would go to {host}; the search did not reach its own node, which would fit too."
    return f"It would go to {host} now, whose total is {choice.best:,}; its own node has {report.total:,}."


def _elsewhere(found: Explanation) -> str:
    names = found.elsewhere
    if not names:
        return "It fits on no other node." if found.nodes else ""
    return f"It could be on {count_of(len(names), 'other node')}: {listed(names)}."


def _why(found: Explanation) -> Iterator[str]:
    """Why the host is the host, or how near the pod is to one."""
    host, counts, choice = found.decision.host, found.counts, found.choice
    if not found.nodes:
        return
    if host is None:
        yield _no_host(found)
    elif choice is None and counts.fit == counts.visited and found.decision.pod.status.nominated_node_name == host:
        yield f"The pod waited for {host}, which was tried first; it fits, so no other node is looked at."
    elif choice is None:
        yield f"Of {count_of(counts.visited, 'node')} only {host} fits, so it is taken without scoring."
    else:
        yield f"{counts.fit:,} of {count_of(counts.visited, 'node')} fit. {_best(host, choice)}"
        yield from _decided(choice, host)
    if counts.visited < counts.nodes and choice is not None:
        more = sum(node.fits and not node.visited for node in found.nodes)
        reached = f"The search looked at {counts.visited:,} of {count_of(counts.nodes, 'node')} and had found enough then"
        yield f"{reached}; of the others {more:,} would fit too."


def _no_host(found: Explanation) -> str:
    if found.fitting or not found.decision.is_fit_error:
        return ""
    near = found.turned_down[0]
    obstacles = f"; {count_of(near.obstacles, 'reason')} in all"
    lacking = f", short of {'; '.join(map(short_of, near.shortages))}" if near.shortages else f": {'; '.join(near.reasons)}"
    return f"No node fits. The nearest is {near.name}{lacking}{obstacles if near.obstacles > 1 else ''}."


def _best(host: str, choice: HostChoice) -> str:
    if len(choice.ties) == 1:
        return f"{host} has the best total, {choice.best:,}."
    of_these = f"of these, {choice.tie_break}"
    if choice.against is None:
        return f"All have the same total, {choice.best:,}, so no rule decides; {of_these}."
    return f"{len(choice.ties):,} share the best total, {choice.best:,} ({listed(choice.ties)}); {of_these}."


def _decided(choice: HostChoice, host: str) -> Iterator[str]:
    if choice.against is None or choice.decided is None:
        return
    first, *more = choice.leads
    scale = f" of {choice.max_score}"
    yield f"What decided: {lead_told(first, scale)} on {choice.against}, the next best."
    helped = [lead_told(lead) for lead in more if lead.ahead > 0]
    against = [lead_told(lead) for lead in more if lead.ahead < 0]
    told = [f"Also for {host}: {listed(helped)}." if helped else "", f"Against it: {listed(against)}." if against else ""]
    yield " ".join(filter(None, told))


def lead_told(lead: Lead, scale: str = "") -> str:
    """How two nodes score by one rule."""
    weight = f", times weight {lead.weight:,}" if lead.weight != 1 else ""
    return f"{rule_name(lead.rule)}, {lead.ours}{scale} against {lead.theirs}{weight}"


def eviction_sentences(eviction: EvictionOutcome | None) -> Iterator[str]:
    """What evicting pods would do."""
    if eviction is None:
        return
    if eviction.node is not None:
        yield from _evicted(eviction)
    elif eviction.why_not != NO_HELP:
        yield f"No pod is evicted for it: {eviction.why_not}."
    else:
        yield f"Evicting pods of a lower priority than its own, {eviction.priority:,}, would not help:"
        told = {STAYS: eviction.unresolvable, NONE_LOWER: eviction.nobody_lower, NOT_ENOUGH: eviction.not_enough}
        yield from (f"  {count_of(number, 'node')}: {why}" for why, number in told.items() if number)


def _evicted(eviction: EvictionOutcome) -> Iterator[str]:
    told = [f"{victim.pod} (priority {victim.priority:,})" for victim in eviction.victims]
    budgets = f"; {count_of(eviction.budget_violations, 'of them is', 'of them are')} protected by a PodDisruptionBudget"
    who = listed(told, 10) if told else "no pod"
    yield f"It would preempt on {eviction.node} and evict {who}{budgets if eviction.budget_violations else ''}."
    if eviction.candidates > 1:
        yield f"Evicting pods would make room on {count_of(eviction.candidates, 'node')}; on {eviction.node} it matters least."


# --- in tables ------------------------------------------------------------------------------------------------------


def _fitting(found: Explanation, width: int | None, wide: bool, every: bool) -> Iterator[str]:
    scored = found.scored
    if not scored:
        return
    constant = {} if found.choice is None or wide else found.choice.constant
    shown = scored if every else scored[:BEST]
    by = "plugin" if found.by_plugins else "priority"
    first = () if found.choice is None else [lead.rule for lead in found.choice.leads]
    rows = [[node.name, node.total, _scores(node, first, constant, wide)] for node in shown]
    columns = 3 if any(row[2] for row in rows) else 2
    yield from TextTable(["node", "total", "scores"][:columns], [row[:columns] for row in rows]).lines(width)
    notes = [f"each {by}: raw -> {'normalized' if found.by_plugins else 'reduced'} x weight"] if wide else []
    notes += [_constant(constant)] if constant else []
    notes += [f"{len(shown):,} of {count_of(len(scored), 'node')}; --all shows every one"] if len(shown) < len(scored) else []
    yield from wrapped((f"({note})" for note in notes), width)


def _scores(node: NodeReport, first: Sequence[str], constant: Mapping[str, NodeScore], wide: bool) -> str:
    """The node's scores, those by the rules in *first* before others; without those in *constant*."""
    rules = (rule for rule in dict.fromkeys([*first, *node.scores]) if rule not in constant)
    return ", ".join(f"{rule_name(rule)} {score_cell(node.scores[rule]) if wide else _weighed(node.scores[rule])}" for rule in rules)


def _weighed(score: NodeScore) -> str:
    return f"{score.reduced}" if score.weight == 1 else f"{score.reduced} x {score.weight}"


def _constant(constant: Mapping[str, NodeScore]) -> str:
    told = ", ".join(f"{rule_name(rule)} {_weighed(score)}" for rule, score in constant.items())
    return f"the same on each node, {sum(score.total for score in constant.values()):,} of the total: {told}"


def _groups(found: Explanation, width: int | None) -> Iterator[str]:
    groups = found.groups
    if not groups:
        return
    by = "plugin" if found.by_plugins else "predicate"
    lacks = any(group.least_short for group in groups)
    headers = ["nodes", "only this", "reason", by, "nearest", *(["short of"] if lacks else [])]
    rows = [[group.count, group.alone, group.reason, ", ".join(group.rules), *_nearest_of(group, lacks)] for group in groups]
    yield from TextTable(headers, rows).lines(width)
    yield from wrapped(["(nodes: with this reason; only this: with no other)"], width)


def _nearest_of(group: ReasonGroup, lacks: bool) -> list[str | None]:
    least = group.least_short
    if least is None:
        return [group.nodes[0], *([None] if lacks else [])]
    return [least.node, rounded(least.resource, least.missing)]


def _nearest(found: Explanation, width: int | None, wide: bool, every: bool) -> Iterator[str]:
    others = [node for node in found.nodes if node.total is None and (every or not node.fits)]
    shown = others if every else others[:NEAREST]
    if not shown:
        return
    by = (["plugin", "code"] if found.by_plugins else ["predicate"]) if wide else []
    lacks = any(node.shortages for node in shown)
    headers = ["node", *by, "reasons", *(["short of"] if lacks else [])]
    yield from TextTable(headers, [_row(node, found.by_plugins, wide, lacks) for node in shown]).lines(width)
    if len(shown) < len(others):
        yield from wrapped([f"(the nearest {len(shown):,} of {count_of(len(others), 'node')}; --all shows every one)"], width)


def _row(node: NodeReport, by_plugins: bool, wide: bool, lacks: bool) -> list[object]:
    by: Sequence[object] = [", ".join(node.rules), *([node.code or None] if by_plugins else [])] if wide else []
    return [node.name, *by, _reasons(node), *(["; ".join(map(short_of, node.shortages))] if lacks else [])]


def _reasons(node: NodeReport) -> str:
    if node.fits:
        return "fits" if node.visited else "fits, but the search found enough nodes before it reached this one"
    hidden = [reason for objection in node.objections for reason in objection.reasons if not objection.counted]
    told = "; ".join(node.reasons) + (f" (and, not checked any more: {'; '.join(hidden)})" if hidden else "")
    return told if node.visited else f"{told} (not reached by the search)"


def _devices(found: Explanation, width: int | None) -> Iterator[str]:
    """The devices of the node that is nearest to serving the pod's claims; of a pod that gets a node, nothing."""
    nearest = next((node for node in found.nodes if node.devices), None)
    if nearest is not None and found.decision.host is None:
        yield from device_lines(nearest.name, nearest.devices or (), width)


# --- cells ----------------------------------------------------------------------------------------------------------


def rule_name(rule: str) -> str:
    """A priority's name without the word that all have.

    >>> rule_name("LeastRequestedPriority")
    'LeastRequested'
    """
    return rule.removesuffix("Priority")


def score_cell(score: NodeScore) -> str:
    """How a score comes about: raw, reduced, weight."""
    return f"{score.raw} -> {score.reduced} x {score.weight}"


def short_of(short: NodeShortage) -> str:
    """What is missing, with both sides; exact where these look alike when they are rounded.

    >>> short_of(NodeShortage("cpu", 2000, 500)), short_of(NodeShortage("cpu", 1190, 1188))
    ('1.5 cpu (needs 2, free 0.5)', '0.002 cpu (needs 1.19, free 1.188)')
    """
    name, alike = short.resource, rounded(short.resource, short.asked) == rounded(short.resource, short.free)
    missing, asked, free = (amount(name, number) if alike else rounded(name, number) for number in (short.missing, short.asked, short.free))
    return f"{missing} {name} (needs {asked}, free {free})"
