"""Inputs of a replay: manifests, recordings, published traces and scenarios, merged into one list of
events."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import IO, Any

import attrs
from msgspec.structs import replace

from ...api.controlplane import admit, with_defaults
from ...api.garbage import no_garbage_collection
from ...api.load import REFUSED, Loaded, config_maps, load, made_by_workloads
from ...api.objects import (
    DEFAULT_SCHEDULER,
    ON_A_NODE,
    JsonObject,
    KubeObject,
    Map,
    Node,
    NodeStatus,
    ObjectMeta,
    OneOf,
    Pod,
    PriorityClass,
    Quantity,
    StorageClass,
    strings,
    why_not_waiting,
)
from ...api.reading import (
    Document,
    Mismatch,
    Notice,
    Oddities,
    PathLike,
    Reader,
    Table,
    decode,
    describe,
    entries,
    flag,
    list_of,
    one_of,
    read_documents,
    record,
    shown,
    text,
    whole,
)
from ...api.reading.formats.files import read_stream
from ...api.record import Names
from ...core.pods import NATIVE, PODS, of_node
from ...exceptions import ManifestError, did_you_mean
from ...simulation.simulate import CLUSTER, named
from ..importing import rows
from .times import CREATION_TIME, DELETION_TIME, DURATION, RUN_TIME, TraceTimes, parse_duration

# --- operations of a scenario -------------------------------------------------------------------------------

# Upstream: test/integration/scheduler_perf, whose opcodes these are; deleteNodes is added.


DEFAULT_NODE = Node(
    metadata=ObjectMeta(name="node"),
    status=NodeStatus(
        allocatable=Map(
            {"cpu": Quantity.parse("4"), "memory": Quantity.parse("32Gi"), "pods": Quantity.parse("110")}
        )
    ),
)
MOST_OBJECTS = 10_000_000
"""The most objects that one operation can make, in all or per second."""
LONGEST = 100 * 365.25 * 86400
"""The most seconds that an operation can wait."""


@attrs.frozen(kw_only=True, repr=False)
class Operation:
    """One operation; which fields count depends on *opcode*. Times are virtual seconds."""

    opcode: str = ""
    count: int = 1
    names: Names = ()
    """Nodes by name; without names *count* random ones."""
    templates: tuple[KubeObject, ...] = ()
    namespace: str | None = None
    namespaces: Names = ()
    label_key: str = ""
    label_values: Names = ()
    """Values given to the nodes in turn; without values each node gets its own name."""
    interval: float = 0.0
    """Time between two pods, or two steps of churn; the length of a sleep."""
    per_second: float = 0.0
    """Pods a second on average, at random times (a Poisson process)."""
    run_time: float | None = None
    skip_wait: bool = False
    """Do not wait until all created pods are scheduled."""
    mode: str = "create"
    number: int = 0
    timeout: float = 1800.0


def nodes_of(operations: Iterable[Operation]) -> list[Node]:
    """The templates of the nodes that are created."""
    return [
        template for operation in operations for template in operation.templates if isinstance(template, Node)
    ]


def read_operations(
    documents: Iterable[Document], folder: Path, *, defaults: bool = True, odd: Oddities | None = None
) -> Iterator[Operation]:
    """The operations of a scenario: a list of them, or an object with ``workloadTemplate``,
    ``defaultPodTemplatePath``, ``params``.

    The paths of templates are relative to *folder*; *odd* collects fields that are not read. Raises
    :class:`~kubeclassic.exceptions.ManifestError`.
    """
    for document in documents:
        whole_file: JsonObject = (
            document.data if "workloadTemplate" in document.data else {"workloadTemplate": [document.data]}
        )
        params = whole_file.get("params") or {}
        path = whole_file.get("defaultPodTemplatePath")
        for name, value, kind, expected in (
            ("params", params, dict, "an object"),
            ("defaultPodTemplatePath", path or "", str, "a file"),
        ):
            if not isinstance(value, kind):
                raise ManifestError(f"{document.where}: {name}: expected {expected}, got {shown(value)}")
        settings = _Settings(folder, defaults, params, path, odd or Oddities())
        settings.odd.note_repeated(document.repeated, document.where)
        steps = whole_file["workloadTemplate"]
        if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
            raise ManifestError(
                f"{document.where}: workloadTemplate: expected a list of operations, got {shown(steps)}"
            )
        for number, step in enumerate(steps, 1):
            place = f", operation {number}" if "workloadTemplate" in document.data else ""
            yield settings.read(step, f"{document.where}{place}")


# --- fields -------------------------------------------------------------------------------------------------


def _count(value: Any) -> int:
    if whole(value) < 0:
        raise Mismatch(value, "0 or more")
    if value > MOST_OBJECTS:
        raise Mismatch(value, f"at most {MOST_OBJECTS:,}")
    return whole(value)


def _seconds(value: Any) -> float:
    seconds = parse_duration(value)
    if seconds is None:
        raise Mismatch(value, DURATION)
    if seconds > LONGEST:
        raise Mismatch(value, "at most 100 years")
    return seconds


def _rate(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MOST_OBJECTS:
        raise Mismatch(value, f"a number above 0, up to {MOST_OBJECTS:,}")
    return float(value)


def _labelling(value: Any) -> dict[str, Any]:
    reader: Reader[dict[str, Any]] = record(
        dict, {"labelKey": ("label_key", text), "labelValues": ("label_values", list_of(text, ""))}
    )
    labels = reader(value)
    if not labels.get("label_key"):
        raise Mismatch(None, "the key of a label").under("labelKey")
    return labels


_INLINE = ("nodeTemplate", "podTemplate", "template", "templates")
_PATHS = ("nodeTemplatePath", "podTemplatePath", "templatePath", "templatePaths")
_COUNT: Table = {"count": ("count", _count), "countParam": ("count", _count)}
_NAMES: Table = {"names": ("names", list_of(text)), **_COUNT}
_WAIT: Table = {"skipWaitToCompletion": ("skip_wait", flag), "timeout": ("timeout", _seconds)}
FIELDS: Mapping[str, Table] = {
    "createNodes": {
        **_NAMES,
        "labelNodePrepareStrategy": ("", _labelling),
        "uniqueNodeLabelStrategy": ("", _labelling),
    },
    "createPods": {
        **_COUNT,
        "namespace": ("namespace", text),
        "interval": ("interval", _seconds),
        "perSecond": ("per_second", _rate),
        "runTime": ("run_time", _seconds),
        "collectMetrics": ("", lambda value: {}),
        **_WAIT,
    },
    "createAny": {"namespace": ("namespace", text), **_COUNT},
    "churn": {
        "mode": ("mode", one_of(OneOf("create", "recreate"))),
        "number": ("number", _count),
        "interval": ("interval", _seconds),
        "intervalMilliseconds": ("interval", lambda value: _count(value) / 1000),
        "namespace": ("namespace", text),
        "runTime": ("run_time", _seconds),
    },
    "sleep": {"duration": ("interval", _seconds), "durationParam": ("interval", _seconds)},
    "barrier": {"namespaces": ("namespaces", list_of(text)), **_WAIT},
    "deletePods": {"namespace": ("namespace", text)},
    "deleteNodes": _NAMES,
}
"""Opcode -> its fields."""
_NEEDED = {
    "createNodes": ("count", "countParam"),
    "createPods": ("count", "countParam"),
    "sleep": ("duration", "durationParam"),
}
_WITH_TEMPLATES = {"createNodes": Node, "createPods": Pod, "createAny": KubeObject, "churn": KubeObject}


# --- reading ------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class _Settings:
    folder: Path
    defaults: bool
    params: JsonObject
    default_pods: str | None
    odd: Oddities

    def read(self, step: JsonObject, where: str) -> Operation:
        """One operation."""
        opcode = step.get("opcode")
        table = FIELDS.get(opcode) if isinstance(opcode, str) else None
        if table is None or not isinstance(opcode, str):
            hint = did_you_mean(opcode, FIELDS) if isinstance(opcode, str) else ""
            raise ManifestError(
                f"{where}: opcode: expected one of {', '.join(FIELDS)}, got {shown(opcode)}{hint}"
            )
        where = f"{where} ({opcode})"
        allowed = {*table, "opcode", *((*_INLINE, *_PATHS) if opcode in _WITH_TEMPLATES else ())}
        if unknown := [name for name in step if name not in allowed]:
            raise ManifestError(
                f"{where}: {unknown[0]}: got an unknown field{did_you_mean(unknown[0], allowed)}"
            )
        if opcode in _NEEDED and not any(name in step for name in _NEEDED[opcode]):
            raise ManifestError(f"{where}: {_NEEDED[opcode][0]}: expected a value, got nothing")
        try:
            operation = record(Operation, table)(
                {name: self._value(value) for name, value in step.items() if name in table}
            )
        except Mismatch as mismatch:
            raise ManifestError(f"{where}: {mismatch}") from None
        return attrs.evolve(operation, opcode=opcode, templates=tuple(self._templates(opcode, step, where)))

    def _value(self, value: Any) -> Any:
        """The value, or that of the parameter ``name`` for ``$name``."""
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        if value[1:] not in self.params:
            raise Mismatch(value, f"a parameter that params gives{did_you_mean(value[1:], self.params)}")
        return self.params[value[1:]]

    def _templates(self, opcode: str, step: JsonObject, where: str) -> Iterator[KubeObject]:
        kind = _WITH_TEMPLATES.get(opcode)
        if kind is None:
            return
        kinds = {"nodeTemplate": "Node", "podTemplate": "Pod"}
        templates = []
        for name in _INLINE:
            inline = step.get(name)
            for template in inline if isinstance(inline, list) else [] if inline is None else [inline]:
                try:
                    document = {"kind": kinds.get(name), **entries(template)}
                except Mismatch as mismatch:
                    raise ManifestError(f"{where}: {name}: {mismatch}") from None
                templates.append(self._decoded(document, f"{where}: {name}"))
        more = step.get("templatePaths") or []
        paths = [step[name] for name in _PATHS[:-1] if step.get(name) is not None]
        paths += more if isinstance(more, list) else [more]
        if opcode == "createPods" and not paths and self.default_pods and "podTemplate" not in step:
            paths = [self.default_pods]
        for path in paths:
            if not isinstance(path, str):
                raise ManifestError(f"{where}: templatePath: expected a file, got {shown(path)}")
            # A scenario may be one that others wrote, so it reads no file outside of its folder.
            file = self.folder / path
            folder = os.path.realpath(self.folder)
            if "\0" in path or not os.path.realpath(file).startswith(os.path.join(folder, "")):
                raise ManifestError(
                    f"{where}: templatePath: expected a file below the folder of the scenario, got {shown(path)}"
                )
            for template_document in read_documents([file]):
                self.odd.note_repeated(template_document.repeated, template_document.where)
                templates.append(self._decoded(template_document.data, template_document.where))
        if not templates and kind is Node:
            templates = [DEFAULT_NODE]
        if not templates or (kind is not KubeObject and len(templates) != 1):
            raise ManifestError(
                f"{where}: template: expected {'some' if kind is KubeObject else 'one'}, got {len(templates) or 'nothing'}"
            )
        for item in templates:
            if not issubclass(type(item), kind):
                raise ManifestError(f"{where}: template: expected a {kind.__name__}, got a {item.kind}")
            yield with_defaults(item) if self.defaults else item

    def _decoded(self, document: JsonObject, where: str) -> KubeObject:
        place = f"{where} ({describe(document)})"
        item = decode(document, place)
        if item is None:
            raise ManifestError(
                f"{where}: kind: expected a kind that scheduling reads, got {shown(document.get('kind'))}"
            )
        self.odd.note_unknown(item.kind, document, place)
        prefix = (document.get("metadata") or {}).get("generateName")
        if item.name or not isinstance(prefix, str):
            return item
        return replace(item, metadata=replace(item.metadata, name=prefix.rstrip("-.")))


def renamed(template: KubeObject, name: str, namespace: str | None) -> KubeObject:
    """An object made from *template*, called *name*."""
    metadata = replace(template.metadata, name=name, namespace=namespace or template.metadata.namespace)
    if isinstance(template, Node):
        metadata = replace(metadata, labels=strings({**metadata.labels, "kubernetes.io/hostname": name}))
    return replace(template, metadata=metadata)


# --- recordings and manifests -------------------------------------------------------------------------------


ADD = "Add"
UPDATE = "Update"
DELETE = "Delete"
DRAIN = "Drain"
FAIL = "Fail"
RECOVER = "Recover"
VERBS = (ADD, UPDATE, DELETE, DRAIN, FAIL, RECOVER)


START = float("-inf")
"""The time of objects that exist from the beginning."""


# Recordings of a cluster as timed events: JSON Lines, the recorder files of kube-scheduler-simulator, objects
# with annotated times.


@attrs.frozen(kw_only=True, repr=False)
class Lifetime:
    """The lifetime of a pod, in virtual seconds; None: until something else ends it."""

    runs_for: float | None = None
    """How long it runs once started."""
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


# --- recorded events ----------------------------------------------------------------------------------------


def with_run_times(events: Iterable[Event]) -> list[Event]:
    """The events, with pods that run as long as they did in the recording, whenever they start here.

    This holds for pods whose binding and end are both in the recording; their recorded end is left out.
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
        if key not in added_at and event.verb == ADD and not pod.spec.node_name and not ends:
            added_at[key] = place
        elif key in bound and ends:
            start = kept[added_at[key]]
            if start is not None and start.lifetime is EVER:
                kept[added_at[key]] = attrs.evolve(
                    start, lifetime=Lifetime(runs_for=max(event.time - bound[key], 0.0))
                )
            kept[place] = None
        if event.verb == DELETE:
            added_at.pop(key, None)
            bound.pop(key, None)
        elif key in added_at and key not in bound and pod.spec.node_name:
            bound[key] = event.time
    return [event for event in kept if event is not None]


# --- objects with annotated times ---------------------------------------------------------------------------


def timed(objects: Iterable[KubeObject], reading: InputOptions, times: TraceTimes) -> Iterator[Event]:
    """The events that create and delete *objects* at their annotated times; a pod's end is in its
    lifetime."""
    for item in objects:
        marks = item.annotations
        marked = {}
        for name in (CREATION_TIME, DELETION_TIME):
            if name in marks:
                marked[name] = times.read(
                    marks[name], f"{item.kind} {item.key}: metadata.annotations[{name}]"
                )
        created = marked.get(CREATION_TIME, START)
        leaves = marked.get(DELETION_TIME)
        if not isinstance(item, Pod):
            yield Event(created, ADD, item)
            if leaves is not None:
                yield Event(leaves, DELETE, item)
            continue
        runs = parse_duration(marks[RUN_TIME]) if RUN_TIME in marks else None
        if RUN_TIME in marks and runs is None:
            place = f"Pod {item.key}: metadata.annotations[{RUN_TIME}]"
            raise ManifestError(f"{place}: expected {DURATION}, got {shown(marks[RUN_TIME])}")
        if runs is not None and leaves is not None:
            runs, leaves = (None, leaves) if reading.as_recorded else (runs, None)
        yield Event(created, ADD, item, lifetime=Lifetime(runs_for=runs, leaves_at=leaves))


STDIN = "-"
ConfigMaps = Mapping[tuple[str, str], JsonObject]


@attrs.frozen(kw_only=True, repr=False)
class InputOptions:
    """Options of reading inputs."""

    as_recorded: bool = False
    """Pods leave at their recorded time, not after their recorded run time."""
    cron_jobs: bool = False
    """Make the pods of one Job of each CronJob."""
    priorities: bool = True
    """The gate PodPriority is on."""
    defaults: bool = True
    """Complete and admit objects as the API server would."""
    strict_fields: bool = False
    """Refuse unknown fields and keys given twice, instead of a warning."""
    keeps_manifests: bool = False
    """Objects keep their JSON form, for extenders."""
    scheduler_names: frozenset[str] = frozenset([DEFAULT_SCHEDULER])
    """Pods that ask for another scheduler are ignored while they have no node."""


@attrs.frozen(repr=False)
class Inputs:
    """Events in order of time, and the operations of a scenario, if there is one."""

    events: tuple[Event, ...]
    operations: tuple[Operation, ...] = ()
    resources: Names = (*NATIVE[:2], PODS)
    """The resources of all nodes: cpu, memory, then others by name, then ``pods``."""
    origin: float = 0.0
    """The clock's 0 in seconds since 1970."""
    ignored: Mapping[str, int] = attrs.Factory(dict)
    warnings: tuple[Notice, ...] = ()
    config_maps: ConfigMaps = attrs.Factory(dict)

    @property
    def objects(self) -> list[KubeObject]:
        """The objects that are there at the beginning or come later, each once."""
        by_identity = {event.item.identity: event.item for event in self.events if event.verb != DELETE}
        return list(by_identity.values())

    @property
    def nodes(self) -> list[Node]:
        """The nodes among ``objects``."""
        return [item for item in self.objects if isinstance(item, Node)]


def read_inputs(
    paths: Sequence[PathLike],
    choice: InputOptions = InputOptions(),
    stdin: IO[bytes] | None = None,
    objects: Iterable[KubeObject] = (),
) -> Inputs:
    """Read *paths*: manifests and directories of them, recordings, openb's two CSV files, a scenario, ``-``
    for standard input.

    *objects* count like those in manifests. Raises :class:`~kubeclassic.exceptions.ManifestError`.
    """
    reader = _Reader(choice, stdin, named(paths), tuple(objects), odd=Oddities(choice.strict_fields))
    with no_garbage_collection():
        for path in paths:
            reader.sort(os.fspath(path))
        return reader.inputs()


@attrs.define(repr=False)
class _Reader:
    choice: InputOptions
    stdin: IO[bytes] | None
    where: str
    """The files that were given, in messages."""
    objects: tuple[KubeObject, ...] = ()
    manifests: list[str] = attrs.Factory(list)
    tables: dict[str, str] = attrs.Factory(dict)
    """openb's files, by what they list: nodes or pods."""
    events: list[Event] = attrs.Factory(list)
    operations: list[Operation] = attrs.Factory(list)
    times: TraceTimes = attrs.Factory(TraceTimes)
    ignored: Counter[str] = attrs.Factory(Counter)
    odd: Oddities = attrs.Factory(Oddities)
    _piped: bytes = b""

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
        first_entry = next(iter(documents), None)
        if first_entry is not None and "event" in first_entry.data and "kind" not in first_entry.data:
            events = [event for event in map(self._event, [first_entry, *documents]) if event is not None]
            self.events += events if choice.as_recorded else with_run_times(events)
        elif (
            first_entry is not None
            and "kind" not in first_entry.data
            and not first_entry.data.keys().isdisjoint(("opcode", "workloadTemplate"))
        ):
            # A scenario, or a part of one.
            folder = Path() if path == STDIN else Path(path).parent
            self.operations += read_operations(
                [first_entry, *documents], folder, defaults=choice.defaults, odd=self.odd
            )
        else:
            self.manifests.append(path)

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
        return Event(time, verb, with_defaults(item) if self.choice.defaults else item, where)

    # --- objects --------------------------------------------------------------------------------------------

    def inputs(self) -> Inputs:
        """Everything that was read."""
        choice = self.choice
        loaded = Loaded()
        if self.manifests:
            loaded = load(
                self.manifests,
                stdin=io.BytesIO(self._piped),
                defaults=choice.defaults,
                strict_fields=choice.strict_fields,
                keeps_manifests=choice.keeps_manifests,
            )
        self.ignored.update({f"of kind {kind}": count for kind, count in loaded.ignored.items()})
        expanded = made_by_workloads([loaded], defaults=choice.defaults, cron_jobs=choice.cron_jobs)
        self.odd.notices += (*loaded.warnings, *expanded.notices)
        objects = []
        for item in (*loaded.objects, *self.objects, *expanded.objects, *self._traced()):
            reason = why_not_waiting(item, choice.scheduler_names) if isinstance(item, Pod) else None
            if reason in (None, ON_A_NODE):
                objects.append(item)
            else:
                self.ignored[reason] += 1
        events, origin = self._placed(self._admitted([*timed(objects, choice, self.times), *self.events]))
        nodes = [event.item for event in events if isinstance(event.item, Node) and event.verb != DELETE]
        amounts = (of_node(node.status.allocatable) for node in [*nodes, *nodes_of(self.operations)])
        provided = {name for allocatable in amounts for name, amount in allocatable.items() if amount}
        native = [name for name in NATIVE if name in provided or name in NATIVE[:2]]
        resources = (*native, *sorted(provided - {*NATIVE, PODS}), PODS)
        notices = tuple(self.odd.notices)
        maps = config_maps([loaded])
        return Inputs(
            tuple(events), tuple(self.operations), resources, origin, dict(self.ignored), notices, maps
        )

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

    def _admitted(self, events: list[Event]) -> list[Event]:
        """The events, with new objects as the API server would store them, without those it would refuse."""
        if not self.choice.defaults:
            return events
        classes = [event.item for event in events if isinstance(event.item, PriorityClass | StorageClass)]
        kept = []
        for event in events:
            admission = (
                admit([event.item], classes, priorities=self.choice.priorities) if event.verb == ADD else None
            )
            if admission is not None and admission.refused:
                self.odd.notices.append(
                    Notice(f"{event.item.kind} {event.item.key}", f"{REFUSED}: {admission.refused[0][1]}")
                )
                self.ignored[REFUSED] += 1
            else:
                item = event.item if admission is None else admission.objects[0]
                kept.append(event if item is event.item else attrs.evolve(event, item=item))
        return kept

    # --- times ----------------------------------------------------------------------------------------------

    def _placed(self, events: list[Event]) -> tuple[list[Event], float]:
        """The events in order, in seconds from the beginning, and the date of the beginning."""
        if not any(isinstance(event.item, Node) and event.verb == ADD for event in events) and not nodes_of(
            self.operations
        ):
            raise ManifestError(f"{self.where or CLUSTER}: expected at least one Node, got none")
        origin = (
            min((event.time for event in events if event.time != START), default=0.0)
            if self.times.dated
            else 0.0
        )

        def since(time: float) -> float:
            return 0.0 if time == START else max(time - origin, 0.0)

        moved = []
        for event in events:
            end = event.lifetime.leaves_at
            lifetime = event.lifetime if end is None else attrs.evolve(event.lifetime, leaves_at=since(end))
            moved.append(attrs.evolve(event, time=since(event.time), lifetime=lifetime))
        return sorted(moved, key=attrgetter("time")), origin
