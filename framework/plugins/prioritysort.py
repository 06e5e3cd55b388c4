"""PrioritySort: the order of the queue."""

from __future__ import annotations

from ...core.queue.parked import QueuedPod
from ..plugin import Plugin


class PrioritySort(Plugin):
    """Sort by priority, the highest first; equal priorities by the time of entering the queue.

    Upstream: pkg/scheduler/framework/plugins/queuesort/priority_sort.go.
    """

    name = "PrioritySort"

    def less(self, one: QueuedPod, other: QueuedPod) -> bool:
        return (-one.pod.priority, one.timestamp) < (-other.pod.priority, other.timestamp)
