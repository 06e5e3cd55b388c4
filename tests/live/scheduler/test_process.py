"""A whole process, from its start to its end; and a dry run, where decisions follow from each other and the
cluster stays as it is."""

import asyncio

import httpx
import pytest

from kubeclassic.api.objects import Pod
from kubeclassic.framework.options import options_of
from kubeclassic.framework.schedulerspec import SchedulerSpec
from kubeclassic.live.client.http import Access
from kubeclassic.live.process.process import Process
from kubeclassic.live.scheduler.election import LeaderLostError
from kubeclassic.live.scheduler.flags import RunSettings
from kubeclassic.live.scheduler.state import decoded
from tests.apiserver import NO_FAULT, Fault
from tests.live.scheduler.worlds import Site, at, lived

RELEASES = ["1.12", "1.13", "1.14", "1.15", "1.16", "1.27"]
ELECTING = ["1.14", "1.16", "1.27"]
each_release = pytest.mark.parametrize("release", RELEASES)
each_electing = pytest.mark.parametrize("release", ELECTING)


def attempts(release, result):
    """The name of the metric that counts attempts."""
    profile = ',profile="default-scheduler"' if release == "1.27" else ""
    labels = f'{{profile="default-scheduler",result="{result}"}}' if profile else f'{{result="{result}"}}'
    return f"scheduler_schedule_attempts_total{labels}"


@each_release
async def test_it_schedules_with_and_without_an_election(release):
    """With the flags' defaults a process leads and binds pods; with --leader-elect=false it binds without a
    lock."""
    async with at(release) as site:
        site.add_node("node-0")
        site.add_pod("first")
        first = site.start()
        await asyncio.sleep(5.0)
        await first.stop()
        assert first.process.elector is not None
        assert first.process.engine.asks_later
        site.add_pod("second")
        second = site.start(leader_elect="false")
        await asyncio.sleep(5.0)
        assert second.process.elector is None
    assert site.hosts == {"first": "node-0", "second": "node-0"}


async def test_the_first_profile_tells_who_leads():
    """Events about the leader come from it."""
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    config = {**head, "profiles": [{"schedulerName": name} for name in ("z", "a")]}
    spec = SchedulerSpec.of(options_of({"release": "1.27", "config": config}))
    made = await Process.of(spec, RunSettings(), Access(server="http://there"), None)
    assert made.scheduler_name == "z"


@each_electing
async def test_one_of_two_schedules(release):
    """The follower lists everything and binds nothing; when the leader is gone it takes over, and no pod is
    bound twice."""
    async with at(release) as site:
        site.add_node("node-0")
        first = site.start("a")
        await asyncio.sleep(1.0)
        second = site.start("b")
        for number in range(20):
            site.add_pod(f"pod-{number}")
            await asyncio.sleep(1.0)
        assert (first.called("POST", "/binding"), second.called("POST", "/binding")) == (20, 0)
        assert second.process.informers.has_synced
        first.task.cancel()  # kill -9
        await asyncio.gather(first.task, return_exceptions=True)
        site.add_pod("late")
        await asyncio.sleep(60.0)
        assert second.called("POST", "/binding") == 1
        assert site.lock()["holderIdentity"] == "b"
    assert site.hosts["late"] == "node-0"


@pytest.mark.parametrize("release, holder", [("1.16", ""), ("1.27", "")])
async def test_a_stop_lets_bindings_end(release, holder):
    """At SIGTERM no more pods are taken, the binding that is under way ends, and the framework's release
    gives the lock back."""

    def slow(request):
        return Fault(slow=3.0) if request.path.endswith("/binding") else NO_FAULT

    async with at(release) as site:
        site.add_node("node-0")
        replica = site.start("a", faults=slow)
        await asyncio.sleep(1.0)
        site.add_pod("first")
        await asyncio.sleep(1.0)
        replica.end.set()
        await asyncio.sleep(0.5)
        site.add_pod("second")
        await replica.task
        assert replica.process.scheduler.under_way == 0
        assert site.lock().get("holderIdentity", "") == holder
        assert not replica.warned
    assert site.hosts == {"first": "node-0", "second": ""}


@each_electing
async def test_a_lost_lease_ends_it(release):
    """A leader that cannot renew its lease ends with an error, and binds nothing once another one may
    lead."""
    bound_at = []
    async with at(release) as site:
        loop = asyncio.get_running_loop()

        def cut(request):
            if request.path.endswith("/binding"):
                bound_at.append(loop.time())
            return Fault(delay=3600.0) if "leases" in request.path and loop.time() > 10.0 else NO_FAULT

        site.add_node("node-0")
        replica = site.start("a", faults=cut)
        for number in range(60):
            if replica.task.done():
                break
            site.add_pod(f"pod-{number}")
            await asyncio.sleep(0.5)
        with pytest.raises(LeaderLostError, match="lost lease"):
            await replica.task
    assert bound_at
    assert max(bound_at) < 10.0 + 15.0


@each_release
async def test_metrics(release):
    """Pods that were bound and that fit nowhere are counted by the release's names, as are answers of the API
    server."""
    async with at(release) as site:
        site.add_node("node-0", cpu="1")
        replica = site.start()
        site.add_pod("small")
        site.add_pod("big", cpu="8")
        await asyncio.sleep(10.0)
        found = replica.metrics()
        assert found[attempts(release, "scheduled")] == 1
        assert found[attempts(release, "unschedulable")] >= 1
        assert found['rest_client_requests_total{code="201",host="there",method="POST"}'] >= 1
        assert found['scheduler_pending_pods{queue="unschedulable"}'] == 1
        assert found['leader_election_master_status{name="kube-scheduler"}'] == 1


@pytest.mark.parametrize(
    "flags, tries",
    [({}, [0, 330]), ({"pod_max_in_unschedulable_pods_duration": "50s"}, [0, 60, 120, 180, 240, 300])],
)
async def test_a_pod_that_fits_nowhere_is_tried_again(flags, tries):
    """Without an event it is tried after five minutes, or after what the flag says; looks are 30 seconds
    apart."""
    found = []
    async with at("1.27") as site:
        loop = asyncio.get_running_loop()
        site.add_node("node-0", cpu="1")
        site.add_pod("big", cpu="8")
        replica = site.start(leader_elect="false", **flags)
        replica.process.on_decision = lambda decision: found.append(loop.time())
        await asyncio.sleep(345.0)
    assert [round(time) for time in found] == tries


@pytest.mark.parametrize("release", ["1.16", "1.27"])
async def test_a_dry_run_writes_nothing(release):
    """A dry run needs no lease, sends only reads, and does not listen unless a flag says so."""
    async with at(release) as site:
        site.add_node("node-0")
        site.add_pod("first")
        hosts = []
        replica = site.start(is_dry=True, v="3")
        replica.process.on_decision = lambda decision: hosts.append(decision.host)
        await asyncio.sleep(5.0)
        assert hosts == ["node-0"]
        assert {request.method for request in replica.transport.requests} == {"GET"}
        assert replica.process.urls == []
        assert not replica.process.engine.asks_later, "a plan is told whole"
        told = ["pod default/first: attempt 1", "pod default/first: would be bound to node-0"]
        assert [text for text in replica.said if text.startswith("pod ")] == told
        before = asyncio.get_running_loop().time()
        await replica.stop()
        assert asyncio.get_running_loop().time() - before < 1.0, "there is nothing to wait for"
        assert replica.process.ending == "nothing was written"
    assert site.hosts == {"first": ""}


def test_the_endpoints_answer():
    """On real sockets: health, readiness and metrics of a process that leads."""

    async def play():
        site = Site("1.16")
        site.add_node("node-0")
        replica = site.start(port="0")
        await replica.stop()
        assert replica.process.urls == []
        free = site.start("b", address="127.0.0.1", port=str(_free_port()))
        async with httpx.AsyncClient(timeout=60) as client:
            while not free.process.urls or not free.process.scheduler.is_running:
                await asyncio.sleep(0.01)
                assert not free.task.done()
            root = free.process.urls[0]
            for path in ("/healthz", "/livez", "/readyz"):
                assert (await client.get(root + path)).text == "ok"
            assert "rest_client_requests_total" in (await client.get(root + "/metrics")).text
            assert (await client.get(root + "/configz")).status_code == 404
        await free.stop()

    asyncio.run(asyncio.wait_for(play(), 60))


def _free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


each_dry = pytest.mark.parametrize("release", ["1.12", "1.15", "1.27", "1.36"])


@each_dry
async def test_a_deleted_pod_gives_its_place_back(release):
    """When a pod goes that would have been bound, another one fits."""
    hosts = []
    async with lived(release) as world:
        world.add_node("node-0", cpu="1")
        world.schedule(dry=True).on_decision = lambda decision: hosts.append(
            (decision.pod.name, decision.host)
        )
        await asyncio.sleep(1.0)
        world.add_pod("first", cpu="600m")
        await asyncio.sleep(1.0)
        world.drop_pod("first")
        await asyncio.sleep(1.0)
        world.add_pod("second", cpu="600m")
        await asyncio.sleep(1.0)
    assert hosts == [("first", "node-0"), ("second", "node-0")]


@pytest.mark.parametrize("node", ["node-1", ""])
@each_dry
async def test_a_pod_that_is_made_again_ends_a_dry_binding(release, node):
    """Where nobody saw the deletion between, the place of the first one is free, too."""
    async with lived(release) as world:
        for number in range(2):
            world.add_node(f"node-{number}", cpu="1")
        state = world.schedule(dry=True).state
        await asyncio.sleep(1.0)
        world.add_pod("p", cpu="1")
        await asyncio.sleep(1.0)
        first = state.pod("default/p")
        form = first.manifest
        metadata = {**form["metadata"], "uid": "another"}
        second = decoded(Pod, {**form, "metadata": metadata, "spec": {**form["spec"], "nodeName": node}})
        state.put(second)
        await asyncio.sleep(1.0)
        assert state.pod("default/p") == second
        assert not state.engine.is_assumed(first)
