"""Of which release a configuration is read, and with which gates: what its defaults, validation and texts depend on."""

from __future__ import annotations

import attrs

from ...algorithmprovider.gates import resolved_gates
from ...core.release import ConfigurationCells, FrameworkCells, Gates, Release
from ..releases import PROFILE_RELEASE


@attrs.frozen
class Context:
    """A release and its gates."""

    release: Release = PROFILE_RELEASE
    gates: Gates = attrs.field(factory=lambda: resolved_gates(PROFILE_RELEASE))

    @property
    def cells(self) -> ConfigurationCells:
        """How the release reads configurations."""
        return self.release.configuration

    @property
    def framework(self) -> FrameworkCells:
        """How the release decides, and words faults of fields."""
        return self.release.framework

    @property
    def scores_capacity(self) -> bool:
        """Whether VolumeBinding scores the capacity of volumes."""
        return self.gates[self.cells.capacity_gate]

    @property
    def times_devices(self) -> bool:
        """Whether the search for devices on a node ends after a time."""
        return self.gates.get("DRASchedulerFilterTimeout", False)


PLAIN = Context()
"""The release that is taken if none is named, with its default gates."""
