"""Priorities: preferences among the nodes that fit, one file for each. ``CATALOGUE`` is all of upstream's, by
name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..core.cycle import Priority
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
        rule.name: rule
        for rule in (
            selector_spread,
            service_spreading,
            inter_pod_affinity,
            least_requested,
            most_requested,
            balanced_resource_allocation,
            requested_to_capacity_ratio,
            node_prefer_avoid_pods,
            node_affinity,
            taint_toleration,
            image_locality,
            resource_limits,
            even_pods_spread,
            equal,
        )
    }
)
"""Upstream's priorities by the names under which releases register them."""
