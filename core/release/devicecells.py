"""In what the releases of the framework differ about devices. The values are in ``framework/releases.py``; 1.32 is the first with them."""

from __future__ import annotations

from typing import Literal

import attrs

from .framework import cell

Room = Literal["requested", "again", "left"]


@attrs.frozen(kw_only=True, repr=False)
class DeviceCells:
    """How a release allocates devices."""

    alternatives: bool = cell("a request may name alternatives (firstAvailable), with gate DRAPrioritizedList", False)
    admin_takes_once: bool = cell("admin access never takes a device twice for one claim, and others of the pod cannot have it", False)
    all_wants_one: bool = cell("allocation mode All needs one device at least", False)
    all_stops: bool = cell("a device in use ends the search of mode All (no: what came before it is tried again)", True)
    all_gives_back: bool = cell("what mode All took is free again when the search backs up", False)
    room: Room = attrs.field(default="requested", metadata={"words": "what counts towards 32 devices of a claim while they are chosen"})
    invalid_pool_errs: bool = cell("an invalid pool is an error once a search comes to it (no: once a device in it matches)", False)
    distinct_attribute: bool = cell("constraints may be a distinctAttribute", False)
    leaves_counter_slices: bool = cell("slices with shared counters are left out", False)
    leaves_counted_devices: bool = cell("devices that consume counters cannot be allocated", False)
    leaves_per_device_selection: bool = cell("slices in which each device says its nodes are left out", False)
    leaves_binding_conditions: bool = cell("devices with binding conditions cannot be allocated, and come last", False)
    speaks_without_claims: bool = cell("PostFilter has something to say of a pod without claims", True)
