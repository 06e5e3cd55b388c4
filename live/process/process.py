"""One scheduler from its start to its end: lists, the election, scheduling while it leads, an orderly end,
and its log lines.

The process answers ``/healthz``, ``/livez``, ``/readyz`` and ``/metrics`` without authentication. Upstream:
Run in cmd/kube-scheduler/app/server.go.
"""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any

from attrs import Factory, define, evolve, field
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ...api.objects import DEFAULT_SCHEDULER
from ...api.words import count_of
from ...core.decision import Decision
from ...core.engine import Engine
from ...exceptions import visible
from ...framework.schedulerspec import SchedulerSpec
from ..client.api import Api, ClientTransport, MeasuredRequest, Transport
from ..client.http import Access, HttpTransport, plugin_of
from ..informers.informers import Informers, informers_of, retries_of
from ..scheduler.election import Elector, LeaderLostError, LeaseLock, LeaseThread, new_identity
from ..scheduler.events import Events, Recorder
from ..scheduler.flags import RunSettings, config_maps_of
from ..scheduler.following import STATUS, end_at_signals, unless
from ..scheduler.scheduler import LiveScheduler
from ..scheduler.state import ClusterApi, DryApi, LiveState
from ..server.serving import METRICS_TYPE, SAFE, Listening, served
from .logs import REQUESTS, Log
from .metering import SchedulerMetrics, build_values

UNWELL = 500

Check = Callable[[], str]
"""The reason why a part is not well; empty if it is."""


def endpoints(
    metrics: Callable[[], bytes], live: Mapping[str, Check], ready: Mapping[str, Check]
) -> Starlette:
    """The application. *live* and *ready*: the checks by name; ``/readyz`` asks both. Without any there is
    one that always passes."""

    def health(path: str, checks: Mapping[str, Check]) -> Callable[[Request], Awaitable[Response]]:
        checks = checks or {"ping": lambda: ""}

        # A coroutine function: starlette runs others on a thread, which must not look at the scheduler.
        async def answer(request: Request) -> Response:
            query = request.query_params
            excluded = set(query.getlist("exclude"))
            lines = []
            has_failed = False
            for name, check in checks.items():
                if name in excluded:
                    lines.append(f"[+]{name} excluded: ok")
                elif check():
                    has_failed = True
                    lines.append(f"[-]{name} failed: reason withheld")  # anybody may ask
                else:
                    lines.append(f"[+]{name} ok")
            if unknown := ",".join(map(json.dumps, sorted(excluded.difference(checks)))):
                lines.append(f"warn: some health checks cannot be excluded: no matches for {unknown}")
            lines.append(f"{path.strip('/')} check {'failed' if has_failed else 'passed'}")
            text = "\n".join([*lines, ""]) if has_failed or "verbose" in query else "ok"
            return PlainTextResponse(text, UNWELL if has_failed else 200, SAFE)

        return answer

    async def measured(request: Request) -> Response:
        return Response(metrics(), media_type=METRICS_TYPE, headers=SAFE)

    paths = {"/healthz": live, "/livez": live, "/readyz": {**live, **ready}}
    return Starlette(
        routes=[
            Route("/metrics", measured),
            *(Route(path, health(path, checks)) for path, checks in paths.items()),
        ]
    )


@asynccontextmanager
async def serving(app: Starlette, listeners: Sequence[Listening]) -> AsyncIterator[list[str]]:
    """A context in which *app* is served; it gives the URLs. Raises :class:`~..server.serving.ServeError`
    where it cannot listen."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(served(app, listener, most_callers=100, grace=0))
            for listener in listeners
        ]


def last_line(number: int | None, words: str = "") -> str:
    """The last line of a process that the signal *number* ended, or that ended by itself (None).

    >>> last_line(15, "no pod was being bound"), last_line(2), last_line(None)
    ('stopped by SIGTERM: no pod was being bound; exit status 0', 'stopped by SIGINT; exit status 130', 'ended; exit status 0')
    """
    start = "ended" if number is None else f"stopped by {signal.Signals(number).name}"
    return f"{start}{': ' if words else ''}{words}; exit status {STATUS[number]}"


LOST = 1
"""The exit status of a leader that lost its lease."""
SHOWN_NODES = 3
"""The most nodes, and the most reasons, that the line of a decision names."""
LAST_BINDINGS = 10.0
"""Seconds at the end for pods that have a node and are not bound yet."""
LAST_EVENTS = 2.0
"""Seconds at the end for events that are not sent yet."""


@define(eq=False, kw_only=True)
class Process:
    """A scheduler of *engine* with *settings*, over *link*. :meth:`run` is its whole life, on one event
    loop."""

    settings: RunSettings
    engine: Engine
    link: Transport
    server: str = ""
    """The API server's URL, for the metrics."""
    scheduler_name: str = DEFAULT_SCHEDULER
    on_decision: Callable[[Decision], None] = lambda decision: None
    details: bool = False
    """Decisions keep their details."""
    is_dry: bool = False
    """Nothing is written, and so no leader is elected."""
    log: Log = Factory(Log)
    wall: Callable[[], float] = time.time
    identity: str = Factory(new_identity)
    lease_thread: LeaseThread | None = None
    """The thread that renews the lease; None: it is renewed over *link*, beside everything else."""
    metrics: SchedulerMetrics = field(init=False)
    scheduler: LiveScheduler = field(init=False)
    informers: Informers = field(init=False)
    elector: Elector | None = field(init=False, default=None)
    urls: list[str] = Factory(list)
    """The URLs at which it listens, once it does."""
    ending: str = field(init=False, default="")
    """The work under way at the end, and its outcome, once that is known."""

    def __attrs_post_init__(self) -> None:
        self.metrics = SchedulerMetrics(has_profiles=bool(self.engine.flow.profiles), with_process=True)
        if self.settings.longest_parked is not None:
            release = self.engine.release
            release = replace(
                release, queue=replace(release.queue, parked_at_most=self.settings.longest_parked)
            )
            self.engine.algorithm = evolve(self.engine.algorithm, release=release)

    @classmethod
    async def of(
        cls, spec: SchedulerSpec, settings: RunSettings, access: Access, link: Transport, **more: Any
    ) -> Process:
        """The scheduler that *spec* makes, for the API server at the end of *link*, where its Policy may be;
        *more*: other fields."""
        return cls(
            settings=settings,
            engine=spec.engine(await config_maps_of(spec, link)),
            link=link,
            server=access.server,
            scheduler_name=spec.first_scheduler_name,
            **more,
        )

    # --- life -----------------------------------------------------------------------------------------------

    async def run(self, end: asyncio.Event) -> None:
        """Schedule until *end* is set. Raises LeaderLostError when the lease is lost, ServeError if it cannot
        listen."""
        self.log.info(
            f"starting as kube-scheduler {build_values(self.engine.release.version)['git_version']}"
        )
        async with AsyncExitStack() as stack:
            if self.lease_thread is not None:
                await stack.enter_async_context(self.lease_thread)
            rate = self.settings.qps, self.settings.burst
            # Bindings and events have a client each, with a limit of its own.
            scheduling, telling = (ClientTransport(self.link, self._note_request, *rate) for _ in range(2))
            dropped = partial(self.metrics.feed, "dropped event", 1)
            events = (
                None
                if self.is_dry
                else Events(telling, self.log.warning, dropped, self.wall, self.scheduler_name)
            )
            self._assemble(scheduling, events)
            live = {} if self.elector is None else {"leaderElection": self.elector.fault}
            ready = {"sched-handler-sync": lambda: "" if self.informers.has_synced else "not all is listed"}
            self.urls = await stack.enter_async_context(
                serving(endpoints(self.metrics.text, live, ready), self.settings.listeners)
            )
            for url in self.urls:
                self.log.info(f"listening on {url}")
            background = [self.informers.run()] + ([] if events is None else [events.run()])
            tasks = [asyncio.create_task(work) for work in background]
            stack.push_async_callback(_cancel, *tasks)
            # Take part in the election and schedule until *end*, or until something fails, which is raised.
            main = asyncio.create_task(self._run_as_leader())
            ended = asyncio.create_task(end.wait())
            try:
                await asyncio.wait((main, ended, *tasks), return_when=asyncio.FIRST_COMPLETED)
                has_led = self.elector is not None and self.elector.leads
                under_way = self.scheduler.under_way
                if ended.done() and self.scheduler.is_running:
                    self.scheduler.stop()
                    await asyncio.wait((main,), timeout=0.0 if self.is_dry else LAST_BINDINGS)
                unbound = self.scheduler.under_way
            finally:
                await _cancel(main, ended)
            self.ending = "nothing was written" if self.is_dry else self._ending(under_way, unbound, has_led)
            for task in (main, *tasks):
                if task.done() and not task.cancelled():
                    task.result()
            if events is not None and (unsent := await events.drain(LAST_EVENTS)):
                self.log.warning(f"{unsent} events are not sent: {LAST_EVENTS:g} seconds were over")

    async def _run_as_leader(self) -> None:
        async def schedule() -> None:
            self.log.info("scheduling begins")
            await self.scheduler.run()

        await self.informers.synced()
        self.log.info("all lists are there")
        await (schedule() if self.elector is None else self.elector.lead(schedule))

    def _ending(self, under_way: int, unbound: int, has_led: bool) -> str:
        """The outcome for the *under_way* bindings and the lease. *unbound* of their pods are still not
        bound; *has_led*: this replica led."""
        words = "no pod was being bound"
        if under_way:
            verb = "was" if under_way == 1 else "were"
            left_verb = "are" if unbound > 1 else "is"
            words = f"{count_of(under_way, 'pod')} {verb} being bound, {unbound or 'none'} {left_verb} left"
        elector = self.elector
        if elector is None:
            return words
        became = "not held" if not has_led else "kept until it runs out" if elector.has_lock else "given back"
        return f"{words}; lease {elector.lock.place} {became}"

    # --- parts ----------------------------------------------------------------------------------------------

    def _note_request(self, request: MeasuredRequest) -> None:
        self.metrics.request(request, self.server)
        if self.log.shows(REQUESTS):
            self.log.info(str(request), REQUESTS)

    def _assemble(self, link: Transport, events: Events | None) -> None:
        engine = self.engine
        metrics = self.metrics
        engine.asks_later = not self.is_dry
        client = engine.release.client
        base = Api(link, retries_of(client))
        api = DryApi() if self.is_dry else ClusterApi(base, client.device_api, client.names_device_requests)
        recorder = events or Recorder()
        state = LiveState(
            engine,
            api,
            recorder,
            self.wall,
            self.scheduler_name,
            log=self.log,
            observer=metrics,
            leads=lambda: self.elector is None or self.elector.holds_lease,
        )
        engine.on_phase = metrics.phase_ended
        state.queue.on_incoming = lambda queue, event: metrics.feed("incoming", 1, queue=queue, event=event)
        self.scheduler = metrics.scheduler = LiveScheduler(state, self.on_decision, self.details)
        self.scheduler.volumes.timeout = self.settings.volume_seconds
        self.informers = informers_of(engine.release, engine.gates, link, state, self.log.again)
        election = self.settings.election
        thread = self.lease_thread
        if events is not None and election is not None:
            lease_link = ClientTransport(self.link if thread is None else thread.link, self._note_request)
            self.elector = Elector(
                LeaseLock(lease_link, election.namespace, election.name, election.times.request),
                election.times,
                self.identity,
                recorder,
                self.log,
                lambda leads: metrics.feed("leader", int(leads), name=election.name),
                self.wall,
                renews_unread=client.renews_unread,
            )
            if thread is not None:
                self.elector.apart = thread.run


async def _cancel(*tasks: asyncio.Task[Any]) -> None:
    """Cancel *tasks* and wait for them."""
    for task in tasks:
        task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.gather(*tasks, return_exceptions=True)


async def scheduled(
    settled: Callable[[Transport], Awaitable[SchedulerSpec]],
    settings: RunSettings,
    access: Access,
    log: Log,
    **more: Any,
) -> int:
    """Schedule until a signal; returns the exit status. *settled* makes the scheduler, perhaps by the API
    server; *more*: fields of Process."""
    end, ended_by = end_at_signals()
    process: Process | None = None
    async with AsyncExitStack() as stack:
        plugin = plugin_of(access.credentials)
        opened = stack.enter_async_context(HttpTransport(access))
        link = await unless(end, opened, log, plugin and f"waiting for plugin {plugin}")
        # The lease is renewed on a thread of its own, with the same credentials.
        lease = None if settings.election is None else LeaseThread(access)

        async def made(link: Transport) -> Process:
            return await Process.of(
                await settled(link), settings, access, link, log=log, lease_thread=lease, **more
            )

        if link is not None:
            process = await unless(end, made(link))
        try:
            if process is not None:
                await process.run(end)
        except LeaderLostError as error:
            log.error(f"leaderelection lost: {error}; exit status {LOST}")
            return LOST
    signal_number = ended_by[0] if ended_by else None
    log.info(last_line(signal_number, "" if process is None else process.ending))
    return STATUS[signal_number]


def decision_line(decision: Decision, explain: bool) -> str:
    """A decision in one line; with *explain* also which nodes fit, and why others do not."""
    line = f"{decision.pod.key}: {decision.host}"
    plan = decision.preemption
    if decision.host is None:
        line = f"{decision.pod.key}: no node: {decision.error}"
        if plan is not None and plan.node is not None:
            line += f" It makes room on {plan.node}: {', '.join(victim.key for victim in plan.victims)}."
    parts = []
    if decision.feasible and explain:
        parts.append(f"{len(decision.feasible)} nodes fit")
    if decision.scores and explain:
        scores = sorted(decision.scores.items(), key=lambda pair: -pair[1])[:SHOWN_NODES]
        parts.append(f"best {', '.join(f'{name} {score}' for name, score in scores)}")
    if decision.failed and explain:
        reasons = [
            f"{name}: {', '.join(texts)}" for name, texts in list(decision.failed.items())[:SHOWN_NODES]
        ]
        parts.append(f"not {'; '.join(reasons)}")
    return visible(f"{line} ({'; '.join(parts)})" if parts else line)
