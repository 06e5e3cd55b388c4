"""The framework's scheduling queue, written down as plainly as it can be: lists that are searched, and every flush at every tick."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from kubeclassic.api.objects import Pod
from tests.reference.queue import GoHeap, wants

WAITS = {
    "NodeResourcesFit": {("Pod", "delete"), ("Node", "add"), ("Node", "allocatable"), ("Node", "label"), ("Node", "taint")},
    "InterPodAffinity": {("Pod", "add"), ("Pod", "update"), ("Pod", "delete"), ("Node", "add"), ("Node", "label")},
    "TaintToleration": {("Node", "add"), ("Node", "taint")},
    "SchedulingGates": {("Pod", "update")},
}
"""Plugin -> what may let pods fit that it turned down."""
EVERYTHING = ("*", "*")
FIVE_MINUTES = 300.0


@attrs.define(eq=False)
class Item:
    """A pod in the queue."""

    pod: Pod
    since: float
    attempts: int = 0
    plugins: set[str] = attrs.field(factory=set)
    gated: bool = False

    def ends(self) -> float:
        """When its wait is over: after 1, 2, 4, 8, 10, 10... seconds."""
        return self.since + [1.0, 1.0, 2.0, 4.0, 8.0, *[10.0] * 99][self.attempts]


class NaiveFrameworkQueue:
    """*start* is when its timers begin."""

    def __init__(self, start: float) -> None:
        self.now, self.start = start, start
        self.active = GoHeap(lambda one, other: (-one.pod.priority, one.since) < (-other.pod.priority, other.since))
        self.waiting = GoHeap(lambda one, other: one.ends() < other.ends())
        self.parked: dict[str, Item] = {}
        self.tried: dict[str, Item] = {}
        self.nominated: list[tuple[str, Pod]] = []
        self.cycle, self.moved = 0, -1

    # --- nominations ------------------------------------------------------------------------------------------------

    def nominate(self, pod: Pod, node: str = "") -> None:
        """AddNominatedPod."""
        self.nominated = [(name, other) for name, other in self.nominated if other.uid != pod.uid]
        wanted = node or pod.status.nominated_node_name
        if wanted:
            self.nominated.append((wanted, pod))

    def renominate(self, old: Pod, new: Pod) -> None:
        """UpdateNominatedPod."""
        kept = next((name for name, other in self.nominated if other.uid == old.uid), "")
        says = old.status.nominated_node_name or new.status.nominated_node_name
        self.nominate(new, "" if says else kept)

    # --- places -----------------------------------------------------------------------------------------------------

    def take(self, heap: GoHeap, key: str) -> Any:
        """Take an item out of a heap, if it is there."""
        i = heap.find(key)
        return None if i is None else heap.take(i)

    def activate(self, item: Item) -> bool:
        """Let it be tried, or park it where it has gates."""
        item.gated = bool(item.pod.spec.scheduling_gates)
        if item.gated:
            item.plugins = item.plugins | {"SchedulingGates"}
            self.parked[item.pod.key] = item
        else:
            self.active.put(item.pod.key, item)
        return not item.gated

    def add(self, pod: Pod) -> None:
        """Add."""
        if self.activate(Item(pod, self.now)):
            self.parked.pop(pod.key, None)
            self.take(self.waiting, pod.key)
            self.nominate(pod)

    def ask_for(self, pod: Pod) -> None:
        """Activate, as plugins ask for."""
        i = self.waiting.find(pod.key)
        item = self.parked.get(pod.key) or (None if i is None else self.waiting.items[i][1])
        if item is not None and self.active.find(pod.key) is None and self.activate(item):
            self.parked.pop(pod.key, None)
            self.take(self.waiting, pod.key)
            self.nominate(item.pod)

    def pop(self) -> Pod | None:
        """Pop."""
        if not self.active.items:
            return None
        item: Item = self.active.take(0)
        item.attempts, item.plugins = item.attempts + 1, set()
        self.cycle += 1
        self.tried[item.pod.key] = item
        return item.pod

    def fail(self, pod: Pod, plugins: Iterable[str], cycle: int) -> bool:
        """AddUnschedulableIfNotPresent; whether it was taken."""
        if pod.key in self.parked or any(heap.find(pod.key) is not None for heap in (self.active, self.waiting)):
            return False
        item = self.tried.pop(pod.key, None) or Item(pod, self.now, 1)
        item.pod, item.since, item.plugins = pod, self.now, set(plugins)
        if self.moved >= cycle:
            self.waiting.put(pod.key, item)
        else:
            self.parked[pod.key] = item
        self.nominate(pod)
        return True

    def update(self, old: Pod, new: Pod, is_real: bool) -> None:
        """Update; *is_real* where more than the status changed."""
        for heap in (self.active, self.waiting):
            i = heap.find(old.key)
            if i is not None:
                self.renominate(old, new)
                item = heap.items[i][1]
                item.pod = new
                heap.put(new.key, item)
                return
        if new.key in self.parked:
            self.renominate(old, new)
            self.parked[new.key].pod = new
            if is_real:
                self.unpark(self.parked[new.key])
        elif self.activate(Item(new, self.now)):
            self.nominate(new)

    def unpark(self, item: Item) -> None:
        """To the backoff queue while it waits, else to the active one."""
        if not item.gated and item.ends() > self.now:
            self.waiting.put(item.pod.key, item)
            del self.parked[item.pod.key]
        elif self.activate(item):
            del self.parked[item.pod.key]

    def delete(self, pod: Pod) -> None:
        """Delete."""
        self.nominated = [(name, other) for name, other in self.nominated if other.uid != pod.uid]
        self.tried.pop(pod.key, None)
        if self.take(self.active, pod.key) is None:
            self.take(self.waiting, pod.key)
            self.parked.pop(pod.key, None)

    # --- moves ------------------------------------------------------------------------------------------------------

    def move(self, event: tuple[str, str], which: Callable[[Item], bool] = lambda item: True) -> None:
        """Move the parked pods that *which* is for and that *event* may help."""
        for key in sorted(self.parked):
            item = self.parked[key]
            helped = event == EVERYTHING or not item.plugins or any(event in WAITS[name] for name in item.plugins)
            if which(item) and helped:
                self.unpark(item)
        self.moved = self.cycle

    def assigned(self, other: Pod, verb: str) -> None:
        """AssignedPodAdded and AssignedPodUpdated."""
        self.move(("Pod", verb), lambda item: wants(item.pod, other))

    def run_until(self, time: float) -> None:
        """Let time pass, with each tick of each timer."""
        while self.now < time:
            whole = self.start + int(self.now - self.start) + 1.0
            self.now = min(whole, time)
            if self.now == whole:
                self.flush()

    def flush(self) -> None:
        """What happens at a whole second."""
        while self.waiting.items and self.waiting.items[0][1].ends() <= self.now:
            self.activate(self.waiting.take(0))
        if (self.now - self.start) % 30 == 0 and any(self.now - item.since > FIVE_MINUTES for item in self.parked.values()):
            self.move(EVERYTHING, lambda item: self.now - item.since > FIVE_MINUTES)

    # --- looking ----------------------------------------------------------------------------------------------------

    def pods(self) -> list[Pod]:
        """All pods as they lie."""
        lying = [item.pod for heap in (self.active, self.waiting) for _, item in heap.items]
        return lying + [self.parked[key].pod for key in sorted(self.parked)]

    def counts(self) -> tuple[int, int, int]:
        """How many pods are where."""
        return len(self.active.items), len(self.waiting.items), len(self.parked)

    def gated(self) -> set[str]:
        """Those that are held back."""
        return {key for key, item in self.parked.items() if item.gated}

    def places(self) -> tuple[tuple[int, int, int], set[str]]:
        """How many pods are where, and which of them are held back."""
        return self.counts(), self.gated()

    def by_node(self) -> dict[str, list[Pod]]:
        """Node -> the pods that are nominated to it."""
        return {node: [pod for name, pod in self.nominated if name == node] for node, _ in self.nominated}
