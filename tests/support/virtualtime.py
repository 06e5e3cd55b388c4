"""An asyncio loop on virtual time: when all tasks wait, the clock jumps to the next timer. No test sleeps."""

import asyncio
import selectors
from typing import TypeVar

T = TypeVar("T")

BEGIN = 1_795_311_696.0
"""Seconds since 1970 at the start of virtual time."""


class Stuck(Exception):
    """All tasks wait, and no timer is set."""


class _Jumping(selectors.DefaultSelector):  # type: ignore[misc, valid-type]  # the class depends on the platform
    loop: object

    def select(self, timeout=None):
        """The events that are ready now; else the clock moves by *timeout*."""
        ready = super().select(0)
        if not ready and timeout is None:
            raise Stuck("nothing is left to wait for")
        if not ready and timeout:
            self.loop.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock moves only when nothing else can happen."""

    def __init__(self):
        self.now = 0.0
        selector = _Jumping()
        selector.loop = self
        super().__init__(selector)

    def time(self):
        """The virtual time in seconds."""
        return self.now


def run_virtually(work, *, until=None):
    """The result of *work* on virtual time; None if it has not ended at *until*, when it is cancelled."""

    async def limited():
        try:
            async with asyncio.timeout_at(until):
                return await work
        except TimeoutError:
            if until is None or asyncio.get_running_loop().time() < until:
                raise
            return None

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(limited())


def now():
    """The time of the running loop."""
    return asyncio.get_running_loop().time()


def wall():
    """The time of the running loop as seconds since 1970."""
    return BEGIN + now()
