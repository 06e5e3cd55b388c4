"""PrioritySort: the order of the queue."""

from __future__ import annotations

from ...core.queue.backoff import by_priority_and_time
from ..plugin import Plugin


class PrioritySort(Plugin):
    """Sort by priority, the highest first; equal priorities by the time of entering the queue.

    Upstream: pkg/scheduler/framework/plugins/queuesort/priority_sort.go.
    """

    name = "PrioritySort"
    less = staticmethod(by_priority_and_time)
