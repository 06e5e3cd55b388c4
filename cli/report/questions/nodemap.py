"""Nodes of a simulation for a map: their labels, and how full they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from ....simulation.capacity.room import FreeRoom
from ..page.clustermap import ZONES

MOST_VALUES = 40
"""A label with more values says little about groups of nodes."""


class Labelled(Protocol):
    """A node, or what is known of one."""

    @property
    def labels(self) -> Mapping[str, str]: ...


def labels_of(nodes: Sequence[Labelled]) -> dict[str, list[str]]:
    """Label -> its value on each of *nodes*, empty where it has none; those that make groups of nodes, zones first."""
    named = dict.fromkeys([*ZONES, *sorted({label for node in nodes for label in node.labels})])
    found = {label: [node.labels.get(label) or "" for node in nodes] for label in named}
    return {label: values for label, values in found.items() if any(values) and _makes_groups(label, values)}


def _makes_groups(label: str, values: Collection[str]) -> bool:
    several = len(set(values))
    return label in ZONES or 1 < several <= min(MOST_VALUES, len(values) - 1)


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
