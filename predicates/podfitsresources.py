"""Is there room for the pod on the node?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import attrs
import numpy as np

from .rule import (
    NATIVE,
    PODS,
    Batch,
    Cycle,
    Failures,
    Ints,
    Reads,
    Reason,
    Reasons,
    StateKey,
    Template,
    insufficient,
    is_extended_resource,
    predicate,
    workspace,
)


@attrs.frozen(eq=False)
class RequestedAmounts:
    """The needs of a pod on a node."""

    resources: tuple[str, ...]
    """``pods``, and then those that are checked."""
    reasons: Sequence[Reasons]
    """The reasons against a node that has too little of each."""
    amounts: Ints
    """The amount of each that the pod takes: int64[len(resources), 1]."""

    @classmethod
    def of(
        cls, requests: Mapping[str, int], resources: tuple[str, ...], too_many: Reason
    ) -> RequestedAmounts:
        """The needs of a pod with *requests* where *resources* are checked; *too_many*: the reason against a
        node that has no place for another pod."""
        amounts = np.array([1, *[requests.get(name, 0) for name in resources]], np.int64)
        return cls((PODS, *resources), _reasons(resources, too_many), amounts.reshape(-1, 1))


@lru_cache(1 << 10)
def _reasons(resources: tuple[str, ...], too_many: Reason) -> Sequence[Reasons]:
    """The reasons against a node that has too little of pods, and of each of *resources*."""
    return (too_many,), *[(insufficient(name),) for name in resources]


_SOUGHT: Mapping[bool, StateKey[RequestedAmounts]] = {
    True: StateKey("sought resources"),
    False: StateKey("sought resources without metadata"),
}
"""Whether there is predicate metadata -> a pod's needs."""


@predicate(
    "PodFitsResources", reads=Reads.NODE | Reads.REQUESTS, key=lambda pod: frozenset(pod.requests.items())
)
def pod_fits_resources(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes without room for one more pod, or with too little left of a requested resource.

    If a pod requests anything, cpu, memory and ephemeral storage are checked, and each scalar that it names.
    The reasons come in this order, scalars by name. Upstream:
    pkg/scheduler/algorithm/predicates/predicates.go PodFitsResources.
    """
    slot = _SOUGHT[cycle.has_metadata]
    sought = pod.notes.get(slot)
    if sought is None:
        # Upstream: the resources that extenders manage are part of the predicate metadata; without metadata
        # none is ignored.
        managed = cycle.algorithm.ignored_resources if cycle.has_metadata else ()
        checked = tuple(
            name
            for name in checked_resources(pod.requests)
            if name not in managed or not is_extended_resource(name)
        )
        sought = pod.notes[slot] = RequestedAmounts.of(pod.requests, checked, insufficient(PODS))
    counted = nodes.counted(sought.resources)
    # Upstream: the sum wraps around at 2**63.
    if nodes.rows is None:
        requested = np.add(counted, sought.amounts, workspace(nodes, "counted", len(sought.resources)))
    else:
        requested = counted + sought.amounts
    return Failures.by_row(sought.reasons, requested > nodes.limits_of(sought.resources))


def checked_resources(requests: Mapping[str, int]) -> tuple[str, ...]:
    """The resources to look at, in the order of the reasons, scalars by name; none for a pod that requests
    nothing."""
    scalars = sorted(requests.keys() - set(NATIVE))
    # Upstream: if anything is requested, even 0 of a scalar, a node that is overcommitted in a native
    # resource fails too.
    return (*NATIVE, *scalars) if scalars or any(requests.values()) else ()
