"""A what-if copy of some rows: pods are put on and taken off, and the table does not notice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from ...api.objects import Pod
from ..pods import CPU, MEMORY, Entry, Port, Template, take_out
from .batch import Batch, EditCounts, PodEdit
from .census import Query
from .columns import NO_INTS, Ints, Mask, Rows, add_at
from .table import NodeTable


class OtherSums(Batch):
    """Rows whose pods add up to something else than the table has."""

    def requesteds(self, resources: Sequence[str]) -> Ints:
        return np.array([self.requested(resource) for resource in resources])

    def counted(self, resources: Sequence[str]) -> Ints:
        return np.array([self.pod_count, *map(self.requested, resources[1:])])

    def nonzero(self, resource: str) -> Ints:
        found: Ints = self.nonzeros[(CPU, MEMORY).index(resource)]
        return found


@attrs.define(eq=False, slots=False, repr=False)
class Overlay(OtherSums):
    """A batch with its own sums, ports and pod lists. Each pod sits on the judged node itself: no other node
    is touched."""

    incoming: Pod | None = None
    """The pod that the trial is for; upstream's metadata does not follow what happens to another one of its
    name."""
    _edits: list[PodEdit] = attrs.Factory(list)
    _placed: set[int] = attrs.Factory(set)
    """Which entries an edit put here at least once, by identity."""
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
            port: {place[at]: held for at, held in held_at.items() if at in place}
            for port, held_at in self._ports.items()
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
            found = self._sums.get(name)
            if found is None:
                found = self._sums[name] = super().requested(name).copy()
            change.at(found, np.array(places, np.intp), np.array(numbers, np.int64))
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
        found = super().holding_port(port)
        for at, held in self._ports.get(port, {}).items():
            found[at] = held
        return found

    def ports(self) -> Iterator[Port]:
        yield from super().ports()
        yield from (port for port in self._ports if port not in self.table.ports.rows)

    def pods(self, i: int) -> Sequence[Entry]:
        found = self._pods.get(i)
        return super().pods(i) if found is None else found

    def with_volumes(self) -> Iterator[int]:
        return iter(sorted({*super().with_volumes(), *self._pods}))

    @property
    def edits(self) -> Sequence[PodEdit]:
        return self._edits

    def edits_at(self, i: int) -> Sequence[PodEdit]:
        return self._edits_at.get(i, ())

    def edited(self, query: Query) -> EditCounts:
        found = self._tallies.get(query)
        if found is None:
            found = self._tallies[query] = EditCounts.of(self.n)
        found.follow(self.counter(query), self._edits)
        return found


# --- sums that are tried ------------------------------------------------------------------------------------

# Rows with other sums than the table's: what a rule sees where only sums are tried out.


def workspace(nodes: Batch, purpose: str, lines: int, kind: type = np.int64) -> NDArray[Any]:
    """Memory to work something out in for all rows of the table, which *nodes* are: [lines, n] of *kind*.

    It is the same each time for one *purpose*, and so are its contents. New memory of that size can take
    longer to get than a sum takes.
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

    def put(self, counted: Ints, amounts: dict[str, Ints], nonzero: tuple[Ints, Ints] | None = None) -> None:
        """Add (or take off) on each node *counted* pods of these amounts: int64[n] each; *nonzero* matters to
        scores alone."""
        for name, amount in amounts.items():
            self.requests[name] += amount
        if nonzero is not None:
            self.nonzero_sums[0] += nonzero[0]
            self.nonzero_sums[1] += nonzero[1]
        self.pods_there += counted

    def put_at(self, i: int, template: Template) -> None:
        """Add one pod of *template* on node *i*."""
        for name, number in template.footprint.items():
            add_at(self.requests.setdefault(name, self.zeros()), i, number)
        self.nonzero_sums[:, i] += template.nonzero_footprint
        self.pods_there[i] += 1
