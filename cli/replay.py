"""``kubeclassic replay``: what would have happened over time?"""

from __future__ import annotations

import hashlib
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import click

from ..framework.releases import is_auto
from ..simulation.gcpause import settled
from ..simulation.replay.checkpoint import Header
from ..simulation.replay.inputs.inputs import Choice, read_inputs
from ..simulation.replay.inputs.times import DURATION, parse_duration
from ..simulation.replay.inputs.traces import Reading
from ..simulation.replay.recording import Places, Recording, found
from ..simulation.replay.replay import Replay
from ..simulation.replay.simulatedcluster import Delays
from .commands import command
from .options import scheduler_options
from .output import note
from .paths import takes_paths
from .progress import counting
from .report.replay import duration, replay_text
from .running.cluster import input_notices, keeps_priorities, settled_for
from .running.notices import tell_notices
from .setup import Setup

INTERRUPTED = 130
NOT_COMPARED = {"paths", "output", "series", "checkpoint", "checkpoint_every", "resume", "until", "verbose"}
"""Parameters that may differ between a checkpoint and what resumes from it."""
BAR_STEPS = 200


def seconds(value: Any) -> float:
    """A duration as seconds."""
    found = parse_duration(value)
    if found is None:
        raise click.BadParameter(f'got "{value}", wanted {DURATION}')
    return found


def _delay(name: str, field: str, what: str) -> Any:
    default = getattr(Delays(), field)
    return click.option(name, field, type=seconds, default=default, show_default=True, help=what)


DELAYS = (
    _delay("--cycle-time", "cycle", "From one scheduling cycle to the next; the scheduler does one at a time."),
    _delay("--binding-delay", "binding", "From the decision until the pod is bound."),
    _delay("--provisioning-delay", "provisioning", "Until a volume is made for a claim."),
    _delay("--startup-delay", "startup", "From the binding until the pod runs."),
    _delay("--termination-delay", "termination", "From the deletion or eviction of a pod until it is gone."),
    _delay("--failure-delay", "failure", "From a node's failure or deletion until its pods are evicted."),
)
PATH = click.Path(path_type=Path)


def _delays(command: Any) -> Any:
    for option in reversed(DELAYS):
        command = option(command)
    return command


@command(short_help="What would have happened over time?")
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
@click.option("--verbose", "-v", is_flag=True, help="List every warning, on standard error.")
@click.option("--output", type=PATH, metavar="FILE", help="Write the events there as they happen, instead of to standard output.")
@click.option("--series", type=PATH, metavar="FILE", help="Write time series there: CSV, or Parquet if the name ends in .parquet.")
@click.option("--series-every", type=seconds, default=0.0, show_default="every instant", help="Virtual time between two rows.")
@click.option("--checkpoint", type=PATH, metavar="FILE", help="Save the state there, for --resume; needs --output.")
@click.option("--checkpoint-every", type=click.IntRange(min=1), default=10_000, show_default=True, metavar="N", help="In steps.")
@click.option("--resume", is_flag=True, help="Resume from the checkpoint, if there is one; the results are the same as without a stop.")
def replay(
    paths: tuple[Path, ...], setup: Setup, no_defaults: bool, output: Path | None, series: Path | None, series_every: float, **more: Any
) -> None:
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
    kubeclassic replay cluster.yaml recording.jsonl --release 1.14 --compress-time 60
    kubeclassic replay cluster.yaml recording.jsonl --profile profile.yaml
    kubeclassic replay scenario.yaml --output events.jsonl --checkpoint state --resume
    """
    if (more["checkpoint"] or more["resume"]) and not (output and more["checkpoint"]):
        wanted = "--output FILE too: events on standard output cannot be resumed" if more["checkpoint"] else "--checkpoint FILE"
        raise click.UsageError(f"--{'checkpoint' if more['checkpoint'] else 'resume'}: wanted {wanted}")
    places = Places(
        events=output, series=series, series_every=series_every, checkpoint=more["checkpoint"], checkpoint_every=more["checkpoint_every"]
    )
    made = _replay(paths, setup, no_defaults, more)
    recording = Recording(made, places, Header(inputs=made.inputs.digest, options=_options()))
    checkpoint = found(places) if more["resume"] else None
    recording.begin(checkpoint)
    if checkpoint is not None:
        recording.replay.go_on(more["until"])
        note(f"resumed at {duration(checkpoint.header.time)}, after {checkpoint.header.steps} steps")
    _run(recording)
    note(replay_text(recording.replay))
    if not recording.replay.is_over:
        note("interrupted" + (": --resume continues from here" if places.checkpoint else ""))
        sys.exit(INTERRUPTED)
    ledger, tally = recording.replay.cluster.ledger, recording.replay.cluster.tally
    sys.exit(1 if ledger.waiting_pods or tally.never_scheduled else 0)


def _replay(paths: tuple[Path, ...], setup: Setup, no_defaults: bool, more: dict[str, Any]) -> Replay:
    provisional = attrs.evolve(setup, release=None) if is_auto(setup.release) else setup
    configuration = provisional.configuration()
    names = setup.scheduler_names(configuration)
    reading = Reading(ignore_times=more["ignore_times"], as_recorded=more["as_recorded"], run_time=more["run_time"])
    choice = Choice(reading=reading, compress=more["compress_time"], defaults=not no_defaults, scheduler_names=names)
    choice = attrs.evolve(choice, cron_jobs=more["cron_jobs"], priorities=keeps_priorities(configuration))
    inputs = read_inputs(paths, choice)
    settled = settled_for(setup, inputs.nodes)
    engine = settled.engine(settled.configuration(), inputs.config_maps)
    tell_notices((*inputs.warnings, *input_notices(inputs, engine.algorithm, setup.release is None)), more["verbose"])
    delays = Delays(**{field.name: more[field.name] for field in attrs.fields(Delays)})
    return Replay(inputs, engine, delays, setup.seed, next(iter(names)), more["recreate"], more["until"])


def _options() -> dict[str, str]:
    """All that the results depend on besides the inputs, by the option's name."""
    context = click.get_current_context()
    options = (param for param in context.command.params if param.name not in NOT_COMPARED)
    return {param.opts[0]: _told(context.params.get(param.name or "")) for param in options}


def _told(value: Any) -> str:
    """An option's value; for a file, a hash of its content too."""
    if not isinstance(value, Path) or not value.is_file():
        return str(value)
    return f"{value} (sha256 {hashlib.sha256(value.read_bytes()).hexdigest()[:16]})"


def _run(recording: Recording) -> None:
    inputs = recording.replay.inputs
    total = len(inputs.events) + len(inputs.operations)
    with _stopped_by_interrupt(recording), settled(), counting(total, "replaying") as show:
        for steps in recording.run():
            if steps % BAR_STEPS == 0:
                show(recording.replay.position + recording.replay.program.position, duration(recording.replay.now))
        recording.end()


@contextmanager
def _stopped_by_interrupt(recording: Recording) -> Iterator[None]:
    """The first Ctrl-C stops after the current step, a second one at once."""

    def stop(number: int, frame: object) -> None:
        if recording.stopped:
            raise KeyboardInterrupt
        recording.stopped = True

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
