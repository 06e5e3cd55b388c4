"""The record of a replay: what happened when, one JSON object an event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from ...core.queue.clock import Clock
from .inputs.times import plain

Record = dict[str, Any]
Sink = Callable[[Record], None]


def nowhere(record: Record) -> None:
    """Where records go that nobody wants."""


@attrs.define(eq=False)
class Journal:
    """Puts the time to each record and hands it on to *sink*."""

    clock: Clock
    sink: Sink = nowhere

    def note(self, event: str, **fields: Any) -> None:
        """Something happened; fields of None are left out."""
        self.sink({"time": plain(self.clock.now), "event": event, **{name: value for name, value in fields.items() if value is not None}})
