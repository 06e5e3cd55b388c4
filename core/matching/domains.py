"""Sums over topology domains: what each node gets from the pods in its domains.

A term counts pods by the value of one label key. Sums are made over the distinct values of a key, which are few, and then looked up for
each node.
"""

from __future__ import annotations

from collections.abc import Collection

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.census import Counter
from ..arrays.table import NodeTable
from ..arrays.types import Ints


@attrs.define(eq=False, repr=False)
class DomainSums:
    """Weighted counts by topology key, each int64[values of the key]; pods on the rows *without* are left out."""

    table: NodeTable
    without: Collection[int] = ()
    _sums: dict[str, Ints] = attrs.field(factory=dict)

    def add(self, counter: Counter, key: str, weight: int = 1) -> None:
        """Add *weight* for each pod of *counter* to its domain by *key*."""
        column = self.table.labels.get(key)
        if column is None or not key:
            return
        if self.without:
            counts = counter.domains_without(key, self.table.labels, self.without)[: len(column.values)]
        else:
            counts = counter.by(key, column)[: len(column.values)]
        if not counter.total:
            return
        sums = self._sums.get(key)
        more = counts if weight == 1 else counts * weight
        self._sums[key] = more if sums is None else sums + more

    def by_key(self) -> Collection[tuple[str, Ints]]:
        """Each topology key with its sums by code of the key's label column: int64[values]. They may be a counter's own, which change."""
        return self._sums.items()

    @property
    def has_any(self) -> bool:
        """Whether any domain has a sum other than 0."""
        return any(sums.any() for sums in self._sums.values())

    def at(self, nodes: Batch) -> Ints | None:
        """What each node of a batch gets from all of its domains: int64[n]; None where nothing was added."""
        found: Ints | None = None
        for key, sums in self._sums.items():
            gathered = sums.take(nodes.label(key).codes)
            found = gathered if found is None else found + gathered
        return found


def pods_with_any_key(nodes: Batch, counter: Counter, keys: Collection[str]) -> int:
    """How many pods of *counter* are on rows, of the whole table, that have at least one of the label *keys*."""
    if not counter.total:
        return 0
    if len(keys) == 1:
        return int(sum(counter.domains(key, nodes.table.labels).sum() for key in keys))
    everywhere = Batch.everywhere(nodes.table)
    present = np.zeros(everywhere.n, np.bool_)
    for key in keys:
        present |= everywhere.label(key).present
    size = min(len(counter.rows), everywhere.n)
    return int(counter.rows[:size][present[:size]].sum())
