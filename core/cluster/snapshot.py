"""The snapshot, which updates the table from the cache when a cycle begins, and the visiting order of its
nodes. Releases differ in rows without a node."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from ...api.objects import Node
from ..arrays import NO_ROWS, ImageStates, NodeTable, Rows
from ..pods import SPARE, rebuilt_from
from ..release.framework import ReadsByCursor
from .cache import Cache, CacheChange, NodeInfo

INCONSISTENT = (
    "snapshot state is not consistent, length of NodeInfoList={listed} not equal to length of nodes in tree={nodes} "
    ", length of NodeInfoMap={entries}, length of nodes in cache={cached}, trying to recover"
)


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
    fault: str = ""
    """The error that ends the next cycle: the node list was not rebuilt when a node left. Upstream: where
    nodes are forgotten with their pods, the snapshot is cleared only while it has more entries than the
    cache, and the cache has entries without a node, too."""
    _left: set[str] = attrs.Factory(set)
    """The deleted nodes that still have an entry in the snapshot."""
    _listed: int = 0
    """The number of nodes in the list."""
    _images_at: dict[str, int] = attrs.Factory(dict)
    """Node -> the cache's ``images_revision`` when the nodes with its images were counted, for a ``table``
    that counts them late."""
    _stale: set[str] = attrs.Factory(set)
    """Names whose rows are stale: changes were not applied because there was no node."""
    _waiting: dict[int, tuple[Node, ImageStates]] = attrs.Factory(dict)
    """Row -> a node still to be given to the table: all are given at once, at the end."""

    def refresh(self) -> None:
        """Bring the table up to date."""
        cache = self.cache
        changes = cache.changes
        cache.changes = {}
        if self.resets_all_transient and self.table.has_transient:
            self.table.transient[:] = 0
        known_names = changes.keys() & self.table.row_of.keys() if cache.forgets_with_node else ()
        if not changes.keys() <= self.table.row_of.keys():
            self._add_rows(changes)
        infos = cache.infos
        row_of = self.table.row_of
        is_plain = not self.table.has_transient
        for name, steps in changes.items():
            info = infos.get(name)
            first_step = steps[0]
            row = row_of.get(name)
            if (
                is_plain
                and len(steps) == 1
                and first_step.node is not None
                and row is not None
                and name not in self._stale
            ):
                # Only a node object changed, as where a whole cluster is loaded.
                self._waiting[row] = first_step.node, self._images(name, first_step.node, first_step.images)
            elif self.keeps_nodeless or (
                info is not None and info.node is not None and name not in self._stale
            ):
                self._follow(name, info, steps)
            else:
                self._catch_up(name, info)
        if self._waiting:
            self._give_nodes()
        if changes and cache.forgets_with_node:
            self._check_list(known_names, changes)
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
                # Pods may be older than the changes, as may pods that left with one of them.
                self._stale.update(name for name in new if infos[name].pods or len(changes[name]) > 1)
                self.version += len(new)

    def _check_list(self, known_names: Collection[str], changes: Iterable[str]) -> None:
        """Find out whether the list is rebuilt, or should have been: then there is a :attr:`fault`.
        *known_names*: the names with *changes* that had a row."""
        rows = self.table.row_of
        infos, placeholders = self.cache.infos, self.cache.placeholders
        came = {name for name in changes if name in rows and name not in known_names}
        is_anew = not came <= self._left
        self._left -= came
        self._left.update(name for name in known_names if name not in rows)
        entries, cached = len(rows) + len(self._left), len(infos) + len(placeholders)
        if entries > cached:
            is_anew = True
            self.version += 1
            gone = sorted(name for name in self._left if name not in infos and name not in placeholders)
            self._left.difference_update(gone[: entries - cached])
        nodes = self.cache.node_count
        if not is_anew and self._listed != nodes:
            self.version += 1
            self.fault = INCONSISTENT.format(listed=self._listed, nodes=nodes, entries=entries, cached=cached)
        self._listed = nodes

    def saved(self) -> set[str]:
        """The entries of deleted nodes, for :meth:`restore`."""
        return set(self._left)

    def restore(self, left: set[str]) -> None:
        """Restore the entries that were :meth:`saved`, and drop any fault of what was tried since."""
        self.refresh()
        self._left, self.fault = left, ""

    def _give_nodes(self) -> None:
        waiting = self._waiting
        self._waiting = {}
        self.table.set_nodes(waiting)

    def _catch_up(self, name: str, info: NodeInfo | None) -> None:
        """Update a row that has no node, or whose changes were not applied."""
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
                self.table.keep_ghost(name, self.table)
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

    def _images(self, name: str, node: Node, images: ImageStates) -> ImageStates:
        """The images of a node: *images* as they were, where they are not counted late."""
        if self.table.recounted is None:
            return images
        cache = self.cache
        if len(self._images_at) > 2 * len(cache.infos) + SPARE:
            self._images_at = {name: at for name, at in self._images_at.items() if name in cache.infos}
        self._images_at[name] = cache.images_revision
        return cache.image_states(node)


# --- The visiting order of the nodes, and where the next search begins --------------------------------------
# Releases with predicates visit the node tree round after round. The framework visits a list that is rebuilt
# when nodes change.


@attrs.define(eq=False, repr=False)
class Order(ABC):
    """The order in which the next search visits nodes. The snapshot must be fresh."""

    cache: Cache
    table: NodeTable
    is_regular: bool = attrs.field(default=True, init=False)
    """Whether the coming pass visits each node once."""
    revision: Hashable = attrs.field(default=-1, init=False)
    """Moves when the visited rows or their cyclic order change."""
    _latest: tuple[Hashable, int, Rows] | None = attrs.field(default=None, init=False)
    """The latest pass, and where it began."""
    _places: tuple[Rows, Rows] | None = attrs.field(default=None, init=False)
    """The rows of a pass and their positions in it."""

    @property
    @abstractmethod
    def position(self) -> Any:
        """The node where the next search begins; it can be set."""

    @position.setter
    @abstractmethod
    def position(self, position: Any) -> None: ...

    @abstractmethod
    def one_pass(self) -> Rows:
        """The rows that the next search visits if it does not stop early: intp[nodes]."""

    @abstractmethod
    def take(self, visited: int, *, stopped: bool = False) -> None:
        """A search visited *visited* nodes; *stopped*: the last of them was the feasible node beyond the
        wanted number."""

    def places(self) -> Rows:
        """The position of each row in the latest pass: intp[rows]."""
        rows = self.one_pass() if self._latest is None else self._latest[2]
        if self._places is None or self._places[0] is not rows:
            places = np.zeros(int(rows.max()) + 1, np.intp)
            places[rows] = np.arange(len(rows))
            self._places = rows, places
        return self._places[1]


def _rows(names: Sequence[str], row_of: Mapping[str, int]) -> Rows:
    return np.fromiter(map(row_of.__getitem__, names), np.intp, len(names))


@rebuilt_from("cache", "table")
@attrs.define(eq=False, repr=False)
class RoundOrder(Order):
    """The endless rounds of the node tree. Upstream: NodeTree.Next in
    pkg/scheduler/internal/cache/node_tree.go."""

    _counts: tuple[int, int] = (0, 0)
    """The number of nodes in the rest of the first round and in a whole round."""
    _rest: Rows = NO_ROWS
    _rounds: Rows = NO_ROWS
    """The rows of a round twice, so that a round from any start is a slice."""

    @property
    def position(self) -> Any:
        return self.cache.order.taken

    @position.setter
    def position(self, position: Any) -> None:
        self.cache.order.taken = position

    def one_pass(self) -> Rows:
        order = self.cache.order
        if order.rest is None or self.revision != (order.version, self.table.rows_version):
            # The node tree has changed, or the rows of the table.
            self._rest, full_round = (_rows(names, self.table.row_of) for names in order.rest_and_round())
            self._rounds = np.concatenate([full_round, full_round])
            self._counts = len(self._rest), len(full_round)
            self.revision, self._latest = (order.version, self.table.rows_version), None
        rest, full = self._counts
        in_rest = order.taken < rest
        start = order.taken if in_rest else (order.taken - rest) % full if full else 0
        if self._latest is None or self._latest[:2] != (in_rest, start):
            count = len(order)
            if in_rest:
                rows = np.concatenate([self._rest[start:], self._rounds])[:count]
            else:
                rows = self._rounds[start : start + full]
            self._latest = in_rest, start, rows
            self.is_regular = not in_rest or (start == 0 and rest == count)
        return self._latest[2]

    def take(self, visited: int, *, stopped: bool = False) -> None:
        # Upstream: the feasible node beyond the wanted number is consumed too.
        self.cache.order.taken += visited


@attrs.define(eq=False, repr=False)
class ListOrder(Order):
    """The snapshot's list of nodes, one of each zone in turn. Upstream: nodeTree.list,
    updateNodeInfoSnapshotList."""

    snapshot: Snapshot
    by_cursor: ReadsByCursor = "never"
    """The times when the list continues from the node tree's cursor. After a change it can then begin at any
    node, and have one node twice and another not at all."""
    start: int = 0
    """The index at which the next search begins. Upstream: nextStartNodeIndex."""
    _doubled: tuple[Hashable, Rows] = (-1, NO_ROWS)
    """The revision of the rows, and the rows twice, so that a pass from any start is a slice."""
    _version: int = -1
    """The version of the snapshot when the list was read."""
    _read_at: tuple[int, int, int] | None = None
    """The state when the list was last read on: the versions of the node tree and of the table's rows, and
    the cursor's place in the rest of a round and a whole one."""
    _readings: int = 0
    """The number of times that the list changed."""
    _rows: Rows = NO_ROWS

    @property
    def position(self) -> Any:
        return self.start if self.by_cursor == "never" else (self.start, self.cache.order.taken)

    @position.setter
    def position(self, position: Any) -> None:
        if self.by_cursor == "never":
            self.start = position
        else:
            self.start, self.cache.order.taken = position

    def read_again(self) -> None:
        """Read the list anew when it is next asked for."""
        self._version = -1

    def rows(self) -> Rows:
        """The rows of the nodes, in list order: intp[nodes]."""
        if self._version != self.snapshot.version:
            self._version = self.snapshot.version
            if self.by_cursor == "never":
                self._rows = _rows(self.cache.order.tree.one_round(), self.table.row_of)
                self.revision = self._version
            else:
                self._read_on()
        return self._rows

    def _read_on(self) -> None:
        """Read as many nodes as there are, from the cursor on. The list stays the same where the cursor has
        gone round once."""
        order = self.cache.order
        (rest, full), taken, count = order.rest_and_round(), order.taken, len(order)
        if not count:
            self._take_over(NO_ROWS)
            return
        at = taken if taken < len(rest) else len(rest) + (taken - len(rest)) % len(full)
        order.taken += count
        read_at = order.version, self.table.rows_version, at
        if read_at != self._read_at:
            rest_of_round = rest[at:]
            at = max(0, at - len(rest))
            names = (
                [*rest_of_round, *full[at:], *full[:at]]
                if len(rest_of_round) + len(full) >= count
                else [*rest_of_round, *full, *full]
            )
            self._take_over(_rows(names[:count], self.table.row_of))
            self._read_at = read_at

    def _take_over(self, rows: Rows) -> None:
        if not np.array_equal(rows, self._rows):
            self._readings += 1
            self._rows = rows
            self.revision = self._readings
            self.is_regular = len(np.unique(rows)) == len(rows)

    def one_pass(self) -> Rows:
        rows = self._rows if self._version == self.snapshot.version else self.rows()
        start = self.start % len(rows) if len(rows) else 0
        if self._latest is None or self._latest[:2] != (self.revision, start):
            if self._doubled[0] != self.revision:
                self._doubled = self.revision, np.concatenate([rows, rows])
            self._latest = self.revision, start, self._doubled[1][start : start + len(rows)]
        return self._latest[2]

    def take(self, visited: int, *, stopped: bool = False) -> None:
        # Upstream: the feasible node beyond the wanted number is not consumed; the next search begins with
        # it.
        self.start = (self.start + visited - stopped) % len(self._rows)
