"""From a decision to a bound pod as time passes: what the scheduler of each kind of release does at which step, and what undoes it.

Upstream: assume and bind in pkg/scheduler/scheduler.go, and schedulingCycle, bindingCycle and handleBindingCycleError in
pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from typing import Protocol

import attrs

from ...api.objects import Pod
from ...core.engine import Engine
from ...core.queue.protocol import SchedulingQueue
from ...framework.engine import FrameworkEngine
from ...framework.plugins.volumebinding import VolumeBinding
from ...framework.queue.eventhandlers import forgotten
from ...framework.queue.queue import FrameworkQueue
from ...framework.status import Status

UNSCHEDULABLE = "Unschedulable"


@attrs.frozen
class Failure:
    """Why a step failed. ``reason``: that of the pod's condition PodScheduled."""

    text: str
    reason: str

    @property
    def is_rejection(self) -> bool:
        """Whether the pod was turned down, rather than something went wrong."""
        return self.reason == UNSCHEDULABLE


class BindingCycle(Protocol):
    """The steps of one scheduler; *pod* is the object without a node. A step that fails is undone by then."""

    ends_nominations: bool
    """A pod whose binding fails is nominated to no node any more."""

    def reserve(self, pod: Pod, host: str) -> Failure | None:
        """The end of the scheduling cycle: the pod is taken to be on *host*."""
        ...

    def waits_for_claims(self, pod: Pod) -> bool:
        """Whether the pod is bound only once its claims have their volumes."""
        ...

    def begin(self, pod: Pod, host: str) -> Failure | None:
        """What comes before the wait for volumes."""
        ...

    def bind(self, pod: Pod, host: str) -> Failure | None:
        """What comes after it, and the binding itself."""
        ...

    def give_back(self, pod: Pod, host: str) -> None:
        """What :meth:`reserve` did is undone, as no binding comes."""
        ...

    def moves(self, pod: Pod, *, but_itself: bool) -> None:
        """A reserved pod was given up, so that others may be tried again."""
        ...

    def failure(self, text: str) -> Failure:
        """That something went wrong on the way."""
        ...


@attrs.define(eq=False)
class ClassicBinding:
    """With predicates and priorities: assume, wait for volumes, bind."""

    engine: Engine
    ends_nominations: bool = False

    def reserve(self, pod: Pod, host: str) -> Failure | None:
        error = self.engine.assume(pod, host)
        return None if error is None else self.failure(error)

    def waits_for_claims(self, pod: Pod) -> bool:
        return self.engine.binder.enabled

    def begin(self, pod: Pod, host: str) -> Failure | None:
        return None

    def bind(self, pod: Pod, host: str) -> Failure | None:
        return None

    def give_back(self, pod: Pod, host: str) -> None:
        self.engine.cache.forget(pod.bound_to(host))

    def moves(self, pod: Pod, *, but_itself: bool) -> None:
        """Upstream: nobody is told."""

    def failure(self, text: str) -> Failure:
        return Failure(text, self.engine.algorithm.release.binding_failed_reason)


@attrs.define(eq=False)
class FrameworkBinding:
    """With the framework: Reserve and Permit at once, then PreBind, where VolumeBinding waits for volumes, Bind and PostBind."""

    engine: FrameworkEngine
    queue: FrameworkQueue
    ends_nominations: bool = True

    def reserve(self, pod: Pod, host: str) -> Failure | None:
        return self._failure(self.engine.reserve(pod, host))

    def waits_for_claims(self, pod: Pod) -> bool:
        profile = self.engine.profile_of(pod)
        return profile is not None and any(isinstance(plugin, VolumeBinding) for plugin in profile.at("preBind"))

    def begin(self, pod: Pod, host: str) -> Failure | None:
        return self._failure(self.engine.pre_bind(pod, host, VolumeBinding))

    def bind(self, pod: Pod, host: str) -> Failure | None:
        return self._failure(self.engine.bind(pod, host, VolumeBinding))

    def give_back(self, pod: Pod, host: str) -> None:
        self.engine.give_back(pod, host)

    def moves(self, pod: Pod, *, but_itself: bool) -> None:
        forgotten(self.queue, pod if but_itself else None)

    def failure(self, text: str) -> Failure:
        return Failure(text, self.engine.algorithm.release.binding_failed_reason)

    def _failure(self, status: Status | None) -> Failure | None:
        if status is None:
            return None
        return Failure(status.message, UNSCHEDULABLE) if status.is_rejection else self.failure(status.message)


def binding_cycle(engine: Engine, queue: SchedulingQueue) -> BindingCycle:
    """The binding cycle of *engine*, which may move pods of *queue*."""
    if isinstance(engine, FrameworkEngine) and isinstance(queue, FrameworkQueue):
        return FrameworkBinding(engine, queue)
    return ClassicBinding(engine)
