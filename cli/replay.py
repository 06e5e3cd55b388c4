"""``kubeclassic replay``: what would have happened over time?"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from ..choices import DELAYS as DEFAULT_DELAYS
from ..questions.options.base import ClusterOptions
from .declaring.commands import CommonOption, command
from .declaring.options import click_option, scheduler_options
from .declaring.outputs import takes_report
from .declaring.paramtypes import FileName
from .declaring.paths import takes_paths

if TYPE_CHECKING:
    from ..questions.replay import ReplayInput, ReplayResult
    from ..simulation.replay.history import ReplayHistory
    from ..simulation.replay.inputs.inputs import Inputs
    from ..simulation.replay.recording import Recording
    from ..simulation.replay.settings import Places
    from .declaring.setup import Setup
    from .report.page.about import About

INTERRUPTED = 130


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


@command(short_help="What would have happened over time?")
@takes_paths()
@scheduler_options
@click.option(
    "--compress-time", cls=CommonOption, type=click.FloatRange(min=0, min_open=True), default=1.0, metavar="F",
    help="Let all times pass F times as fast."
)
@click.option("--ignore-times", is_flag=True, help="Ignore the times in manifests and traces: all pods come at once, and stay.")
@click.option("--as-recorded", cls=CommonOption, is_flag=True, help="Pods leave at their recorded time, not after their recorded run time.")
@click.option("--run-time", type=seconds, help="The run time of pods that have none of their own.  [default: for ever]")
@_delays
@click.option("--recreate/--no-recreate", default=True, show_default=True, help="Replace evicted pods of a controller, under another name.")
@click.option("--until", cls=CommonOption, type=seconds, help="Stop at this virtual time.  [default: when nothing happens any more]")
@click.option("--cron-jobs", is_flag=True, help="Make the pods of one Job for each CronJob that has none and is not suspended.")
@click.option("--no-defaults", is_flag=True, help="Take objects as they are, without the API server's defaults.")
@click_option(ClusterOptions.declared()["strict"])
@click.option("--verbose", "-v", is_flag=True, help="List every warning, on standard error.")
@click.option(
    "--output", cls=CommonOption, type=PATH, metavar="FILE",
    help="Write the events there as they happen, instead of to standard output.",
)  # fmt: skip
@click.option(
    "--series", cls=CommonOption, type=PATH, metavar="FILE",
    help="Write time series there: CSV, or Parquet if the name ends in .parquet.",
)  # fmt: skip
@click.option("--series-every", type=seconds, default=0.0, show_default="every instant", help="Virtual time between two rows.")
@takes_report
def replay(
    paths: tuple[Path, ...], setup: Setup, no_defaults: bool, output: Path | None, series: Path | None, series_every: float,
    report: str | None, **more: Any,
) -> None:  # fmt: skip
    """Let pods and nodes come and go over virtual time, and schedule the pods, with queue, back-off and preemption.

    \b
    PATHS, in any combination:
      manifests    the cluster at the start; pods may have annotations kubeclassic/creation-time, deletion-time and run-time
      recordings   JSON Lines of {"time": ..., "event": "Add|Update|Delete", "object": {...}}, nodes also "Drain|Fail|Recover";
                   files of kube-scheduler-simulator's recorder, which say "resource" for "object"
      two CSVs     the nodes and pods of Alibaba's openb trace, with its times
      a scenario   YAML operations as of scheduler_perf: createNodes, createPods, churn, sleep, barrier, deleteNodes, ...
    Times are seconds or dates. Events go to standard output as JSON Lines, the summary to standard error.

    The same inputs and seed give the same events: --until looks at the first part of a long replay.
    Exit status 0: every pod got a node, 1: some did not, 2: bad input, 130: interrupted, with the results so far written in whole lines.

    \b
    kubeclassic replay openb_node_list_all_node.csv openb_pod_list_default.csv --series use.csv > events.jsonl
    kubeclassic replay cluster.yaml recording.jsonl --release 1.14 --compress-time 60 --series use.csv
    kubeclassic replay cluster.yaml recording.jsonl --profile profile.yaml
    kubeclassic replay scenario.yaml --report day.html > events.jsonl
    """
    from ..simulation.replay.settings import Places

    places = Places(
        events=output, series=series, series_every=series_every, report=None if report is None else Path(report),
    )  # fmt: skip
    sys.exit(_run(paths, setup, no_defaults, places, more))


def _run(paths: tuple[Path, ...], setup: Setup, no_defaults: bool, places: Places, more: Mapping[str, Any]) -> int:
    from ..questions.replay import ask
    from ..simulation.input import SILENT
    from ..simulation.replay.outputs import check_places
    from ..simulation.replay.settings import Delays
    from .answering import write_report
    from .console.output import note, note_lines
    from .notices import tell_unread
    from .opening import Console
    from .report.tables import view_lines, width_of

    breaks_up = places.events is None and sys.stdout.isatty()  # events on a terminal would break up a bar, and the bar them
    delays = Delays(**{field.name: more[field.name] for field in attrs.fields(Delays)})
    check_places(places)
    given = _opened(paths, setup, no_defaults, more)
    found = ask(
        given, SILENT if breaks_up else Console(), delays=delays, recreate=more["recreate"], until=more["until"], places=places,
        running=_interruptible,
    )  # fmt: skip
    if (history := found.history) is not None:
        from .report.questions.replaypage import replay_html

        write_report(str(places.report), lambda: replay_html(found, history, _about(found, history, given.inputs, paths, setup)))
    note_lines(view_lines(found.view(), "table", width_of(sys.stderr)))
    tell_unread(given.inputs.warnings)
    if not found.is_over:
        note("interrupted")
    return INTERRUPTED if not found.is_over else 0 if found.ok else 1


def _opened(paths: tuple[Path, ...], setup: Setup, no_defaults: bool, more: Mapping[str, Any]) -> ReplayInput:
    from ..framework.releases import is_auto
    from ..questions.replay import ReplayInput
    from ..simulation.replay.inputs.traces import Reading
    from .console.output import warn
    from .notices import tell_notices
    from .opening import reading, settled_for

    provisional = setup.with_(release=None) if is_auto(setup.release) else setup
    times = Reading(ignore_times=more["ignore_times"], as_recorded=more["as_recorded"], run_time=more["run_time"])
    with reading(paths):
        given = ReplayInput.read(
            paths, provisional.spec, lambda nodes: settled_for(setup, nodes).spec, release=setup.release, strict=more["strict"],
            reading=times, compress=more["compress_time"], defaults=not no_defaults,
            keeps_manifests=setup.may_call_extenders, cron_jobs=more["cron_jobs"], strict_fields=more["strict"],
        )  # fmt: skip
    tell_notices(given.inputs.warnings, more["verbose"])
    if more["until"] is None and any(step.opcode == "churn" and step.run_time is None for step in given.inputs.operations):
        warn("churn without runTime goes on as long as a pod of the scenario waits, which may be for ever: --until ends it")
    return given


def _about(found: ReplayResult, history: ReplayHistory, inputs: Inputs, paths: tuple[Path, ...], setup: Setup) -> About:
    from ..api.reading.notices import in_groups, unread_sentences
    from ..api.words import count_of, duration
    from .answering import about

    counts = f"{count_of(len(history.nodes), 'node')}, {count_of(len(history.lives), 'pod')}, {duration(found.time)} of virtual time"
    warnings, unread = in_groups(inputs.warnings), list(unread_sentences(inputs.warnings))
    origin = about(None, paths, releases=[found.release], rules=setup.in_words(), warnings=warnings, unread=unread)
    return attrs.evolve(origin, counts=counts)


@contextmanager
def _interruptible(recording: Recording) -> Iterator[None]:
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
