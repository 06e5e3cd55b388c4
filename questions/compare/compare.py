"""The same pods through two or more schedulers: which land elsewhere, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import attrs

from ...api.garbage import settled
from ...api.objects import Pod
from ...api.reading.notices import InputWarning
from ...api.record import astuple
from ...core.decision.decision import Decision, no_details
from ...core.engine import Engine
from ...exceptions import PolicyError, UnknownNameError
from ...simulation.nodesbyuse import nodes_by_use
from ...simulation.scenario import Scenario
from ...simulation.simulate import Simulation
from ...simulation.summary import fragmentation, summarise
from .agreement import FREE, LOCKED, MODES, SAME, Agreement, Verdict, decided, nodes_of
from .causes import SCORE, Cause, Judged, find_cause
from .contestants import Contestant, RowMap
from .document import (
    CauseCount,
    ComparedConfiguration,
    ComparedDecision,
    ComparedPod,
    ComparisonDocument,
    ConfigurationPair,
    DifferenceCause,
    DifferingCycle,
    FirstDifference,
    Losses,
    losses,
)

Following = Callable[[Iterator[None], int], Iterator[None]]
"""Passes steps on as they come, of which there are that many, and says how far it is."""


def unfollowed(steps: Iterator[None], total: int) -> Iterator[None]:
    """The *steps* alone."""
    return steps


@attrs.define(eq=False, repr=False)
class Comparison:
    """The result of a comparison; the others are compared with the first contestant."""

    mode: str
    contestants: list[Contestant]
    texts: Mapping[str, str] = attrs.field(factory=dict)
    """How each configuration was asked for, by name."""
    differences: list[DifferingCycle] = attrs.field(factory=list)
    agreements: dict[str, Agreement] = attrs.field(init=False)
    rows: dict[str, RowMap] = attrs.field(init=False)
    cycles: int = 0

    def __attrs_post_init__(self) -> None:
        first, *others = self.contestants
        self.agreements = {contestant.name: Agreement(first, contestant) for contestant in others}
        self.rows = {contestant.name: RowMap(first, contestant) for contestant in others}

    @property
    def same(self) -> bool:
        """Whether every decision is the same for all."""
        return not self.differences

    def document(self, warnings: tuple[InputWarning, ...] = ()) -> ComparisonDocument:
        """Everything."""
        return ComparisonDocument(
            warnings=warnings, mode="free" if self.mode == FREE else "locked", same=self.same,
            pods=len(self.contestants[0].simulation.outcomes), decisions=self.cycles,
            configurations=tuple(map(self._configuration, self.contestants)), against=tuple(map(self._against, self.contestants[1:])),
            differences=tuple(self.differences),
        )  # fmt: skip

    def _configuration(self, contestant: Contestant) -> ComparedConfiguration:
        simulation, engine = contestant.simulation, contestant.engine
        return ComparedConfiguration(
            contestant.name, self.texts.get(contestant.name, ""), engine.release.version, summarise(simulation),
            fragmentation(engine, simulation.scenario.pending), nodes_by_use(engine),
            {key: outcome.host for key, outcome in simulation.outcomes.items()}, dict(simulation.evicted),
        )  # fmt: skip

    def _against(self, contestant: Contestant) -> ConfigurationPair:
        """The first contestant and another one: where each pod is at the end."""
        first, second = self.contestants[0].simulation.outcomes, contestant.simulation.outcomes
        pairs = {key: (first[key].host, second[key].host) for key in first if key in second}
        gated = [key for key in pairs if first[key].is_gated != second[key].is_gated]
        held = {key: pairs[key] for key in gated if pairs[key] != (None, None)}
        unlike = {key: hosts for key, hosts in pairs.items() if hosts[0] != hosts[1] and key not in held}
        lost = {key: hosts[0] for key, hosts in unlike.items() if hosts[0] is not None and hosts[1] is None}
        gained = {key: hosts[1] for key, hosts in unlike.items() if hosts[0] is None and hosts[1] is not None}
        name = contestant.name
        return ConfigurationPair(
            first=self.contestants[0].name, second=name, alike=len(pairs) - len(unlike) - len(held),
            elsewhere=tuple(ComparedPod(key, *hosts) for key, hosts in unlike.items() if None not in hosts),
            first_alone=tuple(ComparedPod(key, host, None) for key, host in lost.items()),
            second_alone=tuple(ComparedPod(key, None, host) for key, host in gained.items()),
            gated=tuple(ComparedPod(key, *hosts) for key, hosts in held.items()),
            lost=self._losses(lost, contestant, contestant), gained=self._losses(gained, self.contestants[0], contestant),
            first_difference=self._first_difference(name), differing_decisions=sum(name in found.causes for found in self.differences),
            agreement=self.agreements[name].record(), causes=self._causes(name),
        )  # fmt: skip

    def _losses(self, hosts: Mapping[str, str], loser: Contestant, second: Contestant) -> Losses:
        """Why *loser* has no node for the pods that are on *hosts* for the other one."""
        why = {
            found.pod: (found.causes[second.name], found.decisions[loser.name].error or "")
            for found in self.differences
            if second.name in found.causes
        }
        return losses(hosts.items(), why, loser.name, loser.simulation.evicted)

    def _first_difference(self, name: str) -> FirstDifference | None:
        """The first cycle in which both decide on the same state and not the same; in mode free all later ones may follow from it."""
        found = next((difference for difference in self.differences if name in difference.causes), None)
        if found is None:
            return None
        first, cause = found.decisions[self.contestants[0].name], found.causes[name]
        why = Cause(cause.kind, cause.rule, cause.side, cause.node, cause.text)
        return FirstDifference(found.pod, found.number, found.retry, first.host, found.decisions[name].host, cause.verdict, why)

    def _causes(self, name: str) -> tuple[CauseCount, ...]:
        """How often each cause came with each verdict, the most frequent first."""
        causes = [found.causes[name] for found in self.differences if name in found.causes]
        counts = Counter((one.verdict, one.kind, one.rule, one.side if one.kind != SCORE else None) for one in causes)
        return tuple(CauseCount(*cause, cycles) for cause, cycles in counts.most_common())


def compare(
    scenario: Scenario,
    engines: Mapping[str, Engine],
    *,
    mode: str = LOCKED,
    order: str = "input",
    texts: Mapping[str, str] | None = None,
    following: Following = unfollowed,
) -> Comparison:
    """Schedule what waits in *scenario* with each of *engines*, by name; they must be new. The first decides on the order of pods.

    Raises :class:`~kubeclassic.exceptions.PolicyError` where a pod asks for a profile that one of them lacks.
    """
    if mode not in MODES:
        raise UnknownNameError(f'mode: expected {" or ".join(MODES)}, got "{mode}"')
    for name, engine in engines.items():
        for pod in scenario.pending:
            if engine.algorithm_of(pod) is None:
                raise PolicyError(f'{name}: got no profile "{pod.spec.scheduler_name}", which pod {pod.key} names')
    contestants = [Contestant(name, Simulation(scenario, engine, order, details=True)) for name, engine in engines.items()]
    comparison = Comparison(mode, contestants, texts or {})
    with settled():
        for _ in following(_steps(comparison), len(scenario.pending)):
            pass
    return comparison


# --- the cycles -----------------------------------------------------------------------------------------------------


def _steps(comparison: Comparison) -> Iterator[None]:
    """Each cycle in turn."""
    leader, *others = comparison.contestants
    for pod in leader.simulation.pods():
        _step(comparison, pod, comparison.contestants)
        yield
    while True:
        retries = {contestant.name: {pod.key: pod for pod in contestant.run.take_retries()} for contestant in comparison.contestants}
        if comparison.mode == LOCKED:
            retries |= {contestant.name: retries[leader.name] for contestant in others}
        if not any(retries.values()):
            return
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
    first, verdicts = decisions[contestants[0].name], dict[str, Verdict]()
    for contestant in contestants[1:]:
        decision = decisions[contestant.name]
        feasible = comparison.rows[contestant.name].feasible(first, decision)
        verdict = comparison.agreements[contestant.name].add(first, decision, feasible)
        if verdict != SAME:
            verdicts[contestant.name] = verdict
    if verdicts:
        comparison.differences.append(_difference(comparison.cycles, contestants, decisions, verdicts, retry))


def _difference(
    cycle: int, contestants: list[Contestant], decisions: Mapping[str, Decision], verdicts: Mapping[str, Verdict], retry: bool
) -> DifferingCycle:
    outcomes = {name: decided(decision) for name, decision in decisions.items()}
    nodes = nodes_of(*outcomes.values())
    judged = {one.name: Judged.of(one, decisions[one.name], nodes) for one in contestants}
    first = judged[contestants[0].name]
    causes = {
        name: DifferenceCause(*astuple(find_cause(first, judged[name])), verdict=verdict) for name, verdict in verdicts.items()
    }  # fmt: skip
    told = {
        name: ComparedDecision(host, one.decision.error, room, victims, one.decision.is_gated, tuple(one.views.values()))
        for (name, one), (host, room, victims) in zip(judged.items(), outcomes.values(), strict=True)
    }
    for decision in decisions.values():
        decision.details = no_details()
    return DifferingCycle(first.decision.pod.key, cycle, retry, told, causes)
