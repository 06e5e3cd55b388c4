"""Recordings of a cluster as timed events: JSON Lines, the recorder files of kube-scheduler-simulator, objects with annotated times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from ....api.controlplane.defaults import with_defaults
from ....api.objects import KubeObject, Node, Pod
from ....api.reading.decode import decode, describe
from ....api.reading.documents import Document
from ....api.reading.mismatch import shown
from ....api.reading.notices import Oddities
from ....exceptions import ManifestError
from .times import DURATION, TIME, parse_duration, parse_time

CREATION_TIME = "kubeclassic/creation-time"
DELETION_TIME = "kubeclassic/deletion-time"
RUN_TIME = "kubeclassic/run-time"
"""Annotations: when an object is created and deleted, and how long a pod runs."""

ADD, UPDATE, DELETE = "Add", "Update", "Delete"
DRAIN, FAIL, RECOVER = "Drain", "Fail", "Recover"
VERBS = (ADD, UPDATE, DELETE, DRAIN, FAIL, RECOVER)


START = float("-inf")
"""The time of objects that exist from the beginning."""


@attrs.frozen(kw_only=True, repr=False)
class Lifetime:
    """How long a pod lasts, in virtual seconds; None: until something else ends it."""

    runs_for: float | None = None
    """Counted from when it runs."""
    leaves_at: float | None = None
    """When it is deleted, whether it has a node or not."""


EVER = Lifetime()
"""A pod that stays until something ends it."""


@attrs.frozen(repr=False)
class Event:
    """Something that happens to the cluster from outside, at *time* in seconds."""

    time: float
    verb: str
    item: KubeObject
    where: str = ""
    lifetime: Lifetime = EVER


@attrs.define(repr=False)
class TraceTimes:
    """Reads times, which must all be dates or all be seconds."""

    dated: bool | None = None

    def read(self, written: object, where: str) -> float:
        """A time in seconds. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
        found = parse_time(written)
        if found is None:
            raise ManifestError(f"{where}: expected {TIME}, got {shown(written)}")
        if self.dated is not None and self.dated != found[1]:
            kinds = ("a date where earlier times are seconds", "seconds where earlier times are dates")
            raise ManifestError(f"{where}: expected one kind throughout, got {shown(written)}, {kinds[self.dated]}")
        self.dated = found[1]
        return found[0]


# --- recorded events ------------------------------------------------------------------------------------------------


def is_event(data: Mapping[str, Any]) -> bool:
    """Whether a document is a recorded event."""
    return "event" in data and "kind" not in data


def read_event(document: Document, times: TraceTimes, odd: Oddities, *, defaults: bool, keeps_manifest: bool = False) -> Event | None:
    """The event in a line of a recording; None for one about a kind that scheduling does not read. *odd* takes what is not read.

    Raises :class:`~kubeclassic.exceptions.ManifestError`.
    """
    data, where = document.data, document.where
    verb = data.get("event")
    if verb not in VERBS:
        raise ManifestError(f"{where}: event: expected {', '.join(VERBS[:-1])} or {VERBS[-1]}, got {shown(verb)}")
    time = times.read(data.get("time"), f"{where}: time")
    inner = data.get("object", data.get("resource"))
    if not isinstance(inner, Mapping):
        raise ManifestError(f"{where}: object: expected a Kubernetes object, got {shown(inner)}")
    place = f"{where} ({describe(inner)})"
    item = decode(inner, place, strict=False, keeps_manifest=keeps_manifest)
    if item is None:
        return None
    odd.note_repeated(document.repeated, place)
    odd.note_unknown(item.kind, inner, place)
    if not item.name:
        raise ManifestError(f"{where}: object.metadata.name: expected a name, got nothing")
    if verb in (DRAIN, FAIL, RECOVER) and not isinstance(item, Node):
        raise ManifestError(f"{where}: object.kind: expected Node for the event {verb}, got {item.kind}")
    return Event(time, verb, with_defaults(item) if defaults else item, where)


def with_run_times(events: Iterable[Event]) -> list[Event]:
    """The events, with pods that run as long as they did in the recording, whenever they start here.

    This holds for pods whose binding and end are both in the recording; their recorded end is left out.
    """
    found: list[Event | None] = list(events)
    begun, bound = dict[str, int](), dict[str, float]()
    for place, event in enumerate(events):
        pod = event.item
        if not isinstance(pod, Pod):
            continue
        key, ends = pod.key, event.verb == DELETE or pod.is_terminal
        if key not in begun and event.verb == ADD and not pod.spec.node_name and not ends:
            begun[key] = place
        elif key in bound and ends:
            start = found[begun[key]]
            if start is not None and start.lifetime is EVER:
                found[begun[key]] = attrs.evolve(start, lifetime=Lifetime(runs_for=max(event.time - bound[key], 0.0)))
            found[place] = None
        if event.verb == DELETE:
            begun.pop(key, None)
            bound.pop(key, None)
        elif key in begun and key not in bound and pod.spec.node_name:
            bound[key] = event.time
    return [event for event in found if event is not None]


# --- objects with annotated times -----------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, repr=False)
class Reading:
    """How to read times."""

    ignore_times: bool = False
    """Everything comes at once, and stays."""
    as_recorded: bool = False
    """Pods leave at their recorded time, not after their recorded run time."""
    run_time: float | None = None
    """The run time of pods that have none of their own."""


def timed(objects: Iterable[KubeObject], reading: Reading, times: TraceTimes) -> Iterator[Event]:
    """The events that create *objects*, by their annotated times, and that delete them; a pod has its end in its lifetime."""
    for item in objects:
        found = {}
        for name in () if reading.ignore_times else (CREATION_TIME, DELETION_TIME):
            if name in item.annotations:
                found[name] = times.read(item.annotations[name], _where(item, name))
        created, leaves = found.get(CREATION_TIME, START), found.get(DELETION_TIME)
        if isinstance(item, Pod):
            runs = None if reading.ignore_times else _run_time(item)
            if runs is not None and leaves is not None:
                runs, leaves = (None, leaves) if reading.as_recorded else (runs, None)
            if runs is None and leaves is None:
                runs = reading.run_time
            yield Event(created, ADD, item, lifetime=Lifetime(runs_for=runs, leaves_at=leaves))
        else:
            yield Event(created, ADD, item)
            if leaves is not None:
                yield Event(leaves, DELETE, item)


def _run_time(pod: Pod) -> float | None:
    written = pod.annotations.get(RUN_TIME)
    if written is None:
        return None
    seconds = parse_duration(written)
    if seconds is None:
        raise ManifestError(f"{_where(pod, RUN_TIME)}: expected {DURATION}, got {shown(written)}")
    return seconds


def _where(item: KubeObject, annotation: str) -> str:
    return f"{item.kind} {item.key}: metadata.annotations[{annotation}]"
