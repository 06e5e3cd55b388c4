"""The cluster over time: one row for each instant or each period."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

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
    cluster = replay.cluster
    tally, ledger = cluster.tally, cluster.ledger
    counts = [plain(cluster.now), ledger.waiting_pods, ledger.placed_pods, ledger.nodes, tally.scheduled, tally.finished, tally.evicted]
    return [*counts, *_resources(replay)]


def _resources(replay: Replay) -> Iterator[Any]:
    ledger = replay.cluster.ledger
    lost = replay.cluster.fragmentation.by_resource()
    for index in range(len(ledger.resources)):
        used = int(ledger.in_use[index])
        yield from (int(ledger.capacity[index]), used + int(ledger.waiting[index]), used, round(float(lost[index]), 6))


@attrs.define(eq=False, repr=False)
class Series:
    """Gives rows to *sink*: one at the end of each instant, or one every *every* virtual seconds."""

    sink: Callable[[list[Any]], None]
    every: float = 0.0
    next: float = 0.0

    def at_instant(self, replay: Replay) -> None:
        """Time is about to pass; the cluster stays as it is until the next instant."""
        if not self.every:
            self.sink(row_of(replay))
            return
        upto, until = replay.next_time(), replay.until
        if until is not None and (upto is None or upto > until):
            upto = until
        row = row_of(replay)
        while self.next <= replay.now or (upto is not None and self.next < upto):
            self.sink([plain(self.next), *row[1:]])
            self.next += self.every
