"""The same pods through two or more schedulers: which land elsewhere, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from ...api.garbage import no_garbage_collection
from ...api.objects import Pod
from ...api.record import plain
from ...core.decision.decision import Decision, no_details
from ...core.engine import Engine
from ...exceptions import PolicyError, UnknownNameError
from ..fragmentation import fragmentation
from ..gcpause import settled
from ..nodesbyuse import nodes_by_use
from ..scenario import Scenario
from ..simulate import Simulation
from ..summary import summarise
from .agreement import SAME, Agreement, decided
from .causes import SCORE, Cause, Judged, find_cause
from .contestants import Contestant
from .correlation import Correlation
from .losses import losses
from .modes import LOCKED, MODES
from .rowmaps import RowMap


@attrs.frozen
class Difference:
    """A cycle in which not all decide the same; *judged* by name has those that had this cycle."""

    pod: str
    cycle: int
    """Which cycle, from 0."""
    retry: bool
    judged: Mapping[str, Judged]
    causes: Mapping[str, Cause]
    """For each that decides otherwise than the first."""
    verdicts: Mapping[str, str]
    """For the same ones: one of :data:`~kubeclassic.simulation.compare.agreement.VERDICTS` but ``SAME``."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        decisions = {name: self._decision(one) for name, one in self.judged.items()}
        causes = {name: cause.record() | {"verdict": self.verdicts[name]} for name, cause in self.causes.items()}
        return {"pod": self.pod, "cycle": self.cycle, "retry": self.retry, "decisions": decisions, "causes": causes}

    @staticmethod
    def _decision(one: Judged) -> dict[str, Any]:
        host, room, victims = decided(one.decision)
        found = {"host": host, "error": one.decision.error, "roomOn": room, "victims": list(victims)}
        return {**found, "gated": one.decision.is_gated, "nodes": [view.record() for view in one.views.values()]}

    def drop_details(self) -> None:
        """Let go of the arrays behind the decisions."""
        for one in self.judged.values():
            one.decision.details = no_details()


@attrs.define(eq=False)
class Comparison:
    """The result of a comparison; the others are compared with the first contestant."""

    mode: str
    contestants: list[Contestant]
    texts: Mapping[str, str] = attrs.field(factory=dict)
    """How each configuration was asked for, by name."""
    differences: list[Difference] = attrs.field(factory=list)
    correlations: dict[str, Correlation] = attrs.field(init=False)
    agreements: dict[str, Agreement] = attrs.field(init=False)
    rows: dict[str, RowMap] = attrs.field(init=False)
    cycles: int = 0
    correlates: bool = True
    """Whether it is noted how the scores go together."""

    def __attrs_post_init__(self) -> None:
        first, *others = self.contestants
        self.correlations = {contestant.name: Correlation(first, contestant) for contestant in others}
        self.agreements = {contestant.name: Agreement(first, contestant) for contestant in others}
        self.rows = {contestant.name: RowMap(first, contestant) for contestant in others}

    @property
    def same(self) -> bool:
        """Whether every decision is the same for all."""
        return not self.differences

    def record(self, verdict: str | None = None) -> dict[str, Any]:
        """As plain data; with *verdict* only those differences in which some contestant has it."""
        chosen = [difference for difference in self.differences if verdict is None or verdict in difference.verdicts.values()]
        with no_garbage_collection():
            return {
                "mode": self.mode,
                "same": self.same,
                "pods": len(self.contestants[0].simulation.outcomes),
                "cycles": self.cycles,
                "configurations": [self._configuration(contestant) for contestant in self.contestants],
                "against": [self._against(contestant) for contestant in self.contestants[1:]],
                "differences": [difference.record() for difference in chosen],
            }

    def _configuration(self, contestant: Contestant) -> dict[str, Any]:
        shares = fragmentation(contestant.engine, contestant.simulation.scenario.pending)
        version, text = contestant.engine.algorithm.release.version, self.texts.get(contestant.name, "")
        hosts = {key: outcome.host for key, outcome in contestant.simulation.outcomes.items()}
        found = {"name": contestant.name, "text": text, "release": version, "summary": plain(summarise(contestant.simulation))}
        ends = {"fragmentation": shares, "nodesByUse": nodes_by_use(contestant.engine)}
        return {**found, **ends, "hosts": hosts, "evicted": dict(contestant.simulation.evicted)}

    def _against(self, contestant: Contestant) -> dict[str, Any]:
        """The first contestant and another one: where each pod is at the end."""
        first, second = self.contestants[0].simulation.outcomes, contestant.simulation.outcomes
        pairs = {key: (first[key].host, second[key].host) for key in first if key in second}
        gated = [key for key in pairs if first[key].is_gated != second[key].is_gated]
        held = {key: pairs[key] for key in gated if pairs[key] != (None, None)}
        unlike = {key: hosts for key, hosts in pairs.items() if hosts[0] != hosts[1] and key not in held}
        lost = {key: hosts[0] for key, hosts in unlike.items() if hosts[0] is not None and hosts[1] is None}
        gained = {key: hosts[1] for key, hosts in unlike.items() if hosts[0] is None and hosts[1] is not None}
        return {
            "first": self.contestants[0].name,
            "second": contestant.name,
            "alike": len(pairs) - len(unlike) - len(held),
            "elsewhere": [_moved(key, hosts) for key, hosts in unlike.items() if None not in hosts],
            "firstAlone": [_moved(key, (host, None)) for key, host in lost.items()],
            "secondAlone": [_moved(key, (None, host)) for key, host in gained.items()],
            "heldBack": [_moved(key, hosts) for key, hosts in held.items()],
            "lost": self._losses(lost, contestant, contestant),
            "gained": self._losses(gained, self.contestants[0], contestant),
            "firstDifference": self._first_difference(contestant.name),
            "differingCycles": sum(contestant.name in difference.causes for difference in self.differences),
            "agreement": self.agreements[contestant.name].record(),
            "causes": self._causes(contestant.name),
            "correlation": self.correlations[contestant.name].record(),
        }

    def _losses(self, hosts: Mapping[str, str], loser: Contestant, second: Contestant) -> dict[str, Any]:
        """Why *loser* has no node for the pods that are on *hosts* for the other one."""
        why = {
            found.pod: (found.causes[second.name], found.judged[loser.name].decision.error or "")
            for found in self.differences
            if second.name in found.causes
        }
        return losses(hosts.items(), why, loser.name, loser.simulation.evicted).record()

    def _first_difference(self, name: str) -> dict[str, Any] | None:
        """The first cycle in which both decide on the same state and not the same; in mode free all later ones may follow from it."""
        found = next((difference for difference in self.differences if name in difference.causes), None)
        if found is None:
            return None
        hosts = {side: found.judged[one].host for side, one in (("first", self.contestants[0].name), ("second", name))}
        told = {"verdict": found.verdicts[name], "cause": found.causes[name].record()}
        return {"pod": found.pod, "cycle": found.cycle, "retry": found.retry, **hosts, **told}

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
    mode: str = LOCKED,
    order: str = "input",
    texts: Mapping[str, str] | None = None,
    correlates: bool = True,
    following: Callable[[Iterator[None], int], Iterator[None]] = lambda steps, total: steps,
) -> Comparison:
    """Schedule what waits in *scenario* with each of *engines*, by name; they must be new. The first decides on the order of pods.

    Without *correlates* the results do not say how the scores go together, which takes a tenth of the time.
    Raises :class:`~kubeclassic.exceptions.PolicyError` where a pod asks for a profile that one of them lacks.
    """
    if mode not in MODES:
        raise UnknownNameError(f'mode: got "{mode}", wanted {" or ".join(MODES)}')
    for name, engine in engines.items():
        _check_profiles(name, engine, scenario)
    contestants = [Contestant(name, Simulation(scenario, engine, order, details=True)) for name, engine in engines.items()]
    comparison = Comparison(mode, contestants, texts or {}, correlates=correlates)
    with settled():
        for _ in following(_steps(comparison), len(scenario.pending)):
            pass
    return comparison


def _check_profiles(name: str, engine: Engine, scenario: Scenario) -> None:
    for pod in scenario.pending:
        if engine.flow.algorithm_of(pod) is None:
            raise PolicyError(f'{name}: got no profile "{pod.spec.scheduler_name}", which pod {pod.key} names')


# --- the cycles -----------------------------------------------------------------------------------------------------


def _steps(comparison: Comparison) -> Iterator[None]:
    """Each cycle in turn."""
    leader, *others = comparison.contestants
    for pod in leader.simulation.pods():
        _step(comparison, pod, comparison.contestants)
        yield
    retries = {contestant.name: {pod.key: pod for pod in contestant.run.take_retries()} for contestant in comparison.contestants}
    if comparison.mode == LOCKED:
        retries |= {contestant.name: retries[leader.name] for contestant in others}
    for key in dict.fromkeys(key for found in retries.values() for key in found):
        trying = [contestant for contestant in comparison.contestants if key in retries[contestant.name]]
        _step(comparison, retries[trying[0].name][key], trying, retry=True)
        yield


def _step(comparison: Comparison, pod: Pod, contestants: list[Contestant], *, retry: bool = False) -> None:
    first = contestants[0].cycle(pod, retry=retry)
    decisions = {contestants[0].name: first}
    for contestant in contestants[1:]:
        follows = comparison.mode == LOCKED
        decisions[contestant.name] = contestant.follow(pod, first) if follows else contestant.cycle(pod, retry=retry)
    if contestants[0] is comparison.contestants[0]:  # otherwise the first one does not retry this pod, and an earlier cycle has reported it
        _compare_with_first(comparison, contestants, decisions, retry)
    if comparison.mode == LOCKED:
        _give_back(*comparison.contestants)
    comparison.cycles += 1


def _give_back(leader: Contestant, *others: Contestant) -> None:
    """Pods that plugins of the first one made wait, and rejected now, lose their node for all."""
    for pod in leader.simulation.taken_back:
        for other in others:
            other.run.give_back(pod)
    leader.simulation.taken_back.clear()


def _compare_with_first(comparison: Comparison, contestants: list[Contestant], decisions: Mapping[str, Decision], retry: bool) -> None:
    """Record how the decisions agree with the first one's, while their details still exist."""
    first, verdicts = decisions[contestants[0].name], {}
    for contestant in contestants[1:]:
        decision = decisions[contestant.name]
        feasible = comparison.rows[contestant.name].feasible(first, decision)
        if comparison.correlates:
            comparison.correlations[contestant.name].add(first, decision, feasible)
        verdicts[contestant.name] = comparison.agreements[contestant.name].add(first, decision, feasible)
    unlike = {name: told for name, told in verdicts.items() if told != SAME}
    if unlike:
        comparison.differences.append(_difference(comparison.cycles, contestants, decisions, unlike, retry))


def _difference(
    cycle: int, contestants: list[Contestant], decisions: Mapping[str, Decision], verdicts: Mapping[str, str], retry: bool
) -> Difference:
    found = [decided(decision) for decision in decisions.values()]
    nodes = dict.fromkeys(name for host, room, _ in found for name in (host, room) if name is not None)
    judged = {contestant.name: _judged(contestant, decisions[contestant.name], list(nodes)) for contestant in contestants}
    first = judged[contestants[0].name]
    causes = {name: find_cause(first, judged[name]) for name in verdicts}
    made = Difference(first.decision.pod.key, cycle, retry, judged, causes, verdicts)
    made.drop_details()
    return made


def _judged(contestant: Contestant, decision: Decision, nodes: list[str]) -> Judged:
    return Judged(contestant, decision, {name: contestant.view(decision, name) for name in nodes})
