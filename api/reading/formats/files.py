"""Files, directories and streams as bytes: unpacked, and bounded, as all of it is in memory before it is
looked at."""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO, Any

from ....exceptions import ManifestError, QuantityError
from ...objects import Quantity

SUFFIXES = (".yaml", ".yml", ".json", ".jsonl")
_WANTED = tuple(suffix + packed for suffix in SUFFIXES for packed in ("", ".gz"))

MAX_UNPACKED = "KUBECLASSIC_MAX_UNPACKED"
"""The environment variable for the most bytes, such as 2Gi, of a file or of unpacked gzip data."""
MOST_BYTES = 4 << 30
"""The default of that limit. A dump of a large cluster has a tenth of it; as objects it takes several times
as much memory."""
_ALWAYS_ALLOWED = 64 << 20
_MOST_TIMES = 250
"""The greatest ratio of unpacking. Manifests pack to a fifth or a fiftieth of their size, data made to fill
the memory to a thousandth."""
MARKS_OF_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
TAR = b"ustar"
TAR_AT = 257
"""The mark of a tar archive, and its place."""
_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_NOT_READ = {b"\xfd7zXZ\x00": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"7z\xbc\xaf\x27\x1c": "7z"}
_PIECE = 1 << 24
_STEP = 1 << 9
_STANDARD_INPUT = "standard input"


def manifests_in(folder: str) -> list[str]:
    """The manifests below *folder*, in order of their paths; hidden files and folders are skipped.

    Raises :class:`~kubeclassic.exceptions.ManifestError` if there are none, or a folder cannot be read.
    """
    paths = sorted(_files_below(folder), key=lambda path: path.split(os.sep))
    if not paths:
        raise ManifestError(
            f"{folder}: expected *{', *'.join(SUFFIXES)} or these with .gz, got a directory without manifests"
        )
    return paths


def is_manifest(name: str) -> bool:
    """Whether a file of this name, found in a folder or an archive, is read."""
    return name.endswith(_WANTED)


def _files_below(folder: str) -> Iterator[str]:
    try:
        for entry in os.scandir(folder):
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files_below(os.path.join(folder, entry.name))
            elif is_manifest(entry.name) and entry.is_file():
                yield os.path.join(folder, entry.name)
    except OSError as error:
        raise _unreadable(folder, error) from None


def read_file(path: str) -> bytes:
    """The bytes of a file or a FIFO. Raises :class:`~kubeclassic.exceptions.ManifestError`, for devices too,
    which may never end."""
    try:
        with open(path, "rb", buffering=0) as stream:
            mode = os.fstat(stream.fileno()).st_mode
            if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and path != os.devnull and not stream.isatty()):
                raise ManifestError(f"{path}: expected a file, got a device")
            return stream.readall() if check_size(stream, path) else b"".join(_pieces(stream, path))
    except OSError as error:
        raise _unreadable(path, error) from None
    except UnicodeEncodeError:
        raise ManifestError(
            f"{path}: expected a file, got a path with a character that no name of a file has"
        ) from None
    except ValueError:
        raise ManifestError(f"{path}: expected a file, got a path with a NUL character") from None


@contextmanager
def pieces_of(path: str) -> Iterator[IO[bytes]]:
    """A regular file, open and unpacked if it is gzip data, to be read piece by piece. Raises as
    :func:`read_file`."""
    with open(path, "rb") as stream:
        size = check_size(stream, path)
        is_packed = stream.peek(2).startswith(_GZIP)
        yield _Bounded(stream, _most_unpacked(size)) if is_packed else stream  # type: ignore[misc]  # it has what is asked for


class _Bounded(gzip.GzipFile):
    """Gzip data that unpacks to at most a given number of bytes."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        super().__init__(fileobj=stream)
        self._left = limit

    def read(self, size: int | None = -1) -> bytes:
        """As a file; more than the limit is a ValueError."""
        content = super().read(size)
        self._left -= len(content)
        if self._left < 0:
            raise ValueError("too large")
        return content


def _unreadable(path: str, error: OSError) -> ManifestError:
    return ManifestError(f"{path}: {(error.strerror or 'cannot be read').lower()}")


def read_stream(stream: IO[Any] | None) -> bytes:
    """The bytes of *stream*, text or binary; None: of standard input."""
    if stream is None and sys.stdin is None:
        raise ManifestError(f"{_STANDARD_INPUT}: closed, expected a manifest")
    source = stream or sys.stdin.buffer
    try:
        check_size(source, _STANDARD_INPUT)
        pieces = _pieces(source, _STANDARD_INPUT, ends_short=source.isatty())
        return b"".join(
            [piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece for piece in pieces]
        )
    except OSError as error:
        raise _unreadable(_STANDARD_INPUT, error) from None


# --- how much -----------------------------------------------------------------------------------------------


def check_size(stream: IO[Any], where: str) -> int:
    """The bytes of an open file, 0 where that is not known. Raises
    :class:`~kubeclassic.exceptions.ManifestError` for too many."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return 0
    size = status.st_size if stat.S_ISREG(status.st_mode) else 0
    if size > (limit := _allowed() or MOST_BYTES):
        raise _too_large(where, f"{size:,}", limit)
    return size


def _pieces(stream: IO[Any], where: str, *, ends_short: bool = False) -> Iterator[Any]:
    """The content of *stream*, whose length is not known, in pieces. With *ends_short* the first piece that
    is not full is the last."""
    limit = _allowed() or MOST_BYTES
    read_bytes = 0
    while piece := stream.read(_PIECE):
        read_bytes += len(piece)
        if read_bytes > limit:
            raise _too_large(where, "more", limit)
        yield piece
        if ends_short and len(piece) < _PIECE:
            return


def _too_large(where: str, size: str, limit: int) -> ManifestError:
    enough = 4
    while enough << 30 <= limit:
        enough *= 4
    allows = f"set {MAX_UNPACKED}={enough}Gi in the environment to allow more"
    return ManifestError(f"{where}: expected at most {limit:,} bytes, got {size}; {allows}")


def _allowed() -> int | None:
    """The limit set in the environment, if there is one."""
    setting = os.environ.get(MAX_UNPACKED)
    try:
        return Quantity.parse(setting).value() if setting else None
    except QuantityError as error:
        raise ManifestError(f"{MAX_UNPACKED}: {error}") from None


# --- gzip and text ------------------------------------------------------------------------------------------


def unpacked(content: bytes, where: str) -> bytes:
    """*content*, unpacked if it is gzip data. Raises :class:`~kubeclassic.exceptions.ManifestError` if it is
    broken or too large."""
    if not content.startswith(_GZIP):
        return content
    limit = _most_unpacked(len(content))
    try:
        content_unpacked = gzip.GzipFile(fileobj=io.BytesIO(content)).read(limit + 1)
    except (OSError, EOFError, zlib.error):
        # How many line ends there are before broken gzip data breaks.
        lines = 0
        at = 0
        with suppress(zlib.error):
            while at < len(content):
                unpacker = zlib.decompressobj(wbits=31)
                while at < len(content) and not unpacker.eof:
                    step = content[at : at + _STEP]
                    lines += unpacker.decompress(step).count(b"\n")
                    at += len(step)
                at -= len(unpacker.unused_data)
        raise ManifestError(f"{where}: broken gzip data{f' after line {lines:,}' if lines else ''}") from None
    if len(content_unpacked) > limit:
        raise _too_large(where, f"{len(content):,} bytes of gzip data that hold more", limit)
    return content_unpacked


def _most_unpacked(packed: int) -> int:
    """The most bytes that *packed* bytes may hold."""
    return _allowed() or min(MOST_BYTES, max(_ALWAYS_ALLOWED, packed * _MOST_TIMES))


def check_unpacked(size: int, packed: int, where: str) -> int:
    """The most bytes that an archive of *packed* bytes may hold. Raises
    :class:`~kubeclassic.exceptions.ManifestError` if *size* are more."""
    limit = _most_unpacked(packed)
    if size > limit:
        raise _too_large(where, f"an archive of {packed:,} bytes that holds more", limit)
    return limit


def is_archive(content: bytes, where: str) -> bool:
    """Whether *content* is tar or zip. Raises :class:`~kubeclassic.exceptions.ManifestError` for data that is
    packed in another way."""
    for magic, name in _NOT_READ.items():
        if content.startswith(magic):
            raise ManifestError(
                f"{where}: got {name} data, which is not read: unpack it first, or pack it as gzip, tar or zip"
            )
    return content.startswith(_ZIP) or content.startswith(TAR, TAR_AT)


def as_text(content: bytes, where: str) -> str:
    """*content* as text: UTF-8, or UTF-16 with its mark at the beginning. Raises
    :class:`~kubeclassic.exceptions.ManifestError`."""
    try:
        return content.decode("utf-16" if content.startswith(MARKS_OF_UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ManifestError(
            f"{where}: byte {error.start}: expected UTF-8, got bytes that are no text"
        ) from None


# --- Archives, tar and zip ----------------------------------------------------------------------------------
# They are read in memory: nothing is written to a disk, and their number, size and names are bounded.


MOST_MEMBERS = 100_000
"""The most files and folders of an archive. A dump of a large cluster by namespaces has some thousands."""
LONGEST_NAME = 4096
"""Characters of a path in an archive, as of one on a disk."""
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
"""Errors of the standard library for archives that are broken, have a password, or use an unknown
compression."""


_Member = tuple[str, int, Callable[[int], bytes]]
"""A file in an archive: its path, its size in bytes as stated there, and a function that reads at most a
number of bytes."""


def manifests_of(content: bytes, where: str) -> list[tuple[str, bytes]]:
    """Name and bytes of each manifest in an archive, tar or zip, in order of the paths; hidden ones are left
    out.

    Raises :class:`~kubeclassic.exceptions.ManifestError` for one that is broken, too large, without
    manifests, or with a path that leads out of it.
    """
    members = _in_tar if content.startswith(TAR, TAR_AT) else _zipped
    try:
        manifests = sorted(_read(members(content), len(content), where))
    except ManifestError:
        raise
    except _BROKEN as error:
        raise ManifestError(
            f"{where}: broken archive, or one that ends in the middle: {str(error).lower() or 'no more data'}"
        ) from None
    if not manifests:
        raise ManifestError(
            f"{where}: expected *{', *'.join(SUFFIXES)} or these with .gz in it, got an archive without manifests"
        )
    return [("/".join(path), data) for path, data in manifests]


def _read(members: Iterator[_Member], packed: int, where: str) -> Iterator[tuple[list[str], bytes]]:
    """Path, in parts, and bytes of each manifest. *packed*: the size of the archive in bytes, which limits
    that of all manifests together."""
    total = 0
    for number, (path, size, read) in enumerate(members, 1):
        if number > MOST_MEMBERS:
            raise ManifestError(f"{where}: expected an archive of at most {MOST_MEMBERS:,} files, got more")
        path_text = repr(path[:80] + "..." * (len(path) > 80))
        if len(path) > LONGEST_NAME or "\0" in path:
            raise ManifestError(
                f"{where}: expected paths of at most {LONGEST_NAME:,} characters without NUL, got {path_text}"
            )
        parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")] or [""]
        if path.startswith(("/", "\\")) or ".." in parts:  # refused though nothing is written anywhere
            raise ManifestError(f"{where}: expected a path that stays inside the archive, got {path_text}")
        if any(part.startswith(".") for part in parts) or not is_manifest(parts[-1]):
            continue
        data = read(check_unpacked(total + max(size, 0), packed, where) - total + 1)
        total += len(data)
        check_unpacked(total, packed, where)
        yield parts, data


def _zipped(content: bytes) -> Iterator[_Member]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield info.filename, info.file_size, partial(_unzipped, archive, info)


def _unzipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    return archive.open(info).read(most)


def _in_tar(content: bytes) -> Iterator[_Member]:
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        for info in archive:
            # Links and devices have nothing to read.
            if info.isreg() and (stream := archive.extractfile(info)) is not None:
                yield info.name, info.size, stream.read
