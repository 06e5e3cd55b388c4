"""Signals that end the program: they unwind it as Ctrl-C does, so that no half-written file stays behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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
