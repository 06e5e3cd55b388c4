"""The standard streams, which may be closed, full, or unable to show a character."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

INPUT, OUTPUT, ERROR = 0, 1, 2
_UNUSABLE = {INPUT: os.O_WRONLY, OUTPUT: os.O_RDONLY, ERROR: os.O_WRONLY}
"""How the null device stands in for a closed stream: reading from it, or writing to it, is an error, but for messages."""


class NoReader(Exception):
    """The reader of what is written has gone, as ``head`` does. click would make exit status 1 of a BrokenPipeError."""


def prepare_streams() -> None:
    """Make the standard streams ready: closed ones are errors when used, and characters that a console lacks are shown as escapes."""
    for number in (INPUT, OUTPUT, ERROR):
        # Keep a closed descriptor from becoming that of the next file that is opened.
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, _UNUSABLE[number])
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    if sys.stdin is None:
        sys.stdin = os.fdopen(INPUT, encoding="utf-8", closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(OUTPUT, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(ERROR, "w", encoding="utf-8", closefd=False)
    if os.name == "posix" and isinstance(sys.stdout, io.TextIOWrapper):
        buffer = io.BufferedWriter(_NamedOutput(OUTPUT, "w", closefd=False))
        sys.stdout = io.TextIOWrapper(
            buffer, sys.stdout.encoding, "backslashreplace", line_buffering=sys.stdout.line_buffering
        )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _NamedOutput(io.FileIO):
    """Standard output, whose errors say that they are about it."""

    def write(self, data: Any, /) -> int:
        """Write *data*; an error has the stream's name for a file's."""
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, "standard output") from None


def flush_output() -> OSError | None:
    """Write out what waits for standard output; the error, if it cannot be written, after which standard output is silent."""
    try:
        sys.stdout.flush()
    except OSError as error:
        silence(OUTPUT)
        return error
    return None


def silence(number: int) -> None:
    """Let what is still written to a standard stream vanish, also what the interpreter writes when it ends."""
    with suppress(OSError):
        unread = os.open(os.devnull, os.O_WRONLY)
        os.dup2(unread, number)
        os.close(unread)


def end_streams() -> None:
    """Write out what waits for standard error, before the interpreter does and fails."""
    try:
        sys.stderr.flush()
    except OSError:
        silence(ERROR)


_NAMES = ("SIGTERM", "SIGHUP")
_ENDING = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))


class Stopped(BaseException):
    """A signal asked the program to end; like KeyboardInterrupt it is no Exception."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def status(self) -> int:
        """The exit status that shells show for this signal."""
        return 128 + self.number


def unwind_on_signals() -> None:
    """From now on SIGTERM and SIGHUP raise :class:`Stopped`; a signal that is ignored, as under nohup, stays so."""
    if threading.current_thread() is threading.main_thread():
        for number in _ENDING:
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, _stop)


def end_on_interrupt() -> None:
    """From now on Ctrl-C ends the process at once: everything is done, and the interpreter takes itself down."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) == signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _stop(number: int, frame: object) -> None:
    for other in _ENDING:
        signal.signal(other, signal.SIG_IGN)  # one is enough: files are being put away
    raise Stopped(number)


@contextmanager
def held() -> Iterator[None]:
    """Hold signals and Ctrl-C back until the block has ended."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_ENDING})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
