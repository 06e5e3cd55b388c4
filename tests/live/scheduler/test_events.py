"""Events of core/v1: what is sent, what is counted, a server that fails, and too many of them."""

import asyncio
import json
from contextlib import asynccontextmanager

import attrs
import pytest
import yaml

from kubeclassic.live.scheduler.events import MOST_TRIES, MOST_WAITING, Events, Reference
from tests.apiserver import NEW_SERVER, NO_FAULT, Fault, Store, StoreTransport, refused
from tests.support.build import pod
from tests.support.virtualtime import now, wall

EVENTS = "/api/v1/namespaces/default/events"


@attrs.define
class World:
    """A server, and the events of a process."""

    store: Store
    link: StoreTransport
    events: Events
    said: list
    dropped: list

    def tell(self, text="no", name="p"):
        """Tell that a pod fits nowhere."""
        about = Reference(
            kind="Pod", api_version="v1", namespace="default", name=name, uid="u", resource_version=str(now())
        )
        self.events.event(about, "Warning", "FailedScheduling", text)

    def there(self):
        """The events that the server has."""
        return list(self.store.storage.of("events").values())

    def sent(self):
        """The methods of the requests so far."""
        return [request.method for request in self.link.requests]


@asynccontextmanager
async def running(faults=lambda request: NO_FAULT):
    """A world in which events are sent."""
    store = Store(NEW_SERVER)
    said = []
    dropped = []
    link = StoreTransport(store, faults, records=True)
    events = Events(link, said.append, lambda: dropped.append(None), wall, "default-scheduler")
    task = asyncio.create_task(events.run())
    yield World(store, link, events, said, dropped)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_what_is_sent():
    """An event is about the pod as it was told, by the scheduler's name."""
    async with running() as world:
        world.events.event(pod("web"), "Normal", "Scheduled", "Successfully assigned default/web to a")
        assert await world.events.drain(1.0) == 0
        request = world.link.requests[0]
        assert (request.method, request.path, request.headers["content-type"]) == (
            "POST",
            EVENTS,
            "application/json",
        )
        body = json.loads(request.body)
        assert body["involvedObject"] == yaml.safe_load("""
            {kind: Pod, namespace: default, name: web, apiVersion: v1}
            """)
        assert (body["reason"], body["message"], body["type"], body["count"]) == (
            "Scheduled",
            "Successfully assigned default/web to a",
            "Normal",
            1,
        )
        assert body["source"] == {"component": "default-scheduler"}
        assert body["firstTimestamp"] == body["lastTimestamp"]
    assert world.there()


@pytest.mark.parametrize("by, said", [("", "packed"), ("urgent", "urgent")])
async def test_each_profile_reports_its_own(by, said):
    """An event about a pod is by the scheduler that the pod asks for, or by the one that preempts it."""
    async with running() as world:
        world.events.event(pod("web", schedulerName="packed"), "Normal", "Preempted", "by another", by)
        assert await world.events.drain(1.0) == 0
        (event,) = world.there()
        assert (event["source"]["component"], event["reportingComponent"]) == (said, said)


async def test_equal_ones_are_counted():
    """A repeated text is the same event with a higher count, another text is another event; the pod's version
    does not matter."""
    async with running() as world:
        for text in ("no", "no", "never", "no"):
            world.tell(text)
            await asyncio.sleep(10)
        assert world.sent() == ["POST", "PATCH", "POST", "PATCH"]
        assert sorted((event["message"], event["count"]) for event in world.there()) == [
            ("never", 1),
            ("no", 3),
        ]
        counted = next(event for event in world.there() if event["count"] == 3)
        assert counted["firstTimestamp"] < counted["lastTimestamp"]


async def test_many_messages_are_combined():
    """From the tenth message of one reason about an object on they are one event, until ten minutes without
    any."""
    async with running() as world:
        for number in range(12):
            world.tell(f"no {number}")
            await asyncio.sleep(1.0)
        found = [(event["message"], event["count"]) for event in world.there()]
        assert found[8:] == [("no 8", 1), ("(combined from similar events): no 11", 3)]
        await asyncio.sleep(601.0)
        world.tell("no 12")
        await asyncio.sleep(1.0)
        assert world.there()[-1]["message"] == "no 12"


async def test_a_pod_that_fails_all_the_time_sends_few():
    """25 events of one reason about a pod are sent at once, then one in five minutes; none is lost for the
    count, and other reasons and pods are sent."""
    async with running() as world:
        for _ in range(100):
            world.tell()
            await asyncio.sleep(10)
        assert len(world.sent()) == 25 + 3
        world.events.event(pod("web"), "Normal", "Scheduled", "to a")
        await asyncio.sleep(301)
        world.tell()
        await asyncio.sleep(1)
        assert len(world.sent()) == 25 + 3 + 2
        assert sorted(event["count"] for event in world.there()) == [1, 101]


@pytest.mark.parametrize("until", [25.0, 1e9])
async def test_a_broken_link_is_tried_again(until):
    """Without an answer an event is sent again every ten seconds, twelve times at most, and then a line says
    so."""
    begin = now()
    async with running(lambda request: Fault(is_dropped=now() - begin < until)) as world:
        world.tell()
        await asyncio.sleep(400)
        is_lost = until > 1e6
        assert len(world.sent()) == (MOST_TRIES if is_lost else 4)
        assert len(world.there()) == (0 if is_lost else 1)
        assert ("retry limit exceeded" in world.said[-1]) == is_lost


@pytest.mark.parametrize("code", [400, 403, 409, 422, 500])
async def test_a_refusal_is_final(code):
    """Any answer ends the tries, and a line says what it was."""
    async with running(lambda request: refused(code, "Made", "up")) as world:
        world.tell()
        await asyncio.sleep(100)
        assert world.sent() == ["POST"]
    assert "will not retry" in world.said[0]


async def test_one_at_a_time_and_no_more_than_wait():
    """A slow server gets one event at a time; what does not find room is counted, and told once for a
    burst."""
    under_way = [0, 0]

    def slow(request):
        under_way[1] = max(under_way[1], under_way[0] + 1)
        return Fault(slow=0.1)

    async with running(slow) as world:
        for number in range(MOST_WAITING + 50):
            world.tell(name=f"p{number}")
        assert len(world.dropped) == 50
        assert await world.events.drain(1.0) > 900
        await asyncio.sleep(200)
    assert len(world.there()) == MOST_WAITING
    assert len(world.said) == 1
    assert under_way[1] == 1
