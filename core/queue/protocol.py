"""The scheduling queue: which pod is tried next, and when one that failed is tried again.

Upstream: SchedulingQueue in pkg/scheduler/internal/queue/scheduling_queue.go (1.12: pkg/scheduler/core/scheduling_queue.go).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

import attrs

from ...api.objects import Pod
from .backoff import Clock
from .parked import Contents, Pending, QueuedPod


@attrs.define(eq=False, kw_only=True, repr=False)
class SchedulingQueue(ABC):
    """Pods that wait for a node. Everything happens at the time that the queue's clock shows; flushes that are due come first.

    What is not abstract does nothing, or the least, where a queue does not do it otherwise.
    """

    clock: Clock
    cycle: int = 0
    """How many pods were taken out, where that counts; the number of the cycle that the last one began."""
    on_incoming: Callable[[str, str], None] | None = None
    """Called with the part of the queue that a pod came into (``active``, ``backoff``, ``unschedulable``) and the event that moved it."""

    @property
    @abstractmethod
    def pending(self) -> Pending:
        """How many pods are active, back off, and are parked as unschedulable."""

    @abstractmethod
    def pods(self) -> list[Pod]:
        """All pods in the queue: the active ones in the order of the heap, those that back off, then those that are parked."""

    @abstractmethod
    def entries(self) -> list[QueuedPod]:
        """The entries of the pods of :meth:`pods`, in the same order."""

    @abstractmethod
    def contents(self) -> Contents:
        """The pods in each part, in the order in which they would be taken out."""

    def is_gated(self, pod: Pod) -> bool:
        """Whether a plugin keeps *pod* out of the active queue."""
        return False

    @abstractmethod
    def add(self, pod: Pod) -> None:
        """A new pod is to be scheduled."""

    @abstractmethod
    def add_if_not_present(self, pod: Pod) -> None:
        """As :meth:`add`, but a pod that is in the queue stays as it is."""

    @abstractmethod
    def add_unschedulable(self, item: QueuedPod, cycle: int) -> None:
        """A pod that was taken out failed in *cycle* (``queue.cycle`` as the attempt failed) and is to be tried again some time.

        *item* is the entry that :meth:`pop` gave, with the object as the API has it now (:meth:`QueuedPod.read_again`): its nomination
        counts, and in 1.12 and 1.13 its condition PodScheduled. Raises :class:`~kubeclassic.exceptions.CacheError` if the pod is in the
        queue already.
        """

    @abstractmethod
    def pop(self) -> QueuedPod | None:
        """Take out the pod that is to be tried next and begin a cycle; None where no pod is active."""

    @property
    @abstractmethod
    def can_pop(self) -> bool:
        """Whether :meth:`pop` would find a pod."""

    def done(self, pod: Pod) -> None:
        """A pod that was taken out is not tried any more: it is about to be bound, or was ignored."""

    @abstractmethod
    def update(self, old: Pod, new: Pod) -> None:
        """A pod that has no node changed; one that is not in the queue enters it."""

    @abstractmethod
    def delete(self, pod: Pod) -> None:
        """A pod went, or got a node; no error where it is not in the queue."""

    def nominate(self, pod: Pod, node_name: str) -> None:
        """Nominate a pod to a node, where victims have to leave first."""

    def withdraw(self, pod: Pod) -> None:
        """Remove the nomination of a pod."""

    @abstractmethod
    def move_all(self) -> None:
        """Something changed that may let any pod fit: none stays parked, and a pod that is being tried will not be parked."""

    @abstractmethod
    def assigned_pod_added(self, pod: Pod) -> None:
        """A pod is on a node: parked pods with a required affinity to it may fit."""

    def assigned_pod_updated(self, pod: Pod) -> None:
        """As :meth:`assigned_pod_added`, for a pod that changed."""
        self.assigned_pod_added(pod)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Let parked pods and those that back off be tried next, where the queue can."""

    def hold_back(self, pod: Pod, held: bool) -> None:
        """The victims of *pod* are being deleted in the background, so it does not become active; or no longer."""

    def tick(self) -> None:
        """Run the flushes that are due."""

    @abstractmethod
    def next_due(self) -> int | None:
        """When, in nanoseconds, the next flush comes that could change something; None where none could now."""
