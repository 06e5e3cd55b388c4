"""The devices of a node, and what rules out each, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....api.record import astuple
from ....api.words import count_of
from ....core.devices.accounts import DeviceAccount
from ..prose import wrapped
from ..tables import TextTable

MOST_NAMED = 4
"""Devices that are named before the others are only counted."""
USABLE = "can be had"


def device_lines(node: str, accounts: Sequence[DeviceAccount], width: int | None) -> Iterator[str]:
    """A line for each thing that rules out devices of *node*, request by request."""
    if not accounts:
        return
    yield from wrapped([f"Devices on {node}:"], width)
    rows = [
        [f"{account.claim}, {account.request}", _wanted(account), len(devices), _named(devices), why]
        for account in accounts for why, devices in ((USABLE, account.usable), *map(astuple, account.refused)) if devices
    ]  # fmt: skip
    yield from TextTable(["claim, request", "wants", "devices", "which", "why"], rows).lines(width)


def _wanted(account: DeviceAccount) -> str:
    return f"all that match, {account.wanted:,}" if account.takes_all else f"{account.wanted:,}"


def _named(devices: Sequence[str]) -> str:
    """The devices without their driver and pool, where all are of one."""
    pools = {device.rpartition("/")[0] for device in devices}
    names = [device.rpartition("/")[2] for device in devices] if len(pools) == 1 else list(devices)
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[: MOST_NAMED - 1])} and {count_of(len(names) - MOST_NAMED + 1, 'other')}"
