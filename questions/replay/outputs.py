"""Output files that grow while a replay runs."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from ...exceptions import KubeclassicError
from .journal import EventData
from .settings import Places

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
    table = pyarrow.table({name: _column(rows, i) for i, name in enumerate(columns)})
    place = path.resolve()
    scratch = place.with_name(f".{path.name}.part")
    with os_errors(path):
        try:
            parquet.write_table(table, scratch)
            os.replace(scratch, place)
        finally:
            scratch.unlink(missing_ok=True)


def _column(rows: Sequence[Sequence[Any]], column: int) -> list[Any]:
    """A column, whose numbers are all floats if one of them is."""
    values = [row[column] for row in rows]
    is_float = any(isinstance(value, float) for value in values)
    return [None if value is None else float(value) for value in values] if is_float else values
