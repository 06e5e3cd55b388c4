"""How requests reach an API server: an interface with one implementation over HTTP, others around it, and others in tests.

Everything in ``live`` that talks to an API server goes through a :class:`Transport`, so tests can answer in process, with faults.
One around another keeps requests below a rate, and measures them.
Upstream: k8s.io/client-go/util/flowcontrol/throttle.go, k8s.io/client-go/tools/metrics.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

import attrs

from ...exceptions import KubeclassicError

CLOSED, RESET, REFUSED, TIMEOUT, OTHER = "closed", "reset", "refused", "timeout", "other"
"""Why there is no answer: the server closed the connection, broke it, did not accept it, was too slow; or another reason."""
LONGEST_WAIT = 9
"""Digits of a number of seconds to wait that is followed. Upstream: a number that is no int is no number."""


class TransportError(KubeclassicError):
    """No answer: the connection failed, broke or took too long. Whether the server carried out the request is unknown.

    *cause* is one of :data:`CLOSED`, :data:`RESET`, :data:`REFUSED`, :data:`TIMEOUT` and :data:`OTHER`.
    """

    def __init__(self, text: str, cause: str = CLOSED) -> None:
        super().__init__(text)
        self.cause = cause


@attrs.frozen
class Request:
    """One HTTP request. ``path`` begins with ``/``; ``query`` is encoded and has no ``?``."""

    method: str
    path: str
    query: str = ""
    body: bytes = b""
    headers: Mapping[str, str] = attrs.Factory(dict)
    timeout: float | None = None
    """In seconds, for streams between two pieces of the answer; None: the transport's default for answers, none for streams."""


@attrs.frozen
class Response:
    """A whole answer. The names of ``headers`` are in lower case."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = attrs.Factory(dict)

    @property
    def retry_after(self) -> float | None:
        """The header ``Retry-After``, in whole seconds as Go reads it; None without one."""
        text = self.headers.get("retry-after", "")
        return float(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_WAIT else None


@attrs.frozen
class Stream:
    """An answer that goes on: its ``lines`` are the frames of a watch, without line ends.

    The iterator ends when the server closes the stream, and raises :class:`TransportError` when the connection breaks.
    """

    status: int
    headers: Mapping[str, str]
    lines: AsyncIterator[bytes]


class Transport(Protocol):
    """Sends requests. Both methods raise :class:`TransportError`; a status such as 404 or 500 is an answer, no error."""

    async def send(self, request: Request) -> Response:
        """The answer to *request*."""
        ...

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        """A context with the answer to *request*, line by line. At its end the connection is closed."""
        ...


@attrs.frozen
class MeasuredRequest:
    """A request and what came of it."""

    request: Request
    status: int
    """0: there was no answer."""
    seconds: float
    """Until the answer was there; of a stream, until it began."""
    is_stream: bool = attrs.field(default=False, kw_only=True)

    def __str__(self) -> str:
        """It in one line, as a log shows it."""
        return f"{self.request.method} {self.request.path} {self.status or 'no answer'} in {self.seconds * 1000:.0f} ms"


@attrs.define(eq=False)
class ClientTransport:
    """Lets *qps* requests a second through, and up to *burst* at once; *on_answer* is told of each, with its wait."""

    inner: Transport
    on_answer: Callable[[MeasuredRequest], None]
    qps: float = 0.0
    """No limit if it is not above 0."""
    burst: int = 0
    _tokens: float = attrs.field(default=attrs.Factory(lambda self: float(self.burst), takes_self=True), init=False)
    _counted_at: float = 0.0

    async def send(self, request: Request) -> Response:
        """The answer to *request*."""
        began = loop_time()
        try:
            await self._turn()
            answer = await self.inner.send(request)
        except TransportError:
            self.on_answer(MeasuredRequest(request, 0, loop_time() - began))
            raise
        self.on_answer(MeasuredRequest(request, answer.status, loop_time() - began))
        return answer

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """A context with the answer to *request*, line by line."""
        is_answered, began = False, loop_time()
        try:
            await self._turn()
            async with self.inner.stream(request) as stream:
                is_answered = True
                self.on_answer(MeasuredRequest(request, stream.status, loop_time() - began, is_stream=True))
                yield stream
        except TransportError:
            if not is_answered:
                self.on_answer(MeasuredRequest(request, 0, loop_time() - began, is_stream=True))
            raise

    async def _turn(self) -> None:
        if self.qps <= 0:
            return
        now = loop_time()
        self._tokens = min(float(max(self.burst, 1)), self._tokens + (now - self._counted_at) * self.qps) - 1
        self._counted_at = now
        if self._tokens < 0:
            await asyncio.sleep(-self._tokens / self.qps)


def loop_time() -> float:
    """The time of the event loop, in seconds that never go back."""
    return asyncio.get_running_loop().time()
