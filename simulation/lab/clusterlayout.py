"""A scenario as numbers for a picture: nodes and pods by index, what nodes have and pods request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ...api.objects import Node, Pod
from ...core.engine import Engine
from ...core.pods.requests import PODS, of_node
from ...core.pods.template import Template
from ..scenario import Scenario
from ..summary import UNITS

MOST_VALUES, MOST_LABELS = 64, 40
"""A label with more values than this does not group nodes; and how many labels are offered."""


@attrs.define(eq=False)
class ClusterLayout:
    """The nodes and pods of a scenario. Pods with a node come after those that wait; those of an earlier layout stay in its order."""

    number: int
    scenario: Scenario
    resources: tuple[str, ...]
    nodes: tuple[str, ...]
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

    @classmethod
    def of(cls, number: int, scenario: Scenario, engine: Engine, before: ClusterLayout | None = None) -> ClusterLayout:
        """The layout of *scenario*; *engine*, which has been told of it, knows what pods request. What *before* has is taken from it."""
        nodes = tuple(node.name for node in scenario.nodes)
        there = {pod.key: pod for pod in (*scenario.pending, *(item for item in scenario.objects if isinstance(item, Pod)))}
        resources, labels = _shape(scenario, before)
        known: Mapping[str, int] = {} if before is None else before.pod_at
        if before is not None and before.nodes == nodes:
            nodes, node_at = before.nodes, before.node_at
        else:
            node_at = {name: at for at, name in enumerate(nodes)}
        if before is not None and known.keys() == there.keys():
            pods, pod_at = before.pods, before.pod_at
        else:
            pods = (*(key for key in known if key in there), *(key for key in there if key not in known))
            pod_at = {key: at for at, key in enumerate(pods)}
        objects = tuple(there[key] for key in pods)
        seen: Mapping[int, int] = {}
        if before is not None and before.resources == resources:
            seen = {id(pod): at for at, pod in enumerate(before.objects)}
        requests = tuple(
            before.requests[seen[id(pod)]] if before is not None and id(pod) in seen
            else _amounts(_template(pod, engine).requests, resources) for pod in objects
        )  # fmt: skip
        bound = tuple(node_at.get(pod.spec.node_name, -1) for pod in objects)
        return cls(number, scenario, resources, nodes, pods, node_at, pod_at, objects, bound, requests, labels)

    def is_like(self, other: ClusterLayout) -> bool:
        """Whether the same numbers mean the same nodes and pods."""
        return self.pods is other.pods and self.nodes is other.nodes and self.resources == other.resources and self.labels == other.labels

    def record(self, before: ClusterLayout | None = None) -> dict[str, Any]:
        """As plain data: nodes as [name, labels, allocatable, places, cordoned, taints], pods as [key, requests, priority, node].

        Of what is like *before* there is only what differs, by number.
        """
        nodes, pods = self.scenario.nodes, self.objects
        found: dict[str, Any] = {"number": self.number, "waiting": len(self.scenario.pending)}
        if before is not None and self.is_like(before):
            there, was = before.scenario.nodes, before.objects
            return {
                **found, "since": before.number,
                "nodes": {at: self._node(node) for at, node in enumerate(nodes) if node is not there[at] and node != there[at]},
                "pods": {at: self._pod(at) for at, pod in enumerate(pods) if pod is not was[at] and pod != was[at]},
            }  # fmt: skip
        resources = [{"name": name, "unit": UNITS.get(name, "pieces")} for name in self.resources]
        rows = {"nodes": [self._node(node) for node in nodes], "pods": [self._pod(at) for at in range(len(pods))]}
        return {**found, "resources": resources, "labels": self.labels, **rows}

    def _node(self, node: Node) -> list[Any]:
        return _node_record(node, self.labels, self.resources)

    def _pod(self, at: int) -> list[Any]:
        pod = self.objects[at]
        return [pod.key, self.requests[at], pod.priority, self.bound[at]]


def _shape(scenario: Scenario, before: ClusterLayout | None) -> tuple[tuple[str, ...], list[str]]:
    """The resources that nodes have, and the labels that group them; those of *before* where no node differs in either."""
    nodes = scenario.nodes
    if before is not None and len(before.scenario.nodes) == len(nodes):
        pairs = [(old, new) for old, new in zip(before.scenario.nodes, nodes, strict=True) if old is not new]
        if all(o.labels == n.labels and o.status.allocatable.keys() == n.status.allocatable.keys() for o, n in pairs):
            return before.resources, before.labels
    return _resources(scenario), grouping_labels(nodes)


def _resources(scenario: Scenario) -> tuple[str, ...]:
    """The resources that any node has, ``pods`` apart."""
    found: dict[str, None] = {}
    for node in scenario.nodes:
        found |= {name: None for name, amount in of_node(node.status.allocatable).items() if amount and name != PODS}
    return tuple(found)


def _template(pod: Pod, engine: Engine) -> Template:
    state = engine.pod_state(pod) if pod.spec.node_name else None
    return engine.template_of(pod) if state is None else state.entry.template


def _amounts(requests: Mapping[str, int], resources: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(requests.get(name, 0) for name in resources)


def _node_record(node: Node, labels: list[str], resources: tuple[str, ...]) -> list[Any]:
    had = of_node(node.status.allocatable)
    taints = [f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}" for taint in node.spec.taints]
    values = [node.labels.get(label) for label in labels]
    return [node.name, values, _amounts(had, resources), had.get(PODS, 0), node.spec.unschedulable, taints]


def grouping_labels(nodes: list[Node]) -> list[str]:
    """The labels by which nodes can be grouped: zones first; those with one value for each node are left out."""
    values: dict[str, set[str]] = {}
    for node in nodes:
        for key, value in node.labels.items():
            values.setdefault(key, set()).add(value)
    useful = [key for key, found in values.items() if 1 < len(found) <= min(MOST_VALUES, max(len(nodes) // 2, 2))]
    return sorted(useful, key=lambda key: ("zone" not in key, "region" not in key, key))[:MOST_LABELS]
