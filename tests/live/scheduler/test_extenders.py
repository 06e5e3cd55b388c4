"""Extenders of the live scheduler: they are asked in cycles while the rest goes on, and one with a bind verb
binds."""

import asyncio
import json
import threading

import attrs
import pytest
import yaml

from kubeclassic.algorithmprovider.extenders import ExtenderConfig, ManagedResource
from kubeclassic.extenders.choice import make_extenders
from kubeclassic.extenders.overhttp import PostError, PostReply
from kubeclassic.framework.releases import find_any_release
from kubeclassic.simulation.conform import engine_for
from tests.live.scheduler.worlds import World

each_release = pytest.mark.parametrize("release", ["1.12", "1.16", "1.27"])
FILTER = ExtenderConfig(url_prefix="http://e", filter_verb="filter", node_cache_capable=True)


@attrs.define(eq=False)
class Extender:
    """Leaves the last node alone, and binds through the API server; it waits while :attr:`going` is clear."""

    world: World = None
    going: object = attrs.field(factory=threading.Event)
    asked: object = attrs.field(factory=threading.Event)
    threads: set = attrs.field(factory=set)
    bound: list = attrs.field(factory=list)
    fails: bool = False

    def __call__(self, url, body, timeout):
        self.asked.set()
        self.threads.add(threading.current_thread().name)
        if not self.going.wait(60):
            raise PostError("not let go")
        if self.fails:
            raise PostError("gone")
        found = json.loads(body)
        if url.endswith("bind"):
            self.bound.append(f"{found['PodName']} {found['Node']}")
            self.world.bind(found["PodName"], found["Node"])
            return PostReply(200, b"{}")
        return PostReply(200, json.dumps({"NodeNames": found["NodeNames"][-1:]}).encode())


def scheduler_of(world, extender, config):
    """Start a scheduler with an extender."""
    extender.world = world
    made = make_extenders([config], find_any_release(world.release), lambda config: extender)
    return world.schedule(engine=engine_for(world.release, {}, extenders=made))


def played(release, play):
    """*play* in a world with the clock on the wall: an extender waits on a thread of its own."""

    async def work():
        world = World(release)
        await play(world)
        await world.stop()

    asyncio.run(asyncio.wait_for(work(), 60))


async def until(is_so):
    """Wait until it is so."""
    while not is_so():
        await asyncio.sleep(0.005)


@each_release
def test_the_rest_goes_on_while_an_extender_thinks(release):
    """During the call informers see what happens; it counts after the decision, which is made on the state
    before."""

    async def play(world):
        world.add_node("node-0")
        world.add_node("node-1")
        extender = Extender()
        scheduler = scheduler_of(world, extender, FILTER)
        world.add_pod("first")
        await until(extender.asked.is_set)
        world.add_node("node-2")
        world.add_pod("second")
        world.drop_pod("second")
        world.add_pod("third")
        await asyncio.sleep(0.1)
        assert scheduler.state.pod("default/third") is None
        assert "node-2" not in scheduler.state.engine.table.row_of
        extender.going.set()
        await until(lambda: all(world.hosts.values()))
        assert world.hosts["first"] in ("node-0", "node-1")
        assert set(world.hosts) == {"first", "third"}
        assert "node-2" in scheduler.state.engine.table.row_of
        assert all(name != threading.main_thread().name for name in extender.threads)
        assert world.reports == []

    played(release, play)


@pytest.mark.whole
@each_release
def test_an_extender_that_fails(release):
    """An error of an extender fails the attempt; the pod is told, and a later attempt succeeds."""

    async def play(world):
        world.add_node("node-0")
        world.add_node("node-1")
        extender = Extender(fails=True)
        extender.going.set()
        scheduler_of(world, extender, FILTER)
        world.add_pod("first")
        await until(lambda: bool(world.events.told))
        assert (world.events.told[0].reason, "gone" in world.events.told[0].text) == (
            "FailedScheduling",
            True,
        )
        extender.fails = False
        world.add_node("node-2")
        await until(lambda: all(world.hosts.values()))

    played(release, play)


@each_release
def test_an_extender_binds(release):
    """The extender with a bind verb binds the pods that it is interested in, and the API server the
    others."""
    config = ExtenderConfig(
        url_prefix="http://e", bind_verb="bind", managed_resources=(ManagedResource("example.com/gpu"),)
    )

    async def play(world):
        world.add_node("node-0")
        world.user.patch(
            "nodes", "node-0", {"status": {"allocatable": {"example.com/gpu": "2"}}}, part="status"
        )
        extender = Extender()
        extender.going.set()
        scheduler_of(world, extender, config)
        world.add_pod("plain")
        resources = yaml.safe_load("{requests: {example.com/gpu: '1'}, limits: {example.com/gpu: '1'}}")
        world.add_pod("gpu", containers=[{"name": "c", "image": "a:1", "resources": resources}])
        await until(
            lambda: {one.name for one in world.events.told if one.reason == "Scheduled"} == {"plain", "gpu"}
        )
        assert extender.bound == ["gpu node-0"]
        assert all(world.hosts.values())

    played(release, play)


@pytest.mark.parametrize("release, is_ignored", [("1.29", False), ("1.30", True)])
def test_an_extender_that_fails_to_bind(release, is_ignored):
    """From 1.30 on the API server binds in place of an extender that may be ignored."""
    config = ExtenderConfig(url_prefix="http://e", bind_verb="bind", ignorable=True)

    async def play(world):
        world.add_node("node-0")
        extender = Extender(fails=True)
        extender.going.set()
        scheduler_of(world, extender, config)
        world.add_pod("first")
        await until(lambda: bool(world.events.told))
        told = world.events.told[0]
        assert told.reason == ("Scheduled" if is_ignored else "FailedScheduling")
        assert is_ignored is ("gone" not in told.text) is (world.hosts["first"] == "node-0")

    played(release, play)
