"""The lab's paths, as an ASGI application: its page, what the page asks by JSON, and files to save."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from http import HTTPStatus
from importlib.resources import files
from time import process_time
from typing import Any

import attrs
import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from ....exceptions import KubeclassicError
from ....live.server.worker import Worker
from ....simulation.lab.labclock import Film, film, why_then
from ....simulation.lab.saved import Given
from ....simulation.lab.session import Session
from ....simulation.lab.source import LabError
from ....simulation.lab.why import why
from ... import report
from .guard import RefusedRequest, check
from .saves import SAVES, saved

Json = dict[str, Any]
JSON, BODY_BYTES = "application/json", 2 << 20
ASSETS = ("lab", "page")
"""The packages of ``cli/report`` whose assets the page uses: its own, and those of all pages."""
TYPES = {"css": "text/css", "js": "text/javascript", "html": "text/html"}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
}  # fmt: skip


@attrs.define(eq=False, kw_only=True)
class LabApp:
    """The application. One worker does everything that touches the session, one question after the other."""

    session: Session
    given: Given
    token: str
    worker: Worker
    replays: tuple[str, ...] = ()
    films: dict[int, Film] = attrs.field(factory=dict)
    """The latest replay, by the number of its state."""
    _router: Router = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        asked: Mapping[str, Callable[[Json], Any]] = {
            "session": self.look, "do": self.do, "why": self.why, "placement": self.placement, "clock": self.clock,
            "clock/why": self.clock_why,
        }  # fmt: skip
        questions = [Route(f"/{{token}}/api/{name}", self._answering(answer), methods=["POST"]) for name, answer in asked.items()]
        shown = [
            Route("/{token}/", self.page, methods=["GET"]), Route("/{token}/assets/{name}", self.asset, methods=["GET"]),
            Route("/{token}/save/{what}", self.save, methods=["GET"]),
        ]  # fmt: skip
        self._router = Router([*questions, *shown], redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        try:
            check(scope, self.token)
            await self._router(scope, receive, send)
        except RefusedRequest as error:
            await _json({"error": str(error)}, error.status)(scope, receive, send)

    # --- files ------------------------------------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        """The page."""
        return _file("lab.html")

    async def asset(self, request: Request) -> Response:
        """A style sheet or a script."""
        return _file(request.path_params["name"])

    async def save(self, request: Request) -> Response:
        """A state as a file: the policy, the scenario and so on."""
        what = request.path_params["what"]
        if what not in SAVES:
            raise RefusedRequest(HTTPStatus.NOT_FOUND, f'save: got "{what}", wanted one of {", ".join(SAVES)}')
        try:
            name, kind, text = await self.worker.ask(saved, what, self.session, self.given)
        except KubeclassicError as error:
            return _json({"error": str(error)}, HTTPStatus.BAD_REQUEST)
        return Response(text, headers={**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}, media_type=kind)

    # --- questions --------------------------------------------------------------------------------------------------

    def _answering(self, answer: Callable[[Json], Any]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            asked = await _body(request)
            try:
                return _json(await self.worker.ask(answer, asked))
            except KubeclassicError as error:
                # It was asked well and cannot be done: an answer like others, so that no browser logs it.
                return _json({"error": str(error), "field": error.field if isinstance(error, LabError) else ""})
            except Exception as error:
                told = "".join(traceback.format_exception_only(error)).strip().replace("\n", " ")
                sys.stderr.write(f"kubeclassic: a defect, at {request.url.path.rpartition('/')[2]}: {told[:500]}\n")
                wanted = "a defect of kubeclassic; its standard error says more. Nothing was changed"
                return _json({"error": wanted, "field": ""}, HTTPStatus.INTERNAL_SERVER_ERROR)

        return endpoint

    def look(self, asked: Json) -> Json:
        """The session as it is: for a page that saw state *seen* and knows the plot *plot*."""
        began = process_time()
        session, answer = self.session, self.session.answer
        seen = session.known(asked.get("seen"))
        before = None if seen is None else session.bench.answer(seen)
        difference = session.difference(asked.get("against", "step"), seen)
        found: Json = {
            "session": session.record(), "summary": answer.summary, "placement": answer.record(before),
            "difference": None if difference is None else difference.record(),
            "plot": None if asked.get("plot") == answer.plot.number else answer.plot.record(),
        }  # fmt: skip
        return {**found, "seconds": round(process_time() - began, 4)}

    def do(self, asked: Json) -> Json:
        """Do something, and look."""
        began = process_time()
        self.session.do(asked)
        return {**self.look(asked), "seconds": round(process_time() - began, 4)}

    def placement(self, asked: Json) -> Json:
        """Another state's placement, whole: the start, or a pinned one."""
        other = self.session.other(str(asked.get("of")))
        if other is None:
            raise LabError(f"of: got {asked.get('of')!r}, wanted start or a pinned configuration", "pin")
        answer = self.session.bench.answer(other)
        plot = None if asked.get("plot") == answer.plot.number else answer.plot.record()
        return {"placement": answer.record(None), "summary": answer.summary, "plot": plot, "number": other.number}

    def why(self, asked: Json) -> Json:
        """Why a pod goes where it goes."""
        pod, node = asked.get("pod"), asked.get("node")
        if not isinstance(pod, str) or not isinstance(node, str | None):
            raise LabError("why: got no name of a pod, wanted one, and perhaps that of a node", "why")
        return why(self.session.bench, self.session.state, pod, node)

    def clock(self, asked: Json) -> Json:
        """The replay of the current state."""
        number = self.session.state.number
        if number not in self.films:
            self.films = {number: film(self.session.bench, self.session.state, self.replays)}
        return self.films[number].record()

    def clock_why(self, asked: Json) -> Json:
        """Why an attempt of the replay ended so."""
        number, at, node = asked.get("number"), asked.get("at"), asked.get("node")
        found = self.films.get(number) if type(number) is int else None
        if found is None or type(at) is not int or not isinstance(node, str | None):
            raise LabError("clock: the replay is of another state, wanted it again", "clock")
        return why_then(found, at, node)


def _file(name: str) -> Response:
    kind = TYPES.get(name.rpartition(".")[2])
    places = [files(f"{report.__name__}.{package}").joinpath("assets", name) for package in ASSETS]
    place = next((place for place in places if place.is_file()), None)
    if kind is None or place is None:
        raise RefusedRequest(HTTPStatus.NOT_FOUND, "got a path that there is not, wanted the address that the lab printed")
    return Response(place.read_bytes(), headers=HEADERS, media_type=kind)


def _json(value: Json, status: int = HTTPStatus.OK) -> Response:
    return Response(msgspec.json.encode(value), status, HEADERS, JSON)


async def _body(request: Request) -> Json:
    """The JSON object of a request. Raises :class:`~.guard.RefusedRequest`."""
    if request.headers.get("content-type", "").partition(";")[0] != JSON:
        raise RefusedRequest(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"content-type: wanted {JSON}")
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > BODY_BYTES:
            raise RefusedRequest(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"body: got more than {BODY_BYTES} bytes")
    try:
        value = msgspec.json.decode(bytes(content))
    except (msgspec.DecodeError, RecursionError):
        raise RefusedRequest(HTTPStatus.BAD_REQUEST, "body: got no JSON, wanted an object") from None
    if not isinstance(value, dict):
        raise RefusedRequest(HTTPStatus.BAD_REQUEST, "body: wanted a JSON object")
    return value
