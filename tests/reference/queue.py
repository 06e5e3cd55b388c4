"""The scheduling queue, written down as plainly as it can be: lists that are searched, and every flush at every tick."""

from __future__ import annotations

import calendar
import time
from collections.abc import Callable
from typing import Any

from kubeclassic.api.meaning.labels import SelectorError, selector_matches
from kubeclassic.api.objects import Pod

FIRST = "1.12"
WITHOUT_BACKOFF = (FIRST, "1.13")
BY_POD_TIMES = "1.13"
FORGET = {"1.14": 10.0, "1.15": 20.0, "1.16": 20.0}


class GoHeap:
    """Go's container/heap on a list of (key, item)."""

    def __init__(self, less: Callable[[Any, Any], bool]) -> None:
        self.less = less
        self.items: list[tuple[str, Any]] = []

    def find(self, key: str) -> int | None:
        """Where *key* is."""
        return next((i for i, (other, _) in enumerate(self.items) if other == key), None)

    def put(self, key: str, item: Any) -> None:
        """Push, or Fix after a replacement."""
        i = self.find(key)
        if i is None:
            self.items.append((key, item))
            self.up(len(self.items) - 1)
        else:
            self.items[i] = (key, item)
            self.fix(i, len(self.items))

    def take(self, i: int) -> Any:
        """Remove the item at *i*: Pop for the head."""
        last = len(self.items) - 1
        self.items[i], self.items[last] = self.items[last], self.items[i]
        if i == 0:
            self.down(0, last)
        elif i < last:
            self.fix(i, last)
        return self.items.pop()[1]

    def fix(self, i: int, n: int) -> None:
        """Sift down, else up."""
        if self.down(i, n) == i:
            self.up(i)

    def up(self, j: int) -> None:
        """Sift up."""
        i = (j - 1) // 2
        if j > 0 and self.less(self.items[j][1], self.items[i][1]):
            self.items[i], self.items[j] = self.items[j], self.items[i]
            self.up(i)

    def down(self, i: int, n: int) -> int:
        """Sift down among the first *n*; where it came to lie."""
        left, right = 2 * i + 1, 2 * i + 2
        if left >= n:
            return i
        best = right if right < n and self.less(self.items[right][1], self.items[left][1]) else left
        if not self.less(self.items[best][1], self.items[i][1]):
            return i
        self.items[i], self.items[best] = self.items[best], self.items[i]
        return self.down(best, n)


NEVER = float("inf")


def said_time(pod: Pod) -> float:
    """When a pod was tried by its condition, else when it was made, in seconds since 1970; minus infinity if it does not say."""
    texts = [pod.metadata.creation_timestamp]
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled":
            texts = [condition.last_probe_time, condition.last_transition_time]
    return next((float(calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))) for text in texts if text), -NEVER)


class NaiveNominations:
    """(node, pod) in order of nomination."""

    def __init__(self, release: str) -> None:
        self.release = release
        self.pairs: list[tuple[str, Pod]] = []

    def add(self, pod: Pod, node: str = "") -> None:
        """Nominate a pod."""
        wanted = pod.status.nominated_node_name
        if self.release != FIRST:
            self.remove(pod)
            wanted = node or wanted
        if wanted and not any(name == wanted and other.uid == pod.uid for name, other in self.pairs):
            self.pairs.append((wanted, pod))

    def remove(self, pod: Pod) -> None:
        """Take a nomination back."""
        by_status = pod.status.nominated_node_name if self.release == FIRST else None
        self.pairs = [(name, other) for name, other in self.pairs if other.uid != pod.uid or by_status not in (None, name)]

    def update(self, old: Pod, new: Pod) -> None:
        """A pod changed."""
        node = ""
        if self.release in ("1.15", "1.16") and not old.status.nominated_node_name and not new.status.nominated_node_name:
            node = next((name for name, other in self.pairs if other.uid == old.uid), "")
        self.remove(old)
        self.add(new, node)

    def by_node(self) -> dict[str, list[Pod]]:
        """Node -> its pods."""
        return {node: [pod for name, pod in self.pairs if name == node] for node, _ in self.pairs}


class NaiveQueue:
    """The queue by priority of a release; *start* is when its timers begin."""

    def __init__(self, release: str, start: float) -> None:
        self.release, self.now, self.start = release, start, start
        self.backs_off = release not in WITHOUT_BACKOFF
        self.active = GoHeap(self.is_before)
        self.waiting = GoHeap(lambda one, other: self.ends(one[0]) < self.ends(other[0]))
        self.parked: list[tuple[Pod, float]] = []
        self.backoff: dict[str, tuple[float, float]] = {}
        self.nominated = NaiveNominations(release)
        self.cycle, self.moved = 0, -1

    def is_before(self, one: tuple[Pod, float], other: tuple[Pod, float]) -> bool:
        """The order of the active queue."""
        if self.release == FIRST or one[0].priority != other[0].priority:
            return one[0].priority > other[0].priority
        return one[1] < other[1]

    def ends(self, pod: Pod) -> float:
        """When a pod's wait ends."""
        last, wait = self.backoff.get(pod.key, (float("-inf"), 0.0))
        return last + wait

    def time_of(self, pod: Pod, entered: float) -> float:
        """What a pod is ordered and flushed by: in 1.13 what it says, else when it *entered*."""
        return said_time(pod) if self.release == BY_POD_TIMES else entered

    def place(self, pod: Pod) -> str:
        """Where a pod is."""
        if self.active.find(pod.key) is not None:
            return "active"
        if self.waiting.find(pod.key) is not None:
            return "backoff"
        return "parked" if any(other.key == pod.key for other, _ in self.parked) else ""

    def unpark(self, pod: Pod) -> None:
        """Forget a parked pod."""
        self.parked = [item for item in self.parked if item[0].key != pod.key]

    def add(self, pod: Pod) -> None:
        """Add."""
        if self.place(pod) == "parked":
            self.nominated.remove(pod)
            self.unpark(pod)
        if (i := self.waiting.find(pod.key)) is not None:
            self.waiting.take(i)
        self.active.put(pod.key, (pod, self.time_of(pod, self.now)))
        self.nominated.add(pod)

    def add_if_not_present(self, pod: Pod) -> None:
        """AddIfNotPresent."""
        if not self.place(pod):
            self.add(pod)

    def add_unschedulable(self, pod: Pod, cycle: int) -> str:
        """AddUnschedulableIfNotPresent; answers the refusal."""
        place = self.place(pod)
        if place:
            return {"parked": "unschedulableQ", "active": "the activeQ", "backoff": "the backoffQ"}[place]
        since = self.time_of(pod, self.now)
        goes_on = self.moved == self.cycle if self.release == FIRST else self.moved >= cycle
        if self.backs_off:
            self.fail(pod)
        else:
            goes_on |= not any((c.type, c.status, c.reason) == ("PodScheduled", "False", "Unschedulable") for c in pod.status.conditions)
        if not goes_on:
            self.parked.append((pod, since))
        else:
            (self.waiting if self.backs_off else self.active).put(pod.key, (pod, since))
        self.nominated.add(pod)
        return ""

    def fail(self, pod: Pod) -> None:
        """Note a failure for the back-off."""
        self.backoff = {key: step for key, step in self.backoff.items() if self.now - step[0] <= FORGET[self.release]}
        steps = [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
        if pod.key not in self.backoff:
            self.backoff[pod.key] = (self.now, steps[0])
        elif self.ends(pod) < self.now:
            self.backoff[pod.key] = (self.now, steps[steps.index(self.backoff[pod.key][1]) + 1])

    def pop(self) -> Pod | None:
        """Pop."""
        if not self.active.items:
            return None
        pod: Pod = self.active.take(0)[0]
        if self.release == FIRST:
            self.nominated.remove(pod)
        self.cycle += 1
        return pod

    def update(self, old: Pod, new: Pod, is_real: bool) -> None:
        """Update; *is_real* where more than the status changed."""
        place = self.place(old)
        if not place:
            self.active.put(new.key, (new, self.time_of(new, self.now)))
            self.nominated.add(new)
            return
        self.nominated.update(old, new)
        if place == "active":
            i = self.active.find(old.key)
            assert i is not None
            self.active.put(new.key, (new, self.time_of(new, self.active.items[i][1][1])))
        elif place == "backoff":
            i = self.waiting.find(old.key)
            assert i is not None
            self.active.put(new.key, (new, self.waiting.take(i)[1]))
        else:
            since = self.time_of(new, next(since for pod, since in self.parked if pod.key == old.key))
            if is_real:
                self.backoff.pop(new.key, None)
                self.unpark(old)
                self.active.put(new.key, (new, since))
            else:
                self.parked = [(new, since) if pod.key == old.key else (pod, other) for pod, other in self.parked]

    def delete(self, pod: Pod) -> None:
        """Delete."""
        self.nominated.remove(pod)
        if (i := self.active.find(pod.key)) is not None:
            self.active.take(i)
            return
        self.backoff.pop(pod.key, None)
        if (i := self.waiting.find(pod.key)) is not None:
            self.waiting.take(i)
        self.unpark(pod)

    def move(self, which: Callable[[Pod, float], bool] = lambda pod, since: True) -> None:
        """Move the parked pods that *which* is for."""
        for pod, since in sorted(self.parked, key=lambda item: item[0].key):
            if which(pod, since):
                (self.waiting if self.ends(pod) > self.now else self.active).put(pod.key, (pod, since))
                self.unpark(pod)
        self.moved = self.cycle

    def assigned(self, other: Pod) -> None:
        """AssignedPodAdded and AssignedPodUpdated."""
        self.move(lambda pod, since: wants(pod, other))

    def run_until(self, time: float) -> None:
        """Let time pass, with each tick of each timer."""
        while self.now < time:
            whole = self.start + int(self.now - self.start) + 1.0
            self.now = min(whole, time)
            if self.now == whole and self.release != FIRST:
                self.flush()

    def flush(self) -> None:
        """What happens at a whole second."""
        while self.waiting.items and self.ends(self.waiting.items[0][1][0]) <= self.now:
            item = self.waiting.take(0)
            self.active.put(item[0].key, item)
        old = [pod for pod, since in self.parked if 60 < self.now - since < NEVER]
        if (self.now - self.start) % 30 == 0 and old:
            self.move(lambda pod, since: 60 < self.now - since < NEVER)

    def pods(self) -> list[Pod]:
        """All pods as they lie."""
        lying = [item[0] for heap in (self.active, self.waiting) for _, item in heap.items]
        return lying + sorted((pod for pod, _ in self.parked), key=lambda pod: pod.key)

    def counts(self) -> tuple[int, int, int]:
        """How many pods are where."""
        return len(self.active.items), len(self.waiting.items), len(self.parked)


def wants(pod: Pod, other: Pod) -> bool:
    """Whether a required affinity term of *pod* is about *other*."""
    affinity = pod.spec.affinity
    for term in affinity.pod_affinity.required if affinity is not None and affinity.pod_affinity is not None else ():
        try:
            if other.namespace in (term.namespaces or [pod.namespace]) and selector_matches(term.label_selector, other.labels):
                return True
        except SelectorError:
            continue
    return False
