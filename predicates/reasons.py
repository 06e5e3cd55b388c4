"""Every reason for which a node is turned down, in upstream's words. Upstream:
pkg/scheduler/algorithm/predicates/error.go."""

from __future__ import annotations

from functools import cache

from ..core.arrays import Reason

DISK_CONFLICT = Reason("node(s) had no available disk")
VOLUME_ZONE_CONFLICT = Reason("node(s) had no available volume zone", resolvable=False)
NODE_SELECTOR_NOT_MATCH = Reason("node(s) didn't match node selector", resolvable=False)
POD_AFFINITY_NOT_MATCH = Reason("node(s) didn't match pod affinity/anti-affinity")
POD_AFFINITY_RULES_NOT_MATCH = Reason("node(s) didn't match pod affinity rules", resolvable=False)
POD_ANTI_AFFINITY_RULES_NOT_MATCH = Reason("node(s) didn't match pod anti-affinity rules")
EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH = Reason(
    "node(s) didn't satisfy existing pods anti-affinity rules"
)
TAINTS_TOLERATIONS_NOT_MATCH = Reason("node(s) had taints that the pod didn't tolerate", resolvable=False)
POD_NOT_MATCH_HOST_NAME = Reason("node(s) didn't match the requested hostname", resolvable=False)
POD_NOT_FITS_HOST_PORTS = Reason("node(s) didn't have free ports for the requested pod ports")
NODE_LABEL_PRESENCE_VIOLATED = Reason("node(s) didn't have the requested labels", resolvable=False)
SERVICE_AFFINITY_VIOLATED = Reason("node(s) didn't match service affinity")
MAX_VOLUME_COUNT_EXCEEDED = Reason("node(s) exceed max volume count")
NODE_UNDER_MEMORY_PRESSURE = Reason("node(s) had memory pressure", resolvable=False)
NODE_UNDER_DISK_PRESSURE = Reason("node(s) had disk pressure", resolvable=False)
NODE_UNDER_PID_PRESSURE = Reason("node(s) had pid pressure", resolvable=False)
NODE_OUT_OF_DISK = Reason("node(s) were out of disk space", resolvable=False)
NODE_NOT_READY = Reason("node(s) were not ready", resolvable=False)
NODE_NETWORK_UNAVAILABLE = Reason("node(s) had unavailable network", resolvable=False)
NODE_UNSCHEDULABLE = Reason("node(s) were unschedulable", resolvable=False)
VOLUME_NODE_CONFLICT = Reason("node(s) had volume node affinity conflict", resolvable=False)
VOLUME_BIND_CONFLICT = Reason("node(s) didn't find available persistent volumes to bind", resolvable=False)
TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH = Reason("node(s) didn't match pod topology spread constraints")


@cache
def insufficient(resource: str) -> Reason:
    """Too little of *resource* is left on the node."""
    return Reason(f"Insufficient {resource}")
