"""The snapshot: it brings the table up to date with the cache when a cycle begins. Releases differ in rows
without a node.

Upstream: UpdateNodeInfoSnapshot in pkg/scheduler/internal/cache/cache.go (1.12: UpdateNodeNameToInfoMap).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from ...api.objects import Node
from ..arrays import ImageStates, NodeTable
from ..pods import SPARE
from .cache import Cache, CacheChange, NodeInfo


@attrs.define(eq=False, repr=False)
class Snapshot:
    """Keeps *table* equal to the release's snapshot of *cache*."""

    cache: Cache
    table: NodeTable
    keeps_nodeless: bool
    """Rows without a node follow the cache; else a row keeps the last state that had a node."""
    resets_all_transient: bool = False
    """Transient volume counts are reset on every node in each cycle; else only on changed ones."""
    drops_nodeless: bool = False
    """The row of a deleted node is dropped, with all its pods."""
    keeps_ghosts: bool = False
    """The last state of such a row is kept for preemption, until all its pods have left:
    :attr:`NodeTable.ghosts`."""
    version: int = 0
    """With *drops_nodeless*: moves when the set of nodes changes."""
    _images_at: dict[str, int] = attrs.Factory(dict)
    """Node -> the cache's ``images_revision`` when the nodes with its images were counted, where ``table``
    counts them late."""
    _stale: set[str] = attrs.Factory(set)
    """Names whose rows are stale: changes were not applied because there was no node."""
    _waiting: dict[int, tuple[Node, ImageStates]] = attrs.Factory(dict)
    """Rows whose nodes are given to the table at once, at the end."""

    def refresh(self) -> None:
        """Bring the table up to date."""
        cache = self.cache
        changes = cache.changes
        cache.changes = {}
        if self.resets_all_transient and self.table.has_transient:
            self.table.transient[:] = 0
        if not changes.keys() <= self.table.row_of.keys():
            self._add_rows(changes)
        infos = cache.infos
        row_of = self.table.row_of
        is_plain = not self.table.has_transient
        for name, steps in changes.items():
            info = infos.get(name)
            first = steps[0]
            row = row_of.get(name)
            if (
                is_plain
                and len(steps) == 1
                and first.node is not None
                and row is not None
                and name not in self._stale
            ):
                # A node object and nothing else, as where a whole cluster comes.
                self._waiting[row] = first.node, self._images(name, first.node, first.images)
            elif self.keeps_nodeless or (
                info is not None and info.node is not None and name not in self._stale
            ):
                self._follow(name, info, steps)
            else:
                self._catch_up(name, info)
        if self._waiting:
            self._give_nodes()
        if self.table.ghosts:
            self._forget_ghosts()
        if not (self.keeps_nodeless or self.drops_nodeless) and len(self.table.row_of) > len(cache.infos):
            # Upstream: only when the snapshot has more entries than the cache.
            for name in [name for name in self.table.row_of if name not in cache.infos]:
                self.table.drop(name)
                self._stale.discard(name)

    def _add_rows(self, changes: Mapping[str, Sequence[CacheChange]]) -> None:
        """Make rows for those nodes with *changes* that get one."""
        infos = self.cache.infos
        row_of = self.table.row_of
        new = [
            name
            for name in changes
            if name not in row_of
            and (info := infos.get(name)) is not None
            and (self.keeps_nodeless or info.node is not None)
        ]
        if new:
            self.table.add_rows(new)
            if self.drops_nodeless:
                # Pods may be older than the changes, also those that left with one of them.
                self._stale.update(name for name in new if infos[name].pods or len(changes[name]) > 1)
                self.version += len(new)

    def _give_nodes(self) -> None:
        given = self._waiting
        self._waiting = {}
        self.table.set_nodes(given)

    def _catch_up(self, name: str, info: NodeInfo | None) -> None:
        """Bring a row up to date that has no node, or whose changes were not applied."""
        if info is not None and info.node is not None:
            self._stale.discard(name)
            if self.table.nodes[self.table.row_of[name]] is not None:
                self.table.drop(name)
            row = self.table.row(name)
            for entry in info.pods:
                self.table.add_pod(row, entry)
            assert info.node is not None
            self._waiting[row] = info.node, self._images(name, info.node, info.images)
            self.table.set_ports(row, info.used_ports)
        elif not self.drops_nodeless:
            # Upstream: an entry without a node is not cloned, so the old clone with the old node stays.
            self._stale.add(name)
            self.table.changed.unseen_changed()
            stale = self.table.row_of.get(name)
            if stale is not None and stale not in self.table.deleted_rows:
                self.table.deleted_rows.add(stale)
                self.table.changed.node_changed(stale)
        elif name in self.table.row_of:
            if self.keeps_ghosts:
                self.table.keep_ghost(name)
            self.table.drop(name)
            self.version += 1

    def _forget_ghosts(self) -> None:
        """Forget the last state of nodes that are back, and of those without pods."""
        ghosts = self.table.ghosts
        infos = self.cache.infos
        for name in self.table.row_of.keys() & ghosts.keys():
            del ghosts[name]
        # Upstream: only when the snapshot has more entries than the cache.
        if len(self.table.row_of) + len(ghosts) > len(infos):
            for name in ghosts.keys() - infos.keys():
                del ghosts[name]

    def _follow(self, name: str, info: NodeInfo | None, steps: list[CacheChange]) -> None:
        if info is None:
            if name in self.table.row_of:
                self.table.drop(name)
            return
        row = self.table.row_of[name]
        for step in steps:
            entry = step.entry
            if entry is None:
                if row in self._waiting:
                    self._give_nodes()
                if step.node is None:
                    self.table.clear_node(row)
                else:
                    self._waiting[row] = step.node, self._images(name, step.node, step.images)
            elif step.sign > 0:
                self.table.add_pod(row, entry)
            else:
                self.table.remove_pod(row, entry)
        if self.table.has_transient:
            self.table.transient[:, row] = 0
        is_late = self.table.recounted is not None
        if is_late and info.node is not None and self._images_at.get(name) != self.cache.images_revision:
            self.table.recount_images(row, self._images(name, info.node, info.images))

    def _images(self, name: str, node: Node, told: ImageStates) -> ImageStates:
        """The images of a node, as they were *told* where they are not counted late."""
        if self.table.recounted is None:
            return told
        cache = self.cache
        if len(self._images_at) > 2 * len(cache.infos) + SPARE:
            self._images_at = {name: at for name, at in self._images_at.items() if name in cache.infos}
        self._images_at[name] = cache.images_revision
        return cache.image_states(node)
