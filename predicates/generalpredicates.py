"""The four questions that every pod has to pass, asked as one."""

from __future__ import annotations

from .hostname import pod_fits_host
from .matchnodeselector import pod_match_node_selector
from .podfitshostports import pod_fits_host_ports
from .podfitsresources import pod_fits_resources
from .rule import Batch, Cycle, Failures, Predicate, Reads, StateKey, Template, predicate

PARTS = (pod_fits_resources, pod_fits_host, pod_fits_host_ports, pod_match_node_selector)
_ASKED: StateKey[tuple[Predicate, ...]] = StateKey("GeneralPredicates")
"""The parts that concern the template."""


@predicate(
    "GeneralPredicates",
    reads=Reads.NODE | Reads.REQUESTS | Reads.PORTS,
    key=lambda pod: tuple(part.key(pod) for part in PARTS),
    parts=PARTS,
)
def general_predicates(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes that fail PodFitsResources, HostName, PodFitsHostPorts or MatchNodeSelector, with the
    reasons of all that fail.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go GeneralPredicates.
    """
    parts: tuple[Predicate, ...] | None = pod.notes.get(_ASKED)
    if parts is None:
        parts = pod.notes[_ASKED] = tuple(part for part in PARTS if part.concerns(pod))
    if len(parts) == 1:
        return parts[0].check(pod, nodes, cycle)
    return Failures.joined([part.check(pod, nodes, cycle) for part in parts])
