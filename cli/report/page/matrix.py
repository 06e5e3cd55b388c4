"""A pod's nodes by rules: which rule turned down which node, how the others scored, and what decided.

Nodes are lines, filtering rules columns; the scores of a node are one bar, a piece for each scoring rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from ....api.words import count_of
from .markup import Markup, Text, element, named, number, sentence
from .parts import colour_of, dot, tag

PASSED, FAILED, NOT_ASKED = "passed", "turned down", "not asked"
"""What a cell says: the node passed the rule, was turned down by it, or was turned down or left out before it."""
MARKS = {PASSED: "✓", FAILED: "✗", NOT_ASKED: "·"}
MOST = 200
"""That many lines are shown; a line may stand for many nodes."""


@attrs.frozen
class RuleScore:
    """What one rule gave a node, before its weight."""

    rule: str
    score: int
    weight: int

    @property
    def points(self) -> int:
        """What it adds to the total."""
        return self.score * self.weight


@attrs.frozen(kw_only=True)
class MatrixLine:
    """One node, or several that fare alike."""

    node: Text
    failed: Mapping[str, str] = attrs.field(factory=dict)
    """Rule that turned it down -> why."""
    passed: frozenset[str] = frozenset()
    """Rules that it passed; it was not asked about the others."""
    state: str = ""
    """In a word or two where it neither fits nor was turned down: ``not visited``."""
    scores: Sequence[RuleScore] = ()
    total: int | None = None
    winner: bool = False

    def of(self, rule: str) -> str:
        """What the cell under *rule* says."""
        return FAILED if rule in self.failed else PASSED if rule in self.passed else NOT_ASKED


@attrs.frozen
class Matrix:
    """All lines of one pod, in the order in which they are read: the winner first."""

    name: str
    """Its id."""
    rules: Sequence[str]
    """The filtering rules in running order."""
    lines: Sequence[MatrixLine]
    deciding: str = attrs.field(default="", kw_only=True)
    """The rule without which another node would have won, or which turned down most; its column or colour is marked."""
    title: str = attrs.field(default="nodes by rules", kw_only=True)

    @property
    def scoring(self) -> list[str]:
        """The scoring rules that any line has."""
        return list(dict.fromkeys(score.rule for line in self.lines for score in line.scores))

    def html(self) -> Markup:
        """The matrix with its legend."""
        body = element("tbody", *map(self._line, self.lines[:MOST]))
        table = element("table", element("caption", self.title, class_="out"), self._head(), body, class_="matrix")
        box = element("div", table, class_="scroll", tabindex="0", role="region", aria_label=self.title)
        more = len(self.lines) - MOST
        rest = [element("p", f"{count_of(more, 'more line')} are not shown here; -o json has them all.", class_="soft")] if more > 0 else []
        return element("div", box, *rest, self._legend(), class_="card", id=self.name, data_part="matrix")

    def _head(self) -> Markup:
        rules = (element("th", element("span", rule), scope="col", class_=self._mark(rule, "rule")) for rule in self.rules)
        ends = [element("th", "total", scope="col", class_="n"), element("th", "scores", scope="col")] if self.scoring else []
        return element("thead", element("tr", element("th", "node", scope="col"), *rules, *ends))

    def _mark(self, rule: str, other: str) -> str:
        return f"{other} deciding" if rule == self.deciding else other

    def _line(self, line: MatrixLine) -> Markup:
        cells = (self._cell(line, rule) for rule in self.rules)
        mark = "winner" if line.winner else None
        return element("tr", element("th", *self._name(line), scope="row"), *cells, *self._ends(line), class_=mark)

    def _name(self, line: MatrixLine) -> Iterator[Text]:
        yield line.node if isinstance(line.node, Markup) else named(line.node)
        if line.winner:
            yield sentence(" ", tag("chosen", "var(--good)"))
        if line.state:
            yield sentence(" ", tag(line.state))
        for rule, why in line.failed.items():
            yield element("small", f"{rule}: {why}")

    def _cell(self, line: MatrixLine, rule: str) -> Markup:
        found = line.of(rule)
        why = f"{rule}: {line.failed[rule]}" if found == FAILED else f"{rule}: {found}"
        mark = element("span", MARKS[found], aria_hidden="true")
        classes = self._mark(rule, {PASSED: "yes", FAILED: "no", NOT_ASKED: "open"}[found])
        return element("td", mark, element("span", found, class_="out"), class_=classes, title=why)

    def _ends(self, line: MatrixLine) -> list[Markup]:
        if not self.scoring:
            return []
        if line.total is None:
            return [element("td", "-", class_="n"), element("td")]
        return [element("td", number(line.total), class_="n"), element("td", self._bar(line), class_="scores")]

    def _bar(self, line: MatrixLine) -> Markup:
        most = max((sum(max(score.points, 0) for score in other.scores) for other in self.lines), default=0) or 1
        places = {rule: at for at, rule in enumerate(self.scoring)}
        pieces = [
            element("i", style=f"width:{100 * score.points / most:.2f}%;--k:{colour_of(places[score.rule])}", title=_words(score))
            for score in line.scores if score.points > 0
        ]  # fmt: skip
        return element("span", *pieces, class_="scorebar", role="img", aria_label="; ".join(map(_words, line.scores)))

    def _legend(self) -> Markup:
        if not self.scoring:
            return Markup("")
        decides = (tag("decides", "var(--good)") if rule == self.deciding else Markup("") for rule in self.scoring)
        pairs = zip(enumerate(self.scoring), decides, strict=True)
        lines = (element("li", dot(colour_of(at)), rule, " ", mark) for (at, rule), mark in pairs)
        return element("ul", *lines, class_="legend")


def _words(score: RuleScore) -> str:
    if score.weight == 1:
        return f"{score.rule} {number(score.score)}"
    return f"{score.rule} {number(score.score)} x {number(score.weight)} = {number(score.points)}"
