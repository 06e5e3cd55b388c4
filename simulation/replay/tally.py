"""The results of a replay: counts of pods, how long they waited, how full the cluster was on average."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from ...core.arrays.types import Floats
from .inputs.times import plain
from .ledger import Ledger

PERCENTILES = (50, 90, 95, 99)


@attrs.define(eq=False, repr=False)
class ReplayCounts:
    """Counts since the beginning, and every wait."""

    arrived: int = 0
    scheduled: int = 0
    """How often a pod was given a node."""
    never_scheduled: int = 0
    """Pods that were deleted before they had a node."""
    finished: int = 0
    evicted: int = 0
    deleted: int = 0
    attempts: int = 0
    failed_attempts: int = 0
    preemptions: int = 0
    """Attempts that made room by evicting pods."""
    waits: array[float] = attrs.field(factory=lambda: array("d"))
    """Seconds from each scheduled pod's arrival to its node."""
    _areas: Floats | None = None
    """float64[2, R]: the totals of the ledger times seconds, summed up."""

    def pass_time(self, seconds: float, ledger: Ledger) -> None:
        """The cluster stays as it is in *ledger* for that long."""
        if self._areas is None:
            self._areas = np.zeros(ledger.totals.shape)
        self._areas += ledger.totals * seconds

    def mean_use(self) -> Floats | None:
        """The share of each resource that was in use, averaged over time: float64[R]; None if no time has passed."""
        if self._areas is None:
            return None
        used, there = self._areas
        found: Floats = np.divide(used, there, out=np.zeros(len(used)), where=there > 0)
        return found

    def wait_record(self) -> dict[str, Any]:
        """Mean, percentiles and maximum of the waits in seconds; empty if no pod was scheduled."""
        if not self.waits:
            return {}
        ordered = sorted(self.waits)
        found = {f"p{share}": plain(percentile(ordered, share)) for share in PERCENTILES}
        return {"mean": plain(float(np.frombuffer(self.waits, np.float64).mean())), **found, "max": plain(ordered[-1])}


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which that share of *ordered* lies, in percent, as ``np.percentile`` has it, which would import ``numpy.ma``.

    >>> percentile([1.0, 2.0, 4.0], 75)
    3.0
    """
    place = (len(ordered) - 1) * (share / 100)
    below, part = int(place), place % 1
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    # Counted from the nearer of the two, as numpy does it.
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)
