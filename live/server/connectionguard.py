"""The outermost layer: it counts requests for Prometheus, checks who asks, and turns every refusal into JSON, a defect too."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any

import attrs
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..process.logs import Log
from .bodies import RequestError, to_json
from .limits import TOO_MANY, UNAUTHORIZED, UNAVAILABLE, RequestLimiter

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


@attrs.define(eq=False)
class Metrics:
    """The metrics of one server."""

    registry: CollectorRegistry = attrs.field(factory=CollectorRegistry)
    requests: Counter = attrs.field(init=False)
    seconds: Histogram = attrs.field(init=False)
    events: Counter = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        given: dict[str, Any] = {"registry": self.registry}
        self.requests = Counter("kubeclassic_extender_requests", "Requests by path and status.", ["path", "code"], **given)
        self.seconds = Histogram(
            "kubeclassic_extender_request_duration_seconds", "Time from a request's headers to its answer.", ["path"],
            buckets=SECONDS, **given,
        )  # fmt: skip
        self.events = Counter("kubeclassic_extender_events", "Objects that the API server's watches brought, and deletions.", **given)

    def show(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Show a number as it is when somebody asks."""
        Gauge(f"kubeclassic_extender_{name}", text, registry=self.registry).set_function(value)

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count one request."""
        self.requests.labels(path, str(status)).inc()
        self.seconds.labels(path).observe(seconds)

    def text(self) -> bytes:
        """All of them in Prometheus' text format."""
        return generate_latest(self.registry)


DEFECT = 500
LINGER, LINGER_BYTES = 2.0, 8 << 20
"""For how many seconds, and how much of its body, a client may go on to send before the connection ends, so that it can read the answer."""
PROBES = frozenset({"/healthz", "/livez", "/readyz"})
"""Paths that need no token."""


@attrs.define(eq=False)
class ConnectionGuard:
    """Wraps an application. A connection ends with the answer to a request whose body has not arrived."""

    app: ASGIApp
    gate: RequestLimiter
    metrics: Metrics
    paths: Collection[str]
    """Those that there are; others are counted as one."""
    log: Log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        exchange = Exchange(receive, send, has_body=_has_body(scope))
        began, path = monotonic(), scope["path"] if scope["path"] in self.paths else "other"
        try:
            await self._answer(scope, exchange, path)
        finally:
            self.metrics.answered(path, exchange.status, monotonic() - began)
        await exchange.end()

    async def _answer(self, scope: Scope, exchange: Exchange, path: str) -> None:
        try:
            self.gate.check_caller(scope["scheme"], scope["headers"])
            if scope["path"] not in PROBES:
                self.gate.check_token(scope["headers"])
            await self.app(scope, exchange.receive, exchange.send)
        except RequestError as error:
            await exchange.refuse(error.status, to_json(error.record()))
        except HTTPException as error:
            await exchange.refuse(error.status_code, to_json({"error": error.detail}), error.headers)
        except Exception as error:
            self.log.error(defect_at(path, error))
            await exchange.refuse(DEFECT, to_json({"error": "a defect of kubeclassic; its standard error says more"}))


@attrs.define(eq=False)
class Exchange:
    """One request and its answer."""

    _receive: Receive
    _send: Send
    has_body: bool
    """Whether a body, or more of it, is still to come."""
    status: int = DEFECT
    has_begun: bool = False
    """Whether the answer has begun."""
    _lingers: bool = False

    async def receive(self) -> Message:
        """What comes next of the request."""
        message = await self._receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self.has_body = False
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer. Where the body has not arrived, the end of the answer is kept for :meth:`end`."""
        if message["type"] == "http.response.start":
            self.has_begun, self.status = True, message["status"]
            self._lingers = self.has_body
            if self._lingers:
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
        elif self._lingers:
            message = {**message, "more_body": True}
        await self._send(message)

    async def refuse(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Answer with an error, unless an answer has begun."""
        if self.has_begun:
            return
        more = [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
        if status == UNAUTHORIZED:
            more.append((b"www-authenticate", b"Bearer"))
        if status in (TOO_MANY, UNAVAILABLE):
            more.append((b"retry-after", b"1"))
        kind, length = (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())
        await self.send({"type": "http.response.start", "status": status, "headers": [kind, length, *more]})
        await self.send({"type": "http.response.body", "body": body})

    async def end(self) -> None:
        """Read on for a moment, and drop what comes, so that the client can read the answer; then end the connection."""
        if not self._lingers:
            return
        dropped = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                while self.has_body and dropped < LINGER_BYTES:
                    dropped += len((await self.receive()).get("body", b""))
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def defect_at(path: str, error: Exception) -> str:
    """A line about *error*, which nothing expected."""
    told = "".join(traceback.format_exception_only(error)).strip().replace("\n", " ")
    return f"a defect, at {path}: {told[:500]}"


def _has_body(scope: Scope) -> bool:
    headers = dict(scope["headers"])
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
