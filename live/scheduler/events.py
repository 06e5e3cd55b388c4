"""The events of a scheduler, of core/v1: Scheduled, FailedScheduling, Preempted, LeaderElection. Equal ones are counted.

They are sent one at a time, so that they never hold a binding up. As many as :data:`MOST_WAITING` wait; more are lost, and counted.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

import attrs

from ...api.objects import Pod
from ..client.api import NOT_THERE, Api, ApiError
from ..client.resources import resource
from ..client.transport import Transport, TransportError

EVENTS = resource("Event")
LOOK = 0.01
"""Seconds between two looks whether all is sent."""
MOST_WAITING = 1000
MOST_REMEMBERED = 4096
"""As many events are remembered, those that were said last, to count those that are equal."""
MOST_TRIES, PAUSE = 12, 10.0
"""How often an event is sent when no answer comes, and the seconds between two tries. Any answer ends the tries."""


@attrs.frozen(kw_only=True)
class Reference:
    """An object as events name it."""

    kind: str
    namespace: str
    name: str
    uid: str = ""
    api_version: str = "v1"
    resource_version: str = ""

    def written(self) -> dict[str, str]:
        """The reference as JSON."""
        found = {
            "kind": self.kind, "namespace": self.namespace, "name": self.name, "uid": self.uid, "apiVersion": self.api_version,
            "resourceVersion": self.resource_version,
        }  # fmt: skip
        return {key: value for key, value in found.items() if value}


About: TypeAlias = Pod | Reference


def reference(about: About) -> Reference:
    """The reference to *about*."""
    if isinstance(about, Reference):
        return about
    meta = about.metadata
    return Reference(kind="Pod", namespace=meta.namespace, name=meta.name, uid=meta.uid, resource_version=meta.resource_version)


def _nowhere(component: str, about: About, type: str, reason: str, text: str) -> None:
    """The default: events are lost."""


@attrs.frozen
class Recorder:
    """Takes events in the name of a *component* and gives them to *put*. It never waits and never fails."""

    component: str = ""
    put: Callable[[str, About, str, str, str], None] = _nowhere

    def event(self, about: About, type: str, reason: str, text: str) -> None:
        """Record what happened to *about*. *type* is ``Normal`` or ``Warning``."""
        self.put(self.component, about, type, reason, text)


@attrs.frozen(kw_only=True)
class CoreEvent:
    """One event. Times are seconds since 1970."""

    name: str
    about: Reference
    type: str
    reason: str
    text: str
    component: str
    first: float
    last: float
    count: int = 1

    @property
    def key(self) -> tuple[object, ...]:
        """All that equal events have in common."""
        return self.component, attrs.evolve(self.about, resource_version=""), self.type, self.reason, self.text

    def written(self) -> dict[str, Any]:
        """The event as JSON."""
        return {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {"name": self.name, "namespace": self.about.namespace or "default"},
            "involvedObject": self.about.written(),
            "reason": self.reason,
            "message": self.text,
            "source": {"component": self.component},
            "firstTimestamp": in_seconds(self.first),
            "lastTimestamp": in_seconds(self.last),
            "count": self.count,
            "type": self.type,
            "reportingComponent": self.component,
            "reportingInstance": "",
        }


def in_seconds(time: float) -> str:
    """A time as the API writes it: in whole seconds, the rest cut off."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@attrs.define(eq=False)
class Events:
    """The events of one process. :meth:`run` sends them."""

    transport: Transport
    say: Callable[[str], None] = lambda text: None
    """Gets one line for each event that is lost, and one for a burst of those for which there is no room."""
    on_drop: Callable[[], None] = lambda: None
    """Called for each event that is lost, as too many wait."""
    wall: Callable[[], float] = time.time
    _known: OrderedDict[object, CoreEvent] = attrs.field(factory=OrderedDict)
    _waiting: deque[CoreEvent] = attrs.field(factory=deque)
    _awake: asyncio.Event = attrs.field(factory=asyncio.Event)
    _last_name: int = 0
    _is_sending: bool = False
    _is_dropping: bool = False
    """Events were lost since the queue was empty."""

    def recorder(self, component: str) -> Recorder:
        """The recorder of a component."""
        return Recorder(component, self.put)

    def put(self, component: str, about: About, type: str, reason: str, text: str) -> None:
        """Take an event; it is lost where too many wait."""
        if len(self._waiting) >= MOST_WAITING:
            # Count an event that is lost, and say so, once for all of a burst.
            self.on_drop()
            if not self._is_dropping:
                self._is_dropping = True
                self.say(f"Events are dropped: {MOST_WAITING:,} wait to be sent; kubeclassic_events_dropped_total counts them")
            return
        now, target = self.wall(), reference(about)
        # Names are times in nanoseconds. No two events have the same, whatever the clock says.
        self._last_name = max(self._last_name + 1, round(now * 1e9))
        name = f"{target.name}.{self._last_name:x}"
        self._waiting.append(
            CoreEvent(name=name, about=target, type=type, reason=reason, text=text, component=component, first=now, last=now)
        )
        self._awake.set()

    async def run(self) -> None:
        """Send events until this is cancelled."""
        while True:
            await self._awake.wait()
            self._awake.clear()
            while self._waiting:
                self._is_sending = True
                await self._deliver(self._counted(self._waiting.popleft()))
                self._is_sending = False
            self._is_dropping = False

    async def drain(self, seconds: float) -> int:
        """Wait until all events are sent, at most *seconds*; how many are left. :meth:`run` has to run at the same time."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while (left := len(self._waiting) + self._is_sending) and loop.time() < end:
            await asyncio.sleep(LOOK)
        return left

    def _counted(self, event: CoreEvent) -> CoreEvent:
        """*event*, or the equal one that was sent before, with a higher count."""
        known = self._known.pop(event.key, None)
        if known is not None:
            event = attrs.evolve(event, name=known.name, first=known.first, count=known.count + 1)
        self._known[event.key] = event
        if len(self._known) > MOST_REMEMBERED:
            self._known.popitem(last=False)
        return event

    async def _deliver(self, event: CoreEvent) -> None:
        for left in reversed(range(MOST_TRIES)):
            if await self._is_answered(event):
                return
            if left:
                await asyncio.sleep(PAUSE)
        self.say(f"Unable to write event '{event.reason}' of {event.about.namespace}/{event.about.name} (retry limit exceeded!)")

    async def _is_answered(self, event: CoreEvent) -> bool:
        """Send *event* once; whether an answer came. An event that is gone is made again."""
        ask, namespace = Api(self.transport).ask, event.about.namespace or "default"
        try:
            if event.count > 1:
                changes = {"count": event.count, "lastTimestamp": in_seconds(event.last), "message": event.text}
                try:
                    await ask("PATCH", EVENTS, namespace, event.name, body=changes)
                    return True
                except ApiError as error:
                    if error.status != NOT_THERE:
                        raise
            await ask("POST", EVENTS, namespace, "", body=event.written())
        except TransportError as error:
            self.say(f"Unable to write event: '{error}' (may retry after sleeping)")
            return False
        except ApiError as error:
            self.say(f"Server rejected event: '{error.message or f'status {error.status}'}' (will not retry!)")
        return True
