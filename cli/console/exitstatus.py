"""How the program ends: for every error its exit status, and what is said about it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import click

from ... import __version__
from ...exceptions import KubeclassicError, RuleError
from ...exceptions import one_line as shortened
from .output import note, note_lines, one_line
from .streams import OUTPUT, NoReader, Stopped, flush_output, silence

BAD_INPUT = 2
DEFECT = 3
INTERRUPTED = 130
NO_READER = 141
"""The reader of standard output has gone: what shells show for SIGPIPE."""
_LONGEST = 1000
"""Characters of a line about the command line."""
_NUL = "embedded null"
"""What Python says of the name of a file with a NUL."""
TRACEBACK = "KUBECLASSIC_TRACEBACK"
"""The environment variable that asks for tracebacks, as --verbose does."""


def status_of(error: BaseException, given: Sequence[str]) -> int:
    """Say what there is to say about *error*, which ended the command line *given*; answers the exit status."""
    # The one error of a group that is to be told: a defect before bad input.
    while isinstance(error, BaseExceptionGroup):
        inner = error.exceptions
        error = next((one for one in inner if isinstance(one, BaseExceptionGroup) or _told(one) is None), inner[0])
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return INTERRUPTED
    if isinstance(error, Stopped):
        return error.status
    if isinstance(error, BrokenPipeError | NoReader):
        silence(OUTPUT)
        return NO_READER
    is_verbose = bool(os.environ.get(TRACEBACK)) or not {"-v", "--verbose"}.isdisjoint(given)
    told = _told(error)
    if told is None:
        _report(error, given, is_verbose)
        return DEFECT
    note(f"kubeclassic: {one_line(told)}")
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
    error = flush_output()
    if error is None or status >= BAD_INPUT:
        return status
    return status_of(error, ())


@contextmanager
def needing_extra(command: str, extra: str) -> Iterator[None]:
    """Imports of the block that *command* needs; where a library is not there, a line says which *extra* of the package has it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise KubeclassicError(f"{command} needs {error.name}: pip install 'kubeclassic[{extra}]'") from None


# --- bad input ------------------------------------------------------------------------------------------------------


def _told(error: BaseException) -> str | None:
    """The line about *error*; None if it is a defect."""
    if isinstance(error, click.UsageError):
        hint = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        return shortened(error.format_message().rstrip("."), _LONGEST) + hint
    if isinstance(error, KubeclassicError | click.ClickException):
        return str(error)
    if isinstance(error, MemoryError):
        return "not enough memory for this input"
    if isinstance(error, ValueError) and _NUL in str(error):
        return "expected the name of a file, got a NUL in a name"
    if isinstance(error, UnicodeEncodeError):
        character = error.object[error.start : error.end]
        return f"{character!a}: a character of a name that the locale's encoding, {error.encoding}, does not have"
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        return reason if error.filename is None else f"{shortened(os.fsdecode(error.filename), _LONGEST)}: {reason}"
    return None


# --- defects --------------------------------------------------------------------------------------------------------


def _report(error: BaseException, given: Sequence[str], is_verbose: bool) -> None:
    """Say that the program is at fault, and which file has all that a report needs; without a place for one it is said, too."""
    import platform
    import traceback
    from tempfile import mkstemp

    what = one_line("".join(traceback.format_exception_only(error)))
    note(f"kubeclassic: internal error: {what[:500]}")
    ran, frames = shlex.join(["kubeclassic", *map(str, given)]), "".join(traceback.format_exception(error))
    report = f"kubeclassic {__version__}, Python {platform.python_version()}, {platform.platform()}\n{ran}\n\n{frames}"
    text = "the text above"
    with suppress(OSError):
        handle, file = mkstemp(prefix="kubeclassic-defect-", suffix=".txt")
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(report)
        text = f"{file}, which says what ran and where it failed"
    if is_verbose or text == "the text above":
        note_lines(report.splitlines())
    note(f"This is a bug in kubeclassic {__version__}. Please report it with {text}.")
