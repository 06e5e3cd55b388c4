"""In which order waiting pods are tried: as they came, by priority, or as the release's own queue hands them out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..api.objects import Pod
from ..core.engine import Engine
from ..core.queue.backoff import Clock
from ..core.queue.protocol import queues_by_priority

ORDERS = ("input", "priority", "queue")
"""``input``: as they came; ``priority``: the higher one first, equal ones as they came; ``queue``: as the scheduler pops them.

Where the release queues without priorities, as some do without gate PodPriority, ``priority`` is ``input``.
"""

MOMENT = 1e-6
"""Seconds between the arrivals of two pods: enough to tell them apart, too few for a back-off to end."""


def in_order(pods: Sequence[Pod], order: str, engine: Engine) -> list[Pod]:
    """*pods* in one of :data:`ORDERS`; all are taken to have come, one after another, before the first is tried.

    Those that the queue of *engine* holds back come last.
    """
    if order == "priority" and queues_by_priority(engine.algorithm):
        return sorted(pods, key=lambda pod: -pod.priority)
    return list(_popped(pods, engine)) if order == "queue" else list(pods)


def _popped(pods: Sequence[Pod], engine: Engine) -> Iterator[Pod]:
    clock = Clock()
    queue = engine.flow.queue(clock, apart=True)
    for pod in pods:
        queue.add(pod)
        clock.now += MOMENT
    while (item := queue.pop()) is not None:
        yield item.pod
    yield from queue.pods()
