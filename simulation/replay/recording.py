"""A replay that writes its results to disk: events, time series, checkpoints. It can be stopped at any time and resumed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from ...api.reading.notices import input_warnings
from ...exceptions import KubeclassicError
from .checkpoint import Checkpoint, CheckpointError, Header, load, save
from .history import ReplayHistory
from .journal import EventData, ReplaySummary, Sink
from .outputs import PARQUET, GrowingFile, Mark, as_csv_line, as_json_line, write_parquet
from .replay import Replay, ignore
from .series import Series, columns
from .settings import Places


def printed(record: EventData) -> None:
    """Write an event to standard output."""
    sys.stdout.write(as_json_line(record).decode())


@attrs.define(eq=False, repr=False)
class Recording:
    """Runs *replay*, which must be new; *header* says what its checkpoints belong to."""

    replay: Replay
    places: Places
    header: Header
    stopped: bool = False
    """Set it to stop after the current step."""
    watcher: ReplayHistory | None = None
    """Checkpoints do not hold what it has seen."""
    sink: Sink = printed
    """Gets the events, unless there is a file for them."""
    rows: list[list[Any]] = attrs.field(factory=list)
    """The time series, if it is not written as it comes."""
    _resumed: Path | None = attrs.field(default=None, init=False)
    """The checkpoint from which it goes on."""
    _files: dict[str, GrowingFile] = attrs.field(factory=dict)
    _series: Series = attrs.field(init=False)

    @contextmanager
    def writing(self, checkpoint: Checkpoint | None = None) -> Iterator[None]:
        """Inside, the files are open. An error leaves of them what the last checkpoint goes on from; a stop leaves all that was written."""
        try:
            self.begin(checkpoint)
            yield
        except Exception:
            for file in self._files.values():
                file.drop()
            raise
        finally:
            self.close()

    def begin(self, checkpoint: Checkpoint | None = None) -> None:
        """Open the files. With *checkpoint*, cut them back to where it was made, and take over its state."""
        self._series = Series(self._add_row, self.places.series_every)
        if checkpoint is not None:
            from ...framework.copying import restore_plugins, restore_waiting_pods

            checkpoint.check(self.header)
            state, self._resumed = checkpoint.state(self._named_parts()), checkpoint.path
            with self._sound():
                self.replay, self._series, self.rows = state["replay"], state["series"], state["rows"]
                restore_plugins(self.replay.engine, state["plugins"])
                restore_waiting_pods(self.replay.engine, state["waiting"])
        marks = {} if checkpoint is None else checkpoint.header.files
        for name, path in self._growing().items():
            mark = marks.get(name)
            self._files[name] = GrowingFile.begin(path) if mark is None else GrowingFile.resume(path, Mark(*mark))
        with self._sound():
            self._connect()
        if checkpoint is None and "series" in self._files:
            self._files["series"].write(as_csv_line(columns(self.replay.inputs.resources)))

    def _growing(self) -> dict[str, Path]:
        found = {"events": self.places.events, "series": None if self._is_parquet else self.places.series}
        return {name: path for name, path in found.items() if path is not None}

    @property
    def _is_parquet(self) -> bool:
        return self.places.series is not None and self.places.series.suffix == PARQUET

    def _connect(self) -> None:
        self.replay.cluster.journal.sink = self._add_event
        if self.watcher is not None or self._has_series:
            self.replay.at_instant = self._show_instant

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
        every = self.places.checkpoint_every
        with self._sound():
            while not self.stopped and self.replay.step():
                if self.places.checkpoint is not None and self.replay.steps % every == 0:
                    self.save()
                yield self.replay.steps

    def end(self) -> None:
        """Write out everything. A replay that was stopped, by hand or by ``until``, saves a last checkpoint if checkpoints are made."""
        with self._sound():
            self._end()

    @contextmanager
    def _sound(self) -> Iterator[None]:
        """Errors of a state that was resumed, and makes no sense, name its file. Anybody can write a checkpoint."""
        try:
            yield
        except Exception as error:
            if self._resumed is None or isinstance(error, KubeclassicError | OSError):
                raise
            told = f"{type(error).__name__}: {str(error)[:200]}"
            raise CheckpointError(f"{self._resumed}: damaged, or a fault of kubeclassic: the state makes no sense ({told})") from error

    def _end(self) -> None:
        done = self.replay.is_over and self.replay.until is None
        if self.places.checkpoint is not None and not done:
            self.save()
        if self.replay.is_over:
            self.replay.settle()
            self.replay.cluster.journal.end(summary(self.replay))
        self.close()
        if self._is_parquet and self.places.series is not None:
            write_parquet(self.places.series, columns(self.replay.inputs.resources), self.rows)
        if done and self.places.checkpoint is not None:
            self.places.checkpoint.unlink(missing_ok=True)
        sys.stdout.flush()

    def close(self) -> None:
        """Close the files."""
        while self._files:
            self._files.popitem()[1].close()

    # --- checkpoints ------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write a checkpoint of the state after the last step."""
        from ...framework.copying import plugin_states, waiting_pods

        assert self.places.checkpoint is not None
        marks = {name: file.mark() for name, file in self._files.items()}
        files = {name: (mark.offset, mark.checksum) for name, mark in marks.items()}
        header = attrs.evolve(self.header, steps=self.replay.steps, time=self.replay.now, files=files)
        of_profiles = {"plugins": plugin_states(self.replay.engine), "waiting": waiting_pods(self.replay.engine)}
        state = {"replay": self.replay, "series": self._series, "rows": self.rows, **of_profiles}
        save(self.places.checkpoint, header, state, self._named_parts())

    def _named_parts(self) -> Mapping[str, Any]:
        """What a checkpoint holds by name only: it follows from inputs and options, or belongs to this process."""
        from .statekinds import named_parts

        return {"recording": self, "nothing": ignore, "inputs": self.replay.inputs, **named_parts(self.replay.engine)}


def found(places: Places) -> Checkpoint | None:
    """The checkpoint to resume from; None if there is none."""
    return None if places.checkpoint is None else load(places.checkpoint)


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
