"""What a replay starts from: manifests, recordings, published traces and scenarios, merged into one list of events."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import IO, Any

import attrs

from ....api.controlplane.admission import admit
from ....api.controlplane.defaults import with_defaults
from ....api.garbage import no_garbage_collection
from ....api.inventory import ON_A_NODE, REFUSED, config_maps, made_by_workloads, why_not_waiting
from ....api.load import Loaded, load
from ....api.objects import KubeObject, Node, Pod, PriorityClass, StorageClass
from ....api.objects.pods import DEFAULT_SCHEDULER
from ....api.reading.decode import decode
from ....api.reading.documents import read_documents
from ....api.reading.formats.files import read_stream
from ....api.reading.notices import Notice, Oddities
from ....core.pods.requests import NATIVE, PODS, of_node
from ....exceptions import ManifestError
from ....simulation.scenario import CLUSTER, named
from ...importing import openb
from .churn import Operation, is_operation, nodes_of, read_operations
from .traces import ADD, DELETE, START, Event, Lifetime, Reading, TraceTimes, is_event, read_event, timed, with_run_times

STDIN = "-"
ConfigMaps = Mapping[tuple[str, str], Mapping[str, Any]]


@attrs.frozen(kw_only=True, repr=False)
class InputOptions(Reading):
    """How to read inputs. Without more, times and durations are as given, and pods without a run time run for ever."""

    compress: float = 1.0
    """All times are divided by this."""
    cron_jobs: bool = False
    """Make the pods of one Job of each CronJob."""
    priorities: bool = True
    """Gate PodPriority is on."""
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
    resources: tuple[str, ...] = (*NATIVE[:2], PODS)
    """The resources of all nodes: cpu, memory, then others by name, then ``pods``."""
    origin: float = 0.0
    """The clock's 0 in seconds since 1970."""
    ignored: Mapping[str, int] = attrs.field(factory=dict)
    warnings: tuple[Notice, ...] = ()
    config_maps: ConfigMaps = attrs.field(factory=dict)

    @property
    def objects(self) -> list[KubeObject]:
        """The objects that are there at the beginning or come later, each once."""
        there = {(event.item.kind, event.item.key): event.item for event in self.events if event.verb != DELETE}
        return list(there.values())

    @property
    def nodes(self) -> list[Node]:
        """The nodes among them."""
        return [item for item in self.objects if isinstance(item, Node)]


def read_inputs(
    paths: Sequence[str | os.PathLike[str]],
    choice: InputOptions = InputOptions(),
    stdin: IO[bytes] | None = None,
    objects: Iterable[KubeObject] = (),
) -> Inputs:
    """Read *paths*: manifests and directories of them, recordings, openb's two CSV files, a scenario, ``-`` for standard input.

    *objects* are there like those in manifests. Raises :class:`~kubeclassic.exceptions.ManifestError`.
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
    given: tuple[KubeObject, ...] = ()
    manifests: list[str] = attrs.field(factory=list)
    tables: dict[str, str] = attrs.field(factory=dict)
    """openb's files, by what they list: nodes or pods."""
    events: list[Event] = attrs.field(factory=list)
    operations: list[Operation] = attrs.field(factory=list)
    times: TraceTimes = attrs.field(factory=TraceTimes)
    ignored: Counter[str] = attrs.field(factory=Counter)
    odd: Oddities = attrs.field(factory=Oddities)
    _piped: bytes = b""

    # --- sorting ----------------------------------------------------------------------------------------------------

    def sort(self, path: str) -> None:
        """Find out what a path is, and read it unless it is manifests."""
        if path == STDIN:
            self._piped = read_stream(self.stdin)
        if path.endswith(".csv"):
            kind = openb.listed_in(path)
            if kind in self.tables:
                raise ManifestError(f"{path}: expected one list of {kind}, got two")
            self.tables[kind] = path
        elif path != STDIN and os.path.isdir(path):
            self.manifests.append(path)
        else:
            documents = read_documents([path], self._stream())
            first = next(iter(documents), None)
            if first is not None and is_event(first.data):
                found, choice = [], self.choice
                for document in [first, *documents]:
                    event = read_event(
                        document, self.times, self.odd, defaults=choice.defaults, keeps_manifest=choice.keeps_manifests
                    )  # fmt: skip
                    if event is None:
                        self.ignored["events about other kinds"] += 1
                    else:
                        found.append(event)
                self.events += found if choice.as_recorded else with_run_times(found)
            elif first is not None and is_operation(first.data):
                folder = Path() if path == STDIN else Path(path).parent
                self.operations += read_operations([first, *documents], folder, defaults=self.choice.defaults, odd=self.odd)
            else:
                self.manifests.append(path)

    def _stream(self) -> IO[bytes]:
        return io.BytesIO(self._piped)

    # --- objects ----------------------------------------------------------------------------------------------------

    def inputs(self) -> Inputs:
        """Everything that was read."""
        choice, loaded = self.choice, Loaded()
        if self.manifests:
            loaded = load(
                self.manifests, stdin=self._stream(), defaults=choice.defaults, strict_fields=choice.strict_fields,
                keeps_manifests=choice.keeps_manifests,
            )  # fmt: skip
        self.ignored.update({f"of kind {kind}": count for kind, count in loaded.ignored.items()})
        made = made_by_workloads([loaded], defaults=choice.defaults, cron_jobs=choice.cron_jobs)
        self.odd.notices += (*loaded.warnings, *made.notices)
        objects = [*loaded.objects, *self.given, *made.objects, *self._traced()]
        events = self._admitted([*timed(filter(self._takes_part, objects), choice, self.times), *self.events])
        events, origin = self._placed(events)
        nodes = [event.item for event in events if isinstance(event.item, Node) and event.verb != DELETE]
        amounts = (of_node(node.status.allocatable) for node in [*nodes, *nodes_of(self.operations)])
        had = {name for found in amounts for name, amount in found.items() if amount}
        native = [name for name in NATIVE if name in had or name in NATIVE[:2]]
        resources = (*native, *sorted(had - {*NATIVE, PODS}), PODS)
        notices, maps = tuple(self.odd.notices), config_maps([loaded])
        return Inputs(tuple(events), tuple(self.operations), resources, origin, dict(self.ignored), notices, maps)

    def _traced(self) -> tuple[KubeObject, ...]:
        if not self.tables:
            return ()
        missing = {"nodes", "pods"} - self.tables.keys()
        if missing:
            there = next(iter(self.tables.values()))
            raise ManifestError(f"{there}: expected both CSV files of the trace, got none with {missing.pop()}")
        document = openb.manifests(self.tables["nodes"], self.tables["pods"])
        found = (decode(item, "openb") for item in document["items"])
        return tuple(with_defaults(item) for item in found if item is not None)

    def _takes_part(self, item: KubeObject) -> bool:
        why = why_not_waiting(item, self.choice.scheduler_names) if isinstance(item, Pod) else ON_A_NODE
        if why is None or why == ON_A_NODE:
            return True
        self.ignored[why] += 1
        return False

    def _admitted(self, events: list[Event]) -> list[Event]:
        """The events, with new objects as the API server would store them, and without those that it would refuse."""
        if not self.choice.defaults:
            return events
        known = [event.item for event in events if isinstance(event.item, PriorityClass | StorageClass)]
        kept = []
        for event in events:
            found = admit([event.item], known, priorities=self.choice.priorities) if event.verb == ADD else None
            if found is not None and found.refused:
                self.odd.notices.append(Notice(f"{event.item.kind} {event.item.key}", f"{REFUSED}: {found.refused[0][1]}"))
                self.ignored[REFUSED] += 1
            else:
                item = event.item if found is None else found.objects[0]
                kept.append(event if item is event.item else attrs.evolve(event, item=item))
        return kept

    # --- times ------------------------------------------------------------------------------------------------------

    def _placed(self, events: list[Event]) -> tuple[list[Event], float]:
        """The events in order, in seconds from the beginning, and the date of the beginning."""
        if not any(isinstance(event.item, Node) and event.verb == ADD for event in events) and not nodes_of(self.operations):
            raise ManifestError(f"{self.where or CLUSTER}: expected at least one Node, got none")
        origin = min((event.time for event in events if event.time != START), default=0.0) if self.times.dated else 0.0
        compress = self.choice.compress

        def since(time: float) -> float:
            return 0.0 if time == START else max(time - origin, 0.0) / compress

        moved = []
        for event in events:
            runs, leaves = event.lifetime.runs_for, event.lifetime.leaves_at
            lifetime = Lifetime(
                runs_for=None if runs is None else runs / compress, leaves_at=None if leaves is None else since(leaves)
            )
            moved.append(Event(since(event.time), event.verb, event.item, event.where, lifetime))
        return sorted(moved, key=attrgetter("time")), origin
