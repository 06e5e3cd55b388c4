"""Scores for how full a node would be, one pod and one node at a time, in plain whole numbers and floats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kubeclassic.api.objects import Container, Node, Pod

Point = tuple[int, int]


def divided(numerator: int, denominator: int) -> int:
    """Whole-number division that rounds toward zero."""
    quotient = abs(numerator) // abs(denominator)
    return quotient if (numerator < 0) == (denominator < 0) else -quotient


def _of_container(container: Container, resource: str) -> int:
    quantity = container.requests.get(resource)
    if quantity is None:
        return {"cpu": 100, "memory": 200 * 1024 * 1024}.get(resource, 0)
    return quantity.milli_value() if resource == "cpu" else quantity.value()


def _of_pod(pod: Pod, resource: str, init_containers: bool) -> int:
    total = sum(_of_container(container, resource) for container in pod.spec.containers)
    if init_containers:
        for container in pod.spec.init_containers:
            total = max(total, _of_container(container, resource))
    return total


def usage(pod: Pod, node: Node, existing: Sequence[Pod], resource: str, init_containers: bool) -> tuple[int, int]:
    """(requested with *pod* on the node, capacity) of a resource."""
    requested = sum(_of_pod(each, resource, init_containers) for each in (*existing, pod))
    quantity = node.status.allocatable.get(resource)
    if quantity is None:
        return requested, 0
    return requested, quantity.milli_value() if resource == "cpu" else quantity.value()


def least_requested(pod: Pod, node: Node, existing: Sequence[Pod], init_containers: bool) -> int:
    """The mean of the free shares of cpu and memory."""
    total = 0
    for resource in ("cpu", "memory"):
        requested, capacity = usage(pod, node, existing, resource, init_containers)
        if capacity != 0 and requested <= capacity:
            total += divided((capacity - requested) * 10, capacity)
    return divided(total, 2)


def most_requested(pod: Pod, node: Node, existing: Sequence[Pod], init_containers: bool) -> int:
    """The mean of the used shares of cpu and memory."""
    total = 0
    for resource in ("cpu", "memory"):
        requested, capacity = usage(pod, node, existing, resource, init_containers)
        if capacity != 0 and requested <= capacity:
            total += divided(requested * 10, capacity)
    return divided(total, 2)


def balanced(pod: Pod, node: Node, existing: Sequence[Pod], init_containers: bool, volumes: tuple[int, int] | None = None) -> int:
    """How alike cpu and memory are used; *volumes*, with the gate: (allocatable, requested) as a count predicate left them."""
    fractions = []
    for resource in ("cpu", "memory"):
        requested, capacity = usage(pod, node, existing, resource, init_containers)
        fractions.append(1.0 if capacity == 0 else requested / capacity)
    if volumes is not None and volumes[0] > 0:
        fractions.append(volumes[1] / volumes[0])
    if any(fraction >= 1 for fraction in fractions):
        return 0
    if len(fractions) == 2:
        return int((1 - abs(fractions[0] - fractions[1])) * 10.0)
    a, b, c = fractions
    mean = (a + b + c) / 3.0
    variance = (((a - mean) * (a - mean)) + ((b - mean) * (b - mean)) + ((c - mean) * (c - mean))) / 3.0
    return int((1 - variance) * 10.0)


def on_line(shape: Sequence[Point], percent: int) -> int:
    """The score of a broken line at *percent*."""
    for i, (utilization, score) in enumerate(shape):
        if percent <= utilization:
            if i == 0:
                return score
            left, low = shape[i - 1]
            return low + divided((score - low) * (percent - left), utilization - left)
    return shape[-1][1]


def capacity_ratio(
    pod: Pod, node: Node, existing: Sequence[Pod], shape: Sequence[Point], weights: Mapping[str, int] | None, init_containers: bool
) -> int:
    """The score by a line; *weights* None: the plain mean of cpu and memory, else the rounded mean of what is above 0."""
    scores = {}
    for resource in weights or ("cpu", "memory"):
        requested, capacity = usage(pod, node, existing, resource, init_containers)
        over = capacity == 0 or requested > capacity
        scores[resource] = on_line(shape, 100 if over else 100 - divided((capacity - requested) * 100, capacity))
    if weights is None:
        return divided(scores["cpu"] + scores["memory"], 2)
    counted = [resource for resource in weights if scores[resource] > 0]
    if not counted:
        return 0
    mean = sum(scores[resource] * weights[resource] for resource in counted) / sum(weights[resource] for resource in counted)
    return math.floor(mean + 0.5)
