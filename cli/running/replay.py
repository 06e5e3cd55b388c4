"""What ``kubeclassic replay`` runs."""

from __future__ import annotations

import hashlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import attrs
import click

from ...api.reading.notices import in_groups, refuse_unread, unread_sentences
from ...api.words import count_of
from ...framework.releases import is_auto
from ...simulation.gcpause import settled
from ...simulation.releasenotes import input_notices
from ...simulation.replay.checkpoint import Header
from ...simulation.replay.guard import guarded
from ...simulation.replay.inputs.inputs import InputOptions, read_inputs
from ...simulation.replay.inputs.traces import Reading
from ...simulation.replay.recording import Recording, found, summary
from ...simulation.replay.replay import Replay
from ...simulation.replay.settings import Delays, Places
from ..answering import about, write_report
from ..console.output import note
from ..console.progress import counting, telling
from ..engines.setup import Setup
from ..notices import tell_notices, tell_unread
from ..opening import settled_for
from ..report.replay import duration, replay_text
from ..report.tables import width_of
from ..report.timeline.collected import Collected
from ..report.timeline.timelinepage import replay_html

INTERRUPTED = 130
NOT_COMPARED = {"paths", "output", "series", "plot", "checkpoint", "checkpoint_every", "resume", "report", "until", "verbose", "strict"}
"""Parameters that may differ between a checkpoint and what resumes from it."""
BAR_STEPS = 200


def run(paths: tuple[Path, ...], setup: Setup, no_defaults: bool, places: Places, more: dict[str, Any]) -> int:
    """Replay; answers the exit status. *more*: the other options by name."""
    with guarded(places, paths):
        made = _replay(paths, setup, no_defaults, places, more)
        collected = None if places.report is None else Collected()
        recording = Recording(made, places, Header(inputs=made.inputs.digest, options=_options()), watcher=collected)
        checkpoint = found(places) if more["resume"] else None
        recording.begin(checkpoint)
        if checkpoint is not None:
            recording.replay.go_on(more["until"])
            note(f"resumed at {duration(checkpoint.header.time)}, after {checkpoint.header.steps} steps")
        _run(recording)
    if collected is not None:
        collected.end(recording.replay)
        write_report(str(places.report), lambda: _page(recording.replay, collected, paths, setup))
    note(replay_text(recording.replay, width_of(sys.stderr)))
    tell_unread(recording.replay.inputs.warnings)
    if not recording.replay.is_over:
        note("interrupted" + (": --resume continues from here" if places.checkpoint else ""))
        return INTERRUPTED
    return 0 if summary(recording.replay).ok else 1


def _replay(paths: tuple[Path, ...], setup: Setup, no_defaults: bool, places: Places, more: dict[str, Any]) -> Replay:
    provisional = setup.with_(release=None) if is_auto(setup.release) else setup
    names = provisional.spec.scheduler_names
    reading = Reading(ignore_times=more["ignore_times"], as_recorded=more["as_recorded"], run_time=more["run_time"])
    choice = InputOptions(
        reading=reading, compress=more["compress_time"], defaults=not no_defaults, scheduler_names=names,
        digest=places.checkpoint is not None, keeps_manifests=setup.may_call_extenders,
        cron_jobs=more["cron_jobs"], priorities=provisional.spec.keeps_priorities,
        strict_fields=more["strict"],
    )  # fmt: skip
    with telling("reading", ", ".join(map(str, paths))):
        inputs = read_inputs(paths, choice)
    engine = settled_for(setup, inputs.nodes).spec.engine(inputs.config_maps)
    inputs = attrs.evolve(inputs, warnings=input_notices(inputs, engine.algorithm, setup.release))
    if more["strict"]:
        refuse_unread(inputs.warnings)
    tell_notices(inputs.warnings, more["verbose"])
    delays = Delays(**{field.name: more[field.name] for field in attrs.fields(Delays)})
    return Replay(inputs, engine, delays, setup.get("seed"), next(iter(names)), more["recreate"], more["until"])


def _page(replay: Replay, collected: Collected, paths: tuple[Path, ...], setup: Setup) -> str:
    release, warnings = replay.engine.release.version, in_groups(replay.inputs.warnings)
    counts = f"{count_of(len(collected.nodes), 'node')}, {count_of(len(collected.lives), 'pod')}, {duration(replay.now)} of virtual time"
    origin = about(None, paths, releases=[release], rules=setup.in_words(), warnings=warnings)
    unread = tuple(unread_sentences(replay.inputs.warnings))
    return replay_html(replay, collected, attrs.evolve(origin, counts=counts, unread=unread))


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
    with _stopped_by_interrupt(recording), settled(), _counting(recording, total) as show:
        for steps in recording.run():
            if steps % BAR_STEPS == 0:
                show(recording.replay.position + recording.replay.workload.position, duration(recording.replay.now))
        recording.end()


def _counting(recording: Recording, total: int) -> AbstractContextManager[Callable[[int, str], None]]:
    return counting(total, "replaying", "events", shown=not _are_seen(recording))


def _are_seen(recording: Recording) -> bool:
    """Whether the events are written to a terminal: they would break up a bar, and the bar them."""
    return recording.places.events is None and sys.stdout.isatty()


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
