"""What the scheduling queue knows of a pod, and the place where it parks those that fit nowhere for now.

Upstream: PodInfo and UnschedulablePodsMap in pkg/scheduler/internal/queue/scheduling_queue.go.
"""

from __future__ import annotations

from typing import NamedTuple

import attrs

from ...api.meaning.labels import SelectorError, compile_selector
from ...api.objects import Pod, PodAffinityTerm


class Pending(NamedTuple):
    """How many pods wait where."""

    active: int
    backoff: int
    unschedulable: int

    @property
    def total(self) -> int:
        return sum(self)


class Queued(NamedTuple):
    """A pod in the queue."""

    pod: Pod
    since: float
    """When it entered the queue; it stays when the pod is moved or updated there."""

    def updated(self, pod: Pod) -> Queued:
        """The same place in time for a newer object."""
        return Queued(pod, self.since)


def affinity_terms(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    """The required pod affinity terms of *pod*."""
    affinity = pod.spec.affinity
    return () if affinity is None or affinity.pod_affinity is None else affinity.pod_affinity.required


def wants(pod: Pod, other: Pod) -> bool:
    """Whether any required affinity term of *pod* is about *other*, wherever that is; a selector that is not valid is about nobody."""
    return any(_is_about(term, pod, other) for term in affinity_terms(pod))


def _is_about(term: PodAffinityTerm, owner: Pod, other: Pod) -> bool:
    if other.namespace not in (term.namespaces or (owner.namespace,)):
        return False
    try:
        return compile_selector(term.label_selector)(other.labels)
    except SelectorError:
        return False


@attrs.define(eq=False)
class Parked:
    """The pods that were found unschedulable, by key, in the order in which they came.

    Upstream: the order is that of a map; here they are handed out in ascending order of their keys.
    """

    _all: dict[str, Queued] = attrs.field(factory=dict)
    _wanting: dict[str, Queued] = attrs.field(factory=dict)
    """Those with required pod affinity."""

    def __len__(self) -> int:
        return len(self._all)

    def get(self, key: str) -> Queued | None:
        return self._all.get(key)

    def oldest(self) -> Queued | None:
        """The pod that entered the queue first."""
        return next(iter(self._all.values()), None)

    def put(self, item: Queued) -> None:
        """Park a pod, or replace the one of the same key where it is."""
        key = item.pod.key
        self._all[key] = item
        if affinity_terms(item.pod):
            self._wanting[key] = item
        else:
            self._wanting.pop(key, None)

    def drop(self, key: str) -> Queued | None:
        """Take out a pod; None where it is not here."""
        self._wanting.pop(key, None)
        return self._all.pop(key, None)

    def all(self) -> list[Queued]:
        return _by_key(self._all)

    def that_want(self, other: Pod) -> list[Queued]:
        """The pods with a required affinity to *other*."""
        return _by_key({key: item for key, item in self._wanting.items() if wants(item.pod, other)})

    def older_than(self, time: float) -> list[Queued]:
        """The pods that entered the queue before *time*."""
        return _by_key({key: item for key, item in self._all.items() if item.since < time})


def _by_key(items: dict[str, Queued]) -> list[Queued]:
    return [items[key] for key in sorted(items)]
