"""Why two schedulers decide differently on a pod: the first rule that differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ..core.decision import Decision
from .counterparts import subjects
from .sides import NOT_VISITED, TURNED_DOWN, NodeView, Side

PREDICATE, SCORE, TIE, SAMPLING = "predicate", "score", "tie", "sampling"
PREEMPTION, ERROR = "preemption", "error"
KINDS: Mapping[str, str] = {
    PREDICATE: "one turns a node down that the other takes",
    SCORE: "both nodes fit in both, but another one scores best",
    TIE: "both nodes score alike in both, and another one is drawn",
    SAMPLING: "one did not look at the node that the other takes",
    PREEMPTION: "neither finds a node, and they make room differently",
    ERROR: "one could not answer",
}


@attrs.frozen
class Cause:
    """Why the two differ. ``rule``: the predicate or plugin on *side* that turns *node* down, or what tipped the scores."""

    kind: str
    rule: str | None = None
    side: str | None = None
    node: str | None = None
    text: str = ""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return attrs.asdict(self)


@attrs.frozen
class Judged:
    """A side's decision on a pod, and its view of each node in question."""

    side: Side
    decision: Decision
    views: Mapping[str, NodeView]

    @property
    def host(self) -> str | None:
        return self.decision.host


def find_cause(first: Judged, second: Judged) -> Cause:
    """Why *second* decides otherwise than *first*."""
    erring = next((one for one in (first, second) if one.host is None and not one.decision.is_fit_error), None)
    if erring is not None:
        return Cause(ERROR, side=erring.side.name, text=erring.decision.error or "")
    for one, other in ((second, first), (first, second)):
        if other.host is not None and one.views[other.host].state == TURNED_DOWN:
            view = one.views[other.host]
            return Cause(PREDICATE, next(iter(view.rules), None), one.side.name, other.host, "; ".join(view.reasons))
    for one, other in ((second, first), (first, second)):
        if other.host is not None and one.views[other.host].state == NOT_VISITED:
            return Cause(SAMPLING, None, one.side.name, other.host, "the search had enough nodes before it came there")
    if first.host is None or second.host is None:
        return Cause(PREEMPTION)
    return _tipped(first, second)


def _tipped(first: Judged, second: Judged) -> Cause:
    """Both nodes fit in both: the rule that speaks more for the second one's node than for the first one's, seen from the second."""
    ours, theirs = _leanings(first, second), _leanings(second, first)
    if first.host == second.host or not (_margin(first, second) or _margin(second, first)):
        return Cause(TIE, node=second.host)
    gains = {subject: theirs.get(subject, 0.0) - ours.get(subject, 0.0) for subject in (*theirs, *ours)}
    rule = max(gains, key=lambda subject: gains[subject], default=None)
    return Cause(SCORE, rule, second.side.name, second.host)


def _margin(one: Judged, other: Judged) -> int:
    """By how much *one* scores its own node above the other one's."""
    own, strange = (one.views[host].total for host in (one.host or "", other.host or ""))
    return (own or 0) - (strange or 0)


def _leanings(one: Judged, other: Judged) -> dict[str, float]:
    """Subject -> how much *one* leans by it to the node of whichever of the two is second, in shares of the scale."""
    return {}
