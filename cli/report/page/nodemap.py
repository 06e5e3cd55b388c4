"""The map of a cluster from what a simulation knows of its nodes: their use, their labels, and the pods on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from ....simulation.nodesbyuse import NodeUse
from .clustermap import ZONES, ClusterMap, MapSide

FEWEST, MOST = 2, 40
"""Labels with that many values group nodes; others have them all in one group, or each in its own."""
PODS = "pods"


@attrs.frozen(repr=False)
class NodeSide:
    """One state of the cluster."""

    title: str
    nodes: Sequence[NodeUse]
    pods: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    """Node -> pods on it."""
    states: Mapping[str, str] = attrs.field(factory=dict)
    """Node -> a word on it, for some."""
    before: bool = False
    """Whether what stood before the simulation is shown."""


def node_map(name: str, sides: Sequence[NodeSide], *, colours: Mapping[str, str] | None = None, note: str = "") -> ClusterMap:
    """The map of *sides*, which have the same nodes or some of them; *colours*: of states."""
    nodes = {node.node: node for side in sides for node in side.nodes}
    labels = _labels(list(nodes.values()))
    return ClusterMap(name, list(nodes), [_side(side, list(nodes)) for side in sides], labels, colours=colours or {}, note=note)


def _side(side: NodeSide, names: Sequence[str]) -> MapSide:
    known = {node.node: node for node in side.nodes}
    resources = dict.fromkeys(resource for node in side.nodes for resource in node.resources)
    uses = {resource: [_use(known.get(name), resource, side.before) for name in names] for resource in (*resources, PODS)}
    uses = {resource: values for resource, values in uses.items() if any(value is not None for value in values)}
    pods = [side.pods.get(name, ()) for name in names] if side.pods else ()
    return MapSide(side.title, uses, pods, [side.states.get(name, "") for name in names] if side.states else ())


def _use(node: NodeUse | None, resource: str, before: bool) -> float | None:
    amounts = None if node is None else node.pods if resource == PODS else node.resources.get(resource)
    if amounts is None or amounts.allocatable <= 0:
        return None
    return (amounts.requested_before if before else amounts.requested) / amounts.allocatable


def _labels(nodes: Sequence[NodeUse]) -> dict[str, list[str]]:
    """The labels that group nodes, zones first."""
    keys = dict.fromkeys((*ZONES, *sorted({key for node in nodes for key in node.labels})))
    found = {key: [node.labels.get(key, "") for node in nodes] for key in keys}
    return {key: values for key, values in found.items() if FEWEST <= len(set(values)) <= MOST or (key in ZONES and any(values))}
