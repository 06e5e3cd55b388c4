"""Pods that Permit plugins make wait, in the live scheduler: allowed, rejected, too late, deleted,
preempted."""

import asyncio

import pytest

from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.plugin import Plugin
from kubeclassic.framework.registry import registry_of
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.apiserver import NO_FAULT, pod_manifest
from tests.live.scheduler.worlds import lived
from tests.support.configbuild import configuration
from tests.support.frameworkbuild import enabled, scheduler
from tests.support.permitbuild import Doorman, names, waiting_scheduler, waits_of


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


def doorman_scheduler(release):
    """A scheduler of *release* with one plugin that makes pods wait."""
    version = FRAMEWORK_RELEASES[release].configuration.default_version
    config = configuration(release, version, {"plugins": {"permit": enabled("Doorman")}})
    return framework_engine(config, registry={**registry_of(config.release), "Doorman": Doorman})


@pytest.mark.parametrize("release, is_latest", [("1.24", True), ("1.25", False), ("1.36", True)])
async def test_which_status_is_changed(release, is_latest):
    """Up to 1.24 and in 1.36 a condition is added to the latest status of the pod, else to that of its
    attempt."""
    patches = []

    def noted(request):
        if request.method == "PATCH" and request.path.endswith("/first/status"):
            patches.append(request.body)
        return NO_FAULT

    async with lived(release, noted) as world:
        world.add_node("node-0")
        world.schedule(engine=doorman_scheduler(release))
        add(world, "first", "5")
        await asyncio.sleep(2.0)
        conditions = [{"type": "Odd", "status": "True"}]
        path = "/api/v1/namespaces/default/pods/first"
        pod = world.store.storage.of("pods")["default", "first"]
        world.user.ask(
            "PUT", f"{path}/status", {**pod, "status": {**pod["status"], "conditions": conditions}}
        )
        await asyncio.sleep(5.0)
    assert any(b"Odd" in patch for patch in patches) == is_latest


@pytest.mark.parametrize("release, stays", [("1.18", False), ("1.21", False), ("1.22", True)])
async def test_up_to_1_21_a_waiting_victim_is_deleted(release, stays):
    """It is deleted as any other, and then rejected."""
    async with lived(release) as world:
        world.add_node("node-0", cpu="1")
        world.schedule(engine=doorman_scheduler(release))
        add(world, "low", "600", cpu="800m")
        await asyncio.sleep(1.0)
        world.add_pod("high", cpu="800m", priorityClassName="system-node-critical")
        await asyncio.sleep(20.0)
        assert ("low" in world.hosts) == stays
        assert world.events.told[0].text == "Preempted by default/high on node node-0"


@pytest.mark.parametrize("point", ["pre_enqueue", "reserve", "permit", "pre_bind", "post_bind"])
async def test_an_error_of_a_plugin_ends_nothing(point):
    """It fails the attempt, is logged, and leaves no place taken; other pods are bound. PostBind comes after
    the binding."""

    def fail(self, pod, *rest):
        if pod.name == "bad":
            raise ValueError("boom")

    plugin = type("Broken", (Plugin,), {"name": "Broken", point: fail})
    engine = scheduler(profile={"plugins": {"multiPoint": enabled("Broken")}}, plugins=(plugin,))
    async with lived("1.27") as world:
        world.add_node("node-0")
        world.schedule(engine=engine)
        world.add_pod("bad")
        world.add_pod("good")
        await asyncio.sleep(1.5)
        assert world.hosts == {"bad": "node-0" if point == "post_bind" else "", "good": "node-0"}
        assert any("ValueError: boom" in report for report in world.reports)
        told = [event.text for event in world.events.told if event.reason == "FailedScheduling"]
        assert bool(told) == (point in ("reserve", "permit", "pre_bind"))
        assert all(f'plugin "Broken": {point} (' in text for text in told)
