"""The extender server: its paths, as an ASGI application, and its life, on the cluster of files or on one that it follows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import attrs
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from ...api.wire.ownfields import compact_json
from ..client.credentials import Access
from ..client.http import HttpTransport
from ..process.logs import Log, to_standard_error
from ..scheduler.following import end_at_signals
from .bodies import BindingArgs, RequestError
from .limits import TOO_MANY, UNAVAILABLE, ConnectionGuard, Metrics, ServerLimits
from .served import TOLERATED, ExtenderService, Following, ServedCluster
from .serving import METRICS_TYPE, SAFE, Listening, Worker, served

T = TypeVar("T")
WriteBinding = Callable[[BindingArgs], Awaitable[str | None]]
"""Writes a binding to an API server; the answer is its error, or None."""
UNSUPPORTED = 415
JSON = "application/json"
BEHIND = "x-seconds-behind"
"""The header that says for how many seconds the API server could not be followed."""


@attrs.define(eq=False, kw_only=True)
class ExtenderApp:
    """The application. *is_ready* says whether the cluster is complete."""

    service: ExtenderService
    limits: ServerLimits = attrs.Factory(ServerLimits)
    write_binding: WriteBinding | None = None
    """None: bindings are kept in the server's cluster alone."""
    is_ready: Callable[[], bool] = lambda: True
    seconds_behind: Callable[[], float] = lambda: 0.0
    """For how long the API server could not be followed, so that the cluster is as it was then."""
    log: Log = attrs.field(factory=lambda: Log(to_standard_error))
    """Told of defects."""
    worker: Worker = attrs.Factory(Worker)
    metrics: Metrics = attrs.Factory(Metrics)
    gate: ConnectionGuard = attrs.field(init=False)
    _router: Router = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        asked = [Route(f"/{verb}", self._asking(answer), methods=["POST"]) for verb, answer in self.service.verbs.items()]
        told = {"/livez": self.live, "/healthz": self.live, "/readyz": self.ready, "/metrics": self.measured}
        shown = [Route(path, endpoint, methods=["GET"]) for path, endpoint in told.items()]
        routes = [*asked, Route("/bind", self.bind, methods=["POST"]), *shown]
        self._router = Router(routes, redirect_slashes=False)
        self.gate = ConnectionGuard(self._route, self.limits, self.metrics, frozenset(route.path for route in routes), self.log)
        cluster, show = self.service.cluster, self.metrics.show
        show("nodes", "Nodes in the cluster.", lambda: cluster.engine.node_count)
        show("objects", "Objects in the cluster.", lambda: len(cluster.objects))
        show("seconds_behind", "Seconds for which the API server could not be followed.", lambda: self.seconds_behind())
        show("requests_in_flight", "Requests that are being answered.", lambda: self.gate.inside)
        show("questions_waiting", "Questions that wait for the engine, and the one that it answers.", lambda: self.worker.waiting)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self.gate(scope, receive, send)

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        behind = self._behind()

        async def sending(message: Message) -> None:
            if behind and message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (BEHIND.encode(), str(behind).encode())]}
            await send(message)

        # With an "app" the router raises what it refuses, and the guard answers it.
        await self._router({**scope, "app": self}, receive, sending)

    def _behind(self) -> int:
        """For how many seconds the API server could not be followed; 0 where that is no longer than is tolerated."""
        seconds = self.seconds_behind()
        return int(seconds) if seconds >= TOLERATED else 0

    # --- the calls of a scheduler -----------------------------------------------------------------------------------

    def _asking(self, answer: Callable[[bytes], bytes]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            self._check_ready()
            async with self.gate.entered_with_body(request) as body:
                return _json(await self._ask(answer, body))

        return endpoint

    async def bind(self, request: Request) -> Response:
        """Bind a pod."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != JSON:
            # A page in a browser can send other types to this server without asking anybody.
            raise RequestError("header Content-Type", f'"{kind}"', JSON, UNSUPPORTED)
        self._check_ready()
        async with self.gate.entered_with_body(request) as body:
            wanted, error = await self._ask(lambda: self.service.binding(body, checks=self.write_binding is None))
            if error is None and self.write_binding is not None:
                error = await self.write_binding(wanted)
            if error is None:
                await self._ask(self.service.bound, wanted)
            return _json(compact_json({"Error": error or ""}))

    def _check_ready(self) -> None:
        if not self.is_ready():
            raise RequestError("server", "a question before the cluster is complete", "one after /readyz says ok", UNAVAILABLE)

    async def _ask(self, function: Callable[..., T], *arguments: object) -> T:
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await self.worker.ask(function, *arguments)
        except TimeoutError:
            raise RequestError("server", f"no answer in {self.limits.seconds:g} seconds", "a quieter moment", TOO_MANY) from None

    # --- the server itself ------------------------------------------------------------------------------------------

    async def live(self, request: Request) -> Response:
        """Whether the server answers."""
        return PlainTextResponse("ok")

    async def ready(self, request: Request) -> Response:
        """Whether the cluster is complete and up to date, so that answers count."""
        if not self.is_ready():
            return PlainTextResponse("the cluster is not complete yet", UNAVAILABLE)
        if behind := self._behind():
            return PlainTextResponse(f"the API server has not answered for {behind} s", UNAVAILABLE)
        return PlainTextResponse("ok")

    async def measured(self, request: Request) -> Response:
        """The metrics."""
        return Response(self.metrics.text(), media_type=METRICS_TYPE)


def _json(body: bytes) -> Response:
    return Response(body, media_type=JSON, headers=SAFE)


# --- a server from its start to its end -----------------------------------------------------------------------------


@attrs.define(eq=False)
class ServerSite:
    """One server. With *access* its *cluster* follows the API server there."""

    cluster: ServedCluster
    listening: Listening
    limits: ServerLimits
    access: Access | None
    log: Log
    app: ExtenderApp = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        is_ready = self.access is None
        self.app = ExtenderApp(service=ExtenderService(self.cluster), limits=self.limits, is_ready=lambda: is_ready, log=self.log)

    async def serve(self) -> int:
        """Serve until a signal ends it, and answer which one."""
        end, ended_by = end_at_signals()
        try:
            async with served(self.app, self.listening) as url:
                following = asyncio.create_task(self._follow(url))
                following.add_done_callback(lambda task: end.set() if self.access is not None else None)
                await end.wait()
                following.cancel()
                await asyncio.wait([following])
        finally:
            self.app.worker.close()
        if not following.cancelled():
            following.result()
        return ended_by[0]

    async def _follow(self, url: str) -> None:
        """Follow the API server, if there is one; say where the server listens once the cluster is complete."""
        if self.access is None:
            self.log.info(f"listening on {url}")
            return
        async with HttpTransport(self.access) as transport:
            following = Following(
                transport=transport, release=self.cluster.engine.release, cluster=self.cluster, worker=self.app.worker,
                report=self.log.again, news=self.log.warning, on_event=self.app.metrics.events.inc,
            )  # fmt: skip
            self.app.write_binding, self.app.is_ready = following.write_binding, lambda: following.is_complete
            self.app.seconds_behind = lambda: following.seconds_behind
            await following.run(lambda: self.log.info(f"listening on {url}"))
