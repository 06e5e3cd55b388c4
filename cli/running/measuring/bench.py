"""What ``kubeclassic bench`` does: it times a case, checks their hosts, runs another scheduler beside and draws a flame graph."""

from __future__ import annotations

import json
import sys
import time
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from ....api.record import UNSET, as_document
from ....exceptions import KubeclassicError
from ....extenders.choice import ConfiguredExtenders
from ....simulation.bench import bench as timing
from ....simulation.bench.against import Opponent, as_file
from ....simulation.bench.measured import BenchDocument, Timing
from ...console.output import note, warn, writing
from ...console.progress import Work, working
from ...declaring.memory import engine_options
from ...report.bench import bench_tables
from ...report.tables import write_tables
from .benchproblems import BenchOptions, Json, in_todays_words, problem

__all__ = ["BenchOptions", "run"]


class MissingBenchExtra(KubeclassicError):
    """An option needs a package that is not installed."""


def run(asked: BenchOptions) -> None:
    """Time the case, print its best run, and end with status 1 where a host is another than expected."""
    asked = in_todays_words(asked)
    profiler = _profiler() if asked.flame_graph else None
    started = time.process_time()
    case = problem(asked)
    read_seconds = time.process_time() - started
    with working("timing", asked.repeat, "runs", word=case["name"], still=True) as work:
        record, is_right = _timed(case, asked, profiler, read_seconds, work)
    if asked.form == "json":
        click.echo(json.dumps(as_document(record)))
    else:
        write_tables(bench_tables([record]), sys.stdout)
    if not is_right:
        sys.exit(1)


def _timed(case: Json, asked: BenchOptions, profiler: Any, read_seconds: float, work: Work) -> tuple[BenchDocument, bool]:
    """What is told of one case, and whether its hosts are as expected."""
    wanted = None if asked.check is None else timing.read_hosts(asked.check, case["version"])
    options = {**engine_options(asked.memory, asked.no_memory), "extenders": ConfiguredExtenders(asked.extenders)}
    runs, theirs = _alternating(case, asked, options, work)
    best = max(runs, key=lambda found: found.rate)
    record = _record(case, best, runs, theirs, read_seconds, asked.output)
    _compare_work(record)
    for line in best.quick.lines() if asked.verbose else ():
        note(line)
    if asked.flame_graph is not None:
        timing.profiled(case, options, profiler)
        with writing(asked.flame_graph) as stream:
            stream.write(_rendered(profiler, asked.flame_graph))
    return record, wanted is None or _is_right(best, *wanted)


def _alternating(case: Json, asked: BenchOptions, options: Json, work: Work) -> tuple[list[Timing], Opponent | None]:
    """The runs, each followed by one of the other scheduler if there is one."""
    if asked.against is None:
        return [_once(case, options, work) for _ in range(asked.repeat)], None
    with as_file(case, asked.case) as place:
        opponent = Opponent(asked.against, str(place), case["name"], case["version"])
        runs = []
        for _ in range(asked.repeat):
            runs.append(_once(case, options, work))
            opponent.run()
    return runs, opponent


def _once(case: Json, options: Json, work: Work) -> Timing:
    found = timing.time_once(case, options)
    work.done += 1
    return found


def _compare_work(record: BenchDocument) -> None:
    ours, theirs = record.scheduled, UNSET if record.against is UNSET else record.against.scheduled
    if theirs not in (UNSET, ours):
        warn(f"{record.case}: the other scheduler gave {theirs} pods a node, this one {ours}: not the same work")


def _record(
    case: Json, best: Timing, runs: list[Timing], theirs: Opponent | None, read_seconds: float, output: str | None
) -> BenchDocument:
    rates = tuple(round(found.rate, 1) for found in runs)
    with nullcontext() if output is None else writing(output) as stream:
        write_seconds = timing.seconds_to_write(best, stream)
    p50, p90, p95, p99 = (round(found, 4) for found in best.latencies)
    return BenchDocument(
        case=case["name"], release=case["version"], nodes=best.nodes, pods=len(best.hosts),
        scheduled=best.scheduled, cycles=best.cycles, cpu_seconds=round(best.cpu_seconds, 4),
        wall_seconds=round(best.wall_seconds, 4), pods_per_s=round(best.rate, 1), p50_ms=p50, p90_ms=p90, p95_ms=p95, p99_ms=p99,
        throughput=best.throughput, load_seconds=round(best.load_seconds + read_seconds, 3),
        quick=best.quick, runs=rates, write_seconds=round(write_seconds, 4), peak_rss_mb=timing.peak_rss_mb(),
        calibration=timing.calibration(), against=UNSET if theirs is None else theirs.beside(rates),
    )  # fmt: skip


def _is_right(best: Timing, pods: list[str], hosts: list[str | None]) -> bool:
    found = list(timing.differing(best, pods, hosts))
    if found:
        note(f"{len(found)} of {len(pods)} pods have another host, the first: {found[0]}")
        return False
    note(f"all {len(pods)} hosts are as expected")
    return True


# --- flame graphs ---------------------------------------------------------------------------------------------------


def _profiler() -> Any:
    try:
        return import_module("pyinstrument").Profiler(interval=0.0005)
    except ImportError:
        raise MissingBenchExtra("--flame-graph: got no pyinstrument, wanted it installed: pip install 'kubeclassic[bench]'") from None


def _rendered(profiler: Any, path: Path) -> str:
    renderers = import_module("pyinstrument.renderers")
    renderer = renderers.SpeedscopeRenderer() if path.suffix == ".json" else renderers.HTMLRenderer()
    return str(profiler.output(renderer))
