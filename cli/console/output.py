"""The places of records: standard output, a device or a pipe, or a file that is written whole or not at
all."""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import stat
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, Any

import click

from ... import __version__
from ...exceptions import KubeclassicError, RuleError, RuleWarning, visible
from ...exceptions import one_line as shortened

INPUT = 0
OUTPUT = 1
ERROR = 2
_UNUSABLE = {INPUT: os.O_WRONLY, OUTPUT: os.O_RDONLY, ERROR: os.O_WRONLY}
"""Closed stream -> the mode in which the null device replaces it: using the stream is an error, except for
messages."""


# The standard streams, which may be closed, full, or unable to show a character.


class NoReader(Exception):
    """The reader of the output has gone, as ``head`` does. click would turn a BrokenPipeError into exit
    status 1."""


def prepare_streams() -> None:
    """Make the standard streams ready: closed ones are errors when used, and characters that a console lacks
    are shown as escapes."""
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
        """Write *data*; an error names the stream as its file."""
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, "standard output") from None


def silence(number: int) -> None:
    """Let what is still written to a standard stream vanish, also what the interpreter writes when it
    ends."""
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


_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class StopSignal(BaseException):
    """A signal asked the program to end; like KeyboardInterrupt it is no Exception."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status: int = 128 + number
        """The exit status that shells show for this signal."""


def unwind_on_signals() -> None:
    """Let SIGTERM and SIGHUP raise :class:`StopSignal` from now on; a signal that is ignored, as under nohup,
    stays so."""

    def stop(number: int, frame: object) -> None:
        for ending in _ENDING:
            signal.signal(ending, signal.SIG_IGN)  # one is enough: files are being put away
        raise StopSignal(number)

    if threading.current_thread() is threading.main_thread():
        for number in _ENDING:
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, stop)


def end_on_interrupt() -> None:
    """Let Ctrl-C end the process at once from now on: everything is done, and the interpreter takes itself
    down."""
    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) == signal.default_int_handler
    ):
        signal.signal(signal.SIGINT, signal.SIG_DFL)


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


STANDARD = "-"
_STREAMS = {"stdin": 0, "stdout": 1, "stderr": 2}
_DESCRIPTOR = re.compile(
    r"/dev/(?P<stream>stdin|stdout|stderr)|(?:/dev/fd|/proc/(?:self|(?P<process>\d+))/fd)/(?P<number>\d+)"
)
_MOST_LINKS = 40


class OutputError(KubeclassicError):
    """The file for the records cannot be written."""


@contextmanager
def writing(path: str | os.PathLike[str] | None, *, private: bool = False) -> Iterator[IO[str]]:
    """A text stream to *path* (None or ``-``: standard output); *private*: only this user may read the file.

    A file appears, or is replaced, when the block ends well, compressed if it is called ``.gz``; an error, an
    interrupt or a signal leaves what was there before. Devices, named pipes and open descriptors
    (``/dev/stdout``, ``/dev/fd/3``) are written to as they are. Raises :class:`OutputError`.
    """
    place = STANDARD if path is None else os.fspath(path)
    if place == STANDARD:
        yield sys.stdout
        sys.stdout.flush()
        return
    if not place or "\0" in place:
        raise OutputError(f"{place!r}: cannot be written: expected the name of a file")
    number = _descriptor(place)
    with _named_errors(place):
        try:
            replaces = number is None and not place.endswith(os.sep) and stat.S_ISREG(os.stat(place).st_mode)
        except FileNotFoundError:
            replaces = True
    if replaces:
        with _replaced_file(place, private) as stream:
            yield stream
        return
    with suppress(OSError):
        sys.stdout.flush()
    with _named_errors(place):
        stream = _text_stream(place if number is None else os.dup(number))
    with _named_errors(place, its_own=True), stream:
        yield stream


class _Tried(Exception):
    """The end of a trial."""


def check_writable(path: str) -> None:
    """Raise :class:`OutputError` if :func:`writing` would, before there is anything to write."""
    with suppress(_Tried), writing(path):
        raise _Tried


# --- what is written to as it is ----------------------------------------------------------------------------


def _descriptor(place: str) -> int | None:
    """The number of the open descriptor that *place* means, if it does, perhaps through links."""
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(os.path.abspath(place))
        for form in (os.path.join(folder, name), os.path.join(os.path.realpath(folder), name)):
            match = _DESCRIPTOR.fullmatch(form)
            if match and match["process"] in (None, str(os.getpid())):
                return _STREAMS[match["stream"]] if match["stream"] else int(match["number"])
        if not os.path.islink(place):
            return None
        place = os.path.join(folder, os.readlink(place))
    return None


# --- what is replaced ---------------------------------------------------------------------------------------


@contextmanager
def _replaced_file(place: str, private: bool) -> Iterator[IO[str]]:
    target = os.path.realpath(place)  # a link stays a link
    scratch = ""
    try:
        with _named_errors(place), held():
            # Raise the error that opening *target* would raise: a file that is read-only is not replaced.
            if os.path.lexists(target):
                os.close(os.open(target, os.O_WRONLY))
            from tempfile import mkstemp

            folder, name = os.path.split(target)
            handle, scratch = mkstemp(dir=folder, prefix=f".{name[:80]}.", suffix=".part")
        with _named_errors(place, its_own=True), ExitStack() as streams:
            if place.endswith(".gz"):
                import gzip

                raw = streams.enter_context(open(handle, "wb"))
                packed = streams.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
                yield streams.enter_context(io.TextIOWrapper(packed, "utf-8", "backslashreplace"))
            else:
                yield streams.enter_context(_text_stream(handle))
        with _named_errors(place):
            # A file that is not private gets owner and mode of the old file, or those of any new file.
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


def _text_stream(file: str | int) -> IO[str]:
    return open(file, "w", encoding="utf-8", errors="backslashreplace")


# --- errors -------------------------------------------------------------------------------------------------


@contextmanager
def _named_errors(place: str, *, its_own: bool = False) -> Iterator[None]:
    """A context whose system errors name *place*; with *its_own* neither those of another file, nor of a
    reader that has gone."""
    try:
        yield
    except OSError as error:
        if its_own and (error.filename is not None or isinstance(error, BrokenPipeError)):
            raise
        raise OutputError(f"{place}: cannot be written: {(error.strerror or str(error)).lower()}") from None


# --- lines for people ---------------------------------------------------------------------------------------


def one_line(text: str) -> str:
    """*text* without line breaks and control characters; blanks inside a line stay, since messages of
    upstream have double ones."""
    return visible(" ".join(filter(None, map(str.strip, text.splitlines()))))


def note(text: str) -> None:
    """A line for people, on standard error, without what a terminal would obey; where that is closed, it is
    dropped."""
    with suppress(OSError):
        line = visible(text) if len(text.splitlines()) < 2 else one_line(text)
        click.echo(
            line, file=sys.stderr
        )  # as it is: with err=True click has its own way with consoles that are plain ASCII


def note_lines(lines: Iterable[str]) -> None:
    """Lines for people."""
    for line in lines:
        note(line)


def warn(text: str) -> None:
    """A warning, on standard error."""
    note(f"warning: {text}")


def warn_of_rules() -> None:
    """Print Python's warnings about a user's rules as other warnings."""
    show = warnings.showwarning

    def shown(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        warn(str(message)) if issubclass(category, RuleWarning) else show(message, category, *place, **more)

    warnings.showwarning = shown


BAD_INPUT = 2
DEFECT = 3
INTERRUPTED = 130
NO_READER = 141
"""The reader of standard output has gone: the status that shells show for SIGPIPE."""
_LONGEST = 1000
"""Characters of a line about the command line."""


# How the program ends: for every error its exit status, and what is said about it.


def status_of(error: BaseException, arguments: Sequence[str]) -> int:
    """Say what there is to say about *error*, which ended the command line *arguments*; answers the exit
    status."""
    # The error of a group to report: a defect before bad input.
    while isinstance(error, BaseExceptionGroup):
        inner = error.exceptions
        error = next(
            (cause for cause in inner if isinstance(cause, BaseExceptionGroup) or _message_of(cause) is None),
            inner[0],
        )
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return INTERRUPTED
    if isinstance(error, StopSignal):
        return error.status
    if isinstance(error, BrokenPipeError | NoReader):
        silence(OUTPUT)
        return NO_READER
    is_verbose = bool(os.environ.get("KUBECLASSIC_TRACEBACK")) or not {"-v", "--verbose"}.isdisjoint(
        arguments
    )
    message = _message_of(error)
    if message is None:
        import platform
        import traceback
        from tempfile import mkstemp

        summary = one_line("".join(traceback.format_exception_only(error)))
        note(f"kubeclassic: internal error: {summary[:500]}")
        command_line = shlex.join(["kubeclassic", *map(str, arguments)])
        frames = "".join(traceback.format_exception(error))
        report = f"kubeclassic {__version__}, Python {platform.python_version()}, {platform.platform()}\n{command_line}\n\n{frames}"
        text = "the text above"
        with suppress(OSError):
            handle, file = mkstemp(prefix="kubeclassic-defect-", suffix=".txt")
            with open(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(report)
            text = f"{file}, which says what ran and where it failed"
        if is_verbose or text == "the text above":
            note_lines(report.splitlines())
        note(f"This is a bug in kubeclassic {__version__}. Please report it with {text}.")
        return DEFECT
    note(f"kubeclassic: {one_line(message)}")
    for more in getattr(error, "__notes__", ()):
        note(one_line(more))
    if isinstance(error, RuleError) and error.frames and is_verbose:
        note_lines(error.frames.splitlines())
    return BAD_INPUT


def status_of_exit(code: object) -> int:
    """The exit status that ``sys.exit(code)`` asks for; a text is said on standard error."""
    if code is None or isinstance(code, int):
        return code or 0
    note(f"kubeclassic: {one_line(str(code))}")
    return 1


def status_after(status: int) -> int:
    """The exit status once standard output has taken everything; *status* stays, unless it could not."""
    try:
        sys.stdout.flush()
    except OSError as error:
        silence(OUTPUT)
        return status if status >= BAD_INPUT else status_of(error, ())
    return status


@contextmanager
def needing_extra(command: str, extra: str) -> Iterator[None]:
    """A context for imports that *command* needs; the error for a missing library names the *extra* of the
    package that has it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise KubeclassicError(f"{command} needs {error.name}: pip install 'kubeclassic[{extra}]'") from None


# --- bad input ----------------------------------------------------------------------------------------------


def _message_of(error: BaseException) -> str | None:
    """The line about *error*; None if it is a defect."""
    if isinstance(error, click.UsageError):
        hint = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        return shortened(error.format_message().rstrip("."), _LONGEST) + hint
    if isinstance(error, KubeclassicError | click.ClickException):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory for this input"
    if isinstance(error, ValueError) and "embedded null" in str(error):
        return "expected the name of a file, got a NUL in a name"
    if isinstance(error, UnicodeEncodeError):
        character = error.object[error.start : error.end]
        return f"{character!a}: a character of a name that the locale's encoding, {error.encoding}, does not have"
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        if error.filename is None:
            return reason
        return f"{shortened(os.fsdecode(error.filename), _LONGEST)}: {reason}"
    return None
