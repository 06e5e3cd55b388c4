"""The queue without priorities, written down as plainly as it can be."""

from __future__ import annotations

from kubeclassic.api.objects import Pod


class NaiveFifo:
    """Keys in a line, some of them of pods that left; and waits as [end, key, whether it is over]."""

    def __init__(self, release: str) -> None:
        self.forgets_everything = release == "1.14"
        self.now = 0.0
        self.line: list[str] = []
        self.queued: dict[str, Pod] = {}
        self.api: dict[str, Pod] = {}
        self.next_wait: dict[str, float] = {}
        self.asked: dict[str, float] = {}
        self.guards: dict[str, list[object]] = {}
        self.waits: list[list[object]] = []

    def add(self, pod: Pod) -> None:
        """Add and Update."""
        self.api[pod.key] = pod
        if pod.key not in self.queued:
            self.line.append(pod.key)
        self.queued[pod.key] = pod

    def fail(self, pod: Pod) -> None:
        """A pod failed."""
        self.api[pod.key] = pod
        for key in list(self.next_wait):
            if self.forgets_everything or self.now - self.asked[key] > 60:
                del self.next_wait[key], self.asked[key]
                self.guards.pop(key, None)
        wait = self.next_wait.setdefault(pod.key, 1.0)
        self.asked[pod.key] = self.now
        guard = self.guards.get(pod.key)
        if guard is not None and not guard[2]:
            return
        self.guards[pod.key] = [self.now + wait, pod.key, False]
        self.waits.append(self.guards[pod.key])
        self.next_wait[pod.key] = min(60.0, 2 * wait)

    def pop(self) -> Pod | None:
        """Pop."""
        while self.line:
            key = self.line.pop(0)
            if key in self.queued:
                return self.queued.pop(key)
        return None

    def delete(self, pod: Pod) -> None:
        """Delete."""
        self.queued.pop(pod.key, None)
        self.api.pop(pod.key, None)

    def run_until(self, time: float) -> None:
        """Let time pass in quarters of a second."""
        while self.now < time:
            self.now += 0.25
            for wait in [wait for wait in self.waits if wait[0] == self.now]:
                wait[2] = True
                self.waits.remove(wait)
                if wait[1] in self.api and wait[1] not in self.queued:
                    self.add(self.api[str(wait[1])])
