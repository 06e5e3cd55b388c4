"""Transports around another one: requests that are kept below a rate, and requests that are counted.

Upstream: k8s.io/client-go/util/flowcontrol/throttle.go, k8s.io/client-go/tools/metrics.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import attrs

from .transport import Request, Response, Stream, Transport, TransportError


@attrs.frozen
class MeasuredRequest:
    """A request and what came of it."""

    request: Request
    status: int
    """0: there was no answer."""
    seconds: float
    """Until the answer was there; of a stream, until it began."""
    size: int = 0
    """Bytes of the answer's body; 0 for a stream."""
    is_stream: bool = attrs.field(default=False, kw_only=True)

    def __str__(self) -> str:
        """It in one line, as a log shows it."""
        return f"{self.request.method} {self.request.path} {self.status or 'no answer'} in {self.seconds * 1000:.0f} ms"


OnAnswer = Callable[[MeasuredRequest], None]

@attrs.define(eq=False)
class ThrottledTransport:
    """Lets *qps* requests a second through, and up to *burst* of them at once. Others wait for their turn."""

    inner: Transport
    qps: float
    """No limit if it is not above 0."""
    burst: int
    on_wait: Callable[[Request, float], None] = lambda request, seconds: None
    """Told how long each request waited."""
    _tokens: float = attrs.field(init=False)
    _counted_at: float = attrs.field(default=0.0, init=False)

    def __attrs_post_init__(self) -> None:
        self._tokens = float(self.burst)

    async def send(self, request: Request) -> Response:
        """The answer to *request*."""
        await self._turn(request)
        return await self.inner.send(request)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """A context with the answer to *request*, line by line."""
        await self._turn(request)
        async with self.inner.stream(request) as stream:
            yield stream

    async def _turn(self, request: Request) -> None:
        if self.qps <= 0:
            return
        now = _now()
        self._tokens = min(float(max(self.burst, 1)), self._tokens + (now - self._counted_at) * self.qps) - 1
        self._counted_at = now
        wait = max(0.0, -self._tokens / self.qps)
        if wait:
            await asyncio.sleep(wait)
        self.on_wait(request, wait)


@attrs.define(eq=False)
class MeasuredTransport:
    """Tells *on_answer* of each request."""

    inner: Transport
    on_answer: OnAnswer

    async def send(self, request: Request) -> Response:
        """The answer to *request*."""
        began = _now()
        try:
            answer = await self.inner.send(request)
        except TransportError:
            self.on_answer(MeasuredRequest(request, 0, _now() - began))
            raise
        self.on_answer(MeasuredRequest(request, answer.status, _now() - began, len(answer.body)))
        return answer

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """A context with the answer to *request*, line by line."""
        is_answered, began = False, _now()
        try:
            async with self.inner.stream(request) as stream:
                is_answered = True
                self.on_answer(MeasuredRequest(request, stream.status, _now() - began, is_stream=True))
                yield stream
        except TransportError:
            if not is_answered:
                self.on_answer(MeasuredRequest(request, 0, _now() - began, is_stream=True))
            raise


def _now() -> float:
    return asyncio.get_running_loop().time()
