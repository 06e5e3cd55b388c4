"""What a release does with one version of the component configuration."""

from __future__ import annotations

import attrs

from ...core.release import ConfigurationCells


def cells_in(cells: ConfigurationCells, version: str) -> ConfigurationCells:
    """*cells* as *version* of the configuration has them."""
    other = cells.versions.get(version)
    return attrs.evolve(cells, **other) if other else cells
