"""The pods of a comparison whose decisions or ends differ, as a long list with both tables of each decision on demand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api.view import MEANINGS, PAGE, Column, Table
from .agreement import DIFFERENT, EQUALLY_GOOD, GATED, LOCKED
from .causes import SCORE, Cause
from .contestants import SUCCESSORS, JudgedNode
from .document import CauseCount, ComparedDecision, ComparisonDocument, DifferingCycle
from .text import GATED_HOST, NO_HOST, OTHER_NODE, cause_text, decision_text, side_name

NAME = "pods"
MOST = 20_000
"""The page has the judged nodes of this many cycles; for the others it has the decisions and the reasons."""
SAME_NODE, NO_NODE = "on the same node", "on no node"
COLOURS = {
    EQUALLY_GOOD: MEANINGS["near"], DIFFERENT: MEANINGS["bad"], GATED: MEANINGS["held"], OTHER_NODE: MEANINGS["near"],
    SAME_NODE: MEANINGS["same"],
}  # fmt: skip


@attrs.define(repr=False)
class PodList:
    """The list of a comparison."""

    document: ComparisonDocument
    _outcomes: dict[str, str] = attrs.field(factory=dict)
    """Every outcome that any pod has -> its colour."""
    _texts: dict[str, int] = attrs.field(factory=dict)
    """Each text of the details once -> its number."""
    _rules: dict[tuple[tuple[str, int], ...], int] = attrs.field(factory=dict)
    """Each list of rules with their weights once -> its number."""

    @property
    def names(self) -> list[str]:
        """The configurations'."""
        return [configuration.name for configuration in self.document.configurations]

    @property
    def hosts(self) -> list[Mapping[str, str | None]]:
        """Pod -> its node in the end, for each configuration."""
        return [configuration.hosts for configuration in self.document.configurations]

    def table(self) -> Table:
        """The list itself: where each pod ends, by which outcome, for which cause, and why."""
        rows, details = list[list[Any]](), list[Any]()
        for pod, places in self._pods():
            rows.append(self._row(pod, [self.document.differences[at] for at in places]))
            details.append([self._cycle(at) for at in places] or None)
        columns = (Column("pod", "name"), *(Column(side, "name") for side in self._sides()), *self._other_columns())
        return Table(NAME, columns, rows, noun="pod", details=details, shows="aligned", shared=self._shared(), forms=PAGE)

    def _sides(self) -> list[str]:
        return [side_name(self.document, at) for at in range(len(self.names))]

    def _other_columns(self) -> Iterator[Column]:
        yield Column("outcome", "tags", filter=True, colours=self._outcomes)
        yield Column("cause", "names", filter=True)
        yield Column("why")

    # --- rows -------------------------------------------------------------------------------------------------------

    def _pods(self) -> Iterator[tuple[str, list[int]]]:
        """Each pod of the list, with the places of its cycles that differ."""
        cycles: dict[str, list[int]] = defaultdict(list)
        for at, found in enumerate(self.document.differences):
            cycles[found.pod].append(at)
        for pod in self.hosts[0]:
            if pod in cycles or len({found.get(pod) for found in self.hosts}) > 1:
                yield pod, cycles[pod]

    def _row(self, pod: str, found: Sequence[DifferingCycle]) -> list[Any]:
        ends = [hosts.get(pod) for hosts in self.hosts]
        shown = [end or self._nowhere(name, found) for name, end in zip(self.names, ends, strict=True)]
        outcomes = [self._outcome(at, ends, found) for at in range(1, len(ends))]
        causes = [cause_name(self.document, name, cause) for one in found for name, cause in one.causes.items()]
        told = [list(dict.fromkeys(filter(None, outcomes))), list(dict.fromkeys(causes))]
        return [pod, *shown, *told, "; ".join(self._why(pod, found))]

    def _outcome(self, at: int, ends: list[str | None], found: Sequence[DifferingCycle]) -> str | None:
        """The outcome by which configuration *at* differs from the first; None if none does."""
        verdicts = [one.causes[self.names[at]].verdict for one in found if self.names[at] in one.causes]
        name = outcome_of(self.document, at, ends, verdicts)
        if name is None:
            return None
        told = name if len(ends) == 2 else f"{self.names[at]}: {name}"
        self._outcomes[told] = colour_of_outcome(name, self.document)
        return told

    def _why(self, pod: str, found: Sequence[DifferingCycle]) -> Iterator[str]:
        """Why the first differing decision differs, or which pod replaced this one."""
        yield from (cause_text(cause) for one in found[:1] for cause in one.causes.values())
        for configuration in self.document.configurations if not found else ():
            if pod in configuration.evicted:
                yield f"{configuration.name} evicts it to make room for {configuration.evicted[pod]}"

    def _nowhere(self, name: str, found: Sequence[DifferingCycle]) -> str:
        told = [decision_text(one.decisions[name]) for one in found if name in one.decisions]
        return told[-1] if told and told[-1].startswith((NO_HOST, GATED_HOST)) else NO_HOST

    # --- details, as assets/aligned.js reads them: texts and lists of rules by number ---------------------------------

    def _place(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _shared(self) -> dict[str, Any]:
        """What the details of all rows have in common; to be asked after the last one."""
        rules = [[[self._place(name), weight] for name, weight in rules] for rules in self._rules]
        names = {name: None for rules in self._rules for name, _ in rules}
        newer = {name: next((other for other in SUCCESSORS.get(name, ()) if other in names), name) for name in names}
        subjects = {name: other for name, other in newer.items() if name != other}
        return {"sides": self._sides(), "subjects": subjects, "rules": rules, "texts": list(self._texts)}

    def _cycle(self, at: int) -> list[Any]:
        """Title, the line in which the sides differ, and the decision of each."""
        found = self.document.differences[at]
        why = "; ".join(cause_text(cause) for cause in found.causes.values())
        title = f"Decision {found.number}{', tried again after making room' if found.retry else ''}: {why}"
        deciding = next((cause.rule for cause in found.causes.values() if cause.kind == SCORE and cause.rule), "")
        return [*map(self._place, (title, deciding)), [self._judged(*one, at < MOST) for one in found.decisions.items()]]

    def _judged(self, name: str, decision: ComparedDecision, whole: bool) -> list[Any]:
        """The side, what it decided, its error, the node that it took, and all nodes."""
        victims = f", evicting {', '.join(decision.victims)}" if decision.victims else ""
        texts = (decision_text(decision) + victims, decision.error or "", decision.host or decision.room_on or "")
        return [self.names.index(name), *map(self._place, texts), [self._node(node) for node in decision.nodes] if whole else []]

    def _node(self, node: JudgedNode) -> list[Any]:
        """The node, its state, its list of rules, their scores in order, and its total."""
        rules = tuple((rule, score.weight) for rule, score in node.scores.items())
        at = self._rules.setdefault(rules, len(self._rules))
        return [self._place(node.node), self._place(_state(node)), at, [score.score for score in node.scores.values()], node.total]


def cause_name(document: ComparisonDocument, second: str, cause: Cause | CauseCount) -> str:
    """A cause in few words, as the filter of the list and the table of causes have it."""
    whose = f"{second}: " if len(document.against) > 1 else ""
    side = f" in {cause.side}" if cause.side and cause.kind != SCORE else ""
    return f"{whose}{cause.rule or cause.kind}{side}"


def _state(node: JudgedNode) -> str:
    told = "; ".join(node.reasons)
    return f"{node.state} by {', '.join(node.rules)}: {told}" if node.rules else ": ".join(filter(None, [node.state, told]))


def colour_of(at: int) -> str:
    """The colour of the configuration in that place."""
    return f"var(--c{at % 8})"


def alone(name: str) -> str:
    """A pod that one configuration places, and the other one does not.

    >>> alone("a")
    'placed by a alone'
    """
    return f"placed by {name} alone"


def colour_of_outcome(name: str, document: ComparisonDocument) -> str:
    """The colour of an outcome."""
    places = {alone(one.name): colour_of(at) for at, one in enumerate(document.configurations)}
    return COLOURS.get(name) or places.get(name, MEANINGS["same"])


def outcome_of(document: ComparisonDocument, at: int, ends: Sequence[str | None], verdicts: Sequence[str]) -> str | None:
    """The outcome by which a pod's way under configuration *at* differs from that under the first one; None if it does not.

    *ends*: its node under each; *verdicts*: those of its decisions that differ.
    """
    names = [configuration.name for configuration in document.configurations]
    if document.mode == LOCKED:
        return next((told for told in (DIFFERENT, GATED, EQUALLY_GOOD) if told in verdicts), None)
    if GATED in verdicts:
        return GATED
    if ends[0] != ends[at]:
        return OTHER_NODE if None not in (ends[0], ends[at]) else alone(names[0] if ends[at] is None else names[at])
    return (SAME_NODE if ends[0] else NO_NODE) if verdicts else None
