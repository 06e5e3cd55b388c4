"""Which rule decided among the nodes that fit, and what breaks a tie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ...algorithmprovider.tiebreak import in_words
from ...core.engine import Engine
from .values import NodeReport, Score, scores_record


@attrs.frozen
class Lead:
    """How a node scores by one rule beside another node, both before the weight."""

    rule: str
    ours: int
    theirs: int
    weight: int

    @property
    def ahead(self) -> int:
        """By how much it moves the total; below 0 if the other node has more."""
        return (self.ours - self.theirs) * self.weight

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {**attrs.asdict(self), "ahead": self.ahead}


@attrs.frozen
class Choice:
    """How the host was chosen among several nodes that fit."""

    best: int
    """The highest total."""
    ties: tuple[str, ...]
    """The nodes that have it, in visiting order."""
    tie_break: str
    """Which of several best nodes is taken, in a sentence."""
    against: str | None
    """The best of the other nodes; None if all have the same total."""
    leads: tuple[Lead, ...]
    """How the host differs from that one, the rule that matters most first."""
    constant: Mapping[str, Score]
    """The rules that give every node the same score; they decide nothing."""
    max_score: int
    """The highest score of a rule before the weight."""

    @property
    def decided(self) -> Lead | None:
        """The rule to which the host owes most of its lead; None if all nodes have the same total."""
        return self.leads[0] if self.leads and self.leads[0].ahead > 0 else None

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "best": self.best,
            "ties": list(self.ties),
            "tieBreak": self.tie_break,
            "against": self.against,
            "decided": None if self.decided is None else self.decided.rule,
            "leads": [lead.record() for lead in self.leads],
            "constant": scores_record(self.constant),
            "maxScore": self.max_score,
        }


def choice_among(engine: Engine, host: str | None, scored: Sequence[NodeReport], visiting: Sequence[str]) -> Choice | None:
    """The choice of *host* among the nodes in *scored*, best first; *visiting*: their names in visiting order. None for less than two."""
    if len(scored) < 2 or host is None:
        return None
    best = max(node.total or 0 for node in scored)
    tied = {node.name for node in scored if node.total == best}
    chosen = next(node for node in scored if node.name == host)
    other = next((node for node in scored if node.name not in tied), None)
    return Choice(
        best=best,
        ties=tuple(name for name in visiting if name in tied),
        tie_break=in_words(engine.release, engine.pick_host),
        against=None if other is None else other.name,
        leads=() if other is None else leads(chosen, other),
        constant=constant_scores(scored),
        max_score=engine.max_score,
    )


def leads(node: NodeReport, other: NodeReport) -> tuple[Lead, ...]:
    """The rules by which two nodes score differently, those first that are most in favour of *node*."""
    found = (Lead(rule, score.reduced, other.scores[rule].reduced, score.weight) for rule, score in node.scores.items())
    return tuple(sorted((lead for lead in found if lead.ahead), key=lambda lead: -lead.ahead))


def constant_scores(scored: Sequence[NodeReport]) -> dict[str, Score]:
    """The rules by which all nodes in *scored* have the same score."""
    first, *others = (node.scores for node in scored)
    return {rule: score for rule, score in first.items() if all(scores[rule].reduced == score.reduced for scores in others)}
