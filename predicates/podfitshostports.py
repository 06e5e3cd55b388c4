"""Are the host ports that the pod asks for free on the node?"""

from __future__ import annotations

from functools import reduce
from operator import or_

import attrs

from .rule import POD_NOT_FITS_HOST_PORTS, Batch, Cycle, Failures, Predicate, Reads, Template, predicate

ANY_ADDRESS = "0.0.0.0"


@predicate(
    "PodFitsHostPorts", reads=Reads.PORTS, key=lambda pod: pod.ports, concerns=lambda pod: bool(pod.ports)
)
def pod_fits_host_ports(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes where a pod already has one of the host ports that *pod*'s containers ask for.

    Two ports clash where protocol and number are equal and the addresses are equal too, or one of them is
    ``0.0.0.0``. Upstream: pkg/scheduler/algorithm/predicates/predicates.go PodFitsHostPorts;
    pkg/scheduler/nodeinfo/host_ports.go CheckConflict.
    """
    # Upstream: ``::`` is an ordinary address here; only 0.0.0.0 means all.
    everywhere = {(protocol, number) for address, protocol, number in pod.ports if address == ANY_ADDRESS}
    clashing = set()
    for address, protocol, number in pod.ports:
        if (protocol, number) not in everywhere:
            clashing |= {(address, protocol, number), (ANY_ADDRESS, protocol, number)}
    if everywhere:
        clashing.update(used for used in nodes.ports() if used[1:] in everywhere)
    if not clashing:
        return None
    return Failures.where(POD_NOT_FITS_HOST_PORTS, reduce(or_, map(nodes.holding_port, clashing)))


pod_fits_ports: Predicate = attrs.evolve(pod_fits_host_ports, name="PodFitsPorts")
"""The same under the name that it had before 1.0; a Policy may still give it."""
