"""Through all releases of the way: one course for all that decide alike, and for each step the cause of each decision that differs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import attrs

from ...api.reading.notices import InputWarning
from ...core.decision.decision import Decision
from ...core.engine import Engine
from ...core.release import Release
from ...framework.facts.fact import Fact
from ...framework.facts.facttable import BY_ID, facts_between, undone
from ...framework.facts.records import ReleaseFact
from ...framework.releases import ALL_PATCH_LEVELS, OTHER_PATCHES
from ..compare.agreement import LOCKED, Decided
from ..compare.causes import Cause
from ..compare.compare import Following, unfollowed
from ..gcpause import settled
from ..scenario import Scenario
from .causes import EARLIER, Attributed, UpgradeTrial
from .course import Course, CourseCycle, StageJudge, follow, follow_together, lead
from .stages import Stage
from .traits import concerns, traits_of
from .upgradedocument import Change, MovedPod, UpgradeCause, UpgradeDocument, UpgradeStage, UpgradeStep

GAINED: Final = "gained"
LOST: Final = "lost"
ELSEWHERE: Final = "elsewhere"
OTHER_ROOM: Final = "other room"
BY_EARLIER = Attributed(EARLIER, None, Cause("tie", text="the nodes are filled otherwise by then"))
"""In mode free: on the same state both decide alike."""


NO_COURSE = Course("")
Causes = Mapping[int, Attributed]
"""Number of a cycle of the course that leads -> why it is decided otherwise."""


@attrs.frozen(repr=False)
class Courses:
    """The course of *each* stage; number of a stage -> the *causes* of what it decides otherwise, where they are known."""

    each: Sequence[Course]
    causes: Mapping[int, Causes]


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
    """Whether releases that differ in nothing that concerns the cluster share one course."""
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

    def concerning(self, before: Stage, after: Stage) -> tuple[Fact, ...]:
        """The facts that may change a decision between two stages."""
        return tuple(fact for fact in facts_between(before.version, after.version) if concerns(fact, self.traits))

    def alike(self) -> list[int]:
        """For each stage the first one that decides alike."""
        found = [0]
        for number, (before, after) in enumerate(zip(self.stages, self.stages[1:], strict=False), 1):
            is_same = self.shares and before.text == after.text and not self.concerning(before, after)
            found.append(found[-1] if is_same else number)
        return found

    def courses(self, following: Following) -> Courses:
        """The course of each stage, with the causes that are found on the way."""
        alike, causes = self.alike(), dict[int, Causes]()
        numbers = list(dict.fromkeys(alike))
        if self.mode != LOCKED:
            made = {number: self.led(number, following) for number in numbers}
            return Courses([made[number] for number in alike], causes)
        made = {0: self.led(0, following)}
        for number in numbers[1:]:
            if self.trial(number, made[0]).is_untried:
                before, made[number], causes[number] = self._together(number, made[0])
                made.setdefault(alike[number - 1], before)
        for number in numbers[1:]:
            if number not in made:
                made[number] = self.followed(number, made[0])
        return Courses([made[number] for number in alike], causes)

    def led(self, number: int, following: Following) -> Course:
        """The course of a stage that goes its own way."""
        stage = self.stages[number]
        return lead(stage.version, self._maker(stage), self.scenario, self.order, following, self.until)

    def followed(self, number: int, led: Course) -> Course:
        """The course of a stage on the states of *led*."""
        stage = self.stages[number]
        return follow(stage.version, self._maker(stage), self.scenario, led)

    def _together(self, number: int, led: Course) -> tuple[Course, Course, Causes]:
        """The courses of the stage *number* and the one before it on the states of *led*, and the cause of each difference."""
        trial, found = self.trial(number, led), dict[int, Attributed]()

        def look(at: int, one: Decision, other: Decision) -> None:
            found[at] = trial.compared(at, one, other)

        return *follow_together(trial.older, trial.newer, look), found

    def _maker(self, stage: Stage, release: Release | None = None) -> Callable[[], Engine]:
        return partial(stage.engine, self.scenario.config_maps, release)

    # --- steps ------------------------------------------------------------------------------------------------------

    def trial(self, number: int, led: Course, before: Course = NO_COURSE, beside: Course = NO_COURSE) -> UpgradeTrial:
        """The step to the stage *number* on the states of *led*; what is known of the courses *before* it and *beside* that one."""
        first, second = self.stages[number - 1], self.stages[number]
        older, newer = ({cycle.at: cycle for cycle in course.cycles} for course in (before, beside))

        def judge(stage: Stage, own: dict[tuple[str, bool], CourseCycle], release: Release | None = None) -> StageJudge:
            return StageJudge(stage.version, self._maker(stage, release), self.scenario, led, own)

        def without(facts: Sequence[Fact]) -> StageJudge:
            return judge(second, newer, undone(second.release, facts))

        def course_without(fact: Fact, end: int | None) -> Course:
            return follow(second.version, self._maker(second, undone(second.release, [fact])), self.scenario, led, end)

        facts = self.concerning(first, second)
        return UpgradeTrial(first.release, second.release, facts, judge(first, older), judge(second, newer), without, course_without)

    def moved(self, number: int, courses: Courses) -> Iterator[MovedPod]:
        """Each decision that the step to the stage *number* changes, in the order of cycles."""
        before, after = courses.each[number - 1 : number + 1]
        if before is after:
            return
        other = {cycle.at: cycle for cycle in after.cycles}
        changed = [cycle for cycle in before.cycles if cycle.at in other and other[cycle.at].outcome != cycle.outcome]
        why = self._why(number, courses, changed)
        versions = self.stages[number - 1].version, self.stages[number].version
        for cycle in changed:
            yield moved_pod(*versions, cycle.at, cycle.outcome, other[cycle.at].outcome, why[cycle.at])

    def _why(self, number: int, courses: Courses, changed: Sequence[CourseCycle]) -> Mapping[tuple[str, bool], Attributed]:
        """Why each of the cycles *changed* is decided otherwise by the stage *number*."""
        before, beside = courses.each[number - 1 : number + 1]
        led, found = courses.each[0], courses.causes.get(number)
        if self.mode != LOCKED:
            led = before
            if self.trial(number, led).is_untried:
                _, beside, found = self._together(number, led)
            else:
                beside = self.followed(number, led)
        numbers = {cycle.at: at for at, cycle in enumerate(led.cycles)}
        if found is None:
            theirs = {cycle.at: cycle.outcome for cycle in beside.cycles}
            direct = {numbers[cycle.at]: (cycle.outcome, theirs[cycle.at]) for cycle in changed if theirs[cycle.at] != cycle.outcome}
            found = dict(zip(direct, self.trial(number, led, before, beside).attribute(direct), strict=True))
        return {cycle.at: found.get(numbers[cycle.at], BY_EARLIER) for cycle in changed}


def moved_pod(before: str, after: str, at: tuple[str, bool], old: Decided, new: Decided, why: Attributed) -> MovedPod:
    """The decision *new* of the release *after*, in the cycle *at*, in place of *old*."""
    cause = why.cause
    return MovedPod(
        at[0], before, after, at[1], _change(old, new), old[0] or old[1], new[0] or new[1], why.effect, why.fact.id if why.fact else None,
        cause.kind, cause.rule, cause.node, why.points, cause.text,
    )  # fmt: skip


def _change(old: Decided, new: Decided) -> Change:
    if old[0] is None and new[0] is None:
        return OTHER_ROOM
    if old[0] is None:
        return GAINED
    return LOST if new[0] is None else ELSEWHERE


def upgrade(way: Way, following: Following = unfollowed, warnings: tuple[InputWarning, ...] = ()) -> UpgradeDocument:
    """The same pods through each release of *way*, and why each decision changes."""
    with settled():
        return _through(way, way.courses(following), warnings)


def _through(way: Way, courses: Courses, warnings: tuple[InputWarning, ...]) -> UpgradeDocument:
    moved, steps = list[MovedPod](), list[UpgradeStep]()
    for number in range(1, len(courses.each)):
        its = list(way.moved(number, courses))
        moved += its
        steps.append(_step(way.stages[number - 1], way.stages[number], its))
    told = dict.fromkeys(found.fact for found in moved if found.fact is not None)
    pods = dict.fromkeys(found.pod for found in moved)
    return UpgradeDocument(
        warnings=warnings, mode="locked" if way.mode == LOCKED else "free", same=not moved, pods=len(courses.each[0].hosts),
        stages=tuple(_stages(way, courses.each)), steps=tuple(steps), moved=tuple(moved),
        facts=tuple(ReleaseFact.of(BY_ID[name]) for name in told),
        ways={pod: tuple(course.hosts.get(pod) for course in courses.each) for pod in pods},
    )  # fmt: skip


def _step(before: Stage, after: Stage, moved: Sequence[MovedPod]) -> UpgradeStep:
    counts = Counter(found.change for found in moved)
    causes = Counter((found.effect, found.fact, found.rule) for found in moved)
    return UpgradeStep(
        before.version, after.version, len(moved), counts[GAINED], counts[LOST], counts[ELSEWHERE], counts[OTHER_ROOM],
        tuple(UpgradeCause(*cause, count) for cause, count in causes.most_common()),
    )  # fmt: skip


def _stages(way: Way, courses: Sequence[Course]) -> Iterator[UpgradeStage]:
    for at, (stage, course, first) in enumerate(zip(way.stages, courses, way.alike(), strict=True)):
        placed = sum(host is not None for host in course.hosts.values())
        same_as = None if first == at else way.stages[first].version
        like, other = ALL_PATCH_LEVELS[stage.version], OTHER_PATCHES.get(stage.version, "")
        yield UpgradeStage(stage.version, like, stage.text, placed, len(course.hosts) - placed, same_as, other)
