"""Could the node satisfy the pod's limits?"""

from __future__ import annotations

import numpy as np

from ..api.objects import Container, wrap_int64
from .rule import CPU, MEMORY, Batch, Cycle, Mask, Reads, Scores, Template, amount, priority


def _limit(container: Container, resource: str) -> int:
    quantity = container.limits.get(resource)
    return 0 if quantity is None else amount(resource, quantity)


def _pod_limit(pod: Template, resource: str) -> int:
    """The sum over the containers, or the limit of an init container if that is more."""
    together = wrap_int64(sum(_limit(container, resource) for container in pod.spec.containers))
    return max([together, *(_limit(container, resource) for container in pod.spec.init_containers)])


def _limits(pod: Template) -> tuple[int, int]:
    """cpu in millicores and memory in bytes."""
    return _pod_limit(pod, CPU), _pod_limit(pod, MEMORY)


@priority("ResourceLimitsPriority", reads=Reads.NODE, key=_limits)
def resource_limits(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer, by one point, nodes whose allocatable cpu or memory covers *pod*'s limit; pods already there do
    not matter.

    Upstream: pkg/scheduler/algorithm/priorities/resource_limits.go ResourceLimitsPriorityMap.
    """
    cpu, memory = _limits(pod)
    return (_satisfies(nodes, CPU, cpu) | _satisfies(nodes, MEMORY, memory)).astype(np.int64)


def _satisfies(nodes: Batch, resource: str, limit: int) -> Mask:
    allocatable = nodes.allocatable(resource)
    satisfies: Mask = (allocatable != 0) & (limit <= allocatable) & (limit != 0)
    return satisfies
