"""Recorded requests in the order in which the server carried them out, fed to a store, and how its answers differ."""

from __future__ import annotations

import base64
import gzip
import json
import re
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import parse_qsl

import attrs

from .answers import Answer, Json, Object, too_many_requests
from .resources import FLAVOURS
from .storage import Storage, Watch
from .store import Store


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


TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TOO_OLD = re.compile(r"too old resource version: (\d+) \((\d+)\)")
USER = re.compile(r'User "([^"]+)"')
RESTARTS = ("(before the restart)", "link up again", "API server is back")
"""Remarks after a restart of the API server."""
DIFF = "\n\u00a0"
"""Here begins a text of the difference between two specs, made by a library of Go; it is not compared."""
NAMED = ("clusterIP",)
"""Fields whose values the server chooses, besides UIDs, revisions and generated names."""


@attrs.define
class Replay:
    """A store, and which of its UIDs and revisions stand for the recorded ones."""

    version: str
    store: Store = attrs.field(init=False)
    ours: dict[str, str] = attrs.field(factory=dict)
    """Recorded UID, token or name -> ours."""
    revisions: dict[str, str] = attrs.field(factory=dict)
    """Recorded revision -> ours."""
    recorded: dict[str, str] = attrs.field(factory=dict)
    """Our revision -> the recorded one."""
    begin: str = ""
    """When the recording began."""
    seen: set[tuple[str, str, str]] = attrs.field(factory=set)
    """Plural and key of the objects from before that were stored, so that those which are deleted do not come back."""
    watches: list[tuple[Exchange, Watch]] = attrs.field(factory=list)
    """The watches that were begun."""

    def __attrs_post_init__(self) -> None:
        self.store = Store(FLAVOURS[self.version], Storage(history=1_000_000), users={"admin": "admin"})

    # --- our side ---------------------------------------------------------------------------------------------------

    def answer(self, exchange: Exchange) -> Answer:
        """Our answer to a recorded request."""
        self._end_watches(exchange.start)
        if exchange.status == 429 and isinstance(exchange.reply, str):
            return too_many_requests()
        self._meet(exchange)
        self._catch_up(exchange)
        request = exchange.request
        body = b"" if request is None else (request if isinstance(request, str) else json.dumps(request)).encode()
        query = self._translated(exchange.query)
        answer = self.store.handle(
            exchange.method, self._translated(exchange.path), query, self._translated(body.decode()).encode(), self._headers(exchange)
        )
        if answer.watch is not None:
            self.watches.append((exchange, answer.watch))
        return answer

    def heed(self, remark: Remark) -> None:
        """Do what a remark says has been done to the server, if anything."""
        if any(text in remark.text for text in RESTARTS):
            self.store.storage.restart()
        if "etcd compacted" in remark.text and "link up" not in remark.text:
            self.store.storage.compact()

    def _end_watches(self, moment: float) -> None:
        """End the watches that had ended by then."""
        for exchange, watch in self.watches:
            if exchange.end <= moment:
                watch.leave()

    def _headers(self, exchange: Exchange) -> dict[str, str]:
        headers = dict(exchange.headers)
        if exchange.who != "anon":
            user = "admin"
            if found := USER.search(exchange.reply_message):
                user = found[1]
            headers["authorization"] = "Bearer " + ("wrong" if exchange.status == 401 else user)
            self.store.users = {"admin": "admin", user: user}
        self.store.permits = lambda *asked: not USER.search(exchange.reply_message)
        return headers

    def _catch_up(self, exchange: Exchange) -> None:
        """Others wrote to the recorded server as well, so its revision may be ahead of ours."""
        reply = exchange.reply
        if not isinstance(reply, dict) or not isinstance(reply.get("metadata"), dict):
            return
        version = reply["metadata"].get("resourceVersion") or "0"
        is_write = exchange.method in ("POST", "PUT", "PATCH", "DELETE")
        if is_write or "items" in reply:
            wanted = int(version) - (2 if self._is_removal(exchange) else is_write)
            if wanted > self.store.storage.revision and (not is_write or not self._is_known(reply)):
                self.store.storage.revision = wanted

    def _is_removal(self, exchange: Exchange) -> bool:
        """Whether an answer has the revision of a removal, which was the second write of its request."""
        metadata = exchange.reply["metadata"]
        is_gone = metadata.get("deletionGracePeriodSeconds") == 0 and not metadata.get("finalizers")
        return self.store.flavour.shows_removal and exchange.method == "DELETE" and is_gone

    def _meet(self, exchange: Exchange) -> None:
        """Store the objects that were there before the recording began, as an answer shows them."""
        self.begin = self.begin or parsedate_to_datetime(exchange.reply_headers["date"]).strftime("%Y-%m-%dT%H:%M:%SZ")
        reply = exchange.reply
        if isinstance(reply, dict) and isinstance(reply.get("items"), list):
            kind = {"kind": reply["kind"].removesuffix("List"), "apiVersion": reply["apiVersion"]}
            found = [{**item, **kind} for item in reply["items"]]
        elif exchange.is_watch:
            found = [each["event"]["object"] for each in exchange.reply if each["event"]["type"] in ("ADDED", "MODIFIED")]
        else:
            found = [reply] if isinstance(reply, dict) and exchange.status == 200 else []
        for item in found:
            self._store_old(item)

    def _store_old(self, item: Object) -> None:
        metadata = item.get("metadata") or {}
        named = (item.get("kind"), item.get("apiVersion"))
        resource = next((each for each in self.store.flavour.resources if (each.kind, each.api_version) == named), None)
        if resource is None or metadata.get("creationTimestamp", "") in ("", None) or metadata["creationTimestamp"] >= self.begin:
            return
        key = (metadata.get("namespace", ""), metadata.get("name", ""))
        if (resource.plural, *key) not in self.seen:
            self.seen.add((resource.plural, *key))
            kept = {name: part for name, part in metadata.items() if name != "managedFields"}
            self.store.storage.of(resource.plural)[key] = {**item, "metadata": kept}

    def _is_known(self, reply: Object) -> bool:
        """Whether the object is there with the recorded revision, so that the request changes nothing."""
        metadata = reply["metadata"]
        resource = next((each for each in self.store.flavour.resources if each.kind == reply.get("kind")), None)
        if resource is None:
            return True
        found = self.store.storage.of(resource.plural).get((metadata.get("namespace", ""), metadata.get("name", "")))
        return found is not None and found["metadata"]["resourceVersion"] == self._revision(metadata.get("resourceVersion", ""))

    def _translated(self, text: str) -> str:
        """A recorded text with our UIDs, tokens and revisions."""
        for old, new in self.ours.items():
            if len(old) > 5 and old in text:
                text = text.replace(old, new)
        if self.revisions:
            text = re.sub(r'(resourceVersion(?:=|": ?"))(\d+)', lambda found: found[1] + self._revision(found[2]), text)
        return text

    def _revision(self, recorded: str) -> str:
        return self.revisions.get(recorded, recorded)

    # --- how they differ --------------------------------------------------------------------------------------------

    def differences(self, exchange: Exchange, answer: Answer, *, is_loose: bool = False) -> list[str]:
        """What is not the same in our answer, of a loose one in status and reason; what the server chooses is learned instead."""
        if answer.status != exchange.status:
            return [f"status: got {answer.status}, wanted {exchange.status} ({answer.body})"]
        if exchange.is_watch or is_loose:
            reasons = [each.get("reason") for each in (exchange.reply, answer.body) if isinstance(each, dict)]
            return [f"reason: got {reasons[-1]}"] if len(set(reasons)) > 1 else []
        pause = answer.headers.get("retry-after")
        wanted = [] if pause == exchange.reply_headers.get("retry-after") else [f"retry-after: got {pause}"]
        if exchange.reply is None:
            return wanted
        body = json.loads(answer.encoded()) if not isinstance(answer.body, str) else answer.body
        return wanted + self.compared(*_served(*_unordered(exchange, body)))

    def compared(self, recorded: Json, ours: Json, where: str = "") -> list[str]:
        """The differences between two JSON values, each with its place."""
        if isinstance(recorded, dict) and isinstance(ours, dict):
            return self._compared_objects(recorded, ours, where)
        if isinstance(recorded, list) and isinstance(ours, list):
            if len(recorded) != len(ours):
                return [f"{where}: got {len(ours)} items, wanted {len(recorded)}: {ours} {recorded}"[:600]]
            pairs = zip(recorded, ours, strict=True)
            return [each for number, (old, new) in enumerate(pairs) for each in self.compared(old, new, f"{where}[{number}]")]
        return [] if self._is_same(where.rpartition(".")[2], recorded, ours) else [f"{where}: got {ours!r}, wanted {recorded!r}"]

    def _compared_objects(self, recorded: Object, ours: Object, where: str) -> list[str]:
        found = [f"{where}.{key}: not wanted: {ours[key]!r}" for key in ours if key not in recorded]
        for key, value in recorded.items():
            if key == "managedFields":
                continue
            if key not in ours:
                found.append(f"{where}.{key}: missing, wanted {value!r}")
            elif key == "name" and "generateName" in recorded:
                self.ours[value] = ours[key]
            else:
                found += self.compared(value, ours[key], f"{where}.{key}")
        return found

    def _is_same(self, key: str, recorded: Json, ours: Json) -> bool:
        if key == "resourceVersion":
            return self._is_paired(recorded, ours)
        if recorded == ours:
            return True
        if not isinstance(recorded, str) or not isinstance(ours, str):
            return False
        if key == "continue":
            old, new = _token(recorded), _token(ours)
            self.ours[recorded] = ours
            return bool(old["start"] == new["start"] and self._revision(str(old["rv"])) == str(new["rv"]))
        if (lost := TOO_OLD.fullmatch(recorded)) and (mine := TOO_OLD.fullmatch(ours)):
            return bool(lost[1] == mine[1]) and self.revisions.setdefault(lost[2], mine[2]) == mine[2]
        if (UID.fullmatch(recorded) and UID.fullmatch(ours)) or key in NAMED or "clusterIPs" in key:
            return self.ours.setdefault(recorded, ours) == ours
        if DIFF in recorded:
            return recorded.partition(DIFF)[0] == ours
        return _timeless(self._translated(recorded)) == _timeless(ours)

    def _is_paired(self, version: str, ours: str) -> bool:
        """Whether our revision stands for the recorded one and no other, both ways."""
        return self.revisions.setdefault(version, ours) == ours and self.recorded.setdefault(ours, version) == version

    def watch_differences(self, exchange: Exchange, watch: Watch) -> list[str]:
        """What is not the same in the events of a watch, bookmarks apart; which object comes first may differ."""
        wanted = _by_object([each["event"] for each in exchange.reply])
        found = _by_object([json.loads(frame.line) for frame in watch.events])
        return self.compared(wanted, found) + self._bookmark_differences(exchange, watch)

    def _bookmark_differences(self, exchange: Exchange, watch: Watch) -> list[str]:
        """What is not the same in our bookmark, whatever its revision."""
        recorded = [each["event"] for each in exchange.reply if each["event"]["type"] == "BOOKMARK"]
        if not recorded or watch.bookmark is None:
            return ["bookmarks are not wanted"] if recorded else []
        recorded[0]["object"]["metadata"]["resourceVersion"] = "0"
        ours = json.loads(watch.bookmark().line)
        ours["object"]["metadata"]["resourceVersion"] = "0"
        return self._compared_objects(recorded[0], ours, "bookmark")


def _timeless(text: str) -> str:
    """A text with the form of its times in place of them."""
    return TIME.sub(lambda found: "time" + "." * len(found[1] or ""), text)


def _by_object(events: list[Object]) -> list[list[Object]]:
    """The events of each object in their order, without bookmarks."""
    found: dict[tuple[str, str], list[Object]] = {}
    for event in events:
        if event["type"] != "BOOKMARK":
            found.setdefault(_key(event["object"]), []).append(event)
    return [found[key] for key in sorted(found)]


def _unordered(exchange: Exchange, ours: Json) -> tuple[Json, Json]:
    """Two lists by name, if they come from the watch cache: it has no order, and a revision of its own."""
    if not (isinstance(exchange.reply, dict) and "items" in exchange.reply and asked(exchange).get("resourceVersion") == "0"):
        return exchange.reply, ours
    metadata = {**ours["metadata"], "resourceVersion": exchange.reply["metadata"]["resourceVersion"]}
    items = [sorted(each["items"], key=_key) for each in (exchange.reply, ours)]
    return {**exchange.reply, "items": items[0]}, {**ours, "items": items[1], "metadata": metadata}


def _key(item: Object) -> tuple[str, str]:
    return item["metadata"].get("namespace", ""), item["metadata"].get("name", "")


def _served(recorded: Json, ours: Json) -> tuple[Json, Json]:
    """Two answers about what there is, without the groups and resources that we do not serve, and without what is only for show."""
    field = {"APIResourceList": "resources", "APIGroupList": "groups"}.get(recorded.get("kind", "") if isinstance(recorded, dict) else "")
    if field is None:
        return recorded, ours
    names = {each["name"] for each in ours[field]}
    shown = [sorted((_bare(part) for part in each[field] if part["name"] in names), key=_called) for each in (recorded, ours)]
    return {**recorded, field: shown[0]}, {**ours, field: shown[1]}


def _called(part: Object) -> str:
    return str(part["name"])


def _bare(part: Object) -> Object:
    """A resource or group without what is only for show, and without its other versions."""
    hidden = ("storageVersionHash", "shortNames", "categories", "versions", "preferredVersion")
    return {key: value for key, value in part.items() if key not in hidden}


def _token(text: str) -> Object:
    found: Object = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return found
