"""The node tree: nodes are visited round-robin over zones, and each cycle continues where the last one stopped.

Upstream: pkg/scheduler/internal/cache/node_tree.go (1.12: pkg/scheduler/cache/node_tree.go).
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs


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
    """Zones in order of first appearance; :meth:`next` returns one node after another.

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

    def next(self) -> str:
        """The next node to visit; empty if there are none."""
        if not self.zones:
            return ""
        zones = list(self.zones.values())
        exhausted = 0
        while True:
            if self.turn >= len(zones):
                self.turn = 0
            zone = zones[self.turn]
            self.turn += 1
            if zone.cursor < len(zone.names):
                zone.cursor += 1
                return zone.names[zone.cursor - 1]
            exhausted += 1
            if exhausted >= len(zones):
                self.reset()

    def reset(self) -> None:
        """Start a new round, in which no node was visited yet."""
        self.turn = 0
        for zone in self.zones.values():
            zone.cursor = 0

    def copy(self) -> NodeTree:
        """An independent tree with the same state."""
        zones = {key: Zone(list(zone.names), zone.cursor) for key, zone in self.zones.items()}
        return NodeTree(zones, self.turn, dict(self._zone_of))

    def _exhausted(self) -> bool:
        return all(zone.cursor >= len(zone.names) for zone in self.zones.values())

    def rest_of_round(self) -> Iterator[str]:
        """The nodes up to the next reset; advances the tree to just before it."""
        while self.zones and not self._exhausted():
            yield self.next()


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
            ahead = self.tree.copy()
            self.rest = list(ahead.rest_of_round())
            ahead.reset()
            self._round = list(ahead.rest_of_round())
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
        steps = self.taken
        if full and steps > len(rest) + len(full):
            # Whole rounds make no difference, except that afterwards the tree is at the end of a round and not at its start.
            steps = len(rest) + (steps - len(rest) - 1) % len(full) + 1
        for _ in range(steps):
            self.tree.next()
        self.taken, self.rest = 0, None
