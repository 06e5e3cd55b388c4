"""One node of an explanation for people: each predicate or plugin with its verdict, its room, its scores."""

from __future__ import annotations

from collections.abc import Iterator

from ....api.words import count_of, listed, rounded
from ....simulation.explain.closeup import CloseUp, RuleVerdict
from ....simulation.explain.eviction import NO_HELP
from ....simulation.explain.explanation import Explanation
from ..prose import wrapped
from ..tables import TextTable
from .devicelines import device_lines
from .explanation import lead_told, rule_name


def close_up_lines(found: Explanation, close: CloseUp, width: int | None) -> Iterator[str]:
    """All about the node of *close*, in lines of at most *width* characters."""
    yield from wrapped([f"{found.decision.pod.key} on {close.node}: {_verdict(found, close)}"], width)
    yield from wrapped((f"Decided before any node was looked at: {reason}" for reason in close.whole_pod), width)
    parts = (
        _rules(found, close, width), _room(close, width), device_lines(close.node, close.devices or (), width), _scores(close, width),
        wrapped(_evictions(found, close), width),
    )  # fmt: skip
    for part in parts:
        lines = list(part)
        if lines:
            yield ""
            yield from lines


def _verdict(found: Explanation, close: CloseUp) -> str:
    host = found.decision.host
    if close.node == host:
        return "fits, and it is the node that the pod gets"
    if not close.fits:
        return "does not fit" + (f"; the pod gets {host}" if host else "")
    return f"fits; the pod gets {host}" + (" instead" if host else "")


def _rules(found: Explanation, close: CloseUp, width: int | None) -> Iterator[str]:
    if not close.verdicts:
        return
    rows = [[verdict.rule, _outcome(verdict), "; ".join(verdict.reasons)] for verdict in close.verdicts]
    columns = 3 if any(row[2] for row in rows) else 2
    headers = ["plugin" if found.by_plugins else "predicate", "result", "reason"]
    yield from TextTable(headers[:columns], [row[:columns] for row in rows]).lines(width)


def _outcome(verdict: RuleVerdict) -> str:
    if verdict.outcome == "passes":
        return "passes" if verdict.concerned else "passes, nothing to check"
    if verdict.outcome == "fails":
        return "fails"
    return f"not run, would {'fail' if verdict.reasons else 'pass'}"


def _room(close: CloseUp, width: int | None) -> Iterator[str]:
    if not close.room:
        return
    rows = [
        [room.resource, *(rounded(room.resource, number) for number in (room.asked, room.free, room.allocatable)),
         rounded(room.resource, room.missing) if room.missing else None]
        for room in close.room
    ]  # fmt: skip
    yield from TextTable(["resource", "needs", "free", "of", "short"], rows).lines(width)


def _scores(close: CloseUp, width: int | None) -> Iterator[str]:
    if not close.scores:
        return
    rows = [[rule_name(name), score.raw, score.reduced, score.weight, score.total] for name, score in close.scores.items()]
    yield from TextTable(["rule", "raw", "score", "weight", "counts"], rows).lines(width)
    yield from wrapped(_standing(close), width)


def _standing(close: CloseUp) -> Iterator[str]:
    total = 0 if close.total is None else close.total
    if close.would_score:
        yield f"Its total would be {total:,} if it were among the nodes to choose from."
    elif close.place is not None and close.out_of > 1:
        yield f"Its total is {total:,}, place {close.place:,} of {close.out_of:,}."
    if close.against is not None:
        ahead, behind = ([lead_told(lead) for lead in close.leads if (lead.ahead > 0) is better] for better in (True, False))
        yield f"Better than {close.against} by: {listed(ahead)}." if ahead else ""
        yield f"Worse than {close.against} by: {listed(behind)}." if behind else ""
        yield "No rule scores the two differently." if not close.leads else ""


def _evictions(found: Explanation, close: CloseUp) -> Iterator[str]:
    if close.fits or found.eviction is None:
        return
    if close.victims is None:
        why = close.no_room if found.eviction.why_not in (None, NO_HELP) else found.eviction.why_not
        yield f"Evicting pods makes no room on {close.node}: {why}."
    else:
        told = [f"{victim.pod} (priority {victim.priority:,})" for victim in close.victims]
        yield f"It would fit here if {count_of(len(told), 'pod')} left: {listed(told, 10) or 'no pod'}."
