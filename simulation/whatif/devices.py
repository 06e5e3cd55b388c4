"""More devices on a node: as many as a claim lacks there, like one that its class and its request match."""

from __future__ import annotations

from collections.abc import Iterator

from ...api.controlplane.deviceclaims import slice_of_more
from ...api.objects import Device, ResourceSlice
from ...core.devices.accounts import DeviceAccount
from .change import WhatIfChange
from .context import WhatIfContext


def more_devices(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A node with exactly as many more devices as are missing there for one request."""
    slices = list(context.engine.listings.slices)
    for report, node in context.targets():
        for account in report.devices or ():
            like = _like(account, slices, context)
            if like is None:
                continue
            driver, device, told = like
            count = max(account.wanted - len(account.usable), 1)
            more = f"{count} more device{'s' if count > 1 else ''} of class {account.device_class} like {told}"
            yield WhatIfChange(
                kind="device", words=f"give node {node.name} {more}", patch=(f"adds: {more} on node {node.name}",),
                objects=(slice_of_more(node.name, driver, device, count),), size=count,
            )  # fmt: skip


def _like(account: DeviceAccount, slices: list[ResourceSlice], context: WhatIfContext) -> tuple[str, Device, str] | None:
    """A device that matches the request, free or not: its driver, itself, and its name in full; None if there is none on any node."""
    same = (
        one for report in context.reports for one in report.devices or () if (one.claim, one.request) == (account.claim, account.request)
    )
    found = next((name for one in (account, *same) for name in one.matching), None)
    if found is None:
        return None
    for one in slices:
        for device in one.spec.devices:
            if f"{one.spec.driver}/{one.spec.pool.name}/{device.name}" == found:
                return one.spec.driver, device, found
    return None
