"""A scheduling queue on a bench, for tests: with its clock and nominations, and no scheduler around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from kubeclassic.algorithmprovider import resolve
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.objects import Pod
from kubeclassic.core.cluster.nominations import Nominations
from kubeclassic.core.queue.clock import Clock
from kubeclassic.core.queue.protocol import SchedulingQueue, make_queue
from tests.support.build import pod

ALL = list(RELEASES)
BY_FLAG, BY_CYCLE = ALL[:2], ALL[2:]
"""The releases whose queue marks moves by a flag and has no backoff queue, and the others."""
WITH_FIFO = ALL[:3]
MARK = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}


@attrs.define(eq=False)
class Bench:
    """A queue with its clock and nominations."""

    queue: SchedulingQueue
    clock: Clock
    nominations: Nominations

    def pop_all(self) -> list[str]:
        """Take out all active pods."""
        names = []
        while (found := self.queue.pop()) is not None:
            names.append(found.name)
        return names

    def fail(self, failed: Pod) -> None:
        """A pod fails in the cycle that is under way."""
        self.queue.add_unschedulable(failed, self.queue.cycle)

    def nominated(self) -> dict[str, list[str]]:
        """Node -> names of its pods."""
        return {node: [found.name for found in self.nominations.on(node)] for node in self.nominations}


def bench(release: str, start: float = 0.0, **gates: bool) -> Bench:
    """A queue of *release* whose timers begin at *start*."""
    algorithm, clock = resolve(RELEASES[release], gates=gates), Clock(start)
    cells = algorithm.release.queue
    nominations = Nominations(cells.nominations_by_uid, cells.keeps_nomination_on_update)
    return Bench(make_queue(algorithm, nominations, clock), clock, nominations)


def failed(name: str, **more: Any) -> Pod:
    """A pod that bears the mark of a failed attempt."""
    return pod(name, **{"status": MARK, **more})


def parked(release: str, *pods: Pod) -> Bench:
    """A queue in which *pods* are parked, with a minute gone by since."""
    made = bench(release)
    for item in pods:
        made.fail(item)
    assert made.queue.pending == (0, 0, len(pods))
    made.clock.now = 20.0
    return made


def jump_to_the_next_flush(real: Any, naive: Any, clock: Clock, told: Callable[[], object]) -> None:
    """Let time pass up to the flush that *real* announces; what is *told* of *naive* must change then, and not before."""
    real.tick()
    due, before = real.next_due(), told()
    naive.run_until(clock.now + 100.0 if due is None else due - 0.25)
    assert told() == before
    if due is not None:
        naive.run_until(due)
        assert told() != before
    clock.now = naive.now
