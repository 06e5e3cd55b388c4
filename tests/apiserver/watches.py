"""Watches: each follows one resource, and turns changes into events as its selectors see them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import attrs

from .answers import Object, encode_text
from .selectors import Matcher

View = Callable[[Object], Object]


@attrs.frozen
class Change:
    """One change of one object, by which the revision went up."""

    revision: int
    plural: str
    key: tuple[str, str]
    before: Object | None
    """The object until now; None for a new one."""
    after: Object
    """The object from now on, or its last state when it is deleted."""
    is_deletion: bool
    lines: dict[tuple[str, str], bytes] = attrs.field(factory=dict)
    """Event type and API version -> the event as bytes, for all watches that want the same; kept while the change is handed out."""


@attrs.frozen
class Event:
    """One frame of a watch."""

    type: str
    object: Object
    line: bytes
    """The frame as JSON, without a line end."""


def event(type_: str, item: Object) -> Event:
    """A frame that is no change: the first ones of a watch, bookmarks, errors."""
    return Event(type_, item, encode_text({"type": type_, "object": item}).encode())


@attrs.define(eq=False)
class Watch:
    """One watch; ``events`` is its queue."""

    namespace: str
    matches: Matcher | None
    api_version: str
    after: int = 0
    """Changes up to this revision are not sent."""
    view: View | None = None
    """From the stored form to that of the API version, if it differs."""
    events: deque[Event] = attrs.field(factory=deque)
    is_closed: bool = False
    """The server has ended it: what is queued is all there will be."""
    has_bookmarks: bool = False
    timeout: float | None = None
    """In seconds: ``timeoutSeconds`` of the request."""
    bookmark: Callable[[], Event] | None = None
    """Makes a bookmark of the present revision."""
    on_event: Callable[[], None] = lambda: None
    """Called when there is something new to read."""
    _leave: Callable[[Watch], None] = lambda watch: None

    def offer(self, change: Change) -> None:
        """Queue what this watch sees of a change, if anything."""
        if change.revision <= self.after or (self.namespace and change.key[0] != self.namespace):
            return
        if (seen := self._type(change)) is not None:
            self.send(self._event(seen, change))

    def send(self, frame: Event) -> None:
        """Queue a frame."""
        self.events.append(frame)
        self.on_event()

    def close(self) -> None:
        """End the watch from the server's side."""
        self.is_closed = True
        self.on_event()

    def leave(self) -> None:
        """End the watch from the client's side: nothing is queued any more."""
        self.is_closed = True
        self._leave(self)

    def _type(self, change: Change) -> str | None:
        """The type of the event; an object that begins or ceases to match is added or deleted."""
        was = change.before is not None and (self.matches is None or self.matches(change.before))
        is_ = not change.is_deletion and (self.matches is None or self.matches(change.after))
        return ("MODIFIED" if was else "ADDED") if is_ else ("DELETED" if was else None)

    def _event(self, type_: str, change: Change) -> Event:
        item = change.after
        # Upstream: an object that no longer matches is sent as it was, with the revision of the change.
        if type_ == "DELETED" and not change.is_deletion and change.before is not None:
            version = change.after["metadata"]["resourceVersion"]
            item = {**change.before, "metadata": {**change.before["metadata"], "resourceVersion": version}}
        if self.view is not None:
            item = self.view(item)
        line = change.lines.get((type_, self.api_version))
        if line is None:
            line = change.lines[type_, self.api_version] = encode_text({"type": type_, "object": item}).encode()
        return Event(type_, item, line)
