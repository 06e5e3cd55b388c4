"""In what two releases of the framework read a configuration differently. See :mod:`.framework`.

Cells without words are shown as plugins and gates.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from .framework import cell

_NONE: Mapping[str, str] = MappingProxyType({})


@attrs.frozen(kw_only=True, repr=False)
class ConfigurationCells:
    """How a release of the framework reads its component configuration, and which plugins it has."""

    capacity_gate: str = cell("the gate with which VolumeBinding scores the capacity of volumes", "VolumeCapacityPriority")
    api_versions: tuple[str, ...] = cell("the versions of the configuration that are read", ("v1beta2", "v1beta3", "v1"))
    default_plugins: Mapping[str, int] = cell("", MappingProxyType({}))
    """The default plugins in order, with their weights; 0: none is given."""
    gated_plugins: Mapping[str, tuple[str, str]] = cell("", MappingProxyType({}))
    """Gate that adds a default plugin -> that, and the one that it comes before; empty: it is the last."""
    gone_plugins: frozenset[str] = cell("", frozenset())
    """The plugins of older releases that no profile may name."""
    refused_plugins: frozenset[str] = cell(
        "the plugins that version v1 of the configuration refuses, but for multiPoint", frozenset({"SelectorSpread"})
    )
    settled_gates: frozenset[str] = cell("", frozenset())
    """The gates of older releases whose features are always there."""
    capacity_shape: tuple[tuple[int, int], ...] = cell(
        "the default shape of the score of VolumeBinding, utilization and score in turn", ((0, 0), (100, 10))
    )
    device_args: bool = cell("plugin DynamicResources has arguments", False)
    delays_cache: bool = cell("the configuration has a field delayCacheUntilActive", False)
    queue_sort_text: str = cell("the fault of profiles with different queueSort plugins", "has to match for all profiles")
    queue_sort_args_text: str = cell("the fault of profiles with different arguments of that plugin", "has to match for all profiles")
    shape_text: str = cell("the fault of a shape that is not in order", "utilization values must be sorted in increasing order")
    shares_waiting_pods: bool = cell("plugins see the pods of all profiles that wait for Permit (no: those of their own)", False)
    not_modelled: Mapping[str, str] = cell("", _NONE)
    """Gate that cannot be switched on here -> the feature that is not modelled."""
