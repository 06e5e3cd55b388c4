"""Clusters and traces with more or fewer nodes or pods: every second one, or each one twice, under names of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import attrs
from msgspec.structs import replace

from ...api.objects import KubeObject, Node, Pod
from ...api.objects.metadata import Map
from ...exceptions import ManifestError
from ..replay.inputs.inputs import Inputs
from ..replay.inputs.traces import Event
from ..scenario import Scenario

HOSTNAME = "kubernetes.io/hostname"
K = TypeVar("K", Node, Pod)


def counts(keys: Iterable[str], factor: float) -> dict[str, int]:
    """Key -> how many of it there are, so that all together are *factor* times as many, with every kind in its share.

    >>> counts("abcd", 0.5), counts("abcd", 1.5)
    ({'a': 1, 'b': 0, 'c': 1, 'd': 0}, {'a': 2, 'b': 1, 'c': 2, 'd': 1})
    """
    found = dict.fromkeys(keys, 0)
    names, total = list(found), round(len(found) * factor)
    for number in range(total):
        found[names[number * len(names) // total]] += 1
    return found


def copies(item: K, count: int) -> list[K]:
    """*item* that many times; each but the first has ``-copy-NUMBER`` after its name. A node's hostname label follows."""
    return [item if number == 1 else _renamed(item, f"-copy-{number}") for number in range(1, count + 1)]


def _renamed(item: K, suffix: str) -> K:
    old = item.metadata
    labels = dict(old.labels)
    if isinstance(item, Node) and labels.get(HOSTNAME) == item.name:
        labels[HOSTNAME] += suffix
    uid = old.uid and f"{old.uid}{suffix}"
    return replace(item, metadata=replace(old, name=old.name + suffix, uid=uid, labels=Map(labels)))


def scaled(found: Scenario | Inputs, nodes: float, pods: float) -> Scenario | Inputs:
    """*found* with *nodes* times as many nodes and *pods* times as many waiting pods. Raises as :func:`scaled_inputs`."""
    return scaled_scenario(found, nodes, pods) if isinstance(found, Scenario) else scaled_inputs(found, nodes, pods)


def scaled_scenario(scenario: Scenario, nodes: float, pods: float) -> Scenario:
    """The scenario that :func:`scaled` makes of *scenario*.

    Pods on a node that is left out are left out too; those on a node that is doubled are on the first of the two.
    """
    of_nodes = counts([node.name for node in scenario.nodes], nodes)
    of_pods = counts([pod.key for pod in scenario.pending], pods)
    there = [copy for item in scenario.objects for copy in _with_nodes(item, of_nodes)]
    pending = [copy for pod in scenario.pending for copy in copies(pod, of_pods[pod.key])]
    return attrs.evolve(scenario, objects=tuple(there), pending=tuple(pending))


def _with_nodes(item: KubeObject, of_nodes: Mapping[str, int]) -> Sequence[KubeObject]:
    if isinstance(item, Node):
        return copies(item, of_nodes[item.name])
    is_lost = isinstance(item, Pod) and of_nodes.get(item.spec.node_name, 1) == 0
    return () if is_lost else (item,)


def scaled_inputs(inputs: Inputs, nodes: float, pods: float) -> Inputs:
    """The same for events; pods with a node count with their node, others by the factor of *pods*.

    Raises :class:`~kubeclassic.exceptions.ManifestError` for a scenario, whose operations make their own nodes and pods.
    """
    if inputs.operations:
        raise ManifestError("scale: got a scenario of operations, wanted a trace of events or a cluster")
    of_nodes = counts([event.item.name for event in inputs.events if isinstance(event.item, Node)], nodes)
    waiting = (event.item for event in inputs.events if isinstance(event.item, Pod) and event.item.spec.node_name not in of_nodes)
    of_pods = counts([pod.key for pod in waiting], pods)
    return attrs.evolve(inputs, events=tuple(copy for event in inputs.events for copy in _event_copies(event, of_nodes, of_pods)))


def _event_copies(event: Event, of_nodes: Mapping[str, int], of_pods: Mapping[str, int]) -> Iterable[Event]:
    item = event.item
    if isinstance(item, Pod) and item.key in of_pods:
        return (attrs.evolve(event, item=copy) for copy in copies(item, of_pods[item.key]))
    return (attrs.evolve(event, item=copy) for copy in _with_nodes(item, of_nodes))
