"""Events against the recorded ones, against a server that fails, and too many of them."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import attrs
import pytest

from kubeclassic.live.client.transport import Request, Response
from kubeclassic.live.eventlog.sending import MOST_TRIES, Recorder, Reference, reference
from kubeclassic.live.scheduler.events import Events, connect_events
from kubeclassic.live.settings.livereleases import LIVE_RELEASES
from tests.apiserver.resources import NEW_SERVER, OLD_SERVER
from tests.apiserver.store import Store
from tests.apiserver.transport import NO_FAULT, Fault, StoreTransport, refused
from tests.support.build import pod
from tests.support.recordings import Exchange, recorded
from tests.support.virtualtime import BEGIN, now, run_virtually, wall_ns

SCENARIOS = ("a1-startup", "a2-leader", "b-schedule", "c-unschedulable", "c2-retries", "d-preemption")
NAME = re.compile(r"\.[0-9a-f]{16}$")


@attrs.define
class Link:
    """A server that says yes to all, and remembers what it was sent and when."""

    requests: list[tuple[float, Request]] = attrs.field(factory=list)

    async def send(self, request: Request) -> Response:
        """The event that was sent."""
        self.requests.append((now(), request))
        return Response(200 if request.method == "GET" else 201, request.body)

    def stream(self, request: Request) -> Any:
        """Nobody watches here."""
        raise AssertionError(f"got {request}, wanted no watch")


def of_scheduler(release: str, scenario: str, who: str = "kube-scheduler") -> list[Exchange]:
    """The events that a scheduler sent, in order."""
    return [e for e in recorded(release, scenario) if e.method in ("POST", "PATCH") and e.who == who and "/events" in e.path]


def nanoseconds(exchange: Exchange) -> int:
    """When an event was told: its name says so."""
    return int(exchange.body["metadata"]["name"].rpartition(".")[2], 16)


def about(found: dict[str, Any]) -> Reference:
    """A reference as it was sent."""
    return Reference(
        kind=found["kind"],
        namespace=found["namespace"],
        name=found["name"],
        uid=found["uid"],
        api_version=found["apiVersion"],
        resource_version=found.get("resourceVersion", ""),
    )


class TestPosts:
    @pytest.mark.parametrize("scenario", SCENARIOS)
    @pytest.mark.parametrize("release", ["1.15", "1.27"])
    def test_each_new_event_is_sent_as_it_was(self, release: str, scenario: str) -> None:
        """An event that is told at the same time has the same path, name and body, field by field in the same order."""
        exchanges = [exchange for exchange in of_scheduler(release, scenario) if exchange.method == "POST"]
        assert exchanges
        for exchange in exchanges:
            request = run_virtually(sent_alone(release, exchange))
            assert (request.method, request.path, request.query) == ("POST", exchange.path, "")
            assert request.body.endswith(b"\n")
            assert written(json.loads(request.body)) == written(exchange.body)
            assert request.headers["Content-Type"] == exchange.headers["Content-Type"]


def written(body: dict[str, Any]) -> str:
    """A body as text, so that the order of its fields counts; of its time only the seconds, as the name has a later one."""
    time = {"eventTime": body["eventTime"][:19]} if body.get("eventTime") else {}
    return json.dumps({**body, **time})


async def sent_alone(release: str, exchange: Exchange) -> Request:
    """What is sent when the event of *exchange* is told."""
    body, link = exchange.body, Link()
    stamp = nanoseconds(exchange)
    events = await connect_events(link, LIVE_RELEASES[release], wall=lambda: stamp, host="host-a")
    task = asyncio.create_task(events.run())
    is_core = exchange.path.startswith("/api/")
    if is_core:
        recorder = events.leader_recorder(body["source"]["component"])
        recorder.event(about(body["involvedObject"]), body["type"], body["reason"], "", body["message"])
    else:
        related = about(body["related"]) if "related" in body else None
        recorder = events.recorder(body["reportingController"])
        recorder.event(about(body["regarding"]), body["type"], body["reason"], body["action"], body["note"], related)
    await events.drain(1)
    task.cancel()
    return link.requests[-1][1]


class TestRepeats:
    def test_an_old_release_counts(self) -> None:
        """A pod that is tried again and again: one POST for each text, then PATCHes with the recorded counts and texts."""
        exchanges = of_scheduler("1.15", "c2-retries")
        link = run_virtually(told_again("1.15", exchanges))
        wanted = [(e.method, NAME.sub("", e.path), essence(e.body)) for e in exchanges]
        found = [(r.method, NAME.sub("", r.path), essence(json.loads(r.body))) for _, r in link.requests]
        assert found == wanted

    async def test_a_new_release_patches_once(self) -> None:
        """The second time an event becomes a series by one PATCH, and further times send nothing for a while."""
        link = Link()
        events = await connect_events(link, LIVE_RELEASES["1.27"], wall=lambda: int((BEGIN + now()) * 1e9), host="h")
        task = asyncio.create_task(events.run())
        pod = Reference(kind="Pod", namespace="default", name="p", uid="u", resource_version="1")
        for _ in range(5):
            events.recorder("s").event(pod, "Warning", "FailedScheduling", "Scheduling", "no")
            await asyncio.sleep(10)
        assert len(link.requests) == 3
        await asyncio.sleep(800)
        task.cancel()
        first, second, last = [request for _, request in link.requests[1:]]
        wanted = next(e for e in of_scheduler("1.27", "c2-retries") if e.method == "PATCH")
        assert first.method == "POST"
        assert (second.method, second.headers["Content-Type"]) == ("PATCH", wanted.headers["Content-Type"])
        assert json.loads(second.body)["series"]["count"] == wanted.body["series"]["count"] == 2
        assert list(json.loads(second.body)["series"]) == list(wanted.body["series"])
        assert not second.body.endswith(b"\n")
        assert json.loads(last.body)["series"]["count"] == 5


def essence(body: Any) -> Any:
    """What an event says, without times and names; for a PATCH the count too."""
    if "involvedObject" in body:
        return body["involvedObject"], body["reason"], body["message"], body["type"], body["count"]
    return body["count"], body["message"]


async def told_again(release: str, exchanges: list[Exchange]) -> Link:
    """What is sent when the events behind *exchanges* are told at the times when those were sent."""
    link, posts = Link(), {e.body["metadata"]["name"]: e for e in exchanges if e.method == "POST"}
    events = await connect_events(link, LIVE_RELEASES[release], wall=lambda: int((BEGIN + now()) * 1e9), dice=random.Random(1))
    task = asyncio.create_task(events.run())
    for exchange in exchanges:
        await asyncio.sleep(max(0.0, exchange.t - now()))
        body = exchange.body if exchange.method == "POST" else posts[exchange.path.rpartition("/")[2]].body
        recorder = events.recorder(body["source"]["component"])
        recorder.event(about(body["involvedObject"]), body["type"], body["reason"], "", exchange.body["message"])
        await events.drain(1)
    task.cancel()
    return link


OLD, NEW = "1.15", "1.27"
POD = Reference(kind="Pod", namespace="default", name="p", uid="u", resource_version="7")
Faults = Callable[[Request], Fault]


@attrs.define
class World:
    """A scheduler's events, the server that gets them, and what was said of lost ones."""

    link: StoreTransport
    events: Events
    said: list[str]
    dropped: list[None]

    @property
    def recorder(self) -> Recorder:
        """Where the tests tell things."""
        return self.events.recorder("default-scheduler")

    @property
    def sent(self) -> list[str]:
        """The methods of the requests about events."""
        return [request.method for request in self.link.requests if request.path.endswith("events") or "/events/" in request.path]

    def stored(self) -> list[dict[str, Any]]:
        """The events that the server has."""
        answer = self.link.store.handle("GET", "/api/v1/namespaces/default/events")
        found: list[dict[str, Any]] = json.loads(answer.encoded())["items"]
        return found


@asynccontextmanager
async def sending(release: str, faults: Faults = lambda request: NO_FAULT, store: Store | None = None) -> AsyncIterator[World]:
    """The events of *release*; at its end all is sent or lost."""
    link = StoreTransport(store or Store(NEW_SERVER if release == NEW else OLD_SERVER), faults, records=True)
    said, dropped, dice = list[str](), list[None](), random.Random(1)
    events = await connect_events(
        link, LIVE_RELEASES[release], say=said.append, on_drop=lambda: dropped.append(None), wall=wall_ns, host="h", dice=dice
    )  # fmt: skip
    task = asyncio.create_task(events.run())
    world = World(link, events, said, dropped)
    yield world
    await events.drain(3000)
    task.cancel()


async def once(world: World) -> None:
    """One event."""
    world.recorder.event(POD, "Normal", "Scheduled", "Binding", "done")


async def sent_once(release: str, faults: Faults = lambda request: NO_FAULT, store: Store | None = None) -> World:
    """The world after one event."""
    async with sending(release, faults, store) as world:
        await once(world)
    return world


@pytest.mark.parametrize("release", [OLD, NEW])
class TestFailures:
    async def test_a_broken_link_is_tried_again(self, release: str) -> None:
        """Without an answer an event is sent again until it is there."""
        world = await sent_once(release, lambda request: Fault(is_dropped=request.method == "POST" and now() < 25))
        assert [event["reason"] for event in world.stored()] == ["Scheduled"]

    async def test_at_most_twelve_times(self, release: str) -> None:
        """An event that never gets an answer is given up, and that is said."""
        world = await sent_once(release, lambda request: Fault(is_dropped=request.method == "POST"))
        assert world.sent == ["POST"] * MOST_TRIES
        assert world.said[-1] == "Unable to write event 'Scheduled' of default/p (retry limit exceeded!)"

    @pytest.mark.parametrize("code", [400, 403, 404, 409, 422, 500])
    async def test_a_refusal_is_final(self, release: str, code: int) -> None:
        """Any answer ends the tries, as in the original, and is said."""
        world = await sent_once(release, lambda request: refused(code) if request.method == "POST" else NO_FAULT)
        assert world.sent == ["POST"]
        assert world.said == ["Server rejected event: 'made up' (will not retry!)"]

    async def test_retry_after_is_obeyed(self, release: str) -> None:
        """A server that asks to wait is asked again after that time."""
        busy = refused(429)
        assert busy.answer is not None
        busy = attrs.evolve(busy, answer=attrs.evolve(busy.answer, headers={"retry-after": "3"}))
        world = await sent_once(release, lambda request: busy if request.method == "POST" and now() < 8 else NO_FAULT)
        assert world.sent == ["POST"] * 4
        assert len(world.stored()) == 1
        assert world.said == []

    async def test_an_event_that_is_gone_is_made_again(self, release: str) -> None:
        """Where the event of a repeat was deleted, it is sent whole, with its count."""
        async with sending(release) as world:
            await once(world)
            await asyncio.sleep(1)
            name = world.stored()[0]["metadata"]["name"]
            world.link.store.handle("DELETE", f"/api/v1/namespaces/default/events/{name}")
            await once(world)
        assert world.sent == ["POST", "PATCH", "POST"]
        (event,) = world.stored()
        assert (event.get("count") or event["series"]["count"]) == 2

    async def test_a_lost_answer_leaves_one_event(self, release: str) -> None:
        """An event that is there although the answer was lost is not made twice."""
        world = await sent_once(release, lambda request: Fault(is_lost=request.method == "POST" and now() < 5))
        assert len(world.stored()) == 1

    def test_the_pod_may_be_an_object(self, release: str) -> None:
        """A pod is named by kind, namespace, name, UID and resourceVersion."""
        item = pod("web")
        found = reference(item)
        assert (found.kind, found.namespace, found.name, found.api_version) == ("Pod", item.metadata.namespace, "web", "v1")


class TestManyEvents:
    async def test_similar_ones_are_gathered(self) -> None:
        """From the tenth different text of one reason on, an old release has one event for all further ones."""
        async with sending(OLD) as world:
            for i in range(15):
                world.recorder.event(POD, "Warning", "FailedScheduling", "", f"text {i}")
        gathered = [event for event in world.stored() if event["message"].startswith("(combined from similar events): ")]
        assert world.sent == ["POST"] * 10 + ["PATCH"] * 5
        assert [(event["message"], event["count"]) for event in gathered] == [("(combined from similar events): text 14", 6)]

    async def test_too_many_about_one_pod_are_left_out(self) -> None:
        """Of one pod 25 events are sent at once, then one every five minutes; the count goes on."""
        async with sending(OLD) as world:
            for _ in range(40):
                await once(world)
            await world.events.drain(5)
            assert len(world.sent) == 25
            await asyncio.sleep(301)
            await once(world)
        assert len(world.sent) == 26
        assert [event["count"] for event in world.stored()] == [41]

    async def test_old_events_go_one_at_a_time(self) -> None:
        """While an answer is slow, no other event of an old release is under way; in the new one they are."""
        seen: dict[str, list[float]] = {}
        for release in (OLD, NEW):
            times = seen[release] = []

            def slow(request: Request, times: list[float] = times) -> Fault:
                if request.method == "POST":
                    times.append(now())
                return Fault(slow=1.0)

            async with sending(release, slow) as world:
                for i in range(3):
                    world.recorder.event(attrs.evolve(POD, name=f"p{i}"), "Normal", "Scheduled", "Binding", "done")
        first, second, third = seen[OLD]
        assert (second - first, third - second) == (1.0, 1.0)
        assert len(set(seen[NEW])) == 1

    @pytest.mark.parametrize("bursts", [1, 2])
    async def test_the_queue_has_an_end(self, bursts: int) -> None:
        """More than a thousand waiting events are lost rather than kept; each is counted, and one line says so for all of a burst."""
        async with sending(OLD) as world:
            for _ in range(bursts):
                for i in range(1200):
                    world.recorder.event(attrs.evolve(POD, name=f"p{i}"), "Normal", "Scheduled", "", "done")
                await world.events.drain(3000)
        assert len(world.sent) == 1000 * bursts
        assert len(world.dropped) == 200 * bursts
        assert world.said == ["Events are dropped: 1,000 wait to be sent; kubeclassic_events_dropped_total counts them"] * bursts

    async def test_what_is_left_at_the_end(self) -> None:
        """The end says how many events are not sent."""
        left = list[int]()
        async with sending(OLD, lambda request: Fault(slow=1.0) if request.method == "POST" else NO_FAULT) as world:
            for i in range(5):
                world.recorder.event(attrs.evolve(POD, name=f"p{i}"), "Normal", "Scheduled", "", "done")
            left.append(await world.events.drain(2.5))
            left.append(await world.events.drain(10.0))
        assert left == [3, 0]


class TestGroups:
    @pytest.mark.parametrize(
        ("release", "store", "group"),
        [
            (OLD, NEW_SERVER, "/api/v1/"),
            ("1.16", OLD_SERVER, "/apis/events.k8s.io/v1beta1/"),
            ("1.16", NEW_SERVER, "/api/v1/"),
            (NEW, NEW_SERVER, "/apis/events.k8s.io/v1/"),
            (NEW, OLD_SERVER, "/api/v1/"),
        ],
    )
    async def test_the_server_has_its_say(self, release: str, store: Any, group: str) -> None:
        """Events of pods go to the release's group where the server has it, else to core/v1."""
        world = await sent_once(release, store=Store(store))
        assert world.link.requests[-1].path == f"{group}namespaces/default/events"

    async def test_the_first_series(self) -> None:
        """The release before the group was final counts from 1, has a state, and names the source once more."""
        async with sending("1.16") as world:
            await once(world)
            await asyncio.sleep(1)
            await once(world)
        first, second = (json.loads(request.body) for request in world.link.requests[-2:])
        assert first["deprecatedSource"] == {"component": "default-scheduler"}
        assert {**second["series"], "lastObservedTime": ""} == {"count": 1, "lastObservedTime": "", "state": ""}

    @pytest.mark.parametrize(("release", "reporter"), [(OLD, ""), (NEW, "default-scheduler")])
    async def test_the_leader_is_told_in_core(self, release: str, reporter: str) -> None:
        """Events about the leader go to core/v1 in every release, and name the reporter in the new one."""
        async with sending(release) as world:
            world.events.leader_recorder("default-scheduler").event(POD, "Normal", "LeaderElection", "", "x became leader")
        request = world.link.requests[-1]
        assert request.path == "/api/v1/namespaces/default/events"
        assert json.loads(request.body)["reportingComponent"] == reporter
