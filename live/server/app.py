"""The extender server: its paths, as an ASGI application, and its life, on the cluster of files or on one
that it follows."""

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
from .served import TOLERATED, Following, ServedCluster
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

    cluster: ServedCluster
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
        asked = [
            Route(f"/{verb}", self._asking(answer), methods=["POST"])
            for verb, answer in self.cluster.verbs.items()
        ]
        told = {"/livez": self.live, "/healthz": self.live, "/readyz": self.ready, "/metrics": self.measured}
        shown = [Route(path, endpoint, methods=["GET"]) for path, endpoint in told.items()]
        routes = [*asked, Route("/bind", self.bind, methods=["POST"]), *shown]
        self._router = Router(routes, redirect_slashes=False)
        self.gate = ConnectionGuard(
            self._route, self.limits, self.metrics, frozenset(route.path for route in routes), self.log
        )
        cluster = self.cluster
        show = self.metrics.show
        show("nodes", "Nodes in the cluster.", lambda: cluster.engine.node_count)
        show("objects", "Objects in the cluster.", lambda: len(cluster.objects))
        show(
            "seconds_behind",
            "Seconds for which the API server could not be followed.",
            lambda: self.seconds_behind(),
        )
        show("requests_in_flight", "Requests that are being answered.", lambda: self.gate.inside)
        show(
            "questions_waiting",
            "Questions that wait for the engine, and the one that it answers.",
            lambda: self.worker.waiting,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self.gate(scope, receive, send)

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        behind = self._behind()

        async def sending(message: Message) -> None:
            if behind and message["type"] == "http.response.start":
                message = {
                    **message,
                    "headers": [*message.get("headers", ()), (BEHIND.encode(), str(behind).encode())],
                }
            await send(message)

        # With an "app" the router raises what it refuses, and the guard answers it.
        await self._router({**scope, "app": self}, receive, sending)

    def _behind(self) -> int:
        """For how many seconds the API server could not be followed; 0 where that is no longer than is
        tolerated."""
        seconds = self.seconds_behind()
        return int(seconds) if seconds >= TOLERATED else 0

    # --- the calls of a scheduler ---------------------------------------------------------------------------

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
            wanted, error = await self._ask(
                lambda: self.cluster.binding(body, checks=self.write_binding is None)
            )
            if error is None and self.write_binding is not None:
                error = await self.write_binding(wanted)
            if error is None:
                await self._ask(self.cluster.bound, wanted)
            return _json(compact_json({"Error": error or ""}))

    def _check_ready(self) -> None:
        if not self.is_ready():
            raise RequestError(
                "server",
                "a question before the cluster is complete",
                "one after /readyz says ok",
                UNAVAILABLE,
            )

    async def _ask(self, function: Callable[..., T], *arguments: object) -> T:
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await self.worker.ask(function, *arguments)
        except TimeoutError:
            raise RequestError(
                "server", f"no answer in {self.limits.seconds:g} seconds", "a quieter moment", TOO_MANY
            ) from None

    # --- the server itself ----------------------------------------------------------------------------------

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


# --- a server from its start to its end ---------------------------------------------------------------------


async def serve_cluster(
    cluster: ServedCluster, listening: Listening, limits: ServerLimits, access: Access | None, log: Log
) -> int:
    """Serve until a signal ends it, and answer which one. With *access* the *cluster* follows the API server
    there."""
    app = ExtenderApp(cluster=cluster, limits=limits, is_ready=lambda: access is None, log=log)

    async def follow(url: str) -> None:
        if access is None:
            log.info(f"listening on {url}")
            return
        async with HttpTransport(access) as transport:
            following = Following(
                transport=transport,
                release=cluster.engine.release,
                cluster=cluster,
                worker=app.worker,
                report=log.again,
                news=log.warning,
                on_event=app.metrics.events.inc,
            )
            app.write_binding = following.write_binding
            app.is_ready = lambda: following.is_complete
            app.seconds_behind = lambda: following.seconds_behind
            await following.run(lambda: log.info(f"listening on {url}"))

    end, ended_by = end_at_signals()
    try:
        async with served(app, listening) as url:
            task = asyncio.create_task(follow(url))
            task.add_done_callback(lambda task: end.set() if access is not None else None)
            await end.wait()
            task.cancel()
            await asyncio.wait([task])
    finally:
        app.worker.close()
    if not task.cancelled():
        task.result()
    return ended_by[0]
