"""Bad answers of an API server, or of a proxy before it: none ends an informer, and each is reported in one
line."""

import asyncio
import json
from contextlib import asynccontextmanager

import attrs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.exceptions import KubeclassicError
from kubeclassic.framework.releases import find_any_release
from kubeclassic.live.client import api as api_module
from kubeclassic.live.client import http as http_module
from kubeclassic.live.client.api import (
    NODES,
    OTHER,
    Api,
    ApiError,
    Request,
    Response,
    Stream,
    TransportError,
    error_of,
    read_object,
)
from kubeclassic.live.client.http import Access, HttpTransport
from kubeclassic.live.informers.informers import Reflector, Store, retries_of
from kubeclassic.live.scheduler.election import LeaseLock
from tests.support.examples import examples
from tests.support.followed import Followed
from tests.support.virtualtime import run_virtually

RELEASE = find_any_release("1.27")
GOOD = json.dumps(
    yaml.safe_load("{kind: NodeList, metadata: {resourceVersion: '9'}, items: [{metadata: {name: n}}]}")
).encode()
EXPIRED = b'{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}'
DEEP = b"[" * 100_000
FRAMES = yaml.safe_load(f"""
a code that is text: {{type: ERROR, object: {{kind: Status, code: x}}}}
a code that is an object: {{type: ERROR, object: {{kind: Status, code: {{}}}}}}
a code that is a list: {{type: ERROR, object: {{kind: Status, code: []}}}}
seconds of 400 digits: {{type: ERROR, object: {{kind: Status, code: 410, details: {{retryAfterSeconds: {10**400}}}}}}}
a reason that is an object: {{type: ERROR, object: {{kind: Status, code: 410, reason: {{}}, message: []}}}}
causes that are a number: {{type: ERROR, object: {{kind: Status, code: 410, details: {{causes: 5}}}}}}
a type that is a list: {{type: [], object: {{}}}}
an object that is text: {{type: ADDED, object: x}}
metadata that is a number: {{type: ADDED, object: {{metadata: 5}}}}
a bookmark without a version: {{type: BOOKMARK, object: {{metadata: {{resourceVersion: {{}}}}}}}}
""")
RAW = {
    "a code without an end": b'{"type":"ERROR","object":{"kind":"Status","code":1e400}}',
    "a deep frame": DEEP,
    "half a character": b'{"type":"\xc3',
}
LISTS = {
    "items that are a number": b'{"metadata":{"resourceVersion":"1"},"items":5}',
    "items that are numbers": b'{"metadata":{"resourceVersion":"1"},"items":[5]}',
    "a token that is an object": b'{"metadata":{"continue":{}},"items":[]}',
    "no object": b"5",
    "deep": DEEP,
    "deep inside": b'{"items":[{"metadata":' + DEEP,
}

PLAIN = [None, True, 5, -1, 2**70, 1.5, "", "x", "5", "9999-12-31T23:59:59-23:59"]
KEYS = (
    "name",
    "namespace",
    "continue",
    "resourceVersion",
    "annotations",
    "labels",
    "causes",
    "retryAfterSeconds",
    "holderIdentity",
    "renewTime",
)
NESTED = [{key: value} for key in KEYS for value in (*PLAIN, [], {}, {"x": 5})]
Json = st.sampled_from([*PLAIN, [], {}, *([value] for value in PLAIN), *NESTED])
FIELDS = dict.fromkeys(
    ("kind", "reason", "message", "code", "details", "metadata", "items", "status", "spec"), Json
)
OBJECTS = st.fixed_dictionaries({}, optional=FIELDS)


@attrs.define
class Scripted:
    """A server whose first list is *listed* and whose first watch is *watched*; after that it asks for
    another list, and all is well."""

    listed: bytes = GOOD
    watched: bytes = b""
    status: int = 200
    is_endless: bool = False
    """Each list says that there is more."""
    asked: int = 0
    watches: int = 0

    async def send(self, request):
        """The list."""
        self.asked += 1
        is_first = self.asked == 1 or self.is_endless
        return Response(self.status, self.listed) if is_first else Response(200, GOOD)

    @asynccontextmanager
    async def stream(self, request):
        """The watch."""
        self.watches += 1
        yield Stream(200, {}, _frames({1: self.watched, 2: EXPIRED}.get(self.watches)))


async def _frames(line):
    if line is None:
        await asyncio.Event().wait()
    else:
        yield line


def followed(server):
    """The reports of a reflector of *server*, which has to know the node in the end."""
    reports = []
    seen = Followed()

    async def work():
        store = Store("Node", seen, reports.append)
        api = Api(server, retries_of(RELEASE.client))
        task = asyncio.create_task(
            Reflector(api, NODES, store, RELEASE.client, lambda: 0.5, reports.append).run()
        )
        await asyncio.sleep(300.0)
        assert not task.done()
        task.cancel()

    run_virtually(work(), until=400.0)
    assert seen.names("Node") == {"n"}
    assert all("\n" not in text for text in reports)
    return reports


@pytest.mark.parametrize(
    "frame", [*(json.dumps(frame).encode() for frame in FRAMES.values()), *RAW.values()], ids=[*FRAMES, *RAW]
)
def test_a_frame_of_a_watch(frame):
    """A reflector takes a frame of any shape, and goes on."""
    followed(Scripted(watched=frame))


@pytest.mark.parametrize("body", LISTS.values(), ids=LISTS)
def test_a_list(body):
    """A reflector takes a list of any shape, and goes on."""
    followed(Scripted(listed=body))


@pytest.mark.parametrize("resources", [5, None, {}, [5, {"name": 5}]])
async def test_the_resources_of_a_group(resources):
    """An answer of another shape has no resources that are looked for."""
    server = Scripted(json.dumps({"resources": resources}).encode())
    assert await Api(server).offered("resource.k8s.io/v1") <= {"5"}


@examples(2)
@given(
    listed=OBJECTS,
    watched=st.fixed_dictionaries(
        {"type": st.sampled_from(["ADDED", "ERROR", "DELETED"]), "object": OBJECTS}
    ),
)
def test_any_shape(listed, watched):
    """Any JSON in any place of a list, of a refusal and of a frame."""
    followed(Scripted(listed=json.dumps(listed).encode(), watched=json.dumps(watched).encode()))
    followed(Scripted(listed=json.dumps({"kind": "Status", **listed}).encode(), status=503))


async def test_a_list_without_an_end(monkeypatch):
    """A list that always says that there is more is an error after so many pages."""
    monkeypatch.setattr(api_module, "MOST_PAGES", 7)
    body = b'{"kind":"NodeList","metadata":{"resourceVersion":"1","continue":"x"},"items":[]}'
    server = Scripted(body, is_endless=True)
    with pytest.raises(ApiError, match="got more than 7 pages"):
        await Api(server).list(NODES)
    assert server.asked == 7


@pytest.mark.parametrize("header", ["9" * 400, "²", "-1", "1.5", ""])
def test_a_wait_that_is_no_number(header):
    """A Retry-After that Go would not read is none."""
    assert error_of(Response(503, b"", {"retry-after": header})).retry_after is None


def test_json_that_is_none():
    """NaN, an endless number and text that is no UTF-8 are no objects."""
    assert [
        read_object(body) for body in (b'{"a":NaN}', b'{"a":1e400}', b'{"a":"\xff"}', b"[]", b"", DEEP)
    ] == [None] * 6


# --- over HTTP ----------------------------------------------------------------------------------------------


def answered(answer, ask):
    """The result of *ask*, or the error, at a server that answers every request with these bytes and
    closes."""

    async def talk(reader, writer):
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
        except OSError:
            pass
        writer.close()

    async def work():
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        async with (
            server,
            HttpTransport(
                Access(server=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
            ) as transport,
        ):
            try:
                return await ask(transport)
            except KubeclassicError as error:
                return error

    return asyncio.run(work())


async def _sent(transport):
    return (await transport.send(Request("GET", "/"))).status


async def _lines(transport):
    async with transport.stream(Request("GET", "/")) as stream:
        return [line async for line in stream.lines]


HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"hello\r\n\r\n",
        b"HTTP/1.1 999999 X\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"\x16\x03\x01\x00",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 100_000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\na: " + b"b" * 1_000_000 + b"\r\n\r\n",
    ],
)
def test_bytes_that_are_no_answer(answer):
    """Broken HTTP is a failed connection."""
    assert isinstance(answered(answer, _sent), TransportError)


def test_a_redirect_is_not_followed():
    """Credentials do not go to another place."""
    assert (
        answered(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", _sent)
        == 302
    )


def test_a_frame_that_is_too_long(monkeypatch):
    """A line beyond the limit breaks the watch; one below it does not."""
    monkeypatch.setattr(http_module, "LONGEST_LINE", 100_000)
    assert answered(HEAD + b"x" * 90_000 + b"\n" + b"y" * 90_000, _lines) == [b"x" * 90_000, b"y" * 90_000]
    found = answered(HEAD + b"x" * 400_000, _lines)
    assert isinstance(found, TransportError)
    assert found.cause == OTHER
    assert "a line of more than 100,000 bytes" in str(found)


def test_an_answer_that_is_too_long(monkeypatch):
    """An answer beyond the limit is an error."""
    monkeypatch.setattr(http_module, "LONGEST_ANSWER", 100_000)
    found = answered(HEAD + b"x" * 400_000, _sent)
    assert isinstance(found, TransportError)
    assert "an answer of more than 100,000 bytes" in str(found)


# --- locks --------------------------------------------------------------------------------------------------


@examples(4)
@given(found=OBJECTS, spec=Json)
def test_a_lock_of_any_shape(found, spec):
    """A lock that cannot be read, or written again, is a failed try."""
    for body in (found, {"spec": spec}, {"metadata": spec}):
        server = Scripted(listed=json.dumps(body).encode())
        lock = LeaseLock(server, "kube-system", "kube-scheduler", 5.0)

        async def work(lock=lock):
            try:
                record = await lock.read()
                await lock.update(record)
                lock.reference()
            except ApiError:
                pass

        run_virtually(work())
