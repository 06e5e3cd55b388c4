"""An application served on a socket: uvicorn, a limit for slow headers, TLS, a quiet end on a signal; one
thread owns the engine.

The outermost layer checks who may ask and how much, counts requests, and turns every refusal, and every
defect, into JSON.
"""

from __future__ import annotations

import asyncio
import gc
import hmac
import ipaddress
import logging
import os
import socket
import ssl
import traceback
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import attrs
import uvicorn
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...api.garbage import frozen
from ...api.ownfields import compact_json
from ...api.reading.addresses import is_loopback
from ...exceptions import KubeclassicError
from ..process.logs import Log
from ..scheduler.following import end_at_signals, unless
from .bodies import BAD_REQUEST, TOO_LARGE, RequestError

OWN = ("none", "same-origin")
"""Browsers' words for requests of addresses that people type, and of the server's own pages."""


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
MORE_HEADERS = {
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
    """The token that callers have to show; None: none."""
    hosts: frozenset[str] | None = frozenset()
    """The names, beside addresses and localhost, by which callers may call the server; None: any, as they
    show who they are."""


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
    """A wrapper of an application: checks who asks, counts the answers, and turns each refusal into JSON."""

    app: ASGIApp
    limits: ServerLimits
    metrics: Metrics
    paths: Collection[str]
    """The paths that exist; others are counted as one."""
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
        """Refuse callers without the token, and pages of other sites, even by DNS rebinding: under a name
        that leads here."""
        headers = {
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
        for name, allowed in {"origin": (f"{scope['scheme']}://{host}",), "sec-fetch-site": OWN}.items():
            if name in headers and headers[name] not in allowed:
                raise RequestError(
                    f"header {name.title()}", f'"{headers[name][:80]}"', "no page but its own", FORBIDDEN
                )
        if self.limits.token is None or scope["path"] in PROBES:
            return
        authorization = headers.get("authorization", "")
        kind, _, token = authorization.partition(" ")
        # The comparison takes as long for a wrong token as for a nearly right one.
        if kind.lower() != "bearer" or not hmac.compare_digest(
            token.strip().encode("latin-1"), self.limits.token
        ):
            raise RequestError(
                "header Authorization",
                "another one" if authorization else "none",
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


def _refusal(status: int, document: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Response:
    more = dict([MORE_HEADERS[status]]) if status in MORE_HEADERS else {}
    return Response(compact_json(document), status, {**(headers or {}), **more}, "application/json")


def defect_at(path: str, error: Exception) -> str:
    """A line about *error*, which nothing expected."""
    text = "".join(traceback.format_exception_only(error)).strip().replace("\n", " ")
    return f"a defect, at {path}: {text[:500]}"


HEADER_SECONDS = 10.0
"""The most seconds for the headers of a request to arrive, and for a new connection to send any."""
MOST_DROPPED = 8 << 20
"""The most bytes of an unread body that a client may go on to send."""
IDLE_SECONDS = 120
"""Seconds after which a connection without requests is closed: later than Go's clients close it, which is
after 90 seconds."""
GRACE_SECONDS = 30
"""The most seconds for running requests once the server has to end."""
LOOK = 0.01
"""Seconds between two checks whether a server listens."""
SAFE = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
"""Headers of every answer."""
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class ServeError(KubeclassicError):
    """The server cannot listen as it is asked to."""


@attrs.frozen
class Listening:
    """An address to listen on, and the check of callers."""

    address: str = "127.0.0.1"
    port: int = 0
    certificate: Path | str | None = None
    key: Path | str | None = None
    client_ca: Path | None = None
    token: Path | None = None
    """The file with the token that callers have to show."""
    insecure: bool = False

    def check(self) -> None:
        """Refuse what does not go together, and an address for everybody without any protection. Raises
        :class:`ServeError`."""
        if (self.certificate is None) != (self.key is None):
            raise ServeError("--tls-cert-file and --tls-private-key-file: expected both or none, got one")
        if self.client_ca is not None and self.certificate is None:
            raise ServeError("--client-ca-file needs --tls-cert-file")
        if self.insecure and self.shows_callers:
            raise ServeError("--insecure cannot be combined with --token-file or --client-ca-file")
        if not (self.insecure or self.shows_callers or is_loopback(self.address)):
            expected = "--client-ca-file, --token-file, or --insecure if everybody may ask"
            raise ServeError(
                f"--bind-address: expected {expected}, got {self.address}, which others can reach"
            )

    @property
    def shows_callers(self) -> bool:
        """Whether callers show who they are. A certificate of the server says nothing about them."""
        return self.token is not None or self.client_ca is not None

    def limits(self, hosts: Iterable[str], mebibytes: int, requests: int) -> ServerLimits:
        """The limits of a server there, which unknown callers may also call by the names *hosts*. Raises
        :class:`ServeError`."""
        self.check()
        names = frozenset(map(str.lower, hosts))
        if names and self.shows_callers:
            raise ServeError("--allowed-host cannot be combined with --token-file or --client-ca-file")
        token = None if self.token is None else self.token.read_bytes().strip()
        if token == b"":
            raise ServeError(f"{self.token}: expected a token, got nothing")
        return ServerLimits(
            mebibytes * MEBIBYTE, requests=requests, token=token, hosts=None if self.shows_callers else names
        )

    def socket(self) -> socket.socket:
        """A socket that is bound there. Raises :class:`ServeError`."""
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        # Without the name of the protocol asyncio leaves Nagle's algorithm on, and the body of each answer
        # waits for 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self.address, self.port))
        except (OSError, OverflowError) as error:
            listener.close()
            reason = _reason(error)
            raise ServeError(f"{self.address}:{self.port}: cannot listen there: {reason.lower()}") from None
        return listener

    def tls(self) -> dict[str, Any]:
        """The options for uvicorn. Raises :class:`ServeError` for files that are no certificate and its
        key."""
        certificate = self.certificate
        client_ca = self.client_ca
        if certificate is None:
            return {}
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(certificate, self.key)
        except (OSError, ValueError) as error:
            raise ServeError(
                f"{certificate}, {self.key}: got no certificate with its key ({_reason(error)})"
            ) from None
        try:
            if client_ca is not None:
                context.load_verify_locations(client_ca)
        except (OSError, ValueError) as error:
            raise ServeError(
                f"{client_ca}: expected certificates that sign clients', got none ({_reason(error)})"
            ) from None
        options: dict[str, Any] = {"ssl_certfile": str(certificate), "ssl_keyfile": str(self.key)}
        if client_ca is not None:
            options |= {"ssl_ca_certs": str(client_ca), "ssl_cert_reqs": ssl.CERT_REQUIRED}
        return options

    def url(self, port: int) -> str:
        """The URL of the server, on *port*."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{'http' if self.certificate is None else 'https'}://{host}:{port}"


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


# --- uvicorn ------------------------------------------------------------------------------------------------


class PatientProtocol(H11Protocol):
    """HTTP/1.1 that ends a connection on which the headers of a request take too long."""

    _deadline: asyncio.TimerHandle | None = None
    _dropped: int = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """A connection was made: its first request has to come soon."""
        super().connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """A part of a request arrived. After its answer it is dropped, so that the client can read that, up
        to a size."""
        super().data_received(data)
        self._expect_headers()
        self._dropped = self._dropped + len(data) if self._is_unread else 0
        if self._dropped > MOST_DROPPED:
            self._give_up()

    def on_response_complete(self) -> None:
        """A request was answered: a body that was not read has to end soon."""
        super().on_response_complete()
        if self._is_unread:
            self._expect_headers()

    @property
    def _is_unread(self) -> bool:
        """Whether the answer came before the end of the request."""
        return self.cycle is not None and self.cycle.response_complete and self.cycle.more_body

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _expect_headers(self) -> None:
        """Let the time run while headers have to come; it does not begin again with each byte of them."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.abort()


class _Server(uvicorn.Server):
    """A server that leaves signals to the work beside it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def served(
    app: ASGIApp, listening: Listening, *, most_callers: int | None = None, grace: int = GRACE_SECONDS
) -> AsyncIterator[str]:
    """A context in which *app* is served; it gives the URL. Requests that run at its end have *grace*
    seconds.

    More than *most_callers* get 503. Raises :class:`ServeError`.
    """
    listening.check()
    tls = listening.tls()
    logging.getLogger("uvicorn.error").addHandler(logging.NullHandler())
    bound = listening.socket()
    server = _Server(
        uvicorn.Config(
            app,
            http=PatientProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=grace,
            backlog=512,
            limit_concurrency=most_callers,
            **tls,
        )
    )
    task = asyncio.create_task(server.serve([bound]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(LOOK)
        yield listening.url(bound.getsockname()[1])
    finally:
        server.should_exit = True
        server.force_exit = not grace
        await asyncio.gather(task, return_exceptions=True)
        bound.close()


async def until_signal(
    app: ASGIApp,
    listening: Listening,
    worker: Worker,
    ready: Callable[[str, asyncio.Event], Coroutine[Any, Any, None]],
) -> int:
    """Serve *app* until a signal ends it, and return its number; *ready* runs meanwhile, and gets the URL."""
    end, ended_by = end_at_signals()
    try:
        async with served(app, listening) as url:
            await unless(end, ready(url, end))
    finally:
        worker.close()
    return ended_by[0]


def run_server(serving: Coroutine[Any, Any, int]) -> int:
    """The result of *serving*, which ends at a signal, on a loop of its own."""
    gc.collect()
    with frozen():  # the cluster stays: to scan it again and again would delay answers
        return asyncio.run(serving)


# --- the one thread -----------------------------------------------------------------------------------------


T = TypeVar("T")


@attrs.define(eq=False)
class Worker:
    """Runs functions one after the other, in the order in which they came, off the event loop."""

    _thread: ThreadPoolExecutor = attrs.field(
        factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="engine")
    )

    def submit(self, function: Callable[..., T], *arguments: object) -> Future[T]:
        """Let *function* run when it is its turn."""
        return self._thread.submit(function, *arguments)

    async def ask(self, function: Callable[..., T], *arguments: object) -> T:
        """The result of *function*. A call that is cancelled before its turn does not run."""
        return await asyncio.wrap_future(self.submit(function, *arguments))

    def close(self) -> None:
        """Wait until everything has run."""
        self._thread.shutdown()
