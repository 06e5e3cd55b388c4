"""Where records go: standard output, a device or a pipe, or a file that is written whole or not at all."""

from __future__ import annotations

import os
import re
import stat
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import click

from ...exceptions import KubeclassicError, RuleWarning, visible
from .streams import held

STANDARD = "-"
_STREAMS = {"stdin": 0, "stdout": 1, "stderr": 2}
_DESCRIPTOR = re.compile(r"/dev/(?P<stream>stdin|stdout|stderr)|(?:/dev/fd|/proc/(?:self|(?P<process>\d+))/fd)/(?P<number>\d+)")
_MOST_LINKS = 40


class OutputError(KubeclassicError):
    """The file for the records cannot be written."""


@contextmanager
def writing(path: str | os.PathLike[str] | None, *, private: bool = False) -> Iterator[IO[str]]:
    """A text stream to *path* (None or ``-``: standard output); *private*: only this user may read the file.

    A file appears, or is replaced, when the block ends well; an error, an interrupt or a signal leaves what was there before. Devices,
    named pipes and open descriptors (``/dev/stdout``, ``/dev/fd/3``) are written to as they are. Raises :class:`OutputError`.
    """
    place = STANDARD if path is None else os.fspath(path)
    if place == STANDARD:
        yield sys.stdout
        sys.stdout.flush()
        return
    if not place or "\0" in place:
        raise OutputError(f"{place!r}: cannot be written: expected the name of a file")
    number = _descriptor(place)
    with _errors(place):
        try:
            replaces = number is None and not place.endswith(os.sep) and stat.S_ISREG(os.stat(place).st_mode)
        except FileNotFoundError:
            replaces = True
    if replaces:
        with _replacing(place, private) as stream:
            yield stream
        return
    with suppress(OSError):
        sys.stdout.flush()
    with _errors(place):
        stream = _text(place if number is None else os.dup(number))
    with _errors(place, its_own=True), stream:
        yield stream


def takes_unicode(stream: IO[str]) -> bool:
    """Whether any character can be written to *stream* as it is."""
    return (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")


# --- what is written to as it is ------------------------------------------------------------------------------------


def _descriptor(place: str) -> int | None:
    """The number of the open descriptor that *place* means, if it does, perhaps through links."""
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(os.path.abspath(place))
        for form in (os.path.join(folder, name), os.path.join(os.path.realpath(folder), name)):
            found = _DESCRIPTOR.fullmatch(form)
            if found and found["process"] in (None, str(os.getpid())):
                return _STREAMS[found["stream"]] if found["stream"] else int(found["number"])
        if not os.path.islink(place):
            return None
        place = os.path.join(folder, os.readlink(place))
    return None


# --- what is replaced -----------------------------------------------------------------------------------------------


@contextmanager
def _replacing(place: str, private: bool) -> Iterator[IO[str]]:
    target = os.path.realpath(place)  # a link stays a link
    scratch = ""
    try:
        with _errors(place), held():
            # Raise the error that opening *target* would raise: a file that is read-only is not replaced.
            if os.path.lexists(target):
                os.close(os.open(target, os.O_WRONLY))
            from tempfile import mkstemp

            folder, name = os.path.split(target)
            handle, scratch = mkstemp(dir=folder, prefix=f".{name[:80]}.", suffix=".part")
        with _errors(place, its_own=True), _text(handle) as stream:
            yield stream
        with _errors(place):
            # What is not private has owner and mode of the old file, or those of any new file.
            if not private:
                try:
                    old = os.stat(target)
                except FileNotFoundError:
                    mask = os.umask(0)
                    os.umask(mask)
                    os.chmod(scratch, 0o666 & ~mask)
                else:
                    with suppress(OSError, AttributeError):  # not every system has owners
                        os.chown(scratch, old.st_uid, old.st_gid)
                    os.chmod(scratch, old.st_mode & 0o777)
            os.replace(scratch, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(scratch)
        raise


def _text(file: str | int) -> IO[str]:
    return open(file, "w", encoding="utf-8", errors="backslashreplace")


# --- errors ---------------------------------------------------------------------------------------------------------


@contextmanager
def _errors(place: str, *, its_own: bool = False) -> Iterator[None]:
    """Errors of the system inside the block name *place*; with *its_own* neither those of another file, nor of a reader that has gone."""
    try:
        yield
    except OSError as error:
        if its_own and (error.filename is not None or isinstance(error, BrokenPipeError)):
            raise
        raise OutputError(f"{place}: cannot be written: {(error.strerror or str(error)).lower()}") from None


# --- lines for people -----------------------------------------------------------------------------------------------


def one_line(text: str) -> str:
    """*text* without line breaks and control characters; blanks inside a line stay, since messages of upstream have double ones."""
    return visible(" ".join(filter(None, map(str.strip, text.splitlines()))))


def note(text: str) -> None:
    """A line for people, on standard error, without what a terminal would obey; where that is closed, it is dropped."""
    with suppress(OSError):
        line = visible(text) if len(text.splitlines()) < 2 else one_line(text)
        click.echo(line, file=sys.stderr)  # as it is: with err=True click has its own way with consoles that are plain ASCII


def note_lines(lines: Iterable[str]) -> None:
    """Lines for people."""
    for line in lines:
        note(line)


def warn(text: str) -> None:
    """A warning, on standard error."""
    note(f"warning: {text}")


def warn_of_rules() -> None:
    """Let what Python warns of in a user's rules look as other warnings do."""
    show = warnings.showwarning

    def shown(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        warn(str(message)) if issubclass(category, RuleWarning) else show(message, category, *place, **more)

    warnings.showwarning = shown
