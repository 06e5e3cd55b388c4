"""The extender server: the cluster that it decides on, the verbs of an extender, its paths as an ASGI
application, and its life.

The cluster follows events, those of an API server too; given nodes can stand in for its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Self, TypeVar

import numpy as np
from attrs import Factory, define, field
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from ...algorithmprovider.gates import server_rules
from ...api.controlplane import ADMISSION_KINDS, admit, with_defaults
from ...api.objects import JsonObject, KubeObject, Node, Pod
from ...api.ownfields import compact_json
from ...api.words import count_of
from ...core.arrays import Ints, Mask, Rows, Scores
from ...core.decision import Details, Outcome, ScoreError, Victims
from ...core.driver import SchedulingState
from ...core.engine import Engine, FilterError
from ...core.queue.backoff import Clock
from ...exceptions import KubeclassicError
from ...simulation.simulate import Scenario
from ..client.api import PODS, Api, Transport
from ..client.http import Access, HttpTransport
from ..informers.informers import Informers, informers_of
from ..process.logs import Log, to_standard_error
from ..process.process import last_line
from ..scheduler.following import STATUS, follow
from ..scheduler.state import binding
from .bodies import (
    UNPROCESSABLE,
    BindingArgs,
    NodesAsked,
    RequestError,
    binding_args,
    extender_args,
    filter_result,
    preemption_args,
    preemption_result,
    read_object,
)
from .serving import (
    METRICS_TYPE,
    SAFE,
    TOO_MANY,
    UNAVAILABLE,
    ConnectionGuard,
    Listening,
    Metrics,
    ServerLimits,
    Worker,
    until_signal,
)

MOST_ASKED = 2_000
"""Pods of earlier questions that are remembered, so that they can be bound."""
CONFLICT = 409


@define(eq=False)
class ServedCluster(SchedulingState):
    """The objects of a cluster, and the engine that knows them. Not safe for threads: one thread has to own
    it.

    *defaults*: pods and nodes of requests get the defaults of the API server.
    """

    defaults: bool = True
    _given_nodes: dict[str, tuple[Node, Node | None]] = Factory(dict)
    """Name -> a node of the latest request that stands in now, and the cluster's own."""
    _decoded_nodes: dict[str, tuple[JsonObject, Node]] = Factory(dict)
    """Name -> a node's JSON form and what it says, of the latest request."""
    _asked_pods: dict[str, Pod] = Factory(dict)
    """UID -> pod of an earlier question."""
    _classes: dict[tuple[str, str], KubeObject] = Factory(dict)

    def __attrs_post_init__(self) -> None:
        # Pods of all schedulers wait here: their nominations count, whichever of them tries the pod.
        self.begin(Clock(), None)

    @classmethod
    def of(cls, scenario: Scenario, engine: Engine, defaults: bool) -> Self:
        """The cluster of *scenario*."""
        cluster = cls(engine, defaults)
        for item in (*scenario.objects, *scenario.pending):
            cluster.put(item)
        engine.warm()
        return cluster

    def tell(self, log: Log, verbose: bool) -> None:
        """Log that the configuration's own extenders are not called, and if *verbose* what runs."""
        engine = self.engine
        if extenders := engine.algorithm.extenders:
            log.warning(f"the configuration's own extenders are not called: {len(extenders)}")
        if verbose:
            size = f"{count_of(engine.node_count, 'node')}, {count_of(len(self.router.pods), 'pod')}"
            log.info(f"release {engine.release.version}, {size}")
            for line in engine.describe():
                log.info(line)

    # --- events ---------------------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An object was added or updated. Finished pods leave; a pod of another UID, or on another node, is
        another pod."""
        if isinstance(item, ADMISSION_KINDS):
            self._classes[item.identity] = item
        elif isinstance(item, Node):
            self._given_nodes.pop(item.name, None)
        elif isinstance(item, Pod):
            current = self.pod(item.key)
            if current is not None and current.node_name not in ("", item.node_name):
                self.router.delete(current)
        self.router.put(item)

    def delete(self, item: KubeObject) -> None:
        """An object was deleted; only its kind and key matter. An unknown object is ignored."""
        if isinstance(item, ADMISSION_KINDS):
            self._classes.pop(item.identity, None)
        elif isinstance(item, Node):
            self._given_nodes.pop(item.name, None)
        self.router.delete(item)

    # --- what a request names -------------------------------------------------------------------------------

    def completed(self, pod: Pod) -> Pod:
        """The pod of a request with defaults and its priority, as the API server would have it; it is
        remembered, not added."""
        if self.defaults:
            server = server_rules(self.engine.release, self.engine.gates)
            admitted = admit([with_defaults(pod)], self._classes.values(), server=server)
            if admitted.refused:
                raise RequestError(
                    "Pod",
                    f"a pod that the API server would refuse ({admitted.refused[0][1]})",
                    "another",
                    UNPROCESSABLE,
                )
            pod = next(item for item in admitted.objects if isinstance(item, Pod))
        while len(self._asked_pods) >= MOST_ASKED:
            del self._asked_pods[next(iter(self._asked_pods))]
        self._asked_pods[pod.uid] = pod
        return pod

    def node(self, name: str) -> Node | None:
        """The cluster's own node called *name*; None if there is none."""
        return self._given_nodes[name][1] if name in self._given_nodes else self.engine.node(name)

    def rows(self, nodes: NodesAsked) -> Rows:
        """The rows of *nodes*, as they are in the request. Raises :class:`RequestError` for an unknown
        one."""
        read_nodes = {}
        for i, (name, manifest) in enumerate(zip(nodes.names, nodes.manifests or (), strict=False)):
            # A node that did not change since the last request is not read again.
            last = self._decoded_nodes.get(name)
            if last is None or last[0] != manifest:
                node = read_object("Node", manifest, f"Nodes.items[{i}]")
                last = manifest, with_defaults(node) if self.defaults else node
            read_nodes[name] = last
        if nodes.manifests is not None:
            self._decoded_nodes = read_nodes
        differing = {
            name: node for name, (_, node) in read_nodes.items() if not _is_same(self.node(name), node)
        }
        feed = self.router.feed
        for name in [name for name in self._given_nodes if name not in differing]:
            given_node, own_node = self._given_nodes.pop(name)
            if own_node is None:
                feed.delete(given_node)
            else:
                feed.put(own_node)
        for name, node in differing.items():
            if name not in self._given_nodes or self._given_nodes[name][0] != node:
                self._given_nodes[name] = node, self.node(name)
                feed.put(node)
        table = self.engine.fresh_table()
        rows = np.array([table.row_of.get(name, -1) for name in nodes.names], np.intp)
        is_known = rows >= 0
        is_known[is_known] = table.has_node[rows[is_known]]
        if table.deleted_rows:
            is_known &= ~np.isin(rows, list(table.deleted_rows))
        if not is_known.all():
            i = int((~is_known).argmax())
            got = f'"{nodes.names[i][:200]}", which the cluster does not have'
            raise RequestError(
                f"{nodes.field}[{i}]", got, f"one of its {self.engine.node_count} nodes", UNPROCESSABLE
            )
        return rows

    def bindable(self, key: str, uid: str) -> Pod:
        """The pod to bind: one of the cluster, or of an earlier question. Raises :class:`RequestError`."""
        current = self.pod(key)
        for pod in (current, self._asked_pods.get(uid or key)):
            if pod is not None and pod.key == key and uid in ("", pod.uid):
                return pod
        if current is not None:
            raise RequestError("PodUID", f'"{uid}"', f'"{current.uid}", which {key} has', CONFLICT)
        raise RequestError(
            "PodName", f'"{key}", which the cluster does not have', "one of its pods", UNPROCESSABLE
        )

    # --- the verbs of an extender ---------------------------------------------------------------------------

    @contextmanager
    def filtered(self, pod: Pod) -> Iterator[tuple[Any, Details]]:
        """A context with a cycle for *pod* after its filter step; nothing of it stays. Raises
        :class:`CannotDecide`."""
        flow = self.engine.flow
        with self.engine.preserving_state(pod):
            if (refused := flow.pre_check(pod)) is not None:
                raise CannotDecide(refused.error or "the pod may not be tried")
            cycle = self.engine.begin(pod)
            try:
                details = flow.filter(cycle)
            except FilterError as error:
                raise CannotDecide(str(error)) from None
            yield cycle, details

    def filter(self, body: bytes) -> bytes:
        """The nodes that fit, and the reasons against the others. As the other verbs it raises
        :class:`RequestError`."""
        pod, nodes = extender_args(body)
        rows = self.rows(nodes)
        pod = self.completed(pod)
        if not len(rows):
            return compact_json(filter_result(nodes))
        try:
            with self.filtered(pod) as (_, details):
                fits, unresolvable, texts = _fits_and_reasons(self.engine, details, rows)
        except CannotDecide as error:
            return compact_json(filter_result(nodes, error=str(error)))
        names = nodes.names
        failed = np.flatnonzero(~fits)
        reason, lasting = (
            {names[at]: texts[at] for at in places.tolist()}
            for places in (failed, failed[unresolvable[failed]])
        )
        return compact_json(filter_result(nodes, np.flatnonzero(fits).tolist(), reason, lasting))

    def prioritize(self, body: bytes) -> bytes:
        """The scores of the nodes, 0 to 10, as if they were those that fit; see :func:`scaled`."""
        pod, nodes = extender_args(body)
        rows = self.rows(nodes)
        pod = self.completed(pod)
        if not len(rows):
            return compact_json([])
        try:
            with self.filtered(pod) as (cycle, _):
                scores = scaled(self.engine.flow.score(cycle, rows).totals).tolist()
        except (CannotDecide, ScoreError) as error:
            # The answer of this verb has no field for an error; a scheduler goes on without these scores.
            raise RequestError(
                "Pod", f"a pod that cannot be scored ({error})", "one that can", UNPROCESSABLE
            ) from None
        return compact_json(
            [{"Host": name, "Score": score} for name, score in zip(nodes.names, scores, strict=True)]
        )

    def preempt(self, body: bytes) -> bytes:
        """The victims on the nodes. The victims of the request stay victims, as its scheduler's own rules
        want them gone."""
        pod, nodes, victims = preemption_args(body)
        rows = self.rows(nodes)
        pod = self.completed(pod)
        candidates: Mapping[str, Victims] = {}
        if not len(rows):
            return compact_json(preemption_result(candidates, {}))
        try:
            with self.filtered(pod) as (cycle, details):
                if details.search is not None:
                    unresolvable = details.search.verdict.unresolvable()
                    unresolvable[details.outside] = True
                    leaving = {uid for uids in victims.values() for uid in uids}
                    candidates = self.engine.flow.victims(cycle, rows, unresolvable, leaving)
        except CannotDecide as error:
            raise RequestError(
                "Pod", f"a pod that cannot be tried ({error})", "one that can", UNPROCESSABLE
            ) from None
        unknown = {}
        for name, uids in victims.items():
            present = {pod.uid for pod in self.engine.pods_on(name)}
            unknown[name] = [uid for uid in uids if uid not in present]
        return compact_json(preemption_result(candidates, unknown))

    def checked_binding(self, body: bytes, *, checks: bool) -> tuple[BindingArgs, str | None]:
        """The binding that a request asks for, and why it cannot be; None if it can.

        With *checks* the pod has to be known and without a node; else an API server judges.
        """
        args = binding_args(body)
        if self.node(args.node) is None:
            got = f'"{args.node[:200]}", which the cluster does not have'
            raise RequestError("Node", got, "one of its nodes", UNPROCESSABLE)
        host = self.bindable(args.key, args.uid).node_name if checks else ""
        return args, f"pod {args.key} is already assigned to node {host}" if host else None

    def bound(self, args: BindingArgs) -> None:
        """The pod is bound: its node counts it from now on, if it is known."""
        with suppress(RequestError):
            pod = self.bindable(args.key, args.uid)
            if not pod.node_name:
                self.put(pod.bound_to(args.node))


def _is_same(current: Node | None, node: Node) -> bool:
    """Whether the cluster's *current* node is as the given one, except for its version and the like."""
    if current is None:
        return False
    return (
        current.spec == node.spec
        and current.status == node.status
        and current.labels == node.labels
        and current.annotations == node.annotations
    )


# --- verbs --------------------------------------------------------------------------------------------------

MAX_EXTENDER_PRIORITY = 10
"""The highest score that an extender gives. Upstream: MaxExtenderPriority."""
UNSCHEDULABLE = "Unschedulable"
"""The code of a plugin's status where the removal of pods may help."""


class CannotDecide(KubeclassicError):
    """The scheduler's cycle ends in an error, with this text."""


def scaled(totals: Scores) -> Ints:
    """Totals as scores of an extender, 0 to 10: the lowest total becomes 0, the highest 10, others in
    proportion, rounded down.

    So only the highest total gets 10. Where all totals are equal each gets 10.

    >>> scaled(np.array([100_007, 100_012, 100_019, 100_020])).tolist()
    [0, 3, 9, 10]
    """
    if not len(totals):
        return totals
    low = int(totals.min())
    high = int(totals.max())
    if low == high:
        return np.full(len(totals), MAX_EXTENDER_PRIORITY, np.int64)
    # In Python's numbers: a weight of a Policy may be so large that ten times a total is none of 64 bits.
    return np.array(
        [(total - low) * MAX_EXTENDER_PRIORITY // (high - low) for total in totals.tolist()], np.int64
    )


def _fits_and_reasons(engine: Engine, details: Details, rows: Rows) -> tuple[Mask, Mask, list[str]]:
    """The *rows* that fit, bool[k]; those where the removal of pods cannot help, bool[k]; and the
    reasons against each, empty where it fits."""
    if details.search is None:
        refusal = details.refusal(engine.flow.node_list()[0])
        is_final = refusal is not None and refusal.code != UNSCHEDULABLE
        why = "" if refusal is None else ", ".join(refusal.reasons)
        return np.zeros(len(rows), np.bool_), np.full(len(rows), is_final), [why] * len(rows)
    verdict = details.search.verdict
    texts = [""] * len(rows)
    outside = np.isin(rows, details.outside)
    fits = verdict.fits[rows] & ~outside
    unresolvable = verdict.unresolvable()[rows] | outside
    failed = np.flatnonzero(~fits & ~outside)
    # Upstream: an error of a predicate on any node ends the cycle.
    for row in rows[failed].tolist() if verdict.has_errors else ():
        error = verdict.error(row)
        if error is not None:
            raise CannotDecide(error)
    shared: dict[Outcome, str] = {}
    for at, outcome in zip(failed.tolist(), verdict.outcomes(rows[failed]), strict=True):
        if outcome not in shared:
            shared[outcome] = ", ".join(reason.text for reason in verdict.reasons(int(rows[at])))
        texts[at] = shared[outcome]
    away = np.flatnonzero(outside).tolist()
    for at in away:
        refusal = details.refusal(int(rows[away[0]]))
        texts[at] = "" if refusal is None else ", ".join(refusal.reasons)
    return fits, unresolvable, texts


T = TypeVar("T")
TOLERATED = 10.0
"""Seconds for which the API server may be away before answers say so: watches end and begin again."""
LOOK = 1.0
"""Seconds between two checks whether it is away."""
UNSUPPORTED = 415
JSON = "application/json"
BEHIND = "x-seconds-behind"
"""The header that says for how many seconds the API server could not be followed."""


@define(eq=False, kw_only=True)
class ExtenderApp:
    """The application. While it follows an API server, informers send it objects."""

    cluster: ServedCluster
    limits: ServerLimits = Factory(ServerLimits)
    write_binding: Callable[[BindingArgs], Awaitable[str | None]] | None = None
    """Writes a binding to an API server and returns its error, or None; without it bindings are kept in the
    server's cluster alone."""
    is_ready: bool = True
    """The cluster is complete."""
    informers: Informers | None = None
    """The informers that follow the API server."""
    log: Log = field(factory=lambda: Log(to_standard_error))
    """The log of defects, and of objects that cannot be read."""
    worker: Worker = Factory(Worker)
    metrics: Metrics = Factory(Metrics)
    gate: ConnectionGuard = field(init=False)
    _router: Router = field(init=False)

    def __attrs_post_init__(self) -> None:
        cluster = self.cluster
        verbs = {"filter": cluster.filter, "prioritize": cluster.prioritize, "preemption": cluster.preempt}
        verb_routes = [
            Route(f"/{verb}", self._endpoint_of(answer), methods=["POST"]) for verb, answer in verbs.items()
        ]

        async def live(request: Request) -> Response:
            return PlainTextResponse("ok")

        async def measured(request: Request) -> Response:
            return Response(self.metrics.text(), media_type=METRICS_TYPE)

        getters = {"/livez": live, "/healthz": live, "/readyz": self.ready, "/metrics": measured}
        shown = [Route(path, endpoint, methods=["GET"]) for path, endpoint in getters.items()]
        routes = [*verb_routes, Route("/bind", self.bind, methods=["POST"]), *shown]
        self._router = Router(routes, redirect_slashes=False)
        self.gate = ConnectionGuard(
            self._route, self.limits, self.metrics, frozenset(route.path for route in routes), self.log
        )
        show = self.metrics.show
        show("nodes", "Nodes in the cluster.", lambda: cluster.engine.node_count)
        show(
            "seconds_behind",
            "Seconds for which the API server could not be followed.",
            lambda: self.seconds_behind,
        )
        show("requests_in_flight", "Requests that are being answered.", lambda: self.gate.inside)

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
        """For how long the API server could not be followed, so that the cluster is as it was then; 0: it
        is."""
        return 0.0 if self.informers is None else self.informers.seconds_behind

    # --- the calls of a scheduler ---------------------------------------------------------------------------

    def _endpoint_of(self, answer: Callable[[bytes], bytes]) -> Callable[[Request], Awaitable[Response]]:
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
            args, error = await self._ask(
                lambda: self.cluster.checked_binding(body, checks=self.write_binding is None)
            )
            if error is None and self.write_binding is not None:
                error = await self.write_binding(args)
            if error is None:
                await self._ask(self.cluster.bound, args)
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

    async def ready(self, request: Request) -> Response:
        """Whether the cluster is complete and up to date, so that answers count."""
        if not self.is_ready:
            return PlainTextResponse("the cluster is not complete yet", UNAVAILABLE)
        if behind := self._behind():
            return PlainTextResponse(f"the API server has not answered for {behind} s", UNAVAILABLE)
        return PlainTextResponse("ok")

    # --- an API server --------------------------------------------------------------------------------------

    async def follow(self, transport: Transport, on_complete: Callable[[], None] = lambda: None) -> None:
        """Let the cluster follow the API server at the end of *transport*, and write bindings there, until
        this is cancelled."""
        engine = self.cluster.engine
        self.is_ready = False
        self.informers = informers_of(engine.release, engine.gates, transport, self, self.log.again)

        async def write_binding(args: BindingArgs) -> str | None:
            try:
                await Api(transport).ask(
                    "POST",
                    PODS,
                    args.namespace,
                    args.name,
                    "binding",
                    binding(args.name, args.namespace, args.uid, args.node),
                )
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
    """Serve until a signal ends it; returns the exit status. With *access* the *cluster* follows the API
    server there."""
    app = ExtenderApp(cluster=cluster, limits=limits, is_ready=access is None, log=log)

    async def ready(url: str, end: asyncio.Event) -> None:
        if access is None:
            log.info(f"listening on {url}")
            await end.wait()
            return
        async with HttpTransport(access) as transport:
            await app.follow(transport, lambda: log.info(f"listening on {url}"))

    ended_by = await until_signal(app.gate, listening, app.worker, ready)
    log.info(last_line(ended_by))
    return STATUS[ended_by]
