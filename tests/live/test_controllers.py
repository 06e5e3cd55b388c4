"""What is around the API server of the tests: a transport with faults, kubelets, volumes, the watcher, and the server over HTTP."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import attrs
import httpx
import pytest

from kubeclassic.live.client.transport import Request, TransportError
from tests.apiserver.app import make_app, serving
from tests.apiserver.cluster import SELECTED, Kubelets, Refused, User, Volumes, node_manifest, pod_manifest
from tests.apiserver.resources import NEW_SERVER, OLD_SERVER
from tests.apiserver.store import Store
from tests.apiserver.transport import NO_FAULT, Fault, StoreTransport, refused
from tests.apiserver.watcher import Watcher, amount

POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "image": "a:1"}]}}
CREATE = Request("POST", "/api/v1/namespaces/default/pods", body=json.dumps(POD).encode())
TARGET = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "n"}}
BIND = Request("POST", "/api/v1/namespaces/default/pods/web/binding", body=json.dumps(TARGET).encode())
WATCH = Request("GET", "/api/v1/pods", "watch=true&resourceVersion=1&timeoutSeconds=30")


def server(fault: Fault = NO_FAULT) -> StoreTransport:
    """A server of which each request goes wrong in one way."""
    return StoreTransport(Store(NEW_SERVER), lambda request: fault)


async def types(transport: StoreTransport, count: int, request: Request = WATCH) -> list[str]:
    """The types of the first *count* events of a watch."""
    found: list[str] = []
    async with transport.stream(request) as stream:
        async for line in stream.lines:
            found.append(json.loads(line)["type"])
            if len(found) == count:
                return found
    return found


async def test_a_watch_sees_what_happens_while_it_runs() -> None:
    """Events reach a watch that was there before them."""
    transport = server()
    watching = asyncio.create_task(types(transport, 2))
    await asyncio.sleep(0)
    assert [(await transport.send(request)).status for request in (CREATE, BIND)] == [201, 201]
    assert await watching == ["ADDED", "MODIFIED"]
    assert transport.store.storage.watches["pods"] == []


async def test_a_watch_ends_at_its_time() -> None:
    """A watch whose time-out is over ends, with a bookmark before if it is wanted."""
    wanted = "watch=true&resourceVersion=7&timeoutSeconds=2.01&allowWatchBookmarks=true"
    assert await types(server(), 9, Request("GET", "/api/v1/pods", "watch=true&timeoutSeconds=0.01")) == []
    assert await types(server(), 1, Request("GET", "/api/v1/pods", wanted)) == ["BOOKMARK"]


@pytest.mark.parametrize(
    ("fault", "count"), [(Fault(is_dropped=True), 0), (Fault(is_lost=True), 1), (Fault(delay=1), 0), (Fault(slow=1), 1)]
)
async def test_an_answer_can_be_missing(fault: Fault, count: int) -> None:
    """A request can get lost, or take longer than it may, before the server has carried it out, or after."""
    transport = server(fault)
    with pytest.raises(TransportError):
        await transport.send(attrs.evolve(CREATE, timeout=0.01))
    assert len(transport.store.storage.of("pods")) == count


async def test_an_answer_can_be_made_up() -> None:
    """A fault can be an answer, of which the server knows nothing."""
    transport = server(refused(500))
    assert (await transport.send(CREATE)).status == 500
    assert not transport.store.storage.of("pods")


async def test_a_watch_can_break() -> None:
    """A watch can break after some events, and can be too old from the start."""
    transport = server()
    for request in (CREATE, BIND):
        await transport.send(request)
    transport.faults = lambda request: Fault(cut_after=1)
    with pytest.raises(TransportError):
        await types(transport, 2)
    assert await types(server(Fault(is_expired=True)), 1) == ["ERROR"]


CLASS = {"metadata": {"name": "slow"}, "provisioner": "example.com/prov", "volumeBindingMode": "WaitForFirstConsumer"}
CLAIM = {
    "metadata": {"name": "claim"},
    "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "slow", "resources": {"requests": {"storage": "1Gi"}}},
}


@pytest.fixture(params=[OLD_SERVER, NEW_SERVER], ids=lambda flavour: flavour.version)
def user(request: pytest.FixtureRequest) -> User:
    """A user of an empty server, of each version."""
    return User(Store(request.param))


class TestKubelets:
    def test_they_run_and_end_pods(self, user: User) -> None:
        """A pod runs when it is bound, and not before; one that is being deleted goes, and frees its place."""
        kubelets, watcher = Kubelets(user), Watcher(user.store.storage)
        user.add_nodes(1, cpu="100m")
        user.add_pods(2)
        user.bind("pod-0", "node-0")
        kubelets.settle()
        assert [pod["status"]["phase"] for pod in user.all("pods")] == ["Running", "Pending"]
        user.delete("pods", "pod-0")
        assert "deletionTimestamp" in user.get("pods", "pod-0")["metadata"]
        kubelets.settle()
        user.bind("pod-1", "node-0")
        assert [pod["metadata"]["name"] for pod in user.all("pods")] == ["pod-1"]
        assert watcher.faults == []

    async def test_they_run_by_themselves(self, user: User) -> None:
        """On an event loop they act as things happen, after a restart of the server too."""
        task = asyncio.create_task(Kubelets(user).run())
        for number in range(2):
            user.add_pods(1, prefix=f"pod-{number}-")
            user.bind(f"pod-{number}-0", "node-0")
            await asyncio.sleep(1.0)
            assert user.get("pods", f"pod-{number}-0")["status"].get("phase") == "Running"
            user.store.storage.restart()
        task.cancel()


class TestVolumes:
    def test_a_volume_is_bound_to_its_claim(self, user: User) -> None:
        """A free volume is available; the one with a claim is bound, and so is the claim."""
        volumes = Volumes(user)
        spec = {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "slow", "local": {"path": "/mnt"}}
        user.create("persistentvolumes", {"metadata": {"name": "pv"}, "spec": spec})
        uid = user.create("persistentvolumeclaims", CLAIM)["metadata"]["uid"]
        volumes.settle()
        assert user.get("persistentvolumes", "pv")["status"]["phase"] == "Available"
        claim = {"namespace": "default", "name": "claim", "uid": uid}
        user.patch("persistentvolumes", "pv", {"spec": {"claimRef": claim}})
        volumes.settle()
        bound = user.get("persistentvolumeclaims", "claim")
        assert (bound["spec"]["volumeName"], bound["status"]["phase"]) == ("pv", "Bound")

    def test_a_volume_is_made(self, user: User) -> None:
        """A claim with a node gets a volume there, if its class has a provisioner."""
        volumes = Volumes(user)
        user.create("storageclasses", CLASS)
        user.create("persistentvolumeclaims", CLAIM)
        volumes.settle()
        assert user.all("persistentvolumes") == []
        user.patch("persistentvolumeclaims", "claim", {"metadata": {"annotations": {SELECTED: "node-0"}}})
        volumes.settle()
        assert user.get("persistentvolumeclaims", "claim")["status"]["phase"] == "Bound"

    def test_a_volume_cannot_be_made(self, user: User) -> None:
        """Where provisioning fails the claim loses its node, and there is no volume."""
        volumes = Volumes(user, fails=lambda claim: True)
        user.create("storageclasses", CLASS)
        user.create("persistentvolumeclaims", {**CLAIM, "metadata": {"name": "claim", "annotations": {SELECTED: "node-0"}}})
        volumes.settle()
        assert SELECTED not in user.get("persistentvolumeclaims", "claim")["metadata"].get("annotations", {})
        assert user.all("persistentvolumes") == []


def bound_pods(user: User, *pods: dict[str, Any], **size: str) -> Watcher:
    """A watcher of one node with these pods on it."""
    watcher = Watcher(user.store.storage)
    user.add_nodes(1, **size)
    for number, pod in enumerate(pods):
        user.create("pods", pod_manifest(f"pod-{number}", **pod))
        user.bind(f"pod-{number}", "node-0")
    return watcher


class TestWatcher:
    @pytest.mark.parametrize(
        ("pods", "size", "fault"),
        [
            ([{"cpu": "1"}, {"cpu": "1"}], {"cpu": "2"}, None),
            ([{"cpu": "1"}, {"cpu": "1001m"}], {"cpu": "2"}, "default/pod-1 on node-0: cpu 2001 of 2000"),
            ([{"memory": "1Gi"}, {"memory": "1Gi"}], {"memory": "2047Mi"}, "default/pod-1 on node-0: memory 2147483648 of 2146435072"),
            ([{}, {}], {"pods": "1"}, "default/pod-1 on node-0: pods 2 of 1"),
            ([{"host_port": 80}, {"host_port": 81}], {}, None),
            ([{"host_port": 80}, {"host_port": 80}], {}, "default/pod-1 on node-0: a port is taken"),
        ],
    )
    def test_capacity(self, user: User, pods: list[Any], size: dict[str, str], fault: str | None) -> None:
        """More on a node than it has is found, whatever it is."""
        assert bound_pods(user, *pods, **size).faults == ([] if fault is None else [fault])

    def test_an_extended_resource(self, user: User) -> None:
        """A resource that the node does not have is exceeded by the first pod."""
        watcher = bound_pods(user)
        pod = pod_manifest("gpu")
        pod["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1"
        user.create("pods", pod)
        user.bind("gpu", "node-0")
        assert watcher.faults == ["default/gpu on node-0: example.com/gpu 1 of 0"]

    def test_a_pod_that_is_over_takes_nothing(self, user: User) -> None:
        """What a finished pod took is free."""
        watcher = bound_pods(user, {"cpu": "2"}, cpu="2")
        user.patch("pods", "pod-0", {"status": {"phase": "Succeeded"}}, part="status")
        user.create("pods", pod_manifest("next", cpu="2"))
        user.bind("next", "node-0")
        assert watcher.faults == []
        assert watcher.bound == 2

    def test_a_pod_bound_twice(self, user: User) -> None:
        """The server refuses a second binding; were it to happen, it would be found."""
        watcher = bound_pods(user, {})
        with pytest.raises(Refused, match="already assigned"):
            user.bind("pod-0", "node-0")
        pod = user.get("pods", "pod-0")
        user.store.storage.put(user.resource("pods"), {**pod, "spec": {**pod["spec"], "nodeName": "other"}})
        assert watcher.bound_twice == ["default/pod-0: on node-0, then on other"]

    def test_who_waits_and_who_went(self, user: User) -> None:
        """Pods without a node wait, or went without having had one."""
        watcher = bound_pods(user, {})
        user.add_pods(2, prefix="late-")
        user.delete("pods", "late-0")
        user.bind("late-1", "nowhere")
        user.add_pods(1, prefix="last-")
        assert watcher.waiting() == ["default/last-0"]
        assert watcher.deleted == ["default/late-0"]
        assert watcher.homeless == ["default/late-1 on nowhere"]

    @pytest.mark.parametrize(
        ("text", "scale", "wanted"),
        [("1", 1000, 1000), ("100m", 1000, 100), ("1.5", 1000, 1500), ("0.1m", 1000, 1), ("2Ki", 1, 2048), ("1e3", 1, 1000)],
    )
    def test_amounts(self, text: str, scale: int, wanted: int) -> None:
        """Quantities are whole numbers, rounded up."""
        assert amount(text, scale) == wanted


def test_the_server_over_http(user: User) -> None:
    """Requests, their headers, errors and streams go over the wire as they are, and so do faults."""

    def decide(request: Any) -> Fault:
        return Fault(cut_after=1) if "watch" in request.query else refused(429) if request.path == "/api/v1/pods" else NO_FAULT

    with serving(make_app(StoreTransport(user.store, decide))) as address, httpx.Client(base_url=address, timeout=60) as client:
        assert client.get("/healthz").text == "ok"
        assert [client.post("/api/v1/nodes", json=node_manifest(name)).status_code for name in ("n", "o")] == [201, 201]
        assert client.get("/api/v1/nodes", params={"limit": "1"}).json()["items"][0]["metadata"]["name"] == "n"
        assert client.get("/api/v1/nodes/other").json()["reason"] == "NotFound"
        assert client.get("/api/v1/nodes", params={"resourceVersion": "999"}).headers["retry-after"] == "1"
        assert (client.options("/api/v1/nodes").status_code, client.get("/api/v1/pods").status_code) == (405, 429)
        with client.stream("GET", "/api/v1/nodes", params={"watch": "true"}) as reply:
            lines = reply.iter_lines()
            assert json.loads(next(lines))["type"] == "ADDED"
            with pytest.raises(httpx.RemoteProtocolError):
                next(lines)
    assert user.store.storage.watches["nodes"] == []
