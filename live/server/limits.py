"""Who may ask and how much: the outermost layer checks it, counts requests, and turns every refusal into JSON, a defect too."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import traceback
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from time import monotonic
from typing import Any

import attrs
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..process.logs import Log
from .bodies import BAD_REQUEST, TOO_LARGE, RequestError, to_json

OWN = ("none", "same-origin")
"""What browsers say of requests of the server's own pages, and of addresses that people type."""

Headers = Mapping[bytes, str]


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers of a request, their names in lower case."""
    return {name.lower(): value.decode("latin-1") for name, value in pairs}


def foreign_page(headers: Headers, origins: Collection[str]) -> str | None:
    """The header that shows that another page than those of *origins* sent the request; None if none does.

    >>> foreign_page({b"origin": "http://evil.example"}, ["http://localhost:8888"]), foreign_page({}, [])
    ('origin', None)
    """
    if b"origin" in headers and headers[b"origin"] not in origins:
        return "origin"
    return None if headers.get(b"sec-fetch-site", "none") in OWN else "sec-fetch-site"


def is_known_host(host: str, names: Collection[str]) -> bool:
    """Whether *host*, with or without a port, is one of *names*, localhost or an address: only names can be turned to other addresses.

    >>> [is_known_host(host, ["lab.example"]) for host in ("lab.example:80", "127.0.0.1", "[::1]:8888", "evil.example:8888", "")]
    [True, True, True, False, False]
    """
    name, bracket, _ = host.removeprefix("[").partition("]")
    if not bracket:
        name = host.partition(":")[0]
    if name.lower() in ("localhost", *names):
        return True
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False


# --- limits ---------------------------------------------------------------------------------------------------------


UNAUTHORIZED, FORBIDDEN, TIMED_OUT, MISDIRECTED, TOO_MANY, UNAVAILABLE = 401, 403, 408, 421, 429, 503
MEBIBYTE = 1 << 20
BODIES_AT_A_TIME = 4
"""How many bodies of the greatest size may be held at a time."""


@attrs.frozen(kw_only=True)
class ServerLimits:
    """The limits of a server."""

    body_bytes: int = 100 * MEBIBYTE
    """5,000 nodes as objects of 20 kB each fit in."""
    seconds: float = 30.0
    """For the body of a request to arrive, and then for its answer."""
    requests: int = 64
    """At a time."""
    token: bytes | None = None
    """What callers have to show; None: nothing."""
    hosts: frozenset[str] | None = frozenset()
    """By which names, beside addresses and localhost, callers may call the server; None: by any, as they show who they are."""


@attrs.define(eq=False)
class RequestLimiter:
    """Lets requests in, within the limits. Refusals are :class:`~.bodies.RequestError`."""

    limits: ServerLimits
    inside: int = 0
    """Requests that have been let in and not answered yet."""
    _held: int = 0
    """Bytes of bodies."""

    def check_caller(self, scheme: str, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        """Refuse a page of another site, also where it has made its own name that of this server."""
        headers = headers_of(pairs)
        host = headers.get(b"host", "")
        if self.limits.hosts is not None and not is_known_host(host, self.limits.hosts):
            raise RequestError("header Host", f'"{host[:80]}"', "an address, localhost or a name of --allowed-host", MISDIRECTED)
        foreign = foreign_page(headers, [f"{scheme}://{host}"])
        if foreign is not None:
            raise RequestError(f"header {foreign.title()}", f'"{headers[foreign.encode()][:80]}"', "no page but its own", FORBIDDEN)

    def check_token(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Refuse who does not show the token. The comparison takes as long for a wrong token as for a nearly right one."""
        if self.limits.token is None:
            return
        given = next((value for name, value in headers if name.lower() == b"authorization"), b"")
        scheme, _, token = given.partition(b" ")
        if scheme.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self.limits.token):
            got = "another one" if given else "none"
            raise RequestError("header Authorization", got, "Bearer and the server's token", UNAUTHORIZED)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """A context for one request; refuses it where there are too many."""
        if self.inside >= self.limits.requests:
            raise RequestError("server", f"{self.inside + 1} requests at a time", f"{self.limits.requests} at most", TOO_MANY)
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1

    @asynccontextmanager
    async def entered_with_body(self, request: Request) -> AsyncIterator[bytes]:
        """The same with the whole body, which is held as long."""
        with self.entered():
            held: list[int] = []
            try:
                yield await self._read(request, held)
            finally:
                self._held -= sum(held)

    async def _read(self, request: Request, held: list[int]) -> bytes:
        """A body, the sizes of whose parts join *held*; refuses one that is too large, as soon as that is known, or too slow."""
        parts, count = list[bytes](), 0
        self._check(_announced(request))
        try:
            async with asyncio.timeout(self.limits.seconds):
                async for part in request.stream():
                    self._check(count := count + len(part))
                    if self._held + len(part) > BODIES_AT_A_TIME * self.limits.body_bytes:
                        raise RequestError("server", "too many large bodies at a time", f"at most {BODIES_AT_A_TIME}", TOO_MANY)
                    self._held += len(part)
                    held.append(len(part))
                    parts.append(part)
            return b"".join(parts)
        except TimeoutError:
            raise RequestError("body", f"{count} bytes in {self.limits.seconds:g} seconds", "all of it by then", TIMED_OUT) from None
        except ClientDisconnect:
            raise RequestError("body", "the end of the connection", "all of it", BAD_REQUEST) from None

    def _check(self, count: int) -> None:
        if count > self.limits.body_bytes:
            raise RequestError("body", f"more than {self.limits.body_bytes} bytes", "no more than that", TOO_LARGE)


def _announced(request: Request) -> int:
    """The length of the body as its header says; 0 if it does not."""
    text = request.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


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
