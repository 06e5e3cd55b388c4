"""Traces of SimKube: owners of pods that come, change and go, in one msgpack file; and how long their pods
ran.

An owner's pods are made as its controller would make them. When an owner changes its pod template, its pods
go and new ones come; when only its replicas change, some come or go. A CronJob has a pod for each run that
the trace has, a bare pod is its own owner. SimKube keeps no nodes: the user gives them beside the trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from math import isfinite
from typing import Any

import attrs
import msgspec

from ...api.controlplane import WORKLOADS, expand
from ...api.objects import Pod
from ...api.reading import PathLike, decode, kind_with_group, shown
from ...api.reading.formats.files import read_file, unpacked
from ...exceptions import ManifestError
from .rows import Manifest, Trace, timed

VERSIONS = (2, 3)
LATEST = 10**12
"""The latest time of a trace, in seconds."""
_PARTS = ("config", "events", "index", "pod_lifecycles")
"""The parts that version 1 has as a list."""
Key = tuple[str, str]
"""Kind, and ``namespace/name``."""
Life = tuple[Decimal, Decimal | None]
"""The times at which a pod began to run and ended; None: it ran on."""
_TYPE = re.compile(r"\.([A-Z]\w*)\Z")
"""The end of a kind with its apiVersion, ``apps/v1.Deployment``; names of objects have small letters."""


def read(path: PathLike) -> Trace:
    """The trace as manifests of pods. Raises :class:`~kubeclassic.exceptions.ManifestError`, which says which
    event is wrong."""
    document = _decoded(str(path))
    trace = Trace()
    owners = dict[Key, _Owner]()
    for number, event in enumerate(document["events"], 1):
        where = f"{path}, event {number}"
        time = event.get("ts")
        if not _is_time(time):
            raise ManifestError(f"{where}: ts: expected seconds since 1970, got {shown(time)}")
        for item in _objects(event, "applied_objs", where):
            key = _key(item, where)
            if key[0] not in (*WORKLOADS, "Pod"):
                trace.dropped[f"objects of kind {key[0]}"] += 1
            else:
                try:
                    owners.setdefault(key, _Owner()).apply(item, Decimal(str(time)))
                except ManifestError as error:
                    raise ManifestError(f"{where}: {error}") from None
        for item in _objects(event, "deleted_objs", where):
            if (owner := owners.get(_key(item, where))) is not None:
                owner.end(0, Decimal(str(time)))
    # Owner -> when its pods ran, in the order of the trace; kinds are empty where it has none.
    lives = dict[Key, list[Life]]()
    spans = [_spans(document.get(part), ("", "")) for part in ("index", "pod_lifecycles")]
    for owner_key, life in chain.from_iterable(spans):
        lives.setdefault(owner_key, []).append(life)
    for key, owner in owners.items():
        pod_lives = lives.get(key, lives.get(("", key[1]), []))
        if key[0] == "CronJob":
            owner.pods = [
                attrs.evolve(pod, number=number, begun=begin, ended=None)
                for pod in owner.pods[-1:]
                for number, (begin, _) in enumerate(pod_lives)
            ]
            trace.dropped.update([] if pod_lives else ["CronJobs without recorded runs"])
        trace.pods += owner.made(pod_lives)
    trace.pods.sort(key=lambda item: float(item["metadata"]["annotations"]["kubeclassic/creation-time"]))
    return trace


@attrs.define
class _Owner:
    """A workload or a bare pod, with the pods that it has had so far."""

    pods: list[_Made] = attrs.Factory(list)
    template: Any = ""

    def apply(self, manifest: Manifest, time: Decimal) -> None:
        """Create the owner, or change it, as in *manifest*."""
        if manifest["kind"] == "CronJob":  # suspended or not, its runs took place
            manifest = {**manifest, "spec": {**manifest.get("spec", {}), "suspend": False}}
        new = [decode(manifest)] if manifest["kind"] == "Pod" else expand([manifest], cron_jobs=True).objects
        pods = [item for item in new if isinstance(item, Pod)]
        template = _template(manifest)
        alive = [pod for pod in self.pods if pod.ended is None]
        if template != self.template:
            self.end(0, time)
            alive = []
        self.template = template
        self.end(len(pods), time)
        self.pods += [
            _Made(manifest, pod, len(self.pods) + number, time)
            for number, pod in enumerate(pods[len(alive) :])
        ]

    def end(self, kept: int, time: Decimal) -> None:
        """End all pods but the first *kept*."""
        for pod in [pod for pod in self.pods if pod.ended is None][kept:]:
            pod.ended = time

    def made(self, lives: Sequence[Life]) -> Iterator[Manifest]:
        """The pods as manifests; the first ones run as long as *lives* say."""
        for number, pod in enumerate(self.pods):
            begin, end = lives[number] if number < len(lives) else (Decimal(0), None)
            yield pod.manifest(None if end is None else end - begin)


@attrs.define
class _Made:
    owner: Manifest
    pod: Pod
    number: int
    begun: Decimal
    ended: Decimal | None = None

    def manifest(self, runs: Decimal | None) -> Manifest:
        owner = self.owner
        meta = owner["metadata"]
        name = meta["name"]
        is_bare = owner["kind"] == "Pod"
        metadata = Manifest(
            name=name if is_bare and not self.number else f"{name}-{self.number}",
            namespace=self.pod.namespace,
            labels=dict(self.pod.labels),
        )
        if not is_bare:
            uid = meta.get("uid") or f"{owner['kind']}-{meta.get('namespace', 'default')}-{name}".lower()
            reference = {
                "apiVersion": owner.get("apiVersion", ""),
                "kind": owner["kind"],
                "name": name,
                "controller": True,
                "uid": uid,
            }
            metadata["ownerReferences"] = [reference]
        item = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": dict(_template(owner).get("spec") or {}),
        }
        return timed(item, created=self.begun, deleted=self.ended, runs=runs)


def _template(manifest: Manifest) -> Manifest:
    """The template of a workload's pods; a bare pod without its node."""
    spec = manifest.get("spec") or {}
    if manifest["kind"] == "Pod":
        return {"spec": {name: value for name, value in spec.items() if name != "nodeName"}}
    if manifest["kind"] == "CronJob":
        spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    return spec.get("template") or {}


# --- the file -----------------------------------------------------------------------------------------------


def _decoded(path: str) -> Mapping[str, Any]:
    try:
        document = msgspec.msgpack.decode(unpacked(read_file(path), path))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ManifestError(f"{path}: expected a trace of SimKube, got bytes that are no msgpack") from None
    if isinstance(document, list):
        document = {"version": VERSIONS[0], **dict(zip(_PARTS, document, strict=False))}
    if not isinstance(document, dict):
        raise ManifestError(f"{path}: expected a trace of SimKube, got {shown(document)}")
    if document.get("version") not in VERSIONS:
        raise ManifestError(
            f"{path}: version: expected {' or '.join(map(str, VERSIONS))}, got {shown(document.get('version'))}"
        )
    events = document.get("events")
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise ManifestError(f"{path}: events: expected a list of events, got {shown(events)}")
    return document


def _objects(event: Mapping[str, Any], name: str, where: str) -> Sequence[Manifest]:
    items = event.get(name) or []
    try:
        are_plain = isinstance(items, list) and all(
            isinstance(item, dict) and _is_plain(item) for item in items
        )
    except RecursionError:
        raise ManifestError(f"{where}: {name}: nested too deeply") from None
    if not are_plain:
        raise ManifestError(f"{where}: {name}: expected a list of Kubernetes objects, got {shown(items)}")
    return items


def _is_plain(value: Any) -> bool:
    """Whether *value* could be JSON: msgpack has any keys, times, bytes and other values, too."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int) or (isinstance(value, float) and isfinite(value))


def _key(item: Manifest, where: str) -> Key:
    metadata = item.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if (
        not isinstance(name, str)
        or not isinstance(item.get("kind"), str)
        or not isinstance(item.get("spec", {}), dict)
    ):
        raise ManifestError(
            f"{where}: expected a Kubernetes object with kind, metadata.name and spec, got {shown(item)}"
        )
    assert isinstance(metadata, dict)
    return kind_with_group(
        item["kind"], item.get("apiVersion")
    ), f"{metadata.get('namespace') or 'default'}/{name}"


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LATEST


def _spans(part: Any, owner: Key) -> Iterator[tuple[Key, Life]]:
    """The lives of pods below *part*, by the nearest keys that are a kind and a name."""
    for inner in part if isinstance(part, list) else ():
        yield from _spans(inner, owner)
    for key, inner in part.items() if isinstance(part, dict) else ():
        times = inner if isinstance(inner, list) else [inner]
        if (key, len(times)) in (("Finished", 2), ("Running", 1)) and all(map(_is_time, times)):
            yield owner, (Decimal(str(times[0])), Decimal(str(times[1])) if len(times) > 1 else None)
            continue
        kind, name = owner
        for text in key if isinstance(key, tuple) else (key,):
            if match := _TYPE.search(str(text)):
                kind = kind_with_group(match[1], text[: match.start()])
            elif "/" in str(text):
                name = text
        yield from _spans(inner, (kind, name))
