"""Nodes of a simulation for a map: their labels, and how full they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ....api.meaning.labels import ZONES
from ....core.pods.requests import PODS as PODS
from ....simulation.capacity.room import FreeRoom
from ....simulation.nodesbyuse import NodeUse

MOST_VALUES = 40
"""A label with more values says little about groups of nodes."""


class Labelled(Protocol):
    """A node, or what is known of one."""

    @property
    def labels(self) -> Mapping[str, str]: ...


def labels_of(nodes: Sequence[Labelled], most: int | None = None) -> dict[str, list[str]]:
    """Label -> its value on each of *nodes*, empty where it has none; those that make groups of nodes, zones first.

    *most*: how many values a label may have, by default fewer than there are nodes.
    """
    named = dict.fromkeys([*ZONES, *sorted({label for node in nodes for label in node.labels})])
    found = {label: [node.labels.get(label) or "" for node in nodes] for label in named}
    most = min(MOST_VALUES, len(nodes) - 1 if most is None else most)
    return {label: values for label, values in found.items() if any(values) and (label in ZONES or 1 < len(set(values)) <= most)}


def share_of(node: NodeUse, resource: str, *, before: bool = False) -> float | None:
    """The share of *resource* that is requested on *node*, or was before a simulation; None where it has none of it."""
    amounts = node.pods if resource == PODS else node.resources.get(resource)
    if amounts is None or amounts.allocatable <= 0:
        return None
    return (amounts.requested_before if before else amounts.requested) / amounts.allocatable


def uses_of(room: FreeRoom, names: Sequence[str]) -> dict[str, list[float | None]]:
    """Resource -> the share of it that is requested on each node of *names*; None where a node has none of it."""
    at = {name: column for column, name in enumerate(room.names)}
    found: dict[str, list[float | None]] = {}
    for row, resource in enumerate(room.resources):
        has, asked = room.allocatable[row].tolist(), room.requested[row].tolist()
        shares = [asked[at[name]] / has[at[name]] if name in at and has[at[name]] else None for name in names]
        if any(shares):
            found[resource] = shares
    return found
