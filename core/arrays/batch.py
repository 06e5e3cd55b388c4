"""The rows that a rule sees: all of a table, some of them, or a what-if copy of some. The rule cannot tell
which."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextvars import ContextVar
from itertools import chain
from typing import Any, ClassVar, Generic, TypeVar, overload

import attrs
import numpy as np
from numpy.typing import NDArray

from ...api.objects import Map, Node, Pod, Taint
from ..pods import CPU, MEMORY, PODS, Entry, Port, Template, rebuilt_from, take_out
from .census import PodCount, Query
from .columns import NO_INTS, ColumnView, Ints, Mask, NodeColumn, Rows, ValueCodes, add_at, grown
from .table import FIRST_RESOURCE, POD_COUNT, NodeTable, Statuses

_T = TypeVar("_T")


class Lazy(Generic[_T]):
    """As :func:`functools.cached_property`, without the lock that it has before Python 3.12: one thread reads
    the batches of a decision."""

    def __init__(self, make: Callable[[Any], _T]) -> None:
        self.make: Callable[[Any], _T] = make
        self.name: str = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> Lazy[_T]: ...
    @overload
    def __get__(self, owner: object, kind: type) -> _T: ...
    def __get__(self, owner: Any, kind: type) -> Lazy[_T] | _T:
        if owner is None:
            return self
        value = owner.__dict__[self.name] = self.make(owner)
        return value


WATCHER: ContextVar[Callable[[str, Collection[str]], None] | None] = ContextVar("watcher", default=None)
"""The callback for a resource that no node has, while a user's rule runs. Its arguments are that resource,
and the resources that nodes have."""
NO_COLUMN: NodeColumn[str | None] = NodeColumn(None)


@attrs.define(eq=False, repr=False)
class PodEdit:
    """A pod put on (*sign* 1) or taken off (-1) a node of an overlay; upstream's metadata follows each in
    turn."""

    at: int
    """Index into the batch."""
    entry: Entry
    sign: int
    original: bool = False
    """Whether this is the first removal of one of the table's own pods."""
    unheard: bool = False
    """Upstream's metadata ignores the edit, as the pod has the incoming pod's namespace and name."""


@attrs.define(eq=False, repr=False)
class EditCounts:
    """The changes of one query's counts by an overlay's edits so far."""

    net: Ints
    touched: Mask
    taken: Ints
    placed: Ints
    given: Ints
    seen: int = 0
    """Edits that are tallied."""

    @classmethod
    def of(cls, n: int) -> EditCounts:
        """Nothing yet, on *n* nodes."""
        return cls(np.zeros(n, np.int64), np.zeros(n, np.bool_), *np.zeros((3, n), np.int64))

    def follow(self, counter: PodCount, edits: Sequence[PodEdit]) -> None:
        """Tally the edits since the last time."""
        for edit in edits[self.seen :]:
            if not edit.unheard and (times := counter.of(edit.entry.template)):
                self.net[edit.at] += edit.sign * times
                self.touched[edit.at] = True
                if edit.original:
                    self.taken[edit.at] += times
                elif not edit.entry.nominated:
                    self.placed[edit.at] += edit.sign * times
                elif edit.entry.pod.spec.node_name:
                    self.given[edit.at] += edit.sign * times
        self.seen = len(edits)


@rebuilt_from("table", "rows")
@attrs.define(eq=False, slots=False, repr=False)
class Batch:
    """*n* nodes of a table. Arrays have one entry a node, in the batch's order; they are not to be written
    to.

    ``rows``: the table's rows, or None for all of them, free ones included (then arrays are views).
    """

    table: NodeTable
    rows: Rows | None = None
    is_described: ClassVar[bool] = False
    """Whether labels are those that an extender sent; see :class:`DescribedBatch`."""

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of {self.n} {'rows: the whole table' if self.rows is None else 'nodes'}>"
        )

    @Lazy
    def n(self) -> int:
        return self.table.size if self.rows is None else len(self.rows)

    def _of(self, array: NDArray[Any]) -> NDArray[Any]:
        return array[: self.n] if self.rows is None else array.take(self.rows)

    @Lazy
    def indexes(self) -> Rows:
        """The table's row of each node: intp[n]."""
        return np.arange(self.table.size) if self.rows is None else self.rows

    def row(self, i: int) -> int:
        """The table's row of node *i*."""
        return i if self.rows is None else int(self.rows[i])

    def some(self, indexes: Rows) -> Batch:
        """A batch of some of these nodes, by index into this one."""
        return Batch(self.table, self.indexes[indexes])

    @staticmethod
    def everywhere(table: NodeTable) -> Batch:
        """All rows of *table*."""
        derived = table.changed.derived.kept
        batch: Batch | None = derived.get(Batch)
        if batch is None:
            batch = derived[Batch] = Batch(table)
        return batch

    def zeros(self) -> Ints:
        """A new array with 0 for each node: int64[n]."""
        return np.zeros(self.n, np.int64)

    def none(self) -> Mask:
        """A new mask of no node: bool[n]."""
        return np.zeros(self.n, np.bool_)

    def every(self) -> Mask:
        """A new mask of all nodes: bool[n]."""
        return np.ones(self.n, np.bool_)

    # --- the node -------------------------------------------------------------------------------------------

    @Lazy
    def has_node(self) -> Mask:
        """The rows with a node object."""
        return self._of(self.table.has_node)

    def node(self, i: int) -> Node | None:
        """The node object of node *i*."""
        return self.table.nodes[self.row(i)]

    def name(self, i: int) -> str:
        """The name of node *i*."""
        return self.table.names[self.row(i)]

    def named(self, name: str) -> Mask:
        """The node called *name*."""
        return np.isin(self.indexes, self.table.rows_of(name))

    def _view(self, column: NodeColumn[Any]) -> ColumnView[Any]:
        return ColumnView(column, self._of(column.codes))

    def label(self, key: str) -> ColumnView[str | None]:
        """The value of label *key*, None where the node lacks it."""
        view = self._labels.get(key)
        if view is None:
            column = self.table.labels.get(key)
            view = ColumnView(NO_COLUMN, np.zeros(self.n, np.intp)) if column is None else self._view(column)
            self._labels[key] = view
        return view

    @Lazy
    def _labels(self) -> dict[str, ColumnView[str | None]]:
        return {}

    def codes_of(self, column: NodeColumn[Any]) -> ValueCodes:
        """The codes of the nodes in *column* of the table: intp[n]."""
        return self._of(column.codes)

    @property
    def taints(self) -> ColumnView[tuple[Taint, ...]]:
        return self._view(self.table.taints)

    @property
    def conditions(self) -> ColumnView[Statuses]:
        """(type, status) of each condition, in the node's own order."""
        return self._view(self.table.conditions)

    @property
    def pressures(self) -> ColumnView[tuple[str, str, str]]:
        """Remembered status of MemoryPressure, DiskPressure, PIDPressure."""
        return self._view(self.table.pressures)

    @property
    def unschedulable(self) -> ColumnView[bool]:
        return self._view(self.table.unschedulable)

    @property
    def zone(self) -> ColumnView[str]:
        """The release's zone key, empty where the node has no zone."""
        return self._view(self.table.zone)

    @property
    def avoid(self) -> ColumnView[str | None]:
        """The annotation preferAvoidPods."""
        return self._view(self.table.avoid)

    @property
    def attachable(self) -> ColumnView[Map[int]]:
        """The number of volumes of each kind that may be attached: the ``attachable-volumes-*`` among
        allocatable."""
        return self._view(self.table.attachable)

    def allocatable(self, resource: str) -> Ints:
        """Allocatable of *resource* (cpu in millicores): int64[n], 0 where the node has none, and for
        ``pods``: see :attr:`max_pods`."""
        index = self.table.resources.get(resource)
        if (
            (tell := WATCHER.get()) is not None
            and (index is None or not self.table.allocatable[index].any())
            and resource != PODS
        ):
            tell(
                resource,
                [name for name, at in self.table.resources.items() if self.table.allocatable[at].any()],
            )
        return self.zeros() if index is None else self._of(self.table.allocatable[index])

    def allocatables(self, resources: tuple[str, ...]) -> Ints:
        """:meth:`allocatable` of each of *resources*: int64[len(resources), n]."""
        return self._of_each(resources, self.limits[1:], with_pods=False)

    def limits_of(self, resources: tuple[str, ...]) -> Ints:
        """As :meth:`allocatables`, where the first of *resources* is ``pods``."""
        return self._of_each(resources, self.limits, with_pods=True)

    @Lazy
    def limits(self) -> Ints:
        """All that can be used up on each node: int64[1 + resources, n], ``pods`` first."""
        if self.rows is None:
            return self.table.limits[:, : self.n]
        return self.table.limits.take(self.rows, axis=1)

    def _of_each(self, resources: tuple[str, ...], amounts: Ints, *, with_pods: bool) -> Ints:
        """The *amounts* of each of *resources*, out of those of all resources, *with_pods* as the first of
        both or not: int64[len(resources), n]."""
        places, key = self.table.places.kept, (resources, with_pods)
        at, absent = places.get(key) or places.setdefault(key, self._places(resources, with_pods))
        if isinstance(at, slice):
            return amounts[at]
        values: Ints = amounts.take(at, axis=0)
        if absent:
            values[absent] = 0
        return values

    def _places(self, resources: tuple[str, ...], with_pods: bool) -> tuple[slice | Rows, list[int]]:
        """The places of *resources* in the table, -1 for an absent one, and the indexes of the absent ones.
        Only *with_pods* is the first of them ``pods``."""
        index_of = self.table.resources
        if with_pods:
            indexes = [0, *(index_of.get(resource, -2) + 1 for resource in resources[1:])]
        else:
            indexes = [index_of.get(resource, -1) for resource in resources]
        places = slice(len(indexes)) if indexes == list(range(len(indexes))) else np.array(indexes, np.intp)
        return places, [i for i, place in enumerate(indexes) if place < 0]

    @property
    def max_pods(self) -> Ints:
        """Allocatable ``pods``: int64[n]."""
        column: Ints = self.limits[0]
        return column

    def image(self, name: str) -> tuple[Ints, Ints]:
        """Size in bytes of image *name* and number of nodes with it, as each node keeps them: int64[n] twice,
        0 where it is absent."""
        states_by_row = self.table.images.get(name, {})
        watch = self.table.census.watch
        recounted = self.table.recounted
        if states_by_row and watch is not None and recounted is not None:
            watch.append(recounted)
        if self.rows is not None and len(self.rows) < len(states_by_row):
            sizes, nodes_with = _pairs([states_by_row.get(row, (0, 0)) for row in self.rows.tolist()])
            return sizes, nodes_with
        states = np.zeros((2, self.table.size), np.int64)
        states[:, np.fromiter(states_by_row, np.intp, len(states_by_row))] = _pairs(states_by_row.values())
        sizes, nodes_with = (self._of(numbers) for numbers in states)
        return sizes, nodes_with

    # --- the pods on it -------------------------------------------------------------------------------------

    def requested(self, resource: str) -> Ints:
        """The sum of *resource* over the node's pods: int64[n]."""
        index = self.table.resources.get(resource)
        if index is None:
            return self.zeros()
        return self._of(self.table.sums[FIRST_RESOURCE + index])

    def requesteds(self, resources: tuple[str, ...]) -> Ints:
        """:meth:`requested` of each of *resources*: int64[len(resources), n]."""
        return self._of_each(resources, self.sums[FIRST_RESOURCE:], with_pods=False)

    def counted(self, resources: tuple[str, ...]) -> Ints:
        """As :meth:`requesteds`, where the first of *resources* is ``pods``: the number of pods."""
        return self._of_each(resources, self.sums[POD_COUNT:], with_pods=True)

    @property
    def nonzeros(self) -> Ints:
        """:meth:`nonzero` of cpu and of memory: int64[2, n]."""
        return self.sums[:POD_COUNT]

    @Lazy
    def sums(self) -> Ints:
        """All that pods add up to on each node: int64[FIRST_RESOURCE + resources, n]."""
        return self.table.sums[:, : self.n] if self.rows is None else self.table.sums.take(self.rows, axis=1)

    def nonzero(self, resource: str) -> Ints:
        """The sum of cpu or memory with the defaults for absent requests: int64[n]."""
        return self._of(self.table.sums[(CPU, MEMORY).index(resource)])

    @property
    def pod_count(self) -> Ints:
        """Pods on the node: int64[n]."""
        counts: Ints = self.sums[POD_COUNT]
        return counts

    def holding_port(self, port: Port) -> Mask:
        """The nodes with exactly this (host IP, protocol, port) in use."""
        mask = np.zeros(self.table.size, np.bool_)
        mask[list(self.table.ports.of(port))] = True
        return self._of(mask)

    def ports(self) -> Iterator[Port]:
        """Every host port in use on any node of the table, and those that an overlay put there."""
        return iter(self.table.ports.rows)  # type: ignore[arg-type]  # only ports are posted there

    def pods(self, i: int) -> Sequence[Entry]:
        """The pods of node *i*, in the node's own order."""
        return self.table.pods[self.row(i)]

    def with_volumes(self) -> Iterator[int]:
        """The indexes of the nodes that may have a pod with volumes."""
        if self.rows is None:
            return iter(sorted(self.table.volumes))
        return (i for i, row in enumerate(self.rows.tolist()) if row in self.table.volumes)

    @property
    def transient(self) -> Ints:
        """Allocatable and requested volumes, as the count predicates of this cycle left them: int64[2, n]."""
        transient = self.table.transient
        return transient[:, : self.n] if self.rows is None else transient[:, self.rows]

    def set_transient(self, i: int, allocatable: int, requested: int) -> None:
        """Leave volume counts on node *i*; clones share them with the snapshot."""
        self.table.transient[:, self.row(i)] = allocatable, requested
        self.table.has_transient = True

    # --- counted over domains -------------------------------------------------------------------------------

    def counter(self, query: Query) -> PodCount:
        """The census's counter of *query*; it leaves out this batch's own edits."""
        return self.table.census.counter(query)

    def counting(self, query: Query) -> Ints:
        """Pods on each node itself that *query* counts: int64[n]."""
        counts = self.base_counting(query)
        return counts + self.edited(query).net if self.edits else counts

    def base_counting(self, query: Query) -> Ints:
        """As :meth:`counting`, without this batch's own edits."""
        counter = self.counter(query)
        if len(counter.rows) < self.table.size:
            counter.rows = grown(counter.rows, self.table.size)
        return self._of(counter.rows)

    @property
    def edits(self) -> Sequence[PodEdit]:
        """The batch's additions to its nodes and removals from them, in order; empty but for overlays."""
        return ()

    def edits_at(self, i: int) -> Sequence[PodEdit]:
        """The edits of node *i*, in order."""
        return ()

    def edited(self, query: Query) -> EditCounts:
        """The changes of the counts of *query* by the batch's own edits; read only."""
        return EditCounts.of(self.n)


def _pairs(pairs: Collection[tuple[int, int]]) -> Ints:
    """Pairs of numbers as two rows: int64[2, pairs]."""
    return np.fromiter(chain.from_iterable(pairs), np.int64, 2 * len(pairs)).reshape(-1, 2).T


@attrs.define(eq=False, slots=False)
class DescribedBatch(Batch):
    """Some rows of a table, with the labels of ``nodes``, which are in the same order.

    A value that no node of the table ever had counts as absent.
    """

    nodes: Sequence[Node] = ()
    is_described: ClassVar[bool] = True

    def some(self, indexes: Rows) -> DescribedBatch:
        return DescribedBatch(self.table, self.indexes[indexes], [self.nodes[i] for i in indexes.tolist()])

    def label(self, key: str) -> ColumnView[str | None]:
        column = self.table.labels.get(key)
        if column is None:
            return ColumnView(NO_COLUMN, np.zeros(self.n, np.intp))
        codes = (column.known(node.labels.get(key)) for node in self.nodes)
        return ColumnView(column, np.fromiter((max(code, 0) for code in codes), np.intp, self.n))


# --- What-if copies of rows: pods are put on and taken off, and the table does not notice -------------------


class OtherSums(Batch):
    """Rows whose pods add up to something else than the table has."""

    def requesteds(self, resources: Sequence[str]) -> Ints:
        return np.array([self.requested(resource) for resource in resources])

    def counted(self, resources: Sequence[str]) -> Ints:
        return np.array([self.pod_count, *map(self.requested, resources[1:])])

    def nonzero(self, resource: str) -> Ints:
        amounts: Ints = self.nonzeros[(CPU, MEMORY).index(resource)]
        return amounts


@attrs.define(eq=False, slots=False, repr=False)
class Overlay(OtherSums):
    """A batch with its own sums, ports and pod lists. Each pod sits on the judged node itself: no other node
    is touched."""

    incoming: Pod | None = None
    """The pod that the trial is for; upstream's metadata does not follow edits of another pod of its name."""
    _edits: list[PodEdit] = attrs.Factory(list)
    _placed: set[int] = attrs.Factory(set)
    """Entries that an edit put here at least once, by identity."""
    _edits_at: dict[int, list[PodEdit]] = attrs.Factory(dict)
    _tallies: dict[Query, EditCounts] = attrs.Factory(dict)
    _pods: dict[int, list[Entry]] = attrs.Factory(dict)
    _counts: Ints = attrs.field(init=False)
    _sums: dict[str, Ints] = attrs.Factory(dict)
    _nonzero: Ints = attrs.field(init=False)
    _ports: dict[Port, dict[int, bool]] = attrs.Factory(dict)

    def __attrs_post_init__(self) -> None:
        self._counts = super().pod_count.copy()
        self._nonzero = super().nonzeros.copy()

    @classmethod
    def of(cls, table: NodeTable, rows: Rows, incoming: Pod | None = None) -> Overlay:
        """An unchanged copy of *rows*, for a trial of *incoming*."""
        return cls(table, np.asarray(rows, np.intp), incoming)

    def some(self, indexes: Rows) -> Overlay:
        """A copy of some of these nodes with the edits made so far."""
        part = Overlay.of(self.table, self.indexes[indexes], self.incoming)
        place = {index: i for i, index in enumerate(indexes.tolist())}
        part._counts = self._counts[indexes]
        part._nonzero = self._nonzero[:, indexes]
        part._sums = {name: amounts[indexes] for name, amounts in self._sums.items()}
        part._placed = self._placed.copy()
        part._pods = {place[at]: list(pods) for at, pods in self._pods.items() if at in place}
        part._ports = {
            port: {place[at]: in_use for at, in_use in use_by_index.items() if at in place}
            for port, use_by_index in self._ports.items()
        }
        for edit in self._edits:
            if (at := place.get(edit.at)) is not None:
                part._keep(PodEdit(at, edit.entry, edit.sign, edit.original, edit.unheard))
        return part

    def add(self, entry: Entry, at: int) -> None:
        """Put a pod at the end of node *at*'s list."""
        self.add_all([(at, entry)])

    def remove(self, entry: Entry, at: int) -> None:
        """Take a pod off node *at*; the last of its list moves into its place."""
        self.remove_all([(at, entry)])

    def add_all(self, pods: Sequence[tuple[int, Entry]]) -> None:
        """Put each pod at the end of its node's list, in this order."""
        self._apply(pods, 1, np.add)

    def remove_all(self, pods: Sequence[tuple[int, Entry]]) -> None:
        """Take each pod off its node, in this order; each time the last of the node's list moves into its
        place."""
        self._apply(pods, -1, np.subtract)

    def _apply(self, pods: Sequence[tuple[int, Entry]], sign: int, change: np.ufunc) -> None:
        if not pods:
            return
        amounts: dict[str, tuple[list[int], list[int]]] = {}
        for at, entry in pods:
            self._note(at, entry, sign)
            for name, number in entry.template.footprint.items():
                places, numbers = amounts.setdefault(name, ([], []))
                places.append(at)
                numbers.append(number)
        for name, (places, numbers) in amounts.items():
            sums = self._sums.get(name)
            if sums is None:
                sums = self._sums[name] = super().requested(name).copy()
            change.at(sums, np.array(places, np.intp), np.array(numbers, np.int64))
        everywhere = np.array([at for at, _ in pods], np.intp)
        change.at(self._counts, everywhere, 1)
        change.at(
            self._nonzero.T,
            everywhere,
            np.array([entry.template.nonzero_footprint for _, entry in pods], np.int64),
        )

    def _note(self, at: int, entry: Entry, sign: int) -> None:
        """Follow an edit in everything but the sums."""
        unheard = (
            self.incoming is not None
            and entry.pod.name == self.incoming.name
            and entry.pod.namespace == self.incoming.namespace
        )
        if sign > 0:
            self.table.census.learn(entry.template)
            self._placed.add(id(entry))
        self._keep(PodEdit(at, entry, sign, sign < 0 and id(entry) not in self._placed, unheard))
        pods = self._pods.get(at)
        if pods is None:
            pods = self._pods[at] = list(self.table.pods[self.row(at)])
        if sign > 0:
            pods.append(entry)
        else:
            take_out(pods, entry)
        for port in entry.template.ports:
            self._ports.setdefault(port, {})[at] = sign > 0

    def _keep(self, edit: PodEdit) -> None:
        self._edits.append(edit)
        self._edits_at.setdefault(edit.at, []).append(edit)

    def requested(self, resource: str) -> Ints:
        return self._sums[resource] if resource in self._sums else super().requested(resource)

    @property
    def nonzeros(self) -> Ints:
        return self._nonzero

    @property
    def pod_count(self) -> Ints:
        return self._counts

    def holding_port(self, port: Port) -> Mask:
        mask = super().holding_port(port)
        for at, in_use in self._ports.get(port, {}).items():
            mask[at] = in_use
        return mask

    def ports(self) -> Iterator[Port]:
        yield from super().ports()
        yield from (port for port in self._ports if port not in self.table.ports.rows)

    def pods(self, i: int) -> Sequence[Entry]:
        pods = self._pods.get(i)
        return super().pods(i) if pods is None else pods

    def with_volumes(self) -> Iterator[int]:
        return iter(sorted({*super().with_volumes(), *self._pods}))

    @property
    def edits(self) -> Sequence[PodEdit]:
        return self._edits

    def edits_at(self, i: int) -> Sequence[PodEdit]:
        return self._edits_at.get(i, ())

    def edited(self, query: Query) -> EditCounts:
        tally = self._tallies.get(query)
        if tally is None:
            tally = self._tallies[query] = EditCounts.of(self.n)
        tally.follow(self.counter(query), self._edits)
        return tally


# --- sums that are tried ------------------------------------------------------------------------------------

# Rows with other sums than the table's: what a rule sees where only sums are tried out.


def workspace(nodes: Batch, purpose: str, lines: int, kind: type = np.int64) -> NDArray[Any]:
    """Scratch memory for all rows of the table, which must be the rows of *nodes*: [lines, n] of *kind*.

    Calls with the same *purpose* share it, contents included. New memory of that size can take longer to get
    than a sum takes.
    """
    return nodes.table.node_derived((workspace, purpose, lines), lambda: np.empty((lines, nodes.n), kind))


@attrs.define(eq=False, slots=False, repr=False)
class SumsTrial(OtherSums):
    """Rows with other requested sums and numbers of pods than the table's."""

    requests: dict[str, Ints] = attrs.Factory(dict)
    nonzero_sums: Ints = attrs.field(factory=lambda: np.zeros((2, 0), np.int64))
    pods_there: Ints = NO_INTS

    @classmethod
    def of(cls, table: NodeTable, rows: Rows) -> SumsTrial:
        """The sums of *rows* as they are, to be changed."""
        base = Batch(table, rows)
        return cls(
            table,
            rows,
            requests={name: base.requested(name).copy() for name in table.resources},
            nonzero_sums=np.stack([base.nonzero(CPU), base.nonzero(MEMORY)]),
            pods_there=base.pod_count.copy(),
        )

    def some(self, indexes: Rows) -> SumsTrial:
        """A copy of some of these nodes, by index."""
        requests = {name: sums[indexes] for name, sums in self.requests.items()}
        return SumsTrial(
            self.table,
            self.indexes[indexes],
            requests,
            self.nonzero_sums[:, indexes],
            self.pods_there[indexes],
        )

    def add(self, template: Template, times: Ints) -> None:
        """Add *times* pods of *template* on each node: int64[n]."""
        amounts = {
            name: number * times for name, number in template.footprint.items() if name in self.requests
        }
        self.put(
            times, amounts, (template.nonzero_footprint[0] * times, template.nonzero_footprint[1] * times)
        )

    def requested(self, resource: str) -> Ints:
        return self.requests[resource] if resource in self.requests else self.zeros()

    @property
    def nonzeros(self) -> Ints:
        return self.nonzero_sums

    @property
    def pod_count(self) -> Ints:
        return self.pods_there

    def put(
        self, pod_counts: Ints, amounts: dict[str, Ints], nonzero: tuple[Ints, Ints] | None = None
    ) -> None:
        """Add (or take off) on each node *pod_counts* pods of these amounts: int64[n] each; *nonzero* matters
        to scores alone."""
        for name, amount in amounts.items():
            self.requests[name] += amount
        if nonzero is not None:
            self.nonzero_sums[0] += nonzero[0]
            self.nonzero_sums[1] += nonzero[1]
        self.pods_there += pod_counts

    def put_at(self, i: int, template: Template) -> None:
        """Add one pod of *template* on node *i*."""
        for name, number in template.footprint.items():
            add_at(self.requests.setdefault(name, self.zeros()), i, number)
        self.nonzero_sums[:, i] += template.nonzero_footprint
        self.pods_there[i] += 1
