"""How a scheduler went through the pods: each decision, and where its search began, so that any moment can be looked at again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs

from ...api.garbage import settled
from ...api.objects import Pod
from ...core.decision.decision import NO_DETAILS, Decision
from ...core.engine import Engine
from ...core.run import Run
from ...simulation.scenario import Scenario
from ...simulation.simulate import Simulation
from ..compare.agreement import Decided, decided
from ..compare.causes import Judged
from ..compare.compare import Following
from ..compare.contestants import Contestant
from .asked import Asked

MakeEngine = Callable[[Asked], Engine]
"""Makes a scheduler, and notes what it asks for."""


@attrs.frozen(repr=False)
class CourseCycle:
    """One cycle of a course."""

    pod: Pod
    retry: int
    """How often the pod had been tried before."""
    position: tuple[Any, int]
    """How far the visiting order and the tie-break had moved before it."""
    outcome: Decided

    @property
    def at(self) -> tuple[str, int]:
        """Which cycle it is, in any course of the same pods."""
        return self.pod.key, self.retry


@attrs.frozen(repr=False)
class LedCycle(CourseCycle):
    """One whose decision is carried out."""

    decision: Decision


@attrs.frozen(repr=False)
class Course:
    """The cycles of one scheduler, in order."""

    cycles: Sequence[CourseCycle] = ()
    hosts: Mapping[str, str | None] = attrs.field(factory=dict)
    """Pod -> the node that it found at last; None if it found none."""
    asked: Mapping[str, int] = attrs.field(factory=dict)
    """Cells and gates that it asked for -> the first cycle in which it did."""


@attrs.frozen(repr=False)
class LedCourse(Course):
    """That of a scheduler that goes its own way, on whose states others can decide."""

    cycles: Sequence[LedCycle] = ()


NO_COURSE = Course()


def lead(make: MakeEngine, scenario: Scenario, order: str, following: Following, until: str | None = None) -> LedCourse:
    """The course of a scheduler that goes its own way; *until*: the pod with which it ends."""
    asked = Asked()
    simulation = Simulation(scenario, make(asked), order)
    cycles, run, tries = list[LedCycle](), simulation.begin(), Counter[str]()

    def cycle(pod: Pod) -> None:
        asked.cycle, position, retry = len(cycles), simulation.engine.position, tries[pod.key]
        decision = simulation.note(run.cycle(pod, retry=retry > 0))
        cycles.append(LedCycle(pod, retry, position, decided(decision), decision))
        tries[pod.key] += 1

    def tried(pods: Sequence[Pod]) -> Iterator[None]:
        for pod in pods:
            cycle(pod)
            yield

    with settled():
        pods = simulation.pods()
        if until is not None:
            pods = pods[: 1 + next(at for at, pod in enumerate(pods) if pod.key == until)]
        for _ in following(tried(pods), len(pods)):
            pass
        for pod in run.retries() if until is None else ():
            cycle(pod)
    hosts = {key: outcome.host for key, outcome in simulation.outcomes.items()}
    return LedCourse(cycles=cycles, hosts=hosts, asked=asked.names)


def follow(
    make: MakeEngine, scenario: Scenario, led: LedCourse, end: int | None = None, like: Course = NO_COURSE, start: int = 0
) -> Course:
    """The course of a scheduler that decides on the states of another one, whose decisions are carried out; up to the cycle *end*.

    Before the cycle *start* it decides as *like* does.
    """
    asked = Asked({name: cycle for name, cycle in like.asked.items() if cycle < start})
    simulation = Simulation(scenario, make(asked))
    cycles, run = list(like.cycles[:start]), simulation.begin()
    with settled():
        _carry_out(run, led.cycles[:start])
        if start:
            _move(simulation.engine, *like.cycles[start].position)
        for number, cycle in enumerate(led.cycles[start:end], start):
            asked.cycle, position = number, simulation.engine.position
            decision = run.follow(cycle.pod, cycle.decision)
            cycles.append(CourseCycle(cycle.pod, cycle.retry, position, decided(decision)))
    return _followed(cycles, asked)


def _carry_out(run: Run, cycles: Sequence[LedCycle]) -> None:
    """Carry out the decisions of *cycles*."""
    for cycle in cycles:
        has_claims = cycle.pod.spec.rule_volumes or cycle.pod.spec.resource_claims
        if has_claims or run.engine.template_of(cycle.pod).device_resources:
            run.follow(cycle.pod, cycle.decision)  # what its claims get is decided in the cycle itself
        else:
            run.carry_out(cycle.pod, cycle.decision)


def _followed(cycles: Sequence[CourseCycle], asked: Asked) -> Course:
    return Course(cycles, {cycle.pod.key: cycle.outcome[0] for cycle in cycles}, asked.names)


@attrs.define(eq=False, repr=False)
class StageJudge:
    """A scheduler that is asked about single cycles of a course, in their order, on the state of that moment."""

    name: str
    make: MakeEngine
    scenario: Scenario
    led: LedCourse
    """Whose decisions are carried out."""
    own: MutableMapping[tuple[str, int], CourseCycle]
    """Its own cycles, which say where its searches began; those of another one if it has none."""
    _contestant: Contestant | None = None
    _done: int = 0
    _asked: Asked = attrs.field(factory=Asked)

    @property
    def contestant(self) -> Contestant:
        """The scheduler; made when it is asked first."""
        if self._contestant is None:
            self._contestant = Contestant(self.name, Simulation(self.scenario, self.make(self._asked), details=True))
        return self._contestant

    def ask(self, number: int, like: StageJudge | None = None) -> Decision:
        """Its decision in the cycle *number*, with details; numbers must not fall. *like*: it searches from where that one did."""
        run, engine = self.contestant.run, self.contestant.engine
        _carry_out(run, self.led.cycles[self._done : number])
        self._done = number
        cycle = self.led.cycles[number]
        if (known := (like or self).own.get(cycle.at)) is not None:
            _move(engine, *known.position)
        return run.ask(cycle.pod)

    @contextmanager
    def following(self, number: int, *, details: bool) -> Iterator[Decision]:
        """A context with its decision in the cycle *number*, the next of its own course; the led one is carried out at its end."""
        cycle, run, position = self.led.cycles[number], self.contestant.run, self.contestant.engine.position
        run.details, self._done, self._asked.cycle = details, number, number
        with run.following(cycle.pod, cycle.decision) as decision:
            self.own[cycle.at] = CourseCycle(cycle.pod, cycle.retry, position, decided(decision))
            yield decision
        decision.details, self._done = NO_DETAILS, number + 1

    def in_detail(self, number: int, decision: Decision) -> Decision:
        """*decision* in the cycle *number*, in which it is now, with details."""
        if decision.has_details:
            return decision
        engine = self.contestant.engine
        position, found = engine.position, self.ask(number)
        engine.move(*position)
        return found

    def course(self) -> Course:
        """Its own course, as far as it has followed."""
        return _followed(list(self.own.values()), self._asked)

    def judged(self, decision: Decision, nodes: list[str]) -> Judged:
        """*decision*, its latest, with its view of *nodes*."""
        return Judged.of(self.contestant, decision, nodes)


def follow_together(older: StageJudge, newer: StageJudge, look: Callable[[int, Decision, Decision], object]) -> tuple[Course, Course]:
    """The courses of two schedulers on the states of a third one; *look* sees both decisions, with details, in each cycle that differs."""
    differing = 0
    with settled():
        for number, cycle in enumerate(older.led.cycles):
            # Details cost as much as the decision: they are asked for at once where they are likely to be wanted.
            details = 2 * differing > number and cycle.decision.host is not None
            with older.following(number, details=details) as one, newer.following(number, details=details) as other:
                if decided(one) != decided(other):
                    differing += 1
                    look(number, older.in_detail(number, one), newer.in_detail(number, other))
    return older.course(), newer.course()


def _move(engine: Engine, order: Any, ties: int) -> None:
    """Let the next search begin where one of a course began, perhaps that of a release with another list of nodes.

    Where lists are read on by a cursor, a position has that of the node tree, besides the place in the list.
    """
    own = engine.position[0]
    if isinstance(order, tuple) and not isinstance(own, tuple):
        order = order[0]
    elif isinstance(own, tuple) and not isinstance(order, tuple):
        order = order, own[1]
    engine.move(order, ties)
