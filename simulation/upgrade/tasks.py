"""The parts of an upgrade that do not depend on each other, and what runs them: this process, others, or Dask."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

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

R = TypeVar("R")
UpgradeTask = Callable[[Way, LedCourse | None, Following], R]
"""A part of an upgrade: one of the functions below, with its first arguments. The course is that on whose states all stages decide, None:
each goes its own way."""
FoundCourses = tuple[Mapping[int, Course], Mapping[int, Causes]]
"""Number of a stage -> its course, and the causes of what it decides otherwise where they were found with it."""


def course_of(number: int, way: Way, led: LedCourse | None, following: Following) -> FoundCourses:
    """The course of the stage *number*."""
    return {number: way.led(number, following) if led is None else way.followed(number, led)}, {}


def pair_of(before: int, number: int, way: Way, led: LedCourse | None, following: Following) -> FoundCourses:
    """The courses of the stage *number* and the stage *before* it, which are followed together, and why they differ."""
    assert led is not None
    one, other, causes = way.together(number, led)
    return {before: one, number: other}, {number: causes}


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

    def lost(self, error: str) -> Exception:
        """A task without an answer."""
        return KubeclassicError(error)


def _runner(way: Way, led: bytes) -> UpgradeRunner:
    return UpgradeRunner(way, unpacked(led, way))


def results(
    tasks: Sequence[UpgradeTask[R]], way: Way, led: LedCourse | None, executor: Executor, observer: Observer
) -> Iterator[R]:
    """What each of *tasks* comes to, in order.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what a release refuses, and for a task whose process is always lost.
    """
    if isinstance(executor, InThisProcess):
        for task in tasks:
            yield task(way, led, observer.following)
        return
    asked = [packed(task, way) for task in tasks]
    found: dict[bytes, bytes | Exception] = {}

    def finished() -> Iterator[None]:
        for data, answer in executor.run(asked, UpgradeRunner(way, led)):
            found[data] = answer
            yield

    for _ in observer.following(finished(), len(asked), "upgrading", "tasks"):
        pass
    for data in asked:
        answer = found[data]
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
