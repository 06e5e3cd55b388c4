"""One of the schedulers that are compared, and how it judges a single node."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import attrs

from ...api.objects import Pod
from ...core.decision.decision import Decision, Details
from ...core.decision.score import Ranking
from ...core.engine import Engine
from ...core.rule import Algorithm, Priority
from ...core.run import Run
from ..simulate import Simulation

FITS, TURNED_DOWN, NOT_VISITED, UNKNOWN = "fits", "turned down", "not visited", "not asked"
EXTENDER = "Extender"


class Weighed(NamedTuple):
    """A rule's score for a node, and the rule's weight."""

    score: int
    weight: int

    @property
    def total(self) -> int:
        """Its part of the node's total."""
        return self.score * self.weight


@attrs.frozen
class NodeView:
    """A node as one scheduler sees it in one cycle."""

    node: str
    state: str
    """``fits``, ``turned down``, ``not visited`` if the search ended before, ``not asked`` if the cycle did."""
    rules: tuple[str, ...] = ()
    """Those that turned it down."""
    reasons: tuple[str, ...] = ()
    scores: dict[str, Weighed] = attrs.field(factory=dict)
    """By rule; empty if nothing was scored."""
    total: int | None = None

    def record(self) -> dict[str, Any]:
        """As plain data."""
        scores = {name: {"score": score, "weight": weight, "total": score * weight} for name, (score, weight) in self.scores.items()}
        judgement = {"state": self.state, "rules": list(self.rules), "reasons": list(self.reasons)}
        return {"node": self.node, **judgement, "scores": scores, "total": self.total}


@attrs.define(eq=False)
class Contestant:
    """A scheduler of the comparison, by name, with its own copy of the cluster."""

    name: str
    simulation: Simulation
    run: Run = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.run = self.simulation.begin()
        self.engine.reads_at_once = True

    @property
    def engine(self) -> Engine:
        """The scheduler itself."""
        return self.simulation.engine

    @property
    def scale(self) -> int:
        """The highest score that a rule gives a node."""
        return self.engine.max_score

    def algorithm(self, pod: Pod) -> Algorithm:
        """The rules for *pod*; with profiles, those of its profile."""
        return self.engine.algorithm_of(pod) or self.engine.algorithm

    def weights(self, pod: Pod) -> dict[str, int]:
        """Scoring rule -> weight."""
        return {rule.name: weight for rule, weight in self.algorithm(pod).priorities}

    # --- one cycle --------------------------------------------------------------------------------------------------

    def cycle(self, pod: Pod, *, retry: bool = False) -> Decision:
        """Decide, and carry out the decision."""
        return self.simulation.note(self.run.cycle(pod, retry=retry))

    def follow(self, pod: Pod, led: Decision) -> Decision:
        """Decide, but carry out the decision of another contestant."""
        decision = self.run.follow(pod, led)
        same_room = decision.preemption is led.preemption
        self.simulation.note(decision if same_room else attrs.evolve(decision, preemption=led.preemption))
        return decision

    def view(self, decision: Decision, node: str) -> NodeView:
        """How the cycle of *decision* judged *node*; call it before the next cycle."""
        return node_view(self.engine, decision, node)


def node_view(engine: Engine, decision: Decision, node: str) -> NodeView:
    """How the cycle of *decision*, which kept its details, judged *node*; call it before the next cycle of *engine*."""
    details, row = decision.details, engine.row_of(node)
    if details is None or row is None:
        return NodeView(node, UNKNOWN)
    here = details.feasible_rows == row
    at = int(here.argmax()) if len(here) else 0
    if len(here) and here[at]:
        return _fitting(engine, decision.pod, details.ranking, node, at)
    return _unfit(details, node, row)


def _fitting(engine: Engine, pod: Pod, ranking: Ranking | None, node: str, at: int) -> NodeView:
    """The view of the node that stands *at* this place of the feasible ones."""
    if ranking is None:
        return NodeView(node, FITS)
    found = ranking.by_priority
    weights = _weights(tuple((engine.algorithm_of(pod) or engine.algorithm).priorities), tuple(found))
    scores = dict(zip(found, map(_weighed, [line.item(at) for line in found.values()], weights), strict=True))
    return NodeView(node, FITS, scores=scores, total=ranking.totals.item(at))


_weighed = lru_cache(1 << 12)(Weighed)


@lru_cache(1 << 6)
def _weights(priorities: tuple[tuple[Priority, int], ...], names: tuple[str, ...]) -> tuple[int, ...]:
    """The weight of each of *names*."""
    weights = {rule.name: weight for rule, weight in priorities}
    return tuple(weights[name] for name in names)


def _unfit(details: Details, node: str, row: int) -> NodeView:
    if not details.has_visited(row) and node not in details.extender_reasons:
        return NodeView(node, UNKNOWN if details.search is None else NOT_VISITED)
    refusal = details.refusal(row)
    if refusal is None or not refusal.reasons:
        return NodeView(node, TURNED_DOWN)
    rules = refusal.rules or ((EXTENDER,) if node in details.extender_reasons else ())
    return NodeView(node, TURNED_DOWN, rules, refusal.reasons)
