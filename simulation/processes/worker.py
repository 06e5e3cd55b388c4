"""A process that runs tasks: it gets what they have in common, then one after the other, until none is left."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from contextlib import suppress
from typing import IO, Any, Protocol, TypeVar

from ...api.garbage import frozen

_LENGTH = 8
T = TypeVar("T")
"""A task."""
D = TypeVar("D")
"""What a task comes to."""
T_contra = TypeVar("T_contra", contravariant=True)
D_co = TypeVar("D_co", covariant=True)


class TaskRunner(Protocol[T_contra, D_co]):
    """Runs tasks. Each process gets a copy of it, once."""

    def run(self, task: T_contra) -> D_co:
        """Run *task*; whatever goes wrong is in its result."""
        ...

    def lost(self, error: str) -> D_co:
        """What a task comes to that could not run, or whose process was lost."""
        ...


def packed(value: Any) -> bytes:
    """*value* with its length before it."""
    data = pickle.dumps(value, protocol=5)
    return len(data).to_bytes(_LENGTH, "big") + data


def read_bytes(stream: IO[bytes]) -> bytes:
    """The pickle of the next object. Raises EOFError at the end of *stream*, or if it ends within an object."""
    size = int.from_bytes(_exactly(stream, _LENGTH), "big")
    return _exactly(stream, size)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def main() -> None:
    """Answer on what is standard output now. Whatever else is printed later goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(EOFError, BrokenPipeError):
        serve(sys.stdin.buffer, answers)


def serve(asked: IO[bytes], answers: IO[bytes]) -> None:
    """Read a :class:`TaskRunner`, then tasks, and answer each. Raises EOFError at the end."""
    shared: TaskRunner[Any, Any] = pickle.loads(read_bytes(asked))
    with frozen():
        while True:
            answers.write(packed(_done(shared, read_bytes(asked))))
            answers.flush()


def _done(shared: TaskRunner[Any, Any], data: bytes) -> Any:
    try:
        task = pickle.loads(data)
    except Exception as error:  # a user's own rules may not be where another process looks for them
        return shared.lost(f"rules: another process cannot load them: {type(error).__name__}: {error}")
    return shared.run(task)
