"""Traces of SimKube: owners of pods that come, change and go, in one msgpack file; and how long their pods ran.

An owner's pods are made as its controller would make them. When an owner changes its pod template, its pods go and new ones come; when
only its replicas change, some come or go. SimKube keeps no nodes: the user gives them beside the trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import attrs
import msgspec

from ...api.controlplane.workloads import WORKLOADS, expand
from ...api.objects import Pod
from ...api.reading.formats.files import read_file, unpacked
from ...api.reading.mismatch import shown
from ...exceptions import ManifestError
from .made import Manifest, Trace, timed
from .rows import PathLike

VERSIONS = (2, 3)
LATEST = 10**12
"""No time of a trace is later, in seconds."""
_EVENTS_AT, _INDEX_AT, _LIVES_AT = 1, 2, 3
"""Where version 1, a list, has its parts."""
Key = tuple[str, str, str]


def read(path: PathLike) -> Trace:
    """The trace as manifests of pods. Raises :class:`~kubeclassic.exceptions.ManifestError`, which says which event is wrong."""
    document = _decoded(str(path))
    trace = Trace()
    owners: dict[Key, _Owner] = {}
    for number, event in enumerate(_events(document, str(path)), 1):
        where = f"{path}, event {number}"
        time = event.get("ts")
        if not _is_time(time):
            raise ManifestError(f"{where}: ts: got {shown(time)}, wanted seconds since 1970")
        for item in _objects(event, "applied_objs", where):
            key = _key(item, where)
            if key[0] not in WORKLOADS:
                trace.dropped[f"objects of kind {key[0]}"] += 1
            else:
                owners.setdefault(key, _Owner()).apply(item, Decimal(str(time)))
        for item in _objects(event, "deleted_objs", where):
            if (owner := owners.get(_key(item, where))) is not None:
                owner.end(0, Decimal(str(time)))
    lives = _lives(document)
    for key, owner in owners.items():
        trace.pods += owner.made(lives.get(f"{key[1]}/{key[2]}", []))
    trace.pods.sort(key=lambda item: float(item["metadata"]["annotations"]["kubeclassic/creation-time"]))
    return trace


@attrs.define
class _Owner:
    """A workload, with the pods that it has had so far."""

    pods: list[_Made] = attrs.field(factory=list)
    template: Any = ""

    def apply(self, manifest: Manifest, time: Decimal) -> None:
        """It comes or changes."""
        template = manifest.get("spec", {}).get("template")
        wanted = [item for item in expand([manifest]).objects if isinstance(item, Pod)]
        alive = [made for made in self.pods if made.ended is None]
        if template != self.template:
            self.end(0, time)
            alive = []
        self.template = template
        self.end(len(wanted), time)
        self.pods += [_Made(manifest, pod, len(self.pods) + number, time) for number, pod in enumerate(wanted[len(alive) :])]

    def end(self, kept: int, time: Decimal) -> None:
        """All pods but the first *kept* go."""
        for made in [made for made in self.pods if made.ended is None][kept:]:
            made.ended = time

    def made(self, lives: Sequence[Decimal]) -> Iterator[Manifest]:
        """The pods as manifests; the first ones run as long as *lives* say."""
        for number, each in enumerate(self.pods):
            yield each.manifest(lives[number] if number < len(lives) else None)


@attrs.define
class _Made:
    owner: Manifest
    pod: Pod
    number: int
    begun: Decimal
    ended: Decimal | None = None

    def manifest(self, runs: Decimal | None) -> Manifest:
        spec = self.owner["spec"]
        template = (spec["jobTemplate"]["spec"] if self.owner.get("kind") == "CronJob" else spec).get("template") or {}
        metadata = {
            "name": f"{self.owner['metadata']['name']}-{self.number}", "namespace": self.pod.namespace,
            "labels": dict(self.pod.labels), "ownerReferences": [_reference(self.owner)],
        }  # fmt: skip
        item = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": dict(template.get("spec") or {})}
        return timed(item, created=self.begun, deleted=self.ended, runs=runs)


def _reference(owner: Manifest) -> Manifest:
    metadata = owner["metadata"]
    found = {"apiVersion": owner.get("apiVersion", ""), "kind": owner["kind"], "name": metadata["name"], "controller": True}
    return {**found, "uid": metadata.get("uid") or f"{owner['kind']}-{metadata.get('namespace', 'default')}-{metadata['name']}".lower()}


# --- the file -------------------------------------------------------------------------------------------------------


def _decoded(path: str) -> Any:
    try:
        found = msgspec.msgpack.decode(unpacked(read_file(path), path))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ManifestError(f"{path}: got bytes that are no msgpack, wanted a trace of SimKube") from None
    if isinstance(found, dict) and found.get("version") not in VERSIONS:
        raise ManifestError(f"{path}: version: got {shown(found.get('version'))}, wanted {' or '.join(map(str, VERSIONS))}")
    if not isinstance(found, dict | list):
        raise ManifestError(f"{path}: got {shown(found)}, wanted a trace of SimKube")
    return found


def _events(document: Any, path: str) -> Sequence[Mapping[str, Any]]:
    events = _part(document, "events", _EVENTS_AT)
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise ManifestError(f"{path}: events: got {shown(events)}, wanted a list of events")
    return events


def _part(document: Any, name: str, at: int) -> Any:
    if isinstance(document, dict):
        return document.get(name)
    return document[at] if len(document) > at else None


def _objects(event: Mapping[str, Any], name: str, where: str) -> Sequence[Manifest]:
    found = event.get(name) or []
    if not isinstance(found, list) or not all(isinstance(item, dict) and _is_plain(item) for item in found):
        raise ManifestError(f"{where}: {name}: got {shown(found)}, wanted a list of Kubernetes objects")
    return found


def _is_plain(value: Any) -> bool:
    """Whether *value* is one that JSON has too: msgpack may have any keys."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(inner) for key, inner in value.items())
    return all(map(_is_plain, value)) if isinstance(value, list) else not isinstance(value, bytes)


def _key(item: Manifest, where: str) -> Key:
    metadata = item.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not isinstance(item.get("kind"), str) or not isinstance(item.get("spec", {}), dict):
        raise ManifestError(f"{where}: got {shown(item)}, wanted a Kubernetes object with kind, metadata.name and spec")
    assert isinstance(metadata, dict)
    return str(item["kind"]), str(metadata.get("namespace") or "default"), name


def _lives(document: Any) -> dict[str, list[Decimal]]:
    """Owner, as ``namespace/name`` -> for how long its finished pods ran, in seconds, in the order of the trace."""
    found: dict[str, list[Decimal]] = {}
    for part in (_part(document, "index", _INDEX_AT), _part(document, "pod_lifecycles", _LIVES_AT)):
        for owner, spans in _spans(part, ""):
            found.setdefault(owner, []).extend(spans)
    return found


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LATEST


def _spans(part: Any, owner: str) -> Iterator[tuple[str, list[Decimal]]]:
    """What finished below *part*, by the nearest key that is ``namespace/name``."""
    if isinstance(part, dict) and isinstance(ended := part.get("Finished"), list) and len(ended) == 2:
        begin, end = ended
        if _is_time(begin) and _is_time(end):
            yield owner, [Decimal(str(end)) - Decimal(str(begin))]
    elif isinstance(part, dict):
        for key, inner in part.items():
            yield from _spans(inner, key if isinstance(key, str) and "/" in key else owner)
    elif isinstance(part, list):
        for inner in part:
            yield from _spans(inner, owner)
