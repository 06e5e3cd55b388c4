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
    for used, capacity, waiting, share in zip(*ledger.totals.tolist(), ledger.waiting.tolist(), lost.tolist(), strict=True):
        row += (capacity, used + waiting, used, round(share, 6))
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
        row = row_of(replay)
        if not self.every:
            self.sink(row)
            return
        ends = [time for time in (replay.next_time(), None if replay.until is None else nanoseconds(replay.until)) if time is not None]
        while self.next <= replay.cluster.now or self.next < min(ends, default=0):
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
    """The last row, once no more come, if it was not kept."""

    def add(self, make: Callable[[], list[Any]]) -> bool:
        """One row more, which is made only if it is kept; whether it is."""
        is_kept = self.seen % self.every == 0
        self.seen += 1
        if is_kept:
            self.rows.append(make())
            if len(self.rows) > 2 * ROWS:
                self.rows, self.every = self.rows[::2], 2 * self.every
        return is_kept

    def kept(self) -> list[list[Any]]:
        """The rows, the last one included."""
        return self.rows if self.last in (None, self.rows[-1]) else [*self.rows, self.last]


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
        kind, time = record["event"], record["time"]
        if kind not in USUAL and len(self.news) < KEPT:
            self.news.append(record)
        if "pod" not in record:
            return
        life = self.lives.setdefault(record["pod"], PodHistory(record["pod"], time))
        match kind:
            case "Arrived":
                life.outcome, life.ended = "gated" if record.get("gated") else "waiting", None
            case "Scheduled":
                life.waited = record["wait"] if life.waited is None else life.waited
                life.nodes.append(record["node"])
                life.attempts, life.outcome, life.message = record["attempts"], "on a node", None
            case "FailedScheduling":
                life.attempts, life.message, life.outcome = record["attempts"], record["message"], "waiting"
            case "Started":
                life.started = time
            case "Finished" | "Deleted":
                life.ended = time if life.ended is None else life.ended
                life.outcome = life.outcome if life.outcome in ("finished", "evicted") else kind.lower()
            case "Preempted" | "Evicted":
                ran = None if life.started is None else time - life.started
                why, by = record.get("reason", "preempted"), record.get("by")
                self.lost.append({"time": time, "pod": life.pod, "node": record["node"], "reason": why, "by": by, "ran": ran})
                life.outcome, life.started = "evicted", None

    # --- instants ---------------------------------------------------------------------------------------------------

    def at_instant(self, replay: Replay) -> None:
        """Time is about to pass."""
        self._unkept = None if self.series.add(lambda: row_of(replay)) else replay.now
        ledger = replay.cluster.ledger
        for name in [*ledger.columns][len(self.nodes) :]:
            self.nodes[name] = replay.cluster.node(name) or Node()
        if self.first is None and ledger.nodes:
            self.first = _moment(replay, with_pods=True)
        if self.fullest is None or int(ledger.totals[0, 0]) > int(self.fullest.used[0].sum()):
            self.fullest = _moment(replay, with_pods=False)

    def end(self, replay: Replay) -> None:
        """The replay is over, or was stopped: the series ends with the last instant."""
        if self._unkept is not None:
            self.series.last = [plain(self._unkept), *row_of(replay)[1:]]
        self.last = _moment(replay, with_pods=True)

    def columns(self, resources: Sequence[str]) -> Record:
        """The series by column, with the share in use."""
        rows = self.series.kept()
        series = {name: [row[at] for row in rows] for at, name in enumerate(columns(resources))}
        for name in resources:
            pairs = zip(series[f"{name}.used"], series[f"{name}.capacity"], strict=True)
            series[f"{name}.use"] = [used / capacity if capacity else None for used, capacity in pairs]
        return series


def _moment(replay: Replay, *, with_pods: bool) -> NodesAt:
    ledger = replay.cluster.ledger
    count = len(ledger.columns)
    placed = {key: at for key, (at, _) in ledger.pods.items() if at >= 0} if with_pods else None
    return NodesAt(replay.now, ledger.allocatable[:, :count].copy(), ledger.used[:, :count].copy(), placed)
