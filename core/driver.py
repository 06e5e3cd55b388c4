"""The steps from a decision to a bound pod, with the handling of failures: one driver for replays, dry runs
and live schedulers.

It has no clock and no socket. A step that takes time or writes is an effect: a coroutine of the subclass,
which awaits requests, or tasks of an agenda. The cells of a release decide which steps it has, and their
order.

Upstream: scheduleOne in pkg/scheduler/scheduler.go; schedulingCycle and bindingCycle in
pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Coroutine
from typing import Any

import attrs

from ..api.objects import Pod
from ..exceptions import CacheError
from .bindingcycle import BindingCycle, Failure
from .cluster.listings import Listings
from .decision import Decision, Preemption
from .engine import Engine
from .queue.backoff import Clock, QueuedPod
from .queue.priority import SchedulingQueue
from .router import EventRouter


@attrs.define(eq=False, repr=False)
class SchedulingState:
    """An engine with a clock and a queue, and the router that brings events to both."""

    engine: Engine
    clock: Clock = attrs.field(init=False)
    queue: SchedulingQueue = attrs.field(init=False)
    router: EventRouter = attrs.field(init=False)
    binding: BindingCycle = attrs.field(init=False)

    def begin(self, clock: Clock, scheduler_name: str | None) -> None:
        """Make the queue, with *clock*, for the pods of a scheduler; None: for all pods."""
        flow = self.engine.flow
        self.clock, self.queue = clock, flow.queue(clock)
        self.router = flow.router(self.queue, scheduler_name)
        self.binding = flow.binding

    @property
    def listings(self) -> Listings:
        """The objects that are neither nodes nor pods."""
        return self.engine.listings

    def pod(self, key: str) -> Pod | None:
        """The pod called ``namespace/name`` as in the API; None for a deleted one."""
        return self.router.pods.get(key)


@attrs.define(eq=False, repr=False)
class Attempt:
    """A pod on its way from a reserved place to its binding. Times are seconds, as the caller counts them."""

    item: QueuedPod
    host: str
    began: float = 0.0
    reserved: float = 0.0
    allowed: float = 0.0
    """The time from which it no longer waits for Permit plugins."""
    is_reserved: bool = False
    needs_volumes: bool = False
    owner: Any = None
    """The driver's own data about the pod."""
    said: str = ""
    """The text at the beginning of the event of a failure."""

    @property
    def pod(self) -> Pod:
        """The pod without a node."""
        return self.item.pod


class Driver(ABC):
    """The steps that follow a decision; those that are abstract are effects."""

    state: SchedulingState
    victims_leave_first: bool = False
    """Whether room is made for a pod before it is queued again."""

    async def conclude(self, item: QueuedPod, decision: Decision, began: float = 0.0) -> None:
        """Carry out *decision* on the popped pod of *item*; a binding goes on in the background."""
        if decision.host is None:
            await self._not_placed(item, decision)
            return
        attempt = Attempt(item, decision.host, began)
        failure = self.state.binding.reserve(item.pod, decision.host)
        if failure is None:
            attempt.is_reserved = True
            self.beside(attempt, self._bind(attempt))
        else:
            await self._failed(attempt, failure)

    async def _not_placed(self, item: QueuedPod, decision: Decision) -> None:
        plan = decision.preemption
        nominated = decision.nominated
        failure = Failure(decision.error or "", self.state.engine.flow.failure_reason(decision))
        item.plugins = decision.plugins or frozenset()
        if plan is not None and self.victims_leave_first:
            error = await self.make_room(item.pod, plan)
            cells = self.state.engine.release.framework
            if error is not None:
                nominated = None
                shown = cells.shows_post_filter and cells.tells_post_filter_errors
                if shown and decision.fit_error is not None:
                    fit_error = attrs.evolve(decision.fit_error, post_filter=f"preemption: {error}")
                    failure = attrs.evolve(failure, text=str(fit_error))
        await self.failed(item, failure, nominated)
        if plan is not None and not self.victims_leave_first:
            await self.make_room(item.pod, plan)

    async def _bind(self, attempt: Attempt) -> None:
        binding = self.state.binding
        pod = attempt.pod
        host = attempt.host
        if (failure := await self.permit(attempt)) is not None:
            await self.undo(attempt, failure)
            return
        self.state.queue.done(pod)
        await self.allowed(attempt)
        failure = binding.begin(pod, host)
        gives_back = False
        if failure is None:
            failure = await self.bind_volumes(attempt)
            gives_back = True
        self.ended(attempt, failure)
        if failure is None:
            failure = binding.bind(pod, host)
            gives_back = False
        if failure is None:
            failure = await self.write(attempt)
            gives_back = True
        if failure is not None:
            await self.undo(attempt, failure, gives_back=gives_back)
        else:
            binding.bound(pod, host)

    async def undo(self, attempt: Attempt, failure: Failure, *, gives_back: bool = False) -> None:
        """Handle a failed step, which has undone itself unless *gives_back*: the pod is queued again, and
        others may fit."""
        state = self.state
        pod = attempt.pod
        given_up = pod.bound_to(attempt.host)
        moves = True
        if gives_back:
            try:
                state.binding.give_back(pod, attempt.host)
            except CacheError:  # Upstream: only logged; the pod was confirmed or deleted before.
                moves = False
        self.given_back(attempt, failure)
        # Upstream: a rejected pod is parked; after an error the pod is moved with all others, and so backs
        # off.
        if moves and not failure.is_rejection:
            state.router.pod_given_up(given_up, but_itself=False)
        await self._failed(attempt, failure)
        if moves and failure.is_rejection:
            state.router.pod_given_up(given_up, but_itself=True)

    async def _failed(self, attempt: Attempt, failure: Failure) -> None:
        attempt.item.plugins = failure.plugins
        await self.failed(attempt.item, failure, "" if self.state.binding.ends_nominations else None, attempt)

    # --- effects --------------------------------------------------------------------------------------------

    @abstractmethod
    def beside(self, attempt: Attempt, work: Coroutine[Any, Any, None]) -> None:
        """Begin the binding of a reserved pod, *work*, in the background."""

    @abstractmethod
    async def permit(self, attempt: Attempt) -> Failure | None:
        """Wait until Permit plugins allow the pod, or reject it;
        :meth:`~.bindingcycle.BindingCycle.permitted` has the last word."""

    @abstractmethod
    async def allowed(self, attempt: Attempt) -> None:
        """Note that nothing keeps the pod from being bound."""

    @abstractmethod
    async def bind_volumes(self, attempt: Attempt) -> Failure | None:
        """Write the volumes of a pod that waits for them, until they are bound."""

    @abstractmethod
    def ended(self, attempt: Attempt, failure: Failure | None) -> None:
        """Note the end of the steps before the binding itself."""

    @abstractmethod
    async def write(self, attempt: Attempt) -> Failure | None:
        """Write the devices of the pod, and bind it."""

    @abstractmethod
    def given_back(self, attempt: Attempt, failure: Failure) -> None:
        """Note that the pod's reservations were undone."""

    @abstractmethod
    async def failed(
        self, item: QueuedPod, failure: Failure, nominated: str | None, attempt: Attempt | None = None
    ) -> None:
        """Queue the pod again, and report the reason. Its new nomination is *nominated*, None: unchanged.
        *attempt*: it had a node."""

    @abstractmethod
    async def make_room(self, pod: Pod, plan: Preemption) -> str | None:
        """Nominate *pod* and remove the victims of *plan*, in the order of the release. Returns the first
        error."""
