"""Events of core/v1: sent one at a time, equal ones counted.

Upstream: client-go, tools/record/event.go.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

import attrs

from ..client.resources import resource
from ..process.leaserecord import in_seconds
from .correlator import CoreEvent, Correlator
from .reference import About, reference
from .sending import PAUSE, Sender, Stamp, date

EVENTS = resource("Event")
MOST_WAITING = 1000
"""As many events wait at most; more are lost."""


@attrs.define(eq=False)
class CoreEvents:
    """All events of core/v1 of one process. :meth:`run` sends them."""

    sender: Sender
    version: str
    """The release, such as ``1.15``."""
    names_reporter: bool
    stamp: Stamp
    on_drop: Callable[[], None] = lambda: None
    """Called for each event that is lost, as too many wait."""
    correlator: Correlator = attrs.field(factory=Correlator)
    _waiting: deque[CoreEvent] = attrs.field(factory=deque, init=False)
    _awake: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)
    _is_sending: bool = attrs.field(default=False, init=False)
    _is_dropping: bool = attrs.field(default=False, init=False)
    """Events were lost since the queue was empty."""

    @property
    def unsent(self) -> int:
        """How many events are left to send."""
        return len(self._waiting) + self._is_sending

    def put(self, component: str, about: About, type: str, reason: str, action: str, text: str, related: About | None) -> None:
        """Take an event; it is lost where too many wait. Events of core/v1 have neither *action* nor *related* object."""
        if len(self._waiting) >= MOST_WAITING:
            self._drop()
            return
        now, target = self.stamp(), reference(about)
        name = f"{target.name}.{now:x}"
        event = CoreEvent(name=name, about=target, type=type, reason=reason, text=text, component=component, first=now, last=now)
        self._waiting.append(event)
        self._awake.set()

    def _drop(self) -> None:
        """Count an event that is lost, and say so, once for all of a burst."""
        self.on_drop()
        if not self._is_dropping:
            self._is_dropping = True
            self.sender.say(f"Events are dropped: {MOST_WAITING:,} wait to be sent; kubeclassic_events_dropped_total counts them")

    async def run(self) -> None:
        """Send events until this is cancelled."""
        while True:
            await self._awake.wait()
            self._awake.clear()
            while self._waiting:
                self._is_sending = True
                await self._send(self._waiting.popleft())
                self._is_sending = False
            self._is_dropping = False

    async def _send(self, event: CoreEvent) -> None:
        found = self.correlator.correlate(event, asyncio.get_running_loop().time())
        if found is None:
            return
        await self.sender.deliver(found.reason, found.about, lambda: self._try(found), self._pause)

    def _pause(self, tries: int) -> float:
        return PAUSE if tries else PAUSE * self.sender.dice.random()

    async def _try(self, event: CoreEvent) -> bool:
        """Send it once; whether that is the end of it."""
        namespace, status = event.about.namespace or "default", 404
        if event.count > 1:
            changes = {"count": event.count, "lastTimestamp": in_seconds(date(event.last)), "message": event.text}
            answer = await self.sender.patch(EVENTS.path(namespace, event.name), changes)
            status = answer.status
        if status == 404:
            answer = await self.sender.create(EVENTS.path(namespace), self._written(event))
        if answer.is_done:
            meta = answer.found.get("metadata") or {}
            self.correlator.written(attrs.evolve(event, name=str(meta.get("name", event.name))))
        return answer.status != 0

    def _written(self, event: CoreEvent) -> dict[str, Any]:
        return {
            "kind": "Event",
            "apiVersion": "v1",
            "metadata": {"name": event.name, "namespace": event.about.namespace or "default", "creationTimestamp": None},
            "involvedObject": event.about.written(self.version),
            "reason": event.reason,
            "message": event.text,
            "source": {"component": event.component},
            "firstTimestamp": in_seconds(date(event.first)),
            "lastTimestamp": in_seconds(date(event.last)),
            "count": event.count,
            "type": event.type,
            "eventTime": None,
            "reportingComponent": event.component if self.names_reporter else "",
            "reportingInstance": "",
        }
