"""What an event is about, who takes it, and how it reaches the API server: which answers end a try, and which are worth another.

Upstream: recordEvent in client-go's tools/record and tools/events, and Request.Do in client-go's rest.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

import attrs

from ...api.objects import Pod
from ...api.wire.goform import go_form, go_json
from ..client.replies import read_object
from ..client.transport import Request, Response, Transport, TransportError


@attrs.frozen(kw_only=True)
class Reference:
    """An object as events name it."""

    kind: str
    namespace: str
    name: str
    uid: str = ""
    api_version: str = "v1"
    resource_version: str = ""

    def written(self, version: str) -> dict[str, Any]:
        """The reference as JSON, in the form of release *version*."""
        found = {
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
            "apiVersion": self.api_version,
            "resourceVersion": self.resource_version,
        }
        return go_form("ObjectReference", found, version)


About: TypeAlias = Pod | Reference


def reference(about: About) -> Reference:
    """The reference to *about*."""
    if isinstance(about, Reference):
        return about
    meta = about.metadata
    return Reference(kind="Pod", namespace=meta.namespace, name=meta.name, uid=meta.uid, resource_version=meta.resource_version)


def _nowhere(component: str, about: About, type: str, reason: str, action: str, text: str, related: About | None) -> None:
    """The default: events are lost."""


@attrs.frozen
class Recorder:
    """Takes events in the name of a *component* and gives them to *put*. It never waits and never fails."""

    component: str = ""
    put: Callable[[str, About, str, str, str, str, About | None], None] = _nowhere

    def event(self, about: About, type: str, reason: str, action: str, text: str, related: About | None = None) -> None:
        """Record what happened to *about*.

        *type* is ``Normal`` or ``Warning``. *action* and *related* are sent in the releases that know them.
        """
        self.put(self.component, about, type, reason, action, text, related)


MOST_TRIES = 12
"""How often an event is sent when no answer comes."""
PAUSE = 10.0
"""Seconds between such tries."""
MOST_WAITS = 10
"""How often an answer with Retry-After is obeyed."""
PATCH = "application/strategic-merge-patch+json"


@attrs.frozen
class SendOutcome:
    """What became of one try. Upstream: any answer ends the tries, even 500; only without one the event is sent again."""

    status: int
    """0: no answer came."""
    found: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether the event is written."""
        return 200 <= self.status < 300


@attrs.define
class Sender:
    """Writes events."""

    transport: Transport
    say: Callable[[str], None] = lambda text: None
    """Gets one line for each event that is lost."""
    dice: random.Random = attrs.field(factory=random.Random)

    async def create(self, path: str, event: Mapping[str, Any]) -> SendOutcome:
        """POST *event* to the folder *path*."""
        return await self._send("POST", path, go_json(event) + b"\n", "application/json")

    async def patch(self, path: str, changes: Mapping[str, Any]) -> SendOutcome:
        """PATCH the event at *path*."""
        return await self._send("PATCH", path, go_json(changes), PATCH)

    async def deliver(self, reason: str, about: Reference, is_over: Callable[[], Awaitable[bool]], pause: Callable[[int], float]) -> None:
        """Try to send an event until that is over, and say so if it never is; *pause*: after that many tries, seconds to the next."""
        for number in range(MOST_TRIES):
            if await is_over():
                return
            if number + 1 < MOST_TRIES:
                await asyncio.sleep(pause(number))
        self.say(f"Unable to write event '{reason}' of {about.namespace}/{about.name} (retry limit exceeded!)")

    async def _send(self, method: str, path: str, body: bytes, kind: str) -> SendOutcome:
        headers = {"Accept": "application/json, */*", "Content-Type": kind}
        try:
            response = await self._obeying(Request(method, path, "", body, headers))
        except TransportError as error:
            self.say(f"Unable to write event: '{error}' (may retry after sleeping)")
            return SendOutcome(0)
        found = read_object(response.body) or {}
        if response.status >= 300 and not (method == "PATCH" and response.status == 404):
            self.say(f"Server rejected event: '{found.get('message', f'status {response.status}')}' (will not retry!)")
        return SendOutcome(response.status, found)

    async def _obeying(self, request: Request) -> Response:
        """The answer, after the waits that the server asked for."""
        for _ in range(MOST_WAITS):
            response = await self.transport.send(request)
            wait = response.retry_after
            if wait is None or not (response.status == 429 or response.status >= 500):
                return response
            await asyncio.sleep(wait)
        return await self.transport.send(request)


@attrs.define
class Stamp:
    """Gives the time in nanoseconds since 1970, later each time."""

    wall: Callable[[], int] = time.time_ns
    last: int = 0

    def __call__(self) -> int:
        """The time; if it has been given out, the next nanosecond."""
        self.last = max(self.last + 1, self.wall())
        return self.last


def date(nanoseconds: int) -> datetime:
    """The time in microseconds; the rest is cut off."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1000)


def in_seconds(time: datetime | None) -> str | None:
    """A time as metav1.Time: in whole seconds, the rest cut off."""
    return None if time is None else time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def in_micros(time: datetime | None) -> str | None:
    """A time as metav1.MicroTime."""
    return None if time is None else time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
