"""A scenario as numbers for a picture: nodes and pods by index, what nodes have and pods request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ...api.objects import KubeObject, Node, Pod
from ...core.engine import Engine
from ...core.pods.requests import PODS, of_node
from ...core.pods.template import Template
from ..scenario import Scenario
from ..summary import UNITS

MOST_VALUES, MOST_LABELS = 64, 40
"""A label with more values than this does not group nodes; and how many labels are offered."""


@attrs.define(eq=False)
class ClusterLayout:
    """The nodes and pods of a scenario. Pods with a node come after those that wait, each in their order."""

    number: int
    scenario: Scenario
    resources: tuple[str, ...]
    nodes: tuple[str, ...]
    pods: tuple[str, ...]
    """Keys."""
    node_at: Mapping[str, int]
    pod_at: Mapping[str, int]
    bound: tuple[int, ...]
    """For each pod the index of its node at the start; -1: none."""
    requests: tuple[tuple[int, ...], ...]
    """For each pod what it requests of *resources*, in millicores, bytes and pieces."""

    @classmethod
    def of(cls, number: int, scenario: Scenario, engine: Engine) -> ClusterLayout:
        """The layout of *scenario*; *engine*, which has been told of it, knows what pods request."""
        nodes = tuple(node.name for node in scenario.nodes)
        node_at = {name: at for at, name in enumerate(nodes)}
        placed = [item for item in scenario.objects if isinstance(item, Pod)]
        everyone = [*scenario.pending, *placed]
        resources = _resources(scenario)
        pods = tuple(pod.key for pod in everyone)
        return cls(
            number, scenario, resources, nodes, pods, node_at, {key: at for at, key in enumerate(pods)},
            bound=tuple(node_at.get(pod.spec.node_name, -1) for pod in everyone),
            requests=tuple(_amounts(_template(pod, engine).requests, resources) for pod in everyone),
        )  # fmt: skip

    def record(self) -> dict[str, Any]:
        """As plain data: nodes as [name, labels, allocatable, places, cordoned, taints], pods as [key, requests, priority, node]."""
        labels = grouping_labels(self.scenario.nodes)
        everyone: list[KubeObject] = [*self.scenario.pending, *(item for item in self.scenario.objects if isinstance(item, Pod))]
        return {
            "number": self.number,
            "resources": [{"name": name, "unit": UNITS.get(name, "pieces")} for name in self.resources],
            "labels": labels,
            "waiting": len(self.scenario.pending),
            "nodes": [_node_record(node, labels, self.resources) for node in self.scenario.nodes],
            "pods": [[pod.key, self.requests[at], pod.priority, self.bound[at]] for at, pod in enumerate(everyone) if isinstance(pod, Pod)],
        }


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
