"""``kubeclassic replay``: events as they happen, series, and the outcome on standard error."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs

from ..api.reading import in_groups, unread_sentences
from ..api.words import count_of, duration
from ..framework.releases import is_auto
from ..questions.replay.ask import ReplayInput, replayed
from ..questions.replay.recording import Places, Recording
from ..simulation.input import SILENT
from .answering import Console, about, page_of, reading, settled_for, tell_notices, tell_unread, write_report
from .commands import Asking
from .console.output import INTERRUPTED, STANDARD, note, note_lines, warn
from .report.tables import view_lines, width_of


def answered(asking: Asking) -> int:
    """Replay, and print; the exit status."""
    options = asking.options
    report = asking.output.report
    file = asking.output.file
    events = None if file in (None, STANDARD) else Path(file)
    page = None if report is None else Path(report)
    places = Places(
        events=events, series=options.series, series_every=options.series_every or 0.0, report=page
    )
    setup = asking.setup
    provisional = setup.with_(release=None) if is_auto(setup.release) else setup
    with reading(asking.paths):
        replay_input = ReplayInput.read(
            asking.paths,
            provisional.spec,
            lambda nodes: settled_for(setup, nodes).spec,
            options=options,
            release=setup.release,
            keeps_manifests=setup.may_call_extenders,
        )
    tell_notices(replay_input.inputs.warnings, options.verbose)
    endless = any(step.opcode == "churn" and step.run_time is None for step in replay_input.inputs.operations)
    if options.until is None and endless:
        reason = "runs as long as any pod of the scenario is pending, perhaps for ever"
        warn(f"churn without runTime {reason}: --until ends it")
    breaks_up = (
        places.events is None and sys.stdout.isatty()
    )  # events on a terminal would break up a bar, and the bar them
    result = replayed(
        replay_input, options, SILENT if breaks_up else Console(), places=places, running=_interruptible
    )
    if result.history is not None:
        history = result.history
        notices = replay_input.inputs.warnings
        counts = f"{count_of(len(history.nodes), 'node')}, {count_of(len(history.lives), 'pod')}, {duration(result.time)} of virtual time"
        origin = about(
            None,
            asking.paths,
            releases=[result.release],
            warnings=in_groups(notices),
            unread=list(unread_sentences(notices)),
        )
        write_report(report, lambda: page_of(result.view(), attrs.evolve(origin, counts=counts)))
    note_lines(view_lines(result.view(), "table", width_of(sys.stderr)))
    tell_unread(replay_input.inputs.warnings)
    if not result.is_over:
        note("interrupted")
        return INTERRUPTED
    return 0 if result.ok else 1


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
