"""Through all releases of the way: one course for all that are proven to decide alike, and the cause of each decision that differs.

The parts do not depend on each other, so that this process runs them, or others, or Dask.
"""

from __future__ import annotations

import io
import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any, TypeVar

import attrs

from ...api.garbage import settled
from ...api.objects import Pod
from ...api.reading.notices import InputWarning
from ...exceptions import KubeclassicError
from ...framework.facts.facttable import BY_ID, ReleaseFact
from ...framework.releases import ALL_PATCH_LEVELS, OTHER_PATCHES
from ...simulation.executors import run_on
from ...simulation.input import SILENT, Observer
from ..compare.agreement import LOCKED
from ..compare.compare import Following, unfollowed
from .course import NO_COURSE, Course, LedCourse
from .stages import Stage
from .upgradedocument import MovedPod, UpgradeCause, UpgradeDocument, UpgradeStage, UpgradeStep
from .way import ELSEWHERE, GAINED, LOST, MAKES_ROOM, OTHER_ROOM, Causes, Way

R = TypeVar("R")
UpgradeTask = Callable[[Way, LedCourse | None, Following], R]
"""A part of an upgrade: one of the functions below, with its first arguments. The course is that on whose states all stages decide, None:
each goes its own way."""
FoundCourses = tuple[Mapping[int, Course], Mapping[int, Causes]]
"""Number of a stage -> its course, and the causes of what it decides otherwise where they were found with it."""


def course_of(
    number: int, way: Way, led: LedCourse | None, following: Following, like: Course = NO_COURSE, start: int = 0
) -> FoundCourses:
    """The course of the stage *number*, which decides as *like* does before the cycle *start*."""
    return {number: way.led(number, following) if led is None else way.followed(number, led, like, start)}, {}


def pair_of(number: int, way: Way, led: LedCourse | None, following: Following) -> FoundCourses:
    """The courses of the stage *number* and the one before it, which are followed together, and why they differ."""
    assert led is not None
    one, other, causes = way.together(number, led)
    return {number - 1: one, number: other}, {number: causes}


def step_of(
    number: int, before: Course, after: Course, causes: Causes | None, way: Way, led: LedCourse | None, following: Following
) -> tuple[MovedPod, ...]:
    """What the step to the stage *number* moves, and why: *before* and *after* are the courses on its two sides."""
    leading = led or before
    assert isinstance(leading, LedCourse)
    with settled():
        return tuple(way.moved(number, before, after, leading, causes))


# --- elsewhere ------------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class UpgradeRunner:
    """Runs packed tasks of *way*, on the states of *led*, if all decide on those."""

    way: Way
    led: LedCourse | None

    def __reduce__(self) -> tuple[Callable[..., UpgradeRunner], tuple[Way, bytes]]:
        return _runner, (self.way, packed(self.led, self.way))

    def run(self, task: bytes) -> bytes | Exception:
        """What a task comes to, packed; or its error, which the process that asked raises. A defect is a RuntimeError."""
        try:
            asked: UpgradeTask[Any] = unpacked(task, self.way)
            return packed(asked(self.way, self.led, unfollowed), self.way)
        except KubeclassicError as error:
            return KubeclassicError(str(error))
        except Exception as error:
            return RuntimeError(f"{type(error).__name__}: {error}")


def _runner(way: Way, led: bytes) -> UpgradeRunner:
    return UpgradeRunner(way, unpacked(led, way))


def results(tasks: Sequence[UpgradeTask[R]], way: Way, led: LedCourse | None, executor: Executor | None, observer: Observer) -> Iterator[R]:
    """What each of *tasks* comes to, in order.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what a release refuses, and for a process that is lost.
    """
    if executor is None:
        for task in tasks:
            yield task(way, led, observer.following)
        return
    asked = [packed(task, way) for task in tasks]
    found: dict[int, bytes | Exception] = {}
    for number, done in observer.following(run_on(executor, UpgradeRunner(way, led), asked), len(asked), "upgrading", "tasks"):
        found[number] = done
    for number in range(len(asked)):
        answer = found[number]
        if isinstance(answer, Exception):
            raise answer
        yield unpacked(answer, way)


# --- bytes ----------------------------------------------------------------------------------------------------------


class _Packer(pickle.Pickler):
    """Writes pods that wait as their places, as the reader has them too."""

    def __init__(self, stream: io.BytesIO, pods: Sequence[Pod]) -> None:
        super().__init__(stream, protocol=5)
        self._places = {id(pod): place for place, pod in enumerate(pods)}

    def persistent_id(self, obj: Any) -> int | None:
        """The place of a pod that waits."""
        return self._places.get(id(obj))


class _Unpacker(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, pods: Sequence[Pod]) -> None:
        super().__init__(stream)
        self._pods = pods

    def persistent_load(self, pid: int) -> Pod:
        """The pod at that place."""
        return self._pods[pid]


def packed(value: object, way: Way) -> bytes:
    """*value* as bytes, for a reader who has the pods of *way*."""
    stream = io.BytesIO()
    _Packer(stream, way.scenario.pending).dump(value)
    return stream.getvalue()


def unpacked(data: bytes, way: Way) -> Any:
    """What :func:`packed` packed."""
    return _Unpacker(io.BytesIO(data), way.scenario.pending).load()


# --- the upgrade ------------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class Courses:
    """The course of *each* stage; number of a stage -> the *causes* of what it decides otherwise, where they are known.

    *led*: the course on whose states all decide; None: each goes its own way.
    """

    led: LedCourse | None
    each: Sequence[Course]
    causes: Mapping[int, Causes]


def upgrade(
    way: Way, observer: Observer = SILENT, warnings: tuple[InputWarning, ...] = (), executor: Executor | None = None
) -> UpgradeDocument:
    """The same pods through each release of *way*, and why each decision changes; *executor*: what runs it, this process by default.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what a release refuses, and for a process that is lost.
    """
    with settled():
        courses = _courses(way, observer, executor)
        # Number of a stage -> what the step to it moves. Where causes are known there is too little left to hand over.
        sides = enumerate(zip(courses.each, courses.each[1:], strict=False), 1)
        steps = {number: both for number, both in sides if both[0] is not both[1]}
        moved: dict[int, tuple[MovedPod, ...]] = {}
        for is_known, runs in ((False, executor), (True, None)):
            numbers = [number for number in steps if (number in courses.causes) == is_known]
            tasks = [partial(step_of, number, *steps[number], courses.causes.get(number)) for number in numbers]
            moved |= zip(numbers, results(tasks, way, courses.led, runs, observer), strict=True)
        return _document(way, courses, dict(sorted(moved.items())), warnings)


def _courses(way: Way, observer: Observer, executor: Executor | None) -> Courses:
    """The course of each stage: that of the one before where it is proven to be the same, else its own from where it may differ.

    With an *executor* each is run, beside the others.
    """
    setups, count = way.setups(), len(way.stages)
    led = way.led(0, observer.following) if way.mode == LOCKED else None
    pairs = [number for number in range(1, count) if led is not None and way.is_untried(number)]
    made: dict[int, Course] = {} if led is None else {0: led}
    causes: dict[int, Causes] = {}

    def run(*tasks: UpgradeTask[FoundCourses]) -> None:
        for courses, its in results(tasks, way, led, executor, observer):
            made.update({**courses, **made})
            causes.update(its)

    if executor is not None:
        others = set(range(count)) - made.keys() - {at for number in pairs for at in (number - 1, number)}
        run(*(partial(pair_of, number) for number in pairs), *(partial(course_of, number) for number in sorted(others)))
    elif led is None:
        run(partial(course_of, 0))
    each, own = [made[0]], 0
    for number in range(1, count):
        start = setups[own].differs_from(setups[number], each[-1].asked) if way.shares else 0
        if start is not None:
            own = number
            if number not in made:
                pair = next((at for at in (number, number + 1) if at in pairs), None)
                run(partial(course_of, number, like=each[-1], start=start) if pair is None else partial(pair_of, pair))
        each.append(each[-1] if start is None else made[number])
    return Courses(led, each, causes)


def _document(way: Way, courses: Courses, moved: Mapping[int, tuple[MovedPod, ...]], warnings: tuple[InputWarning, ...]) -> UpgradeDocument:
    each = [found for its in moved.values() for found in its]
    steps = [_step(way.stages[at - 1], way.stages[at], moved.get(at, ())) for at in range(1, len(courses.each))]
    told = dict.fromkeys(found.fact for found in each if found.fact is not None)
    pods = dict.fromkeys(found.pod for found in each)
    return UpgradeDocument(
        warnings=warnings, mode="locked" if way.mode == LOCKED else "free", same=not each, pods=len(courses.each[0].hosts),
        stages=tuple(_stages(way, courses.each, moved)), steps=tuple(steps), moved=tuple(each),
        facts=tuple(ReleaseFact.of(BY_ID[name]) for name in told),
        ways={pod: tuple(course.hosts.get(pod) for course in courses.each) for pod in pods},
    )  # fmt: skip


def _step(before: Stage, after: Stage, moved: Sequence[MovedPod]) -> UpgradeStep:
    counts = Counter(found.change for found in moved)
    rules = (found.rule or (BY_ID[found.fact].plugin if found.fact else None) for found in moved)
    causes = Counter((found.effect, found.fact, rule) for found, rule in zip(moved, rules, strict=True))
    return UpgradeStep(
        before.version, after.version, len(moved), counts[GAINED], counts[LOST], counts[MAKES_ROOM], counts[ELSEWHERE],
        counts[OTHER_ROOM], tuple(UpgradeCause(*cause, count) for cause, count in causes.most_common()),
    )  # fmt: skip


def _stages(way: Way, courses: Sequence[Course], moved: Mapping[int, Sequence[MovedPod]]) -> Iterator[UpgradeStage]:
    same_as = None
    for at, (stage, course) in enumerate(zip(way.stages, courses, strict=True)):
        placed = sum(host is not None for host in course.hosts.values())
        same_as = None if not at or moved.get(at) else same_as or way.stages[at - 1].version
        like, other = ALL_PATCH_LEVELS[stage.version], OTHER_PATCHES.get(stage.version, "")
        yield UpgradeStage(stage.version, like, stage.text, placed, len(course.hosts) - placed, same_as, other)
