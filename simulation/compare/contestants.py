"""One of the schedulers that are compared, and how it judges a single node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

import attrs

from ...api.objects import Pod
from ...api.record import Record, field, says
from ...core.decision.decision import Decision, Details
from ...core.decision.score import Ranking
from ...core.engine import Engine
from ...core.rule import Algorithm
from ...core.run import Run
from ..simulate import Simulation

FITS: Final = "fits"
TURNED_DOWN: Final = "turned down"
NOT_VISITED: Final = "not visited"
"""The search ended before."""
UNKNOWN: Final = "not asked"
"""The cycle ended before."""
EXTENDER = "Extender"


class WeighedScore(Record):
    """A rule's score for a node."""

    score: int
    weight: int
    total: Annotated[int, says("Score times weight.")]


class JudgedNode(Record):
    """A node as one configuration sees it."""

    node: str
    state: Literal["fits", "turned down", "not visited", "not asked"]
    rules: Annotated[tuple[str, ...], says("Those that turn it down.")] = ()
    reasons: tuple[str, ...] = ()
    scores: Annotated[Mapping[str, WeighedScore], says("By rule.")] = field(default_factory=dict)
    total: int | None = None


@attrs.define(eq=False, repr=False)
class Contestant:
    """A scheduler of the comparison, by name, with its own copy of the cluster."""

    name: str
    simulation: Simulation
    run: Run = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.run = self.simulation.begin()
        self.engine.transient_details = True

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


def node_view(engine: Engine, decision: Decision, node: str) -> JudgedNode:
    """How the cycle of *decision*, which kept its details, judged *node*; call it before the next cycle of *engine*."""
    details, row = decision.details, engine.row_of(node)
    if details is None or row is None:
        return JudgedNode(node, UNKNOWN)
    here = details.feasible_rows == row
    at = int(here.argmax()) if len(here) else 0
    if len(here) and here[at]:
        return _fitting(engine, decision.pod, details.ranking, node, at)
    return _unfit(details, node, row)


def _fitting(engine: Engine, pod: Pod, ranking: Ranking | None, node: str, at: int) -> JudgedNode:
    """The view of the node that stands *at* this place of the feasible ones."""
    if ranking is None:
        return JudgedNode(node, FITS)
    weights = {rule.name: weight for rule, weight in (engine.algorithm_of(pod) or engine.algorithm).priorities}
    found = {name: (line.item(at), weights[name]) for name, line in ranking.by_priority.items()}
    scores = {name: WeighedScore(score, weight, score * weight) for name, (score, weight) in found.items()}
    return JudgedNode(node, FITS, scores=scores, total=ranking.totals.item(at))


def _unfit(details: Details, node: str, row: int) -> JudgedNode:
    if not details.has_visited(row) and node not in details.extender_reasons:
        return JudgedNode(node, UNKNOWN if details.search is None else NOT_VISITED)
    refusal = details.refusal(row)
    if refusal is None or not refusal.reasons:
        return JudgedNode(node, TURNED_DOWN)
    rules = refusal.rules or ((EXTENDER,) if node in details.extender_reasons else ())
    return JudgedNode(node, TURNED_DOWN, rules, refusal.reasons)
