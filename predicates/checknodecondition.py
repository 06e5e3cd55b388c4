"""Do the node's conditions allow pods on it?"""

from __future__ import annotations

from .rule import (
    NODE_NETWORK_UNAVAILABLE,
    NODE_NOT_READY,
    NODE_OUT_OF_DISK,
    NODE_UNSCHEDULABLE,
    Batch,
    Cycle,
    Failures,
    Reads,
    Reasons,
    Statuses,
    Template,
    predicate,
)

_EXPECTED = {
    "Ready": ("True", NODE_NOT_READY),
    "NetworkUnavailable": ("False", NODE_NETWORK_UNAVAILABLE),
    "OutOfDisk": ("False", NODE_OUT_OF_DISK),
}
"""Condition -> the only status that lets pods pass, and the reason for any other."""


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
        reasons = []
        for kind, status in statuses:
            if kind in _EXPECTED and (reads_out_of_disk or kind != "OutOfDisk"):
                expected_status, reason = _EXPECTED[kind]
                if status != expected_status:
                    reasons.append(reason)
        return sequences.setdefault(tuple(reasons), len(sequences))

    by_conditions = Failures.coded(nodes.conditions.where(code, int), [*sequences][1:])
    unschedulable = Failures.where(NODE_UNSCHEDULABLE, nodes.unschedulable.present)
    return Failures.joined([by_conditions, unschedulable])
