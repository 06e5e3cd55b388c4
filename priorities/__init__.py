"""Priorities: preferences among the nodes that fit, one file for each. ``CATALOGUE`` is all of upstream's, by
name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..core.rule import Priority
from .balancedresourceallocation import balanced_resource_allocation
from .equalpriority import equal
from .evenpodsspread import even_pods_spread
from .imagelocality import image_locality
from .interpodaffinity import inter_pod_affinity
from .leastrequested import least_requested
from .mostrequested import most_requested
from .nodeaffinity import node_affinity
from .nodepreferavoidpods import node_prefer_avoid_pods
from .requestedtocapacityratio import requested_to_capacity_ratio
from .resourcelimits import resource_limits
from .selectorspread import selector_spread, service_spreading
from .tainttoleration import taint_toleration

__all__ = ["CATALOGUE"]

CATALOGUE: Mapping[str, Priority] = MappingProxyType(
    {
        "SelectorSpreadPriority": selector_spread,
        "ServiceSpreadingPriority": service_spreading,
        "InterPodAffinityPriority": inter_pod_affinity,
        "LeastRequestedPriority": least_requested,
        "MostRequestedPriority": most_requested,
        "BalancedResourceAllocation": balanced_resource_allocation,
        "RequestedToCapacityRatioPriority": requested_to_capacity_ratio,
        "NodePreferAvoidPodsPriority": node_prefer_avoid_pods,
        "NodeAffinityPriority": node_affinity,
        "TaintTolerationPriority": taint_toleration,
        "ImageLocalityPriority": image_locality,
        "ResourceLimitsPriority": resource_limits,
        "EvenPodsSpreadPriority": even_pods_spread,
        "EqualPriority": equal,
    }
)
"""Upstream's priorities by the names under which releases register them."""
