"""``kubeclassic bench``: how fast the scheduler is."""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from ..algorithmprovider.releases import DEFAULT_RELEASE
from ..exceptions import KubeclassicError
from ..simulation import bench as timing
from ..simulation.benchcases import FORMS, Shape
from .memory import engine_options, memory_options
from .output import note


class MissingExtra(KubeclassicError):
    """Something is asked for that needs a package which is not installed."""


@click.command(short_help="How fast is it? Pods a second, and the same decisions.")
@click.argument("case", required=False, type=click.Path(path_type=Path))
@click.option("--kind", type=click.Choice(list(FORMS)), help="Make a cluster in scheduler_perf's shape instead of reading CASE.")
@click.option("--nodes", type=click.IntRange(1), default=1000, show_default=True, help="With --kind: nodes.")
@click.option("--existing", type=click.IntRange(0), help="With --kind: bound pods.  [default: 1000; preemption: 30 a node]")
@click.option("--pods", type=click.IntRange(1), default=1000, show_default=True, help="With --kind: pods to schedule.")
@click.option("--templates", type=click.IntRange(1), default=1, show_default=True, help="With --kind: sizes of pods, all different.")
@click.option("--release", metavar="RELEASE", help=f"The release that schedules.  [default: the case's, or {DEFAULT_RELEASE}]")
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True, help="Runs, of which the best counts.")
@click.option("--check", type=click.Path(path_type=Path), metavar="HOSTS", help="A file of the hosts that the pods must get.")
@click.option("--output", metavar="FILE", help="Write the placements there, as --check reads them.")
@click.option("--profile", metavar="FILE", help="Write a flame graph of one more run: .html, or .json for speedscope. Needs pyinstrument.")
@memory_options
def bench(
    case: Path | None, kind: str | None, nodes: int, existing: int | None, pods: int, templates: int, release: str | None,
    repeat: int, check: Path | None, output: str | None, profile: str | None, memory: int | None, no_memory: bool,
) -> None:  # fmt: skip
    """Time the scheduling loop of CASE, a conformance case file or manifests, and print the best run as one line of JSON.

    The loop alone is timed, on one core, decisions without per-node details; pods_per_s is pods a second of processor time.
    load_seconds is reading, decoding and feeding the cluster, write_seconds writing the placements, p50_ms and p99_ms the wall time of a
    decision, calibration the processor time of a fixed loop, by which machines compare. The best run is that of the least processor time.

    Exit status 0: timed, 1: --check found another host, 2: bad input.

    \b
    kubeclassic bench basic-5000.jsonl.gz --check basic-5000.hosts.json.gz
    kubeclassic bench --kind spread --nodes 5000 --existing 20000 --pods 2000
    """
    profiler = _profiler() if profile else None
    started = time.process_time()
    problem = _problem(case, Shape(kind=kind or "basic", nodes=nodes, existing=existing, pods=pods, templates=templates), kind, release)
    wanted = None if check is None else timing.read_hosts(check, problem["version"])
    read_seconds = time.process_time() - started
    options = engine_options(memory, no_memory)
    best = max((timing.time_once(problem, options) for _ in range(repeat)), key=lambda run: run.rate)
    _print(problem, best, read_seconds, output)
    if profile is not None:
        timing.profiled(problem, options, profiler)
        Path(profile).write_text(_rendered(profiler, profile), encoding="utf-8")
    if wanted is not None:
        _verify(best, *wanted)


def _problem(case: Path | None, shape: Shape, kind: str | None, release: str | None) -> dict[str, Any]:
    if (case is None) == (kind is None):
        raise click.UsageError("wanted either a CASE or --kind")
    if case is None:
        return shape.case(release or DEFAULT_RELEASE)
    read = timing.read_case(case, release or DEFAULT_RELEASE)
    return read | ({} if release is None else {"version": release})


def _print(problem: dict[str, Any], best: timing.Timing, read_seconds: float, output: str | None) -> None:
    record = {"case": problem["name"], "release": problem["version"], **best.record()}
    record["load_seconds"] = round(record["load_seconds"] + read_seconds, 3)
    record["write_seconds"] = round(timing.seconds_to_write(best, output), 4)
    record |= {"peak_rss_mb": timing.peak_rss_mb(), "calibration": timing.calibration()}
    click.echo(json.dumps(record))


def _verify(best: timing.Timing, pods: list[str], hosts: list[str | None]) -> None:
    found = list(timing.differing(best, pods, hosts))
    if found:
        note(f"{len(found)} of {len(pods)} pods have another host; {found[0]}")
        sys.exit(1)
    note(f"all {len(pods)} hosts are as given")


# --- flame graphs ---------------------------------------------------------------------------------------------------


def _profiler() -> Any:
    try:
        return import_module("pyinstrument").Profiler(interval=0.0005)
    except ImportError:
        raise MissingExtra("--profile: got no pyinstrument, wanted it installed: pip install 'kubeclassic[bench]'") from None


def _rendered(profiler: Any, path: str) -> str:
    renderers = import_module("pyinstrument.renderers")
    renderer = renderers.SpeedscopeRenderer() if path.endswith(".json") else renderers.HTMLRenderer()
    return str(profiler.output(renderer))
