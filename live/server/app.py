"""The extender server: its paths, as an ASGI application, and its life, on the cluster of files or on one
that it follows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import attrs
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from ...api.objects import KubeObject
from ...api.wire.ownfields import compact_json
from ...exceptions import KubeclassicError
from ..client.api import PODS, Api, Transport
from ..client.credentials import Access
from ..client.http import HttpTransport
from ..informers.informers import Informers, informers_of
from ..process.logs import Log, to_standard_error
from ..scheduler.following import end_at_signals, follow, unless
from ..scheduler.writes import binding
from .bodies import BindingArgs, RequestError
from .limits import TOO_MANY, UNAVAILABLE, ConnectionGuard, Metrics, ServerLimits
from .served import ServedCluster
from .serving import METRICS_TYPE, SAFE, Listening, Worker, served

T = TypeVar("T")
TOLERATED = 10.0
"""Seconds for which the API server may be away before answers say so: watches end and begin again."""
LOOK = 1.0
"""Seconds between two looks whether it is away."""
UNSUPPORTED = 415
JSON = "application/json"
BEHIND = "x-seconds-behind"
"""The header that says for how many seconds the API server could not be followed."""


@attrs.define(eq=False, kw_only=True)
class ExtenderApp:
    """The application. It is told of objects by informers while it follows an API server."""

    cluster: ServedCluster
    limits: ServerLimits = attrs.Factory(ServerLimits)
    write_binding: Callable[[BindingArgs], Awaitable[str | None]] | None = None
    """Writes a binding to an API server and answers its error, or None; without it bindings are kept in the
    server's cluster alone."""
    is_ready: bool = True
    """The cluster is complete."""
    informers: Informers | None = None
    """What the API server is followed by."""
    log: Log = attrs.field(factory=lambda: Log(to_standard_error))
    """Told of defects, and of what cannot be read."""
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
        show("objects", "Objects in the cluster.", lambda: cluster.object_count)
        show(
            "seconds_behind",
            "Seconds for which the API server could not be followed.",
            lambda: self.seconds_behind,
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
        seconds = self.seconds_behind
        return int(seconds) if seconds >= TOLERATED else 0

    @property
    def seconds_behind(self) -> float:
        """For how long the API server could not be followed, so that the cluster is as it was then; 0: it is."""
        return 0.0 if self.informers is None else self.informers.seconds_behind

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
                lambda: self.cluster.checked_binding(body, checks=self.write_binding is None)
            )
            if error is None and self.write_binding is not None:
                error = await self.write_binding(wanted)
            if error is None:
                await self._ask(self.cluster.bound, wanted)
            return _json(compact_json({"Error": error or ""}))

    def _check_ready(self) -> None:
        if not self.is_ready:
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
        if not self.is_ready:
            return PlainTextResponse("the cluster is not complete yet", UNAVAILABLE)
        if behind := self._behind():
            return PlainTextResponse(f"the API server has not answered for {behind} s", UNAVAILABLE)
        return PlainTextResponse("ok")

    async def measured(self, request: Request) -> Response:
        """The metrics."""
        return Response(self.metrics.text(), media_type=METRICS_TYPE)

    # --- an API server --------------------------------------------------------------------------------------

    async def follow(self, transport: Transport, on_complete: Callable[[], None] = lambda: None) -> None:
        """Let the cluster follow the API server at the end of *transport*, and write bindings there, until
        this is cancelled."""
        engine = self.cluster.engine
        self.is_ready, self.informers = (
            False,
            informers_of(engine.release, engine.gates, transport, self, self.log.again),
        )

        async def write_binding(wanted: BindingArgs) -> str | None:
            body = binding(wanted.name, wanted.namespace, wanted.uid, wanted.node)
            try:
                await Api(transport).ask("POST", PODS, wanted.namespace, wanted.name, "binding", body)
            except KubeclassicError as error:
                return str(error)
            return None

        async def complete() -> None:
            await self.worker.ask(engine.warm)
            self.is_ready = True
            on_complete()
            before = 0.0
            while True:
                await asyncio.sleep(LOOK)
                behind = self.seconds_behind
                if before < TOLERATED <= behind:
                    self.log.warning(
                        f"the API server has not answered for {behind:.0f} s: answers say so, and /readyz fails"
                    )
                elif behind < TOLERATED <= before:
                    self.log.warning(f"the API server answers again, after {before:.0f} s")
                before = behind

        self.write_binding = write_binding
        await follow(self.informers, complete)

    def put(self, item: KubeObject) -> None:
        """An object was added or changed."""
        self._submit(self.cluster.put, item)

    def delete(self, item: KubeObject) -> None:
        """An object was deleted."""
        self._submit(self.cluster.delete, item)

    def _submit(self, change: Callable[[KubeObject], None], item: KubeObject) -> None:
        def apply() -> None:
            try:
                change(replace(item, manifest=None))
            except KubeclassicError as error:
                self.log.again(f"{item.kind} {item.key}: {error}")

        self.metrics.events.inc()
        self.worker.submit(apply)


def _json(body: bytes) -> Response:
    return Response(body, media_type=JSON, headers=SAFE)


async def serve_cluster(
    cluster: ServedCluster, listening: Listening, limits: ServerLimits, access: Access | None, log: Log
) -> int:
    """Serve until a signal ends it, and answer which one. With *access* the *cluster* follows the API server
    there."""
    app = ExtenderApp(cluster=cluster, limits=limits, is_ready=access is None, log=log)
    end, ended_by = end_at_signals()

    async def ready(url: str) -> None:
        if access is None:
            log.info(f"listening on {url}")
            await end.wait()
            return
        async with HttpTransport(access) as transport:
            await app.follow(transport, lambda: log.info(f"listening on {url}"))

    try:
        async with served(app, listening) as url:
            await unless(end, ready(url))
    finally:
        app.worker.close()
    return ended_by[0]
