"""The server over HTTP: a starlette application over a transport, and a server for it in a thread."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response as HttpResponse
from starlette.responses import StreamingResponse
from starlette.routing import Route

from kubeclassic.live.client.transport import Request, Transport

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def make_app(transport: Transport) -> Starlette:
    """An application that asks *transport*. A broken connection there breaks this one, or is a 500 if no answer has begun."""

    async def answer(http: HttpRequest) -> HttpResponse:
        request = Request(http.method, http.url.path, http.url.query, await http.body(), dict(http.headers))
        if "watch=true" in request.query or "/watch/" in request.path:
            return await _streamed(transport, request)
        found = await transport.send(request)
        return HttpResponse(found.body, found.status, dict(found.headers))

    return Starlette(routes=[Route("/{path:path}", answer, methods=METHODS)])


async def _streamed(transport: Transport, request: Request) -> StreamingResponse:
    context = transport.stream(request)
    stream = await context.__aenter__()

    async def lines() -> AsyncIterator[bytes]:
        try:
            async for line in stream.lines:
                yield line + b"\n"
        finally:
            await context.__aexit__(None, None, None)

    return StreamingResponse(lines(), stream.status, dict(stream.headers))


@contextmanager
def serving(app: Starlette) -> Iterator[str]:
    """A context with the address of a server for *app* on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, log_config=None, ws="none", lifespan="off", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
