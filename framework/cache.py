"""Cache, nominations and snapshot where they differ from those of the predicates and priorities.

Upstream: pkg/scheduler/internal/cache/cache.go.
"""

from __future__ import annotations

import attrs
import numpy as np

from ..api.objects import Pod
from ..core.arrays.batch import Rows
from ..core.arrays.table import NodeTable
from ..core.cluster.cache import Cache, Change, NodeInfo
from ..core.cluster.nominations import Nominations
from ..core.cluster.snapshot import Snapshot


@attrs.define(eq=False)
class FrameworkCache(Cache):
    """A cache in which a confirmed pod takes the assumed one's place, at the end of its node's list."""

    def add(self, pod: Pod) -> None:
        state = self.state(pod)
        was_assumed = state is not None and state.assumed
        super().add(pod)
        if was_assumed:
            self.update(pod)


@attrs.define(eq=False)
class FrameworkNominations(Nominations):
    """Nominations without the pods that have a node already."""

    def add(self, pod: Pod, node_name: str = "") -> None:
        if pod.spec.node_name:
            self.remove(pod)
        else:
            super().add(pod, node_name)


@attrs.define(eq=False)
class FrameworkSnapshot(Snapshot):
    """A snapshot in which a node that is gone leaves at once, with all its pods."""

    version: int = 0
    """Moves when the set of node names changes."""

    def refresh(self) -> None:
        changes, self.cache.changes = self.cache.changes, {}
        for name, steps in changes.items():
            self._catch_up(name, self.cache.infos.get(name), steps)

    def _catch_up(self, name: str, info: NodeInfo | None, steps: list[Change]) -> None:
        known = name in self.table.row_of
        if info is not None and info.node is not None:
            if not known:
                self._stale.add(name)
            self._follow_or_rebuild(name, info, steps)
            self.version += not known
        elif known:
            self.table.drop(name)
            self.version += 1


@attrs.define(eq=False)
class NodeOrder:
    """The snapshot's list of nodes: one of each zone in turn, worked out again only when the set of names changed."""

    cache: Cache
    snapshot: FrameworkSnapshot
    table: NodeTable
    _version: int = -1
    _rows: Rows = attrs.field(factory=lambda: np.zeros(0, np.intp))
    _turned: tuple[int, int, Rows] | None = None
    _places: tuple[Rows, Rows] | None = None

    @property
    def version(self) -> int:
        """Moves when other nodes are in the list, or the list is in another order."""
        return self._version

    def rows(self) -> Rows:
        """The rows of the nodes in order: intp[nodes]. Upstream: nodeTree.list, updateNodeInfoSnapshotList."""
        if self._version != self.snapshot.version:
            zones = [zone.names for zone in self.cache.order.tree.zones.values()]
            longest = max(map(len, zones), default=0)
            names = (names[i] for i in range(longest) for names in zones if i < len(names))
            self._rows = np.array([self.table.row_of[name] for name in names], np.intp)
            self._version = self.snapshot.version
        return self._rows

    def from_place(self, start: int) -> Rows:
        """The same, beginning with the node at place *start*."""
        rows = self.rows()
        if self._turned is None or self._turned[:2] != (self._version, start):
            self._turned = self._version, start, np.concatenate([rows[start:], rows[:start]]) if start else rows
        return self._turned[2]

    def places(self, order: Rows) -> Rows:
        """The place of each row in *order*: intp[rows]."""
        if self._places is None or self._places[0] is not order:
            places = np.zeros(self.table.size, np.intp)
            places[order] = np.arange(len(order))
            self._places = order, places
        return self._places[1]
