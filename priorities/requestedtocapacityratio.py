"""A score for how full the node would be, by a curve that the user can configure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from ..exceptions import PolicyError
from .rule import (
    CPU,
    MAX_PRIORITY,
    MEMORY,
    Batch,
    Cycle,
    Ints,
    Priority,
    Reads,
    Scores,
    Template,
    free_share,
    priority,
    request,
    requested_with,
)

Point = tuple[int, int]
"""Utilization in percent, score from 0 to 10."""
FULL = 100
DEFAULT_SHAPE: tuple[Point, ...] = ((0, MAX_PRIORITY), (FULL, 0))
"""An emptier node is better."""
DEFAULT_RESOURCES = {CPU: 1, MEMORY: 1}


def requested_to_capacity_ratio_of(
    name: str, shape: Sequence[Point], resources: Mapping[str, int] | Iterable[tuple[str, int]] = ()
) -> Priority:
    """The priority *name* for a Policy's ``requestedToCapacityRatioArguments``.

    *shape*: points of a broken line from utilization to score; *resources*: resource -> weight, cpu and
    memory with equal weights where empty; a weight of 0 counts as 1. Raises
    :class:`~kubeclassic.exceptions.PolicyError` with upstream's text for an invalid shape. Upstream:
    pkg/scheduler/algorithm/priorities/requested_to_capacity_ratio.go.
    """
    check_shape(shape)
    weights = {resource: weight or 1 for resource, weight in dict(resources).items()} or DEFAULT_RESOURCES
    line = broken_line(shape)

    @priority(
        name,
        reads=Reads.NODE | Reads.REQUESTS,
        key=lambda pod: tuple(request(pod, resource) for resource in weights),
    )
    def requested_to_capacity_ratio(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
        """Prefer nodes by how full they would be: the line's score for each resource, combined as the release
        does it."""
        scores = []
        for resource in weights:
            free = free_share(requested_with(pod, nodes, resource), nodes.allocatable(resource), FULL)
            # 100 percent where a node has none of the resource, or less than requested.
            scores.append(line[(FULL - free).clip(0, FULL)])
        combined: Scores = cycle.release.ratio_mean(np.stack(scores), np.array([*weights.values()], np.int64))
        return combined

    return requested_to_capacity_ratio


# --- the line -----------------------------------------------------------------------------------------------


def broken_line(shape: Sequence[Point]) -> Ints:
    """The score at each utilization from 0 to 100, with straight lines between the points of *shape*:
    int64[101]."""
    return np.array([_score_at(shape, utilization) for utilization in range(FULL + 1)], np.int64)


def _score_at(shape: Sequence[Point], utilization: int) -> int:
    if utilization <= shape[0][0]:
        return shape[0][1]
    for (left, low), (right, high) in pairwise(shape):
        if utilization <= right:
            # Upstream: the rise is rounded toward zero, so a falling line stays a little higher.
            return low + int((high - low) * (utilization - left) / (right - left))
    return shape[-1][1]


def check_shape(shape: Sequence[Point], best: int = MAX_PRIORITY) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError` with upstream's text where *shape* is not valid."""
    for fault in shape_faults(shape, best):
        raise PolicyError(f"invalid RequestedToCapacityRatioPriority arguments: {fault}")


def shape_faults(
    shape: Sequence[Point], best: int, above_best: str = "score valuses not be"
) -> Iterator[str]:
    """The faults of the points, in upstream's words with their misspelling, *above_best*."""
    if not shape:
        yield "at least one point must be specified"
    for i, ((left, _), (right, _)) in enumerate(pairwise(shape)):
        if left >= right:
            yield f"utilization values must be sorted. Utilization[{i}]=={left} >= Utilization[{i + 1}]=={right}"
    for i, (utilization, score) in enumerate(shape):
        if utilization < 0:
            yield f"utilization values must not be less than 0. Utilization[{i}]=={utilization}"
        if utilization > FULL:
            yield f"utilization values must not be greater than {FULL}. Utilization[{i}]=={utilization}"
        if score < 0:
            yield f"score values must not be less than 0. Score[{i}]=={score}"
        if score > best:
            yield f"{above_best} greater than {best}. Score[{i}]=={score}"


requested_to_capacity_ratio: Priority = requested_to_capacity_ratio_of(
    "RequestedToCapacityRatioPriority", DEFAULT_SHAPE
)
