"""A pod in the queue, with what the queue knows of its attempts. Upstream: pkg/scheduler/framework/types.go QueuedPodInfo."""

from __future__ import annotations

import attrs

from ...api.meaning.labels import SelectorError, compile_selector
from ...api.objects import Namespace, Pod, PodAffinityTerm
from ...core.cluster.listings import Listing
from ...core.queue.parked import affinity_terms


@attrs.define(eq=False)
class QueuedPod:
    """One waiting pod. Times are seconds of the queue's clock."""

    pod: Pod
    timestamp: float
    """When it was added; set anew whenever an attempt failed."""
    attempts: int = 0
    plugins: frozenset[str] = frozenset()
    """The plugins that turned it down last; none: anything may let it fit."""
    is_gated: bool = False
    """A PreEnqueue plugin holds it back."""

    def wait(self, initial: float, maximum: float) -> float:
        """Seconds from its last failure to the next attempt: twice as many with each attempt."""
        seconds = initial
        for _ in range(1, self.attempts):
            if seconds > maximum - seconds:
                return maximum
            seconds += seconds
        return seconds


def wants(pod: Pod, other: Pod, namespaces: Listing[Namespace]) -> bool:
    """Whether any required affinity term of *pod* is about *other*, wherever that is; a selector that is not valid is about nobody."""
    return any(_is_about(term, pod, other, namespaces) for term in affinity_terms(pod))


def _is_about(term: PodAffinityTerm, owner: Pod, other: Pod, namespaces: Listing[Namespace]) -> bool:
    try:
        return _in_namespaces(term, owner, other, namespaces) and compile_selector(term.label_selector)(other.labels)
    except SelectorError:
        return False


def _in_namespaces(term: PodAffinityTerm, owner: Pod, other: Pod, namespaces: Listing[Namespace]) -> bool:
    if not term.namespaces and term.namespace_selector is None:
        return other.namespace == owner.namespace
    if other.namespace in term.namespaces:
        return True
    found = namespaces.get(other.namespace)
    return compile_selector(term.namespace_selector)({} if found is None else found.labels)
