"""Pods that Permit plugins make wait, in the live scheduler: allowed, rejected, too late, deleted,
preempted."""

import asyncio

from tests.apiserver import pod_manifest
from tests.live.scheduler.worlds import lived
from tests.support.permitbuild import names, waiting_scheduler, waits_of


class Waiting:
    """A scheduler with plugins that make pods wait for as long as their annotation says."""

    def __init__(self, world):
        self.world, self.engine = world, waiting_scheduler()
        world.schedule(engine=self.engine)

    @property
    def names(self):
        """The names of waiting pods."""
        return names(waits_of(self.engine))

    def allow(self, *plugins):
        """Plugins allow all pods that wait."""
        for one in waits_of(self.engine):
            for plugin in plugins:
                one.allow(plugin)

    def texts(self, pod):
        """The texts of events about a pod."""
        return [one.text for one in self.world.events.told if one.name == pod]


def add(world, name, seconds, cpu="100m"):
    """A new pod that waits for Doorman so long."""
    form = pod_manifest(name, cpu=cpu)
    form["metadata"]["annotations"] = {"Doorman": seconds}
    world.user.create("pods", form)


async def test_an_allowed_pod_is_bound():
    """A pod keeps its place while it waits, others are bound, and it is bound as soon as the plugin allows
    it."""
    async with lived("1.27") as world:
        world.add_node("node-0")
        waiting = Waiting(world)
        add(world, "first", "60")
        world.add_pod("second")
        await asyncio.sleep(5.0)
        assert waiting.names == ["first"]
        assert world.hosts == {"first": "", "second": "node-0"}
        waiting.allow("Doorman")
        await asyncio.sleep(0.1)
        assert world.hosts["first"] == "node-0"
        assert waiting.names == []


async def test_a_pod_that_waits_too_long_is_rejected():
    """After the plugin's time the pod loses its place, is told why, and another one gets the place."""
    async with lived("1.27") as world:
        world.add_node("node-0", cpu="1")
        waiting = Waiting(world)
        add(world, "first", "30", cpu="800m")
        await asyncio.sleep(29.0)
        world.add_pod("second", cpu="800m")
        await asyncio.sleep(0.5)
        assert (waiting.names, world.hosts["second"]) == (["first"], "")
        await asyncio.sleep(5.0)
        assert waiting.texts("first")[0] == "rejected due to timeout after waiting 30s at plugin Doorman"
        assert world.hosts["second"] == "node-0"


async def test_a_waiting_victim_is_rejected_not_deleted():
    """A pod of higher priority takes the place of one that waits; that one stays in the API and is tried
    again."""
    async with lived("1.27") as world:
        world.add_node("node-0", cpu="1")
        waiting = Waiting(world)
        add(world, "low", "600", cpu="800m")
        await asyncio.sleep(1.0)
        world.user.create("priorityclasses", {"metadata": {"name": "high"}, "value": 1000})
        world.add_pod("high", cpu="800m", priorityClassName="high")
        await asyncio.sleep(20.0)
        assert world.hosts == {"low": "", "high": "node-0"}
        assert waiting.names == []
        assert waiting.texts("low") == ["Preempted by a pod on node node-0", "preempted"]
