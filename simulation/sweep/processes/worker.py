"""A process of a sweep: it gets what runs have in common, then one run after the other, until none is left."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from contextlib import suppress
from typing import IO

from ..tasks import Done, Shared, Task
from .frames import packed, read_bytes


def main() -> None:
    """Answer on what is standard output now. Whatever else is printed later goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one ends it
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with suppress(EOFError, BrokenPipeError):
        serve(sys.stdin.buffer, answers)


def serve(asked: IO[bytes], answers: IO[bytes]) -> None:
    """Read :class:`~.tasks.Shared`, then runs, and answer each. Raises EOFError at the end."""
    shared: Shared = pickle.loads(read_bytes(asked))
    gc.freeze()
    while True:
        answers.write(packed(_done(shared, read_bytes(asked))))
        answers.flush()


def _done(shared: Shared, data: bytes) -> Done:
    try:
        task: Task = pickle.loads(data)
    except Exception as error:  # a user's own rules may not be where another process looks for them
        return Done(error=f"rules: another process cannot load them: {type(error).__name__}: {error}", is_final=False)
    return shared.run(task)
