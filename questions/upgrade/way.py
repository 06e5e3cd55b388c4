"""The same pods through several releases: the courses, and for each step the cause of each decision that differs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import attrs

from ...core.decision.decision import Decision
from ...core.engine import Engine
from ...core.release import Release
from ...core.release.fact import Fact
from ...framework.facts.facttable import facts_between, undone
from ...simulation.scenario import Scenario
from ..compare.agreement import LOCKED, Decided
from ..compare.causes import SCORE, Cause, Judged
from ..compare.compare import Following, unfollowed
from .asked import Asked, StageSetup, kinds_of
from .causes import EARLIER, Attributed, UpgradeTrial, total_of_rule
from .course import NO_COURSE, Course, CourseCycle, LedCourse, StageJudge, follow, follow_together, lead
from .stages import Stage
from .traits import concerns, traits_of
from .upgradedocument import Change, DifferingNode, MovedPod

GAINED: Final = "gained"
LOST: Final = "lost"
MAKES_ROOM: Final = "makes room"
ELSEWHERE: Final = "elsewhere"
OTHER_ROOM: Final = "other room"
BY_EARLIER = Attributed(EARLIER, None, Cause("tie", text="the nodes are filled otherwise by then"))
"""In mode free: on the same state both decide alike."""


Causes = Mapping[int, Attributed]
"""Number of a cycle of the course that leads -> why it is decided otherwise."""


@attrs.frozen(repr=False)
class Way:
    """What is asked: the same pods through *stages*."""

    scenario: Scenario
    stages: Sequence[Stage]
    mode: str = LOCKED
    order: str = "input"
    traits: frozenset[str] = frozenset()
    """Of the cluster and the configuration."""
    shares: bool = True
    """Whether a release shares the course of another one where it is proven to be the same."""
    until: str | None = None
    """The pod with which courses end; None: none does."""

    @classmethod
    def of(
        cls, scenario: Scenario, stages: Sequence[Stage], configuration: Sequence[str] = (), *, mode: str = LOCKED, order: str = "input",
        until: str | None = None,
    ) -> Way:  # fmt: skip
        """The way of *stages*; *configuration*: traits of what they run."""
        shares = not os.environ.get("KUBECLASSIC_VERIFY")
        return cls(scenario, stages, mode, order, traits_of(scenario, configuration), shares, until)

    # --- courses ----------------------------------------------------------------------------------------------------

    def setups(self) -> list[StageSetup]:
        """What each stage is made of."""
        engines = [stage.engine(self.scenario.config_maps) for stage in self.stages]
        kinds = kinds_of(self.scenario, engines[0])
        return [StageSetup.of(engine, kinds) for engine in engines]

    def led(self, number: int, following: Following) -> LedCourse:
        """The course of a stage that goes its own way."""
        return lead(self._maker(self.stages[number]), self.scenario, self.order, following, self.until)

    def followed(self, number: int, led: LedCourse, like: Course = NO_COURSE, start: int = 0) -> Course:
        """The course of a stage on the states of *led*; before the cycle *start* it decides as *like* does."""
        return follow(self._maker(self.stages[number]), self.scenario, led, None, like, start)

    def together(self, number: int, led: LedCourse) -> tuple[Course, Course, Causes]:
        """The courses of the stage *number* and the one before it on the states of *led*, and the cause of each difference."""
        trial, found = self.trial(number, led), dict[int, Attributed]()

        def look(at: int, one: Decision, other: Decision) -> None:
            found[at] = trial.compared(at, one, other)

        return *follow_together(trial.older, trial.newer, look), found

    def _maker(self, stage: Stage, release: Release | None = None) -> Callable[[Asked], Engine]:
        return partial(stage.engine, self.scenario.config_maps, release)

    # --- steps ------------------------------------------------------------------------------------------------------

    def is_untried(self, number: int) -> bool:
        """Whether the step to the stage *number* is one whose causes are found while both stages are followed together.

        None of the facts that fit the cluster can be tried, so that each decision is looked at alone.
        """
        fitting, _ = self._facts(number)
        return len(fitting) > 1 and not any(fact.cells for fact in fitting)

    def _facts(self, number: int) -> tuple[list[Fact], list[Fact]]:
        """What the stage *number* does otherwise than the one before it: what fits the cluster, and what does not seem to."""
        found: tuple[list[Fact], list[Fact]] = [], []
        for fact in facts_between(self.stages[number - 1].version, self.stages[number].version):
            found[not concerns(fact, self.traits)].append(fact)
        return found

    def trial(self, number: int, led: LedCourse, before: Course = NO_COURSE, beside: Course = NO_COURSE) -> UpgradeTrial:
        """The step to the stage *number* on the states of *led*; what is known of the courses *before* it and *beside* that one."""
        first, second = self.stages[number - 1], self.stages[number]
        older, newer = ({cycle.at: cycle for cycle in course.cycles} for course in (before, beside))

        def judge(stage: Stage, own: dict[tuple[str, int], CourseCycle], release: Release | None = None) -> StageJudge:
            return StageJudge(stage.version, self._maker(stage, release), self.scenario, led, own)

        def without(facts: Sequence[Fact]) -> StageJudge:
            return judge(second, newer, undone(second.release, facts))

        def course_without(fact: Fact, end: int | None) -> Course:
            return follow(self._maker(second, undone(second.release, [fact])), self.scenario, led, end)

        fitting, others = self._facts(number)
        return UpgradeTrial([*fitting, *others], fitting, judge(first, older), judge(second, newer), without, course_without)

    def moved(self, number: int, before: Course, after: Course, led: LedCourse, found: Causes | None = None) -> Iterator[MovedPod]:
        """Each decision that the step to the stage *number* changes, in the order of cycles.

        *before*, *after*: the courses on its two sides. *led*: that on whose states causes are looked for. *found*: those that are known.
        """
        other = {cycle.at: cycle for cycle in after.cycles}
        changed = [cycle for cycle in before.cycles if cycle.at in other and other[cycle.at].outcome != cycle.outcome]
        if not changed:
            return
        beside = after
        if self.mode != LOCKED:  # the newer release went its own way: what decides it on the states of the older one?
            if self.is_untried(number):
                _, beside, found = self.together(number, led)
            else:
                beside = self.followed(number, led)
        numbers = {cycle.at: at for at, cycle in enumerate(led.cycles)}
        if found is None:
            theirs = {cycle.at: cycle.outcome for cycle in beside.cycles}
            direct = {numbers[cycle.at]: (cycle.outcome, theirs[cycle.at]) for cycle in changed if theirs[cycle.at] != cycle.outcome}
            found = dict(zip(direct, self.trial(number, led, before, beside).attribute(direct), strict=True))
        versions = self.stages[number - 1].version, self.stages[number].version
        for cycle in changed:
            yield moved_pod(*versions, cycle.at, cycle.outcome, other[cycle.at].outcome, found.get(numbers[cycle.at], BY_EARLIER))


    def differing(self, found: MovedPod) -> Iterator[DifferingNode]:
        """The nodes that the step of *found* judges otherwise, on the state in which the pod's turn comes."""
        number = [stage.version for stage in self.stages].index(found.after)
        led = attrs.evolve(self, until=found.pod).led(0 if self.mode == LOCKED else number - 1, unfollowed)
        before, after = self.followed(number - 1, led), self.followed(number, led)
        trial, names = self.trial(number, led, before, after), [node.name for node in self.scenario.nodes]
        at = len(led.cycles) - 1
        older, newer = (judge.judged(judge.ask(at), names) for judge in (trial.older, trial.newer))
        rule = found.rule if found.kind == SCORE else None
        for name in names:
            old, new = (_told(rule, judged, name) for judged in (older, newer))
            if old != new:
                yield DifferingNode(found.after, name, old, new)


def _told(rule: str | None, judged: Judged, node: str) -> str:
    view = judged.views[node]
    points = None if rule is None else total_of_rule(rule, view)
    if points is not None:
        return f"{view.state}, {points * 100 // judged.contestant.scale} points by {rule}"
    return ": ".join(filter(None, [view.state, "; ".join(view.reasons)]))


def moved_pod(before: str, after: str, at: tuple[str, int], old: Decided, new: Decided, why: Attributed) -> MovedPod:
    """The decision *new* of the release *after*, in the cycle *at*, in place of *old*."""
    cause = why.cause
    return MovedPod(
        at[0], before, after, at[1] > 0, _change(old, new), old[0] or old[1], new[0] or new[1], why.effect,
        why.fact.id if why.fact else None, cause.kind, cause.rule, cause.node, why.points, cause.text,
    )  # fmt: skip


def _change(old: Decided, new: Decided) -> Change:
    if old[0] is None and new[0] is None:
        return OTHER_ROOM
    if old[0] is None:
        return GAINED
    if new[0] is None:
        return LOST if new[1] is None else MAKES_ROOM
    return ELSEWHERE
