"""The events of recorded schedulers: told again, they are sent again with the same requests."""

from __future__ import annotations

import asyncio
import json
import random
import re
from typing import Any

import attrs
import pytest

from kubeclassic.live.client.transport import Request, Response
from kubeclassic.live.eventlog.sending import Reference
from kubeclassic.live.scheduler.events import connect_events
from kubeclassic.live.settings.livereleases import LIVE_RELEASES
from tests.support.recordings import Exchange, recorded
from tests.support.virtualtime import BEGIN, now, run_virtually

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

    def test_a_new_release_patches_once(self) -> None:
        """The second time an event becomes a series by one PATCH, and further times send nothing for a while."""

        async def story() -> list[Request]:
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
            return [request for _, request in link.requests[1:]]

        first, second, last = run_virtually(story())
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
