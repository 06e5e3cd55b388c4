"""Time the scheduler: how many pods a second of processor time, from the first decision to the last.

Only the loop is timed. Reading, decoding and feeding the cluster before it, and writing the placements after it, are measured separately.
"""

from __future__ import annotations

import gc
import io
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import attrs
import numpy as np

from ...api.reading.documents import parsed, read_documents
from ...api.reading.formats.files import read_file
from ...core.decision.decision import Decision
from ...core.engine import Engine
from ...core.run import Run
from ...exceptions import ManifestError
from ..conform import Items, build, decisions, read_items
from ..gcpause import settled

Json = dict[str, Any]


# --- what is timed --------------------------------------------------------------------------------------------------


def read_case(path: Path, release: str) -> Json:
    """The case in *path*: a conformance case file with one case, or manifests, whose pods without a node wait.

    *release* is used if the case names none. With manifests all nodes are scored and preemption is off.
    """
    documents = [document.data for document in read_documents(path)]
    if len(documents) == 1 and "pending" in documents[0]:
        return {"version": release, **documents[0]}
    if any("pending" in document for document in documents):
        raise ManifestError(f"{path}: got {len(documents)} cases, wanted one")
    items = [item for document in documents for item in (document.get("items") or [document])]
    waiting = [item for item in items if _waits(item)]
    config = {"percentageOfNodesToScore": 100, "preemption": False}
    there = [item for item in items if not _waits(item)]
    return {"name": path.name.split(".")[0], "version": release, "config": config, "objects": there, "pending": waiting}


def _waits(item: Mapping[str, Any]) -> bool:
    return item.get("kind") == "Pod" and not (item.get("spec") or {}).get("nodeName")


def read_hosts(path: Path, release: str) -> tuple[list[str], list[str | None]]:
    """Pods and the hosts that they should get: ``{"pods": [...], "hosts": [...]}``, or hosts by release."""
    try:
        (document,) = parsed(read_file(str(path)), str(path))
        hosts = document["hosts"]
        pods = [name if "/" in name else f"/{name}" for name in document["pods"]]
        return pods, hosts[release] if isinstance(hosts, dict) else hosts
    except (ValueError, KeyError, TypeError):
        raise ManifestError(f'{path}: got no hosts of {release}, wanted {{"pods": [...], "hosts": [...]}}') from None


# --- one run --------------------------------------------------------------------------------------------------------


@attrs.frozen
class QuickDecisions:
    """How many decisions were read off scoreboards, and why the others were not."""

    taken: int
    detours: Mapping[str, int]
    """Reason -> decisions, the most frequent reason first."""

    @classmethod
    def of(cls, engine: Engine) -> QuickDecisions:
        """The decisions of *engine* so far."""
        taken, detours = engine.flow.detours()
        return cls(taken, dict(detours.most_common()))

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
    latencies: tuple[float, float]
    """The median and the 99th percentile of the wall time of a decision, in milliseconds."""
    quick: QuickDecisions

    @property
    def rate(self) -> float:
        """Pods a second of processor time."""
        return len(self.hosts) / self.cpu_seconds if self.cpu_seconds else 0.0

    def record(self) -> Json:
        """As plain data."""
        p50, p99 = self.latencies
        return {
            "nodes": self.nodes, "pods": len(self.hosts), "scheduled": sum(host is not None for host in self.hosts.values()),
            "cycles": self.cycles, "cpu_seconds": round(self.cpu_seconds, 4), "wall_seconds": round(self.wall_seconds, 4),
            "pods_per_s": round(self.rate, 1), "p50_ms": round(p50, 4), "p99_ms": round(p99, 4),
            "load_seconds": round(self.load_seconds, 3), "quick": self.quick.record(),
        }  # fmt: skip


def time_once(case: Json, engine_options: Mapping[str, Any]) -> Timing:
    """Load *case* and time its decisions, which are taken without per-node details."""
    gc.collect()
    started = time.process_time()
    run = Run(build(case, engine_options), details=False)
    items = read_items(case)
    run.engine.warm()
    loaded = time.process_time() - started
    with settled():
        return _timed(run, items, case.get("nominated") or {}, loaded)


def _timed(run: Run, items: Items, nominated: Mapping[str, str], load_seconds: float) -> Timing:
    found: list[Decision] = []
    moments = [time.perf_counter()]
    started = time.process_time()
    for decision in decisions(run, items, nominated):
        moments.append(time.perf_counter())
        found.append(decision)
    cpu_seconds = time.process_time() - started
    return Timing(
        nodes=run.engine.cache.node_count,
        hosts={decision.pod.key: decision.host for decision in found},
        cycles=len(found),
        cpu_seconds=cpu_seconds,
        wall_seconds=moments[-1] - moments[0],
        load_seconds=load_seconds,
        latencies=_percentiles(moments),
        quick=QuickDecisions.of(run.engine),
    )


def _percentiles(moments: list[float]) -> tuple[float, float]:
    if len(moments) < 2:
        return 0.0, 0.0
    half, most = np.percentile(np.diff(moments) * 1000, [50, 99])
    return float(half), float(most)


def profiled(case: Json, engine_options: Mapping[str, Any], profiler: Any) -> None:
    """Run *case* once more, with *profiler* (``start``, ``stop``) on during the loop alone."""
    run = Run(build(case, engine_options), details=False)
    items = read_items(case)
    run.engine.warm()
    profiler.start()
    for _ in decisions(run, items, case.get("nominated") or {}):
        pass
    profiler.stop()


# --- results --------------------------------------------------------------------------------------------------------


def differing(timing: Timing, pods: Iterable[str], hosts: Iterable[str | None]) -> Iterator[str]:
    """Where *timing* has another host than given, a line each. A pod may be given by its name without namespace."""
    by_name = {f"/{key.partition('/')[2]}": host for key, host in timing.hosts.items()}
    for pod, wanted in zip(pods, hosts, strict=True):
        known = by_name if pod.startswith("/") else timing.hosts
        if pod not in known:
            yield f"pod {pod.lstrip('/')}: not in the case"
        elif known[pod] != (wanted or None):
            yield f"pod {pod.lstrip('/')}: got {known[pod]}, wanted {wanted}"


def seconds_to_write(timing: Timing, stream: IO[str] | None) -> float:
    """Write the placements to *stream* (None: nowhere) in the form of ``--check``; answers the seconds that this took."""
    started = time.process_time()
    json.dump({"pods": list(timing.hosts), "hosts": list(timing.hosts.values())}, io.StringIO() if stream is None else stream)
    return time.process_time() - started


def peak_rss_mb() -> float | None:
    """The most memory that this process ever had, in MiB; None if the system does not tell."""
    if sys.platform == "win32":
        return None
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(used / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def calibration() -> float:
    """Seconds of processor time for a fixed loop of Python and numpy, best of three: a measure of the machine."""
    return round(min(_fixed_loop() for _ in range(3)), 4)


def _fixed_loop() -> float:
    started = time.process_time()
    counts: dict[int, int] = {}
    for number in range(300_000):
        counts[number % 997] = counts.get(number % 997, 0) + number
    numbers = np.arange(5_000, dtype=np.int64)
    for _ in range(2_000):
        numbers = np.where(numbers % 3 == 0, numbers + 7, numbers - 1)
    return time.process_time() - started
