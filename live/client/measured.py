"""Transports around another one: requests that are kept below a rate, and requests that are counted.

Upstream: k8s.io/client-go/util/flowcontrol/throttle.go, k8s.io/client-go/tools/metrics.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import attrs

from .transport import Request, Response, Stream, Transport, TransportError

OnAnswer = Callable[[str, int], None]
"""Told the method and the status of each answer; the status is 0 where there was none."""


@attrs.define(eq=False)
class ThrottledTransport:
    """Lets *qps* requests a second through, and up to *burst* of them at once. Others wait for their turn."""

    inner: Transport
    qps: float
    """No limit if it is not above 0."""
    burst: int
    _tokens: float = attrs.field(init=False)
    _counted_at: float = attrs.field(default=0.0, init=False)

    def __attrs_post_init__(self) -> None:
        self._tokens = float(self.burst)

    async def send(self, request: Request) -> Response:
        """The answer to *request*."""
        await self._turn()
        return await self.inner.send(request)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """A context with the answer to *request*, line by line."""
        await self._turn()
        async with self.inner.stream(request) as stream:
            yield stream

    async def _turn(self) -> None:
        if self.qps <= 0:
            return
        now = asyncio.get_running_loop().time()
        self._tokens = min(float(max(self.burst, 1)), self._tokens + (now - self._counted_at) * self.qps) - 1
        self._counted_at = now
        if self._tokens < 0:
            await asyncio.sleep(-self._tokens / self.qps)


@attrs.define(eq=False)
class MeasuredTransport:
    """Records each answer."""

    inner: Transport
    on_answer: OnAnswer

    async def send(self, request: Request) -> Response:
        """The answer to *request*."""
        try:
            answer = await self.inner.send(request)
        except TransportError:
            self.on_answer(request.method, 0)
            raise
        self.on_answer(request.method, answer.status)
        return answer

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """A context with the answer to *request*, line by line."""
        is_answered = False
        try:
            async with self.inner.stream(request) as stream:
                is_answered = True
                self.on_answer(request.method, stream.status)
                yield stream
        except TransportError:
            if not is_answered:
                self.on_answer(request.method, 0)
            raise
