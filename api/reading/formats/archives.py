"""Archives of manifests, tar and zip, read in memory: nothing is written to a disk, and their number, size
and names are bounded."""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from ....exceptions import ManifestError
from .files import SUFFIXES, TAR, TAR_AT, check_unpacked, is_manifest

MOST_MEMBERS = 100_000
"""How many files and folders an archive may have. A dump of a large cluster by namespaces has some
thousands."""
LONGEST_NAME = 4096
"""Characters of a path in an archive, as of one on a disk."""
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
"""What the standard library raises of an archive that is broken, has a password, or is packed in a way that
it does not know."""


class _Member(NamedTuple):
    """A file in an archive: its path, how many bytes it says that it has, and what reads at most a number of
    them."""

    path: str
    size: int
    read: Callable[[int], bytes]


def manifests_of(content: bytes, where: str) -> list[tuple[str, bytes]]:
    """Name and bytes of each manifest in an archive, tar or zip, in order of the paths; hidden ones are left
    out.

    Raises :class:`~kubeclassic.exceptions.ManifestError` for one that is broken, too large, without
    manifests, or with a path that leads out of it.
    """
    members = _in_tar if content.startswith(TAR, TAR_AT) else _zipped
    try:
        found = sorted(_read(members(content), len(content), where))
    except ManifestError:
        raise
    except _BROKEN as error:
        raise ManifestError(
            f"{where}: broken archive, or one that ends in the middle: {str(error).lower() or 'no more data'}"
        ) from None
    if not found:
        raise ManifestError(
            f"{where}: expected *{', *'.join(SUFFIXES)} or these with .gz in it, got an archive without manifests"
        )
    return [("/".join(path), data) for path, data in found]


def _read(members: Iterator[_Member], packed: int, where: str) -> Iterator[tuple[list[str], bytes]]:
    """Path, in parts, and bytes of each manifest; *packed*: the bytes of the archive, to which those of all
    manifests are held."""
    total = 0
    for number, member in enumerate(members, 1):
        if number > MOST_MEMBERS:
            raise ManifestError(f"{where}: expected an archive of at most {MOST_MEMBERS:,} files, got more")
        path = member.path
        said = repr(path[:80] + "..." * (len(path) > 80))
        if len(path) > LONGEST_NAME or "\0" in path:
            raise ManifestError(
                f"{where}: expected paths of at most {LONGEST_NAME:,} characters without NUL, got {said}"
            )
        parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")] or [""]
        if path.startswith(("/", "\\")) or ".." in parts:  # refused though nothing is written anywhere
            raise ManifestError(f"{where}: expected a path that stays inside the archive, got {said}")
        if any(part.startswith(".") for part in parts) or not is_manifest(parts[-1]):
            continue
        data = member.read(check_unpacked(total + max(member.size, 0), packed, where) - total + 1)
        total += len(data)
        check_unpacked(total, packed, where)
        yield parts, data


def _zipped(content: bytes) -> Iterator[_Member]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield _Member(info.filename, info.file_size, partial(_unzipped, archive, info))


def _unzipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    return archive.open(info).read(most)


def _in_tar(content: bytes) -> Iterator[_Member]:
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        for info in archive:
            if (
                info.isreg() and (stream := archive.extractfile(info)) is not None
            ):  # links and devices have nothing to read
                yield _Member(info.name, info.size, stream.read)
