"""The event log of a replay: one JSON object for each event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from ...core.queue.clock import Clock
from .inputs.times import plain

Record = dict[str, Any]
Sink = Callable[[Record], None]


def discard(record: Record) -> None:
    """Drop a record: the default."""


@attrs.define(eq=False)
class ReplayJournal:
    """Adds the time to each record and passes it to *sink*."""

    clock: Clock
    sink: Sink = discard

    def note(self, event: str, **fields: Any) -> None:
        """Log an event; fields that are None are left out."""
        if None in fields.values():
            fields = {name: value for name, value in fields.items() if value is not None}
        self.sink({"time": plain(self.clock.now), "event": event, **fields})
