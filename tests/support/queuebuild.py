"""A scheduling queue for tests, with its clock and nominations, and no scheduler."""

import attrs

from kubeclassic.algorithmprovider import resolve
from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.cluster.nominations import Nominations
from kubeclassic.core.queue.backoff import SECOND, Clock, QueuedPod
from kubeclassic.core.queue.priority import make_queue
from tests.support.build import pod

ALL = list(RELEASES)
BY_FLAG = ALL[:1]
"""The release whose queue marks move requests by a flag, and not by the number of the cycle."""
WITH_BACKOFF = ALL[2:]
"""The releases in which failed pods back off."""
WITH_FIFO = ALL[:3]
MARK = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}


@attrs.define(eq=False)
class Bench:
    """A queue with its clock and nominations."""

    queue: object
    clock: Clock
    nominations: Nominations

    def pop_all(self):
        """Take out all active pods."""
        names = []
        while (found := self.queue.pop()) is not None:
            names.append(found.pod.name)
        return names

    def fail(self, failed, cycle=None):
        """Put a pod back that failed in a cycle, by default the current one."""
        self.queue.add_unschedulable(QueuedPod(failed), self.queue.cycle if cycle is None else cycle)

    def nominated(self):
        """Node -> the names of the pods nominated to it."""
        return {node: [found.name for found in self.nominations.on(node)] for node in self.nominations}


def bench(release, origin=0, **gates):
    """A queue of *release* whose timers begin now; *origin*: the clock's origin, in seconds."""
    algorithm = resolve(RELEASES[release], gates=gates)
    clock = Clock(origin=origin * SECOND)
    nominations = Nominations(algorithm.release.nominations)
    queue = make_queue(algorithm.release.queue, nominations, clock, fifo=not algorithm.queues_by_priority)
    return Bench(queue, clock, nominations)


def failed(name, **more):
    """A pod with the condition of a failed attempt."""
    return pod(name, **{"status": MARK, **more})


def parked(release, *pods):
    """A queue in which *pods* are unschedulable, 20 seconds later."""
    made = bench(release)
    for item in pods:
        made.fail(item)
    assert made.queue.pending == (0, 0, len(pods))
    made.clock.now = 20 * SECOND
    return made
