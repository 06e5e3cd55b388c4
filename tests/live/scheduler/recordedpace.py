"""A recording as it is played: how long requests took, when watches showed what had changed, and what all but
the scheduler asked."""

import asyncio
import gzip
import json
import math
from contextlib import asynccontextmanager

import attrs

from kubeclassic.live.client.api import Stream
from tests.apiserver import NO_FAULT, Fault, StoreTransport, refused

SCHEDULER = "kube-scheduler"
ABOUT = 1.0
"""Seconds by which ours may be sent at another time than the recorded request."""


def exchanges(file):
    """The exchanges of a recording, in order of time; remarks have no ``method``."""
    with gzip.open(file, "rt") as stream:
        return [json.loads(line) for line in stream]


def _as_made(one):
    """The answer that the proxy of the recording made up, in place of the server's; it held other requests
    for 2 s."""
    if "held" in one["note"]:
        return Fault(delay=2.0)
    status = one["response_body"]
    return refused(one["status"], status.get("reason", ""), status.get("message", ""))


@attrs.define
class Pace:
    """The faults of a scenario: requests take as long as they took, and what was made up is made up. Each
    counts once.

    A change is made when the scheduler's own watch showed it, which may be before the answer came. It is so
    at the very time of the recording, if ours was sent at about that time.
    """

    begin: float
    """When virtual time began."""
    asked: dict
    seen: dict
    """resourceVersion -> when a watch showed it."""
    unseen: dict = attrs.field(factory=dict)
    """Name -> until when, on virtual time, no watch shows that it was deleted. Other changes are shown at
    once: the times of answers and of watches are not exact enough to tell which came first."""

    @classmethod
    def of(cls, recorded, begin):
        """The pace of a recording."""
        asked = {}
        for one in recorded:
            if one.get("who") == SCHEDULER and "method" in one and "watch=true" not in (one["query"] or ""):
                asked.setdefault((one["method"], one["path"]), []).append(one)
        return cls(begin, asked, seen_in(recorded))

    def __call__(self, request):
        left = self.asked.get((request.method, request.path))
        if not left:
            return NO_FAULT
        one = left.pop(0)
        if one.get("note"):
            return _as_made(one)
        now = asyncio.get_running_loop().time() + self.begin
        began = one["t"] if abs(one["t"] - now) < ABOUT else now
        end = began + one["t_headers"] - one["t"]
        shown = began + self.seen.get(version_of(one), -math.inf) - one["t"]
        if shown > end and request.method == "DELETE":
            self.unseen[one["response_body"]["metadata"]["name"]] = shown - self.begin
        changed = end if shown == -math.inf else min(end, shown)
        if (
            request.method == "GET"
        ):  # It was read before the change that came next, if it had been shown before it was asked for.
            changed = now if -math.inf < shown < began else end
        return Fault(delay=max(0.0, changed - now), slow=max(0.0, end - max(changed, now)))


def seen_in(recorded):
    """resourceVersion -> when a watch of the scheduler showed it."""
    found = {}
    for one in recorded:
        if (
            one.get("who") == SCHEDULER
            and one.get("status") is not None
            and "watch=true" in (one["query"] or "")
        ):
            for frame in one["response_body"] or ():
                if frame["event"]["type"] in ("ADDED", "MODIFIED", "DELETED"):
                    found.setdefault(frame["event"]["object"]["metadata"]["resourceVersion"], frame["t"])
    return found


def version_of(exchange):
    """The resourceVersion in an answer."""
    body = exchange["response_body"]
    return (
        str(((body or {}).get("metadata") or {}).get("resourceVersion", "")) if isinstance(body, dict) else ""
    )


@attrs.define
class PacedTransport(StoreTransport):
    """A transport whose watches show changes no sooner than the recorded ones did."""

    pace: object = attrs.field(kw_only=True)

    @asynccontextmanager
    async def stream(self, request):
        """A context with the answer to *request*, line by line."""
        async with StoreTransport.stream(self, request) as found:
            yield Stream(found.status, found.headers, self._paced(found.lines))

    async def _paced(self, lines):
        async for line in lines:
            name = json.loads(line)["object"]["metadata"].get("name", "")
            await asyncio.sleep(max(0.0, self.pace.unseen.pop(name, 0.0) - asyncio.get_running_loop().time()))
            yield line


NOW = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
UNSEEN = {
    "who": "driver",
    "method": "DELETE",
    "query": "",
    "request_headers": {},
    "request_body": NOW,
    "status": None,
    "response_body": None,
}
OTHERS = ("driver", "kube-controller-manager")


def is_watch_of_pods(exchange):
    """Whether it is a watch of all pods."""
    return exchange.get("path") == "/api/v1/pods" and "watch=true" in (exchange.get("query") or "")


@attrs.define
class Driver:
    """Sends the requests of all but the scheduler at their times. UIDs and versions in them become those of
    the server."""

    store: object
    recorded: list
    uids: dict = attrs.field(factory=dict)
    """The UIDs of the recording -> those of the server."""

    async def run(self, begin):
        """Send all, then wait a little."""
        loop = asyncio.get_running_loop()
        seen = seen_in(self.recorded)
        for one in self.recorded:
            if one["t"] >= begin and self._is_ours(one):
                await asyncio.sleep(max(0.0, seen.get(version_of(one), one["t"]) - begin - loop.time()))
                self._send(one)
        await asyncio.sleep(5.0)

    def __attrs_post_init__(self):
        """Add the deletions that only the scheduler's watch shows: the recording has no request for them."""
        asked = {one["path"] for one in self.recorded if one.get("method") == "DELETE"}
        for one in [one for one in self.recorded if one.get("who") == SCHEDULER and is_watch_of_pods(one)]:
            for frame in one["response_body"]:
                metadata = frame["event"]["object"]["metadata"]
                path = f"/api/v1/namespaces/{metadata.get('namespace')}/pods/{metadata.get('name')}"
                if frame["event"]["type"] == "DELETED" and path not in asked:
                    asked.add(path)
                    self.recorded.append({**UNSEEN, "t": frame["t"], "path": path})
        self.recorded.sort(key=lambda one: one["t"])

    def before(self, begin):
        """Send what was sent before the scheduler began."""
        for one in self.recorded:
            if one["t"] < begin and self._is_ours(one):
                self._send(one)

    def _is_ours(self, one):
        is_user = one.get("who", "").startswith(OTHERS) and "/events" not in one.get("path", "")
        return is_user and one.get("method") in ("POST", "PUT", "PATCH", "DELETE")

    def _send(self, one):
        headers = {"content-type": one["request_headers"].get("Content-Type", "application/json")}
        headers |= {name.lower(): value for name, value in one["request_headers"].items()}
        answer = self.store.handle(one["method"], one["path"], one["query"] or "", self._body(one), headers)
        assert answer.status == one["status"] or one["status"] is None, (
            one["method"],
            one["path"],
            answer.status,
            one["status"],
        )
        if (uid := uid_of(one["response_body"])) and answer.status < 300:
            self.uids[uid] = uid_of(json.loads(answer.encoded()))

    def _body(self, one):
        """The body to be sent; a whole object is sent in place of the one that is there."""
        if one["request_body"] is None:
            return b""
        text = json.dumps(one["request_body"])
        for theirs, ours in self.uids.items():
            text = text.replace(f'"{theirs}"', f'"{ours}"')
        body = json.loads(text)
        if one["method"] == "PUT" and "resourceVersion" in body["metadata"]:
            there = json.loads(
                self.store.handle("GET", one["path"].removesuffix("/status"), "", b"", {}).encoded()
            )
            body["metadata"] |= {name: there["metadata"][name] for name in ("uid", "resourceVersion")}
        return json.dumps(body).encode()


def uid_of(body):
    """The UID of an object that was answered; empty for what is none."""
    return str(((body or {}).get("metadata") or {}).get("uid", "")) if isinstance(body, dict) else ""
