"""Which rule decided among the nodes that fit, and what breaks a tie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from ...algorithmprovider.cells import in_words
from ...api.record import Names, Record, derive, says
from ...core.engine import Engine
from .values import NodeReport, NodeScore, Scores


class Lead(Record):
    """How a node scores by one rule beside another node, both before the weight."""

    rule: str
    ours: int
    theirs: int
    weight: int
    ahead: Annotated[int, says("(ours - theirs) times weight: by how much it moves the total.")] = 0

    def __post_init__(self) -> None:
        derive(self, ahead=(self.ours - self.theirs) * self.weight)


class HostChoice(Record):
    """How the host was chosen among several nodes that fit."""

    best: Annotated[int, says("The highest total.")]
    ties: Annotated[Names, says("The nodes that have it, in visiting order.")]
    tie_break: Annotated[str, says("Which of several best nodes is taken, in a sentence.")]
    against: Annotated[str | None, says("The best of the other nodes; null if all have the same total.")]
    decided: Annotated[str | None, says("The rule to which the host owes most of its lead over that one.")]
    leads: Annotated[tuple[Lead, ...], says("How the host differs from that one, the rule that matters most first.")]
    constant: Annotated[Scores, says("Rules that give every node the same score.")]
    max_score: Annotated[int, says("The highest score of a rule before the weight.")]


def choice_among(engine: Engine, host: str | None, scored: Sequence[NodeReport], visiting: Sequence[str]) -> HostChoice | None:
    """The choice of *host* among the nodes in *scored*, best first; *visiting*: their names in visiting order. None for less than two."""
    if len(scored) < 2 or host is None:
        return None
    best = max(node.total or 0 for node in scored)
    tied = {node.name for node in scored if node.total == best}
    chosen = next(node for node in scored if node.name == host)
    other = next((node for node in scored if node.name not in tied), None)
    ahead = () if other is None else leads(chosen, other)
    return HostChoice(
        best=best,
        ties=tuple(name for name in visiting if name in tied),
        tie_break=in_words(engine.release, engine.pick_host),
        against=None if other is None else other.name,
        decided=ahead[0].rule if ahead and ahead[0].ahead > 0 else None,
        leads=ahead,
        constant=constant_scores(scored),
        max_score=engine.max_score,
    )


def leads(node: NodeReport, other: NodeReport) -> tuple[Lead, ...]:
    """The rules by which two nodes score differently, those first that are most in favour of *node*."""
    found = (Lead(rule, score.reduced, other.scores[rule].reduced, score.weight) for rule, score in node.scores.items())
    return tuple(sorted((lead for lead in found if lead.ahead), key=lambda lead: -lead.ahead))


def constant_scores(scored: Sequence[NodeReport]) -> dict[str, NodeScore]:
    """The rules by which all nodes in *scored* have the same score."""
    first, *others = (node.scores for node in scored)
    return {rule: score for rule, score in first.items() if all(scores[rule].reduced == score.reduced for scores in others)}
