"""The lab over HTTP, as an ASGI application: its page, and what the page asks by JSON.

Only pages of its own address that know its token may ask. No other page learns that it is there.
"""

from __future__ import annotations

import secrets
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
from ..process.logs import Log, to_standard_error
from ..scheduler.following import end_at_signals
from .limits import ConnectionGuard, Metrics, RequestLimiter, ServerLimits
from .serving import Listening, Worker, served

JSON, BODY_BYTES = "application/json", 2 << 20
PAGE, LONGEST_NAME = "lab.html", 100
TYPES = {"css": "text/css", "js": "text/javascript", "html": "text/html"}
LOST = "expected the address that the lab printed, got a path that there is not"
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
    gate: RequestLimiter = attrs.field(factory=lambda: RequestLimiter(ServerLimits(body_bytes=BODY_BYTES)))
    _router: Router = attrs.field(init=False)
    _guard: ConnectionGuard = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._guard = ConnectionGuard(self._route, self.gate, Metrics(), (), Log(to_standard_error))
        shown = [Route(path, self.page, methods=["GET"]) for path in ("/{token}/", "/{token}/assets/{name}")]
        self._router = Router([*shown, Route("/{token}/ask", self.ask, methods=["POST"])], redirect_slashes=False)

    async def serve(self, port: int, on_ready: Callable[[str], None]) -> int:
        """Serve until a signal ends it, and answer which one; *on_ready* gets the address of the page."""
        end, ended_by = end_at_signals()
        try:
            async with served(self, Listening(port=port)) as url:
                on_ready(f"{url}/{self.token}/")
                await end.wait()
        finally:
            self.worker.close()
        return ended_by[0]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, unless it calls the server by another name, comes from another page, or is too large."""
        await self._guard(scope, receive, send)

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = scope["path"].partition("/")[2].partition("/")[0]  # OPTIONS * and CONNECT have no path
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            raise HTTPException(HTTPStatus.NOT_FOUND, LOST)
        # With an "app" the router raises what it refuses, and the guard answers it.
        await self._router({**scope, "app": self}, receive, send)

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
            raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"content-type: expected {JSON}")
        async with self.gate.entered_with_body(request) as body:
            try:
                return _json(await self.worker.ask(self.lab.answer, body))
            except KubeclassicError as error:
                # It was asked well and cannot be done: an answer like others, so that no browser logs it.
                return _json({"trouble": without_flag(str(error))})


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), headers=HEADERS, media_type=JSON)
