"""Why two schedulers decide differently on a pod: the first rule that differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Final, Literal

import attrs

from ...api.record import Record, says
from ...core.decision.decision import Decision
from .contestants import NOT_VISITED, TURNED_DOWN, Contestant, JudgedNode, WeighedScore, node_view

CauseKind = Literal["predicate", "score", "tie", "sampling", "preemption", "error", "gated"]
PREDICATE: Final = "predicate"
SCORE: Final = "score"
TIE: Final = "tie"
SAMPLING: Final = "sampling"
PREEMPTION: Final = "preemption"
ERROR: Final = "error"
GATED: Final = "gated"
KINDS: Mapping[CauseKind, str] = {
    PREDICATE: "one turns a node down that the other takes",
    SCORE: "both nodes fit in both, but another one scores best",
    TIE: "both nodes have the same score in both, and the tie-break chose another one",
    SAMPLING: "one did not look at the node that the other takes",
    PREEMPTION: "neither finds a node, and they make room differently",
    ERROR: "one could not answer",
    GATED: "one holds the pod back for its scheduling gates, and the other tries it",
}


class Cause(Record):
    """Why the two differ."""

    kind: CauseKind
    rule: Annotated[str | None, says("The predicate or plugin that turns the node down, or the rule whose scores decided.")] = None
    side: Annotated[str | None, says("The configuration that it concerns.")] = None
    node: str | None = None
    text: str = ""


@attrs.frozen(repr=False)
class Judged:
    """A contestant's decision on a pod, and its view of each node in question."""

    contestant: Contestant
    decision: Decision
    views: Mapping[str, JudgedNode]

    @classmethod
    def of(cls, contestant: Contestant, decision: Decision, nodes: Iterable[str]) -> Judged:
        """*decision*, the latest of *contestant*, with its view of *nodes*."""
        return cls(contestant, decision, {node: node_view(contestant.engine, decision, node) for node in nodes})

    @property
    def host(self) -> str | None:
        return self.decision.host

    def prefers(self, one: str, other: str) -> bool:
        """Whether the totals of two nodes that fit differ."""
        return self.views[one].total != self.views[other].total

    def leanings(self, one: str, other: str, beside: Judged) -> dict[str, int]:
        """Subject -> how many points its rules give node *other* more than node *one*; both must be scored."""
        found: dict[str, int] = {}
        for subject, before, after in self._scores(one, other, beside):
            found[subject] = found.get(subject, 0) + after.total - before.total
        return found

    def _scores(self, one: str, other: str, beside: Judged) -> Iterator[tuple[str, WeighedScore, WeighedScore]]:
        """What each rule that scores both nodes gives them, with the name that it is compared under."""
        before, after = self.views[one].scores, self.views[other].scores
        for rule, subject in self.contestant.subjects(self.decision.pod, beside.contestant).items():
            if rule in before and rule in after:
                yield subject, before[rule], after[rule]

    def leaning_text(self, subject: str, points: int, one: str, other: str, beside: Judged) -> str:
        """How *other* scores beside *one* by the rules on *subject*; points beyond what these should give have no limit beside them."""
        if not points:
            return "the same"
        weights = (score.weight for found, _, score in self._scores(one, other, beside) if found == subject)
        most = self.contestant.scale * sum(map(abs, weights))
        return f"{abs(points):,}{f' of {most:,}' if abs(points) <= most else ''} points {'higher' if points > 0 else 'lower'}"


def find_cause(first: Judged, second: Judged) -> Cause:
    """Why *second* decides otherwise than *first*."""
    gating = next((one for one in (first, second) if one.decision.is_gated), None)
    if gating is not None:
        return Cause(GATED, side=gating.contestant.name, text=gating.decision.error or "")
    erring = next((one for one in (first, second) if one.host is None and not one.decision.is_fit_error), None)
    if erring is not None:
        return Cause(ERROR, side=erring.contestant.name, text=erring.decision.error or "")
    for one, other in ((second, first), (first, second)):
        if other.host is not None and one.views[other.host].state == TURNED_DOWN:
            view = one.views[other.host]
            return Cause(PREDICATE, next(iter(view.rules), None), one.contestant.name, other.host, "; ".join(view.reasons))
    for one, other in ((second, first), (first, second)):
        if other.host is not None and one.views[other.host].state == NOT_VISITED:
            return Cause(SAMPLING, None, one.contestant.name, other.host, "the search found enough nodes before it reached this one")
    if first.host is None or second.host is None:
        return Cause(PREEMPTION)
    return _tipped(first, second)


def _tipped(first: Judged, second: Judged) -> Cause:
    """Both nodes fit in both: the rule that favours the second one's node most, if its scores in the second and the first are compared."""
    one, other = first.host or "", second.host or ""
    if one == other or not any(judged.prefers(one, other) for judged in (first, second)):
        return Cause(PREEMPTION if one == other else TIE, node=other)
    before, after = first.leanings(one, other, second), second.leanings(one, other, first)
    scales = first.contestant.scale, second.contestant.scale
    gains = {subject: after.get(subject, 0) / scales[1] - before.get(subject, 0) / scales[0] for subject in {**after, **before}}
    rule = max(gains, key=lambda subject: gains[subject], default=None)
    if rule is None:
        return Cause(SCORE, None, second.contestant.name, other)
    told, without = list[str](), ""
    for judged, beside, leanings in ((second, first, after), (first, second, before)):
        name = judged.contestant.name
        if rule in leanings:
            told.append(f"{judged.leaning_text(rule, leanings[rule], one, other, beside)} in {name}")
        else:
            without += f"; {name} has no such rule"
    return Cause(SCORE, rule, second.contestant.name, other, f"scores {other} beside {one}: {', '.join(told)}{without}")
