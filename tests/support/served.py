"""The API server of the tests over real HTTP, on a free port of the loopback, and kubeconfigs for it."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
import yaml
from starlette.applications import Starlette
from starlette.requests import Request as Asked
from starlette.responses import Response as Answered
from starlette.responses import StreamingResponse
from starlette.routing import Route

from kubeclassic.live.client.transport import Request
from tests.apiserver.store import Store
from tests.apiserver.transport import StoreTransport

METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


def app(transport: StoreTransport, seen: list[Mapping[str, str]], token: str = "") -> Starlette:
    """A web application that passes requests on to *transport*, and keeps their headers in *seen*; with *token* others get 401."""

    async def answer(asked: Asked) -> Answered:
        seen.append(dict(asked.headers))
        if token and asked.headers.get("authorization") != f"Bearer {token}":
            return Answered(b'{"kind":"Status","status":"Failure","reason":"Unauthorized","message":"Unauthorized","code":401}', 401)
        request = Request(asked.method, asked.url.path, asked.url.query, await asked.body(), dict(asked.headers))
        if "watch=true" in request.query:
            return StreamingResponse(_frames(transport, request), media_type="application/json")
        found = await transport.send(request)
        return Answered(found.body, found.status, dict(found.headers))

    return Starlette(routes=[Route("/{path:path}", answer, methods=METHODS)])


async def _frames(transport: StoreTransport, request: Request) -> AsyncIterator[bytes]:
    async with transport.stream(request) as stream:
        async for line in stream.lines:
            yield line + b"\n"


@contextmanager
def serving(application: Any, **options: Any) -> Iterator[str]:
    """The address at which *application* is served while the block runs; *options* are uvicorn's, such as a certificate."""
    config = uvicorn.Config(application, host="127.0.0.1", port=0, log_level="critical", timeout_graceful_shutdown=1, **options)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the server did not start")
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"{'https' if options else 'http'}://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def serving_store(store: Store, token: str = "") -> Iterator[str]:
    """The address of an API server over *store*."""
    with serving(app(StoreTransport(store), [], token)) as address:
        yield address


def kubeconfig(folder: Path, cluster: Mapping[str, Any], user: Mapping[str, Any] | None = None, **more: Any) -> Path:
    """A kubeconfig with one context, ``there``."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": dict(cluster)}],
        "users": [{"name": "u", "user": dict(user or {})}],
        "contexts": [{"name": "there", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "there",
        **more,
    }
    path = folder / "kubeconfig.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path
