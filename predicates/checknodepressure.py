"""Does the node report that it is short of memory, disk or process ids?

The scheduler remembers conditions: one that disappears from a node keeps its last status.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..api.objects import Container
from .rule import (
    NODE_UNDER_DISK_PRESSURE,
    NODE_UNDER_MEMORY_PRESSURE,
    NODE_UNDER_PID_PRESSURE,
    PRESSURES,
    Batch,
    Cycle,
    Failures,
    Reads,
    Reason,
    Template,
    predicate,
)


def _pressure_failures(condition: str, reason: Reason, nodes: Batch) -> Failures | None:
    index = PRESSURES.index(condition)
    return Failures.where(reason, nodes.pressures.where(lambda statuses: statuses[index] == "True"))


def _asks_nothing(containers: Iterable[Container]) -> bool:
    """Whether no container has a request or limit above zero for cpu or memory."""
    lists = (quantities for container in containers for quantities in (container.requests, container.limits))
    return not any(
        quantities[name].nanos > 0 for quantities in lists for name in ("cpu", "memory") if name in quantities
    )


def _best_effort(pod: Template) -> tuple[bool, bool]:
    """Whether the pod is BestEffort by its containers alone, and by containers and init containers
    together."""
    by_containers = _asks_nothing(pod.spec.containers)
    return by_containers, by_containers and _asks_nothing(pod.spec.init_containers)


@predicate("CheckNodeMemoryPressure", reads=Reads.NODE, key=_best_effort)
def check_node_memory_pressure(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes under memory pressure if *pod* is BestEffort; every other pod may go there.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go CheckNodeMemoryPressurePredicate;
    pkg/apis/core/v1/helper/qos/qos.go GetPodQOS.
    """
    if not _best_effort(pod)[cycle.release.best_effort_sees_init_containers]:
        return None
    return _pressure_failures("MemoryPressure", NODE_UNDER_MEMORY_PRESSURE, nodes)


@predicate("CheckNodeDiskPressure", reads=Reads.NODE, key=lambda pod: None)
def check_node_disk_pressure(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes under disk pressure.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go CheckNodeDiskPressurePredicate.
    """
    return _pressure_failures("DiskPressure", NODE_UNDER_DISK_PRESSURE, nodes)


@predicate("CheckNodePIDPressure", reads=Reads.NODE, key=lambda pod: None)
def check_node_pid_pressure(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes that are short of process ids.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go CheckNodePIDPressurePredicate.
    """
    return _pressure_failures("PIDPressure", NODE_UNDER_PID_PRESSURE, nodes)
