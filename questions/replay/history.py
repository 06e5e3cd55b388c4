"""What is kept of a replay while it runs: a series with few rows, each pod's life, counts of events, the nodes at three times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from ...api.objects import Node
from ...core.arrays.types import Ints
from ...core.queue.backoff import SECOND, nanoseconds
from .inputs.times import plain
from .ledger import Ledger
from .replay import Replay

COUNTS = ("time", "pending", "running", "nodes", "scheduled", "finished", "evictions")
MEASURES = ("capacity", "requested", "used", "fragmentation")
"""Of each resource: what the nodes have, what all pods request, what pods on nodes request, how fragmented the free room is."""


def columns(resources: Sequence[str]) -> list[str]:
    """The names of the columns: counts, then the measures of each resource."""
    return [*COUNTS, *(f"{resource}.{measure}" for resource in resources for measure in MEASURES)]


def row_of(replay: Replay) -> list[Any]:
    """The cluster now: pods pending, pods on nodes, nodes, totals since the beginning, resources."""
    tally, ledger, lost = replay.cluster.tally, replay.cluster.ledger, replay.cluster.fragmentation.by_resource()
    row = [plain(replay.now), ledger.waiting_pods, ledger.placed_pods, ledger.nodes]
    row += [tally.events["Scheduled"], tally.events["Finished"], tally.evicted]
    for index in range(len(ledger.resources)):
        used = int(ledger.in_use[index])
        row += (int(ledger.capacity[index]), used + int(ledger.waiting[index]), used, round(float(lost[index]), 6))
    return row


@attrs.define(eq=False, repr=False)
class Series:
    """Gives rows to *sink*: one at the end of each instant, or one every *every* virtual seconds."""

    sink: Callable[[list[Any]], None]
    every: float = 0.0
    next: int = 0
    """Nanoseconds."""

    def at_instant(self, replay: Replay) -> None:
        """Time is about to pass; the cluster stays as it is until the next instant."""
        if not self.every:
            self.sink(row_of(replay))
            return
        ends = [time for time in (replay.next_time(), None if replay.until is None else nanoseconds(replay.until)) if time is not None]
        upto = min(ends, default=0)
        row = row_of(replay)
        while self.next <= replay.cluster.now or self.next < upto:
            self.sink([plain(self.next / SECOND), *row[1:]])
            self.next += max(nanoseconds(self.every), 1)


Record = dict[str, Any]
ROWS = 240
"""That many rows of the series are kept at most; twice that while it runs."""
KEPT = 5000
"""That many events that are news are kept."""
USUAL = {"Arrived", "Scheduled", "Bound", "Started", "Finished", "Deleted", "Summary", "NodeAdded"}
"""Events that the lives of pods, or the map, already show."""


@attrs.define(repr=False)
class Thinned:
    """Rows over time: all of them while they are few, then every second, every fourth and so on, and always the last."""

    rows: list[list[Any]] = attrs.field(factory=list)
    every: int = 1
    seen: int = 0
    last: list[Any] | None = None

    def add_made(self, make: Callable[[], list[Any]]) -> bool:
        """One row more, which is made only if it is kept; whether it is. Else :attr:`last` has to be set if it is the last one."""
        is_kept = self.seen % self.every == 0
        if is_kept:
            self.add(make())
        else:
            self.seen += 1
        return is_kept

    def add(self, row: list[Any]) -> None:
        """One row more.

        >>> thinned = Thinned()
        >>> for time in range(10_000): thinned.add([time])
        >>> len(thinned.kept()) <= 2 * ROWS + 1, thinned.kept()[0], thinned.kept()[-1]
        (True, [0], [9999])
        """
        if self.seen % self.every == 0:
            self.rows.append(row)
        self.seen, self.last = self.seen + 1, row
        if len(self.rows) > 2 * ROWS:
            self.rows, self.every = self.rows[::2], 2 * self.every

    def kept(self) -> list[list[Any]]:
        """The rows, the last one included."""
        return self.rows if self.last is None or self.rows[-1] is self.last else [*self.rows, self.last]


@attrs.define(repr=False)
class PodHistory:
    """What became of a pod."""

    pod: str
    came: float
    waited: float | None = None
    """Seconds until it first had a node."""
    nodes: list[str] = attrs.field(factory=list)
    attempts: int = 0
    started: float | None = None
    ended: float | None = None
    outcome: str = "waiting"
    message: str | None = None


@attrs.frozen(repr=False)
class NodesAt:
    """The nodes at one time."""

    time: float
    allocatable: Ints
    """int64[R, N]."""
    used: Ints
    pods: Mapping[str, int] | None
    """Pod -> the column of its node; None where that was not taken down."""


@attrs.define(eq=False, repr=False)
class ReplayHistory:
    """Follows a replay from its begin."""

    counts: Counter[str]
    """Kind of event -> how many: those of the replay."""
    news: list[Record] = attrs.field(factory=list)
    lost: list[Record] = attrs.field(factory=list)
    """Pods that were evicted or preempted: pod, node, time, reason, by, and for how long they had run."""
    lives: dict[str, PodHistory] = attrs.field(factory=dict)
    series: Thinned = attrs.field(factory=Thinned)
    nodes: dict[str, Node] = attrs.field(factory=dict)
    first: NodesAt | None = None
    fullest: NodesAt | None = None
    last: NodesAt | None = None
    _unkept: float | None = None
    """The time of the last instant, if its row was not made."""

    # --- events -----------------------------------------------------------------------------------------------------

    def event(self, record: Record) -> None:
        """An event of the journal."""
        kind = record["event"]
        if kind not in USUAL and len(self.news) < KEPT:
            self.news.append(record)
        if "pod" in record:
            time = record["time"]
            life = self.lives.setdefault(record["pod"], PodHistory(record["pod"], time))
            match kind:
                case "Arrived":
                    life.outcome, life.ended = "gated" if record.get("gated") else "waiting", None
                case "Scheduled":
                    life.waited = record["wait"] if life.waited is None else life.waited
                    life.nodes.append(record["node"])
                    life.attempts, life.outcome, life.message = record["attempts"], "on a node", None
                case "FailedScheduling":
                    life.attempts, life.message, life.outcome = (
                        record["attempts"],
                        record["message"],
                        "waiting",
                    )
                case "Started":
                    life.started = time
                case "Finished" | "Deleted":
                    life.ended = time if life.ended is None else life.ended
                    life.outcome = (
                        kind.lower() if life.outcome not in ("finished", "evicted") else life.outcome
                    )
                case "Preempted" | "Evicted":
                    ran = None if life.started is None else record["time"] - life.started
                    why = record.get("reason", "preempted")
                    found = {
                        "pod": life.pod,
                        "node": record["node"],
                        "time": record["time"],
                        "reason": why,
                        "by": record.get("by"),
                        "ran": ran,
                    }
                    self.lost.append(found)
                    life.outcome, life.started = "evicted", None

    # --- instants ---------------------------------------------------------------------------------------------------

    def at_instant(self, replay: Replay) -> None:
        """Time is about to pass."""
        self._unkept = None if self.series.add_made(lambda: row_of(replay)) else replay.now
        ledger = replay.cluster.ledger
        for name in ledger.names[len(self.nodes) :]:
            self.nodes[name] = replay.cluster.node(name) or Node()
        if self.first is None and ledger.nodes:
            self.first = _moment(replay.now, ledger, with_pods=True)
        if self.fullest is None or int(ledger.in_use[0]) > int(self.fullest.used[0].sum()):
            self.fullest = _moment(replay.now, ledger, with_pods=False)

    def end(self, replay: Replay) -> None:
        """The replay is over, or was stopped: the series ends with the last instant."""
        if self._unkept is not None:
            self.series.last = [plain(self._unkept), *row_of(replay)[1:]]
        self.last = _moment(replay.now, replay.cluster.ledger, with_pods=True)

    def columns(self, resources: Sequence[str]) -> Record:
        """The series by column, with the share in use."""
        names = columns(resources)
        rows = self.series.kept()
        series = {name: [row[at] for row in rows] for at, name in enumerate(names)}
        for name in resources:
            pairs = zip(series[f"{name}.used"], series[f"{name}.capacity"], strict=True)
            series[f"{name}.use"] = [used / capacity if capacity else None for used, capacity in pairs]
        return series


def _moment(time: float, ledger: Ledger, *, with_pods: bool) -> NodesAt:
    rows = ledger.rows
    return NodesAt(time, ledger.allocatable[:, :rows].copy(), ledger.used[:, :rows].copy(), dict(ledger.placed()) if with_pods else None)
