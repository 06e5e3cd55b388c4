"""Why a pod goes where it goes: for each node the reasons against it or its scores, and what was short by how much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from ..api.objects import Pod
from ..core.arrays.types import Rows
from ..core.cycle import Cycle
from ..core.decision.decision import Decision, Details
from ..core.decision.score import Ranking, ScoreError
from ..core.decision.verdict import Judgement, Verdict
from ..core.engine import Engine
from .simulate import Simulation

INSUFFICIENT = "Insufficient "
TOO_MANY = "Too many pods"
"""The framework's text for too few free places for pods."""


@attrs.frozen
class Shortage:
    """A resource of which a node has less left than the pod requests, in millicores, bytes or pieces."""

    resource: str
    asked: int
    free: int

    @property
    def missing(self) -> int:
        """How much more would do."""
        return self.asked - self.free


@attrs.frozen
class Score:
    """A node's score by a priority or plugin: ``raw`` as computed, ``reduced`` to 0 to 10 or 0 to 100, and the weight."""

    raw: int
    reduced: int
    weight: int

    @property
    def total(self) -> int:
        """Its part of the node's total."""
        return self.reduced * self.weight


@attrs.frozen
class NodeReport:
    """One node's part in a decision."""

    name: str
    fits: bool
    visited: bool
    """False if the search found enough nodes before it reached this one."""
    rules: tuple[str, ...] = ()
    """The predicates, or the plugin, that turned the node down."""
    reasons: tuple[str, ...] = ()
    shortages: tuple[Shortage, ...] = ()
    scores: dict[str, Score] = attrs.field(factory=dict)
    """By priority or plugin; empty if the node was not scored."""
    total: int | None = None
    code: str | None = None
    """The code of the plugin's status; None if the node fits, and for a release without plugins."""

    def record(self, *, by_plugins: bool = False) -> dict[str, Any]:
        """As plain data; *by_plugins*: the rules are plugins, whose answers have a code."""
        return {
            "node": self.name,
            "fits": self.fits,
            "visited": self.visited,
            ("plugins" if by_plugins else "predicates"): list(self.rules),
            "reasons": list(self.reasons),
            "shortages": [{**attrs.asdict(short), "missing": short.missing} for short in self.shortages],
            "scores": {name: {**attrs.asdict(score), "total": score.total} for name, score in self.scores.items()},
            "total": self.total,
            **({"code": self.code} if by_plugins else {}),
        }


@attrs.frozen
class Explanation:
    """A decision, and every node's part in it: those that fit by total, then the others, each in visiting order."""

    decision: Decision
    nodes: tuple[NodeReport, ...]
    was_scored: bool
    """False if only one node fitted, which was taken without scoring; its scores are shown anyway."""

    @property
    def by_plugins(self) -> bool:
        """Whether plugins decided, as they do in the framework."""
        return self.decision.plugins is not None

    def record(self) -> dict[str, Any]:
        """As plain data."""
        nodes = [node.record(by_plugins=self.by_plugins) for node in self.nodes]
        return {**self.decision.record(), "scored": self.was_scored, "nodes": nodes}


def explain_in(simulation: Simulation, pod: Pod) -> Explanation:
    """Schedule the pods that come before *pod* in *simulation*, then explain *pod* on the cluster as it is then."""
    run = simulation.begin()
    for other in simulation.pods():
        if other.key == pod.key:
            break
        run.cycle(other)
    return explain(simulation.engine, pod)


def explain(engine: Engine, pod: Pod) -> Explanation:
    """What *engine* would decide for *pod* now, and why; visiting order and round robin do not move."""
    with engine.unmoved(pod):
        decision = engine.schedule(pod)
    if not decision.has_details:
        return Explanation(decision, (), was_scored=False)
    return _Explaining(engine, engine.begin(pod), decision.details).explanation(decision)


class _Explaining:
    def __init__(self, engine: Engine, cycle: Cycle, details: Details) -> None:
        self.engine, self.cycle, self.details, self.search = engine, cycle, details, details.search
        self.visited = details.visited
        self.weights = {priority.name: weight for priority, weight in cycle.algorithm.priorities}

    @property
    def verdict(self) -> Verdict:
        assert self.search is not None
        return self.search.verdict

    def explanation(self, decision: Decision) -> Explanation:
        ranking = self.details.ranking
        scored = self._scored(self.details.feasible_rows, ranking or self._shown_only())
        rest = [row for row in self._order() if row not in scored]
        return Explanation(decision, (*scored.values(), *(self._unscored(row) for row in rest)), ranking is not None)

    def _order(self) -> list[int]:
        """Every node once, those visited first, in visiting order."""
        visited = [] if self.search is None else self.search.visited.tolist()
        return list(dict.fromkeys([*visited, *self.engine.flow.listed()]))

    def _shown_only(self) -> Ranking | None:
        if not len(self.details.feasible_rows):
            return None
        try:
            return self.engine.flow.score(self.cycle, self.details.feasible_rows)
        except ScoreError:
            return None

    def _scored(self, rows: Rows, ranking: Ranking | None) -> dict[int, NodeReport]:
        """The nodes that fit, best first."""
        if ranking is None:
            return {row: self._report(row) for row in rows.tolist()}
        best_first = sorted(range(len(rows)), key=lambda at: -int(ranking.totals[at]))
        return {int(rows[at]): self._with_scores(int(rows[at]), at, ranking) for at in best_first}

    def _with_scores(self, row: int, at: int, ranking: Ranking) -> NodeReport:
        scores = {
            name: Score(int(ranking.raw[name][at]), int(reduced[at]), self.weights[name]) for name, reduced in ranking.by_priority.items()
        }
        return self._report(row, scores=scores, total=int(ranking.totals[at]))

    def _report(self, row: int, **fields: Any) -> NodeReport:
        return NodeReport(self.details.names[row], **{"fits": True, "visited": True, **fields})

    def _unscored(self, row: int) -> NodeReport:
        refusal, visited = self.details.refusal(row), row in self.visited
        if refusal is None:
            return self._report(row, visited=visited)
        return self._report(
            row, fits=False, visited=visited, rules=refusal.rules, reasons=refusal.reasons,
            shortages=tuple(self._shortages(row, refusal.reasons)), code=refusal.code,
        )  # fmt: skip

    def _shortages(self, row: int, reasons: tuple[str, ...]) -> Iterator[Shortage]:
        texts = (f"{INSUFFICIENT}pods" if text == TOO_MANY else text for text in reasons)
        short = dict.fromkeys(text.removeprefix(INSUFFICIENT) for text in texts if text.startswith(INSUFFICIENT))
        if not short:
            return
        judgement, at = self._judged(row)
        nodes, template = judgement.nodes, self.cycle.template
        for name in short:
            if name == "pods":
                yield Shortage(name, 1, int(nodes.max_pods[at] - nodes.pod_count[at]))
            else:
                yield Shortage(name, template.requests.get(name, 0), int(nodes.allocatable(name)[at] - nodes.requested(name)[at]))

    def _judged(self, row: int) -> tuple[Judgement, int]:
        """The pass that turned the row down: with the pods nominated there, or without them."""
        verdict = self.verdict
        place, trial = verdict.place.get(row), verdict.with_nominated
        if trial is not None and place is not None and not trial.fits[place]:
            return trial, place
        return verdict.plain, row
