"""The lab over HTTP, as an ASGI application: its page, and what the page asks by JSON.

Only pages of its own address that know its token may ask. No other page learns that it is there.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import attrs
import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from ...exceptions import KubeclassicError
from ...questions.lab.lab import Lab
from ...simulation.edits import without_flag
from .limits import defect_at, foreign_page, headers_of
from .serving import Listening, Worker, make_server

JSON, BODY_BYTES = "application/json", 2 << 20
NAMES = ("127.0.0.1", "localhost")
PAGE, LONGEST_NAME = "lab.html", 100
TYPES = {"css": "text/css", "js": "text/javascript", "html": "text/html"}
LOST = "got a path that there is not, wanted the address that the lab printed"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
}  # fmt: skip


@attrs.define(eq=False, kw_only=True)
class LabApp:
    """The application. One worker answers, one question after the other. *files*: the content of a file of the page by its name."""

    lab: Lab
    files: Callable[[str], bytes | None]
    token: str = attrs.field(factory=lambda: secrets.token_urlsafe(18))
    worker: Worker = attrs.field(factory=Worker)
    _router: Router = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        shown = [Route(path, self.page, methods=["GET"]) for path in ("/{token}/", "/{token}/assets/{name}")]
        self._router = Router([*shown, Route("/{token}/ask", self.ask, methods=["POST"])], redirect_slashes=False)

    async def serve(self, port: int, on_ready: Callable[[str], None]) -> bool:
        """Serve until a signal ends it; *on_ready* gets the address of the page. Returns whether it was Ctrl-C."""
        server, socket = make_server(self, Listening(port=port), lambda url: on_ready(f"{url}/{self.token}/"))
        try:
            await server.serve([socket])
        finally:
            socket.close()
            self.worker.close()
        return server.was_interrupted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        try:
            check(scope, self.token)
            await self._router(scope, receive, send)
        except HTTPException as error:
            await _json({"trouble": error.detail}, error.status_code)(scope, receive, send)

    async def page(self, request: Request) -> Response:
        """The page, a style sheet or a script."""
        name = request.path_params.get("name", PAGE)
        kind = TYPES.get(name.rpartition(".")[2])
        content = self.files(name) if len(name) <= LONGEST_NAME else None
        if kind is None or content is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, LOST)
        return Response(content, headers=HEADERS, media_type=kind)

    async def ask(self, request: Request) -> Response:
        """The answer to a question."""
        if request.headers.get("content-type", "").partition(";")[0] != JSON:
            raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"content-type: wanted {JSON}")
        content = bytearray()
        async for part in request.stream():
            content += part
            if len(content) > BODY_BYTES:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"body: got more than {BODY_BYTES} bytes")
        try:
            return _json(await self.worker.ask(self.lab.answer, bytes(content)))
        except KubeclassicError as error:
            # It was asked well and cannot be done: an answer like others, so that no browser logs it.
            return _json({"trouble": without_flag(str(error))})
        except Exception as error:
            sys.stderr.write(f"kubeclassic: {defect_at('ask', error)}\n")
            wanted = "a defect of kubeclassic; its standard error says more. Nothing was changed"
            return _json({"trouble": wanted}, HTTPStatus.INTERNAL_SERVER_ERROR)


def check(scope: Scope, token: str) -> None:
    """Refuse a request that does not name this server as its host, comes from another page, or does not have the *token*."""
    headers = headers_of(scope["headers"])
    server = scope.get("server") or ("", 0)
    hosts = {f"{name}:{server[1]}" for name in NAMES}
    if headers.get(b"host") not in hosts:
        raise HTTPException(HTTPStatus.MISDIRECTED_REQUEST, "host: wanted the address that the lab printed")
    foreign = foreign_page(headers, {f"http://{host}" for host in hosts})
    if foreign is not None:
        raise HTTPException(HTTPStatus.FORBIDDEN, f"{foreign}: wanted the lab's own page")
    given = scope["path"].partition("/")[2].partition("/")[0]  # OPTIONS * and CONNECT have no path
    if not secrets.compare_digest(given.encode(), token.encode()):
        raise HTTPException(HTTPStatus.NOT_FOUND, LOST)


def _json(value: Any, status: int = HTTPStatus.OK) -> Response:
    return Response(msgspec.json.encode(value), status, HEADERS, JSON)
