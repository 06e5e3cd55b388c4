"""Events of events.k8s.io: sent at once, many at a time; what repeats becomes a series, of which only some counts are sent.

Upstream: client-go, tools/events/event_broadcaster.go and event_recorder.go.
"""

from __future__ import annotations

import asyncio
from typing import Any

import attrs

from ..client.resources import resource
from ..settings.cells import EventCells
from .sending import PAUSE, About, Reference, Sender, SendOutcome, Stamp, date, in_micros, reference

FINISHED_AFTER = 360.0
"""Seconds after which an event that did not repeat is forgotten; as often one looks for those."""
REFRESHED_EVERY = 1800.0
"""Seconds after which the counts of all series are sent again."""


@attrs.define(eq=False)
class SeriesEvent:
    """An event, and how often it was repeated."""

    name: str
    about: Reference
    related: Reference | None
    type: str
    reason: str
    action: str
    text: str
    controller: str
    instance: str
    time: int
    """Nanoseconds since 1970."""
    count: int = 0
    """0: it was not repeated."""
    last: int = 0
    """When it was repeated last."""


@attrs.define(eq=False)
class SeriesEvents:
    """All events of events.k8s.io of one process. :meth:`run` looks after the series."""

    sender: Sender
    cells: EventCells
    version: str
    host: str
    stamp: Stamp
    _known: dict[object, SeriesEvent] = attrs.field(factory=dict, init=False)
    _sending: set[asyncio.Task[None]] = attrs.field(factory=set, init=False)

    @property
    def unsent(self) -> int:
        """How many events are left to send."""
        return len(self._sending)

    def put(self, controller: str, about: About, type: str, reason: str, action: str, text: str, related: About | None) -> None:
        """Take an event and send it, or count it."""
        now, target = self.stamp(), reference(about)
        other = None if related is None else reference(related)
        instance = f"{controller}-{self.host}"
        key = (type if self.cells.tells_types_apart else "", action, reason, controller, target, other)
        known = self._known.get(key)
        if known is None:
            name = f"{target.name}.{now:x}"
            event = SeriesEvent(name, target, other, type, reason, action, text, controller, instance, now)
            self._known[key] = event
            self._start(event)
            return
        begins = known.count == 0
        known.count, known.last = (self.cells.first_count if begins else known.count + 1), now
        if begins:
            self._start(known)

    def _start(self, event: SeriesEvent) -> None:
        task = asyncio.ensure_future(self._send(attrs.evolve(event)))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def run(self) -> None:
        """Finish and refresh series until this is cancelled."""
        loop = asyncio.get_running_loop()
        refreshed = loop.time()
        while True:
            await asyncio.sleep(FINISHED_AFTER)
            await self._finish()
            if loop.time() - refreshed >= REFRESHED_EVERY:
                refreshed += REFRESHED_EVERY
                await self._refresh()

    async def _finish(self) -> None:
        """Send the last count of series that have ended, and forget what did not repeat."""
        before = self.stamp() - int(FINISHED_AFTER * 1e9)
        for key, event in list(self._known.items()):
            if max(event.time, event.last) >= before:
                continue
            if not event.count or (await self._try(event)).status:
                self._known.pop(key, None)

    async def _refresh(self) -> None:
        for event in list(self._known.values()):
            if event.count:
                await self._try(event)

    async def _send(self, event: SeriesEvent) -> None:
        async def is_over() -> bool:
            answer = await self._try(event)
            return answer.status != 0 and not self._is_raced(event, answer)

        await self.sender.deliver(event.reason, event.about, is_over, lambda number: PAUSE * (1 + 0.25 * self.sender.dice.random()))

    def _is_raced(self, event: SeriesEvent, answer: SendOutcome) -> bool:
        """Whether the event of a series was made by another task between the PATCH and the POST."""
        is_there = answer.status == 409 and answer.found.get("reason") == "AlreadyExists"
        return bool(event.count) and is_there and self.cells.creates_again

    async def _try(self, event: SeriesEvent) -> SendOutcome:
        events, namespace = resource("Event", self.cells.group), event.about.namespace or "default"
        if event.count:
            answer = await self.sender.patch(events.path(namespace, event.name), {"series": self._series(event)})
            if answer.status != 404:
                return answer
        return await self.sender.create(events.path(namespace), self._written(event))

    def _series(self, event: SeriesEvent) -> dict[str, Any]:
        state = {"state": ""} if self.cells.has_state else {}
        return {"count": event.count, "lastObservedTime": in_micros(date(event.last)), **state}

    def _written(self, event: SeriesEvent) -> dict[str, Any]:
        return {
            "kind": "Event",
            "apiVersion": self.cells.group,
            "metadata": {"name": event.name, "namespace": event.about.namespace or "default", "creationTimestamp": None},
            "eventTime": in_micros(date(event.time)),
            **({"series": self._series(event)} if event.count else {}),
            "reportingController": event.controller,
            "reportingInstance": event.instance,
            "action": event.action,
            "reason": event.reason,
            "regarding": event.about.written(self.version),
            **({} if event.related is None else {"related": event.related.written(self.version)}),
            "note": event.text,
            "type": event.type,
            "deprecatedSource": {"component": event.controller} if self.cells.names_source else {},
            "deprecatedFirstTimestamp": None,
            "deprecatedLastTimestamp": None,
        }
