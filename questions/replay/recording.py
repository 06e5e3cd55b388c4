"""A replay that writes its results to disk: events and time series. It can be stopped at any time."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import msgspec

from ...api.reading.notices import input_warnings
from ...exceptions import KubeclassicError
from .history import ReplayHistory, Series, columns
from .journal import EventData, ReplaySummary, Sink
from .replay import Replay

PARQUET = ".parquet"
"""How the name of a Parquet file ends."""


class ResultFileError(KubeclassicError):
    """A file of results cannot be written."""


@contextmanager
def os_errors(path: object) -> Iterator[None]:
    """Inside, an error of the system becomes one that says that *path* cannot be written; not so a pipe that its reader closed."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ResultFileError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None


def check_places(places: Places) -> None:
    """Raise :class:`ResultFileError` for a file that is written at the end, or as it comes, where none can be."""
    from tempfile import NamedTemporaryFile

    for path in filter(None, (places.events, places.series, places.report)):
        with os_errors(path):
            try:
                mode = path.stat().st_mode
            except FileNotFoundError:
                mode = 0
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(21, "is a directory")
            if mode == 0 or (stat.S_ISREG(mode) and path.suffix == PARQUET):
                with NamedTemporaryFile(dir=path.resolve().parent):
                    pass
            elif not os.access(path, os.W_OK):
                raise PermissionError(13, "permission denied")


@contextmanager
def growing(path: Path) -> Iterator[Callable[[bytes], None]]:
    """What appends to a new file; an old one is overwritten. Raises :class:`ResultFileError`, for example if the disk is full.

    An error inside leaves no file; devices, pipes and links stay as they are.
    """
    with os_errors(path):
        stream = path.open("wb")

    def write(data: bytes) -> None:
        with os_errors(path):
            stream.write(data)

    try:
        yield write
    except Exception:
        with suppress(OSError):
            stream.close()
        with suppress(OSError):
            if path.is_file():
                os.truncate(path, 0)
                if not path.is_symlink():
                    path.unlink()
        raise
    finally:
        stream.close()


# --- forms ----------------------------------------------------------------------------------------------------------

_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_ALIKE = {str, int, bool, type(None)}


def as_json_line(record: EventData) -> bytes:
    """A record as a line of JSON, as Python's own JSON writes it: numbers near zero and huge ones have another form in msgspec's."""
    for value in record.values():
        if type(value) not in _ALIKE and not (type(value) is float and 1e-3 < value < 1e15):
            return f"{_JSON.encode(record)}\n".encode()
    return msgspec.json.encode(record) + b"\n"


def as_csv_line(values: Sequence[Any]) -> bytes:
    """Values as a line of CSV."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue().encode()


def write_parquet(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table as Parquet, whole or not at all. Raises :class:`ResultFileError`, also if pyarrow is not installed."""
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise ResultFileError(f"{path}: Parquet needs pyarrow, which is not installed: pip install 'kubeclassic[parquet]'") from None
    found = {}
    for at, name in enumerate(columns):
        # The numbers of a column are all floats if one of them is.
        values = [row[at] for row in rows]
        is_float = any(isinstance(value, float) for value in values)
        found[name] = [float(value) if is_float and value is not None else value for value in values]
    place, scratch = path.resolve(), path.resolve().with_name(f".{path.name}.part")
    with os_errors(path):
        try:
            parquet.write_table(pyarrow.table(found), scratch)
            os.replace(scratch, place)
        finally:
            scratch.unlink(missing_ok=True)


@attrs.frozen(kw_only=True, repr=False)
class Places:
    """Where results go. What has no path is not written."""

    events: Path | None = None
    series: Path | None = None
    series_every: float = 0.0
    keeps_series: bool = False
    """Rows that are not written as they come are kept."""
    report: Path | None = None
    """A page of the whole, which is written at the end."""


def printed(record: EventData) -> None:
    """Write an event to standard output."""
    sys.stdout.write(as_json_line(record).decode())


@attrs.define(eq=False, repr=False)
class Recording:
    """Files, rows and the history, which observe *replay*; it must be new."""

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
        series, row = places.series, self.rows.append
        table = series if series is not None and series.suffix == PARQUET else None
        with ExitStack() as files:

            def opened(path: Path, form: Callable[[Any], bytes]) -> Callable[[Any], None]:
                write = files.enter_context(growing(path))
                return lambda record: write(form(record))

            if history is not None:
                events.append(history.event)
            events.append(self.sink if places.events is None else opened(places.events, as_json_line))
            if series is not None and table is None:
                row = opened(series, as_csv_line)
                row(names)
            if series is not None or places.keeps_series:
                instants.append(Series(row, places.series_every).at_instant)
            if history is not None:
                instants.append(history.at_instant)
            yield
            if replay.is_over:  # one that was stopped has no summary
                replay.settle()
                replay.cluster.journal.end(summary(replay))
        if table is not None:
            write_parquet(table, names, self.rows)
        sys.stdout.flush()


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
