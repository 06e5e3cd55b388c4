"""A thread for the lease: its requests go out whatever the scheduler does meanwhile.

One event loop has all that a scheduler does: watches, cycles, bindings, events. In a burst a request of many turns of that loop takes
seconds, and the leader would lose its lease. So the requests for the lock have a thread, a loop and a connection of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from threading import Thread
from types import TracebackType
from typing import Any

import attrs

from ...exceptions import KubeclassicError
from ..client.credentials import Access
from ..client.http import HttpTransport


@attrs.define(eq=False)
class LeaseThread:
    """Runs what asks for the lock. Use it as ``async with``."""

    access: Access
    link: HttpTransport = attrs.field(init=False)
    """The connection, for what :meth:`run` runs."""
    _loop: Future[asyncio.AbstractEventLoop] = attrs.field(factory=Future, init=False)
    _end: asyncio.Event = attrs.field(factory=asyncio.Event, init=False)
    _thread: Thread = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.link = HttpTransport(self.access)
        self._thread = Thread(target=lambda: asyncio.run(self._serve()), name="lease", daemon=True)

    async def __aenter__(self) -> LeaseThread:
        self._thread.start()
        await asyncio.wrap_future(self._loop)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._loop.result().call_soon_threadsafe(self._end.set)
        await asyncio.to_thread(self._thread.join)

    async def _serve(self) -> None:
        try:
            async with self.link:
                self._loop.set_result(asyncio.get_running_loop())
                await self._end.wait()
        except KubeclassicError as error:  # there are no credentials
            self._loop.set_exception(error)

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run *work* on the thread and wait for its end."""
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop.result()))
