"""A scenario of the recordings, played with our scheduler in the original's place; and our requests beside
the recorded ones.

These are compared without what differs from run to run, and in an order that means the same.
"""

import asyncio
import json
import math
import re
from collections import Counter
from contextlib import suppress

import attrs

from kubeclassic.core.decision.preemptionplan import Preemption
from kubeclassic.core.preemption.victimchoice import pick_one_node
from kubeclassic.live.client.api import Api
from kubeclassic.live.informers.informers import Informers, retries_of
from kubeclassic.live.scheduler.scheduler import LiveScheduler
from kubeclassic.live.scheduler.state import ClusterApi, LiveState
from kubeclassic.simulation.conform import REPLY_FAULTS, as_decoded
from kubeclassic.simulation.sides import best
from tests.apiserver import NEW_SERVER, OLD_SERVER, Storage, Store
from tests.live.scheduler.recordedextenders import VirtualWorker
from tests.live.scheduler.recordedpace import SCHEDULER, Driver, Pace, PacedTransport, exchanges
from tests.support.logs import log_to
from tests.support.virtualtime import run_virtually

EPOCH = 1_790_000_000.0
"""When a played scenario begins, in seconds since 1970."""


def is_write(exchange):
    """Whether it is one of the scheduler's writes about pods and volumes: not an event, a lock or a read."""
    path = exchange.get("path", "")
    return (
        exchange.get("who") == SCHEDULER
        and exchange.get("method", "GET") != "GET"
        and "/events" not in path
        and "/leases/" not in path
    )


def hosts_in(recorded):
    """Pod -> the nodes that the original chose for it, in order: those of its claims' annotations, else those
    of its bindings."""
    claims = {}
    found = {}
    bound = {}
    for one in recorded:
        body = one.get("request_body") or {}
        if one.get("method") == "POST" and body.get("kind") == "Pod":
            names = [
                each.get("persistentVolumeClaim", {}).get("claimName")
                for each in body["spec"].get("volumes", ())
            ]
            claims |= dict.fromkeys(filter(None, names), body["metadata"].get("name", ""))
        elif is_write(one) and body.get("kind") == "PersistentVolumeClaim":
            selected = body["metadata"]["annotations"]["volume.kubernetes.io/selected-node"]
            found.setdefault(claims[body["metadata"]["name"]], []).append(selected)
        elif is_write(one) and body.get("kind") == "Binding":
            bound.setdefault(body["metadata"]["name"], []).append(body["target"]["name"])
    return bound | found


def rooms_in(recorded):
    """Pod -> the nodes that the original nominated it to by writing its whole status, in order."""
    found = {}
    for one in recorded:
        if is_write(one) and one["method"] == "PUT" and one["path"].endswith("/status"):
            told = found.setdefault(one["request_body"]["metadata"]["name"], [""])
            node = one["request_body"]["status"].get("nominatedNodeName", "")
            if node and node != told[-1]:
                told.append(node)
    return {pod: nodes[1:] for pod, nodes in found.items()}


@attrs.define(eq=False)
class Steered(LiveScheduler):
    """A scheduler that takes, among equally good nodes, the one that the original took: there it was
    chance."""

    hosts: dict = attrs.field(factory=dict)
    rooms: dict = attrs.field(factory=dict)
    """Where pods are nominated to."""
    details: bool = True

    async def _decide(self, item):
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
            decision.preemption = (
                self._room(item.pod, plan)
                if plan.later is None
                else Preemption(later=self._later(plan.later))
            )
        return decision

    def _later(self, ask):
        return lambda pod: self._room(pod, ask(pod))

    def _room(self, pod, plan):
        """The plan for the node that the original chose, if *plan* is for an equally good one."""
        wanted = self.rooms.get(pod.name)
        if not wanted or plan.node is None:
            return plan
        name = wanted.pop(0)
        known = plan.candidates
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
    text: str


@attrs.define
class Events:
    """A recorder that keeps what it is told."""

    told: list = attrs.field(factory=list)

    def event(self, about, type, reason, text, by=""):
        """Keep an event."""
        self.told.append(Event(about.name, type, reason, text))


@attrs.define
class Played:
    """The actions of our scheduler in a scenario."""

    store: Store
    requests: list = attrs.field(factory=list)
    events: Events = attrs.field(factory=Events)
    reports: list = attrs.field(factory=list)


@attrs.define
class Stage:
    """Where a scenario is played: a server of the tests, the others that ask it, and our scheduler in the
    original's place."""

    recorded: list
    make: object
    extenders: object
    begin: float
    """When virtual time began."""
    played: Played = attrs.field(init=False)
    transport: PacedTransport = attrs.field(init=False)
    driver: Driver = attrs.field(init=False)
    hosts: dict = attrs.field(init=False)
    rooms: dict = attrs.field(init=False)

    def __attrs_post_init__(self):
        loop = asyncio.get_running_loop()
        is_old = any("policy/v1beta1" in one.get("path", "") for one in self.recorded)
        flavour = OLD_SERVER if is_old else NEW_SERVER
        store = Store(flavour, Storage(clock=lambda: EPOCH + loop.time()))
        pace = Pace.of(self.recorded, self.begin)
        self.transport = PacedTransport(store, pace, records=True, pace=pace)
        self.played, self.driver = Played(store), Driver(store, self.recorded)
        self.hosts, self.rooms = hosts_in(self.recorded), rooms_in(self.recorded)
        if self.extenders is not None:
            self.extenders.store = store
            loop.set_default_executor(VirtualWorker(self.extenders.take_elapsed))

    async def play(self):
        """Play the scenario, with each life of the scheduler."""
        self.driver.before(self.begin)
        async with asyncio.TaskGroup() as group:
            lives = [group.create_task(self._life(*times)) for times in lives_in(self.recorded)]
            await self.driver.run(self.begin)
            for life in lives:
                life.cancel()
        self.played.requests = list(self.transport.requests)

    async def _life(self, begin, end):
        """A scheduler that starts at *begin* and is killed at *end*."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(begin - self.begin - loop.time())
        with suppress(TimeoutError):
            async with asyncio.timeout_at(end - self.begin), asyncio.TaskGroup() as group:
                live = self._scheduler(await self.make(self.transport))
                informers = Informers(
                    self.transport,
                    live.state.release.client,
                    live.state,
                    self.played.reports.append,
                    lambda: 0.5,
                )
                group.create_task(informers.run())
                await informers.synced()
                await live.run()

    def _scheduler(self, engine):
        """Our scheduler, in the original's place."""
        loop = asyncio.get_running_loop()
        release = engine.algorithm.release
        api = ClusterApi(Api(self.transport, retries_of(release.client)))
        engine.asks_later = True
        state = LiveState(
            engine, api, self.played.events, lambda: EPOCH + loop.time(), log=log_to(self.played.reports)
        )
        if self.extenders is not None:
            state.worker = VirtualWorker(self.extenders.take_elapsed)
        return Steered(state, hosts=self.hosts, rooms=self.rooms)


def lives_in(recorded):
    """When the original started, and when it was killed or ended; the last one goes on until the end of the
    scenario."""
    stops = [
        one["t"]
        for one in recorded
        if "kube-scheduler a: stopped" in one.get("note", "") and "method" not in one
    ]
    ends = [*stops[:-1], math.inf]
    asked = [one["t"] for one in recorded if one.get("who") == SCHEDULER and "method" in one]
    begins = [next(t for t in asked if t > before) for before in (0.0, *ends[:-1])]
    return list(zip(begins, ends, strict=True))


def play(file, make, extenders=None):
    """Play the scenario in *file* on virtual time with our scheduler in the place of the original; *make*
    makes its engine."""
    recorded = exchanges(file)

    async def work():
        stage = Stage(recorded, make, extenders, lives_in(recorded)[0][0])
        await stage.play()
        return stage.played

    played = run_virtually(work())
    assert played is not None
    return played


IDENTITIES = ("uid", "resourceVersion", "selfLink", "managedFields", "creationTimestamp", "generateName")
TIMES = (
    "lastTransitionTime",
    "lastProbeTime",
    "lastHeartbeatTime",
    "startTime",
    "startedAt",
    "time",
    "deletionTimestamp",
)
TIMES += ("firstTimestamp", "lastTimestamp", "eventTime", "lastObservedTime")
OBJECT = re.compile(r"/apis?/.*/namespaces/[^/]+/|/api/v1/persistentvolumes/")
PART = re.compile("/(status|binding)$")


def comparable(value):
    """A body without what differs from run to run, UIDs, versions, times, and as Go would decode it."""
    return as_decoded(_masked(value))


def _masked(value):
    if isinstance(value, str) and REPLY_FAULTS.match(value):
        return "a reply that cannot be read"
    if isinstance(value, dict):
        left = {key: one for key, one in value.items() if key not in IDENTITIES}
        return {
            key: ("time" if key in TIMES and one is not None else _masked(one)) for key, one in left.items()
        }
    return [_masked(one) for one in value] if isinstance(value, list) else value


def asked_by(played):
    """Our requests about objects of namespaces, and our writes."""
    return [
        (one.method, one.path, comparable(json.loads(one.body) if one.body else None))
        for one in played.requests
        if _counts(one.path)
    ]


def recorded_asked(file):
    """The same of the original."""
    found = [one for one in exchanges(file) if one.get("who") == SCHEDULER and _counts(one.get("path", ""))]
    return [(one["method"], one["path"], comparable(one["request_body"])) for one in found]


def _counts(path):
    """Whether a request is about a single object of the cluster: no list or watch, no lock, and no ConfigMap,
    which only 1.28.7 reads."""
    return (
        bool(OBJECT.match(path)) and not path.endswith("/leases/kube-scheduler") and "/configmaps" not in path
    )


def writes(asked):
    """Object -> its writes in order; what concerns several objects is concurrent. Events are no writes of an
    object."""
    found = {}
    for method, path, body in asked:
        if method != "GET" and "/events" not in path and not is_mark(method, body):
            found.setdefault(PART.sub("", path), []).append((method, body))
    return found


def reads(asked):
    """The number of reads of each object: in a release without profiles reads go on beside writes, in no
    fixed order."""
    return Counter(path for method, path, _ in asked if method == "GET")


def told(file):
    """(object, reason, text) of the events that the original made about pods."""
    bodies = [
        one["request_body"]
        for one in exchanges(file)
        if one.get("who") == SCHEDULER and "/events" in one.get("path", "")
    ]
    about = [
        (body.get("involvedObject") or body.get("regarding") or {}, body)
        for body in bodies
        if body and "reason" in body
    ]
    return {
        (pod["name"], body["reason"], body.get("message") or body.get("note"))
        for pod, body in about
        if pod.get("kind") == "Pod"
    }


def is_mark(method, body):
    """Whether it is the patch that marks a victim as disrupted, in which we differ."""
    conditions = body.get("status", {}).get("conditions", ()) if method == "PATCH" else ()
    return any(one.get("type") == "DisruptionTarget" for one in conditions)
