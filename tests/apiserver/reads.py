"""Get, list and watch, with field selectors."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

from .answers import Answer, Json, Object, bad_request, fault, status_body
from .call import Call
from .forms import blank, list_item
from .storage import Event, Key, Watch, event

Matcher: TypeAlias = Callable[[Object], bool]

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "Event": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "source",
        "type",
        "reportingComponent",
    ),
    "Node": ("spec.unschedulable",),
    "Namespace": ("status.phase",),
    "Pod": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
}
"""Kind -> the field labels that it has besides the name and the namespace."""


def selector(call: Call) -> Matcher | None:
    """The test of the field selector; None where it is empty. An unknown field is a 400; no scheduler sends
    labels."""
    tests = [
        _field_test(part, call.resource.kind)
        for part in call.query.get("fieldSelector", "").split(",")
        if part
    ]
    return (lambda item: all(test(item) for test in tests)) if tests else None


def _field_test(part: str, kind: str) -> Matcher:
    path, operator, value = re.split(r"(!=|==|=)", part, maxsplit=1)
    if path not in ("metadata.name", "metadata.namespace", *_FIELDS.get(kind, ())):
        raise bad_request(f"field label not supported: {path}")
    steps = tuple(path.split("."))
    if operator == "!=":
        return lambda item: _field(item, steps) != value
    return lambda item: _field(item, steps) == value


def _field(item: Object, steps: tuple[str, ...]) -> str:
    found: object = item
    for step in steps:
        found = found.get(step, "") if isinstance(found, dict) else ""
    return str(found).lower() if isinstance(found, bool) else str(found or "")


LOST_WATCH = "The resourceVersion for the provided watch is too old."
LOST_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue "
    "parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token "
    "results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and "
    "now may show up in the list."
)


def get(call: Call) -> Answer:
    """One object."""
    return call.answer(200, call.stored())


def revision_of(call: Call) -> int | None:
    """``resourceVersion`` of the query; None without one."""
    text = call.query.get("resourceVersion", "")
    return int(text) if text else None


# --- list ---------------------------------------------------------------------------------------------------


def list_(call: Call) -> Answer:
    """The objects that the selector chooses, a page of them with ``limit``."""
    matches = selector(call)
    revision, start, limit = _page(call)
    objects = (
        call.storage.of(call.resource.plural)
        if revision is None
        else call.storage.at(call.resource.plural, revision)
    )
    keys = sorted(key for key in objects if not call.namespace or key[0] == call.namespace)
    keys = [key for key in keys if key > start and (matches is None or matches(objects[key]))]
    page = keys[:limit] if limit else keys
    shown = call.storage.revision if revision is None else revision
    metadata: Json = {"resourceVersion": str(shown)}
    if call.flavour.has_self_link:
        metadata["selfLink"] = call.resource.path(call.namespace)
    if len(page) < len(keys):
        metadata["continue"] = _token(shown, _start(call, page[-1]))
        if call.flavour.counts_remaining and matches is None:
            metadata["remainingItemCount"] = len(keys) - len(page)
    return Answer(200, list_object(call, (objects[key] for key in page), metadata))


def list_object(call: Call, items: Iterable[Object], metadata: Json) -> Object:
    """A list of the resource's kind."""
    kind = f"{call.resource.kind}List"
    version = call.resource.api_version
    return {
        "kind": kind,
        "apiVersion": version,
        "metadata": metadata,
        "items": [list_item(item) for item in items],
    }


def _page(call: Call) -> tuple[int | None, Key, int]:
    """At which revision (None: now), after which key, and how many (0: all)."""
    limit = int(call.query.get("limit") or 0)
    if token := call.query.get("continue"):
        return *_continued(call, token), limit
    revision = revision_of(call)
    if not revision:
        # Upstream: the watch cache, which answers revision 0, knows no pages.
        return None, ("", ""), 0 if revision == 0 and call.resource.is_cached else limit
    return (revision, ("", ""), limit) if limit else (None, ("", ""), 0)


def _start(call: Call, key: Key) -> str:
    """Where the next page begins, below the path of the list. Upstream: just behind the last key."""
    namespace, name = key
    return f"{namespace}/{name}\0" if namespace and not call.namespace else f"{name}\0"


def _token(revision: int, start: str) -> str:
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": revision, "start": start}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _continued(call: Call, token: str) -> tuple[int | None, Key]:
    """Revision and key of a continue token; 410 with a fresh one if its revision is compacted."""
    found = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    revision = int(found["rv"])
    start = str(found["start"])
    if 0 <= revision < call.storage.compacted:
        raise fault(410, "Expired", LOST_CONTINUE, metadata={"continue": _token(-1, start)})
    namespace, _, name = start.removesuffix("\0").rpartition("/")
    return None if revision < 0 else revision, (namespace or call.namespace, name)


# --- watch --------------------------------------------------------------------------------------------------


def watch(call: Call) -> Answer:
    """A watch from a revision on; without one, or from 0, the present objects come first. Too old is an ERROR
    event, status 200."""
    matches = selector(call)
    revision = revision_of(call)
    watches = call.storage.watches.setdefault(call.resource.plural, [])
    found = Watch(
        namespace=call.namespace,
        matches=matches,
        api_version=call.resource.api_version,
        after=revision or 0,
        has_bookmarks=call.query.get("allowWatchBookmarks") == "true" and call.resource.is_cached,
        timeout=float(call.query["timeoutSeconds"]) if call.query.get("timeoutSeconds") else None,
        bookmark=partial(_bookmark, call),
        leave=lambda watch: watches.remove(watch) if watch in watches else None,
    )
    if (lost := _lost(call, revision)) is not None:
        found.send(event("ERROR", lost))
        found.close()
        return Answer(200, watch=found)
    _begin(call, found, revision)
    watches.append(found)
    return Answer(200, watch=found)


def _begin(call: Call, found: Watch, revision: int | None) -> None:
    if revision:
        changes = [change for change in call.storage.since(revision) if change.plural == call.resource.plural]
        for change in reversed(changes):
            found.offer(change)
        return
    for key, item in list(call.storage.of(call.resource.plural).items()):
        if call.namespace in ("", key[0]) and (found.matches is None or found.matches(item)):
            found.send(event("ADDED", item))


def _lost(call: Call, revision: int | None) -> Object | None:
    """The error of a watch from a revision that is too old. Upstream: the watch cache and etcd say it
    differently."""
    storage = call.storage
    if not revision:
        return None
    if not call.resource.is_cached:
        return status_body(410, "Expired", LOST_WATCH) if revision < storage.compacted else None
    oldest = max(storage.cache_start, storage.compacted)
    if revision >= oldest:
        return None
    return status_body(410, call.flavour.too_old_reason, f"too old resource version: {revision} ({oldest})")


def _bookmark(call: Call) -> Event:
    return event("BOOKMARK", blank(call.resource, str(call.storage.revision)))
