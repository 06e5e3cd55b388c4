"""The server over HTTP: a starlette application over a transport, and a server for it in a thread."""

import asyncio
import socket
import threading
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response as HttpResponse
from starlette.responses import StreamingResponse
from starlette.routing import Route

from kubeclassic.live.client.api import Request

from .transport import NO_FAULT, StoreTransport

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


def make_app(transport, seen=None, token=""):
    """An application that asks *transport*. A broken connection there breaks this one, or is a 500 if no
    answer has begun.

    It keeps the headers of all requests in *seen*; with *token* requests without it get 401.
    """

    async def answer(http):
        if seen is not None:
            seen.append(dict(http.headers))
        if token and http.headers.get("authorization") != f"Bearer {token}":
            return HttpResponse(REFUSAL, 401)
        request = Request(http.method, http.url.path, http.url.query, await http.body(), dict(http.headers))
        if "watch=true" in request.query or "/watch/" in request.path:
            return await _streamed(transport, request)
        found = await transport.send(request)
        return HttpResponse(found.body, found.status, dict(found.headers))

    return Starlette(routes=[Route("/{path:path}", answer, methods=METHODS)])


REFUSAL = b'{"kind":"Status","status":"Failure","reason":"Unauthorized","message":"Unauthorized","code":401}'


async def _streamed(transport, request):
    context = transport.stream(request)
    stream = await context.__aenter__()

    async def lines():
        try:
            async for line in stream.lines:
                yield line + b"\n"
        finally:
            await context.__aexit__(None, None, None)

    return StreamingResponse(lines(), stream.status, dict(stream.headers))


class Server(uvicorn.Server):
    """Ends as soon as it is told to: uvicorn's looks for that ten times a second, and waits for those who are
    connected."""

    async def main_loop(self):
        """Run until it is told to end."""
        while not await self.on_tick(0):
            await asyncio.sleep(0.005)

    async def shutdown(self, sockets=None):
        """Take no one in any more, and let those go that are idle; who is still answered is cut off with the
        loop."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()


@contextmanager
def serving(app, **options):
    """A context with the address of a server for *app* on a free port of this machine; *options* are
    uvicorn's, such as a certificate."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            app, log_config=None, ws="none", lifespan="off", timeout_keep_alive=60, **options
        )
        server = Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"{'https' if options else 'http'}://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def serving_store(store, token="", faults=lambda request: NO_FAULT, **options):
    """The address of an API server over *store*; *options* as for :func:`serving`."""
    with serving(make_app(StoreTransport(store, faults), token=token), **options) as address:
        yield address
