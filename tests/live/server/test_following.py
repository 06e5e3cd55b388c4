"""A server whose cluster follows an API server: what it decides there, and bindings that it writes."""

import asyncio
from contextlib import asynccontextmanager

import attrs
import httpx
import pytest

from kubeclassic.live.server.app import ExtenderApp, ServedCluster
from kubeclassic.simulation.conform import engine_for
from tests.apiserver import (
    NEW_SERVER,
    NEWEST_SERVER,
    NO_FAULT,
    OLD_SERVER,
    Fault,
    Store,
    StoreTransport,
    User,
)
from tests.support.logs import log_to
from tests.support.serverbuild import node_json, pod_json

EVERYTHING = [{"operator": "Exists"}]
"""A new node has a taint until it is ready."""
SERVERS = [
    (NEWEST_SERVER, "1.36"),
    (NEW_SERVER, "1.27"),
    (NEW_SERVER, "1.16"),
    (NEW_SERVER, "1.12"),
    (OLD_SERVER, "1.15"),
    (OLD_SERVER, "1.16"),
]


@attrs.define
class There:
    """A server, the API server that it follows, and what it said."""

    transport: StoreTransport
    app: ExtenderApp
    client: object
    said: list

    @property
    def user(self):
        """A user of the API server."""
        return User(self.transport.store)

    def create(self, *manifests):
        """Create nodes and pods."""
        for manifest in manifests:
            self.user.create("pods" if "containers" in manifest["spec"] else "nodes", manifest)

    async def ask(self, verb, body):
        """The server's answer."""
        found = await self.client.post(f"/{verb}", json=body)
        assert found.status_code == 200, found.text
        return found.json()

    async def until(self, is_so):
        """Wait until something is so in the server."""
        async with asyncio.timeout(60):
            while not is_so():
                await asyncio.sleep(0.005)

    def news(self):
        """The server's messages about the API server."""
        return [line for line in self.said if line.startswith("the API server ")]

    @property
    def pods(self):
        """The UIDs of the server's pods."""
        return [pod.uid for pod in self.app.cluster.router.pods.values()]


@asynccontextmanager
async def following(flavour, release, faults=lambda request: NO_FAULT):
    """A server of *release* beside an API server of version *flavour*."""
    transport = StoreTransport(Store(flavour), faults, records=True)
    said = []
    app = ExtenderApp(cluster=ServedCluster(engine_for(release, {})), is_ready=False, log=log_to(said))
    task = asyncio.create_task(app.follow(transport))
    asgi = httpx.ASGITransport(app=app.gate)  # type: ignore[arg-type]  # httpx has types of its own
    async with httpx.AsyncClient(transport=asgi, base_url="http://localhost") as client:
        try:
            yield There(transport, app, client, said)
        finally:
            task.cancel()
            await asyncio.wait([task])
            app.worker.close()


@pytest.mark.parametrize("flavour, release", SERVERS, ids=lambda value: getattr(value, "version", value))
def test_it_follows(flavour, release):
    """Nodes and pods that come, change and go count, also where the API server is of another time than the
    release."""

    async def work():
        async with following(flavour, release) as there:
            await there.until(lambda: there.app.is_ready)
            there.create(node_json("a"), node_json("b"), pod_json("p", cpu="3", on="a"))
            await there.until(lambda: there.app.cluster.engine.node_count == 2 and len(there.pods) == 1)
            ask = {"Pod": pod_json("x", cpu="2", tolerations=EVERYTHING), "NodeNames": ["a", "b"]}
            assert (await there.ask("filter", ask))["NodeNames"] == ["b"]
            there.user.delete("pods", "p", grace=0)
            await there.until(lambda: not there.pods)
            assert (await there.ask("filter", ask))["NodeNames"] == ["a", "b"]
            assert bool(there.said) == (flavour.version.startswith("1.28") and release in ("1.12", "1.16"))
            assert all("the API server has no" in line for line in there.said)

    asyncio.run(work())


def test_bindings_are_written():
    """A bind call becomes a binding at the API server, and counts at once; a second one is the API server's
    refusal."""

    async def work():
        async with following(NEW_SERVER, "1.16") as there:
            there.create(
                node_json("a"), {**pod_json("p", cpu="3"), "metadata": {"name": "p", "namespace": "default"}}
            )
            await there.until(lambda: there.app.is_ready and len(there.pods) == 1)
            uid = there.pods[0]
            wanted = {"PodName": "p", "PodNamespace": "default", "PodUID": uid, "Node": "a"}
            ask = {"Pod": pod_json("x", cpu="2", tolerations=EVERYTHING), "NodeNames": ["a"]}
            assert (await there.ask("filter", ask))["NodeNames"] == ["a"]
            assert await there.ask("bind", wanted) == {"Error": ""}
            assert there.user.get("pods", "p")["spec"]["nodeName"] == "a"
            assert (await there.ask("filter", ask))["NodeNames"] == []
            again = (await there.ask("bind", wanted))["Error"]
            assert (
                again
                == 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "a"'
            )

    asyncio.run(work())


def test_an_api_server_that_goes_away(monkeypatch):
    """From the first request that fails until lists and watches work again the server knows for how long that
    is, and says so."""
    is_away = False
    for name, seconds in (("TOLERATED", 0.2), ("LOOK", 0.01)):
        monkeypatch.setattr(f"kubeclassic.live.server.app.{name}", seconds)

    def faults(request):
        return (
            Fault(is_dropped=True)
            if is_away
            else Fault(cut_after=0)
            if request.path == "/api/v1/nodes"
            else NO_FAULT
        )

    async def work():
        nonlocal is_away
        async with following(NEW_SERVER, "1.27", faults) as there:
            await there.until(lambda: there.app.is_ready)
            assert there.app.seconds_behind == 0
            is_away = True
            there.user.create("nodes", node_json("a"))
            await there.until(lambda: bool(there.news()))
            is_away = False
            await there.until(lambda: len(there.news()) == 2)
            assert there.app.seconds_behind == 0
            assert (
                there.news()[0]
                == "the API server has not answered for 0 s: answers say so, and /readyz fails"
            )
            assert there.news()[1].startswith("the API server answers again, after ")

    asyncio.run(work())


@pytest.mark.whole
def test_as_a_program(tmp_path):
    """`kubeclassic serve --kubeconfig` says that it listens once it knows the cluster."""
    from tests.apiserver import serving_store
    from tests.live.server.test_serving import serving_program
    from tests.support.kubeconfigs import kubeconfig

    store = Store(NEW_SERVER)
    User(store).create("nodes", node_json("a"))
    with serving_store(store) as address:
        path = kubeconfig(tmp_path, {"server": address})
        with serving_program("--kubeconfig", str(path), "--context", "there", "--release", "1.14") as server:
            answer = httpx.post(
                f"{server.url}/filter",
                json={"Pod": pod_json("x", tolerations=EVERYTHING), "NodeNames": ["a"]},
            )
            assert answer.json()["NodeNames"] == ["a"]
            assert server.stop()[0] == 0
