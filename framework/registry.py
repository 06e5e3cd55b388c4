"""Which plugins a profile may name. Upstream: pkg/scheduler/framework/plugins/registry.go."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from .plugin import Plugin

_MODULES = {
    "PrioritySort": "prioritysort", "NodeUnschedulable": "nodeunschedulable", "NodeName": "nodename", "TaintToleration": "tainttoleration",
    "NodeAffinity": "nodeaffinity", "NodePorts": "nodeports", "NodeResourcesFit": "noderesources",
    "NodeResourcesBalancedAllocation": "noderesources",
    "VolumeRestrictions": "volumerestrictions", "EBSLimits": "volumelimits", "GCEPDLimits": "volumelimits", "AzureDiskLimits": "volumelimits",
    "CinderLimits": "volumelimits", "NodeVolumeLimits": "volumelimits", "VolumeBinding": "volumebinding", "VolumeZone": "volumezone",
    "PodTopologySpread": "podtopologyspread", "InterPodAffinity": "interpodaffinity", "DefaultPreemption": "defaultpreemption",
    "ImageLocality": "imagelocality", "DefaultBinder": "defaultbinder", "SchedulingGates": "schedulinggates", "SelectorSpread": "selectorspread",
}


def _load():
    found = {}
    for name, place in _MODULES.items():
        module, _, cls = place.partition(":")
        try:
            found[name] = getattr(import_module(f".plugins.{module}", __package__), cls or name)
        except (ModuleNotFoundError, AttributeError, ImportError):
            found[name] = type(name, (Plugin,), {"name": name})
    return found


DEFAULT_REGISTRY: Mapping[str, type[Plugin]] = MappingProxyType(_load())
"""Name -> class; a user's own mapping may be given beside it."""
