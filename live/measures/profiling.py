"""Where a running scheduler spends its time, and what it waits for."""

from __future__ import annotations

import asyncio
import cProfile
import io
import ipaddress
import pstats

SHOWN = 60
"""How many functions a profile lists."""


def is_loopback(address: str) -> bool:
    """Whether *address* is one of this machine itself.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("::ffff:127.0.0.1"), is_loopback("10.0.0.1"), is_loopback("")
    (True, True, True, False, False)
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


async def profile_text(seconds: float) -> str | None:
    """What the event loop's thread does in the next *seconds*, by time; None if a profile is being taken."""
    profile = cProfile.Profile()
    try:
        profile.enable()
    except ValueError:  # Another one is under way.
        return None
    try:
        await asyncio.sleep(seconds)
    finally:
        profile.disable()
    text = io.StringIO()
    pstats.Stats(profile, stream=text).sort_stats("cumulative").print_stats(SHOWN)
    return text.getvalue()


def tasks_text() -> str:
    """The tasks of the running loop with their stacks."""
    text = io.StringIO()
    tasks = sorted(asyncio.all_tasks(), key=lambda task: task.get_name())
    for task in tasks:
        task.print_stack(file=text)
    return f"{len(tasks)} tasks\n\n{text.getvalue()}"
