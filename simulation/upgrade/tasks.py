"""The parts of an upgrade that do not depend on each other, and what runs them: this process, others, or Dask."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import attrs

from ...api.objects import Pod
from ...exceptions import KubeclassicError
from ..compare.compare import Following, unfollowed
from ..gcpause import settled
from ..input import Observer
from ..processes.executors import Executor, InThisProcess
from .course import Course, LedCourse
from .upgradedocument import MovedPod
from .way import Causes, Way

R_co = TypeVar("R_co", covariant=True)


@attrs.frozen(repr=False)
class FoundCourses:
    """Number of a stage -> its course, and the causes of what it decides otherwise where they were found with it."""

    courses: Mapping[int, Course]
    causes: Mapping[int, Causes] = attrs.field(factory=dict)


class UpgradeTask(Protocol[R_co]):
    """A part of an upgrade."""

    def run(self, way: Way, led: LedCourse | None, following: Following) -> R_co:
        """What it comes to; *led*: the course on whose states all stages decide, None: each goes its own way."""
        ...


@attrs.frozen(repr=False)
class CourseTask:
    """The course of the stage *number*."""

    number: int

    def run(self, way: Way, led: LedCourse | None, following: Following) -> FoundCourses:
        """Its course."""
        if led is None:
            return FoundCourses({self.number: way.led(self.number, following)})
        return FoundCourses({self.number: way.followed(self.number, led)})


@attrs.frozen(repr=False)
class PairTask:
    """The courses of the stage *number* and the stage *before* it, which are followed together, and why they differ."""

    before: int
    number: int

    def run(self, way: Way, led: LedCourse | None, following: Following) -> FoundCourses:
        """Both courses, and the causes."""
        assert led is not None
        before, after, causes = way.together(self.number, led)
        return FoundCourses({self.before: before, self.number: after}, {self.number: causes})


@attrs.frozen(repr=False)
class StepTask:
    """What the step to the stage *number* moves, and why: *before* and *after* are the courses on its two sides."""

    number: int
    before: Course
    after: Course
    causes: Causes | None = None

    def run(self, way: Way, led: LedCourse | None, following: Following) -> tuple[MovedPod, ...]:
        """Each decision that differs."""
        leading = led or self.before
        assert isinstance(leading, LedCourse)
        with settled():
            return tuple(way.moved(self.number, self.before, self.after, leading, self.causes))


# --- elsewhere ------------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class UpgradeAnswer:
    """What a task came to in another process, packed; or its error."""

    data: bytes = b""
    error: str | None = None
    is_defect: bool = False
    """The error is one of this program."""


@attrs.frozen(eq=False, repr=False)
class UpgradeRunner:
    """Runs packed tasks of *way*, on the states of *led*, if all decide on those."""

    way: Way
    led: LedCourse | None

    def __reduce__(self) -> tuple[Callable[..., UpgradeRunner], tuple[Way, bytes]]:
        return _runner, (self.way, packed(self.led, self.way))

    def run(self, task: bytes) -> UpgradeAnswer:
        """Run a task."""
        try:
            asked: UpgradeTask[Any] = unpacked(task, self.way)
            return UpgradeAnswer(packed(asked.run(self.way, self.led, unfollowed), self.way))
        except KubeclassicError as error:
            return UpgradeAnswer(error=str(error))
        except Exception as error:  # the process that asked says it
            return UpgradeAnswer(error=f"{type(error).__name__}: {error}", is_defect=True)

    def lost(self, error: str) -> UpgradeAnswer:
        """A task without an answer."""
        return UpgradeAnswer(error=error)


def _runner(way: Way, led: bytes) -> UpgradeRunner:
    return UpgradeRunner(way, unpacked(led, way))


def results(
    tasks: Sequence[UpgradeTask[R_co]], way: Way, led: LedCourse | None, executor: Executor, observer: Observer
) -> Iterator[R_co]:
    """What each of *tasks* comes to, in order.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what a release refuses, and for a task whose process is always lost.
    """
    if isinstance(executor, InThisProcess):
        for task in tasks:
            yield task.run(way, led, observer.following)
        return
    asked = [packed(task, way) for task in tasks]
    found: dict[bytes, UpgradeAnswer] = {}

    def finished() -> Iterator[None]:
        for data, answer in executor.run(asked, UpgradeRunner(way, led)):
            found[data] = answer
            yield

    for _ in observer.following(finished(), len(asked), "upgrading", "tasks"):
        pass
    for data in asked:
        yield _read(found[data], way)


def _read(answer: UpgradeAnswer, way: Way) -> Any:
    if answer.error is None:
        return unpacked(answer.data, way)
    raise (RuntimeError if answer.is_defect else KubeclassicError)(answer.error)


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
