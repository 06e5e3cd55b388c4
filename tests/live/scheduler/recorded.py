"""Scenarios of the recordings, played again: the driver's requests go to the server of the tests, and our scheduler has to answer."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from kubeclassic.api.objects import Pod
from kubeclassic.core.decision.decision import Decision
from kubeclassic.core.decision.plan import Preemption
from kubeclassic.core.engine import Engine
from kubeclassic.core.preemption.choice import pick_one_node
from kubeclassic.core.queue.parked import QueuedPod
from kubeclassic.live.client.api import Api
from kubeclassic.live.client.transport import Request
from kubeclassic.live.eventlog.reference import About
from kubeclassic.live.eventlog.recorder import Recorder
from kubeclassic.live.informers.informers import Informers, retries_of
from kubeclassic.live.process.binders import ExtenderBinder
from kubeclassic.live.scheduler.events import connect_events
from kubeclassic.live.scheduler.scheduler import LiveScheduler
from kubeclassic.live.scheduler.state import LiveState, Times
from kubeclassic.live.scheduler.writes.wireapi import WireApi
from kubeclassic.live.settings.releases import LIVE_RELEASES
from kubeclassic.simulation.compare.agreement import best
from tests.apiserver.resources import NEW_SERVER, OLD_SERVER
from tests.apiserver.storage import Storage
from tests.apiserver.store import Store
from tests.apiserver.transport import StoreTransport
from tests.live.scheduler.recordedextenders import RecordedExtenders, VirtualWorker
from tests.live.scheduler.recordedpace import SCHEDULER, Json, Pace, PacedTransport, seen_in, version_of
from tests.support.virtualtime import run_virtually

EPOCH = 1_790_000_000.0
"""When a played scenario begins, in seconds since 1970."""
NOW = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
UNSEEN = {"who": "driver", "method": "DELETE", "query": "", "request_headers": {}, "request_body": NOW, "status": None, "response_body": None}


def exchanges(file: Path) -> list[Json]:
    """The exchanges of a recording, in order of time; remarks have no ``method``."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def is_write(exchange: Mapping[str, Any]) -> bool:
    """Whether it is one of the scheduler's writes about pods and volumes: not an event, a lock or a read."""
    path = exchange.get("path", "")
    return exchange.get("who") == SCHEDULER and exchange.get("method", "GET") != "GET" and "/events" not in path and "/leases/" not in path


def is_watch_of_pods(exchange: Mapping[str, Any]) -> bool:
    """Whether it is a watch of all pods."""
    return exchange.get("path") == "/api/v1/pods" and "watch=true" in (exchange.get("query") or "")


def hosts_in(recorded: list[Json]) -> dict[str, list[str]]:
    """Pod -> the nodes that the original chose for it, in order: those of its claims' annotations, else those of its bindings."""
    claims: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    bound: dict[str, list[str]] = {}
    for one in recorded:
        body = one.get("request_body") or {}
        if one.get("method") == "POST" and body.get("kind") == "Pod":
            names = [each.get("persistentVolumeClaim", {}).get("claimName") for each in body["spec"].get("volumes", ())]
            claims |= dict.fromkeys(filter(None, names), body["metadata"].get("name", ""))
        elif is_write(one) and body.get("kind") == "PersistentVolumeClaim":
            selected = body["metadata"]["annotations"]["volume.kubernetes.io/selected-node"]
            found.setdefault(claims[body["metadata"]["name"]], []).append(selected)
        elif is_write(one) and body.get("kind") == "Binding":
            bound.setdefault(body["metadata"]["name"], []).append(body["target"]["name"])
    return bound | found


def rooms_in(recorded: list[Json]) -> dict[str, list[str]]:
    """Pod -> the nodes that the original nominated it to by writing its whole status, in order."""
    found: dict[str, list[str]] = {}
    for one in recorded:
        if is_write(one) and one["method"] == "PUT" and one["path"].endswith("/status"):
            told = found.setdefault(one["request_body"]["metadata"]["name"], [""])
            node = one["request_body"]["status"].get("nominatedNodeName", "")
            if node and node != told[-1]:
                told.append(node)
    return {pod: nodes[1:] for pod, nodes in found.items()}


@attrs.define(eq=False)
class Steered(LiveScheduler):
    """A scheduler that takes, among equally good nodes, the one that the original took: there it was chance."""

    hosts: dict[str, list[str]] = attrs.field(factory=dict)
    rooms: dict[str, list[str]] = attrs.field(factory=dict)
    """Where pods are nominated to."""
    details: bool = True

    async def _decide(self, item: QueuedPod) -> Decision:
        decision = await super()._decide(item)
        wanted = self.hosts.get(item.pod.name, [])
        if decision.host is not None and wanted:
            name = wanted[0]
            if len(wanted) > 1:
                del wanted[0]
            row = self.state.engine.table.row_of.get(name)
            if row is not None and row in best(decision):
                decision.host = name
        if (plan := decision.preemption) is not None:
            decision.preemption = self._room(item.pod, plan) if plan.later is None else Preemption(later=self._later(plan.later))
        return decision

    def _later(self, ask: Callable[[Pod], Preemption]) -> Callable[[Pod], Preemption]:
        return lambda pod: self._room(pod, ask(pod))

    def _room(self, pod: Pod, plan: Preemption) -> Preemption:
        """The plan for the node that the original chose, if *plan* is for an equally good one."""
        wanted = self.rooms.get(pod.name)
        if not wanted or plan.node is None:
            return plan
        name, known = wanted.pop(0), plan.candidates
        if name not in known or pick_one_node({name: known[name], plan.node: known[plan.node]}, True) != name:
            return plan
        lower = [other for other in self.state.engine.nominations.on(name) if other.priority < pod.priority]
        return Preemption(name, known[name].pods, lower, lambda: known)


@attrs.frozen
class Event:
    """An event as the scheduler records it, before it is sent."""

    name: str
    kind: str
    reason: str
    action: str
    text: str


@attrs.define
class Events:
    """A recorder that keeps what it is told."""

    told: list[Event] = attrs.field(factory=list)
    sent: Recorder | None = None
    """Where it is told again, to be sent."""

    def event(self, about: About, type: str, reason: str, action: str, text: str, related: About | None = None) -> None:
        """Keep an event."""
        self.told.append(Event(about.name, type, reason, action, text))
        if self.sent is not None:
            self.sent.event(about, type, reason, action, text, related)


@attrs.define
class Played:
    """What our scheduler did in a scenario."""

    store: Store
    requests: list[Request] = attrs.field(factory=list)
    events: Events = attrs.field(factory=Events)
    reports: list[str] = attrs.field(factory=list)
    cycles: int = 0


@attrs.define
class Driver:
    """Sends the requests of all but the scheduler at their times. UIDs and versions in them become those of the server."""

    store: Store
    recorded: list[Json]

    async def run(self, begin: float) -> None:
        """Send all, then wait a little."""
        loop, seen = asyncio.get_running_loop(), seen_in(self.recorded)
        for one in self.recorded:
            if one["t"] >= begin and self._is_ours(one):
                await asyncio.sleep(max(0.0, seen.get(version_of(one), one["t"]) - begin - loop.time()))
                self._send(one)
        await asyncio.sleep(5.0)

    def __attrs_post_init__(self) -> None:
        """Add the deletions that only the scheduler's watch shows: the recording has no request for them."""
        asked = {one["path"] for one in self.recorded if one.get("method") == "DELETE"}
        for one in [one for one in self.recorded if one.get("who") == SCHEDULER and is_watch_of_pods(one)]:
            for frame in one["response_body"]:
                metadata = frame["event"]["object"]["metadata"]
                path = f"/api/v1/namespaces/{metadata.get('namespace')}/pods/{metadata.get('name')}"
                if frame["event"]["type"] == "DELETED" and path not in asked:
                    asked.add(path)
                    self.recorded.append({**UNSEEN, "t": frame["t"], "path": path})
        self.recorded.sort(key=lambda one: one["t"])

    def before(self, begin: float) -> None:
        """Send what was sent before the scheduler began."""
        for one in self.recorded:
            if one["t"] < begin and self._is_ours(one):
                self._send(one)

    def _is_ours(self, one: Json) -> bool:
        return one.get("method") in ("POST", "PUT", "PATCH", "DELETE") and one["who"].startswith("driver")

    def _send(self, one: Json) -> None:
        headers = {"content-type": one["request_headers"].get("Content-Type", "application/json")}
        headers |= {name.lower(): value for name, value in one["request_headers"].items()}
        body = json.dumps(one["request_body"]).encode() if one["request_body"] is not None else b""
        answer = self.store.handle(one["method"], one["path"], one["query"] or "", body, headers)
        assert answer.status == one["status"] or one["status"] is None, (one["method"], one["path"], answer.status, one["status"])


def play(file: Path, engine: Engine, extenders: RecordedExtenders | None = None) -> Played:
    """Play the scenario in *file* on virtual time with our scheduler *engine* in the place of the original."""
    recorded = exchanges(file)
    begin = next(one["t"] for one in recorded if one.get("who") == SCHEDULER)
    found: list[Played] = []

    async def work() -> None:
        loop = asyncio.get_running_loop()
        store = Store(OLD_SERVER if "1.15" in str(file.parent) else NEW_SERVER, Storage(clock=lambda: EPOCH + loop.time()))
        pace = Pace.of(recorded, begin)
        transport = PacedTransport(store, pace, records=True, pace=pace)
        played = Played(store)
        found.append(played)
        driver = Driver(store, recorded)
        driver.before(begin)
        live = _scheduler(engine, transport, played, recorded)
        if extenders is not None:
            extenders.store = store
            live.state.worker = VirtualWorker(extenders.take_elapsed)
            loop.set_default_executor(VirtualWorker(extenders.take_elapsed))
        events = await connect_events(
            transport, LIVE_RELEASES[engine.algorithm.release.version], wall=lambda: round((EPOCH + loop.time()) * 1e9), host="host-a"
        )
        played.events.sent = events.recorder("default-scheduler")
        informers = Informers(transport, engine.algorithm.release.client, live, played.reports.append, lambda: 0.5)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(informers.run()), group.create_task(events.run())]
            await informers.synced()
            tasks.append(group.create_task(live.run()))
            await driver.run(begin)
            for task in tasks:
                task.cancel()
        played.requests, played.cycles = list(transport.requests), live.cycles

    run_virtually(work())
    return found[0]


def _scheduler(engine: Engine, transport: StoreTransport, played: Played, recorded: list[Json]) -> Steered:
    """Our scheduler, in the original's place."""
    loop, release = asyncio.get_running_loop(), engine.algorithm.release
    api = WireApi(Api(transport, retries_of(release.client)), release.version)
    times = Times(loop.time, lambda: EPOCH + loop.time())
    binder = ExtenderBinder.of(engine.extenders)
    engine.asks_later = True
    state = LiveState(engine, api, played.events, times, report=played.reports.append)
    return Steered(state, [] if binder is None else [binder], hosts=hosts_in(recorded), rooms=rooms_in(recorded))
