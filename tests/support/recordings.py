"""The recorded traffic of real schedulers, as exchanges."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pytest

from kubeclassic.live.client.transport import Request, Response, TransportError
from tests.conftest import SHARED

VERSIONS = {"1.15": "1.15.5", "1.27": "1.28.7", "1.28": "1.28.7"}
"""Release -> the version whose recordings stand for it."""


@attrs.frozen
class Exchange:
    """A request of somebody with its answer, or a remark of the driver (then ``method`` is empty)."""

    t: float
    who: str
    note: str
    method: str = ""
    path: str = ""
    query: str = ""
    headers: Mapping[str, str] = attrs.field(factory=dict)
    body: Any = None
    status: int | None = None
    answer: Any = None
    end: float = 0.0
    """When the answer was there."""
    headers_of_answer: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def response(self) -> Response:
        """The answer as a transport gives it; raises TransportError where the link was broken."""
        if self.status is None:
            raise TransportError(f"{self.method} {self.path}: the connection broke")
        text = self.answer if isinstance(self.answer, str) else json.dumps(self.answer)
        return Response(self.status, text.encode(), {})


def recorded(release: str, scenario: str) -> list[Exchange]:
    """The exchanges of a scenario in order; the test (or the whole file, while it is read) is skipped only where the data is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"the larger data is absent: no folder {SHARED} (KUBECLASSIC_SHARED names it)", allow_module_level=True)
    file = SHARED / "recordings" / VERSIONS[release] / f"{scenario}.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [_exchange(json.loads(line)) for line in lines]


def _exchange(found: Mapping[str, Any]) -> Exchange:
    return Exchange(
        found["t"],
        found["who"],
        found.get("note", ""),
        found.get("method", ""),
        found.get("path", ""),
        found.get("query", ""),
        found.get("request_headers", {}),
        found.get("request_body"),
        found.get("status"),
        found.get("response_body"),
        found.get("t_end", found["t"]),
        found.get("response_headers") or {},
    )


@attrs.define
class Script:
    """A transport that answers as recorded, when it was recorded, and holds each request to the recorded one."""

    exchanges: list[Exchange]
    masked: Callable[[Any], Any]
    """A body without what may differ, such as times."""
    done: int = 0

    async def send(self, request: Request) -> Response:
        """The recorded answer."""
        assert self.done < len(self.exchanges), f"one request too many: {request.method} {request.path}"
        wanted = self.exchanges[self.done]
        self.done += 1
        assert (request.method, request.path, request.query) == (wanted.method, wanted.path, wanted.query)
        body = json.loads(request.body) if request.body else None
        assert self.masked(body) == self.masked(wanted.body)
        assert list(_keys(body)) == list(_keys(wanted.body)), "the order of the fields"
        assert request.body.endswith(b"\n") == (request.method in ("POST", "PUT"))
        assert request.headers.get("Content-Type") == wanted.headers.get("Content-Type")
        await asyncio.sleep(max(0.0, wanted.end - asyncio.get_running_loop().time()))
        return wanted.response

    def stream(self, request: Request) -> Any:
        """Nobody watches here."""
        raise AssertionError(f"got {request}, wanted no watch")


def _keys(body: Any) -> Any:
    """All keys of an object, in order, with those inside it."""
    if isinstance(body, dict):
        for key, value in body.items():
            yield key
            yield from _keys(value)
    if isinstance(body, list):
        for value in body:
            yield from _keys(value)
