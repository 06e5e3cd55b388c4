"""Settings of a replay: where its results go, and how long things take in it."""

from __future__ import annotations

from pathlib import Path

import attrs


@attrs.frozen(kw_only=True, repr=False)
class Places:
    """Where results go. What has no path is not written."""

    events: Path | None = None
    series: Path | None = None
    series_every: float = 0.0
    keeps_series: bool = False
    """Rows that are not written as they come are kept."""
    report: Path | None = None
    """A page of the whole, which is written at the end."""


@attrs.frozen(kw_only=True, repr=False)
class Delays:
    """How long things take, in virtual seconds."""

    cycle: float = 0.0
    """From one scheduling cycle to the next: the scheduler does one thing at a time."""
    binding: float = 0.0
    """From the decision until the API has the pod on its node."""
    provisioning: float = 0.0
    """Until a volume is made."""
    startup: float = 0.0
    """From the binding until the pod runs."""
    termination: float = 0.0
    """From the deletion or eviction of a pod until it is gone."""
    failure: float = 300.0
    """From a node's failure or deletion until its pods are evicted."""
