"""``kubeclassic bench``: how fast the scheduler is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from ..choices import CASE_KINDS, DEFAULT_FRAMEWORK, DEFAULT_RELEASE, KIND
from .declaring.commands import ParentCommand, command
from .declaring.memory import memory_options
from .declaring.options import EXTENDERS
from .declaring.paramtypes import FILE, Whole

COUNT = Whole(1)


def _completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return bench.complete(context, parameter, incomplete)


@click.command(cls=ParentCommand, short_help="How fast is it? Pods a second, and the same decisions.")
@click.argument("case", required=False, type=FILE, shell_complete=_completed)
@click.option("--kind", type=click.Choice(CASE_KINDS), help="Make a cluster in scheduler_perf's shape instead of reading CASE.")
@click.option("--nodes", type=COUNT, default=1000, show_default=True, help="With --kind: nodes.")
@click.option("--existing", type=Whole(0), help="With --kind: bound pods.  [default: 1000; preemption: 30 a node]")
@click.option("--pods", type=COUNT, default=1000, show_default=True, help="With --kind: pods to schedule.")
@click.option("--templates", type=COUNT, default=1, show_default=True, help="With --kind: number of different pod sizes.")
@click.option(
    "--release",
    metavar="RELEASE",
    help=f"The release that schedules.  [default: the case's, or {DEFAULT_RELEASE}]",
)
@click.option("--profile", type=FILE, metavar="FILE", help=f"From {DEFAULT_FRAMEWORK} on: a {KIND} with profiles.")
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
@click.option("--repeat", type=COUNT, default=5, show_default=True, help="Number of runs; the best one counts.")
@click.option("--check", type=FILE, metavar="HOSTS", help="A file of the hosts that the pods must get.")
@click.option("--against", metavar="COMMAND", help="Run COMMAND too after each run, and compare the medians of its pods_per_s with ours.")
@click.option("-o", "form", type=click.Choice(["json", "table"]), default="json", show_default=True, help="json: a line.")
@click.option("--output", metavar="FILE", help="Write the placements there, as --check reads them.")
@click.option("--flame-graph", type=FILE, metavar="FILE", help="Write a flame graph of one more run: .html, or .json for speedscope.")
@click.option("-v", "--verbose", is_flag=True, help="Say which share of decisions was read off scoreboards, and why the others were not.")
def bench(**options: Any) -> None:
    """Time the scheduling loop of CASE, and print the best run as one line of JSON, or as a table for people.

    CASE is a conformance case file, or manifests.

    Only the loop is timed, on one core, with decisions that keep no per-node details; pods_per_s is pods a second of processor time.
    load_seconds is the time to read, decode and feed the cluster, write_seconds the time to write the placements. p50_ms to p99_ms are
    the wall time of a decision, throughput is decisions a second of wall time, over windows of 100 decisions. calibration is the
    processor time of a fixed loop, a measure of the machine. quick is the share of decisions that were read off scoreboards, with the
    reasons of the others. The best run is the one with the least processor time; runs has pods_per_s of each.

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
    from .running.measuring.bench import BenchOptions, run

    run(BenchOptions(**options))


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
    from .running.measuring.benchcompare import run_compare

    run_compare(a, b, form)


bench.add(compare_benches)
