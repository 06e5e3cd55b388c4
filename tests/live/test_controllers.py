"""The surroundings of the tests' API server: a transport with faults, and the watcher."""

import json

import attrs
import pytest
import yaml

from kubeclassic.live.client.api import Request, TransportError
from tests.apiserver import (
    NEW_SERVER,
    NO_FAULT,
    OLD_SERVER,
    Fault,
    Refused,
    Store,
    StoreTransport,
    User,
    Watcher,
    node_manifest,
    pod_manifest,
)

POD = yaml.safe_load("{metadata: {name: web}, spec: {containers: [{name: c, image: 'a:1'}]}}")
CREATE = Request("POST", "/api/v1/namespaces/default/pods", body=json.dumps(POD).encode())
TARGET = yaml.safe_load("{metadata: {name: web}, target: {kind: Node, name: n}}")
BIND = Request("POST", "/api/v1/namespaces/default/pods/web/binding", body=json.dumps(TARGET).encode())
WATCH = Request("GET", "/api/v1/pods", "watch=true&resourceVersion=1&timeoutSeconds=30")


def server(fault=NO_FAULT):
    """A server of which each request goes wrong in one way."""
    return StoreTransport(Store(NEW_SERVER), lambda request: fault)


async def types(transport, count):
    """The types of the first *count* events of a watch."""
    found = []
    async with transport.stream(WATCH) as stream:
        async for line in stream.lines:
            found.append(json.loads(line)["type"])
            if len(found) == count:
                return found
    return found


@pytest.mark.parametrize(
    "fault, count",
    [(Fault(is_dropped=True), 0), (Fault(is_lost=True), 1), (Fault(delay=1), 0), (Fault(slow=1), 1)],
)
async def test_an_answer_can_be_missing(fault, count):
    """A request can get lost, or take longer than it may, before the server has carried it out, or after."""
    transport = server(fault)
    with pytest.raises(TransportError):
        await transport.send(attrs.evolve(CREATE, timeout=0.01))
    assert len(transport.store.storage.of("pods")) == count


async def test_a_watch_can_break():
    """A watch can break after some events, and can be too old from the start."""
    transport = server()
    for request in (CREATE, BIND):
        await transport.send(request)
    transport.faults = lambda request: Fault(cut_after=1)
    with pytest.raises(TransportError):
        await types(transport, 2)
    assert await types(server(Fault(is_expired=True)), 1) == ["ERROR"]


@pytest.fixture(params=[OLD_SERVER, NEW_SERVER], ids=lambda flavour: flavour.version)
def user(request):
    """A user of an empty server, of each version."""
    return User(Store(request.param))


def bound_pods(user, *pods, **size):
    """A watcher of one node with these pods on it."""
    watcher = Watcher(user.store.storage)
    user.add_node(node_manifest("node-0", **size))
    for number, pod in enumerate(pods):
        user.create("pods", pod_manifest(f"pod-{number}", **pod))
        user.bind(f"pod-{number}", "node-0")
    return watcher


ROOM = yaml.safe_load("""
- [[{cpu: "1"}, {cpu: "1"}], {cpu: "2"}, null]
- [[{cpu: "1"}, {cpu: 1001m}], {cpu: "2"}, "default/pod-1 on node-0: cpu 2001 of 2000"]
- [[{memory: 1Gi}, {memory: 1Gi}], {memory: 2047Mi}, "default/pod-1 on node-0: memory 2147483648 of 2146435072"]
- [[{}, {}], {pods: "1"}, "default/pod-1 on node-0: pods 2 of 1"]
- [[{host_port: 80}, {host_port: 81}], {}, null]
- [[{host_port: 80}, {host_port: 80}], {}, "default/pod-1 on node-0: a port is taken"]
""")


@pytest.mark.parametrize("pods, size, fault", ROOM)
def test_capacity(user, pods, size, fault):
    """More on a node than it has is found, whatever it is."""
    assert bound_pods(user, *pods, **size).faults == ([] if fault is None else [fault])


def test_a_pod_bound_twice(user):
    """The server refuses a second binding; were it to happen, it would be found."""
    watcher = bound_pods(user, {})
    with pytest.raises(Refused, match="already assigned"):
        user.bind("pod-0", "node-0")
    pod = user.get("pods", "pod-0")
    user.store.storage.put(user.resource("pods"), {**pod, "spec": {**pod["spec"], "nodeName": "other"}})
    assert watcher.bound_twice == ["default/pod-0: on node-0, then on other"]
