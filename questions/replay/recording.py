"""A replay that writes its results to disk: events and time series. It can be stopped at any time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from ...api.reading.notices import input_warnings
from .history import ReplayHistory, Series, columns
from .journal import EventData, ReplaySummary, Sink
from .outputs import PARQUET, GrowingFile, as_csv_line, as_json_line, write_parquet
from .replay import Replay
from .settings import Places


def printed(record: EventData) -> None:
    """Write an event to standard output."""
    sys.stdout.write(as_json_line(record).decode())


@attrs.define(eq=False, repr=False)
class Recording:
    """Runs *replay*, which must be new."""

    replay: Replay
    places: Places
    stopped: bool = False
    """Set it to stop after the current step."""
    watcher: ReplayHistory | None = None
    sink: Sink = printed
    """Gets the events, unless there is a file for them."""
    rows: list[list[Any]] = attrs.field(factory=list)
    """The time series, if it is not written as it comes."""
    _files: dict[str, GrowingFile] = attrs.field(factory=dict)
    _series: Series = attrs.field(init=False)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Inside, the files are open. An error leaves none of them; a stop leaves all that was written, in whole lines."""
        try:
            self._series = Series(self._add_row, self.places.series_every)
            growing: dict[str, Path | None] = {"events": self.places.events, "series": None if self._is_parquet else self.places.series}
            for name, path in growing.items():
                if path is not None:
                    self._files[name] = GrowingFile.begin(path)
            if "series" in self._files:
                self._files["series"].write(as_csv_line(columns(self.replay.inputs.resources)))
            self.replay.cluster.journal.sink = self._add_event
            if self.watcher is not None or self._has_series:
                self.replay.at_instant = self._show_instant
            yield
        except Exception:
            for file in self._files.values():
                file.drop()
            raise
        finally:
            self._close()

    @property
    def _is_parquet(self) -> bool:
        return self.places.series is not None and self.places.series.suffix == PARQUET

    @property
    def _has_series(self) -> bool:
        return self.places.series is not None or self.places.keeps_series

    def _show_instant(self, replay: Replay) -> None:
        if self._has_series:
            self._series.at_instant(replay)
        if self.watcher is not None:
            self.watcher.at_instant(replay)

    def _add_event(self, record: EventData) -> None:
        if self.watcher is not None:
            self.watcher.event(record)
        if "events" in self._files:
            self._files["events"].write(as_json_line(record))
        else:
            self.sink(record)

    def _add_row(self, row: list[Any]) -> None:
        if "series" in self._files:
            self._files["series"].write(as_csv_line(row))
        else:
            self.rows.append(row)

    # --- running ----------------------------------------------------------------------------------------------------

    def run(self) -> Iterator[int]:
        """Go on to the end, or until stopped; yields the number of steps after each."""
        while not self.stopped and self.replay.step():
            yield self.replay.steps

    def end(self) -> None:
        """Write out everything; a replay that was stopped has no summary."""
        if self.replay.is_over:
            self.replay.settle()
            self.replay.cluster.journal.end(summary(self.replay))
        self._close()
        if self._is_parquet and self.places.series is not None:
            write_parquet(self.places.series, columns(self.replay.inputs.resources), self.rows)
        sys.stdout.flush()

    def _close(self) -> None:
        while self._files:
            self._files.popitem()[1].close()


def summary(replay: Replay) -> ReplaySummary:
    """The results of a replay."""
    tally, use = replay.cluster.tally, replay.cluster.tally.mean_use()
    shares = {} if use is None else {name: round(float(share), 6) for name, share in zip(replay.inputs.resources, use, strict=True)}
    return ReplaySummary(
        warnings=input_warnings(replay.inputs.warnings), arrived=tally.arrived, scheduled=tally.scheduled,
        never_scheduled=tally.never_scheduled, finished=tally.finished, evicted=tally.evicted, deleted=tally.deleted,
        attempts=tally.attempts, failed_attempts=tally.failed_attempts, preemptions=tally.preemptions,
        still_waiting=replay.cluster.ledger.waiting_pods, waits=tally.wait_record(), mean_use=shares,
    )  # fmt: skip
