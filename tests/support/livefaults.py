"""Faults between a live scheduler and its API server, random but repeatable."""

import random
from collections import Counter

import attrs

from tests.apiserver import NO_FAULT, Answer, Fault, Load, amounts, refused, requests, timed_out

KINDS = {
    "409": refused(409, "Conflict"),
    "429": Fault(answer=Answer(429, "too many requests", {"retry-after": "1"})),
    "500": refused(500, "InternalError"),
    "503": refused(503, "ServiceUnavailable"),
    "dropped": Fault(is_dropped=True),
    "lost answer": Fault(is_lost=True),
    "slow before": Fault(delay=1.5),
    "slow after": Fault(slow=1.5),
    "timed out before": Fault(delay=30.0, is_dropped=True),
    "timed out after": Fault(slow=30.0, is_lost=True),
    "504 after": timed_out(),
    "500 of etcd after": timed_out(500, "InternalError", "etcdserver: request timed out"),
}
"""The faults of a request other than a watch."""
CUTS = 10
"""The share of watches that break, as a multiple of the share of other requests that fail."""
MOST_EVENTS = 200
"""A breaking watch breaks before this many events."""


def wrongs(world, watcher):
    """The faults that must never occur: pods bound twice, and overfull nodes.

    Upstream: up to 1.16 a bound pod that no informer sees for half a minute loses its place, and then a node
    may get too many pods.
    """
    has_expired = any("was not confirmed in time" in text for text in world.reports)
    return watcher.bound_twice if has_expired else watcher.faults


def with_room(storage, watcher):
    """The waiting pods for which a node of their selector has room, or would have without the pods that they
    may preempt."""
    pods = storage.of("pods")
    waiting = {
        name: pods[namespace, short]
        for name in watcher.waiting()
        for namespace, short in [tuple(name.split("/"))]
    }
    return [name for name, pod in waiting.items() if any(_rooms(pod, storage, watcher))]


def _rooms(pod, storage, watcher):
    """Whether there is room, for each node that *pod* selects."""
    wanted = requests(pod)
    selector = (pod["spec"].get("nodeSelector") or {}).items()
    for (_, name), node in storage.of("nodes").items():
        if selector <= node["metadata"]["labels"].items():
            room = amounts(node["status"]["allocatable"])
            taken = _staying(watcher.loads.get(name, Load()), _priority(pod))
            yield all(wanted[each] + taken[each] <= room[each] for each in wanted)


def _staying(load, priority):
    """The requests of the pods of a node that a pod of *priority* may not preempt."""
    if not priority:
        return load.total
    return sum((requests(each) for each in load.pods.values() if _priority(each) >= priority), Counter())


def _priority(pod):
    return int(pod["spec"].get("priority") or 0)


@attrs.define
class Faults:
    """The choice of requests that fail: a *share* of all, until :attr:`is_over`."""

    seed: int
    share: float
    is_over: bool = False
    _random: object = attrs.field(init=False)

    def __attrs_post_init__(self):
        self._random = random.Random(self.seed)

    def __call__(self, request):
        """The fault of *request*."""
        if self.is_over:
            return NO_FAULT
        if "watch=true" in request.query and self._random.random() < CUTS * self.share:
            is_expired = self._random.random() < 0.3
            return Fault(cut_after=self._random.randrange(MOST_EVENTS), is_expired=is_expired)
        if self._random.random() >= self.share:
            return NO_FAULT
        return KINDS[self._random.choice(sorted(KINDS))]

    def end(self):
        """End the faults."""
        self.is_over = True
