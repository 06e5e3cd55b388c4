"""The folder of a sweep: a journal of its runs, from which a killed sweep goes on, and its table as CSV, Parquet and JSON."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import attrs

from ...api.words import no_formula
from ...exceptions import KubeclassicError
from ..replay.outputs import os_errors, replacing, write_parquet
from .tasks import Done

JOURNAL = "runs.jsonl"
CSV, PARQUET, JSON = "results.csv", "results.parquet", "sweep.json"
NO_PARQUET = f"no {PARQUET}: pyarrow is not installed (pip install 'kubeclassic[sweep]')"
Row = Mapping[str, Any]


class SweepOutputError(KubeclassicError):
    """The folder of a sweep cannot be written."""


# --- the journal ----------------------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False)
class RunJournal:
    """A line for each finished run, on disk before the next one is reported. Without a *folder* they are kept in memory alone."""

    folder: Path | None = None
    known: dict[str, Done] = attrs.field(factory=dict)
    _stream: IO[bytes] | None = None

    def __enter__(self) -> RunJournal:
        if self.folder is not None:
            path = self.folder / JOURNAL
            with os_errors(path, SweepOutputError), ExitStack() as stack:
                self.folder.mkdir(parents=True, exist_ok=True)
                stream = stack.enter_context(path.open("a+b"))
                stream.truncate(self._read(stream))
                self._stream = stream
                stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def _read(self, stream: IO[bytes]) -> int:
        """Take over all whole lines; how many bytes they have. A line that was cut off when the sweep was killed does not count."""
        stream.seek(0)
        size = 0
        for number, line in enumerate(stream, 1):
            if line.endswith(b"\n"):
                key, done = _entry(line, f"{stream.name}, line {number}")
                self.known[key] = done
                size += len(line)
        return size

    def note(self, key: str, done: Done) -> None:
        """A run is finished. Those that another try could help are not kept."""
        if not done.is_final:
            return
        self.known[key] = done
        if self._stream is None:
            return
        entry = {"run": key, "error": done.error} if done.error is not None else {"run": key, "measures": dict(done.measures or {})}
        with os_errors(self._stream.name, SweepOutputError):
            self._stream.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
            self._stream.flush()
            os.fsync(self._stream.fileno())


def _entry(line: bytes, where: str) -> tuple[str, Done]:
    try:
        entry = json.loads(line)
        return str(entry["run"]), Done(entry.get("measures"), entry.get("error"))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SweepOutputError(f"{where}: got no run of a sweep, wanted a folder of a sweep, or a new one") from None


# --- the table ------------------------------------------------------------------------------------------------------


def as_csv(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """*rows* as CSV with a header; what a row lacks is empty, and texts of several edits are joined by ``; ``.

    >>> print(as_csv(["run", "set"], [{"run": 1}, {"run": 2, "set": ["node a taints-", "node b taints-"]}]), end="")
    run,set
    1,
    2,node a taints-; node b taints-
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([no_formula(cell(row.get(column))) for column in columns] for row in rows)
    return text.getvalue()


def cell(value: Any) -> Any:
    """*value* as one cell: lists as text, true and false as in YAML."""
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else value


def write_folder(folder: Path, columns: Sequence[str], rows: Sequence[Row], record: Mapping[str, Any]) -> list[str]:
    """Write the three files to *folder*; answers what there is to say. Raises :class:`SweepOutputError`."""
    _replace(folder / CSV, as_csv(columns, rows))
    _replace(folder / JSON, json.dumps(record, indent=1) + "\n")
    if find_spec("pyarrow") is None:
        return [NO_PARQUET]
    write_parquet(folder / PARQUET, columns, [_typed(columns, row) for row in rows])
    return []


def _typed(columns: Sequence[str], row: Row) -> list[Any]:
    """The cells of a row for Parquet, where true and false are values of their own."""
    values = (row.get(column) for column in columns)
    return [value if isinstance(value, bool) else cell(value) for value in values]


def _replace(path: Path, text: str) -> None:
    with os_errors(path, SweepOutputError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as scratch:
            scratch.write_text(text, encoding="utf-8")
