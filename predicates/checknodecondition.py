"""Do the node's conditions allow pods on it?"""

from __future__ import annotations

from ..core.arrays import Batch, Failures, Reason, Reasons, Statuses
from ..core.cycle import Cycle, Reads
from ..core.pods import Template
from .rule import NODE_NETWORK_UNAVAILABLE, NODE_NOT_READY, NODE_OUT_OF_DISK, NODE_UNSCHEDULABLE, predicate

_WANTED: dict[str, tuple[str, Reason]] = {
    "Ready": ("True", NODE_NOT_READY),
    "NetworkUnavailable": ("False", NODE_NETWORK_UNAVAILABLE),
    "OutOfDisk": ("False", NODE_OUT_OF_DISK),
}
"""The condition, the one status that lets pods pass, and the reason for any other."""


@predicate("CheckNodeCondition", reads=Reads.NODE, key=lambda pod: None)
def check_node_condition(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes that are not ready, without network, out of disk or unschedulable; a missing condition
    is no objection.

    The reasons come in the order of the node's own conditions, ``spec.unschedulable`` last.
    Upstream: pkg/scheduler/algorithm/predicates/predicates.go CheckNodeConditionPredicate.
    """
    reads_out_of_disk = cycle.release.reads_out_of_disk
    sequences: dict[Reasons, int] = {(): 0}

    def code(statuses: Statuses) -> int:
        return sequences.setdefault(_reasons(statuses, reads_out_of_disk), len(sequences))

    by_conditions = Failures.coded(nodes.conditions.where(code, int), [*sequences][1:])
    unschedulable = Failures.where(NODE_UNSCHEDULABLE, nodes.unschedulable.present)
    return Failures.joined([by_conditions, unschedulable])


def _reasons(statuses: Statuses, reads_out_of_disk: bool) -> Reasons:
    looked_at = (
        item for item in statuses if item[0] in _WANTED and (reads_out_of_disk or item[0] != "OutOfDisk")
    )
    return tuple(_WANTED[kind][1] for kind, status in looked_at if status != _WANTED[kind][0])
