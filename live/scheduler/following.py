"""The lifetime of a live scheduler: until a signal, for some seconds, or until something fails."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from ..informers.informers import Informers
from ..process.logs import Log

T = TypeVar("T")
PATIENCE = 1.0
"""Seconds of a wait after which a line says for what."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
STATUS: Mapping[int | None, int] = {None: 0, signal.SIGTERM: 0, signal.SIGINT: 130}
"""Signal that ended the process, or None -> the exit status."""


async def follow(informers: Informers, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run *informers* and, once every kind is listed, *run*, until one of them fails."""
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(informers.run())
            await informers.synced()
            await run()
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None


async def unless(
    end: asyncio.Event, work: Coroutine[Any, Any, T], log: Log | None = None, wait: str = ""
) -> T | None:
    """The result of *work*; None if *end* was set before. *wait* is logged to *log* if it takes more than
    :data:`PATIENCE`."""
    task = asyncio.create_task(work)
    ended = asyncio.create_task(end.wait())
    try:
        done, _ = await asyncio.wait((task, ended), timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if not done and log is not None and wait:
            log.info(wait)
        await asyncio.wait((task, ended), return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        task.cancel()
        ended.cancel()
        await asyncio.gather(task, ended, return_exceptions=True)


def end_at_signals() -> tuple[asyncio.Event, list[int]]:
    """An event that the first signal sets, and a list that gets its number; the second signal interrupts."""
    end = asyncio.Event()
    loop = asyncio.get_running_loop()
    ended_by = list[int]()

    def stop(number: int) -> None:
        ended_by.append(number)
        loop.remove_signal_handler(number)
        end.set()

    for number in SIGNALS:
        with suppress(RuntimeError, ValueError):  # not on the main thread, or not on this platform
            loop.add_signal_handler(number, stop, number)
    return end, ended_by
