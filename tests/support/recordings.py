"""The recorded traffic of the upstream schedulers, and transports that replay it: one in order, one by path
and time."""

import asyncio
import gzip
import json
import re
from contextlib import asynccontextmanager
from functools import cache

import attrs
import pytest

from kubeclassic.live.client.api import Response, Stream, TransportError
from tests.conftest import SHARED

VERSIONS = {"1.15": "1.15.5", "1.27": "1.28.7", "1.28": "1.28.7"}
"""Release -> the version whose recordings stand for it."""
AT_ONCE = 0.05
"""Seconds within which a repeated request comes from the connection, not from the client. Upstream: net/http
repeats GET."""
_TIMES = re.compile(r"(timeout=)\w+|(timeoutSeconds=)\d+")


@attrs.frozen
class Exchange:
    """A client's request with its answer, or a note of the driver (then ``method`` is empty)."""

    t: float
    who: str
    note: str
    method: str = ""
    path: str = ""
    query: str = ""
    headers: dict = attrs.field(factory=dict)
    body: object = None
    status: int = None
    answer: object = None
    end: float = 0.0
    """The time when the answer was complete, or when a watch got an ERROR, at which the client left it."""
    closed_by: str = ""

    def is_repeated(self, other):
        """Whether *other* is the same request, sent again at once."""
        return (self.path, self.query, self.status) == (
            other.path,
            other.query,
            None,
        ) and other.t - self.t < AT_ONCE

    @property
    def response(self):
        """The answer as a transport gives it; raises TransportError where the connection broke."""
        if self.status is None:
            raise TransportError(f"{self.method} {self.path}: the connection broke")
        text = self.answer if isinstance(self.answer, str) else json.dumps(self.answer)
        return Response(self.status, text.encode(), {})


def recorded(release, scenario):
    """The exchanges of a scenario in order. Without the data the test is skipped (or the whole file, at
    import)."""
    if not SHARED.is_dir():
        pytest.skip(
            f"the larger data is absent: no folder {SHARED} (KUBECLASSIC_SHARED names it)",
            allow_module_level=True,
        )
    return _read(VERSIONS[release], scenario)


@cache
def exchanges(version, scenario):
    """The scheduler's requests in a scenario, in order; a request that the connection repeated is there
    once."""
    found = {}
    for exchange in _read(version, scenario):
        same = found.setdefault((exchange.method, exchange.path), [])
        if (
            exchange.who == "kube-scheduler"
            and exchange.method
            and not (same and same[-1].is_repeated(exchange))
        ):
            same.append(exchange)
    return tuple(
        sorted((exchange for same in found.values() for exchange in same), key=lambda exchange: exchange.t)
    )


def _read(version, scenario):
    with gzip.open(SHARED / "recordings" / version / f"{scenario}.jsonl.gz", "rt") as lines:
        return [_exchange(json.loads(line)) for line in lines]


def _exchange(found):
    answer = found.get("response_body")
    query = found.get("query", "")
    events = answer if "watch=true" in query and isinstance(answer, list) else []
    failed = next((one["t"] for one in events if one["event"].get("type") == "ERROR"), None)
    return Exchange(
        found["t"],
        found["who"],
        found.get("note") or "",
        found.get("method", ""),
        found.get("path", ""),
        query,
        found.get("request_headers", {}),
        found.get("request_body"),
        found.get("status"),
        answer,
        failed or found.get("t_end") or found["t"],
        found.get("closed_by") or "",
    )


def without_times(query):
    """*query* without the values of its timeouts, which are random."""
    return _TIMES.sub(lambda found: f"{found[1] or found[2]}N", query)


@attrs.define
class Script:
    """A transport that gives the recorded answers at the recorded times, and compares each request with the
    recorded one."""

    exchanges: list
    masked: object
    """The function that removes from a body the parts that may differ, such as times."""
    done: int = 0

    async def send(self, request):
        """The recorded answer."""
        assert self.done < len(self.exchanges), f"one request too many: {request.method} {request.path}"
        wanted = self.exchanges[self.done]
        self.done += 1
        assert (request.method, request.path, request.query) == (wanted.method, wanted.path, wanted.query)
        body = json.loads(request.body) if request.body else None
        assert self.masked(body) == self.masked(wanted.body)
        assert request.headers.get("content-type") == wanted.headers.get("Content-Type")
        await asyncio.sleep(max(0.0, wanted.end - asyncio.get_running_loop().time()))
        return wanted.response

    def stream(self, request):
        """Fail, as no watch is expected."""
        raise AssertionError(f"expected no watch, got {request}")


@attrs.define
class Player:
    """A transport that answers each request with the next recorded answer for its path, as late as it was
    recorded."""

    recorded: tuple
    asked: dict = attrs.field(factory=dict)
    """Path -> the time and the query of each request."""
    answered: dict = attrs.field(factory=dict)
    """Path -> the time when each answer ended."""

    def _next(self, request):
        asked = self.asked.setdefault(request.path, [])
        asked.append((_now(), request.query))
        same = [exchange for exchange in self.recorded if exchange.path == request.path]
        if len(asked) > len(same):
            raise EndOfRecording
        return same[len(asked) - 1]

    def _last(self, path):
        return [exchange for exchange in self.recorded if exchange.path == path][-1]

    async def send(self, request):
        """The recorded answer, or the recorded failure."""
        try:
            exchange = self._next(request)
        except EndOfRecording:
            return await asyncio.get_running_loop().create_future()
        await asyncio.sleep(exchange.end - exchange.t)
        self.answered.setdefault(request.path, []).append(_now())
        if exchange.status is None and exchange.note.startswith("upstream error"):
            return Response(502, b"", {})
        if exchange.status is None:
            raise TransportError(exchange.note)
        return Response(
            exchange.status, json.dumps(exchange.answer).encode(), {"content-type": "application/json"}
        )

    @asynccontextmanager
    async def stream(self, request):
        """The recorded events, each at its time."""
        try:
            exchange = self._next(request)
        except EndOfRecording:
            yield Stream(200, {}, _silence())
            return
        if not isinstance(exchange.answer, list):
            answer = await self._again(request, exchange)
            yield Stream(answer.status, answer.headers, _line(answer.body))
            return
        try:
            yield Stream(200, {}, self._events(exchange))
        finally:
            self.answered.setdefault(request.path, []).append(_now())

    async def _again(self, request, exchange):
        self.asked[request.path].pop()
        return await self.send(request)

    async def _events(self, exchange):
        begin = _now()
        for event in exchange.answer:
            await asyncio.sleep(max(0.0, begin + event["t"] - exchange.t - _now()))
            yield json.dumps(event["event"]).encode()
        if exchange is self._last(exchange.path):
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(max(0.0, begin + exchange.end - exchange.t - _now()))
        if exchange.closed_by != "server":
            raise TransportError("the watch was cut")


class EndOfRecording(Exception):
    """More requests than were recorded."""


async def _silence():
    await asyncio.get_running_loop().create_future()
    yield b""


async def _line(body):
    yield body


def _now():
    return asyncio.get_running_loop().time()
