"""The same pods through two or more schedulers: which land elsewhere, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from ...api.objects import Pod
from ...core.decision.decision import Decision
from ...core.engine import Engine
from ...exceptions import PolicyError, UnknownNameError
from ..fragmentation import fragmentation
from ..nodesbyuse import nodes_by_use
from ..scenario import Scenario
from ..simulate import Simulation
from ..summary import summarise
from .agreement import SAME, Agreement, decided
from .causes import SCORE, Cause, Judged, find_cause
from .contestants import Side
from .correlation import Correlation

FREE, LOCKED = "free", "locked"
MODES = (FREE, LOCKED)
"""``free``: each goes its own way; ``locked``: all decide on the same state each time, where the first one's decisions lead."""


@attrs.frozen
class Difference:
    """A cycle in which not all decide alike; *judged* by name, those only that had such a cycle."""

    pod: str
    cycle: int
    """Which cycle, from 0."""
    retry: bool
    judged: Mapping[str, Judged]
    causes: Mapping[str, Cause]
    """For each that decides otherwise than the first."""
    verdicts: Mapping[str, str]
    """For the same ones: :data:`~kubeclassic.simulation.compare.agreement.AMONG_BEST` or ``DIFFERENT``."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        decisions = {name: self._decision(one) for name, one in self.judged.items()}
        causes = {name: cause.record() | {"verdict": self.verdicts[name]} for name, cause in self.causes.items()}
        return {"pod": self.pod, "cycle": self.cycle, "retry": self.retry, "decisions": decisions, "causes": causes}

    @staticmethod
    def _decision(one: Judged) -> dict[str, Any]:
        host, room, victims = decided(one.decision)
        found = {"host": host, "error": one.decision.error, "roomOn": room, "victims": list(victims)}
        return found | {"nodes": [view.record() for view in one.views.values()]}

    def lean(self) -> Difference:
        """The same without the arrays behind the decisions."""
        judged = {name: attrs.evolve(one, decision=attrs.evolve(one.decision, details=None)) for name, one in self.judged.items()}
        return attrs.evolve(self, judged=judged)


@attrs.define(eq=False)
class Comparison:
    """What came of it; the first side is what the others are held against."""

    mode: str
    sides: list[Side]
    texts: Mapping[str, str] = attrs.field(factory=dict)
    """How each configuration was asked for, by name."""
    differences: list[Difference] = attrs.field(factory=list)
    correlations: dict[str, Correlation] = attrs.field(init=False)
    agreements: dict[str, Agreement] = attrs.field(init=False)
    cycles: int = 0

    def __attrs_post_init__(self) -> None:
        first, *others = self.sides
        self.correlations = {side.name: Correlation(first, side) for side in others}
        self.agreements = {side.name: Agreement(first, side) for side in others}

    @property
    def same(self) -> bool:
        """Whether every decision is the same for all."""
        return not self.differences

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "mode": self.mode,
            "same": self.same,
            "pods": len(self.sides[0].simulation.outcomes),
            "cycles": self.cycles,
            "configurations": [self._configuration(side) for side in self.sides],
            "against": [self._against(side) for side in self.sides[1:]],
            "differences": [difference.record() for difference in self.differences],
        }

    def _configuration(self, side: Side) -> dict[str, Any]:
        shares = fragmentation(side.engine, side.simulation.scenario.pending)
        version, text = side.engine.algorithm.release.version, self.texts.get(side.name, "")
        hosts = {key: outcome.host for key, outcome in side.simulation.outcomes.items()}
        found = {"name": side.name, "text": text, "release": version, "summary": summarise(side.simulation).record()}
        ends = {"fragmentation": shares, "nodesByUse": nodes_by_use(side.engine)}
        return {**found, **ends, "hosts": hosts, "evicted": dict(side.simulation.evicted)}

    def _against(self, side: Side) -> dict[str, Any]:
        """The first side and another one, pod by pod as both end."""
        first, second = self.sides[0].simulation.outcomes, side.simulation.outcomes
        pairs = {key: (first[key].host, second[key].host) for key in first if key in second}
        unlike = {key: hosts for key, hosts in pairs.items() if hosts[0] != hosts[1]}
        return {
            "first": self.sides[0].name,
            "second": side.name,
            "alike": len(pairs) - len(unlike),
            "elsewhere": [_moved(key, hosts) for key, hosts in unlike.items() if None not in hosts],
            "firstAlone": [_moved(key, hosts) for key, hosts in unlike.items() if hosts[1] is None],
            "secondAlone": [_moved(key, hosts) for key, hosts in unlike.items() if hosts[0] is None],
            "differingCycles": sum(side.name in difference.causes for difference in self.differences),
            "agreement": self.agreements[side.name].record(),
            "causes": self._causes(side.name),
            "correlation": self.correlations[side.name].record(),
        }

    def _causes(self, name: str) -> list[dict[str, Any]]:
        """How often each cause came with each verdict, the most frequent first."""
        pairs = [(d.verdicts[name], d.causes[name]) for d in self.differences if name in d.causes]
        found = Counter((told, c.kind, c.rule, c.side if c.kind != SCORE else None) for told, c in pairs)
        keys = ("verdict", "kind", "rule", "side")
        return [dict(zip(keys, cause, strict=True)) | {"cycles": cycles} for cause, cycles in found.most_common()]


def _moved(pod: str, hosts: tuple[str | None, str | None]) -> dict[str, Any]:
    return {"pod": pod, "first": hosts[0], "second": hosts[1]}


def compare(
    scenario: Scenario,
    engines: Mapping[str, Engine],
    *,
    mode: str = FREE,
    order: str = "input",
    texts: Mapping[str, str] | None = None,
    following: Callable[[Iterator[None], int], Iterator[None]] = lambda steps, total: steps,
) -> Comparison:
    """Schedule what waits in *scenario* with each of *engines*, by name; they must be new. The first decides on the order of pods.

    Raises :class:`~kubeclassic.exceptions.PolicyError` where a pod asks for a profile that one of them lacks.
    """
    if mode not in MODES:
        raise UnknownNameError(f'mode: got "{mode}", wanted {" or ".join(MODES)}')
    for name, engine in engines.items():
        _check_profiles(name, engine, scenario)
    sides = [Side(name, Simulation(scenario, engine, order, details=True)) for name, engine in engines.items()]
    comparison = Comparison(mode, sides, texts or {})
    for _ in following(_steps(comparison), len(scenario.pending)):
        pass
    return comparison


def _check_profiles(name: str, engine: Engine, scenario: Scenario) -> None:
    for pod in scenario.pending:
        if engine.flow.algorithm_of(pod) is None:
            raise PolicyError(f'{name}: got no profile "{pod.spec.scheduler_name}", which pod {pod.key} asks for')


# --- the cycles -----------------------------------------------------------------------------------------------------


def _steps(comparison: Comparison) -> Iterator[None]:
    """Each cycle in turn."""
    leader, *others = comparison.sides
    for pod in leader.simulation.pods():
        _step(comparison, pod, comparison.sides)
        yield
    retries = {side.name: {pod.key: pod for pod in side.run.take_retries()} for side in comparison.sides}
    if comparison.mode == LOCKED:
        retries |= {side.name: retries[leader.name] for side in others}
    for key in dict.fromkeys(key for found in retries.values() for key in found):
        trying = [side for side in comparison.sides if key in retries[side.name]]
        _step(comparison, retries[trying[0].name][key], trying, retry=True)
        yield


def _step(comparison: Comparison, pod: Pod, sides: list[Side], *, retry: bool = False) -> None:
    first = sides[0].cycle(pod, retry=retry)
    decisions = {sides[0].name: first}
    for side in sides[1:]:
        follows = comparison.mode == LOCKED
        decisions[side.name] = side.follow(pod, first) if follows else side.cycle(pod, retry=retry)
    if sides[0] is comparison.sides[0]:  # else the first one does not try this pod again, which an earlier cycle has told
        _hold_against(comparison, sides, decisions, retry)
    comparison.cycles += 1


def _hold_against(comparison: Comparison, sides: list[Side], decisions: Mapping[str, Decision], retry: bool) -> None:
    """Take down how the decisions go with the first one's, while all that they looked at is still there."""
    first, verdicts = decisions[sides[0].name], {}
    for side in sides[1:]:
        comparison.correlations[side.name].add(first, decisions[side.name])
        verdicts[side.name] = comparison.agreements[side.name].add(first, decisions[side.name])
    unlike = {name: told for name, told in verdicts.items() if told != SAME}
    if unlike:
        comparison.differences.append(_difference(comparison.cycles, sides, decisions, unlike, retry))


def _difference(cycle: int, sides: list[Side], decisions: Mapping[str, Decision], verdicts: Mapping[str, str], retry: bool) -> Difference:
    found = [decided(decision) for decision in decisions.values()]
    nodes = dict.fromkeys(name for host, room, _ in found for name in (host, room) if name is not None)
    judged = {side.name: _judged(side, decisions[side.name], list(nodes)) for side in sides}
    first = judged[sides[0].name]
    causes = {name: find_cause(first, judged[name]) for name in verdicts}
    return Difference(first.decision.pod.key, cycle, retry, judged, causes, verdicts).lean()


def _judged(side: Side, decision: Decision, nodes: list[str]) -> Judged:
    return Judged(side, decision, {name: side.view(decision, name) for name in nodes})
