"""What a scheduler answers over HTTP: ``/healthz``, ``/livez``, ``/readyz`` and ``/metrics``. Callers are not asked who they are."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ..server.serving import METRICS_TYPE, SAFE, Listening, QuietServer, make_server
from .flags import Listener

UNAVAILABLE, MOST_CALLERS = 503, 100
LOOK = 0.01
"""Seconds between two looks whether a server listens."""

Check = Callable[[], str]
"""Why a part is not well; empty if it is."""


def endpoints(metrics: Callable[[], bytes], live: Mapping[str, Check], ready: Mapping[str, Check]) -> Starlette:
    """The application. *live* and *ready*: the checks by name; ``/readyz`` asks both."""

    def health(checks: Mapping[str, Check]) -> Callable[[Request], Awaitable[Response]]:
        # A coroutine function: starlette runs others on a thread, which must not look at the scheduler.
        async def answer(request: Request) -> Response:
            failed = [name for name, check in checks.items() if check()]  # Reasons are withheld, as anybody may ask.
            return PlainTextResponse(f"failed: {', '.join(failed)}" if failed else "ok", UNAVAILABLE if failed else 200, SAFE)

        return answer

    async def measured(request: Request) -> Response:
        return Response(metrics(), media_type=METRICS_TYPE, headers=SAFE)

    paths = {"/healthz": live, "/livez": live, "/readyz": {**live, **ready}}
    return Starlette(routes=[Route("/metrics", measured), *(Route(path, health(checks)) for path, checks in paths.items())])


class BesideServer(QuietServer):
    """A server beside other work, to which signals belong."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield


@asynccontextmanager
async def serving(app: Starlette, listeners: Sequence[Listener]) -> AsyncIterator[list[str]]:
    """A context in which *app* is served; it gives the URLs. Raises :class:`~..server.serving.ServeError` where it cannot listen."""
    urls: list[str] = []
    async with AsyncExitStack() as stack:
        for listener in listeners:
            certificate, key = (Path(file) if file else None for file in (listener.certificate, listener.key))
            listening = Listening(address=listener.address, port=listener.port, certificate=certificate, key=key, insecure=True)
            server, bound = make_server(app, listening, urls.append, kind=BesideServer, most_callers=MOST_CALLERS)
            await stack.enter_async_context(_served(server, bound))
        yield urls


@asynccontextmanager
async def _served(server: QuietServer, bound: socket.socket) -> AsyncIterator[None]:
    task = asyncio.create_task(server.serve([bound]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(LOOK)
        yield
    finally:
        server.should_exit = server.force_exit = True
        await asyncio.gather(task, return_exceptions=True)
        bound.close()
