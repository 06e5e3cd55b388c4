"""Inputs of a replay: manifests, recordings, published traces and scenarios, merged into one list of
events."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import IO

from attrs import Factory, define, evolve, frozen

from ...api.controlplane import (
    ADMISSION_KINDS,
    WORKLOADS,
    Scales,
    admit,
    claims_of_volumes,
    expand,
    first_job,
    read_workload,
    scales_of,
    stays_on,
    with_defaults,
)
from ...api.garbage import no_garbage_collection
from ...api.load import REFUSED, Loaded, config_maps, each_once, load, made_by_workloads, merged
from ...api.meaning import NEWEST_SERVER, ServerRules
from ...api.objects import (
    DEFAULT_SCHEDULER,
    ON_A_NODE,
    JsonObject,
    KubeObject,
    Node,
    Pod,
    of_kind,
    why_not_waiting,
)
from ...api.reading import Document, Notice, Oddities, PathLike, decode, describe, read_documents, shown
from ...api.reading.formats.files import read_stream
from ...api.record import Names
from ...core.pods import NATIVE, PODS, of_node
from ...exceptions import ManifestError
from ...framework.schedulerspec import ConfigMaps
from ...simulation.evictions import is_daemon
from ...simulation.simulate import CLUSTER, gone_notices, named
from ..importing import rows
from .operations import Operation, nodes_of, read_operations
from .times import CREATION_TIME, DELETION_TIME, DURATION, RUN_TIME, TraceTimes, parse_duration

# --- events -------------------------------------------------------------------------------------------------

ADD = "Add"
UPDATE = "Update"
DELETE = "Delete"
DRAIN = "Drain"
FAIL = "Fail"
RECOVER = "Recover"
VERBS = (ADD, UPDATE, DELETE, DRAIN, FAIL, RECOVER)
START = float("-inf")
"""The time of objects that exist from the beginning."""


@frozen(kw_only=True, repr=False)
class Lifetime:
    """The lifetime of a pod, in virtual seconds; None: until something else ends it."""

    runs_for: float | None = None
    """How long it runs once started."""
    leaves_at: float | None = None
    """When it is deleted, whether it has a node or not."""


EVER = Lifetime()
"""A pod that stays until something ends it."""


@frozen(repr=False)
class Event:
    """Something that happens to the cluster from outside, at *time* in seconds."""

    time: float
    verb: str
    item: KubeObject
    where: str = ""
    lifetime: Lifetime = EVER


# --- recorded events ----------------------------------------------------------------------------------------


def with_run_times(events: Iterable[Event], scheduler_names: frozenset[str]) -> list[Event]:
    """The events, with pods that run as long as they did in the recording, whenever they start here.

    This holds for pods of *scheduler_names* whose binding and end are both in the recording; their recorded
    end is left out.
    """
    kept: list[Event | None] = list(events)
    added_at = dict[str, int]()
    bound = dict[str, float]()
    for place, event in enumerate(events):
        pod = event.item
        if not isinstance(pod, Pod):
            continue
        key = pod.key
        ends = event.verb == DELETE or pod.is_terminal
        if key not in added_at and event.verb == ADD and why_not_waiting(pod, scheduler_names) is None:
            added_at[key] = place
        elif key in bound and ends:
            start = kept[added_at[key]]
            if start is not None and start.lifetime is EVER:
                kept[added_at[key]] = evolve(
                    start, lifetime=Lifetime(runs_for=max(event.time - bound[key], 0.0))
                )
            kept[place] = None
        if event.verb == DELETE:
            added_at.pop(key, None)
            bound.pop(key, None)
        elif key in added_at and key not in bound and pod.spec.node_name and not ends:
            bound[key] = event.time
    return [event for event in kept if event is not None]


# --- objects with annotated times ---------------------------------------------------------------------------


def timed(objects: Iterable[KubeObject], reading: InputOptions, times: TraceTimes) -> Iterator[Event]:
    """The events that create and delete *objects* at their annotated times; a pod's end is in its
    lifetime."""
    for item in objects:
        marks = item.annotations
        place = f"{item.kind} {item.key}: metadata.annotations"
        created, leaves = (
            times.read(marks[name], f"{place}[{name}]") if name in marks else None
            for name in (CREATION_TIME, DELETION_TIME)
        )
        start = START if created is None else created
        if isinstance(item, Pod):
            yield Event(start, ADD, item, lifetime=lifetime_of(item, reading, times, place))
            continue
        yield Event(start, ADD, item)
        if leaves is not None:
            where = f"{place}[{DELETION_TIME}]"
            if leaves < start:
                wanted = f"a time from {shown(marks[CREATION_TIME])} on, when it is created"
                raise ManifestError(f"{where}: expected {wanted}, got {shown(marks[DELETION_TIME])}")
            yield Event(leaves, DELETE, item, where)


def lifetime_of(pod: Pod, reading: InputOptions, times: TraceTimes, place: str) -> Lifetime:
    """The lifetime of *pod* by its annotations, which are at *place*."""
    marks = pod.annotations
    leaves = times.read(marks[DELETION_TIME], f"{place}[{DELETION_TIME}]") if DELETION_TIME in marks else None
    runs = parse_duration(marks[RUN_TIME]) if RUN_TIME in marks else None
    if RUN_TIME in marks and runs is None:
        raise ManifestError(f"{place}[{RUN_TIME}]: expected {DURATION}, got {shown(marks[RUN_TIME])}")
    if runs is not None and leaves is not None:
        runs, leaves = (None, leaves) if reading.as_recorded else (runs, None)
    return EVER if runs is None and leaves is None else Lifetime(runs_for=runs, leaves_at=leaves)


def _comes_later(node: Node) -> bool:
    return CREATION_TIME in node.annotations


def _marks_of(manifest: JsonObject) -> dict[str, str]:
    """The annotated times at which the workload of *manifest* comes and goes."""
    marks = read_workload(manifest).metadata.annotations
    return {name: marks[name] for name in (CREATION_TIME, DELETION_TIME) if name in marks}


def _timed(manifest: JsonObject) -> JsonObject:
    marks = _marks_of(manifest)
    return with_times(manifest, marks) if marks else manifest


def with_times(manifest: JsonObject, marks: Mapping[str, str]) -> JsonObject:
    """The *manifest* of a workload, with *marks* for its pods and the creation time for its claims, unless
    their templates say otherwise."""
    if not isinstance(spec := manifest.get("spec"), dict):
        return manifest
    spec = {**spec}
    if spec.get("jobTemplate"):
        spec["jobTemplate"] = with_times(spec["jobTemplate"], marks)
    if spec.get("template"):
        spec["template"] = _annotated(spec["template"], marks)
    if claims := spec.get("volumeClaimTemplates"):
        created = {name: time for name, time in marks.items() if name == CREATION_TIME}
        spec["volumeClaimTemplates"] = [_annotated(claim, created) for claim in claims]
    return {**manifest, "spec": spec}


def _annotated(item: JsonObject, marks: Mapping[str, str]) -> JsonObject:
    """*item* with *marks* beside its annotations; one that cannot be read is refused later."""
    metadata = (item.get("metadata") or {}) if isinstance(item, dict) else None
    own = (metadata.get("annotations") or {}) if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(own, dict):
        return item
    return {**item, "metadata": {**metadata, "annotations": {**marks, **own}}}


# --- all inputs ---------------------------------------------------------------------------------------------

STDIN = "-"
_MARKS = frozenset(["event", "opcode", "workloadTemplate"])
"""Fields of the first document of a recording or a scenario."""


@frozen(kw_only=True, repr=False)
class InputOptions:
    """Options of reading inputs."""

    as_recorded: bool = False
    """Pods leave at their recorded time, not after their recorded run time."""
    cron_jobs: bool = False
    """Make the pods of one Job of each CronJob."""
    defaults: bool = True
    """Complete and admit objects as the API server would."""
    strict_fields: bool = False
    """Refuse unknown fields and keys given twice, instead of a warning."""
    keeps_manifests: bool = False
    """Objects keep their JSON form, for extenders."""
    scheduler_names: frozenset[str] = frozenset([DEFAULT_SCHEDULER])
    """Pods that ask for another scheduler are ignored while they have no node."""


@frozen(repr=False)
class TimedDaemonSet:
    """A DaemonSet, and when it is there."""

    manifest: JsonObject
    comes: float = START
    leaves: float | None = None


@frozen(repr=False)
class WorkloadManifests:
    """The manifests of Jobs and DaemonSets whose pods no recording has."""

    jobs: tuple[JsonObject, ...] = ()
    daemon_sets: tuple[TimedDaemonSet, ...] = ()
    ordered: frozenset[str] = frozenset()
    """The StatefulSets that make their pods in order, by ``namespace/name``."""
    made: frozenset[str] = frozenset()
    """The pods that workloads make, by ``namespace/name``."""
    scales: Scales = Factory(dict)
    """The replicas of the workloads."""
    rules: tuple[KubeObject, ...] = ()
    """The objects that admission reads."""
    server: ServerRules = NEWEST_SERVER
    defaults: bool = True

    def daemons_for(self, node: Node, pods: Iterable[Pod], now: float) -> list[tuple[Pod, Lifetime]]:
        """The pods that DaemonSets make for *node*, which is new to them, beside those among *pods*."""
        there = [node, *filter(is_daemon, pods)] if self.daemon_sets else []
        found = []
        for each in self.daemon_sets:
            if each.comes <= now and (each.leaves is None or now < each.leaves):
                made = expand([each.manifest], there, strict=self.defaults).objects
                taken = admit(made, self.rules, server=self.server).objects if self.defaults else made
                found += [(pod, Lifetime(leaves_at=each.leaves)) for pod in of_kind(Pod, taken)]
        return found

    def keeps(self, pod: Pod, node: Node) -> bool:
        """Whether the DaemonSet of *pod* leaves it on *node*."""
        for each in self.daemon_sets:
            workload = read_workload(each.manifest)
            if workload.controls(pod.metadata):
                return stays_on(workload.pod(self.defaults).spec, node)
        return True


@frozen(repr=False)
class Inputs:
    """Events in order of time, and the operations of a scenario, if there is one."""

    events: tuple[Event, ...]
    operations: tuple[Operation, ...] = ()
    resources: Names = (*NATIVE[:2], PODS)
    """The resources of all nodes: cpu, memory, then others by name, then ``pods``."""
    origin: float = 0.0
    """The clock's 0 in seconds since 1970."""
    ignored: Mapping[str, int] = Factory(dict)
    warnings: tuple[Notice, ...] = ()
    config_maps: ConfigMaps = Factory(dict)
    workloads: WorkloadManifests = WorkloadManifests()

    @property
    def objects(self) -> list[KubeObject]:
        """The objects that are there at the beginning or come later, each once, and the templates of
        others."""
        by_identity = {event.item.identity: event.item for event in self.events if event.verb != DELETE}
        templates = (item for operation in self.operations for item in operation.templates)
        return [*by_identity.values(), *templates]

    @property
    def nodes(self) -> list[Node]:
        """The nodes among ``objects``."""
        return [item for item in self.objects if isinstance(item, Node)]


def read_inputs(
    paths: Sequence[PathLike],
    choice: InputOptions = InputOptions(),
    stdin: IO[bytes] | None = None,
    given: Iterable[Loaded] = (),
    server: ServerRules = NEWEST_SERVER,
) -> Inputs:
    """Read *paths*: manifests and directories of them, recordings, openb's two CSV files, a scenario, ``-``
    for standard input.

    *given* counts like what is in manifests; *server*: how objects are admitted. Raises
    :class:`~kubeclassic.exceptions.ManifestError`.
    """
    return InputReader.of(paths, choice, stdin, given).inputs(server)


@define(repr=False)
class InputReader:
    """The contents of inputs, before a scheduler is chosen."""

    choice: InputOptions
    stdin: IO[bytes] | None
    where: str
    """The files that were given, in messages."""
    loaded: Loaded = Factory(Loaded)
    """What is there at first, or comes at an annotated time."""
    manifests: list[str] = Factory(list)
    made: frozenset[str] = frozenset()
    """The pods that workloads make, by ``namespace/name``."""
    tables: dict[str, str] = Factory(dict)
    """openb's files, by what they list: nodes or pods."""
    recorded: list[Event] = Factory(list)
    events: list[Event] = Factory(list)
    """All events in order of time."""
    origin: float = 0.0
    server: ServerRules = NEWEST_SERVER
    """The API server's admission of new objects."""
    operations: list[Operation] = Factory(list)
    times: TraceTimes = Factory(TraceTimes)
    ignored: Counter[str] = Factory(Counter)
    odd: Oddities = Factory(Oddities)
    _piped: bytes = b""

    @classmethod
    def of(
        cls,
        paths: Sequence[PathLike],
        choice: InputOptions,
        stdin: IO[bytes] | None = None,
        given: Iterable[Loaded] = (),
    ) -> InputReader:
        """The reader of *paths* and *given*. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
        reader = cls(choice, stdin, named(paths), odd=Oddities(choice.strict_fields))
        with no_garbage_collection():
            for path in paths:
                reader.sort(os.fspath(path))
            reader.merge(given)
        return reader

    # --- sorting --------------------------------------------------------------------------------------------

    def sort(self, path: str) -> None:
        """Find out the kind of input of a path, and read it unless it has manifests."""
        choice = self.choice
        if path == STDIN:
            self._piped = read_stream(self.stdin)
        if path.endswith(".csv"):
            kind = rows.listed_in(path)
            if kind in self.tables:
                raise ManifestError(f"{path}: expected one list of {kind}, got two")
            self.tables[kind] = path
            return
        documents = (
            [] if path != STDIN and os.path.isdir(path) else read_documents([path], io.BytesIO(self._piped))
        )
        first = next(iter(documents), None)
        if first is None or "kind" in first.data or _MARKS.isdisjoint(first.data):
            self.manifests.append(path)
        elif "event" in first.data:
            events = [event for event in map(self._event, [first, *documents]) if event is not None]
            self.recorded += events if choice.as_recorded else with_run_times(events, choice.scheduler_names)
        else:
            folder = Path() if path == STDIN else Path(path).parent
            self.operations += read_operations(
                [first, *documents], folder, defaults=choice.defaults, odd=self.odd
            )

    def _event(self, document: Document) -> Event | None:
        """The event in a line of a recording; None for one about a kind that scheduling does not read.

        Raises :class:`~kubeclassic.exceptions.ManifestError`.
        """
        data = document.data
        where = document.where
        verb = data.get("event")
        if verb not in VERBS:
            raise ManifestError(
                f"{where}: event: expected {', '.join(VERBS[:-1])} or {VERBS[-1]}, got {shown(verb)}"
            )
        time = self.times.read(data.get("time"), f"{where}: time")
        inner = data.get("object", data.get("resource"))
        if not isinstance(inner, Mapping):
            raise ManifestError(f"{where}: object: expected a Kubernetes object, got {shown(inner)}")
        place = f"{where} ({describe(inner)})"
        item = decode(inner, place, strict=False, keeps_manifest=self.choice.keeps_manifests)
        if item is None:
            self.ignored["events about other kinds"] += 1
            return None
        self.odd.note_repeated(document.repeated, place)
        self.odd.note_unknown(item.kind, inner, place)
        if not item.name:
            raise ManifestError(f"{where}: object.metadata.name: expected a name, got nothing")
        if verb in (DRAIN, FAIL, RECOVER) and not isinstance(item, Node):
            raise ManifestError(f"{where}: object.kind: expected Node for the event {verb}, got {item.kind}")
        lifetime = EVER
        if verb == ADD and isinstance(item, Pod):
            lifetime = lifetime_of(item, self.choice, self.times, f"{place}: metadata.annotations")
        return Event(time, verb, with_defaults(item) if self.choice.defaults else item, where, lifetime)

    # --- objects --------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> list[Node]:
        """The nodes that are there at the beginning or come later, and the templates of others."""
        nodes = [event.item for event in self.events if isinstance(event.item, Node) and event.verb != DELETE]
        return [*nodes, *nodes_of(self.operations)]

    def merge(self, given: Iterable[Loaded]) -> None:
        """Read the manifests, take them and *given* with what workloads make of them, and put all events in
        order."""
        choice = self.choice
        parts = [*given]
        if self.manifests:
            files = load(
                self.manifests,
                stdin=io.BytesIO(self._piped),
                defaults=choice.defaults,
                strict_fields=choice.strict_fields,
                keeps_manifests=choice.keeps_manifests,
            )
            parts.insert(0, files)
        loaded = self.loaded = merged(parts)
        self.ignored.update(loaded.ignored_kinds)
        raw = {kind: tuple(map(_timed, items)) for kind, items in loaded.raw.items() if kind in WORKLOADS}
        loaded = self.loaded = evolve(loaded, raw={**loaded.raw, **raw})
        # DaemonSets make pods for a node once both are there.
        there = [item for item in loaded.objects if not (isinstance(item, Node) and _comes_later(item))]
        early = tuple(item for item in raw.get("DaemonSet", ()) if CREATION_TIME not in _marks_of(item))
        present = evolve(loaded, objects=tuple(there), raw={**loaded.raw, "DaemonSet": early})
        expanded = made_by_workloads(present, defaults=choice.defaults, cron_jobs=choice.cron_jobs)
        self.odd.notices += (*loaded.warnings, *expanded.notices)
        self.made = frozenset(pod.key for pod in of_kind(Pod, expanded.objects))
        objects = []
        for item in (*loaded.objects, *expanded.objects, *self._traced()):
            reason = self._why_ignored(item)
            if reason is None:
                objects.append(item)
            else:
                self.ignored[reason] += 1
        self.events = self._placed([*timed(objects, choice, self.times), *self.recorded])

    def inputs(self, server: ServerRules) -> Inputs:
        """Everything that was read, as *server* admits it."""
        self.server = server
        items = (event.item for event in self.events)
        templates = (template for operation in self.operations for template in operation.templates)
        classes = [item for item in (*items, *templates) if isinstance(item, ADMISSION_KINDS)]
        with no_garbage_collection():
            events = tuple(self._taken(self.events, classes))
            operations = tuple(self._prepared(operation, classes) for operation in self.operations)
        provided = {*NATIVE[:2]}
        for node in self.nodes:
            provided |= {name for name, amount in of_node(node.status.allocatable).items() if amount}
        native = [name for name in NATIVE if name in provided]
        resources = (*native, *sorted(provided - {*NATIVE, PODS}), PODS)
        notices = tuple(self.odd.notices)
        maps = config_maps(self.loaded)
        manifests = self._manifests(classes)
        return Inputs(
            events, operations, resources, self.origin, dict(+self.ignored), notices, maps, manifests
        )

    def _manifests(self, classes: Sequence[KubeObject]) -> WorkloadManifests:
        recorded = {
            (pod.namespace, owner.kind, owner.name)
            for event in self.recorded
            if isinstance(pod := event.item, Pod) and (owner := pod.controller) is not None
        }
        raw = self.loaded.raw

        def of(kind: str) -> tuple[JsonObject, ...]:
            manifests = each_once(raw.get(kind, ()))[0]
            return tuple(item for item in manifests if read_workload(item).place not in recorded)

        choice = self.choice
        cron_jobs = of("CronJob") if choice.cron_jobs else ()
        jobs = (*of("Job"), *(first_job(read_workload(item)) for item in cron_jobs))
        scales = scales_of(item for kind in WORKLOADS for item in raw.get(kind, ()))
        sets = map(read_workload, raw.get("StatefulSet", ()))
        ordered = (each for each in sets if each.spec.pod_management_policy == "OrderedReady")
        return WorkloadManifests(
            jobs,
            tuple(map(self._daemon_set, of("DaemonSet"))),
            frozenset(f"{each.namespace}/{each.name}" for each in ordered),
            self.made,
            scales,
            tuple(classes),
            self.server,
            choice.defaults,
        )

    def _daemon_set(self, manifest: JsonObject) -> TimedDaemonSet:
        place = f"{describe(manifest)}: metadata.annotations"
        marks = _marks_of(manifest)
        times = {name: self._since(self.times.read(mark, f"{place}[{name}]")) for name, mark in marks.items()}
        return TimedDaemonSet(manifest, times.get(CREATION_TIME, START), times.get(DELETION_TIME))

    def _why_ignored(self, item: KubeObject) -> str | None:
        """The reason why a pod takes no part: it neither has a node nor waits for one."""
        reason = why_not_waiting(item, self.choice.scheduler_names) if isinstance(item, Pod) else None
        return None if reason == ON_A_NODE else reason

    def _traced(self) -> tuple[KubeObject, ...]:
        if not self.tables:
            return ()
        missing = {"nodes", "pods"} - self.tables.keys()
        if missing:
            path = next(iter(self.tables.values()))
            raise ManifestError(
                f"{path}: expected both CSV files of the trace, got none with {missing.pop()}"
            )
        document = rows.manifests(self.tables["nodes"], self.tables["pods"])
        items = (decode(item, "openb") for item in document["items"])
        return tuple(with_defaults(item) for item in items if item is not None)

    def _taken(self, events: Iterable[Event], classes: Sequence[KubeObject]) -> Iterator[Event]:
        """The *events*, which are in order of time, with objects as the API server would store them.

        It would refuse some of them, and pods that are not there yet take part if they wait or have a node;
        others are left out and counted.
        """
        there = set[tuple[str, ...]]()
        nodes = {node.name for node in self.nodes}
        left_out = dict[tuple[str, ...], str]()
        made = nodes_of(self.operations)  # it is for them to name these
        for event in events:
            item = event.item
            if event.verb == DELETE:
                there.discard(item.identity)
            elif event.verb in (ADD, UPDATE):
                is_there = item.identity in there
                before = left_out.pop(item.identity, "") if event.verb == UPDATE else ""
                outcome: KubeObject | str = before
                if is_there or before != REFUSED:  # otherwise it would be told again
                    outcome = self._admitted(item, classes, there)
                if isinstance(outcome, str):
                    left_out[item.identity] = outcome
                    continue
                there.add(item.identity)
                if isinstance(item, Pod) and item.node_name and not is_there and not made:
                    self.odd.notices += gone_notices([item], nodes)
                event = event if outcome is item else evolve(event, item=outcome)
            yield event
        self.ignored.update(left_out.values())

    def _prepared(self, operation: Operation, classes: Sequence[KubeObject]) -> Operation:
        """The *operation* with templates as the API server would store what is made of them, without those
        that are left out."""
        templates = []
        for template in operation.templates:
            outcome = self._admitted(template, classes)
            if isinstance(outcome, str):
                self.ignored[outcome] += operation.count
            else:
                templates.append(outcome)
        return evolve(operation, templates=tuple(templates))

    def _admitted(
        self, item: KubeObject, classes: Sequence[KubeObject], there: Collection[tuple[str, ...]] = ()
    ) -> KubeObject | str:
        """The object as the API server would store it, or why it takes no part; *there*: what exists."""
        is_there = item.identity in there
        if not is_there and (reason := self._why_ignored(item)):
            return reason
        if not self.choice.defaults:
            return item
        claims = list[KubeObject]()
        if isinstance(item, Pod) and not (is_there or item.metadata.creation_timestamp or item.node_name):
            claims += (claim for claim in claims_of_volumes(item) if claim.identity not in there)
        admission = admit([item, *claims], classes, server=self.server)
        self.odd.notices += () if is_there else admission.notices
        self.odd.notices += (
            Notice(f"{refused.kind} {refused.key}", f"{REFUSED}: {reason}")
            for refused, reason in admission.refused
        )
        is_refused = any(refused is item for refused, _ in admission.refused)
        self.ignored[REFUSED] += len(admission.refused) - is_refused
        return REFUSED if is_refused else admission.objects[0]

    # --- times ----------------------------------------------------------------------------------------------

    def _placed(self, events: list[Event]) -> list[Event]:
        """The events in order, in seconds from the beginning, which is the date of the first."""
        if not any(isinstance(event.item, Node) and event.verb == ADD for event in events) and not nodes_of(
            self.operations
        ):
            raise ManifestError(f"{self.where or CLUSTER}: expected at least one Node, got none")
        if self.times.dated:
            self.origin = min((event.time for event in events if event.time != START), default=0.0)
        moved = []
        for event in events:
            end = event.lifetime.leaves_at
            lifetime = event.lifetime if end is None else evolve(event.lifetime, leaves_at=self._since(end))
            time = START if event.time == START else self._since(event.time)
            moved.append(evolve(event, time=time, lifetime=lifetime))
        return sorted(moved, key=attrgetter("time"))

    def _since(self, time: float) -> float:
        """The seconds from the beginning to *time*."""
        return max(time - self.origin, 0.0)
