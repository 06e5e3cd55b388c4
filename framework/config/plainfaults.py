"""The faults of arguments as the first releases with such arguments word them: the first one alone, without the path of the field.

Upstream: pkg/scheduler/apis/config/validation/validation_pluginargs.go up to 1.20; before it the plugins' own constructors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...api.meaning.label_syntax import quoted
from . import args as a

MOST = 100
TOP = 10


def shape_fault(shape: Sequence[a.ShapePoint]) -> Iterator[str]:
    """The first fault of the points of a line."""
    if not shape:
        yield "at least one point must be specified"
        return
    for i, (left, right) in enumerate(pairwise(shape)):
        if left.utilization >= right.utilization:
            pair = f"Utilization[{i}]=={left.utilization} >= Utilization[{i + 1}]=={right.utilization}"
            yield f"utilization values must be sorted. {pair}"
            return
    for i, point in enumerate(shape):
        for name, value, most in (("Utilization", point.utilization, MOST), ("Score", point.score, TOP)):
            if not 0 <= value <= most:
                bound = "less than 0" if value < 0 else f"greater than {most}"
                yield f"{name.lower()} values must not be {bound}. {name}[{i}]=={value}"
                return


def ratio_fault(args: a.RequestedToCapacityRatioArgs) -> Iterator[str]:
    """The first fault of RequestedToCapacityRatio's arguments."""
    found = list(shape_fault(args.shape))
    weightless = (resource for resource in args.resources if resource.weight < 1)
    found += [f"resource {resource.name} weight {resource.weight} must not be less than 1" for resource in weightless]
    yield from found[:1]


def weight_fault(resources: Sequence[a.ResourceSpec]) -> Iterator[str]:
    """The first fault of the weights of NodeResourcesLeastAllocated and NodeResourcesMostAllocated."""
    for resource in resources:
        if not 0 < resource.weight <= MOST:
            wanted = "a positive value" if resource.weight <= 0 else "less than 100"
            yield f"resource Weight of {resource.name} should be {wanted}, got {resource.weight}"
            return


def conflict_fault(args: a.NodeLabelArgs) -> Iterator[str]:
    """The first label that NodeLabel's arguments want both present and absent."""
    sides = (
        (args.present_labels, args.absent_labels),
        (args.present_labels_preference, args.absent_labels_preference),
    )
    for present, absent in sides:
        for label in absent:
            if label in present:
                lists = f"the present([{' '.join(present)}]) and absent([{' '.join(absent)}]) label list"
                yield f"detecting at least one label (e.g., {quoted(label)}) that exist in both {lists}"
                return
