"""``kubeclassic bench``: how fast the scheduler is."""

from __future__ import annotations

import json
import sys
import time
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from ..api.record import as_document
from ..choices import CASE_KINDS, DEFAULT_RELEASE, FIRST_FRAMEWORK, KIND
from ..exceptions import KubeclassicError
from .console.output import note, warn, writing
from .console.progress import working
from .declaring.commands import CommonOption, ParentCommand, command
from .declaring.options import EXTENDERS
from .declaring.paramtypes import FILE, Whole, engine_options, memory_options
from .report.tables import write_tables

if TYPE_CHECKING:
    from ..simulation.bench.measured import BenchDocument

COUNT = Whole(1)


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return bench.complete(context, parameter, incomplete)


@click.command(cls=ParentCommand, short_help="How fast is it? Pods a second, and the same decisions.")
@click.argument("case", required=False, type=FILE, shell_complete=_completed)
@click.option(
    "--kind", cls=CommonOption, type=click.Choice(CASE_KINDS),
    help="Make a cluster in scheduler_perf's shape instead of reading CASE.",
)  # fmt: skip
@click.option("--nodes", cls=CommonOption, type=COUNT, default=1000, show_default=True, help="With --kind: nodes.")
@click.option("--existing", type=Whole(0), help="With --kind: bound pods.  [default: 1000; preemption: 30 a node]")
@click.option("--pods", cls=CommonOption, type=COUNT, default=1000, show_default=True, help="With --kind: pods to schedule.")
@click.option("--templates", type=COUNT, default=1, show_default=True, help="With --kind: number of different pod sizes.")
@click.option(
    "--release",
    metavar="RELEASE",
    help=f"The release that schedules.  [default: the case's, or {DEFAULT_RELEASE}]",
)
@click.option("--profile", type=FILE, metavar="FILE", help=f"From {FIRST_FRAMEWORK} on: a {KIND} with profiles.")
@click.option("--scheduler-profile", type=FILE, hidden=True, help="The former name of --profile.")
@click.option(
    "--percentage-of-nodes-to-score",
    "percentage",
    type=Whole(0, 100),
    metavar="N",
    help="Stop looking when this share of the nodes fits; 0: as the release does.  [default: the case's, or 100]",
)
@click.option("--disable-preemption", is_flag=True, help="Never make room by evicting pods of lower priority.")
@EXTENDERS
@memory_options
@click.option("--repeat", cls=CommonOption, type=COUNT, default=5, show_default=True, help="Number of runs; the best one counts.")
@click.option("--check", type=FILE, metavar="HOSTS", help="A file of the hosts that the pods must get.")
@click.option(
    "--against", cls=CommonOption, metavar="COMMAND",
    help="Run COMMAND too after each run, and compare the medians of its pods_per_s with ours.",
)  # fmt: skip
@click.option("-o", "form", cls=CommonOption, type=click.Choice(["json", "table"]), default="json", show_default=True, help="json: a line.")
@click.option("--output", metavar="FILE", help="Write the placements there, as --check reads them.")
@click.option("--flame-graph", type=FILE, metavar="FILE", help="Write a flame graph of one more run: .html, or .json for speedscope.")
@click.option("-v", "--verbose", is_flag=True, help="Say which share of decisions was read off boards, and why the others were not.")
def bench(
    case: Path | None, kind: str | None, nodes: int, existing: int | None, pods: int, templates: int, release: str | None,
    profile: Path | None, scheduler_profile: Path | None, percentage: int | None, disable_preemption: bool, extenders: str | None,
    memory: int | None, no_memory: bool, repeat: int, check: Path | None, against: str | None, form: str, output: str | None,
    flame_graph: Path | None, verbose: bool,
) -> None:  # fmt: skip
    """Time how the pods of CASE are scheduled, and print the best run as one line of JSON, or as a table for people.

    CASE is a conformance case file, or manifests.

    pods_per_s is pods a second of processor time of one core, the first snapshot of the cluster and the scheduling loop together,
    in the best run; median_pods_per_s is the median of the runs. loop_pods_per_s and loop_median_pods_per_s are those of the loop alone.
    Decisions keep no per-node details. load_seconds is the time to read, decode and feed the cluster, write_seconds the time to write
    the placements. p50_ms to p99_ms are the wall time of a decision, throughput is decisions a second of wall time, over windows of 100
    decisions. calibration is the processor time of a fixed loop, a measure of the machine. quick is the share of decisions that were read
    off boards, with the reasons of the others. runs has pods_per_s of each run.

    COMMAND is another scheduler's bench: it prints a line of JSON with pods_per_s. {case}, {workload} and {release} in it are filled in;
    without {case} the path of CASE is its last argument.

    Exit status 0: timed, 1: --check found another host, 2: bad input.

    \b
    kubeclassic bench basic-5000.jsonl.gz --check basic-5000.hosts.json.gz
    kubeclassic bench --kind spread --nodes 5000 --existing 20000 --pods 2000 -o table
    kubeclassic bench basic-5000.jsonl.gz --profile profile.yaml
    kubeclassic bench basic-5000.jsonl.gz --against "kubeclassic bench --release 1.12 --repeat 1"
    kubeclassic bench basic-5000.jsonl.gz --flame-graph flame.html
    """
    from ..extenders.choice import ConfiguredExtenders
    from ..simulation.bench import bench as timing
    from ..simulation.bench.against import opponent_of
    from ..simulation.bench.cases import CaseSize, case_of

    profile, flame_graph = _in_todays_words(profile, scheduler_profile, flame_graph)
    profiler = _profiler() if flame_graph else None
    if (case is None) == (kind is None):
        raise click.UsageError("wanted either a CASE or --kind")
    started = time.process_time()
    size = CaseSize(kind=kind or "basic", nodes=nodes, existing=existing, pods=pods, templates=templates)
    timed = case_of(case or size, release=release, profile=profile, percentage=percentage, preempts=not disable_preemption, say=note)
    read_seconds = time.process_time() - started
    options = {**engine_options(memory, no_memory), "extenders": ConfiguredExtenders(extenders)}
    wanted = None if check is None else timing.read_hosts(check, timed["version"])
    with working("timing", repeat, "runs", word=timed["name"], still=True) as work, opponent_of(against, timed, case) as opponent:
        runs = timing.runs_of(timed, options, repeat, opponent, lambda: work.at(work.done + 1, repeat))
        with nullcontext() if output is None else writing(output) as stream:
            record = timing.document_of(timed, runs, opponent, read_seconds, stream)
        for line in record.warnings:
            warn(line)
        best = timing.best_of(runs)
        for line in best.quick.lines() if verbose else ():
            note(line)
        if flame_graph is not None:
            timing.profiled(timed, options, profiler)
            _draw(flame_graph, profiler)
        is_right = wanted is None or _is_right(list(timing.differing(best, *wanted)), len(wanted[0]))
    _print(record, form)
    sys.exit(0 if is_right else 1)


def _print(record: BenchDocument, form: str) -> None:
    from .report.bench import bench_tables

    if form == "json":
        click.echo(json.dumps(as_document(record)))
    else:
        write_tables(bench_tables([record]), sys.stdout)


def _draw(file: Path, profiler: Any) -> None:
    with writing(file) as stream:
        stream.write(_rendered(profiler, file))


def _is_right(differing: list[str], pods: int) -> bool:
    if differing:
        note(f"{len(differing)} of {pods} pods have another host, the first: {differing[0]}")
    else:
        note(f"all {pods} hosts are as expected")
    return not differing


# --- older forms ----------------------------------------------------------------------------------------------------


def _in_todays_words(profile: Path | None, scheduler_profile: Path | None, flame_graph: Path | None) -> tuple[Path | None, Path | None]:
    """--profile for a configuration alone, and the flame graph: it meant that too, and --scheduler-profile was its other name."""
    if profile is not None and not _is_configuration(profile):
        _once("--profile", profile, "--flame-graph", flame_graph)
        profile, flame_graph = None, profile
    if scheduler_profile is not None:
        _once("--scheduler-profile", scheduler_profile, "--profile", profile)
        profile = scheduler_profile
    return profile, flame_graph


def _once(old: str, path: Path, new: str, other: Path | None) -> None:
    if other is not None:
        raise click.UsageError(f"{old}: got {path} beside {new} {other}, wanted one of them")
    note(f"note: {old} is {new} now; write {new} {path}")


def _is_configuration(path: Path) -> bool:
    """Whether *path* is meant as a configuration: only a page, or JSON of another kind, can be meant as a flame graph."""
    from ..api.reading.documents import read_documents

    if path.suffix == ".html":
        return False
    if path.suffix != ".json":
        return True
    try:
        return path.is_file() and [document.data.get("kind") for document in read_documents(path)] == [KIND]
    except KubeclassicError:
        return False


# --- flame graphs ---------------------------------------------------------------------------------------------------


def _profiler() -> Any:
    try:
        return import_module("pyinstrument").Profiler(interval=0.0005)
    except ImportError:
        raise KubeclassicError("--flame-graph: got no pyinstrument, wanted it installed: pip install 'kubeclassic[bench]'") from None


def _rendered(profiler: Any, path: Path) -> str:
    renderers = import_module("pyinstrument.renderers")
    renderer = renderers.SpeedscopeRenderer() if path.suffix == ".json" else renderers.HTMLRenderer()
    return str(profiler.output(renderer))


# --- two files of lines ---------------------------------------------------------------------------------------------


@command("compare", short_help="How much faster one file of bench's lines is than another.")
@click.argument("a", type=FILE)
@click.argument("b", type=FILE)
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def compare_benches(a: Path, b: Path, form: str) -> None:
    """Show, for each case that A and B have, how many times as fast B is. Both are files of lines that bench printed.

    The medians of the runs are compared. The calibrated ratio sets the machines off against each other: pods_per_s times calibration.
    Where calibrations differ by more than 5 %, there is a warning.

    \b
    kubeclassic bench basic-5000.jsonl.gz > before.json
    kubeclassic bench basic-5000.jsonl.gz > after.json
    kubeclassic bench compare before.json after.json
    """
    from ..simulation.bench.comparison import compared
    from .report.bench import comparison_table

    found = compared(a, b)
    if form == "json":
        click.echo(json.dumps(as_document(found.document())))
    else:
        comparison_table(found).write(sys.stdout)
    for line in found.warnings():
        warn(line)


bench.add(compare_benches)
