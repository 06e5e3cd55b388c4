"""Predicates: the checks that a node has to pass, one file for each. ``CATALOGUE`` has all of upstream's, by
name.

Upstream: most of them fail with ``node not found`` where a NodeInfo has no node. Here no rule does: no search
visits such a row and preemption does not try it, so a rule's answer for a row without node is never read.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..core.cycle import Predicate
from .checknodecondition import check_node_condition
from .checknodepressure import check_node_disk_pressure, check_node_memory_pressure, check_node_pid_pressure
from .checknodeunschedulable import check_node_unschedulable
from .checkvolumebinding import check_volume_binding
from .evenpodsspread import even_pods_spread
from .generalpredicates import general_predicates
from .hostname import pod_fits_host
from .matchinterpodaffinity import match_inter_pod_affinity
from .matchnodeselector import pod_match_node_selector
from .maxcsivolumecount import max_csi_volume_count
from .maxvolumecount import (
    max_azure_disk_volume_count,
    max_cinder_volume_count,
    max_ebs_volume_count,
    max_gce_pd_volume_count,
)
from .nodiskconflict import no_disk_conflict
from .novolumezoneconflict import no_volume_zone_conflict
from .podfitshostports import pod_fits_host_ports, pod_fits_ports
from .podfitsresources import pod_fits_resources
from .podtoleratesnodetaints import pod_tolerates_node_no_execute_taints, pod_tolerates_node_taints

__all__ = ["CATALOGUE"]

CATALOGUE: Mapping[str, Predicate] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            check_node_condition,
            check_node_unschedulable,
            general_predicates,
            pod_fits_host,
            pod_fits_host_ports,
            pod_fits_ports,
            pod_match_node_selector,
            pod_fits_resources,
            no_disk_conflict,
            pod_tolerates_node_taints,
            pod_tolerates_node_no_execute_taints,
            max_ebs_volume_count,
            max_gce_pd_volume_count,
            max_csi_volume_count,
            max_azure_disk_volume_count,
            max_cinder_volume_count,
            check_volume_binding,
            no_volume_zone_conflict,
            check_node_memory_pressure,
            check_node_pid_pressure,
            check_node_disk_pressure,
            even_pods_spread,
            match_inter_pod_affinity,
        )
    }
)
"""Upstream's predicates by the names under which releases register them."""
