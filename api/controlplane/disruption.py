"""The disruption controller: the evictions that a budget allows, from its spec and the pods of a cluster.

Upstream: trySync, countHealthyPods and getExpectedPodCount in pkg/controller/disruption/disruption.go
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ..meaning import SelectorError, compile_selector
from ..objects import IntOrString, KubeObject, Pod, PodDisruptionBudget, of_kind

MOST_DIGITS = 12
_UNSCALED = frozenset(["DaemonSet", "Job", "Node"])
"""Kinds of controllers without a number of replicas, with which a budget allows nothing."""


def is_ready(pod: Pod) -> bool:
    """Whether *pod*'s condition Ready is true; a pod without it, as in a manifest, counts as ready."""
    return all(condition.status == "True" for condition in pod.status.conditions if condition.type == "Ready")


def with_disruptions(budget: PodDisruptionBudget, pods: Iterable[Pod]) -> PodDisruptionBudget:
    """*budget* with the disruptions that it allows where the cluster has these *pods*. A pod that waits for a
    node is expected, and not healthy."""
    try:
        matches = compile_selector(budget.selector)
    except SelectorError:
        return budget
    own = [
        pod
        for pod in pods
        if pod.namespace == budget.namespace and not pod.is_terminal and matches(pod.labels)
    ]
    expected = len(own)
    healthy = sum(bool(pod.node_name) and is_ready(pod) and not pod.is_terminating for pod in own)
    most = budget.spec.max_unavailable
    least = budget.spec.min_available
    if most is not None or isinstance(least, str):
        # The replicas of their controllers: a pod that is being deleted has been replaced already, and bare
        # pods do not count.
        kinds = [
            owner.kind
            for pod in own
            if (owner := pod.controller) is not None
            and (owner.kind == "StatefulSet" or not pod.is_terminating)
        ]
        expected = len(kinds) if _UNSCALED.isdisjoint(kinds) else 0
    unavailable = (
        expected - _number(least, expected, expected) if most is None else _number(most, expected, 0)
    )
    desired = max(expected - unavailable, 0)
    allowed = 0 if not expected or (most is None and least is None) else max(healthy - desired, 0)
    status = replace(
        budget.status, disruptions_allowed=allowed, current_healthy=healthy, desired_healthy=desired
    )
    return replace(budget, status=status)


def with_budgets(
    objects: Sequence[KubeObject], existing: Iterable[KubeObject] = ()
) -> tuple[KubeObject, ...]:
    """*objects* with the status of the budgets that have none; *existing*: what the cluster has."""
    if all(item.status.disruptions_allowed is not None for item in of_kind(PodDisruptionBudget, objects)):
        return tuple(objects)
    pods = of_kind(Pod, (*existing, *objects))
    return tuple(
        with_disruptions(item, pods)
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
