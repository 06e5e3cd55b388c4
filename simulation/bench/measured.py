"""What is measured of decisions: processor time, wall time, percentiles, throughput by window, and how many were read off scoreboards."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

import attrs
import numpy as np

from ...core.decision.decision import Decision
from ...core.engine import Engine

Json = dict[str, Any]

PERCENTS = (50, 90, 95, 99)
WINDOW = 100
"""Decisions in a window, over which throughput is counted."""


@attrs.frozen
class QuickDecisions:
    """How many decisions were read off scoreboards, and why the others were not."""

    taken: int
    detours: Mapping[str, int]
    """Reason -> decisions, the most frequent reason first."""

    @property
    def decisions(self) -> int:
        """All decisions."""
        return self.taken + sum(self.detours.values())

    def share(self, count: int) -> float:
        """*count* as a share of all decisions, 0 to 1; 0 where there was none."""
        return count / self.decisions if self.decisions else 0.0

    def record(self) -> Json:
        """As plain data."""
        return {"share": round(self.share(self.taken), 6), "decisions": self.decisions, "detours": dict(self.detours)}

    def lines(self) -> Iterator[str]:
        """A line of text for the share, and one for each reason."""
        yield f"read off scoreboards: {self.taken} of {self.decisions} decisions ({self.share(self.taken):.1%})"
        yield from (f"  {reason}: {count} ({self.share(count):.1%})" for reason, count in self.detours.items())


@attrs.frozen(kw_only=True)
class Timing:
    """One run over a case; seconds are of processor time unless they are called wall."""

    nodes: int
    hosts: Mapping[str, str | None]
    """Pod -> the host of its last decision."""
    cycles: int
    cpu_seconds: float
    wall_seconds: float
    load_seconds: float
    setup_seconds: float
    """For the decisions that a workload does not measure."""
    latencies: Sequence[float]
    """The wall time of a decision in milliseconds, at the percentiles of PERCENTS."""
    throughput: Mapping[str, float]
    """Decisions a second of wall time: ``average``, and over windows the percentiles ``p50`` and so on."""
    quick: QuickDecisions

    @property
    def rate(self) -> float:
        """Pods a second of processor time."""
        return len(self.hosts) / self.cpu_seconds if self.cpu_seconds else 0.0

    def record(self) -> Json:
        """As plain data."""
        return {
            "nodes": self.nodes, "pods": len(self.hosts), "scheduled": sum(host is not None for host in self.hosts.values()),
            "cycles": self.cycles, "cpu_seconds": round(self.cpu_seconds, 4), "wall_seconds": round(self.wall_seconds, 4),
            "pods_per_s": round(self.rate, 1),
            **{f"p{percent}_ms": round(found, 4) for percent, found in zip(PERCENTS, self.latencies, strict=True)},
            "throughput": {"window": WINDOW, **{name: round(found, 1) for name, found in self.throughput.items()}},
            "load_seconds": round(self.load_seconds, 3), "setup_seconds": round(self.setup_seconds, 3), "quick": self.quick.record(),
        }  # fmt: skip


@attrs.define
class Stopwatch:
    """Follows decisions as they are made, and keeps how long they took; it may be started several times."""

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    cycles: int = 0
    hosts: dict[str, str | None] = attrs.field(factory=dict)
    _latencies: list[float] = attrs.field(factory=list)
    _taken: int = 0
    _detours: Counter[str] = attrs.field(factory=Counter)

    def follow(self, decisions: Iterable[Decision], engine: Engine, counted: Collection[str] | None) -> None:
        """Time *decisions* of *engine*; *counted*: the pods whose hosts are kept, None: all."""
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
        self._latencies += np.diff(moments).tolist()
        self.hosts |= {decision.pod.key: decision.host for decision in found if counted is None or decision.pod.key in counted}
        taken_now, detours_now = engine.detours()
        self._taken += taken_now - taken
        self._detours += detours_now - detours

    def timing(self, nodes: int, load_seconds: float, setup_seconds: float) -> Timing:
        """What was measured."""
        return Timing(
            nodes=nodes, hosts=self.hosts, cycles=self.cycles, cpu_seconds=self.cpu_seconds, wall_seconds=self.wall_seconds,
            load_seconds=load_seconds, setup_seconds=setup_seconds,
            latencies=[1000 * found for found in percentiles(self._latencies)], throughput=throughput(self._latencies),
            quick=QuickDecisions(self._taken, dict(self._detours.most_common())),
        )  # fmt: skip


def percentiles(values: Sequence[float]) -> list[float]:
    """*values* at the percentiles of PERCENTS; zeros where there are none.

    >>> percentiles(range(101))
    [50.0, 90.0, 95.0, 99.0]
    """
    return [float(found) for found in np.percentile(values, PERCENTS)] if len(values) else [0.0] * len(PERCENTS)


def throughput(latencies: Sequence[float]) -> dict[str, float]:
    """Decisions a second: ``average``, and percentiles over windows of WINDOW decisions. The last window has the rest.

    >>> throughput([0.001] * 150 + [0.01] * 100)["average"], throughput([])["p99"]
    (217.4, 0.0)
    """
    total = sum(latencies)
    full = max(round(len(latencies) / WINDOW), 1)
    bounds = [(at * WINDOW, (at + 1) * WINDOW if at + 1 < full else len(latencies)) for at in range(full)]
    rates = [(end - start) / seconds for start, end in bounds if (seconds := sum(latencies[start:end]))]
    average = len(latencies) / total if total else 0.0
    return {"average": round(average, 1)} | {f"p{percent}": found for percent, found in zip(PERCENTS, percentiles(rates), strict=True)}


def middle(rates: Sequence[float]) -> float:
    """The median of the rates of several runs."""
    return float(median(rates))
