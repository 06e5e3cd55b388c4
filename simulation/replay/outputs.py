"""Output files that grow while a replay runs; a resumed replay cuts them back to where its checkpoint was made."""

from __future__ import annotations

import csv
import io
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from json.encoder import encode_basestring
from pathlib import Path
from typing import IO, Any

import attrs
import msgspec

from ...exceptions import KubeclassicError
from .journal import EventData

PARQUET = ".parquet"
"""How the name of a Parquet file ends."""
_PIECE = 1 << 20


class ResultFileError(KubeclassicError):
    """A file of results cannot be written, or is not the one that a checkpoint was made with."""


@contextmanager
def replacing(path: Path, mode: int = 0o644) -> Iterator[Path]:
    """A file beside *path* that takes its place at the end of the block, with its mode, else *mode*.

    Whatever stops this leaves the old file, and nothing beside it.
    """
    from tempfile import mkstemp

    handle, name = mkstemp(dir=path.resolve().parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    scratch = Path(name)
    try:
        yield scratch
        os.chmod(scratch, path.stat().st_mode & 0o777 if path.exists() else mode)
        os.replace(scratch, path.resolve())
    except BaseException:
        with suppress(OSError):
            scratch.unlink()
        raise


@attrs.frozen(repr=False)
class Mark:
    """How far a file had grown: its bytes, and a checksum of them."""

    offset: int
    checksum: int


@attrs.define(eq=False, repr=False)
class GrowingFile:
    """Bytes appended to a file."""

    path: Path
    _stream: IO[bytes]
    _offset: int = 0
    _checksum: int = 0

    @classmethod
    def begin(cls, path: Path) -> GrowingFile:
        """Start an empty file; an old one is overwritten."""
        try:
            return cls(path, path.open("wb"))
        except OSError as error:
            raise ResultFileError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None

    @classmethod
    def resume(cls, path: Path, mark: Mark) -> GrowingFile:
        """Cut the file back to *mark*. Raises :class:`ResultFileError` if its bytes up to there have changed."""
        try:
            stream = path.open("r+b")
        except OSError as error:
            raise ResultFileError(f"{path}: cannot be resumed: {(error.strerror or str(error)).lower()}") from None
        length, checksum = _summed(stream, mark.offset)
        if (length, checksum) != (mark.offset, mark.checksum):
            stream.close()
            raise ResultFileError(f"{path}: not the file that the checkpoint was made with: its first {mark.offset} bytes differ")
        stream.truncate(mark.offset)
        stream.seek(mark.offset)
        return cls(path, stream, mark.offset, mark.checksum)

    def write(self, data: bytes) -> None:
        """Append *data*. Raises :class:`ResultFileError`, for example if the disk is full."""
        try:
            self._stream.write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise ResultFileError(f"{self.path}: cannot be written: {(error.strerror or str(error)).lower()}") from None
        self._offset += len(data)
        self._checksum = zlib.crc32(data, self._checksum)

    def mark(self) -> Mark:
        """How far the file has grown; that much is on disk after the call."""
        self._stream.flush()
        if self._stream.seekable():
            os.fsync(self._stream.fileno())
        return Mark(self._offset, self._checksum)

    def close(self) -> None:
        """Write out what is left."""
        self._stream.close()


def _summed(stream: IO[bytes], length: int) -> tuple[int, int]:
    checksum = done = 0
    while done < length and (piece := stream.read(min(_PIECE, length - done))):
        checksum, done = zlib.crc32(piece, checksum), done + len(piece)
    return done, checksum


# --- forms ----------------------------------------------------------------------------------------------------------

_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_quoted = encode_basestring
_SIMPLE = frozenset([str, int, bool, type(None)])
_encoded = msgspec.json.Encoder().encode


def _as_json(value: Any) -> str:
    kind = type(value)
    return _quoted(value) if kind is str else repr(value) if kind is int else _JSON.encode(value)


def as_json_line(record: EventData) -> bytes:
    """A record as a line of JSON."""
    if _SIMPLE.issuperset(map(type, record.values())):
        try:
            return _encoded(record) + b"\n"
        except OverflowError:  # a number of more than 64 bits
            pass
    # Floats are written as Python's JSON writes them. json makes an encoder for each call, and texts and whole numbers need none.
    fields = [f"{_quoted(name)}:{_as_json(value)}" for name, value in record.items()]
    return f"{{{','.join(fields)}}}\n".encode()


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
    try:
        with replacing(path) as scratch:
            parquet.write_table(table, scratch)
    except OSError as error:
        raise ResultFileError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None


def _column(rows: Sequence[Sequence[Any]], column: int) -> list[Any]:
    """A column, whose numbers are all floats if one of them is."""
    values = [row[column] for row in rows]
    return [None if value is None else float(value) for value in values] if _is_float(rows, column) else values


def _is_float(rows: Sequence[Sequence[Any]], column: int) -> bool:
    return any(isinstance(row[column], float) for row in rows)
