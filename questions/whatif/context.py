"""A change that might help, and trials of changes at the moment when the pod's turn comes. After a trial all is as it was before."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import attrs
import yaml

from ...api.load import Loaded
from ...api.objects import KubeObject, Node, Pod, ResourceSlice
from ...api.record import UNSET, Count, Names, Record, UnsetType, says
from ...api.words import count_of, listed
from ...core.decision.decision import Decision
from ...core.engine import Engine
from ...core.pods.template import Entry
from ...core.run import Run
from ...simulation.edits import EditError, Edits
from ...simulation.explain.explain import freed
from ...simulation.explain.values import NodeReport
from ...simulation.scenario import Scenario
from ...simulation.simulate import Simulation

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
COSTLY = 6
"""The group of the suggestions that cost other pods their node, or do not last."""


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
    replicas: tuple[Pod, ...] = ()
    """The other pods of the pod's controller, as they would be: they have one template."""
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


class Effect(Record):
    """What a change does to all pods in the end, once each has had its turn."""

    pods: Annotated[Count, says("Pods that have a turn.")]
    placed: Annotated[Count, says("How many of them have a node after the change.")]
    placed_before: Annotated[Count, says("How many have one without it.")]
    without_node: Annotated[Names, says("Other pods that find a node without the change, and none after it.")]
    evicted: Annotated[Names, says("Other pods that are evicted after the change, and not without it.")]
    spared: Annotated[Names, says("Pods of other controllers that have a node in the end after the change, and none without it.")] = ()

    @property
    def words(self) -> str:
        """In a sentence.

        >>> Effect(5, 3, 4, ("shop/b", "shop/c"), ("shop/a",), ("shop/d",)).words
        'no node for shop/b and shop/c, shop/a evicted, 1 other spared; 3 of 5 pods placed, 4 before'
        """
        harmed = [f"no node for {listed(self.without_node)}"] if self.without_node else []
        harmed += [f"{listed(self.evicted)} evicted"] if self.evicted else []
        harmed += [f"{count_of(len(self.spared), 'other')} spared"] if harmed and self.spared else []
        counts = f"{self.placed:,} of {count_of(self.pods, 'pod')} placed, {self.placed_before:,} before"
        return "; ".join(filter(None, [", ".join(harmed), counts]))


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
    taken_by: Annotated[
        str | UnsetType,
        says("The pod before it that would take the room, if the change were made before anything runs; empty: the room goes otherwise."),
    ] = UNSET
    placed: Annotated[
        Count | UnsetType, says("Of a workload: how many of its pods have a node after the change, once all have had their turn.")
    ] = UNSET
    effect: Annotated[Effect | UnsetType, says("What it does to the other pods; absent where none has a turn.")] = UNSET

    @property
    def leaving(self) -> Names:
        """The victims, where no effect says what becomes of all pods."""
        return () if self.effect else self.victims

    @property
    def is_costly(self) -> bool:
        """Whether it costs more of the others their node than it spares, or does not last."""
        effect = self.effect
        harms = len(effect.without_node + effect.evicted) > len(effect.spared) if effect else bool(self.victims)
        return harms or self.kind == "delete" or self.evicted_by is not None or self.taken_by is not UNSET

    @property
    def group(self) -> int:
        """The tens of how much it disturbs; costly ones come after all others."""
        return COSTLY if self.is_costly else self.disturbs // 10


@attrs.frozen
class Helpful:
    """A change that was tried and helps, and what it takes to try it again."""

    suggestion: Suggestion
    change: WhatIfChange
    begun: Simulation | None = None
    """At the pod's turn by a changed scheduler, if that is what changes."""
    is_enough: bool = True
    """Whether all pods of the workload have a node after it."""

    @classmethod
    def of(cls, change: WhatIfChange, host: str, victims: tuple[str, ...] = ()) -> Helpful:
        """That *change* makes *host* the pod's node."""
        suggestion = Suggestion(
            change=change.words, patch=change.patch, host=host, kind=change.kind, disturbs=change.disturbs, victims=victims
        )
        return cls(suggestion, change)

    @property
    def rank(self) -> tuple[int, bool, int, float]:
        """Orders suggestions: by their groups, then those that are enough for all pods of a workload, then by how much and by size."""
        return self.suggestion.group, not self.is_enough, self.suggestion.disturbs, self.change.size


# --- objects after edits --------------------------------------------------------------------------------------------


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

    def replicas(self, pods: Sequence[Pod], name: str, *changes: str) -> tuple[list[str], list[Pod]]:
        """The edits of all *pods*, which *name* means, in words, and the pods after it; if there is no name, or one refuses, one by one."""
        text = _text("pod", name, changes)
        try:
            edits = Edits.parse([text] if name else [], defaults=self.defaults)
            after, _ = edits.of_pods([*pods, *self.classes], priorities=self.priorities)
        except EditError:
            name = ""
        if name:
            return [text], [pod for pod in after if isinstance(pod, Pod)]
        made = [one for pod in pods if (one := self.pod(pod, *changes)) is not None]
        return [text for text, _ in made], [pod for _, pod in made]

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


def changed_scenario(scenario: Scenario, pod: Pod, change: WhatIfChange) -> Scenario:
    """*scenario* with *change* made before anything runs; *pod* is the one that is asked about."""
    gone = {one.key for one in change.gone}
    new: dict[tuple[str, str], KubeObject] = {(one.kind, one.key): one for one in (*change.nodes, *change.objects, *change.pods)}
    kept = (one for one in scenario.objects if not (isinstance(one, Pod) and one.key in gone))
    objects: list[KubeObject] = [new.pop((one.kind, one.key), one) for one in kept]
    bound = {key for kind, key in new if kind == Pod.kind}
    pending = [one for one in scenario.pending if one.key not in gone and one.key not in bound]
    replicas = {one.key: one for one in change.replicas}
    edited = {pod.key: pod if change.pod is None else change.pod, **{key: freed(one) for key, one in replicas.items()}}
    return attrs.evolve(
        scenario,
        objects=(
            *(replicas.get(one.key, one) if isinstance(one, Pod) else one for one in objects),
            *sorted(new.values(), key=lambda one: isinstance(one, Pod)),
        ),
        pending=tuple(edited.get(one.key, one) for one in pending),
    )


def smallest(low: int, high: int, helps: Callable[[int], bool]) -> int | None:
    """The smallest number above *low* that helps, as all greater ones do; None if *high* does not."""
    if not helps(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if helps(middle) else (middle, high)
    return high


HOSTNAME = "kubernetes.io/hostname"


@attrs.define(eq=False)
class WhatIfContext:
    """*run* at the moment when it is the turn of *pod*, which is not decided yet."""

    run: Run
    pod: Pod
    patcher: SpecPatcher
    want: str | None = None
    """The node that the pod should get; None: any."""
    reports: tuple[NodeReport, ...] = ()
    """Each node's part in the decision before any change, those that do not fit with the nearest first."""
    siblings: tuple[Pod, ...] = ()
    """The other pods of its controller, on nodes or not: what changes the pod's template changes them too."""
    replicas_name: str = ""
    """The pattern that means it and its siblings, and no other pod; empty: there is none."""
    begun: Simulation | None = None
    """What *run* is the run of, where it can go on."""
    tried: int = 0

    def edited(self, pod: Pod, siblings: Sequence[Pod], *changes: str) -> tuple[tuple[str, ...], Pod, tuple[Pod, ...]] | None:
        """The edits of *pod* and its *siblings* in words, and these after it; None if that of the pod is refused, or changes nothing."""
        made = self.patcher.pod(pod, *changes)
        if made is None or not siblings:
            return None if made is None else ((made[0],), made[1], ())
        texts, replicas = self.patcher.replicas(siblings, self.replicas_name, *changes)
        return tuple(texts if self.replicas_name and len(texts) == 1 else (made[0], *texts)), made[1], tuple(replicas)

    @property
    def engine(self) -> Engine:
        """The scheduler."""
        return self.run.engine

    # --- what is there ----------------------------------------------------------------------------------------------

    def node(self, name: str) -> Node | None:
        """The node called *name*."""
        return self.engine.node(name)

    def targets(self) -> Iterator[tuple[NodeReport, Node]]:
        """The nodes that a change could make the host, the nearest to fitting first: those that do not fit, or the one that is wanted."""
        for report in self.reports:
            node = self.node(report.name)
            if node is not None and (report.name == self.want if self.want is not None else not report.fits):
                yield report, node

    def on(self, name: str) -> list[Entry]:
        """The pods on a node."""
        table = self.engine.fresh_table()
        return list(table.pods[table.row_of[name]])

    def nodes(self) -> list[Node]:
        """All nodes."""
        return [node for name in self.engine.node_names() if (node := self.node(name)) is not None]

    @property
    def slices(self) -> list[ResourceSlice]:
        """The devices of all nodes."""
        return list(self.engine.listings.slices)

    @property
    def pin(self) -> str | None:
        """The value of the label by which a nodeSelector means the wanted node alone; None if there is none."""
        node = None if self.want is None else self.node(self.want)
        value = None if node is None else node.labels.get(HOSTNAME)
        return value if value and sum(other.labels.get(HOSTNAME) == value for other in self.nodes()) == 1 else None

    # --- trials -----------------------------------------------------------------------------------------------------

    def ask(self, pod: Pod | None = None, *, details: bool = False) -> Decision:
        """What would be decided on *pod*, or on the pod as it is, now."""
        asked = self.pod if pod is None else pod
        self.tried += 1
        with self.engine.preserving_state(asked):
            return self.engine.schedule(asked, details=details)

    def is_enough(self, host: str | None) -> bool:
        """Whether *host* is what is asked for."""
        return host is not None and (self.want is None or host == self.want)

    def helpful(self, change: WhatIfChange) -> Helpful | None:
        """What comes of *change*, if it helps; where another node than the wanted one wins, the pod is pinned to it as well."""
        with self.changed(change):
            return self._evicting(change) if change.evicts else self._placing(change)

    def _placing(self, change: WhatIfChange) -> Helpful | None:
        decision = self.ask(change.pod)
        if decision.host is not None and self.is_enough(decision.host):
            return Helpful.of(change, decision.host)
        if decision.host is None or self.pin is None or self._fits_now():
            return None
        pinned = self.pinned(change)
        return None if pinned is None or self.ask(pinned.pod).host != self.want else Helpful.of(pinned, self.want or "")

    def _fits_now(self) -> bool:
        """Whether the wanted node fits without any change, so that a pin alone would do."""
        return any(report.fits for report in self.reports if report.name == self.want)

    def pinned(self, change: WhatIfChange) -> WhatIfChange | None:
        """*change*, and a nodeSelector for the wanted node beside it."""
        made = self.edited(change.pod or self.pod, change.replicas or self.siblings, f"nodeSelector.{HOSTNAME}={self.pin}")
        if made is None:
            return None
        texts, pod, replicas = made
        words = f"{change.words}, and select {self.want} by its hostname"
        return attrs.evolve(change, pod=pod, replicas=replicas, patch=(*change.patch, *texts), words=words)

    def _evicting(self, change: WhatIfChange) -> Helpful | None:
        """Room is made for the pod, and then it finds its place there."""
        decision = self.ask(change.pod)
        if decision.host is not None and self.pin is not None and not self._fits_now():
            pinned = self.pinned(change)
            decision = decision if pinned is None else self.ask(pinned.pod)
            change = pinned or change
        plan = decision.preemption
        if decision.host is not None or plan is None or plan.node is None or not self.is_enough(plan.node):
            return None
        victims = tuple(plan.victims)
        after = WhatIfChange(kind=change.kind, words="", patch=(), gone=victims)
        with self.changed(after):
            host = self.ask(change.pod).host
        keys = tuple(pod.key for pod in victims)
        return Helpful.of(change, host, keys) if host is not None and self.is_enough(host) else None

    # --- there and back ---------------------------------------------------------------------------------------------

    @contextmanager
    def changed(self, change: WhatIfChange) -> Iterator[None]:
        """A context in which the cluster is as *change* says."""
        with self.engine.savepoint():
            for item in (*change.nodes, *change.objects, *change.pods, *(pod for pod in change.replicas if pod.spec.node_name)):
                if isinstance(item, Pod) and (state := self.engine.pod_state(item)) is not None and self.engine.is_assumed(item):
                    self.run.feed.put(state.pod)  # the event that confirms a pod changes nothing else of it
                self.run.feed.put(item)
            for pod in change.gone:
                self.run.feed.delete(pod)
            yield
