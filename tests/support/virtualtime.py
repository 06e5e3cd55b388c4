"""Virtual time: an event loop whose clock jumps to the next timer when nothing is left to do, so that nobody sleeps."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

BEGIN = 1_795_311_696.0
"""Seconds since 1970 at the start of virtual time."""


class _Selector(selectors.SelectSelector):
    """Instead of waiting it moves the clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("everybody waits, and nobody for a time")
        self.now += max(0.0, timeout)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop on virtual time. What is done in it must not wait for sockets or threads."""

    def __init__(self) -> None:
        self.selector = _Selector()
        super().__init__(self.selector)
        self._clock_resolution = 1e-9

    def time(self) -> float:
        """The seconds that have passed."""
        return self.selector.now


def run_virtually(coroutine: Coroutine[Any, Any, T]) -> T:
    """What *coroutine* returns, on virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)


def now() -> float:
    """The time of the running loop."""
    return asyncio.get_running_loop().time()


def wall() -> float:
    """The time of the running loop as seconds since 1970."""
    return BEGIN + now()


def wall_ns() -> int:
    """The time of the running loop as nanoseconds since 1970."""
    return round(wall() * 1e9)
