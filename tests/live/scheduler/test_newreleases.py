"""What releases apart from the first and 1.27 do as processes, and what they do at servers that are newer or older than they are."""

from __future__ import annotations

import asyncio

import pytest

from kubeclassic.core.queue.backoff import Clock
from kubeclassic.framework.queue.queue import FrameworkQueue
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.questions.simulate import simulate
from kubeclassic.simulation.conform import engine_for
from tests.apiserver.resources import NEW_SERVER, NEWEST_SERVER, OLD_SERVER
from tests.live.scheduler.worlds import Json, Site, at, node_form, pod_form

RELEASES = list(FRAMEWORK_RELEASES)

CLASS = {"metadata": {"name": "gpus"}, "spec": {}}
SLICE = {
    "metadata": {"name": "slice"},
    "spec": {
        "driver": "gpu.example.com", "nodeName": "node-1", "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu-0"}],
    },
}  # fmt: skip
CLAIM = {
    "metadata": {"name": "c", "namespace": "default"},
    "spec": {"devices": {"requests": [{"name": "one", "exactly": {"deviceClassName": "gpus"}}]}},
}


def reasons(site: Site) -> set[str]:
    """The reasons of all events."""
    return {event["reason"] for event in site.store.storage.of("events").values()}


@pytest.mark.parametrize("release", RELEASES)
async def test_a_node_comes_and_room_is_made(release: str) -> None:
    """A pod that fits nowhere gets the node that comes later, and an urgent one the place of two others, which it was nominated to.

    The node comes with a taint. In 1.22 and 1.23 NodeAffinity does not wait for that to go, so there the pod is tried a minute later.
    """
    async with at(release, NEWEST_SERVER) as site:
        site.add_node("node-0", cpu="2")
        site.start(leader_elect="false")
        for name in ("low-a", "low-b"):
            site.add_pod(name, cpu="1")
        site.add_pod("special", cpu="1", nodeSelector={"disk": "fast"})
        await asyncio.sleep(10.0)
        site.add_node("node-1", cpu="1", disk="fast")
        await asyncio.sleep(20.0)
        site.send("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 10})
        site.add_pod("urgent", cpu="2", priorityClassName="high")
        await asyncio.sleep(10.0)
        status = site.store.storage.of("pods")["default", "urgent"]["status"]
        assert status["nominatedNodeName"] == "node-0"
        for name in ("low-a", "low-b"):
            assert "deletionTimestamp" in site.store.storage.of("pods")["default", name]["metadata"]
            site.drop_pod(name)
        await asyncio.sleep(90.0)
    assert site.hosts == {"special": "node-1", "urgent": "node-0"}
    assert {"Scheduled", "FailedScheduling", "Preempted"} <= reasons(site)


@pytest.mark.parametrize("release", RELEASES)
async def test_a_pod_is_moved_by_its_own_update(release: str) -> None:
    """A pod that gets a toleration is tried again."""
    async with at(release, NEWEST_SERVER) as site:
        site.add_node("node-0")
        taints = [{"key": "a", "effect": "NoSchedule"}]
        site.send("PATCH", "/api/v1/nodes/node-0", {"spec": {"taints": taints}}, "application/merge-patch+json")
        site.start(leader_elect="false")
        site.add_pod("p")
        await asyncio.sleep(10.0)
        tolerations = [{"key": "a", "operator": "Exists"}]
        site.send("PATCH", "/api/v1/namespaces/default/pods/p", {"spec": {"tolerations": tolerations}}, "application/merge-patch+json")
        await asyncio.sleep(20.0)
    assert site.hosts == {"p": "node-0"}


@pytest.mark.parametrize("release", RELEASES)
def test_hints_are_on_by_default(release: str) -> None:
    """From 1.32 on hints count, and from 1.33 on pods are popped early."""
    found = engine_for(release, {})
    queue = found.flow.queue(Clock())
    assert isinstance(queue, FrameworkQueue)
    assert (queue.gives_hints, queue.pops_early) == (release in RELEASES[-3:], release in RELEASES[-2:])


async def test_a_claim_gets_a_device() -> None:
    """In 1.34 a pod waits for its claim; then the claim gets its finalizer, a device and its user, and the pod the node of the device."""
    name = "resource.k8s.io"
    async with at("1.34", NEWEST_SERVER) as site:
        site.add_node("node-0")
        site.add_node("node-1")
        for plural, form in (("deviceclasses", CLASS), ("resourceslices", SLICE)):
            assert site.send("POST", f"/apis/{name}/v1/{plural}", form).status == 201
        replica = site.start(leader_elect="false")
        site.add_pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])
        await asyncio.sleep(10.0)
        assert site.hosts == {"p": ""}
        assert site.send("POST", f"/apis/{name}/v1/namespaces/default/resourceclaims", CLAIM).status == 201
        await asyncio.sleep(20.0)
        assert replica.warned == []
    assert site.hosts == {"p": "node-1"}
    claim = site.store.storage.of("resourceclaims")["default", "c"]
    assert claim["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    assert [one["device"] for one in claim["status"]["allocation"]["devices"]["results"]] == ["gpu-0"]
    assert [one["name"] for one in claim["status"]["reservedFor"]] == ["p"]


SIZES = ("300m", "1", "700m", "500m", "1", "200m")


@pytest.mark.parametrize("release", RELEASES)
async def test_live_and_simulated(release: str) -> None:
    """A live scheduler places the pods that wait at its start as a simulation of the same objects does, and leaves the same one out."""
    wanted = [f"p{number}" for number in range(len(SIZES))]
    async with at(release, NEWEST_SERVER) as site:
        for number in range(2):
            site.add_node(f"node-{number}", cpu="1500m", zone=f"z{number}")
        for name, cpu in zip(wanted, SIZES, strict=True):
            site.add_pod(name, cpu=cpu)
        site.add_pod("far", cpu="100m", nodeSelector={"zone": "z9"})
        site.start(leader_elect="false")
        await asyncio.sleep(30.0)
    live = site.hosts
    nodes = [{"apiVersion": "v1", "kind": "Node", **node_form(f"node-{number}", cpu="1500m", zone=f"z{number}")} for number in range(2)]
    pods = [{"apiVersion": "v1", "kind": "Pod", **pod_form(name, cpu=cpu)} for name, cpu in zip(wanted, SIZES, strict=True)]
    far = {"apiVersion": "v1", "kind": "Pod", **pod_form("far", nodeSelector={"zone": "z9"})}
    found = simulate([*nodes, *pods, far], scheduler=release)
    assert {f"default/{name}": host or None for name, host in live.items()} == found.hosts


def test_what_clients_list() -> None:
    """Namespaces are listed from 1.22 on, CSIDrivers from 1.21 on, and disruption budgets by their last version from 1.21 on."""
    found = {release: FRAMEWORK_RELEASES[release].client.resources for release in ("1.20", "1.21", "1.22", "1.24")}
    assert ["Namespace" in found[release] for release in found] == [False, False, True, True]
    assert ["CSIDriver" in found[release] for release in found] == [False, True, True, True]
    assert [found[release]["PodDisruptionBudget"] for release in found] == ["policy/v1beta1", *3 * ["policy/v1"]]
    assert found["1.22"]["CSIStorageCapacity"] == "storage.k8s.io/v1beta1"


def budget(name: str, app: str) -> Json:
    """A budget that lets no pod of an app go."""
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"selector": {"matchLabels": {"app": app}}, "minAvailable": 1}}


@pytest.mark.parametrize("release", ["1.12", "1.13", "1.14", "1.15", "1.16"])
async def test_it_leads_and_binds(release: str) -> None:
    """It elects a leader, binds, and tells of it by events of core/v1, as the original does where its own group for events is gone."""
    async with at(release, NEW_SERVER) as site:
        site.add_node("node-0")
        site.add_pod("first")
        replica = site.start()
        await asyncio.sleep(5.0)
        assert replica.process.elector is not None
        assert "poddisruptionbudgets: the API server has no policy/v1beta1, so policy/v1 is read" in replica.warned
        assert all("so storage.k8s.io/v1 is read" in line or "policy" in line for line in replica.warned)
        await replica.stop()
    assert site.hosts == {"first": "node-0"}
    assert "Scheduled" in {event["reason"] for event in site.store.storage.of("events").values()}


async def test_budgets_count() -> None:
    """Of two victims that would do, the one that no budget protects goes: budgets are read in the version that the server has."""
    async with at("1.16", NEW_SERVER) as site:
        for number, app in enumerate(("kept", "other")):
            site.add_node(f"node-{number}", cpu="1")
            site.add_pod(app, cpu="1", nodeName=f"node-{number}")
            labels = {"metadata": {"labels": {"app": app}}}
            site.send("PATCH", f"/api/v1/namespaces/default/pods/{app}", labels, "application/merge-patch+json")
        assert site.send("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget("b", "kept")).status == 201
        site.start(leader_elect="false")
        site.add_pod("urgent", cpu="1", priority=10)
        await asyncio.sleep(60.0)
        site.drop_pod("other")
        await asyncio.sleep(60.0)
    assert site.hosts == {"kept": "node-0", "urgent": "node-1"}


async def test_a_new_release_beside_an_old_server() -> None:
    """1.27 schedules beside a server of 1.15, which lacks a kind that it reads."""
    async with at("1.27", OLD_SERVER) as site:
        site.add_node("node-0")
        site.add_pod("first")
        replica = site.start()
        await asyncio.sleep(5.0)
        assert "csistoragecapacities: the API server has none, so there are none" in replica.warned
    assert site.hosts == {"first": "node-0"}
