"""Scenarios of the recordings, played again: the driver's requests go to the server of the tests, and our scheduler has to answer."""

from __future__ import annotations

import asyncio
import gzip
import json
import math
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import attrs

from kubeclassic.core.decision.decision import Decision
from kubeclassic.core.engine import Engine
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
from tests.apiserver.transport import NO_FAULT, Fault, StoreTransport, refused
from tests.live.scheduler.recordedextenders import RecordedExtenders, VirtualWorker
from tests.support.virtualtime import run_virtually

Json = dict[str, Any]
EPOCH = 1_790_000_000.0
"""When a played scenario begins, in seconds since 1970."""
SCHEDULER = "kube-scheduler"
NOW = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
UNSEEN = {"who": "driver", "method": "DELETE", "query": "", "request_headers": {}, "request_body": NOW, "status": None, "response_body": None}
ABOUT = 1.0
"""Seconds by which ours may be sent at another time than the recorded request."""


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


@attrs.define(eq=False)
class Steered(LiveScheduler):
    """A scheduler that takes, among equally good nodes, the one that the original took: there it was chance."""

    hosts: dict[str, list[str]] = attrs.field(factory=dict)
    details: bool = True

    def take_worker(self, worker: Executor) -> None:
        """Decisions with extenders are made by *worker*."""
        self._worker.shutdown(wait=False)
        self._worker = worker

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
        return decision


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


def _as_made(one: Json) -> Fault:
    """The answer that the proxy of the recording made up, in place of the server's; it held other requests for 2 s."""
    if "held" in one["note"]:
        return Fault(delay=2.0)
    status = one["response_body"]
    return refused(one["status"], status.get("reason", ""), status.get("message", ""))


@attrs.define
class Pace:
    """The faults of a scenario: requests take as long as they took, and what was made up is made up. Each counts once.

    A change is made when the scheduler's own watch showed it, which may be before the answer came. It is so at the very time of the
    recording, if ours was sent at about that time.
    """

    begin: float
    """When virtual time began."""
    asked: dict[tuple[str, str], list[Json]]
    seen: Mapping[str, float]
    """resourceVersion -> when a watch showed it."""

    @classmethod
    def of(cls, recorded: list[Json], begin: float) -> Pace:
        """That of a recording."""
        asked: dict[tuple[str, str], list[Json]] = {}
        for one in recorded:
            if one.get("who") == SCHEDULER and "method" in one and "watch=true" not in (one["query"] or ""):
                asked.setdefault((one["method"], one["path"]), []).append(one)
        return cls(begin, asked, seen_in(recorded))

    def __call__(self, request: Request) -> Fault:
        left = self.asked.get((request.method, request.path))
        if not left:
            return NO_FAULT
        one = left.pop(0)
        if one.get("note"):
            return _as_made(one)
        now = asyncio.get_running_loop().time() + self.begin
        began = one["t"] if abs(one["t"] - now) < ABOUT else now
        end = began + one["t_headers"] - one["t"]
        changed = min(end, began + self.seen.get(version_of(one), math.inf) - one["t"])
        return Fault(delay=max(0.0, changed - now), slow=max(0.0, end - max(changed, now)))


def seen_in(recorded: list[Json]) -> dict[str, float]:
    """resourceVersion -> when a watch of the scheduler showed it."""
    found: dict[str, float] = {}
    for one in recorded:
        if one.get("who") == SCHEDULER and one.get("status") is not None and "watch=true" in (one["query"] or ""):
            for frame in one["response_body"] or ():
                if frame["event"]["type"] in ("ADDED", "MODIFIED", "DELETED"):
                    found.setdefault(frame["event"]["object"]["metadata"]["resourceVersion"], frame["t"])
    return found


def version_of(exchange: Json) -> str:
    """The resourceVersion in an answer."""
    body = exchange["response_body"]
    return str(((body or {}).get("metadata") or {}).get("resourceVersion", "")) if isinstance(body, dict) else ""


def play(file: Path, engine: Engine, extenders: RecordedExtenders | None = None) -> Played:
    """Play the scenario in *file* on virtual time with our scheduler *engine* in the place of the original."""
    recorded = exchanges(file)
    begin = next(one["t"] for one in recorded if one.get("who") == SCHEDULER)
    found: list[Played] = []

    async def work() -> None:
        loop = asyncio.get_running_loop()
        store = Store(OLD_SERVER if "1.15" in str(file.parent) else NEW_SERVER, Storage(clock=lambda: EPOCH + loop.time()))
        transport = StoreTransport(store, Pace.of(recorded, begin), records=True)
        played = Played(store)
        found.append(played)
        driver = Driver(store, recorded)
        driver.before(begin)
        live = _scheduler(engine, transport, played, hosts_in(recorded))
        if extenders is not None:
            extenders.store = store
            live.take_worker(VirtualWorker(extenders.take_elapsed))
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


def _scheduler(engine: Engine, transport: StoreTransport, played: Played, hosts: dict[str, list[str]]) -> Steered:
    """Our scheduler, in the original's place."""
    loop, release = asyncio.get_running_loop(), engine.algorithm.release
    api = WireApi(Api(transport, retries_of(release.client)), release.version)
    times = Times(loop.time, lambda: EPOCH + loop.time())
    binder = ExtenderBinder.of(engine.extenders)
    state = LiveState(engine, api, played.events, times, report=played.reports.append)
    return Steered(state, [] if binder is None else [binder], hosts=hosts)


# --- comparing ------------------------------------------------------------------------------------------------------

IDENTITIES = ("uid", "resourceVersion", "selfLink", "managedFields", "creationTimestamp", "generateName")
TIMES = ("lastTransitionTime", "lastProbeTime", "startTime", "startedAt", "time", "deletionTimestamp")


def comparable(value: Any) -> Any:
    """A body without what differs from run to run: UIDs, versions, times. A null stays a null."""
    if isinstance(value, dict):
        left = {key: one for key, one in value.items() if key not in IDENTITIES}
        return {key: ("time" if key in TIMES and one is not None else comparable(one)) for key, one in left.items()}
    return [comparable(one) for one in value] if isinstance(value, list) else value


def writes_of(played: Played) -> Iterator[tuple[str, str, Any]]:
    """Method, path and body of our writes."""
    for request in played.requests:
        if request.method != "GET" and "/events" not in request.path:
            yield request.method, request.path, comparable(json.loads(request.body))


def recorded_writes(file: Path) -> Iterator[tuple[str, str, Any]]:
    """The same of the original."""
    for one in exchanges(file):
        if is_write(one):
            yield one["method"], one["path"], comparable(one["request_body"])


def is_mark(method: str, body: Any) -> bool:
    """Whether it is the patch that marks a victim as disrupted, in which we differ."""
    conditions = body.get("status", {}).get("conditions", ()) if method == "PATCH" else ()
    return any(one.get("type") == "DisruptionTarget" for one in conditions)


def by_path(writes: Iterator[tuple[str, str, Any]]) -> dict[str, list[tuple[str, Any]]]:
    """Object -> its writes in order; what concerns several objects is concurrent."""
    found: dict[str, list[tuple[str, Any]]] = {}
    for method, path, body in writes:
        for end in ("/status", "/binding"):
            path = path.removesuffix(end)
        if not is_mark(method, body):
            found.setdefault(path, []).append((method, body))
    return found


def recorded_events(file: Path) -> set[tuple[str, str, str]]:
    """(pod, reason, text) of the events that the original made."""
    found = set[tuple[str, str, str]]()
    for one in exchanges(file):
        body = one.get("request_body") or {}
        if one.get("who") == SCHEDULER and one["method"] == "POST" and one["path"].endswith("/events"):
            about = body.get("involvedObject") or body.get("regarding")
            found.add((about["name"], body["reason"], body.get("message") or body.get("note")))
    return found
