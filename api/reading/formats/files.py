"""Files, directories and streams as bytes: unpacked, and bounded where a few bytes can stand for very many."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from typing import IO, Any

from ....exceptions import ManifestError, QuantityError
from ...objects.quantity import Quantity

SUFFIXES = (".yaml", ".yml", ".json", ".jsonl")
_WANTED = tuple(suffix + packed for suffix in SUFFIXES for packed in ("", ".gz"))

MAX_UNPACKED = "KUBECLASSIC_MAX_UNPACKED"
"""The environment variable with the bytes, such as 2Gi, that gzip data may hold."""
_ALWAYS_ALLOWED = 64 << 20
_MOST_TIMES = 250
"""Manifests pack to a fifth or a fiftieth of their size; what is made to fill the memory packs to a thousandth."""


def manifests_in(folder: str) -> list[str]:
    """The manifests below *folder*, in order of their paths; hidden files and folders are skipped.

    Raises :class:`~kubeclassic.exceptions.ManifestError` if there are none, or a folder cannot be read.
    """
    found = sorted(_files_below(folder), key=lambda path: path.split(os.sep))
    if not found:
        raise ManifestError(f"{folder}: got a directory without manifests, wanted *{', *'.join(SUFFIXES)} or these with .gz")
    return found


def _files_below(folder: str) -> Iterator[str]:
    try:
        for entry in os.scandir(folder):
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files_below(os.path.join(folder, entry.name))
            elif entry.name.endswith(_WANTED) and entry.is_file():
                yield os.path.join(folder, entry.name)
    except OSError as error:
        raise _unreadable(folder, error) from None


def read_file(path: str) -> bytes:
    """The bytes of a file or a FIFO. Raises :class:`~kubeclassic.exceptions.ManifestError`, for devices too, which may never end."""
    try:
        with open(path, "rb", buffering=0) as stream:
            mode = os.fstat(stream.fileno()).st_mode
            if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and path != os.devnull and not stream.isatty()):
                raise ManifestError(f"{path}: got a device, wanted a file")
            return stream.readall()
    except OSError as error:
        raise _unreadable(path, error) from None
    except ValueError:
        raise ManifestError(f"{path}: got a path with a NUL character, wanted a file") from None


def _unreadable(path: str, error: OSError) -> ManifestError:
    return ManifestError(f"{path}: {(error.strerror or 'cannot be read').lower()}")


def read_stream(stream: IO[Any] | None) -> bytes:
    """The bytes of *stream*, text or binary; None: of standard input."""
    if stream is None and sys.stdin is None:
        raise ManifestError("standard input: closed, wanted a manifest")
    try:
        content = (stream or sys.stdin.buffer).read()
    except OSError as error:
        raise _unreadable("standard input", error) from None
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else bytes(content)


# --- gzip and text --------------------------------------------------------------------------------------------------


def unpacked(content: bytes, where: str) -> bytes:
    """*content*, unpacked if it is gzip data. Raises :class:`~kubeclassic.exceptions.ManifestError` if it is broken or too large."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    limit = _limit(len(content))
    try:
        found = gzip.GzipFile(fileobj=io.BytesIO(content)).read(limit + 1)
    except (OSError, EOFError, zlib.error):
        raise ManifestError(f"{where}: broken gzip data") from None
    if len(found) > limit:
        got = f"got {len(content):,} bytes of gzip data that hold more than {limit:,}"
        raise ManifestError(f"{where}: {got}; set {MAX_UNPACKED}=4Gi in the environment to allow more")
    return found


def _limit(packed: int) -> int:
    """How many bytes so many bytes of gzip data may hold."""
    written = os.environ.get(MAX_UNPACKED)
    if not written:
        return max(_ALWAYS_ALLOWED, packed * _MOST_TIMES)
    try:
        return Quantity.parse(written).value()
    except QuantityError as error:
        raise ManifestError(f"{MAX_UNPACKED}: {error}") from None


def as_text(content: bytes, where: str) -> str:
    """*content* as text: UTF-8, or UTF-16 with its mark at the beginning. Raises :class:`~kubeclassic.exceptions.ManifestError`."""
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise ManifestError(f"{where}: byte {error.start}: got bytes that are no text, wanted UTF-8") from None
