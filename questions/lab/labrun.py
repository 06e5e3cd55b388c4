"""A state in numbers for a picture: nodes and pods by index, where each pod is or why it is nowhere, and how two answers differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import attrs
import numpy as np

from ...api.objects import Node, Pod
from ...api.reading.notices import Notice
from ...api.record import plain
from ...core.arrays.types import Ints
from ...core.engine import Engine
from ...core.pods.requests import PODS, of_node
from ...core.pods.template import Template
from ...core.rule import Algorithm
from ...simulation.explain.clusterfacts import taint_text
from ...simulation.scenario import Scenario
from ...simulation.simulate import Simulation
from ...simulation.summary import UNITS, summarise
from .differences import between, other_places

T = TypeVar("T")
MOST_VALUES, MOST_LABELS = 64, 40
"""A label with more values than this does not group nodes; and how many labels are offered."""


@attrs.define(eq=False)
class ClusterLayout:
    """The nodes and pods of a scenario. Pods with a node come after those that wait; those of an earlier layout stay in its order."""

    number: int
    scenario: Scenario
    machines: tuple[Node, ...]
    """Its nodes."""
    resources: tuple[str, ...]
    nodes: tuple[str, ...]
    """Their names."""
    pods: tuple[str, ...]
    """Keys."""
    node_at: Mapping[str, int]
    pod_at: Mapping[str, int]
    objects: tuple[Pod, ...]
    """The pods."""
    bound: tuple[int, ...]
    """For each pod the index of its node at the start; -1: none."""
    requests: tuple[tuple[int, ...], ...]
    """For each pod what it requests of *resources*, in millicores, bytes and pieces."""
    labels: list[str]
    """Those by which nodes can be grouped."""
    counted_by: tuple[object, ...]
    """The release whose way to count requests this is, and its gates."""

    @classmethod
    def of(cls, number: int, scenario: Scenario, engine: Engine, before: ClusterLayout | None = None) -> ClusterLayout:
        """The layout of *scenario*; *engine*, which has been told of it, knows what pods request. What *before* has is taken from it."""
        machines = tuple(scenario.nodes)
        nodes = tuple(node.name for node in machines)
        resources, labels = _shape(machines, before)
        counted_by = release_and_gates(engine.algorithm)
        if before is not None and before.nodes == nodes:
            nodes = before.nodes
            if before.resources == resources:
                gone, come = between(before.scenario, scenario)
                if gone.keys() == come.keys():
                    found = attrs.evolve(before, number=number, scenario=scenario, machines=machines, labels=labels, counted_by=counted_by)
                    return found._with([item for item in come.values() if isinstance(item, Pod)], engine, before)
        there = {pod.key: pod for pod in (*scenario.pending, *(item for item in scenario.objects if isinstance(item, Pod)))}
        pods: tuple[str, ...] = () if before is None else before.pods
        if before is None or before.pod_at.keys() != there.keys():
            known: Mapping[str, int] = {} if before is None else before.pod_at
            pods = (*(key for key in known if key in there), *(key for key in there if key not in known))
        node_at, pod_at = ({name: at for at, name in enumerate(names)} for names in (nodes, pods))
        objects = tuple(there[key] for key in pods)
        seen: Mapping[int, tuple[int, ...]] = {}
        if before is not None and (before.resources, before.counted_by) == (resources, counted_by):
            seen = {id(pod): requests for pod, requests in zip(before.objects, before.requests, strict=True)}
        requests = tuple([seen.get(id(pod)) or _amounts(_template(pod, engine).requests, resources) for pod in objects])
        bound = tuple(node_at.get(pod.spec.node_name, -1) for pod in objects)
        return cls(number, scenario, machines, resources, nodes, pods, node_at, pod_at, objects, bound, requests, labels, counted_by)

    def _with(self, pods: list[Pod], engine: Engine, before: ClusterLayout) -> ClusterLayout:
        """This one with *pods* in the places of those of their keys; requests are counted again where *before* counts them otherwise."""
        objects, bound, requests = list(self.objects), list(self.bound), list(self.requests)
        for pod in pods:
            at = self.pod_at[pod.key]
            objects[at], bound[at] = pod, self.node_at.get(pod.spec.node_name, -1)
        again = [self.pod_at[pod.key] for pod in pods] if self.counted_by == before.counted_by else range(len(objects))
        for at in again:
            amounts = _amounts(_template(objects[at], engine).requests, self.resources)
            if amounts != requests[at]:
                requests[at] = amounts
        return attrs.evolve(self, objects=tuple(objects), bound=tuple(bound), requests=tuple(requests))

    def has_form_of(self, other: ClusterLayout) -> bool:
        """Whether nodes and pods are told by the same resources and labels."""
        return self.resources == other.resources and self.labels == other.labels

    def extends(self, other: ClusterLayout) -> bool:
        """Whether the numbers of *other* mean the same here, told by the same resources and labels; there may be more after them."""
        if self.pods is other.pods and self.nodes is other.nodes and self.has_form_of(other):
            return True
        pairs = (self.nodes, other.nodes), (self.pods, other.pods)
        return self.has_form_of(other) and all(here[: len(there)] == there for here, there in pairs)

    def record(self, before: ClusterLayout | None = None) -> dict[str, Any]:
        """As plain data: nodes as [name, labels, allocatable, places, cordoned, taints], pods as [key, requests, priority, node].

        Of what extends *before* there is only what differs, by number.
        """
        found: dict[str, Any] = {"number": self.number, "waiting": len(self.scenario.pending)}
        if before is not None and self.extends(before):
            pods = sorted({*_new_places(before.objects, self.objects), *_new_places(before.requests, self.requests)})
            nodes = _new_places(before.machines, self.machines)
            rows = {"nodes": {at: self._node(at) for at in nodes}, "pods": {at: self._pod(at) for at in pods}}
            return {**found, "since": before.number, **rows}
        resources = [{"name": name, "unit": UNITS.get(name, "pieces")} for name in self.resources]
        all_rows = {"nodes": [self._node(at) for at in range(len(self.nodes))], "pods": [self._pod(at) for at in range(len(self.pods))]}
        return {**found, "resources": resources, "labels": self.labels, **all_rows}

    def _node(self, at: int) -> list[Any]:
        node = self.machines[at]
        labels = self.labels
        resources = self.resources
        had = of_node(node.status.allocatable)
        taints = [taint_text(taint) for taint in node.spec.taints]
        values = [node.labels.get(label) for label in labels]
        return [node.name, values, _amounts(had, resources), had.get(PODS, 0), node.spec.unschedulable, taints]

    def _pod(self, at: int) -> list[Any]:
        pod = self.objects[at]
        return [pod.key, self.requests[at], pod.priority, self.bound[at]]


def release_and_gates(algorithm: Algorithm) -> tuple[object, ...]:
    """What decides how pods are counted, and which of their fields are read."""
    return algorithm.release.version, tuple(sorted(algorithm.gates.items()))


def _new_places(before: tuple[T, ...], now: tuple[T, ...]) -> list[int]:
    """The places at which *now*, which begins as *before* does, holds something else or something more."""
    others = other_places(before, now[: len(before)]) or ()
    return [*(at for at in others if before[at] != now[at]), *range(len(before), len(now))]


def _shape(nodes: tuple[Node, ...], before: ClusterLayout | None) -> tuple[tuple[str, ...], list[str]]:
    """The resources that nodes have, and the labels that group them; those of *before* where no node differs in either."""
    places = None if before is None else other_places(before.machines, nodes)
    if before is not None and places is not None:
        pairs = [(before.machines[at], nodes[at]) for at in places]
        if all(o.labels == n.labels and o.status.allocatable.keys() == n.status.allocatable.keys() for o, n in pairs):
            return before.resources, before.labels
    # The resources that any node has, `pods` apart.
    found: dict[str, None] = {}
    for node in nodes:
        found |= {name: None for name, amount in of_node(node.status.allocatable).items() if amount and name != PODS}
    return tuple(found), grouping_labels(nodes)


def _template(pod: Pod, engine: Engine) -> Template:
    state = engine.pod_state(pod) if pod.spec.node_name else None
    return engine.template_of(pod) if state is None else state.entry.template


def _amounts(requests: Mapping[str, int], resources: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(requests.get(name, 0) for name in resources)


def grouping_labels(nodes: Sequence[Node]) -> list[str]:
    """The labels by which nodes can be grouped: zones first; those with one value for each node are left out."""
    values: dict[str, set[str]] = {}
    for node in nodes:
        for key, value in node.labels.items():
            values.setdefault(key, set()).add(value)
    useful = [key for key, found in values.items() if 1 < len(found) <= min(MOST_VALUES, max(len(nodes) // 2, 2))]
    return sorted(useful, key=lambda key: ("zone" not in key, "region" not in key, key))[:MOST_LABELS]


# --- what a state comes to ------------------------------------------------------------------------------------------


NOWHERE = -1
MOST_TOLD = 2000
"""That many pods are named where answers differ; all are counted."""


@attrs.define(eq=False)
class NumberedTexts:
    """Texts by number, each once."""

    texts: list[str] = attrs.field(factory=lambda: [""])
    _numbers: dict[str, int] = attrs.field(factory=lambda: {"": 0})

    def number(self, text: str) -> int:
        """The number of *text*, a new one where it was never seen."""
        found = self._numbers.get(text)
        if found is None:
            found = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return found


@attrs.frozen(eq=False)
class LabRun:
    """A finished run. ``hosts``: int64[pods], index of the node or -1; ``whys``: int64[pods], number of the text that says why not."""

    layout: ClusterLayout
    hosts: Ints
    whys: Ints
    summary: dict[str, Any]
    texts: NumberedTexts
    notices: tuple[Notice, ...] = ()
    """What is odd in the cluster, and what of it the release does not read."""

    @classmethod
    def of(cls, simulation: Simulation, layout: ClusterLayout, texts: NumberedTexts) -> LabRun:
        """The answer of a finished *simulation*."""
        hosts, whys = np.array(layout.bound, np.int64), np.zeros(len(layout.bound), np.int64)
        for key, outcome in simulation.outcomes.items():
            at = layout.pod_at[key]
            hosts[at] = NOWHERE if outcome.host is None else layout.node_at.get(outcome.host, NOWHERE)
            whys[at] = 0 if outcome.error is None else texts.number(outcome.error)
        for eviction in simulation.evictions:
            at = layout.pod_at[eviction.pod.key]
            hosts[at], whys[at] = NOWHERE, texts.number(f"evicted to make room for {eviction.by}")
        return cls(layout, hosts, whys, plain(summarise(simulation)), texts)

    def host_of(self, pod: str) -> str | None:
        """The node of a pod, by its key; None: it has none."""
        at = int(self.hosts[self.layout.pod_at[pod]])
        return None if at == NOWHERE else self.layout.nodes[at]

    def record(self, before: LabRun | None) -> dict[str, Any]:
        """As plain data: [pod, node, why] by index of what differs from *before*, or of everything; with the texts that they name."""
        known = 0 if before is None or not self.layout.extends(before.layout) else len(before.hosts)
        changed = np.arange(len(self.hosts))
        if before is not None and known:
            is_other = (self.hosts[:known] != before.hosts) | (self.whys[:known] != before.whys)
            changed = np.concatenate([np.flatnonzero(is_other), changed[known:]])
        rows = np.stack([changed, self.hosts[changed], self.whys[changed]], axis=1)
        named = {number: self.texts.texts[number] for number in set(self.whys[changed].tolist()) if number}
        return {"whole": not known, "plot": self.layout.number, "rows": rows.tolist(), "texts": named}


@attrs.frozen
class RunDifference:
    """How an answer differs from an earlier one, pod by pod: (pod, node before, node after, why it has none)."""

    moved: tuple[tuple[str, str, str], ...]
    lost: tuple[tuple[str, str, str], ...]
    """(pod, node before, why)."""
    found: tuple[tuple[str, str], ...]
    come: tuple[str, ...] = ()
    """Pods that were not there before."""
    gone: tuple[str, ...] = ()

    @classmethod
    def between(cls, before: LabRun, after: LabRun) -> RunDifference:
        """From *before* to *after*."""
        there, here = before.layout.pod_at, after.layout.pod_at
        moved, lost, found = [], [], []
        for pod in (pod for pod in there if pod in here):
            old, new = before.host_of(pod), after.host_of(pod)
            if old is not None and new is not None and old != new:
                moved.append((pod, old, new))
            elif old is not None and new is None:
                lost.append((pod, old, after.texts.texts[int(after.whys[here[pod]])]))
            elif old is None and new is not None:
                found.append((pod, new))
        come, gone = (tuple(pod for pod in ours if pod not in others) for ours, others in ((here, there), (there, here)))
        return cls(tuple(moved), tuple(lost), tuple(found), come, gone)

    @property
    def words(self) -> str:
        """In one sentence.

        >>> RunDifference((("a", "n1", "n2"),), (("shop/b", "n1", "0/2 nodes are available: 2 Insufficient cpu."),), ()).words
        '1 pod moves, 1 no longer fits: shop/b'
        """
        parts: list[str] = []
        for found, one, several in (
            (self.moved, "moves", "move"), (self.come, "is new", "are new"), (self.gone, "is not there any more", "are not there any more"),
            (self.found, "finds a node now", "find a node now"), (self.lost, "no longer fits", "no longer fit"),
        ):  # fmt: skip
            if found:
                count = f"{len(found):,}" if parts else f"{len(found):,} {'pod' if len(found) == 1 else 'pods'}"
                parts.append(f"{count} {one if len(found) == 1 else several}")
        named = [pod for pod, *_ in self.lost or self.found]
        names = f": {', '.join(named[:3])}{' and others' if len(named) > 3 else ''}" if named else ""
        return f"{', '.join(parts)}{names}" if parts else "every pod stays where it is"

    def record(self) -> dict[str, Any]:
        """As plain data; of long lists the first :data:`MOST_TOLD`, and the counts of all."""
        lists = {"moved": self.moved, "lost": self.lost, "found": self.found, "come": self.come, "gone": self.gone}
        counts = {name: len(found) for name, found in lists.items()}
        return {"words": self.words, "counts": counts, **{name: found[:MOST_TOLD] for name, found in lists.items()}}
