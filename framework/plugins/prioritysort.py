"""Which of two waiting pods is tried first."""

from __future__ import annotations

from ..plugin import Plugin
from ..queue.queued import QueuedPod


class PrioritySort(Plugin):
    """Put pods of higher priority first, and of equal ones those that wait longer.

    Upstream: pkg/scheduler/framework/plugins/queuesort/priority_sort.go.
    """

    name = "PrioritySort"

    def less(self, one: QueuedPod, other: QueuedPod) -> bool:
        return (-one.pod.priority, one.timestamp) < (-other.pod.priority, other.timestamp)
