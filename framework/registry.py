"""The registry: which plugins a profile may name. Upstream: pkg/scheduler/framework/plugins/registry.go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ..core.release import Release
from ..exceptions import PolicyError
from .plugin import Plugin
from .plugins.defaultbinder import DefaultBinder
from .plugins.defaultpreemption import DefaultPreemption
from .plugins.dynamicresources import DynamicResources
from .plugins.imagelocality import ImageLocality
from .plugins.interpodaffinity import InterPodAffinity
from .plugins.nodeaffinity import NodeAffinityPlugin
from .plugins.nodedeclaredfeatures import NodeDeclaredFeatures
from .plugins.nodename import NodeName
from .plugins.nodeports import NodePorts
from .plugins.noderesources import NodeResourcesBalancedAllocation, NodeResourcesFit
from .plugins.nodeunschedulable import NodeUnschedulable
from .plugins.older import (
    NodeLabel,
    NodePreferAvoidPods,
    NodeResourceLimits,
    NodeResourcesLeastAllocated,
    NodeResourcesMostAllocated,
    RequestedToCapacityRatio,
    RequestedToCapacityRatioPriority,
    ResourceLimitsPriority,
    ServiceAffinityPlugin,
)
from .plugins.podtopologyspread import PodTopologySpread
from .plugins.prioritysort import PrioritySort
from .plugins.schedulinggates import SchedulingGates
from .plugins.selectorspread import DefaultPodTopologySpread, SelectorSpread, ServiceSpreadingPriority
from .plugins.tainttoleration import TaintToleration
from .plugins.volumebinding import VolumeBinding
from .plugins.volumelimits import AzureDiskLimits, CinderLimits, EBSLimits, GCEPDLimits, NodeVolumeLimits
from .plugins.volumerestrictions import VolumeRestrictions
from .plugins.volumezone import VolumeZone
from .userplugins import check_methods

_PLUGINS: tuple[type[Plugin], ...] = (
    AzureDiskLimits,
    CinderLimits,
    DefaultBinder,
    DefaultPodTopologySpread,
    DefaultPreemption,
    DynamicResources,
    EBSLimits,
    GCEPDLimits,
    ImageLocality,
    InterPodAffinity,
    NodeAffinityPlugin,
    NodeDeclaredFeatures,
    NodeLabel,
    NodeName,
    NodePorts,
    NodePreferAvoidPods,
    NodeResourceLimits,
    NodeResourcesBalancedAllocation,
    NodeResourcesFit,
    NodeResourcesLeastAllocated,
    NodeResourcesMostAllocated,
    NodeUnschedulable,
    NodeVolumeLimits,
    PodTopologySpread,
    PrioritySort,
    RequestedToCapacityRatio,
    RequestedToCapacityRatioPriority,
    ResourceLimitsPriority,
    SchedulingGates,
    SelectorSpread,
    ServiceAffinityPlugin,
    ServiceSpreadingPriority,
    TaintToleration,
    VolumeBinding,
    VolumeRestrictions,
    VolumeZone,
)
DEFAULT_REGISTRY: Mapping[str, type[Plugin]] = MappingProxyType({plugin.name: plugin for plugin in _PLUGINS})
"""Name -> class, of upstream's default plugins in all releases."""


def registry_of(release: Release) -> Mapping[str, type[Plugin]]:
    """Name -> class, of the default plugins that *release* has."""
    return MappingProxyType(
        {
            name: plugin
            for name, plugin in DEFAULT_REGISTRY.items()
            if name not in release.configuration.gone_plugins
        }
    )


def with_plugins(
    registry: Mapping[str, type[Plugin]], plugins: Iterable[type[Plugin]]
) -> Mapping[str, type[Plugin]]:
    """A registry with *plugins*, a user's own, added to *registry*: profiles may name them.

    Raises :class:`~kubeclassic.exceptions.PolicyError` for a plugin without a name, with a name that is
    taken, or with a method that is called almost like an extension point.
    """
    found = dict(registry)
    for plugin in plugins:
        if not plugin.name:
            raise PolicyError(f"plugin {plugin.__qualname__}: name: expected a name of its own, got nothing")
        if plugin.name in found:
            raise PolicyError(f"a plugin named {plugin.name} already exists")
        check_methods(plugin)
        found[plugin.name] = plugin
    return MappingProxyType(found)
