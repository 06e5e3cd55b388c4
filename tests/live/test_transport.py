"""The API server of the tests as a transport: answers, watches and faults."""

from __future__ import annotations

import asyncio
import json

import attrs
import pytest

from kubeclassic.live.client.transport import Request, TransportError
from tests.apiserver.resources import NEW_SERVER
from tests.apiserver.store import Store
from tests.apiserver.transport import NO_FAULT, Fault, StoreTransport, refused

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
