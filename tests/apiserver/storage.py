"""The objects of the server: one revision for all, a log of changes, watches that follow it, and how things
were in the past."""

import random
import time
from collections import deque
from datetime import UTC, datetime
from itertools import takewhile

import attrs

from .answers import encode_text


@attrs.frozen
class Change:
    """One change of one object, by which the revision went up."""

    revision: int
    plural: str
    key: tuple
    before: object
    """The object until now; None for a new one."""
    after: object
    """The object from now on, or its last state when it is deleted."""
    is_deletion: bool
    lines: dict = attrs.field(factory=dict)
    """Event type and API version -> the event as bytes, for all watches that want the same; kept while the
    change is handed out."""


@attrs.frozen
class Event:
    """One frame of a watch."""

    type: str
    object: object
    line: bytes
    """The frame as JSON, without a line end."""


def event(type_, item):
    """A frame that is no change: the first ones of a watch, bookmarks, errors."""
    return Event(type_, item, encode_text({"type": type_, "object": item}).encode())


@attrs.define(eq=False)
class Watch:
    """One watch; ``events`` is its queue."""

    namespace: str
    matches: object
    api_version: str
    after: int = 0
    """Changes up to this revision are not sent."""
    events: deque = attrs.field(factory=deque)
    is_closed: bool = False
    """The server has ended it: what is queued is all there will be."""
    has_bookmarks: bool = False
    timeout: float = None
    """In seconds: ``timeoutSeconds`` of the request."""
    bookmark: object = None
    """Makes a bookmark of the present revision."""
    on_event: object = lambda: None
    """Called when there is something new to read."""
    _leave: object = lambda watch: None

    def offer(self, change):
        """Queue what this watch sees of a change, if anything."""
        if change.revision <= self.after or (self.namespace and change.key[0] != self.namespace):
            return
        if (seen := self._type(change)) is not None:
            self.send(self._event(seen, change))

    def send(self, frame):
        """Queue a frame."""
        self.events.append(frame)
        self.on_event()

    def close(self):
        """End the watch from the server's side."""
        self.is_closed = True
        self.on_event()

    def leave(self):
        """End the watch from the client's side: nothing is queued any more."""
        self.is_closed = True
        self._leave(self)

    def _type(self, change):
        """The type of the event; an object that begins or ceases to match is added or deleted."""
        was = change.before is not None and (self.matches is None or self.matches(change.before))
        is_ = not change.is_deletion and (self.matches is None or self.matches(change.after))
        return ("MODIFIED" if was else "ADDED") if is_ else ("DELETED" if was else None)

    def _event(self, type_, change):
        item = change.after
        # Upstream: an object that no longer matches is sent as it was, with the revision of the change.
        if type_ == "DELETED" and not change.is_deletion and change.before is not None:
            version = change.after["metadata"]["resourceVersion"]
            item = {**change.before, "metadata": {**change.before["metadata"], "resourceVersion": version}}
        line = change.lines.get((type_, self.api_version))
        if line is None:
            line = change.lines[type_, self.api_version] = encode_text(
                {"type": type_, "object": item}
            ).encode()
        return Event(type_, item, line)


@attrs.define
class Storage:
    """Objects by plural and key. A stored object is never changed in place: what replaces it shares what
    stays."""

    clock: object = time.time
    """Seconds since 1970, for the times in objects."""
    history: int = 50_000
    """The number of changes that are kept; older ones are compacted."""
    seed: int = 0
    revision: int = 1
    compacted: int = 0
    """Changes up to this revision are gone."""
    cache_start: int = 0
    """The watch cache begins here: the revision at the last restart."""
    objects: dict = attrs.field(factory=dict, init=False)
    log: deque = attrs.field(factory=deque, init=False)
    watches: dict = attrs.field(factory=dict, init=False)
    observers: list = attrs.field(factory=list)
    """Called after each change."""
    _random: object = attrs.field(init=False)

    def __attrs_post_init__(self):
        self._random = random.Random(self.seed)

    def of(self, plural):
        """The objects of one resource."""
        return self.objects.setdefault(plural, {})

    # --- changes --------------------------------------------------------------------------------------------

    def put(self, resource, new):
        """Store an object in place of the one before, if any; the answer is the object with its revision."""
        return self._commit(resource, new, is_deletion=False)

    def remove(self, resource, last):
        """Remove an object whose last state is *last*; the answer has the revision of the removal."""
        return self._commit(resource, last, is_deletion=True)

    def _commit(self, resource, new, *, is_deletion):
        self.revision += 1
        metadata = {**new["metadata"], "resourceVersion": str(self.revision)}
        stored = {**new, "metadata": metadata}
        key = (metadata.get("namespace", ""), metadata["name"])
        objects = self.of(resource.plural)
        before = objects.get(key)
        if is_deletion:
            del objects[key]
        else:
            objects[key] = stored
        self._note(Change(self.revision, resource.plural, key, before, stored, is_deletion))
        return stored

    def _note(self, change):
        self.log.append(change)
        if len(self.log) > self.history:
            self.compacted = self.log.popleft().revision
        for watch in self.watches.get(change.plural, ()):
            watch.offer(change)
        for observe in self.observers:
            observe(change)
        change.lines.clear()

    # --- the past -------------------------------------------------------------------------------------------

    def compact(self, revision=None):
        """Forget changes up to *revision*, default all."""
        self.compacted = self.revision if revision is None else revision
        while self.log and self.log[0].revision <= self.compacted:
            self.log.popleft()

    def restart(self):
        """Restart the server: all watches end, and the watch cache begins at the present revision."""
        self.cache_start = self.revision
        for watch in [watch for watches in self.watches.values() for watch in watches]:
            watch.close()
        self.watches.clear()

    def since(self, revision):
        """The changes after *revision*, newest first."""
        return takewhile(lambda change: change.revision > revision, reversed(self.log))

    def at(self, plural, revision):
        """The objects of one resource as they were at *revision*, which must not be compacted."""
        if revision >= self.revision:
            return self.of(plural)
        found = dict(self.of(plural))
        for change in self.since(revision):
            if change.plural != plural:
                continue
            if change.before is None:
                found.pop(change.key, None)
            else:
                found[change.key] = change.before
        return found

    # --- names and times ------------------------------------------------------------------------------------

    def now(self, later=0):
        """The time as objects have it, so many seconds *later*."""
        return datetime.fromtimestamp(int(self.clock() + later), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def uid(self):
        """A new UID."""
        text = f"{self._random.getrandbits(128):032x}"
        return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"
