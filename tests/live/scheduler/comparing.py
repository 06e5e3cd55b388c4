"""Our requests beside the recorded ones: without what differs from run to run, and in an order that means the same."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.live.scheduler.recorded import Played
from tests.live.scheduler.recordedpace import SCHEDULER, exchanges

Asked = tuple[str, str, Any]
"""Method, path and body of a request."""
IDENTITIES = ("uid", "resourceVersion", "selfLink", "managedFields", "creationTimestamp", "generateName")
TIMES = ("lastTransitionTime", "lastProbeTime", "lastHeartbeatTime", "startTime", "startedAt", "time", "deletionTimestamp")
TIMES += ("firstTimestamp", "lastTimestamp", "eventTime", "lastObservedTime")
OBJECT = re.compile(r"/apis?/.*/namespaces/[^/]+/|/api/v1/persistentvolumes/")
PART = re.compile("/(status|binding)$")
EVENT = re.compile(r"\.[0-9a-f]{16}$")
"""The end of an event's name, which is a time."""


def comparable(value: Any) -> Any:
    """A body without what differs from run to run: UIDs, versions, times. A null stays a null."""
    if isinstance(value, str):
        return EVENT.sub("", value)
    if isinstance(value, dict):
        left = {key: one for key, one in value.items() if key not in IDENTITIES}
        return {key: ("time" if key in TIMES and one is not None else comparable(one)) for key, one in left.items()}
    return [comparable(one) for one in value] if isinstance(value, list) else value


def asked_by(played: Played) -> list[Asked]:
    """Our requests about objects of namespaces, and our writes."""
    return [(one.method, one.path, comparable(json.loads(one.body) if one.body else None)) for one in played.requests if _counts(one.path)]


def recorded_asked(file: Path) -> list[Asked]:
    """The same of the original."""
    found = [one for one in exchanges(file) if one.get("who") == SCHEDULER and _counts(one.get("path", ""))]
    return [(one["method"], one["path"], comparable(one["request_body"])) for one in found]


def _counts(path: str) -> bool:
    """Whether a request is about a single object of the cluster: no list or watch, no lock, and no ConfigMap, which only 1.28.7 reads."""
    return bool(OBJECT.match(path)) and not path.endswith("/leases/kube-scheduler") and "/configmaps" not in path


def writes(asked: Iterable[Asked]) -> dict[str, list[tuple[str, Any]]]:
    """Object -> its writes in order; what concerns several objects is concurrent. Events are no writes of an object."""
    found: dict[str, list[tuple[str, Any]]] = {}
    for method, path, body in asked:
        if method != "GET" and "/events" not in path and not is_mark(method, body):
            found.setdefault(PART.sub("", path), []).append((method, body))
    return found


def reads(asked: Iterable[Asked]) -> Counter[str]:
    """How often each object was read: those of a release without profiles go on beside writes, in no fixed order."""
    return Counter(path for method, path, _ in asked if method == "GET")


def events(asked: Iterable[Asked]) -> dict[str, list[Asked]]:
    """Object -> the requests about its events in order."""
    found: dict[str, list[Asked]] = {}
    for method, path, body in asked:
        if method != "GET" and "/events" in path:
            about = body.get("involvedObject") or body.get("regarding") or {"name": EVENT.sub("", path.rpartition("/")[2])}
            found.setdefault(about["name"], []).append((method, EVENT.sub("", path), body))
    return found


def texts(events: dict[str, list[Asked]]) -> set[tuple[str, str, str]]:
    """(object, reason, text) of events that were made."""
    bodies = ((name, body) for name, told in events.items() for method, _, body in told if method == "POST")
    return {(name, body["reason"], body.get("message") or body.get("note")) for name, body in bodies}


def is_mark(method: str, body: Any) -> bool:
    """Whether it is the patch that marks a victim as disrupted, in which we differ."""
    conditions = body.get("status", {}).get("conditions", ()) if method == "PATCH" else ()
    return any(one.get("type") == "DisruptionTarget" for one in conditions)
