"""Plugins that facts and tables name together."""

from __future__ import annotations

CLOUD_DISKS = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
LIMIT_RULES = ("NodeVolumeLimits", "EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")
USAGE = ("NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio")
"""The plugins whose scores NodeResourcesFit took over."""
SELECTOR_SPREAD = ("SelectorSpread", "DefaultPodTopologySpread", "SelectorSpreadPriority", "ServiceSpreadingPriority")
