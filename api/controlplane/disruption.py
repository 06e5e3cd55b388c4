"""The disruption controller: the evictions that a budget allows, from its spec and the pods of a cluster.

Upstream: trySync, countHealthyPods and getExpectedPodCount in pkg/controller/disruption/disruption.go
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from ..meaning import SelectorError, compile_selector
from ..objects import IntOrString, KubeObject, Pod, PodDisruptionBudget, of_kind

MOST_DIGITS = 12
_UNSCALED = frozenset(["DaemonSet", "Job", "Node"])
"""Kinds of controllers without a number of replicas, with which a budget allows nothing."""
Scales = Mapping[tuple[str, str, str], tuple[tuple[str, str, str], int]]
"""Namespace, kind and name of a controller -> those of the one whose replicas count, and their number."""
NO_SCALES: Scales = {}


def is_ready(pod: Pod) -> bool:
    """Whether *pod*'s condition Ready is true; a pod without it, as in a manifest, counts as ready, but not
    one that has yet to start."""
    ready = [condition.status for condition in pod.status.conditions if condition.type == "Ready"]
    return all(status == "True" for status in ready) and bool(ready or pod.status.phase != "Pending")


def with_disruptions(
    budget: PodDisruptionBudget, pods: Iterable[Pod], scales: Scales = NO_SCALES
) -> PodDisruptionBudget:
    """*budget* with the disruptions that it allows where the cluster has these *pods*. A pod that waits for a
    node is expected, and not healthy."""
    try:
        matches = compile_selector(budget.selector)
    except SelectorError:
        return budget
    there = [pod for pod in pods if pod.namespace == budget.namespace]
    own = [pod for pod in there if matches(pod.labels)]
    healthy = sum(
        bool(pod.node_name) and is_ready(pod) and not (pod.is_terminal or pod.is_terminating) for pod in own
    )
    most = budget.spec.max_unavailable
    least = budget.spec.min_available
    by_scale = most is not None or isinstance(least, str)
    expected = _scale(own, there, scales) if by_scale else len(own)
    desired = _number(least, expected, expected) if most is None else expected - _number(most, expected, 0)
    if most is None and least is None:
        expected = desired = 0
    status = replace(
        budget.status,
        disruptions_allowed=max(healthy - max(desired, 0), 0) if expected else 0,
        current_healthy=healthy,
        desired_healthy=max(desired, 0),
    )
    return replace(budget, status=status)


def _scale(own: Iterable[Pod], there: Iterable[Pod], scales: Scales) -> int:
    """The replicas of all controllers of the pods *own*, as *scales* has them, or as many as are *there*; 0
    if one has no such number. Bare pods do not count."""
    counts = Counter(
        (owner.kind, owner.name)
        for pod in there
        if (owner := pod.controller) is not None
        and not pod.is_terminal
        # A pod that is being deleted has been replaced already, except by a StatefulSet.
        and (owner.kind == "StatefulSet" or not pod.is_terminating)
    )
    replicas = dict[tuple[str, str, str], int]()
    for pod in own:
        owner = pod.controller
        if owner is None:
            continue
        if owner.kind in _UNSCALED:
            return 0
        place = (pod.namespace, owner.kind, owner.name)
        key, number = scales.get(place, (place, counts[place[1:]]))
        replicas[key] = number
    return sum(replicas.values())


def with_budgets(
    objects: Sequence[KubeObject], existing: Iterable[KubeObject] = (), scales: Scales = NO_SCALES
) -> tuple[KubeObject, ...]:
    """*objects* with the status of the budgets that have none; *existing*: what the cluster has."""
    if all(item.status.disruptions_allowed is not None for item in of_kind(PodDisruptionBudget, objects)):
        return tuple(objects)
    pods = of_kind(Pod, (*existing, *objects))
    return tuple(
        with_disruptions(item, pods, scales)
        if isinstance(item, PodDisruptionBudget) and item.status.disruptions_allowed is None
        else item
        for item in objects
    )


def _number(value: IntOrString | None, whole: int, otherwise: int) -> int:
    """A number, or a share of *whole*, rounded up; *otherwise* for any other value."""
    digits = (text := str(value)).removesuffix("%")
    if not (digits.isascii() and digits.isdecimal() and len(digits) < MOST_DIGITS):
        return otherwise
    return -(-int(digits) * whole // 100) if digits != text else int(digits)
