"""What the scheduler sees of events: it says what happened, and goes on."""

from __future__ import annotations

from typing import Protocol

from .reference import About


class Recorder(Protocol):
    """Takes events of one scheduler name. It never waits and never fails: events that cannot be sent are lost."""

    def event(self, about: About, type: str, reason: str, action: str, text: str, related: About | None = None) -> None:
        """Record what happened to *about*.

        *type* is ``Normal`` or ``Warning``. *action* and *related* are sent in the releases that know them.
        """
        ...
