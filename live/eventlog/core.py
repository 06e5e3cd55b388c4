"""Events of core/v1: sent one at a time; equal ones are counted, similar ones gathered, too many left out.

Upstream: client-go, tools/record/event.go and events_cache.go.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import attrs

from ..client.resources import resource
from .sending import PAUSE, About, Reference, Sender, Stamp, date, in_seconds, reference

V = TypeVar("V")

MOST_REMEMBERED = 4096
SIMILAR, SIMILAR_FOR = 10, 600.0
"""From that many different texts of one reason on, no more than that many seconds apart, events become one."""
BURST, REFILL = 25, 300.0
"""That many events about one object may come at once, and one more every that many seconds."""
COMBINED = "(combined from similar events): "


@attrs.frozen(kw_only=True)
class CoreEvent:
    """An event of core/v1. Times are nanoseconds since 1970."""

    name: str
    about: Reference
    type: str
    reason: str
    text: str
    component: str
    first: int
    last: int
    count: int = 1

    @property
    def subject(self) -> tuple[object, ...]:
        """Who says it, about which object: too many of these are left out. Upstream: getSpamKey."""
        about = self.about
        return self.component, about.kind, about.namespace, about.name, about.uid, about.api_version

    @property
    def group(self) -> tuple[object, ...]:
        """What it says without the text: similar events. Upstream: EventAggregatorByReasonFunc."""
        return *self.subject, self.type, self.reason

    @property
    def key(self) -> tuple[object, ...]:
        """All that it says: equal events. Upstream: getEventKey."""
        return *self.group, self.text


class Remembered(Generic[V]):
    """A mapping that forgets what was not used for longest."""

    def __init__(self) -> None:
        self._items: OrderedDict[object, V] = OrderedDict()

    def get(self, key: object) -> V | None:
        """The value, if it is remembered."""
        if key in self._items:
            self._items.move_to_end(key)
        return self._items.get(key)

    def put(self, key: object, value: V) -> None:
        """Remember a value."""
        self._items[key] = value
        self._items.move_to_end(key)
        if len(self._items) > MOST_REMEMBERED:
            self._items.popitem(last=False)


@attrs.define
class _Similar:
    texts: dict[str, None] = attrs.field(factory=dict)
    last: float = 0.0


@attrs.define
class _Bucket:
    tokens: float
    time: float


@attrs.define
class Correlator:
    """Remembers what was said. Times are seconds on any clock that does not go back."""

    _similar: Remembered[_Similar] = attrs.field(factory=Remembered)
    _known: Remembered[CoreEvent] = attrs.field(factory=Remembered)
    _buckets: Remembered[_Bucket] = attrs.field(factory=Remembered)

    def correlate(self, event: CoreEvent, now: float) -> CoreEvent | None:
        """The event to send: *event* itself, or the one that it repeats with a higher count; None if there are too many."""
        event, key = self._gathered(event, now)
        known = self._known.get(key)
        if known is not None:
            event = attrs.evolve(event, name=known.name, first=known.first, count=known.count + 1)
        self._known.put(key, event)
        return event if self._has_token(event, now) else None

    def written(self, event: CoreEvent) -> None:
        """Remember *event* as the server has it. Upstream: UpdateState, which takes the event's own key even if it was gathered."""
        self._known.put(event.key, event)

    def _gathered(self, event: CoreEvent, now: float) -> tuple[CoreEvent, object]:
        similar = self._similar.get(event.group)
        if similar is None or now - similar.last > SIMILAR_FOR:
            similar = _Similar()
        similar.texts[event.text] = None
        similar.last = now
        self._similar.put(event.group, similar)
        if len(similar.texts) < SIMILAR:
            return event, event.key
        similar.texts.popitem()
        return attrs.evolve(event, text=COMBINED + event.text), event.group

    def _has_token(self, event: CoreEvent, now: float) -> bool:
        bucket = self._buckets.get(event.subject) or _Bucket(BURST, now)
        bucket.tokens = min(BURST, bucket.tokens + (now - bucket.time) / REFILL)
        bucket.time = now
        self._buckets.put(event.subject, bucket)
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


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
