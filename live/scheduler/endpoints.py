"""What a scheduler answers over HTTP: ``/healthz``, ``/livez``, ``/readyz`` and ``/metrics``. Callers are not asked who they are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ..server.serving import METRICS_TYPE, SAFE, Listening, served
from .flags import Listener

UNAVAILABLE, MOST_CALLERS = 503, 100

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


@asynccontextmanager
async def serving(app: Starlette, listeners: Sequence[Listener]) -> AsyncIterator[list[str]]:
    """A context in which *app* is served; it gives the URLs. Raises :class:`~..server.serving.ServeError` where it cannot listen."""
    urls: list[str] = []
    async with AsyncExitStack() as stack:
        for listener in listeners:
            certificate, key = (Path(file) if file else None for file in (listener.certificate, listener.key))
            listening = Listening(address=listener.address, port=listener.port, certificate=certificate, key=key, insecure=True)
            urls.append(await stack.enter_async_context(served(app, listening, most_callers=MOST_CALLERS, grace=0)))
        yield urls
