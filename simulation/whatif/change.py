"""A change that might help, the changed objects as edits make them, and a suggestion: a change that was tried and does help."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import attrs
import yaml

from ...api.load import Loaded
from ...api.objects import KubeObject, Node, Pod
from ...api.objects.quantity import Quantity
from ...api.record import Names, Record, says
from ...api.words import is_bytes
from ...framework.schedulerspec import SchedulerSpec
from ..edits.apply import Edits
from ..edits.paths import EditError

ChangeKind = Literal[
    "schedulingGates", "request", "toleration", "preference", "nodeSelector", "nodeAffinity", "spread", "podAffinity", "podAntiAffinity",
    "hostPort",
    "uncordon", "taint", "label", "allocatable", "device", "move", "otherAntiAffinity", "priority", "delete", "addNode", "weight",
    "preemption", "gate", "rule",
]  # fmt: skip
DISTURBS: Mapping[ChangeKind, int] = {
    "schedulingGates": 10, "request": 11, "toleration": 12, "preference": 13, "nodeSelector": 14, "nodeAffinity": 15, "spread": 16,
    "podAffinity": 17, "podAntiAffinity": 18, "hostPort": 19,
    "uncordon": 20, "taint": 21, "label": 22, "allocatable": 23, "device": 24,
    "move": 30, "otherAntiAffinity": 31, "priority": 32, "delete": 33,
    "addNode": 40,
    "weight": 50, "preemption": 51, "gate": 52, "rule": 53,
}  # fmt: skip
"""Kind of change -> how much it disturbs. The tens: the pod alone, a node, other pods, one more node, the scheduler."""


@attrs.frozen(kw_only=True)
class WhatIfChange:
    """One change of the cluster or of the pod. What is None or empty stays as it is."""

    kind: ChangeKind
    words: str
    """What changes, in words."""
    patch: tuple[str, ...]
    """The same as ``--set`` takes it, or in words where no edit says it."""
    pod: Pod | None = None
    """The pod that is asked about, as it would be."""
    nodes: tuple[Node, ...] = ()
    """Nodes, as they would be, and new ones."""
    pods: tuple[Pod, ...] = ()
    """Other pods on nodes, as they would be, and new ones."""
    objects: tuple[KubeObject, ...] = ()
    """New objects of other kinds."""
    gone: tuple[Pod, ...] = ()
    """Pods that are deleted."""
    size: float = 0.0
    """Orders the changes of a kind: the smaller one first."""
    evicts: bool = False
    """It is enough that room is made: pods may have to leave."""
    corrects: bool = False
    """It puts right what nothing in the cluster is called, and comes before all others."""

    @property
    def disturbs(self) -> int:
        """How much it disturbs; see :data:`DISTURBS`."""
        return min(DISTURBS.values()) if self.corrects else DISTURBS[self.kind]


class Suggestion(Record, kw_only=True):
    """A change after which the pod has a host."""

    change: Annotated[str, says("What changes, in words.")]
    patch: Annotated[Names, says("The same as --set takes it, or in words where no edit says it.")]
    host: Annotated[str, says("The node that the pod gets after it.")]
    kind: ChangeKind
    disturbs: Annotated[
        int, says("How much it disturbs. The tens: 1 the pod alone, 2 a node, 3 other pods, 4 one more node, 5 the scheduler.")
    ]
    victims: Annotated[Names, says("The pods that have to leave.")] = ()
    verified: Annotated[bool, says("The scheduler was asked after the change, and answered with host.")] = True
    evicted_by: Annotated[str | None, says("The pod that takes its place later; null: it stays.")] = None


@attrs.frozen
class Helpful:
    """A change that was tried and helps, and what it takes to try it again."""

    suggestion: Suggestion
    change: WhatIfChange
    spec: SchedulerSpec | None = None
    """The scheduler's spec, if that is what changes."""

    @classmethod
    def of(cls, change: WhatIfChange, host: str, victims: tuple[str, ...] = ()) -> Helpful:
        """That *change* makes *host* the pod's node."""
        suggestion = Suggestion(
            change=change.words, patch=change.patch, host=host, kind=change.kind, disturbs=change.disturbs, victims=victims
        )
        return cls(suggestion, change)

    @property
    def rank(self) -> tuple[int, bool, int, float]:
        """Orders suggestions: by the tens of how much they disturb, then those after which the pod stays, then by how much and by size."""
        found = self.suggestion
        return found.disturbs // 10, found.evicted_by is not None, found.disturbs, self.change.size


# --- objects after edits ----------------------------------------------------------------------------------------------


@attrs.frozen
class SpecPatcher:
    """Edits single objects as ``--set`` does."""

    defaults: bool = True
    classes: tuple[KubeObject, ...] = ()
    """PriorityClasses, which edits of priorities look up."""
    priorities: bool = True
    """Whether gate PodPriority is on."""

    def pod(self, pod: Pod, *changes: str) -> tuple[str, Pod] | None:
        """The edit of *pod* in words, and the pod after it; None if the edit is refused, or changes nothing."""
        text = _text("pod", pod.key, changes)
        try:
            (after, *_), told = Edits.parse([text], defaults=self.defaults).of_pods([pod, *self.classes], priorities=self.priorities)
        except EditError:
            return None
        return (text, after) if isinstance(after, Pod) and told[0].changed else None

    def node(self, node: Node, *changes: str) -> tuple[str, Node] | None:
        """The edit of *node* in words, and the node after it; None if the edit is refused, or changes nothing."""
        text = _text("node", node.name, changes)
        try:
            (loaded,), told = Edits.parse([text], defaults=self.defaults).of_loaded([Loaded((node,))])
        except EditError:
            return None
        (after,) = loaded.objects
        return (text, after) if isinstance(after, Node) and told[0].changed else None


def _text(kind: str, name: str, changes: Iterable[str]) -> str:
    return " ".join([kind, name, *map(_word, changes)])


def _word(change: str) -> str:
    """*change* as one word; quoted only if that is needed."""
    if not set(change) & set(" '\"\\\t\n"):
        return change
    return shlex.quote(change) if set(change) & set('"\\') else f'"{change}"'


def written(value: Mapping[str, Any]) -> str:
    """*value* as YAML on one line.

    >>> written({"weight": 1, "values": ["a"]})
    '{weight: 1, values: [a]}'
    """
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1 << 20).strip()


def amount(resource: str, number: int) -> str:
    """A number of millicores, bytes or pieces, exact, as manifests have it.

    >>> amount("cpu", 1500), amount("cpu", 2000), amount("memory", 3 * 2**29), amount("memory", 1000), amount("nvidia.com/gpu", 1024)
    ('1500m', '2', '1536Mi', '1000', '1024')
    """
    if resource == "cpu":
        return str(Quantity.parse(f"{number}m"))
    if is_bytes(resource):
        return str(Quantity.parse(f"{number // 1024}Ki")) if number % 1024 == 0 else str(number)
    return str(number)
