"""Is there room for the pod on the node?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cache

import numpy as np

from ..core.arrays.batch import Batch
from ..core.arrays.types import Ints, Mask
from ..core.cycle import Cycle
from ..core.failures import Failures, Reason
from ..core.pods.notes import Slot
from ..core.pods.requests import NATIVE, PODS, is_extended_resource
from ..core.pods.template import Template
from ..core.rule import Reads
from .reasons import insufficient
from .rule import predicate

TOO_MANY_PODS = insufficient(PODS)
Sought = tuple[list[Reason], Ints]
_CHECKED: Mapping[bool, Slot[tuple[str, ...]]] = {True: Slot("checked resources"), False: Slot("checked resources without metadata")}
"""By whether there is predicate metadata."""


def _asked(pod: Template) -> Hashable:
    return frozenset(pod.requests.items())


@predicate("PodFitsResources", reads=Reads.NODE | Reads.REQUESTS, key=_asked)
def pod_fits_resources(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
    """Turn down nodes that have no place for one more pod, or too little left of a resource that *pod* requests.

    If a pod requests anything, cpu, memory and ephemeral storage are checked, and each scalar that it names. The reasons come in this
    order, scalars by name.
    Upstream: pkg/scheduler/algorithm/predicates/predicates.go PodFitsResources.
    """
    found = [(TOO_MANY_PODS, nodes.pod_count >= nodes.max_pods)]
    return Failures.all_of(found + shortages(pod, _checked(pod, cycle), nodes))


def shortages(pod: Template, resources: tuple[str, ...], nodes: Batch) -> list[tuple[Reason, Mask]]:
    """For each of *resources*: where less of it is left than *pod* requests, also if *pod* requests none of it: bool[n]."""
    if not resources:
        return []
    reasons, asked = sought(pod, resources)
    # Upstream: the sum wraps around at 2**63.
    return list(zip(reasons, nodes.requesteds(resources) + asked > nodes.allocatables(resources), strict=True))


@cache
def _slot_of(resources: tuple[str, ...]) -> Slot[Sought]:
    return Slot(f"sought {' '.join(resources)}")


def sought(pod: Template, resources: tuple[str, ...]) -> Sought:
    """For each of *resources* the reason against a node without it, and how much *pod* requests: int64[len(resources), 1]."""
    slot = _slot_of(resources)
    found = pod.notes.get(slot)
    if found is None:
        asked = np.array([[pod.requests.get(resource, 0)] for resource in resources], np.int64)
        found = pod.notes[slot] = [insufficient(resource) for resource in resources], asked
    return found


def checked_resources(pod: Template) -> tuple[str, ...]:
    """The resources to look at, in the order of the reasons, scalars by name; none for a pod that requests nothing."""
    scalars = sorted(pod.requests.keys() - set(NATIVE))
    # Upstream: if anything is requested, even 0 of a scalar, a node that is overcommitted in a native resource fails too.
    return (*NATIVE, *scalars) if scalars or any(pod.requests.values()) else ()


def _checked(pod: Template, cycle: Cycle) -> tuple[str, ...]:
    slot = _CHECKED[cycle.has_metadata]
    found = pod.notes.get(slot)
    if found is None:
        found = pod.notes[slot] = tuple(name for name in checked_resources(pod) if not _is_ignored(name, cycle))
    return found


def _is_ignored(resource: str, cycle: Cycle) -> bool:
    """Whether *resource* is left to an extender, as only extended resources can be."""
    # Upstream: what extenders manage is part of the predicate metadata; without metadata nothing is ignored.
    return cycle.has_metadata and resource in cycle.algorithm.ignored_resources and is_extended_resource(resource)
