"""The one thread that owns the engine: questions and events wait in one line, so each question sees one consistent state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import attrs

T = TypeVar("T")


@attrs.define(eq=False)
class Worker:
    """Runs functions one after the other, in the order in which they came, off the event loop."""

    waiting: int = 0
    """Calls that have not ended yet."""
    _thread: ThreadPoolExecutor = attrs.field(factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="engine"))

    def submit(self, function: Callable[..., T], *arguments: object) -> Future[T]:
        """Let *function* run when it is its turn."""
        return self._thread.submit(function, *arguments)

    async def ask(self, function: Callable[..., T], *arguments: object) -> T:
        """What *function* answers. A call that is cancelled before its turn does not run."""
        self.waiting += 1
        try:
            return await asyncio.wrap_future(self.submit(function, *arguments))
        finally:
            self.waiting -= 1

    def close(self) -> None:
        """Wait until everything has run."""
        self._thread.shutdown()
