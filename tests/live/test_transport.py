"""The API server of the tests as a transport: answers, watches and faults."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from kubeclassic.live.client.transport import Request, TransportError
from tests.apiserver.resources import NEW_SERVER
from tests.apiserver.store import Store
from tests.apiserver.transport import Decide, Fault, StoreTransport, refused

POD = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "image": "a:1"}]}}
CREATE = Request("POST", "/api/v1/namespaces/default/pods", body=json.dumps(POD).encode())
TARGET = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "n"}}
BIND = Request("POST", "/api/v1/namespaces/default/pods/web/binding", body=json.dumps(TARGET).encode())
WATCH = Request("GET", "/api/v1/pods", "watch=true&resourceVersion=1&timeoutSeconds=30")


def run(play: Callable[[StoreTransport], Coroutine[Any, Any, None]], faults: Decide | None = None) -> Store:
    """The store after *play* on it."""
    store = Store(NEW_SERVER)
    asyncio.run(play(StoreTransport(store) if faults is None else StoreTransport(store, faults)))
    return store


async def types(transport: StoreTransport, count: int, request: Request = WATCH) -> list[str]:
    """The types of the first *count* events of a watch."""
    found: list[str] = []
    async with transport.stream(request) as stream:
        async for line in stream.lines:
            found.append(json.loads(line)["type"])
            if len(found) == count:
                return found
    return found


def pods(store: Store) -> list[Any]:
    """The pods that are there."""
    return list(store.storage.of("pods").values())


def test_a_watch_sees_what_happens_while_it_runs() -> None:
    """Events reach a watch that was there before them."""

    async def play(transport: StoreTransport) -> None:
        watching = asyncio.create_task(types(transport, 2))
        await asyncio.sleep(0)
        assert (await transport.send(CREATE)).status == 201
        assert (await transport.send(BIND)).status == 201
        assert await watching == ["ADDED", "MODIFIED"]

    assert run(play).storage.watches["pods"] == []


def test_a_watch_ends_at_its_time() -> None:
    """A watch whose time-out is over ends, with a bookmark before if it is wanted."""

    async def play(transport: StoreTransport) -> None:
        wanted = "watch=true&resourceVersion=7&timeoutSeconds=2.01&allowWatchBookmarks=true"
        assert await types(transport, 9, Request("GET", "/api/v1/pods", "watch=true&timeoutSeconds=0.01")) == []
        assert await types(transport, 1, Request("GET", "/api/v1/pods", wanted)) == ["BOOKMARK"]

    run(play)


@pytest.mark.parametrize(("fault", "count"), [(Fault(is_dropped=True), 0), (Fault(is_lost=True), 1)])
def test_an_answer_can_be_missing(fault: Fault, count: int) -> None:
    """A request can get lost before the server has carried it out, or after."""

    async def play(transport: StoreTransport) -> None:
        with pytest.raises(TransportError):
            await transport.send(CREATE)

    assert len(pods(run(play, lambda request: fault))) == count


@pytest.mark.parametrize(("fault", "count"), [(Fault(delay=1), 0), (Fault(slow=1), 1)])
def test_an_answer_can_be_too_slow(fault: Fault, count: int) -> None:
    """The request's own time-out ends the wait for a slow server or a slow answer."""

    async def play(transport: StoreTransport) -> None:
        with pytest.raises(TransportError, match=r"within 0\.01 s"):
            await transport.send(Request("POST", CREATE.path, body=CREATE.body, timeout=0.01))

    assert len(pods(run(play, lambda request: fault))) == count


def test_an_answer_can_be_made_up() -> None:
    """A fault can be an answer, of which the server knows nothing."""

    async def play(transport: StoreTransport) -> None:
        assert (await transport.send(CREATE)).status == 500

    assert pods(run(play, lambda request: refused(500))) == []


def test_a_watch_can_break() -> None:
    """A watch can break after some events, and can be too old from the start."""

    async def play(transport: StoreTransport) -> None:
        await transport.send(CREATE)
        await transport.send(BIND)
        with pytest.raises(TransportError):
            await types(transport, 2)
        assert await types(transport, 1, Request("GET", "/api/v1/nodes", "watch=true")) == ["ERROR"]

    def decide(request: Request) -> Fault:
        return Fault(is_expired=True) if "nodes" in request.path else Fault(cut_after=1)

    run(play, decide)
