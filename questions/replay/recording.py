"""A replay that writes its results to disk: events and time series. It can be stopped at any time."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from attrs import Factory, define, frozen

from ...api.objects import Node
from ...api.reading import grouped
from ...core.arrays import Ints
from ...core.queue.backoff import SECOND, nanoseconds
from ...exceptions import KubeclassicError
from .journal import EventData, ReplaySummary, Sink
from .replay import Replay
from .times import plain

SeriesRow = list[Any]
COUNTS = ("time", "pending", "running", "nodes", "scheduled", "finished", "evictions")
MEASURES = ("capacity", "requested", "used", "fragmentation")
"""For each resource: the amount of the nodes, the requests of all pods and of pods on nodes, and the
fragmentation of the free room."""


# --- time series --------------------------------------------------------------------------------------------


def columns(resources: Sequence[str]) -> list[str]:
    """The names of the columns: counts, then the measures of each resource."""
    return [*COUNTS, *(f"{resource}.{measure}" for resource in resources for measure in MEASURES)]


def row_of(replay: Replay) -> SeriesRow:
    """The cluster now: pods pending, pods on nodes, nodes, totals since the beginning, resources."""
    tally = replay.cluster.tally
    ledger = replay.cluster.ledger
    fragmentation = replay.cluster.fragmentation.by_resource()
    row = [plain(replay.now), ledger.waiting_pods, ledger.placed_pods, len(ledger.nodes)]
    row += [tally.events["Scheduled"], tally.events["Finished"], tally.evicted]
    for used, capacity, waiting, share in zip(
        *ledger.totals.tolist(), ledger.waiting.tolist(), fragmentation.tolist(), strict=True
    ):
        row += (capacity, used + waiting, used, round(share, 6))
    return row


@define(eq=False, repr=False)
class Series:
    """A series of rows for *sink*: one at the end of each instant, or one every *every* virtual seconds."""

    sink: Callable[[SeriesRow], None]
    every: float
    next: int = 0
    """The time of the next row in nanoseconds."""

    def at_instant(self, replay: Replay) -> None:
        """Give the rows up to the next instant; time is about to pass, and the cluster stays as it is."""
        row = row_of(replay)
        if not self.every:
            self.sink(row)
            return
        ends = [
            time
            for time in (replay.next_time(), None if replay.until is None else nanoseconds(replay.until))
            if time is not None
        ]
        while self.next <= replay.cluster.now or self.next < min(ends, default=0):
            self.sink([plain(self.next / SECOND), *row[1:]])
            self.next += max(nanoseconds(self.every), 1)


# --- the history: a series with few rows, each pod's life, the nodes at three times -------------------------

ROWS = 240
"""With more than twice as many rows, every second row of the series is dropped."""
KEPT = 5000
"""How many unusual events are kept at most."""
USUAL = {"Arrived", "Scheduled", "Bound", "Started", "Finished", "Deleted", "Summary", "NodeAdded"}
"""Events that the lives of pods, or the map, already show."""


@define(repr=False)
class ThinnedSeries:
    """Rows over time: all of them while they are few, then every second, every fourth and so on, and always
    the last."""

    rows: list[SeriesRow] = Factory(list)
    every: int = 1
    seen_count: int = 0
    last: SeriesRow | None = None
    """The final row, if it was not kept; set when no more come."""

    def add(self, make: Callable[[], SeriesRow]) -> bool:
        """Add a row, which is made only if it is kept. Returns whether it is."""
        is_kept = self.seen_count % self.every == 0
        self.seen_count += 1
        if is_kept:
            self.rows.append(make())
            if len(self.rows) > 2 * ROWS:
                self.rows = self.rows[::2]
                self.every = 2 * self.every
        return is_kept

    def kept(self) -> list[SeriesRow]:
        """The rows, the last one included."""
        return self.rows if self.last is None or self.rows[-1:] == [self.last] else [*self.rows, self.last]


@define(repr=False)
class PodHistory:
    """The history of a pod."""

    pod: str
    came: float
    waited: float | None = None
    """Seconds until it first had a node."""
    nodes: list[str] = Factory(list)
    attempts: int = 0
    started: float | None = None
    ended: float | None = None
    outcome: str = "waiting"
    message: str | None = None


@frozen(repr=False)
class NodesAt:
    """The nodes at one time."""

    time: float
    allocatable: Ints
    """int64[R, N]."""
    used: Ints
    pods: Mapping[str, int] | None
    """Pod -> the column of its node; None if not recorded."""


@define(eq=False, repr=False)
class ReplayHistory:
    """The history of a replay, followed from its beginning."""

    counts: Counter[str]
    """Kind of event -> how many; the replay's own counter."""
    news: list[EventData] = Factory(list)
    lost: list[EventData] = Factory(list)
    """Pods that were evicted or preempted: pod, node, time, reason, by, and for how long they had run."""
    lives: dict[str, PodHistory] = Factory(dict)
    series: ThinnedSeries = Factory(ThinnedSeries)
    nodes: dict[str, Node] = Factory(dict)
    first: NodesAt | None = None
    fullest: NodesAt | None = None
    last: NodesAt | None = None
    _unkept: float | None = None
    """The time of the last instant, if its row was not made."""

    # --- events ---------------------------------------------------------------------------------------------

    def event(self, record: EventData) -> None:
        """Note an event of the journal."""
        kind = record["event"]
        time = record["time"]
        if kind not in USUAL and len(self.news) < KEPT:
            self.news.append(record)
        if "pod" not in record:
            return
        life = self.lives.setdefault(record["pod"], PodHistory(record["pod"], time))
        match kind:
            case "Arrived":
                life.outcome = "gated" if record.get("gated") else "waiting"
                life.ended = None
            case "Scheduled":
                life.waited = record["wait"] if life.waited is None else life.waited
                life.nodes.append(record["node"])
                life.attempts = record["attempts"]
                life.outcome = "on a node"
                life.message = None
            case "FailedScheduling":
                life.attempts = record["attempts"]
                life.message = record["message"]
                life.outcome = "waiting"
            case "Started":
                life.started = time
            case "Finished" | "Deleted":
                life.ended = time if life.ended is None else life.ended
                life.outcome = life.outcome if life.outcome in ("finished", "evicted") else kind.lower()
            case "Preempted" | "Evicted":
                self.lost.append(
                    {
                        "time": time,
                        "pod": life.pod,
                        "node": record["node"],
                        "reason": record.get("reason", "preempted"),
                        "by": record.get("by"),
                        "ran": None if life.started is None else time - life.started,
                    }
                )
                life.outcome = "evicted"
                life.started = None

    # --- instants -------------------------------------------------------------------------------------------

    def at_instant(self, replay: Replay) -> None:
        """Note the cluster at this instant; time is about to pass."""
        self._unkept = None if self.series.add(lambda: row_of(replay)) else replay.now
        ledger = replay.cluster.ledger
        for name in [*ledger.columns][len(self.nodes) :]:
            self.nodes[name] = replay.cluster.node(name) or Node()
        if self.first is None and ledger.nodes:
            self.first = _nodes_at(replay, with_pods=True)
        if self.fullest is None or int(ledger.totals[0, 0]) > int(self.fullest.used[0].sum()):
            self.fullest = _nodes_at(replay, with_pods=False)

    def end(self, replay: Replay) -> None:
        """The replay is over, or was stopped: the series ends with the last instant."""
        if self._unkept is not None:
            self.series.last = [plain(self._unkept), *row_of(replay)[1:]]
        self.last = _nodes_at(replay, with_pods=True)

    @property
    def waiting(self) -> list[PodHistory]:
        """The pods that wait for a node."""
        return [life for life in self.lives.values() if life.outcome == "waiting"]

    def columns(self, resources: Sequence[str]) -> dict[str, Any]:
        """The series by column, with the share in use."""
        rows = self.series.kept()
        series = {name: [row[at] for row in rows] for at, name in enumerate(columns(resources))}
        for name in resources:
            pairs = zip(series[f"{name}.used"], series[f"{name}.capacity"], strict=True)
            series[f"{name}.use"] = [used / capacity if capacity else None for used, capacity in pairs]
        return series


def _nodes_at(replay: Replay, *, with_pods: bool) -> NodesAt:
    ledger = replay.cluster.ledger
    count = len(ledger.columns)
    placed = {key: at for key, (at, _) in ledger.pods.items() if at >= 0} if with_pods else None
    return NodesAt(replay.now, ledger.allocatable[:, :count].copy(), ledger.used[:, :count].copy(), placed)


# --- files --------------------------------------------------------------------------------------------------


class ResultFileError(KubeclassicError):
    """A file of results cannot be written."""


@contextmanager
def os_errors(path: object) -> Iterator[None]:
    """A context in which an ``OSError`` becomes a :class:`ResultFileError` about *path*, except for a pipe
    that its reader closed."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ResultFileError(
            f"{path}: cannot be written: {(error.strerror or str(error)).lower()}"
        ) from None


@contextmanager
def growing(path: Path) -> Iterator[Callable[[bytes], None]]:
    """A function that appends to a new file, compressed if it is called ``.gz``; an old one is overwritten.
    Raises :class:`ResultFileError`, for example if the disk is full.

    An error inside leaves no file; devices, pipes and links stay as they are.
    """
    with os_errors(path):
        if path.suffix == ".gz":
            import gzip

            stream: io.BufferedIOBase = gzip.GzipFile(path, "wb", mtime=0)
        else:
            stream = path.open("wb")

    def write(data: bytes) -> None:
        with os_errors(path):
            stream.write(data)

    try:
        yield write
        with os_errors(path):
            stream.close()
    except Exception:
        with suppress(OSError):
            stream.close()
        with suppress(OSError):
            if path.is_file():
                os.truncate(path, 0)
                if not path.is_symlink():
                    path.unlink()
        raise
    finally:
        stream.close()


# --- forms --------------------------------------------------------------------------------------------------

_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_ALIKE = {str, int, bool, type(None)}


def as_json_line(record: EventData) -> bytes:
    """A record as a line of JSON, as Python's own encoder writes it; msgspec writes numbers near zero and
    huge ones in another form."""
    for value in record.values():
        if type(value) not in _ALIKE and not (type(value) is float and 1e-3 < value < 1e15):
            return f"{_JSON.encode(record)}\n".encode()
    return msgspec.json.encode(record) + b"\n"


def as_csv_line(values: Sequence[Any]) -> bytes:
    """Values as a line of CSV."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue().encode()


# --- the recording ------------------------------------------------------------------------------------------


@frozen(kw_only=True, repr=False)
class Places:
    """The places of results; a result without a path is not written."""

    events: Path | None = None
    series: Path | None = None
    series_every: float = 0.0
    keeps_series: bool = False
    """Whether rows are kept if no file takes them."""
    report: Path | None = None
    """A page of the whole, which is written at the end."""


def printed(record: EventData) -> None:
    """Write an event to standard output."""
    sys.stdout.write(as_json_line(record).decode())


@define(eq=False, repr=False)
class Recording:
    """Files, rows and the history, which observe *replay*; it must be new."""

    replay: Replay
    places: Places
    history: ReplayHistory | None
    sink: Sink
    """Gets the events, unless there is a file for them."""
    stopped: bool = False
    """Set it to stop after the current step."""
    rows: list[SeriesRow] = Factory(list)
    """The time series, if it is not written as it comes."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Inside, the files are open. An error leaves none of them; a stop leaves all that was written, in
        whole lines."""
        replay = self.replay
        places = self.places
        events = replay.cluster.observers
        instants = replay.observers
        history = self.history
        series = places.series
        row = self.rows.append
        with ExitStack() as files:

            def opened(path: Path, form: Callable[[Any], bytes]) -> Callable[[Any], None]:
                write = files.enter_context(growing(path))
                return lambda record: write(form(record))

            if history is not None:
                events.append(history.event)
            events.append(self.sink if places.events is None else opened(places.events, as_json_line))
            if series is not None:
                row = opened(series, as_csv_line)
                row(columns(replay.inputs.resources))
            if series is not None or places.keeps_series:
                instants.append(Series(row, places.series_every).at_instant)
            if history is not None:
                instants.append(history.at_instant)
            yield
            if replay.is_over:  # one that was stopped has no summary
                replay.settle()
                replay.cluster.end(summary(replay))
        sys.stdout.flush()


def summary(replay: Replay) -> ReplaySummary:
    """The results of a replay."""
    tally = replay.cluster.tally
    return ReplaySummary(
        warnings=tuple(group.record() for group in grouped(replay.inputs.warnings)),
        arrived=tally.events["Arrived"],
        scheduled=tally.events["Scheduled"],
        never_scheduled=tally.never_scheduled,
        finished=tally.events["Finished"],
        evicted=tally.evicted,
        deleted=tally.deleted,
        attempts=tally.attempts,
        failed_attempts=tally.failed_attempts,
        preemptions=tally.events["Preempting"],
        still_waiting=replay.cluster.ledger.waiting_pods,
        waits=tally.wait_record(),
        mean_use=tally.mean_use(replay.inputs.resources),
    )
