"""What is measured of decisions: processor time, wall time, percentiles, throughput by window, and how many were read off boards."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Annotated

import attrs
import numpy as np

from ...api.record import UNSET, Count, Counts, DocumentRecord, Record, Share, Size, UnsetType, says
from ...core.decision.decision import Decision
from ...core.engine import Engine

PERCENTS = (50, 90, 95, 99)
WINDOW = 100
"""Decisions in a window, over which throughput is counted."""


class Throughput(Record):
    """Decisions a second of wall time: the average, and percentiles over windows of as many decisions as window says."""

    window: Count
    average: Size
    p50: Size
    p90: Size
    p95: Size
    p99: Size


class QuickDecisions(Record):
    """How many decisions were read off boards."""

    share: Share
    decisions: Count
    detours: Annotated[Counts, says("Reason -> decisions that were not, the most frequent reason first.")]

    @classmethod
    def of(cls, taken: int, detours: Mapping[str, int]) -> QuickDecisions:
        """The share of those that were *taken* from boards."""
        decisions = taken + sum(detours.values())
        return cls(round(taken / decisions, 6) if decisions else 0.0, decisions, detours)

    def lines(self) -> Iterator[str]:
        """A line of text for the share, and one for each reason."""
        taken = self.decisions - sum(self.detours.values())
        yield f"read off boards: {taken} of {self.decisions} decisions ({self.share:.1%})"
        yield from (f"  {reason}: {count} ({count / self.decisions:.1%})" for reason, count in self.detours.items())


class OtherScheduler(Record, rename=None):
    """Another scheduler's runs, each after one of ours."""

    command: str
    runs: Annotated[tuple[Size, ...], says("pods_per_s of each run, in order.")]
    pods_per_s: Annotated[float, says("The median of runs.", ge=0)]
    ratio: Annotated[float, says("The median of our runs by theirs: above 1 ours is faster.", ge=0)]
    scheduled: Annotated[int | UnsetType, says("Pods that got a node, if the other scheduler says it.")] = UNSET


class BenchDocument(DocumentRecord, kw_only=True, rename=None):
    """The best run of a case, as one line of JSON."""

    KIND = "Bench"
    warnings: Annotated[tuple[str, ...], says("What makes the figures doubtful.")]
    case: Annotated[str, says("The name of the case, or the kind of generated cluster.")]
    release: str
    nodes: Count
    pods: Annotated[Count, says("Pods that were scheduled or tried.")]
    scheduled: Annotated[Count, says("Pods that got a node.")]
    decisions: Annotated[Count, says("Decisions, retries after preemption included.")]
    prepare_seconds: Annotated[Size, says("Processor time of the first snapshot of the cluster, before the first decision.")]
    cpu_seconds: Annotated[Size, says("Processor time of the scheduling loop.")]
    wall_seconds: Annotated[Size, says("Wall time of the scheduling loop.")]
    pods_per_s: Annotated[Size, says("Pods a second of processor time, the first snapshot and the loop together: the best run.")]
    median_pods_per_s: Annotated[Size, says("The same, the median of the runs.")]
    loop_pods_per_s: Annotated[Size, says("Pods a second of processor time of the scheduling loop alone: the best of the runs.")]
    loop_median_pods_per_s: Annotated[Size, says("The same, the median of the runs.")]
    p50_ms: Annotated[Size, says("The median of the wall time of a decision.")]
    p90_ms: Annotated[Size, says("The 90th percentile of the wall time of a decision.")]
    p95_ms: Annotated[Size, says("The 95th percentile of the wall time of a decision.")]
    p99_ms: Annotated[Size, says("The 99th percentile of the wall time of a decision.")]
    throughput: Throughput
    load_seconds: Annotated[Size, says("To read, decode and feed the cluster.")]
    quick: QuickDecisions
    runs: Annotated[tuple[Size, ...], says("pods_per_s of each run, in order.")]
    write_seconds: Annotated[Size, says("To write the placements.")]
    peak_rss_mb: Annotated[float | None, says("The most memory that the process had; null: the system does not say.")]
    calibration: Annotated[Size, says("Processor time of a fixed loop: a measure of the machine.")]
    against: OtherScheduler | UnsetType = UNSET


@attrs.define(kw_only=True)
class Timing:
    """One run over a case, which is timed as its decisions are made; seconds are of processor time unless they are called wall."""

    nodes: int = 0
    hosts: dict[str, str | None] = attrs.field(factory=dict)
    """Pod -> the host of its last decision."""
    cycles: int = 0
    prepare_seconds: float = 0.0
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    load_seconds: float = 0.0
    _seconds: list[float] = attrs.field(factory=list)
    """The wall time of each decision."""
    _taken: int = 0
    _detours: Counter[str] = attrs.field(factory=Counter)

    @property
    def scheduled(self) -> int:
        """Pods that got a node."""
        return sum(host is not None for host in self.hosts.values())

    @property
    def rate(self) -> float:
        """Pods a second of processor time, the preparation included."""
        return self._rate(self.prepare_seconds + self.cpu_seconds)

    @property
    def loop_rate(self) -> float:
        """Pods a second of processor time of the loop alone."""
        return self._rate(self.cpu_seconds)

    def _rate(self, seconds: float) -> float:
        return len(self.hosts) / seconds if seconds else 0.0

    @property
    def latencies(self) -> list[float]:
        """The wall time of a decision in milliseconds, at the percentiles of PERCENTS."""
        return [1000 * found for found in percentiles(self._seconds)]

    @property
    def throughput(self) -> Throughput:
        """Decisions a second."""
        return throughput(self._seconds)

    @property
    def quick(self) -> QuickDecisions:
        """How many decisions were read off boards."""
        return QuickDecisions.of(self._taken, dict(self._detours.most_common()))

    # --- timing -----------------------------------------------------------------------------------------------------

    def prepare(self, engine: Engine) -> None:
        """Time the first snapshot of *engine*."""
        started = time.process_time()
        engine.warm()
        self.prepare_seconds += time.process_time() - started

    def follow(self, decisions: Iterable[Decision], engine: Engine) -> None:
        """Time *decisions* of *engine*; this may be called several times."""
        taken, detours = engine.detours()
        found: list[Decision] = []
        moments = [time.perf_counter()]
        started = time.process_time()
        for decision in decisions:
            moments.append(time.perf_counter())
            found.append(decision)
        self.cpu_seconds += time.process_time() - started
        self.wall_seconds += moments[-1] - moments[0]
        self.cycles += len(found)
        self._seconds += np.diff(moments).tolist()
        self.hosts |= {decision.pod.key: decision.host for decision in found}
        taken_now, detours_now = engine.detours()
        self._taken += taken_now - taken
        self._detours += detours_now - detours


def percentiles(values: Sequence[float]) -> list[float]:
    """*values* at the percentiles of PERCENTS; zeros where there are none.

    >>> percentiles(range(101))
    [50.0, 90.0, 95.0, 99.0]
    """
    return [float(found) for found in np.percentile(values, PERCENTS)] if len(values) else [0.0] * len(PERCENTS)


def throughput(latencies: Sequence[float]) -> Throughput:
    """Decisions a second: the average, and percentiles over windows of WINDOW decisions. The last window has the rest.

    >>> throughput([0.001] * 150 + [0.01] * 100).average, throughput([]).p99
    (217.4, 0.0)
    """
    total = sum(latencies)
    full = max(round(len(latencies) / WINDOW), 1)
    bounds = [(at * WINDOW, (at + 1) * WINDOW if at + 1 < full else len(latencies)) for at in range(full)]
    rates = [(end - start) / seconds for start, end in bounds if (seconds := sum(latencies[start:end]))]
    return Throughput(WINDOW, round(len(latencies) / total if total else 0.0, 1), *(round(found, 1) for found in percentiles(rates)))


def middle(rates: Sequence[float]) -> float:
    """The median of the rates of several runs."""
    return float(median(rates))
