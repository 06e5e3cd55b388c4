"""``kubeclassic replay``: what would have happened over time?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..choices import DELAYS as DEFAULT_DELAYS
from .declaring.commands import command
from .declaring.options import STRICT, scheduler_options
from .declaring.outputs import takes_report
from .declaring.paramtypes import FileName, Whole
from .declaring.paths import takes_paths

if TYPE_CHECKING:
    from .engines.setup import Setup


def seconds(value: Any) -> float:
    """A duration as seconds."""
    from ..simulation.replay.inputs.times import DURATION, parse_duration

    found = parse_duration(value)
    if found is None:
        raise click.BadParameter(f'got "{value}", wanted {DURATION}')
    return found


def _delay(name: str, field: str, what: str) -> Any:
    return click.option(name, field, type=seconds, default=DEFAULT_DELAYS[field], show_default=True, help=what)


DELAYS = (
    _delay("--cycle-time", "cycle", "From one scheduling cycle to the next; the scheduler does one at a time."),
    _delay("--binding-delay", "binding", "From the decision until the pod is bound."),
    _delay("--provisioning-delay", "provisioning", "Until a volume is made for a claim."),
    _delay("--startup-delay", "startup", "From the binding until the pod runs."),
    _delay("--termination-delay", "termination", "From the deletion or eviction of a pod until it is gone."),
    _delay("--failure-delay", "failure", "From a node's failure or deletion until its pods are evicted."),
)
PATH = FileName(allow_dash=False)


def _delays(command: Any) -> Any:
    for option in reversed(DELAYS):
        command = option(command)
    return command


@command(short_help="What would have happened over time?", outputs=["--plot"])
@takes_paths
@scheduler_options
@click.option(
    "--compress-time", type=click.FloatRange(min=0, min_open=True), default=1.0, metavar="F", help="Let all times pass F times as fast."
)
@click.option("--ignore-times", is_flag=True, help="Ignore the times in manifests and traces: all pods come at once, and stay.")
@click.option("--as-recorded", is_flag=True, help="Pods leave at their recorded time, not after their recorded run time.")
@click.option("--run-time", type=seconds, help="The run time of pods that have none of their own.  [default: for ever]")
@_delays
@click.option("--recreate/--no-recreate", default=True, show_default=True, help="Replace evicted pods of a controller, under another name.")
@click.option("--until", type=seconds, help="Stop at this virtual time.  [default: when nothing happens any more]")
@click.option("--cron-jobs", is_flag=True, help="Make the pods of one Job for each CronJob that has none and is not suspended.")
@click.option("--no-defaults", is_flag=True, help="Take objects as they are, without the API server's defaults.")
@STRICT
@click.option("--verbose", "-v", is_flag=True, help="List every warning, on standard error.")
@click.option("--output", type=PATH, metavar="FILE", help="Write the events there as they happen, instead of to standard output.")
@click.option("--series", type=PATH, metavar="FILE", help="Write time series there: CSV, or Parquet if the name ends in .parquet.")
@click.option("--series-every", type=seconds, default=0.0, show_default="every instant", help="Virtual time between two rows.")
@click.option("--plot", type=PATH, metavar="FILE", help="Draw the time series into this file: .svg, .png or .pdf.")
@takes_report
@click.option("--checkpoint", type=PATH, metavar="FILE", help="Save the state there, for --resume; needs --output.")
@click.option("--checkpoint-every", type=Whole(1), default=10_000, show_default=True, metavar="N", help="In steps.")
@click.option("--resume", is_flag=True, help="Resume from the checkpoint, if there is one; the results are the same as without a stop.")
def replay(
    paths: tuple[Path, ...], setup: Setup, no_defaults: bool, output: Path | None, series: Path | None, series_every: float,
    plot: Path | None, report: str | None, **more: Any,
) -> None:  # fmt: skip
    """Let pods and nodes come and go over virtual time, and schedule the pods, with queue, back-off and preemption.

    \b
    PATHS, in any combination:
      manifests    the cluster at the start; pods may have annotations kubeclassic/creation-time, deletion-time and run-time
      recordings   JSON Lines of {"time": ..., "event": "Add|Update|Delete", "object": {...}}, nodes also "Drain|Fail|Recover";
                   files of kube-scheduler-simulator's recorder, which say "resource" for "object"
      two CSVs     the nodes and pods of Alibaba's openb trace, with its times
      a scenario   YAML operations as of scheduler_perf: createNodes, createPods, churn, sleep, barrier, failNodes, ...
    Times are seconds or dates. Events go to standard output as JSON Lines, the summary to standard error.

    Exit status 0: every pod got a node, 1: some did not, 2: bad input, 130: interrupted, with the results so far written.

    \b
    kubeclassic replay openb_node_list_all_node.csv openb_pod_list_default.csv --series use.csv > events.jsonl
    kubeclassic replay cluster.yaml recording.jsonl --release 1.14 --compress-time 60 --plot use.svg
    kubeclassic replay cluster.yaml recording.jsonl --profile profile.yaml
    kubeclassic replay scenario.yaml --report day.html > events.jsonl
    kubeclassic replay scenario.yaml --output events.jsonl --checkpoint state --resume
    """
    if (more["checkpoint"] or more["resume"]) and not (output and more["checkpoint"]):
        wanted = "--output FILE too: events on standard output cannot be resumed" if more["checkpoint"] else "--checkpoint FILE"
        raise click.UsageError(f"--{'checkpoint' if more['checkpoint'] else 'resume'}: wanted {wanted}")
    if report is not None and more["resume"]:
        raise click.UsageError("--report cannot be combined with --resume: the page is about the whole replay")
    from ..simulation.replay.settings import Places
    from .running.replay import run
    from .running.replayplot import plotted

    places = Places(
        events=output, series=series, series_every=series_every, checkpoint=more["checkpoint"],
        checkpoint_every=more["checkpoint_every"], report=None if report is None else Path(report),
    )  # fmt: skip
    sys.exit(plotted(plot, places, lambda found: run(paths, setup, no_defaults, found, more)))
