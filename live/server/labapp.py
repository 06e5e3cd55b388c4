"""The lab over HTTP, as an ASGI application: its page, what the page asks by JSON, and files to save.

Only pages of its own address that know its token may ask. No other page learns that it is there.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Mapping
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
from ...questions.lab.labconfiguration import LabError
from ...questions.lab.questions import LabQuestions
from ...questions.lab.session import Saved
from ...simulation.edits import without_flag
from .limits import defect_at, foreign_page, headers_of
from .serving import Listening, Worker, make_server

Json = dict[str, Any]
JSON, BODY_BYTES = "application/json", 2 << 20
TOKEN_BYTES = 18
NAMES = ("127.0.0.1", "localhost")
PAGE, LONGEST_NAME = "lab.html", 100
TYPES = {"css": "text/css", "js": "text/javascript", "html": "text/html"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
}  # fmt: skip


@attrs.define(eq=False, kw_only=True)
class LabApp:
    """The application. One worker does everything that touches the session, one question after the other.

    *files*: the content of a file of the page by its name, if there is one; *saves*: what makes each of the files to save.
    """

    questions: LabQuestions
    files: Callable[[str], bytes | None]
    saves: Mapping[str, Callable[[], Saved]]
    token: str = attrs.field(factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))
    worker: Worker = attrs.field(factory=Worker)
    _router: Router = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        asked = self.questions.by_name.items()
        questions = [Route(f"/{{token}}/api/{name}", self._answering(answer), methods=["POST"]) for name, answer in asked]
        shown = [
            Route("/{token}/", self.page, methods=["GET"]), Route("/{token}/assets/{name}", self.page, methods=["GET"]),
            Route("/{token}/save/{what}", self.save, methods=["GET"]),
        ]  # fmt: skip
        self._router = Router([*questions, *shown], redirect_slashes=False)

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
            await _json({"error": error.detail}, error.status_code)(scope, receive, send)

    async def page(self, request: Request) -> Response:
        """The page, a style sheet or a script."""
        name = request.path_params.get("name", PAGE)
        kind = TYPES.get(name.rpartition(".")[2])
        content = self.files(name) if len(name) <= LONGEST_NAME else None
        if kind is None or content is None:
            raise HTTPException(HTTPStatus.NOT_FOUND, "expected the address that the lab printed, got a path that there is not")
        return Response(content, headers=HEADERS, media_type=kind)

    async def save(self, request: Request) -> Response:
        """A state as a file: its rules, or its commands."""
        what = request.path_params["what"]
        if what not in self.saves:
            raise HTTPException(HTTPStatus.NOT_FOUND, f'save: expected one of {", ".join(self.saves)}, got "{what}"')
        try:
            name, kind, text = await self.worker.ask(self.saves[what])
        except KubeclassicError as error:
            return _json({"error": str(error)}, HTTPStatus.BAD_REQUEST)
        return Response(text, headers={**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}, media_type=kind)

    def _answering(self, answer: Callable[[Json], Any]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            # The JSON object of a request. Raises :class:`~starlette.exceptions.HTTPException`.
            if request.headers.get("content-type", "").partition(";")[0] != JSON:
                raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"content-type: expected {JSON}")
            content = bytearray()
            async for part in request.stream():
                content += part
                if len(content) > BODY_BYTES:
                    raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"body: got more than {BODY_BYTES} bytes")
            try:
                value = msgspec.json.decode(bytes(content))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                raise HTTPException(HTTPStatus.BAD_REQUEST, "body: expected an object, got no JSON") from None
            if not isinstance(value, dict):
                raise HTTPException(HTTPStatus.BAD_REQUEST, "body: expected a JSON object")
            asked = value
            try:
                return _json(await self.worker.ask(answer, asked))
            except KubeclassicError as error:
                # It was asked well and cannot be done: an answer like others, so that no browser logs it.
                return _json({"error": without_flag(str(error)), "field": error.field if isinstance(error, LabError) else ""})
            except Exception as error:
                sys.stderr.write(f"kubeclassic: {defect_at(request.url.path.rpartition('/')[2], error)}\n")
                wanted = "a defect of kubeclassic; its standard error says more. Nothing was changed"
                return _json({"error": wanted, "field": ""}, HTTPStatus.INTERNAL_SERVER_ERROR)

        return endpoint


def check(scope: Scope, token: str) -> None:
    """Refuse a request that does not name this server as its host, comes from another page, or does not have the *token*."""
    headers = headers_of(scope["headers"])
    server = scope.get("server") or ("", 0)
    hosts = {f"{name}:{server[1]}" for name in NAMES}
    if headers.get(b"host") not in hosts:
        raise HTTPException(HTTPStatus.MISDIRECTED_REQUEST, "host: expected the address that the lab printed")
    foreign = foreign_page(headers, {f"http://{host}" for host in hosts})
    if foreign is not None:
        raise HTTPException(HTTPStatus.FORBIDDEN, f"{foreign}: expected the lab's own page")
    given = scope["path"].partition("/")[2].partition("/")[0]  # OPTIONS * and CONNECT have no path
    if not secrets.compare_digest(given.encode(), token.encode()):
        raise HTTPException(HTTPStatus.NOT_FOUND, "expected the address that the lab printed, got a path that there is not")


def _json(value: Json, status: int = HTTPStatus.OK) -> Response:
    return Response(msgspec.json.encode(value), status, HEADERS, JSON)
