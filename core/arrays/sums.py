"""Rows with other sums than the table's: what a rule sees where only sums are tried out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from ..pods.requests import CPU, MEMORY
from ..pods.template import Template
from .arithmetic import add_at
from .batch import Batch
from .table import NodeTable
from .types import Ints, Rows


def workspace(nodes: Batch, purpose: str, lines: int, kind: type = np.int64) -> NDArray[Any]:
    """Memory to work something out in for all rows of the table, which *nodes* are: [lines, n] of *kind*.

    It is the same each time for one *purpose*, and so are its contents. New memory of that size can take longer to get than a sum takes.
    """
    found: NDArray[Any] = nodes.table.node_derived((workspace, purpose, lines), lambda: np.empty((lines, nodes.n), kind))
    return found


@attrs.define(eq=False, slots=False, repr=False)
class SumsTrial(Batch):
    """Rows with other requested sums and numbers of pods than the table's."""

    requests: dict[str, Ints] = attrs.field(factory=dict)
    nonzero_sums: Ints = attrs.field(factory=lambda: np.zeros((2, 0), np.int64))
    pods_there: Ints = attrs.field(factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, table: NodeTable, rows: Rows) -> SumsTrial:
        """The sums of *rows* as they are, to be changed."""
        base = Batch(table, rows)
        return cls(
            table, rows, requests={name: base.requested(name).copy() for name in table.resources},
            nonzero_sums=np.stack([base.nonzero(CPU), base.nonzero(MEMORY)]), pods_there=base.pod_count.copy(),
        )  # fmt: skip

    def some(self, indexes: Rows) -> SumsTrial:
        """A copy of some of these nodes, by index."""
        requests = {name: sums[indexes] for name, sums in self.requests.items()}
        return SumsTrial(self.table, self.indexes[indexes], requests, self.nonzero_sums[:, indexes], self.pods_there[indexes])

    def add(self, template: Template, times: Ints) -> None:
        """Add *times* pods of *template* on each node: int64[n]."""
        amounts = {name: number * times for name, number in template.footprint.items() if name in self.requests}
        self.put(times, amounts, (template.nonzero_footprint[0] * times, template.nonzero_footprint[1] * times))

    def requested(self, resource: str) -> Ints:
        return self.requests[resource] if resource in self.requests else np.zeros(self.n, np.int64)

    def requesteds(self, resources: Sequence[str]) -> Ints:
        return np.array([self.requested(resource) for resource in resources])

    def counted(self, resources: Sequence[str]) -> Ints:
        return np.array([self.pod_count, *map(self.requested, resources[1:])])

    @property
    def nonzeros(self) -> Ints:
        return self.nonzero_sums

    def nonzero(self, resource: str) -> Ints:
        found: Ints = self.nonzero_sums[(CPU, MEMORY).index(resource)]
        return found

    @property
    def pod_count(self) -> Ints:
        return self.pods_there

    def put(self, counted: Ints, amounts: dict[str, Ints], nonzero: tuple[Ints, Ints] | None = None) -> None:
        """Add (or take off) on each node *counted* pods of these amounts: int64[n] each; *nonzero* matters to scores alone."""
        for name, amount in amounts.items():
            self.requests[name] += amount
        if nonzero is not None:
            self.nonzero_sums[0] += nonzero[0]
            self.nonzero_sums[1] += nonzero[1]
        self.pods_there += counted

    def put_at(self, i: int, template: Template) -> None:
        """Add one pod of *template* on node *i*."""
        for name, number in template.footprint.items():
            add_at(self.requests.setdefault(name, np.zeros(self.n, np.int64)), i, number)
        self.nonzero_sums[:, i] += template.nonzero_footprint
        self.pods_there[i] += 1
