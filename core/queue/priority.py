"""The queue by priority of 1.12 to 1.16: any event may let any pod fit.

Upstream: PriorityQueue in pkg/scheduler/internal/queue/scheduling_queue.go (1.12: pkg/scheduler/core/scheduling_queue.go).
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from math import inf

import attrs

from ...api.meaning.labels import SelectorError, compile_selector
from ...api.objects import Pod, PodAffinityTerm
from ..cluster.nominations import Nominations
from ..rule import Algorithm
from .backoff import Backoff, Clock
from .base import QueueBase, scheduled_condition
from .fifo import Fifo, WaitingFifo
from .parked import QueuedPod
from .protocol import SchedulingQueue


@attrs.define(eq=False, kw_only=True, repr=False)
class PriorityQueue(QueueBase):
    """See :class:`~kubeclassic.core.queue.protocol.SchedulingQueue`, which says what the methods do."""

    _backoff: Backoff = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        forget_after = self.cells.backoff_forget_after
        self._backoff = Backoff(inf if forget_after is None else forget_after)

    def _time_of(self, pod: Pod) -> float:
        return pod_timestamp(pod) - self.clock.origin if self.cells.pod_timestamps else self.clock.now

    def _ends(self, item: QueuedPod) -> float:
        # Upstream: a pod that backs off moves at once if its failures were forgotten.
        until = self._backoff.until(item.pod.key)
        return -inf if until is None else until

    def _replaced(self, item: QueuedPod, pod: Pod) -> QueuedPod:
        return QueuedPod(pod, self._time_of(pod) if self.cells.pod_timestamps else item.timestamp)

    def _count_failure(self, key: str) -> None:
        self._backoff.fail(key, self.clock.now)

    def _forget_failures(self, key: str) -> None:
        self._backoff.clear(key)

    def move_all(self) -> None:
        self.tick()
        self._move(self._parked.all(), self.clock.now)

    def assigned_pod_added(self, pod: Pod) -> None:
        self.tick()
        self._move(self._parked.that_want(lambda item: wants(item, pod)), self.clock.now)


def by_priority(one: QueuedPod, other: QueuedPod) -> bool:
    """Whether *one* is tried before *other*: by priority alone."""
    return one.pod.priority > other.pod.priority


def by_priority_and_time(one: QueuedPod, other: QueuedPod) -> bool:
    """Whether *one* is tried before *other*: by priority, then by time."""
    return (-one.pod.priority, one.timestamp) < (-other.pod.priority, other.timestamp)


def pod_timestamp(pod: Pod) -> float:
    """The time of the condition PodScheduled, or of the creation if *pod* has none; seconds since 1970, ``-inf`` if absent."""
    condition = scheduled_condition(pod)
    if condition is None:
        return _seconds(pod.metadata.creation_timestamp)
    probed = _seconds(condition.last_probe_time)
    return probed if probed > -inf else _seconds(condition.last_transition_time)


@lru_cache(maxsize=100_000)
def _seconds(text: str | None) -> float:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return -inf
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def wants(item: QueuedPod, other: Pod) -> bool:
    """Whether any required affinity term matches *other*, whatever its node; an invalid selector matches no pod."""
    return any(_matches(term, item.pod, other) for term in item.terms)


def _matches(term: PodAffinityTerm, owner: Pod, other: Pod) -> bool:
    if other.namespace not in (term.namespaces or (owner.namespace,)):
        return False
    try:
        return compile_selector(term.label_selector)(other.labels)
    except SelectorError:
        return False


def queues_by_priority(algorithm: Algorithm) -> bool:
    """Whether the release's queue looks at priorities: some have a plain FIFO without gate PodPriority."""
    return not algorithm.release.queue.fifo_without_priority or algorithm.enabled("PodPriority")


def make_queue(algorithm: Algorithm, nominations: Nominations, clock: Clock, *, waits: bool = True) -> SchedulingQueue:
    """The queue of the algorithm's release and gates, which keeps *nominations* and goes by *clock*.

    *waits*: a FIFO includes the wait of failed pods, which upstream's error function adds; else they enter it at once.
    """
    cells = algorithm.release.queue
    if not queues_by_priority(algorithm):
        return WaitingFifo(clock=clock, doubles=cells.fifo_wait_doubles) if waits else Fifo(clock=clock)
    less = by_priority_and_time if cells.by_timestamp else by_priority
    return PriorityQueue(cells=cells, nominations=nominations, clock=clock, less=less)
