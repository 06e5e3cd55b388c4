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
from ..api.reading.documents import read_documents
from ..exceptions import KubeclassicError, UnknownNameError
from ..framework.config.configuration import KIND, load_configuration
from ..framework.releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES, find_any_release
from ..simulation.bench import bench as timing
from ..simulation.bench.cases import FORMS, Shape
from .memory import engine_options, memory_options
from .output import note, writing
from .report.documents import document


class MissingExtra(KubeclassicError):
    """An option needs a package that is not installed."""


PATH = click.Path(path_type=Path)


@click.command(short_help="How fast is it? Pods a second, and the same decisions.")
@click.argument("case", required=False, type=PATH)
@click.option("--kind", type=click.Choice(list(FORMS)), help="Make a cluster in scheduler_perf's shape instead of reading CASE.")
@click.option("--nodes", type=click.IntRange(1), default=1000, show_default=True, help="With --kind: nodes.")
@click.option("--existing", type=click.IntRange(0), help="With --kind: bound pods.  [default: 1000; preemption: 30 a node]")
@click.option("--pods", type=click.IntRange(1), default=1000, show_default=True, help="With --kind: pods to schedule.")
@click.option("--templates", type=click.IntRange(1), default=1, show_default=True, help="With --kind: number of different pod sizes.")
@click.option("--release", metavar="RELEASE", help=f"The release that schedules.  [default: the case's, or {DEFAULT_RELEASE}]")
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True, help="Number of runs; the best one counts.")
@click.option("--check", type=PATH, metavar="HOSTS", help="A file of the hosts that the pods must get.")
@click.option("--output", metavar="FILE", help="Write the placements there, as --check reads them.")
@click.option("--scheduler-profile", type=PATH, metavar="FILE", help=f"{DEFAULT_FRAMEWORK}: a {KIND} with profiles.")
@click.option("--flame-graph", type=PATH, metavar="FILE", help="Write a flame graph of one more run: .html, or .json for speedscope.")
@click.option(
    "--profile", type=PATH, metavar="FILE",
    help=f"Short for --scheduler-profile where FILE ends in .yaml or .yml, or is JSON with a {KIND}; else for --flame-graph.",
)
@click.option("-v", "--verbose", is_flag=True, help="Say which share of decisions was read off scoreboards, and why the others were not.")
@memory_options
def bench(
    case: Path | None, kind: str | None, nodes: int, existing: int | None, pods: int, templates: int, release: str | None,
    repeat: int, check: Path | None, output: str | None, scheduler_profile: Path | None, flame_graph: Path | None, profile: Path | None,
    verbose: bool, memory: int | None, no_memory: bool,
) -> None:  # fmt: skip
    """Time the scheduling loop of CASE, a conformance case file or manifests, and print the best run as one line of JSON.

    Only the loop is timed, on one core, with decisions that keep no per-node details; pods_per_s is pods a second of processor time.
    load_seconds is the time to read, decode and feed the cluster, write_seconds the time to write the placements. p50_ms and p99_ms are
    the wall time of a decision. calibration is the processor time of a fixed loop, a measure of the machine. quick is the share of
    decisions that were read off scoreboards, with the reasons of the others. The best run is the one with the least processor time.

    Exit status 0: timed, 1: --check found another host, 2: bad input.

    \b
    kubeclassic bench basic-5000.jsonl.gz --check basic-5000.hosts.json.gz
    kubeclassic bench --kind spread --nodes 5000 --existing 20000 --pods 2000
    kubeclassic bench basic-5000.jsonl.gz --profile profile.yaml
    """
    scheduler_profile, flame_graph = _split_profile(profile, scheduler_profile, flame_graph)
    profiler = _profiler() if flame_graph else None
    started = time.process_time()
    shape = Shape(kind=kind or "basic", nodes=nodes, existing=existing, pods=pods, templates=templates)
    problem = _problem(case, shape, kind, _version(release, scheduler_profile), scheduler_profile)
    wanted = None if check is None else timing.read_hosts(check, problem["version"])
    read_seconds = time.process_time() - started
    options = engine_options(memory, no_memory)
    best = max((timing.time_once(problem, options) for _ in range(repeat)), key=lambda run: run.rate)
    _print(problem, best, read_seconds, output)
    for line in best.quick.lines() if verbose else ():
        note(line)
    if flame_graph is not None:
        timing.profiled(problem, options, profiler)
        with writing(str(flame_graph)) as stream:
            stream.write(_rendered(profiler, flame_graph))
    if wanted is not None:
        _verify(best, *wanted)


# --- what is timed --------------------------------------------------------------------------------------------------


def _split_profile(profile: Path | None, scheduler_profile: Path | None, flame_graph: Path | None) -> tuple[Path | None, Path | None]:
    """The scheduler's profile and the file for a flame graph; --profile means one of them."""
    is_scheduler_s = profile is not None and _is_configuration(profile)
    other, name = (scheduler_profile, "--scheduler-profile") if is_scheduler_s else (flame_graph, "--flame-graph")
    if profile is not None and other is not None:
        raise click.UsageError(f"--profile: got {profile} beside {name} {other}, wanted one of them")
    return (profile, flame_graph) if is_scheduler_s else (scheduler_profile, profile or flame_graph)


def _is_configuration(path: Path) -> bool:
    if path.suffix in (".yaml", ".yml"):
        return True
    if path.suffix != ".json" or not path.is_file():
        return False
    try:
        return [one.data.get("kind") for one in read_documents(path)] == [KIND]
    except KubeclassicError:
        return False


def _version(release: str | None, profile: Path | None) -> str | None:
    """The wanted release, if any; with a profile alone, the one that has profiles."""
    if release is None:
        return None if profile is None else DEFAULT_FRAMEWORK
    version = find_any_release(release).version
    if profile is not None and version not in FRAMEWORK_RELEASES:
        raise UnknownNameError(f"--profile: got {profile}, which release {version} does not have, wanted --release {DEFAULT_FRAMEWORK}")
    return version


def _problem(case: Path | None, shape: Shape, kind: str | None, release: str | None, profile: Path | None) -> dict[str, Any]:
    if (case is None) == (kind is None):
        raise click.UsageError("wanted either a CASE or --kind")
    found = shape.case(release or DEFAULT_RELEASE) if case is None else timing.read_case(case, release or DEFAULT_RELEASE)
    if release is not None:
        found = _with_release(found, release)
    if profile is not None:
        load_configuration(profile)
        (written,) = read_documents(profile)
        found["config"] = {**(found.get("config") or {}), "profile": written.data}
    return found


def _with_release(case: dict[str, Any], release: str) -> dict[str, Any]:
    """A case of any release, changed to *release*, without the gates that this one does not know."""
    config, gates = case.get("config") or {}, find_any_release(release).gates
    kept = {name: value for name, value in (config.get("featureGates") or {}).items() if name in gates}
    left_out = [name for name in config.get("featureGates") or {} if name not in kept]
    if left_out:
        note(f"left out, as release {release} has no such gates: {', '.join(left_out)}")
    return case | {"version": release, "config": {**config, "featureGates": kept}}


def _print(problem: dict[str, Any], best: timing.Timing, read_seconds: float, output: str | None) -> None:
    record = {"case": problem["name"], "release": problem["version"], **best.record()}
    record["load_seconds"] = round(record["load_seconds"] + read_seconds, 3)
    record["write_seconds"] = round(timing.seconds_to_write(best, output), 4)
    record |= {"peak_rss_mb": timing.peak_rss_mb(), "calibration": timing.calibration()}
    click.echo(json.dumps(document("Bench", record)))


def _verify(best: timing.Timing, pods: list[str], hosts: list[str | None]) -> None:
    found = list(timing.differing(best, pods, hosts))
    if found:
        note(f"{len(found)} of {len(pods)} pods have another host, the first: {found[0]}")
        sys.exit(1)
    note(f"all {len(pods)} hosts are as expected")


# --- flame graphs ---------------------------------------------------------------------------------------------------


def _profiler() -> Any:
    try:
        return import_module("pyinstrument").Profiler(interval=0.0005)
    except ImportError:
        raise MissingExtra("--flame-graph: got no pyinstrument, wanted it installed: pip install 'kubeclassic[bench]'") from None


def _rendered(profiler: Any, path: Path) -> str:
    renderers = import_module("pyinstrument.renderers")
    renderer = renderers.SpeedscopeRenderer() if path.suffix == ".json" else renderers.HTMLRenderer()
    return str(profiler.output(renderer))
