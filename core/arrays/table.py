"""The cluster as arrays: one row a node, as the scheduler's snapshot has it.

Upstream: pkg/scheduler/nodeinfo/node_info.go (1.12: pkg/scheduler/cache/node_info.go).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, TypeVar

import attrs
import numpy as np

from ...api.meaning import PLACES
from ...api.objects import NO_STRINGS, Map, Node, Taint
from ..pods import (
    ATTACHABLE_PREFIX,
    EPHEMERAL_STORAGE,
    NATIVE,
    PODS,
    SPARE,
    Entry,
    Port,
    Template,
    of_node,
    take_out,
)
from .census import Census, PodCount
from .columns import ChangeLog, Derived, Ints, Mask, NodeColumn, Rows, RowsByValue, grown

_T = TypeVar("_T")
Statuses = tuple[tuple[str, str], ...]
ImageStates = Mapping[str, tuple[int, int]]
HUGE = 1 << 56
"""Amounts below this fit into 64 bits a hundred times over."""
MOST_KEPT = 1 << 14
"""Answers about the node objects that are kept at a time."""
POD_COUNT = 2
FIRST_RESOURCE = 3
"""The rows of ``sums`` with the number of pods and, from there on, requests by resource."""
PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")
NO_PRESSURES = ("", "", "")
AVOID = "scheduler.alpha.kubernetes.io/preferAvoidPods"


def _flags() -> Mask:
    return np.zeros(8, np.bool_)


def _pressures(before: tuple[str, str, str], conditions: Statuses) -> tuple[str, str, str]:
    latest = dict(zip(PRESSURES, before, strict=True)) | dict(conditions)
    return latest[PRESSURES[0]], latest[PRESSURES[1]], latest[PRESSURES[2]]


@attrs.define(eq=False, repr=False)
class NodeTable:
    """N rows, R resources; arrays grow by doubling, rows are reused.

    ``allocatable``, ``requested``: int64[R, N], contiguous by resource; ``nonzero``: int64[2, N], cpu and
    memory with defaults; ``pod_count``, ``max_pods``: int64[N]; ``has_node``: bool[N], False on rows whose
    node is gone or was never seen; ``used``: bool[N], False on free rows. Columns hold one interned value a
    row. ``pods[row]`` is the node's own ordered list.
    """

    zone_key: Callable[[Mapping[str, str]], str]
    ignores_storage: bool = False
    """Nodes have no ephemeral storage."""
    size: int = 0
    """Rows handed out so far, free ones included."""
    row_of: dict[str, int] = attrs.Factory(dict)
    repeats: dict[str, list[int]] = attrs.Factory(dict)
    """The further rows of a node that a list of nodes has more than once."""
    names: list[str] = attrs.Factory(list)
    nodes: list[Node | None] = attrs.Factory(list)
    pods: list[list[Entry]] = attrs.Factory(list)
    resources: dict[str, int] = attrs.field(factory=lambda: {name: i for i, name in enumerate(NATIVE)})
    """Resource name -> index into the first axis of ``allocatable`` and ``requested``."""
    limits: Ints = attrs.field(factory=lambda: np.zeros((1 + 3, 8), np.int64))
    """``max_pods`` and ``allocatable``, one below the other, as ``sums`` has what pods take of them."""
    sums: Ints = attrs.field(factory=lambda: np.zeros((FIRST_RESOURCE + 3, 8), np.int64))
    """All that pods add up to, so that a pod is one addition: ``nonzero``, ``pod_count`` and ``requested``,
    one below the other."""
    has_node: Mask = attrs.Factory(_flags)
    used: Mask = attrs.Factory(_flags)
    transient: Ints = attrs.field(factory=lambda: np.zeros((2, 8), np.int64))
    """Allocatable and requested volumes, as the count predicates left them in this cycle."""
    labels: dict[str, NodeColumn[str | None]] = attrs.Factory(dict)
    """Label key -> value, None where absent; one column per key in use."""
    taints: NodeColumn[tuple[Taint, ...]] = attrs.field(factory=lambda: NodeColumn(()))
    conditions: NodeColumn[Statuses] = attrs.field(factory=lambda: NodeColumn(()))
    """(type, status) of each condition, in the node's order."""
    pressures: NodeColumn[tuple[str, str, str]] = attrs.field(factory=lambda: NodeColumn(NO_PRESSURES))
    """Status of MemoryPressure, DiskPressure, PIDPressure; a condition that disappears keeps its last one."""
    unschedulable: NodeColumn[bool] = attrs.field(factory=lambda: NodeColumn(False))
    zone: NodeColumn[str] = attrs.field(factory=lambda: NodeColumn(""))
    avoid: NodeColumn[str | None] = attrs.field(factory=lambda: NodeColumn(None))
    """The annotation :data:`AVOID`."""
    attachable: NodeColumn[Map[int]] = attrs.field(factory=lambda: NodeColumn(Map()))
    """The number of volumes of each kind that may be attached: the ``attachable-volumes-*`` among
    allocatable, absent where not given."""
    has_huge: bool = False
    """Some node had :data:`HUGE` or more of something, or less than nothing."""
    images: dict[str, dict[int, tuple[int, int]]] = attrs.Factory(dict)
    """Image name -> row -> (size in bytes, nodes that had it when the row's node was last updated)."""
    recounted: PodCount | None = None
    """A counter of changed image counts, not of pods. It moves when the numbers of nodes with a row's images
    change though its node stays. None: they never do."""
    ports: RowsByValue = attrs.Factory(RowsByValue)
    """Host port -> rows. A set, as upstream: when the first of two users leaves, the port is free."""
    volumes: dict[int, int] = attrs.Factory(dict)
    """Row whose pods have volumes -> the number of those pods."""
    priorities: dict[int, int] = attrs.Factory(dict)
    """Priority -> the number of pods with it, on all rows."""
    deleted_rows: set[int] = attrs.Factory(set)
    """Rows of deleted nodes whose pods remain; no lister finds these nodes any more."""
    ghosts: dict[str, tuple[Node, ImageStates, list[Entry]]] = attrs.Factory(dict)
    """The last state of nodes that are not in the list, where a release's preemption tries them all the same:
    with images and pods."""
    unlisted: Mapping[str, Sequence[Entry]] = attrs.Factory(dict)
    """The pods of nodes that are not in the list of a cycle, though they are there."""
    has_transient: bool = False
    """Whether some row may hold such counts."""
    rows_version: int = 0
    """Moves whenever a row gets or loses its name."""
    shared_names: bool = False
    """Whether ``names`` is in use elsewhere: copy it before the next change."""
    changed: ChangeLog = attrs.Factory(ChangeLog)
    census: Census = attrs.field(init=False)
    places: Derived = attrs.Factory(Derived)
    """The places of several resources at once, by their names."""
    _amounts: dict[Template, Ints] = attrs.Factory(dict)
    """The numbers that a pod adds to its column of ``sums``."""
    _free: list[int] = attrs.Factory(list)
    _images_of: dict[int, tuple[str, ...]] = attrs.Factory(dict)

    def __attrs_post_init__(self) -> None:
        self.census = Census(self.labels)

    def __repr__(self) -> str:
        return f"<NodeTable: {np.count_nonzero(self.has_node)} nodes, {int(self.pod_count.sum())} pods>"

    @property
    def max_pods(self) -> Ints:
        column: Ints = self.limits[0]
        return column

    @property
    def allocatable(self) -> Ints:
        return self.limits[1:]

    @property
    def nonzero(self) -> Ints:
        return self.sums[:POD_COUNT]

    @property
    def pod_count(self) -> Ints:
        counts: Ints = self.sums[POD_COUNT]
        return counts

    @property
    def requested(self) -> Ints:
        return self.sums[FIRST_RESOURCE:]

    @property
    def has_nodeless(self) -> bool:
        """Whether any row in use has no node object."""
        return self.node_derived("nodeless", lambda: bool((self.used & ~self.has_node)[: self.size].any()))

    def node_derived(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """The value that *make* derives from the node objects alone, kept by *key* until one of them
        changes."""
        value: _T | None = self.changed.derived.kept.get(key)
        if value is None:
            if len(self.changed.derived.kept) > MOST_KEPT:
                self.changed.derived = Derived()
            value = make()
            self.changed.derived.kept[key] = value
        return value

    @contextmanager
    def forgetful(self) -> Iterator[None]:
        """While the context lasts, nothing that was derived before is known."""
        log = self.changed
        before, revision = log.derived, log.node_revision
        log.derived = Derived()
        try:
            yield
        finally:
            if log.node_revision == revision:
                log.derived = before

    # --- rows -----------------------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        """Rows in use: upstream's number of NodeInfos in the snapshot."""
        return len(self.row_of)

    def rows_of(self, name: str) -> list[int]:
        """The rows of the node *name*."""
        row = self.row_of.get(name)
        return [] if row is None else [row, *self.repeats.get(name, ())]

    def row(self, name: str) -> int:
        """The row of *name*, a new one without node where it has none."""
        if name not in self.row_of:
            self.add_rows([name])
        return self.row_of[name]

    def add_rows(self, names: Sequence[str]) -> None:
        """Give *names*, which have no rows, new ones without node."""
        rows_of_names = [self._free.pop() for _ in names[: len(self._free)]]
        new = len(names) - len(rows_of_names)
        rows_of_names += range(self.size, self.size + new)
        self._own_names()
        self.names += [""] * new
        self.nodes += [None] * new
        self.pods += [[] for _ in range(new)]
        for row, name in zip(rows_of_names, names, strict=True):
            self.names[row] = name
        self.row_of.update(zip(names, rows_of_names, strict=True))
        self._make_room(self.size + new)
        rows = np.array(rows_of_names, np.intp)
        self.used[rows] = True
        self.changed.nodes_changed(rows)

    def _own_names(self) -> None:
        """The names of rows are about to change."""
        if self.shared_names:
            self.names = list(self.names)
            self.shared_names = False
        self.rows_version += 1

    def _make_room(self, size: int) -> None:
        self.size = size
        if size > len(self.used):
            for attribute in ("limits", "sums", "transient", "has_node", "used"):
                setattr(self, attribute, grown(getattr(self, attribute), size))
            for column in self._columns():
                column.codes = grown(column.codes, size)

    def _columns(self) -> list[NodeColumn[Any]]:
        of_node: list[NodeColumn[Any]] = [
            self.taints,
            self.conditions,
            self.pressures,
            self.unschedulable,
            self.zone,
        ]
        return [*of_node, self.avoid, self.attachable, *self.labels.values()]

    def drop(self, name: str) -> None:
        """Free the row of *name* with everything on it."""
        row = self.row_of[name]
        for entry in list(self.pods[row]):
            self.remove_pod(row, entry)
        self.clear_node(row)
        self.set_ports(row, ())
        self.transient[:, row] = 0
        self._own_names()
        self.names[row] = ""
        del self.row_of[name]
        self.used[row] = False
        self.deleted_rows.discard(row)
        self._free.append(row)
        self.changed.node_changed(row)

    def keep_ghost(self, name: str, table: NodeTable) -> None:
        """Keep the state of the node *name* in *table*, this one or another, among :attr:`ghosts`."""
        row = table.row_of[name]
        if (node := table.nodes[row]) is not None:
            self.ghosts[name] = node, table.images_on(row), list(table.pods[row])

    def take_transient(self, rows: Rows, table: NodeTable) -> None:
        """Take over the counts of *table*, whose rows are *rows* here, in that order."""
        self.transient[:, rows] = table.transient[:, : len(rows)]
        self.has_transient |= table.has_transient

    @contextmanager
    def with_ghosts(self) -> Iterator[Ints]:
        """While the context lasts, :attr:`ghosts` have rows, which it gives: intp[ghosts]."""
        names = list(self.ghosts)
        for name in names:
            node, images, entries = self.ghosts[name]
            row = self.row(name)
            for entry in entries:
                self.add_pod(row, entry)
            self.set_nodes({row: (node, images)})
        try:
            yield np.array([self.row_of[name] for name in names], np.intp)
        finally:
            for name in names:
                self.drop(name)

    # --- nodes ----------------------------------------------------------------------------------------------

    def set_nodes(self, nodes_by_row: Mapping[int, tuple[Node, ImageStates]]) -> None:
        """Give rows their node objects, new or updated, each with its images: name -> (size in bytes, number
        of nodes with it)."""
        nodes = {row: node for row, (node, _) in nodes_by_row.items()}
        self._describe(nodes)
        for row, (node, images) in nodes_by_row.items():
            self.nodes[row] = node
            if images or row in self._images_of:
                self._set_images(row, images)
        self.has_node[list(nodes_by_row)] = True

    def clear_node(self, row: int) -> None:
        """Take the node object off *row*; its pods stay."""
        self._describe({row: Node()})
        self.pressures.codes[row] = 0
        self.nodes[row], self.has_node[row] = None, False
        self._set_images(row, {})

    def _describe(self, nodes: Mapping[int, Node]) -> None:
        """Fill the columns of rows; what nodes have in common is looked at once."""
        self._set_labels(nodes)
        rows = np.fromiter(nodes, np.intp, len(nodes))
        # Nodes of one kind have the same columns, except those that follow from labels. The earlier state of
        # pressures counts, too.
        keys = [
            (
                id(node.status.allocatable),
                id(node.status.conditions),
                id(node.spec.taints),
                node.spec.unschedulable,
                node.metadata.annotations.get(AVOID),
                pressures,
            )
            for node, pressures in zip(nodes.values(), self.pressures.codes[rows].tolist(), strict=True)
        ]
        kinds = dict(zip(keys, nodes.values(), strict=True))
        kind_of_node = np.fromiter(
            map({key: at for at, key in enumerate(kinds)}.__getitem__, keys), np.intp, len(keys)
        )
        amounts = [of_node(node.status.allocatable) for node in kinds.values()]
        if self.ignores_storage:
            amounts = [
                {name: amount for name, amount in amount_by_name.items() if name != EPHEMERAL_STORAGE}
                for amount_by_name in amounts
            ]
        conditions = [tuple((c.type, c.status) for c in node.status.conditions) for node in kinds.values()]
        old_pressures = [self.pressures.values[key[-1]] for key in kinds]
        attachable = [
            Map(
                (name, number)
                for name, number in amount_by_name.items()
                if name.startswith(ATTACHABLE_PREFIX)
            )
            for amount_by_name in amounts
        ]
        columns: list[tuple[NodeColumn[Any], list[Any]]] = [
            (self.taints, [node.spec.taints for node in kinds.values()]),
            (self.unschedulable, [node.spec.unschedulable for node in kinds.values()]),
            (self.avoid, [node.annotations.get(AVOID) for node in kinds.values()]),
            (self.conditions, conditions),
            (self.pressures, list(map(_pressures, old_pressures, conditions))),
            (self.attachable, attachable),
        ]
        for column, values in columns:
            column.codes[rows] = column.coded(values)[kind_of_node]
        for name in chain.from_iterable(amounts):
            if name != PODS:
                self.resource(name)
        limits = [
            [amount_by_name.get(name, 0) for amount_by_name in amounts] for name in (PODS, *self.resources)
        ]
        self.limits[:, rows] = np.array(limits, np.int64)[:, kind_of_node]
        self.has_huge |= any(
            not 0 <= amount < HUGE for amount_by_name in amounts for amount in amount_by_name.values()
        )
        many = [column for column in self._columns() if len(column.values) > 2 * self.size + SPARE]
        for column in many:
            column.forget()
        if many:
            self.census.relabelled()
        self.changed.nodes_changed(rows)

    def _set_labels(self, nodes: Mapping[int, Node]) -> None:
        """Give rows the labels of *nodes*, where they had others."""
        old_labels = {row: node.metadata.labels for row in nodes if (node := self.nodes[row]) is not None}
        new_labels = {row: node.metadata.labels for row, node in nodes.items()}
        if old_labels:
            new_labels = {
                row: labels for row, labels in new_labels.items() if labels != old_labels.get(row, NO_STRINGS)
            }
        if not new_labels:
            return
        rows = np.fromiter(new_labels, np.intp, len(new_labels))
        for key in dict.fromkeys(chain(*new_labels.values(), *old_labels.values())):
            if key not in self.labels:
                self.labels[key] = NodeColumn(None, np.zeros(len(self.used), np.intp))
            column = self.labels[key]
            column.codes[rows] = column.coded([labels.get(key) for labels in new_labels.values()])
        places = np.zeros(len(rows), np.intp)
        for column in (self.labels[key] for key in PLACES if key in self.labels):
            places = places * len(column.values) + column.codes[rows]
        _, first_places, place_of_row = np.unique(places, return_index=True, return_inverse=True)
        labels = list(new_labels.values())
        self.zone.codes[rows] = self.zone.coded([self.zone_key(labels[at]) for at in first_places.tolist()])[
            place_of_row
        ]
        if any(self.pods[row] for row in new_labels):
            self.census.relabelled()

    def resource(self, name: str) -> int:
        """The index of a resource, a new one where it was never seen."""
        index = self.resources.get(name)
        if index is None:
            index = self.resources[name] = len(self.resources)
            self._amounts.clear()
            # The batch of all rows has views of the old arrays.
            self.places, self.changed.derived = Derived(), Derived()
            for attribute in ("limits", "sums"):
                array = getattr(self, attribute)
                setattr(self, attribute, np.concatenate([array, np.zeros((1, array.shape[1]), np.int64)]))
        return index

    def _set_images(self, row: int, images: ImageStates) -> None:
        node_images = self._images_of.get(row, ())
        for name in node_images:
            if name not in images:
                self.images[name].pop(row, None)
                if not self.images[name]:
                    del self.images[name]
        for name, state in images.items():
            self.images.setdefault(name, {})[row] = state
        self._images_of[row] = tuple(images)

    def images_on(self, row: int) -> ImageStates:
        """The images of the node on *row*: name -> (size in bytes, number of nodes with it)."""
        return {name: self.images[name][row] for name in self._images_of.get(row, ())}

    def recount_images(self, row: int, images: ImageStates) -> None:
        """Give *row*, whose node did not change, the numbers of nodes that have its *images* now."""
        if self.recounted is not None and any(
            self.images[name][row] != state for name, state in images.items()
        ):
            self._set_images(row, images)
            self.recounted.add(row, 1)
            self.census.revision += 1

    # --- pods -----------------------------------------------------------------------------------------------

    def add_pod(self, row: int, entry: Entry) -> None:
        """Put a pod at the end of the row's list and count it."""
        self.pods[row].append(entry)
        self._count(row, entry, 1)
        for port in entry.template.ports:
            self.ports.put(port, row)

    def remove_pod(self, row: int, entry: Entry) -> None:
        """Take a pod off the row; the last of the list moves into its place."""
        take_out(self.pods[row], entry)
        self._count(row, entry, -1)
        # Upstream: used ports are a set, so the port is free even where another pod still has it.
        for port in entry.template.ports:
            self.ports.drop(port, row)

    def forget(self, in_use: Collection[Template]) -> bool:
        """Keep only the templates *in_use*. Returns whether all counters begin anew: see
        :meth:`Census.forget`."""
        self._amounts = {
            template: amounts for template, amounts in self._amounts.items() if template in in_use
        }
        begins_anew = self.census.forget(in_use)
        if begins_anew:
            self.changed.derived = Derived()
        return begins_anew

    def set_ports(self, row: int, used: Collection[Port]) -> None:
        """Set the host ports of *row* that are in use."""
        for port in [port for port, rows in self.ports.rows.items() if row in rows and port not in used]:
            self.ports.drop(port, row)
        for port in used:
            self.ports.put(port, row)

    def _count(self, row: int, entry: Entry, sign: int) -> None:
        template = entry.template
        amounts = self._amounts.get(template)
        if amounts is None:
            # The numbers that a pod of *template* adds to its column: int64[rows of `sums`]. Sums wrap
            # around, as Go's do.
            indexes = {self.resource(name): number for name, number in template.footprint.items()}
            amounts = self._amounts[template] = np.zeros(len(self.sums), np.int64)
            amounts[:FIRST_RESOURCE] = *template.nonzero_footprint, 1
            for index, number in indexes.items():
                amounts[FIRST_RESOURCE + index] = number
        column = self.sums[:, row]
        if sign > 0:
            np.add(column, amounts, column)
        else:
            np.subtract(column, amounts, column)
        if template.volumes:
            self.volumes[row] = self.volumes.get(row, 0) + sign
            if not self.volumes[row]:
                del self.volumes[row]
        priority = entry.priority
        self.priorities[priority] = pods_left = self.priorities.get(priority, 0) + sign
        if not pods_left:
            del self.priorities[priority]
        self.census.add(template, row, sign)
        self.changed.note(row, template.size if sign > 0 else None)
