"""A replay that writes its results to disk: events and time series. It can be stopped at any time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import attrs

from ...api.reading.notices import input_warnings
from .history import ReplayHistory, Series, columns
from .journal import EventData, ReplaySummary, Sink
from .outputs import PARQUET, as_csv_line, as_json_line, growing, write_parquet
from .replay import Replay
from .settings import Places


def printed(record: EventData) -> None:
    """Write an event to standard output."""
    sys.stdout.write(as_json_line(record).decode())


@attrs.define(eq=False, repr=False)
class Recording:
    """Runs *replay*, which must be new. Files, rows and the history are observers of it."""

    replay: Replay
    places: Places
    stopped: bool = False
    """Set it to stop after the current step."""
    history: ReplayHistory | None = None
    sink: Sink = printed
    """Gets the events, unless there is a file for them."""
    rows: list[list[Any]] = attrs.field(factory=list)
    """The time series, if it is not written as it comes."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Inside, the files are open. An error leaves none of them; a stop leaves all that was written, in whole lines."""
        replay, places, names = self.replay, self.places, columns(self.replay.inputs.resources)
        events, instants, history = replay.cluster.journal.observers, replay.observers, self.history
        is_table = places.series is not None and places.series.suffix == PARQUET
        with ExitStack() as files:

            def opened(path: Path, form: Callable[[Any], bytes]) -> Callable[[Any], None]:
                write = files.enter_context(growing(path))
                return lambda record: write(form(record))

            if history is not None:
                events.append(history.event)
            events.append(self.sink if places.events is None else opened(places.events, as_json_line))
            row = self.rows.append
            if places.series is not None and not is_table:
                row = opened(places.series, as_csv_line)
                row(names)
            if places.series is not None or places.keeps_series:
                instants.append(Series(row, places.series_every).at_instant)
            if history is not None:
                instants.append(history.at_instant)
            yield
            if replay.is_over:  # one that was stopped has no summary
                replay.settle()
                replay.cluster.journal.end(summary(replay))
        if places.series is not None and is_table:
            write_parquet(places.series, names, self.rows)
        sys.stdout.flush()

    def run(self) -> Iterator[int]:
        """Go on to the end, or until stopped; yields the number of steps after each."""
        while not self.stopped and self.replay.step():
            yield self.replay.steps


def summary(replay: Replay) -> ReplaySummary:
    """The results of a replay."""
    tally, use = replay.cluster.tally, replay.cluster.tally.mean_use()
    shares = {} if use is None else {name: round(float(share), 6) for name, share in zip(replay.inputs.resources, use, strict=True)}
    return ReplaySummary(
        warnings=input_warnings(replay.inputs.warnings), arrived=tally.events["Arrived"],
        scheduled=tally.events["Scheduled"], never_scheduled=tally.never_scheduled, finished=tally.events["Finished"],
        evicted=tally.evicted, deleted=tally.deleted,
        attempts=tally.attempts, failed_attempts=tally.failed_attempts, preemptions=tally.events["Preempting"],
        still_waiting=replay.cluster.ledger.waiting_pods, waits=tally.wait_record(), mean_use=shares,
    )  # fmt: skip
