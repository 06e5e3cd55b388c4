"""Releases other than the first and 1.27 as processes, also at servers that are newer or older than they
are."""

import asyncio

import pytest
import yaml

from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.apiserver import NEW_SERVER, NEWEST_SERVER, NO_FAULT, OLD_SERVER, refused
from tests.live.scheduler.worlds import at

RELEASES = list(FRAMEWORK_RELEASES)

CLASS = yaml.safe_load("{metadata: {name: gpus}, spec: {}}")
SLICE = yaml.safe_load("""
    metadata: {name: slice}
    spec:
      driver: gpu.example.com
      nodeName: node-1
      pool: {name: node-1, generation: 1, resourceSliceCount: 1}
      devices:
      - {name: gpu-0}
    """)
CLAIM = yaml.safe_load("""
    metadata: {name: c, namespace: default}
    spec:
      devices:
        requests:
        - name: one
          exactly: {deviceClassName: gpus}
    """)


def reasons(site):
    """The reasons of all events."""
    return {event["reason"] for event in site.store.storage.of("events").values()}


@pytest.mark.parametrize("release", RELEASES)
async def test_a_node_comes_and_room_is_made(release):
    """A pod that fits nowhere gets the node that comes later, and an urgent one the place of two others,
    which it was nominated to.

    The node comes with a taint. In 1.22 and 1.23 NodeAffinity does not wait for that to go, so there the pod
    is tried a minute later.
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
        site.user.create("priorityclasses", {"metadata": {"name": "high"}, "value": 10})
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


async def test_a_claim_gets_a_device():
    """In 1.34 a pod waits for its claim; then the claim gets its finalizer, a device and its user, and the
    pod the node of the device."""
    async with at("1.34", NEWEST_SERVER) as site:
        site.add_node("node-0")
        site.add_node("node-1")
        for plural, form in (("deviceclasses", CLASS), ("resourceslices", SLICE)):
            site.user.create(plural, form)
        replica = site.start(leader_elect="false")
        site.add_pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])
        await asyncio.sleep(10.0)
        assert site.hosts == {"p": ""}
        site.user.create("resourceclaims", CLAIM)
        await asyncio.sleep(20.0)
        assert replica.warned == []
    assert site.hosts == {"p": "node-1"}
    claim = site.store.storage.of("resourceclaims")["default", "c"]
    assert claim["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    assert [one["device"] for one in claim["status"]["allocation"]["devices"]["results"]] == ["gpu-0"]
    assert [one["name"] for one in claim["status"]["reservedFor"]] == ["p"]


CLAIM_PATH = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims/c"


@pytest.mark.parametrize("path", [CLAIM_PATH, f"{CLAIM_PATH}/status"])
async def test_a_claim_changes_while_it_is_written(path):
    """After a conflict the claim is read and written again: users whom others added or removed stay so."""
    refusals = [refused(409, "Conflict")]
    users = [{"resource": "pods", "name": name, "uid": name} for name in ("gone", "new")]

    def meanwhile(request):
        if request.method != "PUT" or request.path != path or not refusals:
            return NO_FAULT
        claim = site.store.storage.of("resourceclaims")["default", "c"]
        if users[0] in claim.get("status", {}).get("reservedFor", []):
            status = {**claim["status"], "reservedFor": users[1:]}
            site.user.ask("PUT", f"{CLAIM_PATH}/status", {**claim, "status": status})
            refusals.clear()
            return NO_FAULT
        return refusals.pop()

    async with at("1.34", NEWEST_SERVER) as site:
        devices_at(site, {}, {})
        site.user.create("resourceclaims", CLAIM)
        replica = site.start(leader_elect="false", faults=meanwhile)
        site.add_pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])
        await asyncio.sleep(0.9)
        assert (site.hosts, replica.warned, refusals) == ({"p": "node-1"}, [], [])
        claim = site.store.storage.of("resourceclaims")["default", "c"]
        site.user.ask(
            "PUT", f"{CLAIM_PATH}/status", {**claim, "status": {**claim["status"], "reservedFor": users[:1]}}
        )
        refusals.append(refused(409, "Conflict"))
        await asyncio.sleep(1.0)
        site.add_pod("q", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])
        await asyncio.sleep(0.9)
        assert site.hosts["q"] == "node-1"
    found = site.store.storage.of("resourceclaims")["default", "c"]["status"]["reservedFor"]
    assert [user["name"] for user in found] == (["new", "q"] if path.endswith("status") else ["gone", "q"])


async def test_a_failed_binding_gives_its_claim_back():
    """A pod whose binding is refused is no user of its claim any more."""
    async with at("1.34", NEWEST_SERVER) as site:
        devices_at(site, {}, {})
        site.user.create("resourceclaims", CLAIM)
        site.start(
            leader_elect="false",
            faults=lambda request: refused(403) if request.path.endswith("/p/binding") else NO_FAULT,
        )
        site.add_pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])
        site.add_pod("q")
        await asyncio.sleep(0.5)
        status = site.store.storage.of("resourceclaims")["default", "c"]["status"]
    assert "allocation" in status
    assert "reservedFor" not in status


def devices_at(site, device, spec):
    """Two nodes, of which the second has *device*, and a class with *spec*."""
    for number in (0, 1):
        site.add_node(f"node-{number}")
    listed = {**SLICE, "spec": {**SLICE["spec"], "devices": [{"name": "gpu-0", **device}]}}
    for plural, form in (("deviceclasses", {**CLASS, "spec": spec}), ("resourceslices", listed)):
        site.user.create(plural, form)


async def test_a_claim_is_made_for_an_extended_resource():
    """In 1.36 a pod that asks for a resource which a class gives gets a claim of its own; what the class says
    is for its request."""
    config = {"opaque": {"driver": "gpu.example.com", "parameters": {}}}
    async with at("1.36", NEWEST_SERVER) as site:
        devices_at(site, {}, {"extendedResourceName": "example.com/gpu", "config": [config]})
        replica = site.start(leader_elect="false")
        site.add_pod(
            "p", containers=[{"name": "c", "resources": {"requests": {"cpu": "1", "example.com/gpu": "1"}}}]
        )
        await asyncio.sleep(20.0)
        assert replica.warned == []
    assert site.hosts == {"p": "node-1"}
    ((_, name), claim), *others = site.store.storage.of("resourceclaims").items()
    assert not others
    assert name.startswith("p-extended-resources-")
    assert claim["metadata"]["annotations"] == {"resource.kubernetes.io/extended-resource-claim": "true"}
    assert [one["name"] for one in claim["status"]["reservedFor"]] == ["p"]
    found = claim["status"]["allocation"]["devices"]
    assert [one["device"] for one in found["results"]] == ["gpu-0"]
    assert found["config"] == [{"source": "FromClass", **config, "requests": ["container-0-request-1"]}]
    mapping = {
        "containerName": "c",
        "resourceName": "example.com/gpu",
        "requestName": "container-0-request-1",
    }
    status = site.store.storage.of("pods")["default", "p"]["status"]
    assert status["extendedResourceClaimStatus"] == {"resourceClaimName": name, "requestMappings": [mapping]}


@pytest.mark.parametrize(
    "kind, host, told",
    [
        ("Ready", "node-1", ""),
        ("Broken", "", 'device binding failed: claim=c, reason=Gone, message="it is off"'),
        ("", "", "device binding timeout"),
    ],
)
async def test_a_pod_waits_for_its_device(kind, host, told):
    """In 1.36 a pod is bound once its device is ready; where it fails, or is not ready for ten minutes, the
    pod is tried again."""
    path = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
    async with at("1.36", NEWEST_SERVER) as site:
        devices_at(site, {"bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}, {})
        site.user.create("resourceclaims", CLAIM)
        replica = site.start(leader_elect="false")
        site.add_pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])
        await asyncio.sleep(30.0)
        assert site.hosts == {"p": ""}
        assert reasons(site) == {"BindingConditionsPending"}
        claim = site.store.storage.of("resourceclaims")["default", "c"]
        assert claim["status"]["allocation"]["allocationTimestamp"]
        if kind:
            condition = {"type": kind, "status": "True", "reason": "Gone", "message": "it is off"}
            device = {
                "driver": "gpu.example.com",
                "pool": "node-1",
                "device": "gpu-0",
                "conditions": [condition],
            }
            site.user.ask(
                "PUT", f"{path}/c/status", {**claim, "status": {**claim["status"], "devices": [device]}}
            )
        await asyncio.sleep(20.0 if kind else 620.0)
        assert replica.warned == []
        assert told in "".join(event["message"] for event in site.store.storage.of("events").values())
    assert site.hosts == {"p": host}


async def test_budgets_count():
    """Of two possible victims, the one that no budget protects is evicted: budgets are read in the version
    that the server has."""
    async with at("1.16", NEW_SERVER) as site:
        for number, app in enumerate(("kept", "other")):
            site.add_node(f"node-{number}", cpu="1")
            site.add_pod(app, cpu="1", nodeName=f"node-{number}")
            site.user.patch("pods", app, {"metadata": {"labels": {"app": app}}})
        budget = yaml.safe_load("{spec: {selector: {matchLabels: {app: kept}}, minAvailable: 1}}")
        site.user.create("poddisruptionbudgets", {"metadata": {"name": "b"}, **budget})
        site.start(leader_elect="false")
        site.add_pod("urgent", cpu="1", priority=10)
        await asyncio.sleep(60.0)
        site.drop_pod("other")
        await asyncio.sleep(60.0)
    assert site.hosts == {"kept": "node-0", "urgent": "node-1"}


async def test_a_new_release_beside_an_old_server():
    """1.27 schedules beside a server of 1.15, which lacks a kind that it reads."""
    async with at("1.27", OLD_SERVER) as site:
        site.add_node("node-0")
        site.add_pod("first")
        replica = site.start()
        await asyncio.sleep(5.0)
        assert "csistoragecapacities: the API server has none, so there are none" in replica.warned
    assert site.hosts == {"first": "node-0"}
