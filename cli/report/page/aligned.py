"""The same nodes as several sides judge them: rules that are about the same stand in one line, and the one that decides is marked.

It is the detail of a row in a :class:`~.tables.Table` (``shows="aligned"``), or a part of a page by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs


@attrs.frozen(repr=False)
class PageTexts:
    """Each text of a page once, by number."""

    places: dict[str, int] = attrs.field(factory=dict)

    def place(self, text: str) -> int:
        """Where *text* stands."""
        return self.places.setdefault(text, len(self.places))


@attrs.frozen(repr=False)
class SideNode:
    """A node as one side judges it."""

    node: str
    state: str
    """``feasible``, or by which rule it was turned down and why."""
    scores: Sequence[tuple[str, int, int]] = ()
    """Rule, score and weight."""
    total: int | None = None


@attrs.frozen(repr=False)
class SideDecision:
    """What one side decided."""

    side: int
    """Which one, as in the list of sides."""
    decision: str
    """The node, or in a few words why there is none."""
    error: str = ""
    nodes: Sequence[SideNode] = ()
    chosen: str = ""
    """The node that it took."""


@attrs.frozen(repr=False)
class Aligned:
    """One cycle as all sides judge it."""

    title: str
    judgements: Sequence[SideDecision]
    deciding: str = ""
    """The line, by the name of its subject, in which the sides differ."""


@attrs.define(repr=False)
class AlignedData:
    """Many :class:`Aligned` as the script ``assets/aligned.js`` reads them: texts and lists of rules stand once, by number."""

    sides: Sequence[str]
    subjects: dict[str, str]
    """Rule -> the name of its line, where that is another."""
    texts: PageTexts = attrs.field(factory=PageTexts)
    _rules: dict[tuple[tuple[str, int], ...], int] = attrs.field(factory=dict)

    def detail(self, cycles: Sequence[Aligned]) -> list[Any]:
        """What stands for one row."""
        return [self._cycle(cycle) for cycle in cycles]

    def shared(self) -> dict[str, Any]:
        """What all rows have in common; to be asked after the last one."""
        rules = [[[self.texts.place(name), weight] for name, weight in rules] for rules in self._rules]
        return {"sides": list(self.sides), "subjects": self.subjects, "rules": rules, "texts": list(self.texts.places)}

    def _cycle(self, cycle: Aligned) -> list[Any]:
        place = self.texts.place
        return [place(cycle.title), place(cycle.deciding), [self._judgement(one) for one in cycle.judgements]]

    def _judgement(self, one: SideDecision) -> list[Any]:
        place = self.texts.place
        return [one.side, place(one.decision), place(one.error), place(one.chosen), [self._node(node) for node in one.nodes]]

    def _node(self, node: SideNode) -> list[Any]:
        """Node, state, place of its rules, their scores in order, total."""
        rules = tuple((rule, weight) for rule, _, weight in node.scores)
        at = self._rules.setdefault(rules, len(self._rules))
        return [self.texts.place(node.node), self.texts.place(node.state), at, [score for _, score, _ in node.scores], node.total]
