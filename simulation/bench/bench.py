"""Time the scheduler: how many pods a second of processor time, from the first snapshot of the cluster to the last decision.

The loop is timed alone, too. Reading, decoding and feeding the cluster, and writing the placements, are measured separately.
"""

from __future__ import annotations

import gc
import io
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from ...api.reading.documents import parsed
from ...api.reading.formats.files import read_file
from ...api.record import UNSET, UnsetType
from ...core.decision.decision import Decision
from ...core.run import Run
from ...exceptions import ManifestError
from ..conform import build, decisions, read_items
from ..gcpause import settled
from .against import Opponent
from .measured import BenchDocument, OtherScheduler, Timing, middle

Json = dict[str, Any]


def read_hosts(path: Path, release: str) -> tuple[list[str], list[str | None]]:
    """Pods and the hosts that they should get: ``{"pods": [...], "hosts": [...]}``, or hosts by release."""
    try:
        (document,) = parsed(read_file(str(path)), str(path))
        hosts = document["hosts"]
        pods = [name if "/" in name else f"/{name}" for name in document["pods"]]
        return pods, hosts[release] if isinstance(hosts, dict) else hosts
    except (ValueError, KeyError, TypeError):
        raise ManifestError(f'{path}: got no hosts of {release}, wanted {{"pods": [...], "hosts": [...]}}') from None


# --- several runs ---------------------------------------------------------------------------------------------------


def runs_of(
    case: Json, engine_options: Mapping[str, Any], repeat: int = 5, opponent: Opponent | None = None,
    on_run: Callable[[], None] = lambda: None,
) -> list[Timing]:  # fmt: skip
    """*case* timed several times, each time followed by a run of the *opponent*; *on_run* is called after each of ours."""
    found = []
    for _ in range(repeat):
        found.append(time_once(case, engine_options))
        on_run()
        if opponent is not None:
            opponent.run()
    return found


def document_of(
    case: Json, runs: list[Timing], opponent: Opponent | None = None, read_seconds: float = 0.0, stream: IO[str] | None = None
) -> BenchDocument:
    """The best of *runs*, whose placements are written to *stream*; *read_seconds*: what it took to read the case."""
    best, rates, loops = best_of(runs), tuple(round(found.rate, 1) for found in runs), [found.loop_rate for found in runs]
    write_seconds = seconds_to_write(best, stream)
    p50, p90, p95, p99 = (round(found, 4) for found in best.latencies)
    against = UNSET if opponent is None else opponent.beside(rates)
    return BenchDocument(
        warnings=_other_work(case["name"], best.scheduled, against),
        case=case["name"], release=case["version"], nodes=best.nodes, pods=len(best.hosts),
        scheduled=best.scheduled, decisions=best.cycles, prepare_seconds=round(best.prepare_seconds, 4),
        cpu_seconds=round(best.cpu_seconds, 4), wall_seconds=round(best.wall_seconds, 4),
        pods_per_s=max(rates), median_pods_per_s=round(middle(rates), 1),
        loop_pods_per_s=round(max(loops), 1), loop_median_pods_per_s=round(middle(loops), 1),
        p50_ms=p50, p90_ms=p90, p95_ms=p95, p99_ms=p99, throughput=best.throughput, load_seconds=round(best.load_seconds + read_seconds, 3),
        quick=best.quick, runs=rates, write_seconds=round(write_seconds, 4), peak_rss_mb=peak_rss_mb(),
        calibration=calibration(), against=against,
    )  # fmt: skip


def _other_work(case: str, scheduled: int, against: OtherScheduler | UnsetType) -> tuple[str, ...]:
    """A warning if the other scheduler says that it gave another number of pods a node."""
    theirs = UNSET if against is UNSET else against.scheduled
    told = f"{case}: the other scheduler gave {theirs} pods a node, this one {scheduled}: not the same work"
    return () if theirs in (UNSET, scheduled) else (told,)


def best_of(runs: Iterable[Timing]) -> Timing:
    """The run with the most pods a second of processor time."""
    return max(runs, key=lambda found: found.rate)


# --- one run --------------------------------------------------------------------------------------------------------


def time_once(case: Json, engine_options: Mapping[str, Any]) -> Timing:
    """Load *case* and time its decisions, which are taken without per-node details."""
    gc.collect()
    started = time.process_time()
    run, made = _loaded(case, engine_options)
    loaded = time.process_time() - started
    measured = Timing(load_seconds=loaded)
    with settled():
        measured.prepare(run.engine)
        measured.follow(made, run.engine)
    measured.nodes = run.engine.node_count
    return measured


def _loaded(case: Json, engine_options: Mapping[str, Any]) -> tuple[Run, Iterator[Decision]]:
    """A scheduler with the objects of *case*, and its decisions, which are made one by one."""
    run = Run(build(case, engine_options), details=False)
    items = read_items(case, keeps_manifests=bool(run.engine.extenders))
    return run, decisions(run, items, nominated=case.get("nominated") or {})


def profiled(case: Json, engine_options: Mapping[str, Any], profiler: Any) -> None:
    """Run *case* once more, with *profiler* (``start``, ``stop``) on during the decisions alone."""
    run, made = _loaded(case, engine_options)
    run.engine.warm()
    profiler.start()
    for _ in made:
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
