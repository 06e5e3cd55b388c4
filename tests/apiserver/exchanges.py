"""The lines of the recordings: exchanges with a real API server, and remarks, in the order in which the server carried them out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from urllib.parse import parse_qsl

import attrs

from .answers import Json, Object


@attrs.frozen
class Exchange:
    """One line of a recording that is a request with its answer."""

    number: int
    start: float
    end: float
    who: str
    method: str
    path: str
    query: str
    request: Json
    headers: Object
    status: int
    reply_headers: Object
    reply: Json
    note: str

    @property
    def counts(self) -> bool:
        """It was asked of the API server, and the answer is that server's own."""
        is_own = self.status is not None and "made up" not in self.note
        return is_own and "->" not in self.who and self.path.startswith("/")

    @property
    def moment(self) -> float:
        """When the server saw it, about: what the proxy held came at the end, and another write was before a conflict."""
        return self.end - 0.001 if "held" in self.note or self.status == 409 else self.start

    @property
    def revision(self) -> int:
        """The revision of the object in the answer, 0 without one."""
        metadata = self.reply.get("metadata") if isinstance(self.reply, dict) and "items" not in self.reply else None
        return int((metadata or {}).get("resourceVersion") or 0)

    @property
    def accept(self) -> str:
        """The formats that are wanted."""
        return str(self.headers.get("accept", ""))

    @property
    def reply_message(self) -> str:
        """The message of a Status in the answer."""
        return str(self.reply.get("message", "")) if isinstance(self.reply, dict) else ""

    @property
    def labels(self) -> Object:
        """The labels of the object in the answer."""
        metadata = self.reply.get("metadata") if isinstance(self.reply, dict) else None
        return (metadata or {}).get("labels") or {}

    @property
    def is_unusual(self) -> bool:
        """It is a write of a kind that the server of the tests does not have."""
        is_whole = self.method == "DELETE" and self.path.endswith(("/pods", "/configmaps", "/nodes"))
        return is_whole or self.path.endswith("/eviction") or "json-patch" in str(self.headers.get("content-type"))

    @property
    def is_watch(self) -> bool:
        """Its answer is a list of events."""
        return isinstance(self.reply, list)


@attrs.frozen
class Remark:
    """One line of a recording that says what the driver does next."""

    moment: float
    text: str


def read(file: Path) -> list[Exchange | Remark]:
    """The remarks of a recording and its exchanges with the API server, in the order in which that carried them out.

    What the proxy made up or broke is left out. Where two ran at the same time, the one with the lower revision was first.
    """
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        lines = [json.loads(line) for line in stream]
    found: list[Exchange | Remark] = []
    for line in sorted(map(_line, lines, range(len(lines))), key=lambda line: line.moment):
        if isinstance(line, Remark) or line.counts:
            found.insert(_place(found, line), line)
    return found


def _line(line: Object, number: int) -> Exchange | Remark:
    if "method" not in line:
        return Remark(line["t"], line.get("note") or "")
    return Exchange(
        number=number,
        start=line["t"],
        end=line.get("t_end") or line["t"],
        who=line["who"],
        method=line["method"],
        path=line["path"],
        query=line["query"] or "",
        request=line["request_body"],
        headers={name.lower(): value for name, value in line["request_headers"].items()},
        status=line["status"],
        reply_headers={name.lower(): value for name, value in (line["response_headers"] or {}).items()},
        reply=line["response_body"],
        note=line.get("note") or "",
    )


def _place(found: list[Exchange | Remark], line: Exchange | Remark) -> int:
    place = len(found)
    if isinstance(line, Exchange) and line.revision:
        while place and _is_later(found[place - 1], line):
            place -= 1
    return place


def _is_later(other: Exchange | Remark, line: Exchange) -> bool:
    """Whether *other* saw what *line* did, or more. Reads come after the write that made their revision."""
    if not isinstance(other, Exchange) or other.end <= line.moment:
        return False
    return (other.revision, other.method == "GET") > (line.revision, line.method == "GET")


def asked(exchange: Exchange) -> dict[str, str]:
    """The query of an exchange."""
    return dict(parse_qsl(exchange.query, keep_blank_values=True))
