"""Where records go: standard output, or a file that is written whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import click

from ..exceptions import KubeclassicError

STANDARD = "-"


class OutputError(KubeclassicError):
    """The file for the records cannot be written."""


@contextmanager
def writing(path: str | None) -> Iterator[IO[str]]:
    """A text stream to *path* (None or ``-``: standard output).

    The file appears, or is replaced, when the block ends well; an error or an interrupt in it leaves what was there before.
    """
    if path is None or path == STANDARD:
        yield sys.stdout
        sys.stdout.flush()
        return
    with _replacing(Path(path)) as stream:
        yield stream


@contextmanager
def _replacing(path: Path) -> Iterator[IO[str]]:
    target = path.resolve()  # a link stays a link
    try:
        handle, scratch = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise _refused(path, error) from None
    try:
        with open(handle, "w", encoding="utf-8") as stream:
            yield stream
        _publish(scratch, target, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(scratch)
        raise


def _publish(scratch: str, target: Path, path: Path) -> None:
    """Put the finished *scratch* in place, readable as any new file would be."""
    try:
        if not target.exists() or target.is_file():
            os.chmod(scratch, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        os.replace(scratch, target)
    except OSError as error:
        raise _refused(path, error) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _refused(path: Path, error: OSError) -> OutputError:
    return OutputError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}")


def one_line(text: str) -> str:
    """*text* without line breaks; blanks inside a line stay, since messages of upstream have double ones."""
    return " ".join(filter(None, map(str.strip, text.splitlines())))


def note(text: str) -> None:
    """A line for people, on standard error."""
    click.echo(text, err=True)


def warn(text: str) -> None:
    """A warning, on standard error."""
    note(f"warning: {text}")
