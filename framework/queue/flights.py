"""What happens while pods are tried: the events since a pod was taken out of the queue.

Upstream: inFlightPods and inFlightEvents in pkg/scheduler/internal/queue/scheduling_queue.go (1.32: active_queue.go).
"""

from __future__ import annotations

from typing import NamedTuple

import attrs

from ...api.objects import KubeObject
from .events import ClusterEvent


class Happening(NamedTuple):
    """An event, and the object before and after it."""

    event: ClusterEvent
    old: KubeObject | None
    new: KubeObject | None


@attrs.define(eq=False, repr=False)
class Flights:
    """The pods that are being tried, by UID, and all events since the first of them was taken out."""

    _starts: dict[str, int] = attrs.field(factory=dict)
    """UID -> the number of events before the pod was taken out; in ascending order."""
    _events: list[Happening] = attrs.field(factory=list)
    _dropped: int = 0
    """How many events are no longer kept, because every pod was taken out after them."""

    def __contains__(self, uid: str) -> bool:
        return uid in self._starts

    def begin(self, uid: str) -> None:
        """A pod is taken out."""
        self._starts.pop(uid, None)
        self._starts[uid] = self._dropped + len(self._events)

    def note(self, happening: Happening) -> None:
        """Something happened; kept only while a pod is being tried."""
        if self._starts:
            self._events.append(happening)

    def since(self, uid: str) -> list[Happening] | None:
        """What happened since a pod was taken out; None if it is not being tried."""
        start = self._starts.get(uid)
        return None if start is None else self._events[start - self._dropped :]

    def end(self, uid: str) -> None:
        """A pod is not tried any more."""
        if self._starts.pop(uid, None) is not None:
            first = next(iter(self._starts.values()), self._dropped + len(self._events))
            del self._events[: first - self._dropped]
            self._dropped = first
