"""The node tree: nodes are visited round-robin over zones, and each cycle continues where the last one stopped.

Upstream: pkg/scheduler/internal/cache/node_tree.go (1.12: pkg/scheduler/cache/node_tree.go).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TypeVar

import attrs

T = TypeVar("T")


@attrs.define(eq=False, repr=False)
class Zone:
    """The nodes of one zone in order of addition; *cursor*: how many of them were visited since the last reset."""

    names: list[str]
    cursor: int = 0
    _known: set[str] = attrs.field(init=False, default=attrs.Factory(lambda self: set(self.names), takes_self=True))

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def append(self, name: str) -> None:
        """Add a node that is not there."""
        self.names.append(name)
        self._known.add(name)

    def remove(self, name: str) -> None:
        """Remove a node that is there."""
        self.names.remove(name)
        self._known.remove(name)


@attrs.define(eq=False, repr=False)
class NodeTree:
    """Zones in order of first appearance, each with the nodes that were visited in this round.

    Upstream: an added node resets nothing, and a removed node does not move the cursors. So one pass after a change can visit a node twice
    and miss another.
    """

    zones: dict[str, Zone] = attrs.field(factory=dict)
    """Zone key -> nodes; the dict's order is upstream's list of zones."""
    turn: int = 0
    """Index of the zone whose turn it is."""
    _zone_of: dict[str, str] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self._zone_of)

    def add(self, name: str, zone: str) -> None:
        """Append a node to its zone, unless it is there already."""
        here = self.zones.get(zone)
        if here is None:
            self.zones[zone] = Zone([name])
        elif name not in here:
            here.append(name)
        else:
            return
        self._zone_of[name] = zone

    def remove(self, name: str, zone: str) -> None:
        """Remove a node from its zone, and a zone without nodes from the tree."""
        here = self.zones.get(zone)
        if here is None or name not in here:
            return
        here.remove(name)
        if not here.names:
            del self.zones[zone]
        self._zone_of.pop(name, None)

    def update(self, name: str, old_zone: str, new_zone: str) -> None:
        """Move a node to the end of its new zone. If the zone is the same nothing happens, even if the tree does not have the node."""
        if old_zone != new_zone:
            self.remove(name, old_zone)
            self.add(name, new_zone)

    def copy(self) -> NodeTree:
        """An independent tree with the same state."""
        zones = {key: Zone(list(zone.names), zone.cursor) for key, zone in self.zones.items()}
        return NodeTree(zones, self.turn, dict(self._zone_of))

    def one_round(self) -> list[str]:
        """All nodes in the order of a round: one of each zone in turn."""
        return _in_turn([zone.names for zone in self.zones.values()])

    def rest_of_round(self) -> list[str]:
        """The nodes that are visited until every zone is visited to its end, when a new round begins."""
        left = [zone.names[zone.cursor :] for zone in self.zones.values()]
        return _in_turn(left[self.turn :] + left[: self.turn])

    def visit(self, count: int) -> None:
        """The next *count* nodes of the round are visited, at least one."""
        zones = list(self.zones.values())
        left = [[zone] * (len(zone.names) - zone.cursor) for zone in zones]
        visited = _in_turn(left[self.turn :] + left[: self.turn])[:count]
        for zone in visited:
            zone.cursor += 1
        self.turn = 1 + zones.index(visited[-1])

    def reset(self) -> None:
        """Start a new round, in which no node was visited yet."""
        self.turn = 0
        for zone in self.zones.values():
            zone.cursor = 0


def _in_turn(zones: Sequence[Sequence[T]]) -> list[T]:
    return [found for turn in zip_longest(*zones) for found in turn if found is not None]


@attrs.define(eq=False, repr=False)
class VisitingOrder:
    """A node tree with its order precomputed: the rest of the current round, then whole rounds.

    Visits only count up ``taken``. The tree itself is brought up to date when a node is added, removed or changes its zone.
    """

    tree: NodeTree = attrs.field(factory=NodeTree)
    taken: int = 0
    """The number of nodes visited since the tree was last up to date."""
    version: int = 0
    """Moves when the order is computed again."""
    rest: list[str] | None = None
    """The rest of the current, possibly irregular round; None if the order has to be computed again."""
    _round: list[str] = attrs.field(factory=list)

    def __len__(self) -> int:
        return len(self.tree)

    def add(self, name: str, zone: str) -> None:
        """A node is added."""
        self._catch_up()
        self.tree.add(name, zone)

    def remove(self, name: str, zone: str) -> None:
        """A node is removed."""
        self._catch_up()
        self.tree.remove(name, zone)

    def update(self, name: str, old_zone: str, new_zone: str) -> None:
        """A node changes; only a change of zone matters."""
        if old_zone != new_zone:
            self._catch_up()
            self.tree.update(name, old_zone, new_zone)

    def rest_and_round(self) -> tuple[list[str], list[str]]:
        """The rest of the current round, and one whole round, which then repeats."""
        if self.rest is None:
            self.rest, self._round = self.tree.rest_of_round(), self.tree.one_round()
            self.version += 1
        return self.rest, self._round

    def saved(self) -> tuple[NodeTree, int]:
        """The tree and the visits, for :meth:`restore`."""
        return self.tree.copy(), self.taken

    def restore(self, tree: NodeTree, taken: int) -> None:
        """The tree and the visits are those that were :meth:`saved`."""
        self.tree, self.taken, self.rest = tree, taken, None

    def take(self, count: int) -> None:
        """The next *count* nodes were visited."""
        self.taken += count

    def _catch_up(self) -> None:
        if not self.taken:
            self.rest = None
            return
        rest, full = self.rest_and_round()
        if full and self.taken > len(rest):
            # Whole rounds make no difference, except that afterwards the tree is at the end of a round and not at its start.
            self.tree.reset()
            self.taken = (self.taken - len(rest) - 1) % len(full) + 1
        if full:
            self.tree.visit(self.taken)
        self.taken, self.rest = 0, None
