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
class Info:
    """A pod, and the pod whose affinity terms were parsed for it."""

    pod: Pod
    parsed: Pod

    def become(self, pod: Pod) -> None:
        """PodInfo.Update."""
        if self.pod.uid != pod.uid:
            self.parsed = pod
        self.pod = pod


@attrs.define(eq=False)
class Item:
    """A pod in the queue."""

    info: Info
    since: float
    attempts: int = 0
    plugins: set[str] = attrs.field(factory=set)
    gated: bool = False

    @property
    def pod(self) -> Pod:
        """The object as it is known now."""
        return self.info.pod

    def ends(self) -> float:
        """When its wait is over: after 1, 2, 4, 8, 10, 10... seconds."""
        return self.since + [1.0, 1.0, 2.0, 4.0, 8.0, *[10.0] * 99][self.attempts]


def fresh(pod: Pod) -> Info:
    """A pod that is parsed now."""
    return Info(pod, pod)


class NaiveFrameworkQueue:
    """*start* is when its timers begin; *listed*: the pods that there are."""

    def __init__(self, start: float, listed: dict[str, Pod]) -> None:
        self.now, self.start, self.listed = start, start, listed
        self.active = GoHeap(lambda one, other: (-one.pod.priority, one.since) < (-other.pod.priority, other.since))
        self.waiting = GoHeap(lambda one, other: one.ends() < other.ends())
        self.parked: dict[str, Item] = {}
        self.nominated: list[tuple[str, Info]] = []
        self.node_of: dict[str, str] = {}
        self.cycle, self.moved = 0, -1

    # --- nominations ------------------------------------------------------------------------------------------------

    def nominate(self, info: Info, node: str | None = None) -> None:
        """AddNominatedPod; *node*: ModeOverride."""
        self.withdraw(info.pod)
        wanted = info.pod.status.nominated_node_name or None if node is None else node
        known = self.listed.get(info.pod.key)
        if wanted is None or known is None or known.spec.node_name:
            return
        self.node_of[info.pod.uid] = wanted
        if not any(name == wanted and other.pod.uid == info.pod.uid for name, other in self.nominated):
            self.nominated.append((wanted, info))

    def withdraw(self, pod: Pod) -> None:
        """DeleteNominatedPodIfExists."""
        node = self.node_of.pop(pod.uid, None)
        for i, (name, other) in enumerate(self.nominated):
            if name == node and other.pod.uid == pod.uid:
                del self.nominated[i]
                return

    def renominate(self, old: Pod, info: Info) -> None:
        """UpdateNominatedPod."""
        says = old.status.nominated_node_name or info.pod.status.nominated_node_name
        kept = None if says else self.node_of.get(old.uid)
        self.withdraw(old)
        self.nominate(info, kept)

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
        item = Item(fresh(pod), self.now)
        if self.activate(item):
            self.parked.pop(pod.key, None)
            self.take(self.waiting, pod.key)
            self.nominate(item.info)

    def pop(self) -> Item | None:
        """Pop."""
        if not self.active.items:
            return None
        item: Item = self.active.take(0)
        item.attempts, item.plugins = item.attempts + 1, set()
        self.cycle += 1
        return item

    def fail(self, item: Item, pod: Pod | None, plugins: Iterable[str], cycle: int) -> bool:
        """AddUnschedulableIfNotPresent of what was popped, or of *pod* as it was read again; whether it was taken."""
        item.plugins = set(plugins)
        if pod is not None:
            item.info = fresh(pod)
        key = item.pod.key
        if key in self.parked or any(heap.find(key) is not None for heap in (self.active, self.waiting)):
            return False
        item.since = self.now
        if self.moved >= cycle:
            self.waiting.put(key, item)
        else:
            self.parked[key] = item
        self.nominate(item.info)
        return True

    def update(self, old: Pod, new: Pod, is_real: bool) -> None:
        """Update; *is_real* where more than the status changed."""
        for heap in (self.active, self.waiting):
            i = heap.find(old.key)
            if i is not None:
                item = heap.items[i][1]
                item.info.become(new)
                self.renominate(old, item.info)
                heap.put(new.key, item)
                return
        item = self.parked.get(new.key)
        if item is not None:
            item.info.become(new)
            self.renominate(old, item.info)
            if is_real:
                self.unpark(item)
            return
        item = Item(fresh(new), self.now)
        if self.activate(item):
            self.nominate(item.info)

    def unpark(self, item: Item) -> None:
        """To the backoff queue while it waits, else to the active one."""
        if not item.gated and item.ends() > self.now:
            self.waiting.put(item.pod.key, item)
            del self.parked[item.pod.key]
        elif self.activate(item):
            del self.parked[item.pod.key]

    def delete(self, pod: Pod) -> None:
        """Delete."""
        self.withdraw(pod)
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
        self.move(("Pod", verb), lambda item: "!" not in wanted(item.info.parsed) and wants(item.info.parsed, other))

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
        """Those that are gated."""
        return {key for key, item in self.parked.items() if item.gated}

    def places(self) -> tuple[tuple[int, int, int], set[str]]:
        """How many pods are where, and which of them are gated."""
        return self.counts(), self.gated()

    def by_node(self) -> dict[str, list[Pod]]:
        """Node -> the pods that are nominated to it."""
        return {node: [info.pod for name, info in self.nominated if name == node] for node, _ in self.nominated}


def wanted(pod: Pod) -> str:
    """The labels that a pod's terms ask for; ``!`` for a selector that is not valid, which drops all its terms."""
    affinity = pod.spec.affinity
    terms = affinity.pod_affinity.required if affinity is not None and affinity.pod_affinity is not None else ()
    expressions = [expression for term in terms if term.label_selector for expression in term.label_selector.match_expressions]
    return "".join(expression.key if expression.operator == "Exists" else "!" for expression in expressions)
