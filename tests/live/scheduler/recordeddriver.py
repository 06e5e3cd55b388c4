"""All who ask the server besides the scheduler: users, kubelets, and the controller of volumes, as they were recorded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import attrs

from tests.apiserver.store import Store
from tests.live.scheduler.recordedpace import SCHEDULER, Json, seen_in, version_of

NOW = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
UNSEEN = {
    "who": "driver", "method": "DELETE", "query": "", "request_headers": {}, "request_body": NOW, "status": None, "response_body": None,
}  # fmt: skip
OTHERS = ("driver", "kube-controller-manager")


def is_watch_of_pods(exchange: Mapping[str, Any]) -> bool:
    """Whether it is a watch of all pods."""
    return exchange.get("path") == "/api/v1/pods" and "watch=true" in (exchange.get("query") or "")


@attrs.define
class Driver:
    """Sends the requests of all but the scheduler at their times. UIDs and versions in them become those of the server."""

    store: Store
    recorded: list[Json]
    uids: dict[str, str] = attrs.field(factory=dict)
    """The UIDs of the recording -> those of the server."""

    async def run(self, begin: float) -> None:
        """Send all, then wait a little."""
        loop, seen = asyncio.get_running_loop(), seen_in(self.recorded)
        for one in self.recorded:
            if one["t"] >= begin and self._is_ours(one):
                await asyncio.sleep(max(0.0, seen.get(version_of(one), one["t"]) - begin - loop.time()))
                self._send(one)
        await asyncio.sleep(5.0)

    def __attrs_post_init__(self) -> None:
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

    def before(self, begin: float) -> None:
        """Send what was sent before the scheduler began."""
        for one in self.recorded:
            if one["t"] < begin and self._is_ours(one):
                self._send(one)

    def _is_ours(self, one: Json) -> bool:
        is_user = one.get("who", "").startswith(OTHERS) and "/events" not in one.get("path", "")
        return is_user and one.get("method") in ("POST", "PUT", "PATCH", "DELETE")

    def _send(self, one: Json) -> None:
        headers = {"content-type": one["request_headers"].get("Content-Type", "application/json")}
        headers |= {name.lower(): value for name, value in one["request_headers"].items()}
        answer = self.store.handle(one["method"], one["path"], one["query"] or "", self._body(one), headers)
        assert answer.status == one["status"] or one["status"] is None, (one["method"], one["path"], answer.status, one["status"])
        if (uid := uid_of(one["response_body"])) and answer.status < 300:
            self.uids[uid] = uid_of(json.loads(answer.encoded()))

    def _body(self, one: Json) -> bytes:
        """The body to be sent; a whole object is sent in place of the one that is there."""
        if one["request_body"] is None:
            return b""
        text = json.dumps(one["request_body"])
        for theirs, ours in self.uids.items():
            text = text.replace(f'"{theirs}"', f'"{ours}"')
        body = json.loads(text)
        if one["method"] == "PUT" and "resourceVersion" in body["metadata"]:
            there = json.loads(self.store.handle("GET", one["path"].removesuffix("/status"), "", b"", {}).encoded())
            body["metadata"] |= {name: there["metadata"][name] for name in ("uid", "resourceVersion")}
        return json.dumps(body).encode()


def uid_of(body: Any) -> str:
    """The UID of an object that was answered; empty for what is none."""
    return str(((body or {}).get("metadata") or {}).get("uid", "")) if isinstance(body, dict) else ""
