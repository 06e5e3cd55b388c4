"""The recorded traffic of the originals, and a transport that answers as it was recorded."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import attrs

from kubeclassic.live.client.transport import Request, Response, Stream, TransportError
from tests.conftest import SHARED

RECORDINGS = SHARED / "recordings"
AT_ONCE = 0.05
"""Seconds within which a request is repeated by the connection, not by the client. Upstream: net/http does that for GET."""
_TIMES = re.compile(r"(timeout=)\w+|(timeoutSeconds=)\d+")


@attrs.frozen
class Exchange:
    """A recorded request and its answer."""

    begin: float
    end: float
    method: str
    path: str
    query: str
    status: int | None
    body: Any
    closed_by: str
    note: str

    @property
    def is_watch(self) -> bool:
        """Whether the answer goes on."""
        return "watch=true" in self.query

    def is_repeated(self, other: Exchange) -> bool:
        """Whether *other* is the same request, sent again at once."""
        return (self.path, self.query, self.status) == (other.path, other.query, None) and other.begin - self.begin < AT_ONCE


@cache
def exchanges(version: str, scenario: str, who: str = "kube-scheduler") -> tuple[Exchange, ...]:
    """What *who* asked in a scenario, in order; what the connection repeated is there once."""
    found: dict[tuple[str, str], list[Exchange]] = {}
    for exchange in _read(version, scenario, who):
        same = found.setdefault((exchange.method, exchange.path), [])
        if not same or not same[-1].is_repeated(exchange):
            same.append(exchange)
    return tuple(sorted((exchange for same in found.values() for exchange in same), key=lambda exchange: exchange.begin))


def _read(version: str, scenario: str, who: str) -> Iterator[Exchange]:
    with gzip.open(RECORDINGS / version / f"{scenario}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for found in map(json.loads, lines):
            if found.get("who") == who and "method" in found:
                end = _failed_at(found) or found.get("t_end") or found["t"]
                told = found["path"], found["query"], found["status"], found.get("response_body")
                yield Exchange(found["t"], end, found["method"], *told, found.get("closed_by") or "", found.get("note") or "")


def _failed_at(found: dict[str, Any]) -> float | None:
    """When a watch got an ERROR, which is when the client left it."""
    body = found.get("response_body")
    events = body if isinstance(body, list) else []
    return next((event["t"] for event in events if event["event"].get("type") == "ERROR"), None)


def without_times(query: str) -> str:
    """*query* without the values of its time-outs, which are random."""
    return _TIMES.sub(lambda found: f"{found[1] or found[2]}N", query)


@attrs.define
class Player:
    """A transport that answers each request with the next recorded answer for its path, as late as it was recorded."""

    recorded: Sequence[Exchange]
    asked: dict[str, list[tuple[float, str]]] = attrs.field(factory=dict)
    """Path -> when and with which query it was asked."""
    answered: dict[str, list[float]] = attrs.field(factory=dict)
    """Path -> when each answer ended."""

    def _next(self, request: Request) -> Exchange:
        asked = self.asked.setdefault(request.path, [])
        asked.append((_now(), request.query))
        same = [exchange for exchange in self.recorded if exchange.path == request.path]
        if len(asked) > len(same):
            raise EndOfRecording
        return same[len(asked) - 1]

    def _last(self, path: str) -> Exchange:
        return [exchange for exchange in self.recorded if exchange.path == path][-1]

    async def send(self, request: Request) -> Response:
        """The recorded answer, or the recorded failure."""
        try:
            exchange = self._next(request)
        except EndOfRecording:
            return await asyncio.get_running_loop().create_future()
        await asyncio.sleep(exchange.end - exchange.begin)
        self.answered.setdefault(request.path, []).append(_now())
        if exchange.status is None and exchange.note.startswith("upstream error"):
            return Response(502, b"", {})
        if exchange.status is None:
            raise TransportError(exchange.note)
        return Response(exchange.status, json.dumps(exchange.body).encode(), {"content-type": "application/json"})

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """The recorded events, each at its time."""
        try:
            exchange = self._next(request)
        except EndOfRecording:
            yield Stream(200, {}, _silence())
            return
        if not isinstance(exchange.body, list):
            answer = await self._again(request, exchange)
            yield Stream(answer.status, answer.headers, _line(answer.body))
            return
        try:
            yield Stream(200, {}, self._events(exchange))
        finally:
            self.answered.setdefault(request.path, []).append(_now())

    async def _again(self, request: Request, exchange: Exchange) -> Response:
        self.asked[request.path].pop()
        return await self.send(request)

    async def _events(self, exchange: Exchange) -> AsyncIterator[bytes]:
        begin = _now()
        for event in exchange.body:
            await asyncio.sleep(max(0.0, begin + event["t"] - exchange.begin - _now()))
            yield json.dumps(event["event"]).encode()
        if exchange is self._last(exchange.path):
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(max(0.0, begin + exchange.end - exchange.begin - _now()))
        if exchange.closed_by != "server":
            raise TransportError("the watch was cut")


class EndOfRecording(Exception):
    """More was asked than was recorded."""


async def _silence() -> AsyncIterator[bytes]:
    await asyncio.get_running_loop().create_future()
    yield b""


async def _line(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _now() -> float:
    return asyncio.get_running_loop().time()
