"""The lab over HTTP, as an ASGI application: its page, and what the page asks by JSON.

Only pages of its own address that know its token may ask. No other page learns that it is there.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from http import HTTPStatus
from typing import Any

import msgspec
from attrs import Factory, define, field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from ...api.record import plain
from ...exceptions import KubeclassicError
from ...questions.lab.lab import Lab, SearchStopped, helping_words
from ...questions.whatif.suggestion import Suggestion
from ...simulation.edits import without_flag
from ...simulation.input import Observer
from ..process.logs import Log, to_standard_error
from .serving import (
    DEFECT_TEXT,
    ConnectionGuard,
    Listening,
    Metrics,
    ServerLimits,
    Worker,
    defect_at,
    until_signal,
)

JSON = "application/json"
LINES = "application/x-ndjson"
PAGE = "lab.html"
LONGEST_NAME = 100
TYPES = {"css": "text/css", "js": "text/javascript", "html": "text/html"}
LOST = "expected the address that the lab printed, got a path that there is not"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@define(eq=False, kw_only=True)
class LabApp:
    """The application. One worker answers, one question after the other. *files*: the content of a file of
    the page by its name."""

    lab: Lab
    files: Callable[[str], bytes | None]
    token: str = field(factory=lambda: secrets.token_urlsafe(18))
    worker: Worker = Factory(Worker)
    gate: ConnectionGuard = field(init=False)
    _router: Router = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.gate = ConnectionGuard(
            self._route, ServerLimits(body_bytes=2 << 20), Metrics(), (), Log(to_standard_error)
        )
        shown = [Route(path, self.page, methods=["GET"]) for path in ("/{token}/", "/{token}/assets/{name}")]
        self._router = Router(
            [*shown, Route("/{token}/ask", self.ask, methods=["POST"])], redirect_slashes=False
        )

    async def serve(self, port: int, on_ready: Callable[[str], None]) -> int:
        """Serve until a signal ends it, and return its number; *on_ready* gets the address of the page."""

        async def ready(url: str, end: asyncio.Event) -> None:
            on_ready(f"{url}/{self.token}/")
            await end.wait()

        return await until_signal(self.gate, Listening(port=port), self.worker, ready)

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        token = scope["path"].partition("/")[2].partition("/")[0]  # OPTIONS * and CONNECT have no path
        if not secrets.compare_digest(token.encode(), self.token.encode()):
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
        async with AsyncExitStack() as entered:
            body = await entered.enter_async_context(self.gate.entered_with_body(request))
            parts = AnswerParts(asyncio.get_running_loop())
            answer = asyncio.ensure_future(self.worker.ask(self.lab.answer, body, parts))
            answer.add_done_callback(lambda _: parts.waiting.put_nowait(None))
            first_part = await parts.waiting.get()
            if first_part is None:
                return Response(await _encoded(answer), headers=HEADERS, media_type=JSON)
            lines = self._lines(first_part, parts, answer, entered.pop_all())
            return StreamingResponse(lines, headers=HEADERS, media_type=LINES)

    async def _lines(
        self, first_part: Any, parts: AnswerParts, answer: asyncio.Future[Any], entered: AsyncExitStack
    ) -> AsyncIterator[bytes]:
        """A line for each of *parts* from the *first_part* on, and one for the whole *answer*; *entered* is
        left at the end."""
        async with entered:
            try:
                part = first_part
                while part is not None:
                    yield msgspec.json.encode(part) + b"\n"
                    part = await parts.waiting.get()
                yield await _encoded(answer) + b"\n"
            except Exception as error:  # too late for another status
                self.gate.log.error(defect_at("ask", error))
                yield msgspec.json.encode({"trouble": DEFECT_TEXT}) + b"\n"
            finally:
                parts.is_stopped = True
                answer.cancel()


@define(eq=False)
class AnswerParts(Observer):
    """The parts of an answer that the worker's thread finds before the whole. The search ends when the page
    no longer waits."""

    loop: asyncio.AbstractEventLoop
    waiting: asyncio.Queue[Any] = Factory(asyncio.Queue)
    """Parts that are not sent yet; None: there will be no more."""
    is_stopped: bool = False

    def telling(self, what: str) -> AbstractContextManager[Callable[[str], None]]:
        return nullcontext(lambda word: self._put({"trying": word}))

    def found(self, part: object) -> None:
        if isinstance(part, Suggestion):
            self._put({"suggestion": plain(part), "told": helping_words(part)})

    def pause(self) -> None:
        if self.is_stopped:
            raise SearchStopped

    def _put(self, part: Any) -> None:
        self.loop.call_soon_threadsafe(self.waiting.put_nowait, {"part": part})


async def _encoded(answer: asyncio.Future[Any]) -> bytes:
    try:
        return msgspec.json.encode(await answer)
    except KubeclassicError as error:
        # The question was valid and cannot be answered: an answer like others, so that no browser logs it.
        return msgspec.json.encode({"trouble": without_flag(str(error))})
