"""The binding cycle: the steps from a decision to a bound pod, and how they are undone.

Upstream: assume and bind in pkg/scheduler/scheduler.go, and schedulingCycle, bindingCycle and
handleBindingCycleError in pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

import attrs

from ..api.objects import Pod

UNSCHEDULABLE = "Unschedulable"
Forms = tuple[tuple[str, str], ...]


@attrs.frozen(repr=False)
class Failure:
    """The failure of a step. ``reason``: for the pod's condition PodScheduled; ``plugin``: the one that
    rejected, as the queue notes it."""

    text: str
    reason: str
    plugin: str = ""

    @property
    def plugins(self) -> frozenset[str]:
        """The plugin as the queue notes it; none after an error."""
        return frozenset((self.plugin,)) if self.plugin else frozenset()

    @property
    def is_rejection(self) -> bool:
        """Whether the pod was rejected; otherwise something went wrong."""
        return self.reason == UNSCHEDULABLE


def point_error(forms: Forms, point: str, plugin: str, pod: Pod, text: str) -> str:
    """The words for an error of *plugin* at an extension point after the decision; *forms*: of points whose
    wording differs."""
    written = dict(forms).get(point, 'running {point} plugin "{plugin}": {text}')
    return written.format(point=point, plugin=plugin, pod=pod.name, namespace=pod.namespace, text=text)


class Waiting(Protocol):
    """The wait of a reserved pod until plugins allow its binding, or reject it. It has no clock: its owner
    calls :meth:`pass_time`."""

    on_end: Callable[[], None] | None
    """Called once, when the wait ends. It must not use the scheduler, which may be in the middle of another
    pod's cycle."""

    @property
    def pending_plugins(self) -> tuple[str, ...]:
        """The plugins that it waits for."""

    @property
    def is_over(self) -> bool:
        """Whether it ended; then :meth:`BindingCycle.permitted` is next."""

    @property
    def timeout(self) -> float:
        """The longest wait, in seconds from its beginning. It can grow when a plugin allows the pod."""

    def allow(self, plugin: str) -> None:
        """*plugin* allows the binding; the wait ends when the last pending plugin does so."""

    def pass_time(self, waited: float) -> None:
        """End the wait if its :attr:`timeout` is *waited* seconds or less; *waited* counts from its
        beginning."""


class DeviceWait(Protocol):
    """A wait for the devices of pods."""

    late_text: str
    """The error where the devices were not ready in time."""

    @property
    def binding_seconds(self) -> float:
        """The longest time that binding may take, in seconds."""

    def waits(self, pod: Pod) -> bool:
        """Whether devices of *pod* have to be ready before it is bound."""

    def readiness(self, pod: Pod) -> str | None:
        """The reason why the devices of *pod* cannot be used; empty: they are ready; None: not known yet."""


class BindingCycle(ABC):
    """The steps of one scheduler; *pod* is the object without a node. A step that fails undoes the earlier
    steps itself.

    In order: :meth:`reserve`; where :meth:`waiting` answers with a wait, its end and :meth:`permitted`;
    :meth:`begin`; where :meth:`waits_for_claims` says so, the wait for volumes; :meth:`bind`; :meth:`bound`.
    After a failure of any step but the first, others may fit: ``EventRouter.pod_given_up`` informs the queue.
    What is not abstract is so where nothing waits for plugins.
    """

    __slots__ = ()

    @property
    def ends_nominations(self) -> bool:
        """Whether a pod whose binding fails loses its nomination."""
        return False

    def contain_errors(self, report: Callable[[str], None]) -> None:  # noqa: B027  # most run no plugins
        """Let errors of a user's plugins fail the attempt, and *report* them; else they are raised."""

    @abstractmethod
    def reserve(self, pod: Pod, host: str) -> Failure | None:
        """The end of the scheduling cycle: the pod is assumed on *host*."""

    def waiting(self, pod: Pod) -> Waiting | None:
        """The wait of a reserved pod before :meth:`begin`; None: it need not wait."""
        return None

    def permitted(self, pod: Pod, host: str) -> Failure | None:
        """The end of a pod's wait, which is over: the pod was allowed, or why it was rejected."""
        return None

    def removed(self, pod: Pod) -> bool:
        """Reject the wait of a pod that the API no longer has, or has on a node. Returns whether there was
        one."""
        return False

    def preempt(self, victim: Pod, preemptor: Pod) -> bool:
        """Reject *victim* if it waits, and so has to lose its node only; if not (False), it has to be
        deleted."""
        return False

    @abstractmethod
    def waits_for_claims(self, pod: Pod) -> bool:
        """Whether the binding waits until the pod's claims have their volumes."""

    def volume_seconds(self, pod: Pod) -> int | None:
        """The longest wait for the volumes of *pod*; None: no plugin has one of its own."""
        return None

    def device_wait(self, pod: Pod) -> DeviceWait | None:
        """The wait for the devices of *pod*; None: there are none to wait for."""
        return None

    def begin(self, pod: Pod, host: str) -> Failure | None:
        """The steps before the wait for volumes."""
        return None

    def bind(self, pod: Pod, host: str) -> Failure | None:
        """The steps after it, and the binding itself."""
        return None

    def bound(self, pod: Pod, host: str) -> None:  # noqa: B027  # most have nothing to do
        """The steps once the pod is bound."""

    @abstractmethod
    def give_back(self, pod: Pod, host: str) -> None:
        """Undo :meth:`reserve`, because the pod will not be bound. If it waits, its wait is dropped."""

    @abstractmethod
    def failure(self, text: str) -> Failure:
        """The failure for an error *text*, such as one of the API."""
