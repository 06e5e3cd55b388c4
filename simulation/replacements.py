"""The pods that owners make anew in place of evicted ones: a ReplicaSet, a StatefulSet or a Job does, a bare pod is not replaced."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

import attrs
from msgspec.structs import replace

from ..api.inventory import why_not_waiting
from ..api.objects import Pod
from ..api.objects.metadata import ObjectMeta
from ..api.objects.pods import PodStatus
from .scenario import Scenario

KUBELET = "Node"
"""The kind of owner that a static pod has: it comes back on its own node, not through the scheduler."""
SAME_NAME = "StatefulSet"


@attrs.define(eq=False, repr=False)
class Replacements:
    """Makes replacements, and gives them names that no other pod has."""

    taken: set[str]
    """Keys of pods."""
    scheduler_names: frozenset[str] | None = None
    """Only pods that ask for one of these are made, or with None all."""
    recreates_bare: bool = False
    """Pods without a controller are made again too, under their own names."""
    _made: int = 0
    _tried: dict[str, int] = attrs.field(factory=dict)
    """``namespace/owner`` -> a number below which none is free."""

    @classmethod
    def beside(cls, pods: Iterable[Pod], scheduler_names: frozenset[str] | None = None) -> Replacements:
        """For a cluster that has *pods*, with or without nodes."""
        return cls({pod.key for pod in pods}, scheduler_names)

    @classmethod
    def of_scenario(cls, scenario: Scenario, scheduler_names: frozenset[str]) -> Replacements:
        """For the pods of *scenario*."""
        return cls.beside((item for item in (*scenario.objects, *scenario.pending) if isinstance(item, Pod)), scheduler_names)

    def of(self, evicted: Pod) -> Pod | None:
        """The new pod in place of *evicted*, without a node, nomination and times; None if its owner makes none, or if it has none.

        A StatefulSet's pod keeps its name; others are called ``OWNER-NUMBER``, with the first number that is free.
        """
        owner = evicted.metadata.controller
        if (owner is None and not self.recreates_bare) or (owner is not None and owner.kind == KUBELET):
            return None
        self._made += 1
        keeps_name = owner is None or owner.kind == SAME_NAME
        name = evicted.name if keeps_name or owner is None else self._free_name(evicted.metadata.namespace, owner.name)
        made = _new(evicted, name, f"{evicted.metadata.uid or evicted.key}-replacement-{self._made}")
        if why_not_waiting(made, self.scheduler_names) is not None:
            return None
        self.taken.add(made.key)
        return made

    def take_back(self, made: Pod) -> None:
        """*made* will not be: its name is free again, unless it was that of the evicted pod."""
        owner = made.metadata.controller
        if owner is not None and owner.kind != SAME_NAME:
            self.taken.discard(made.key)
            self._tried.pop(f"{made.namespace}/{owner.name}", None)

    def _free_name(self, namespace: str, owner: str) -> str:
        before = f"{namespace or 'default'}/{owner}"
        number = next(number for number in count(self._tried.get(before, 0)) if f"{before}-{number}" not in self.taken)
        self._tried[before] = number
        return f"{owner}-{number}"


def _new(evicted: Pod, name: str, uid: str) -> Pod:
    old = evicted.metadata
    metadata = ObjectMeta(
        name=name, namespace=old.namespace, uid=uid, labels=old.labels, annotations=old.annotations, owner_references=old.owner_references
    )
    return replace(evicted, metadata=metadata, spec=replace(evicted.spec, node_name=""), status=PodStatus())
