"""Who may ask and how much: the outermost layer checks it, counts requests, and turns every refusal into
JSON, a defect too."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import traceback
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from time import monotonic

import attrs
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...api.wire.ownfields import compact_json
from ..process.logs import Log
from .bodies import BAD_REQUEST, TOO_LARGE, RequestError

OWN = ("none", "same-origin")
"""What browsers say of requests of the server's own pages, and of addresses that people type."""


def is_known_host(host: str, names: Collection[str]) -> bool:
    """Whether *host*, with or without a port, is one of *names*, localhost or an address: only names can be
    turned to other addresses.

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


# --- limits -------------------------------------------------------------------------------------------------


UNAUTHORIZED = 401
FORBIDDEN = 403
TIMED_OUT = 408
MISDIRECTED = 421
TOO_MANY = 429
DEFECT = 500
UNAVAILABLE = 503
DEFECT_TEXT = "a defect of kubeclassic; its standard error says more"
MEBIBYTE = 1 << 20
MORE_HEADERS: Mapping[int, tuple[str, str]] = {
    UNAUTHORIZED: ("www-authenticate", "Bearer"),
    TOO_MANY: ("retry-after", "1"),
    UNAVAILABLE: ("retry-after", "1"),
}
"""Status -> the header that a refusal has besides."""


@attrs.frozen
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
    """By which names, beside addresses and localhost, callers may call the server; None: by any, as they show
    who they are."""


SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Metrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self.registry: CollectorRegistry = CollectorRegistry()
        self.requests: Counter = Counter(
            "kubeclassic_extender_requests",
            "Requests by path and status.",
            ["path", "code"],
            registry=self.registry,
        )
        self.seconds: Histogram = Histogram(
            "kubeclassic_extender_request_duration_seconds",
            "Time from a request's headers to its answer.",
            ["path"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.events: Counter = Counter(
            "kubeclassic_extender_events",
            "Objects that the API server's watches brought, and deletions.",
            registry=self.registry,
        )

    def show(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Show a number as it is when somebody asks."""
        Gauge(f"kubeclassic_extender_{name}", text, registry=self.registry).set_function(value)

    def text(self) -> bytes:
        """All of them in Prometheus' text format."""
        return generate_latest(self.registry)


PROBES = frozenset({"/healthz", "/livez", "/readyz"})
"""Paths that need no token."""


@attrs.define(eq=False)
class ConnectionGuard:
    """Wraps an application: checks who asks, counts the answers, and makes each refusal one in JSON."""

    app: ASGIApp
    limits: ServerLimits
    metrics: Metrics
    paths: Collection[str]
    """Those that there are; others are counted as one."""
    log: Log
    inside: int = 0
    """Requests that have been let in and not answered yet."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        began = monotonic()
        path = scope["path"] if scope["path"] in self.paths else "other"
        status = DEFECT

        async def noting(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            self._check_caller(scope)
            await self.app(scope, receive, noting)
        except RequestError as error:
            await _refusal(error.status, error.record())(scope, receive, noting)
        except HTTPException as error:
            await _refusal(error.status_code, {"error": error.detail}, error.headers)(scope, receive, noting)
        except Exception as error:
            self.log.error(defect_at(path, error))
            await _refusal(DEFECT, {"error": DEFECT_TEXT})(scope, receive, noting)
        finally:
            self.metrics.requests.labels(path, str(status)).inc()
            self.metrics.seconds.labels(path).observe(monotonic() - began)

    def _check_caller(self, scope: Scope) -> None:
        """Refuse a page of another site, also where it has made its own name that of this server, and who
        does not show the token."""
        headers: dict[str, str] = {
            name.lower().decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        host = headers.get("host", "")
        if self.limits.hosts is not None and not is_known_host(host, self.limits.hosts):
            raise RequestError(
                "header Host",
                f'"{host[:80]}"',
                "an address, localhost or a name of --allowed-host",
                MISDIRECTED,
            )
        own = {"origin": (f"{scope['scheme']}://{host}",), "sec-fetch-site": OWN}
        for name, allowed in own.items():
            if name in headers and headers[name] not in allowed:
                raise RequestError(
                    f"header {name.title()}", f'"{headers[name][:80]}"', "no page but its own", FORBIDDEN
                )
        if self.limits.token is None or scope["path"] in PROBES:
            return
        given = headers.get("authorization", "")
        kind, _, token = given.partition(" ")
        # The comparison takes as long for a wrong token as for a nearly right one.
        if kind.lower() != "bearer" or not hmac.compare_digest(
            token.strip().encode("latin-1"), self.limits.token
        ):
            raise RequestError(
                "header Authorization",
                "another one" if given else "none",
                "Bearer and the server's token",
                UNAUTHORIZED,
            )

    @asynccontextmanager
    async def entered_with_body(self, request: Request) -> AsyncIterator[bytes]:
        """A context for one request, with its whole body; refuses it where there are too many, and a body
        that is too large or too slow."""
        limits = self.limits
        if self.inside >= limits.requests:
            raise RequestError(
                "server", f"{self.inside + 1} requests at a time", f"{limits.requests} at most", TOO_MANY
            )

        def check(count: int) -> None:
            if count > limits.body_bytes:
                raise RequestError("body", "more", f"at most {limits.body_bytes} bytes", TOO_LARGE)

        self.inside += 1
        try:
            body = bytearray()
            announced = request.headers.get("content-length", "")
            check(
                int(announced) if announced.isascii() and announced.isdecimal() and len(announced) < 19 else 0
            )
            try:
                async with asyncio.timeout(limits.seconds):
                    async for part in request.stream():
                        check(len(body) + len(part))
                        body += part
            except TimeoutError:
                raise RequestError(
                    "body", f"{len(body)} bytes in {limits.seconds:g} seconds", "all of it by then", TIMED_OUT
                ) from None
            except ClientDisconnect:
                raise RequestError("body", "the end of the connection", "all of it", BAD_REQUEST) from None
            yield bytes(body)
        finally:
            self.inside -= 1


def _refusal(status: int, told: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Response:
    more = dict([MORE_HEADERS[status]]) if status in MORE_HEADERS else {}
    return Response(compact_json(told), status, {**(headers or {}), **more}, "application/json")


def defect_at(path: str, error: Exception) -> str:
    """A line about *error*, which nothing expected."""
    told = "".join(traceback.format_exception_only(error)).strip().replace("\n", " ")
    return f"a defect, at {path}: {told[:500]}"
