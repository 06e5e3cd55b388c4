"""Events of core/v1 that belong together: equal ones are counted, similar ones gathered, too many left out.

Upstream: client-go, tools/record/events_cache.go.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

import attrs

from .reference import Reference

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
