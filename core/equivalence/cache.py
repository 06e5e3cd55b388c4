"""The equivalence cache: a predicate's result for a class of pods is reused until an event invalidates it, with all of upstream's gaps.

Upstream: pkg/scheduler/core/equivalence/eqivalence.go Cache; only the releases with gate EnableEquivalenceClassCache have it.
"""

from __future__ import annotations

from collections.abc import Hashable

import attrs
import numpy as np
from numpy.typing import NDArray

from ...api.objects import NO_STRINGS, Container, KubeObject, Pod
from ..arrays.columns import grown
from ..arrays.table import NodeTable
from ..arrays.types import Mask, Rows
from ..cluster.nominations import Nominations
from ..decision.verdict import FilterPass
from ..failures import Failures, Reasons
from ..release import Release
from ..rule import Predicate
from .invalidation import ALL, Gates, of_change, of_pod_arrival, of_volumes_assumed

Kept = NDArray[np.int32]
"""The cached result of each row: 0 none, 1 it fits, 2 and more the number of its reasons."""
FITS = 1


def class_of(pod: Pod) -> Hashable:
    """What two pods must have in common to be of one class. Upstream: getEquivalencePod, where it is hashed.

    Priority, annotations, owners and topology spread are no part of it; the written form of quantities is.
    """
    spec = pod.spec
    containers, inits = (tuple(map(_written, some)) for some in (spec.containers, spec.init_containers))
    selector = spec.node_selector or NO_STRINGS
    return (pod.namespace, pod.labels, spec.affinity, containers, inits, spec.node_name, selector, spec.tolerations, spec.volumes)


def _written(container: Container) -> Hashable:
    # Upstream: quantities are hashed in their written form, so 1000m and 1 make two classes.
    amounts = (frozenset((name, amount.form) for name, amount in part.items()) for part in (container.requests, container.limits))
    return (container, *amounts)


@attrs.define(eq=False, repr=False)
class Results:
    """The cached results of one predicate: class -> rows."""

    _of_class: dict[int, Kept] = attrs.field(factory=dict)
    _numbers: dict[Reasons, int] = attrs.field(factory=dict)
    _reasons: dict[int, Reasons] = attrs.field(factory=dict)

    def of(self, number: int, size: int) -> Kept | None:
        """The results for class *number*: int32[size]; None where there are none."""
        found = self._of_class.get(number)
        if found is None:
            return None
        found = self._of_class[number] = grown(found, size)
        return found[:size]

    def keep(self, number: int, size: int, rows: Rows, failures: Failures | None) -> None:
        """Cache for class *number* what was found on *rows*; errors are not cached."""
        kept = self._of_class[number] = grown(self._of_class.get(number, np.zeros(0, np.int32)), size)
        if failures is None:
            kept[rows] = FITS
            return
        rows = rows[failures.errors_or_zero[rows] == 0]
        codes = failures.codes[rows]
        kept[rows] = FITS
        for code in np.unique(codes[codes > 0]).tolist():
            kept[rows[codes == code]] = self._number(failures.sequences[code])

    def _number(self, reasons: Reasons) -> int:
        number = self._numbers.setdefault(reasons, len(self._numbers) + FITS + 1)
        self._reasons[number] = reasons
        return number

    def over(self, fresh: Failures | None, kept: Kept, hits: Mask) -> Failures | None:
        """*fresh*, with cached results in place of it on *hits*."""
        base = fresh if fresh is not None else Failures(np.zeros(len(kept), np.int64), {})
        above = max(base.sequences, default=0)
        codes = np.where(hits, np.where(kept > FITS, kept + above, 0), base.codes)
        errors = None if base.errors is None else np.where(hits, 0, base.errors)
        if not codes.any() and (errors is None or not errors.any()):
            return None
        used = np.unique(kept[hits & (kept > FITS)]).tolist()
        return Failures(codes, {**base.sequences, **{number + above: self._reasons[number] for number in used}}, errors, base.texts)

    def end_on(self, row: int) -> None:
        """Invalidate the results of *row*."""
        for kept in self._of_class.values():
            if row < len(kept):
                kept[row] = 0

    def end(self) -> None:
        """Invalidate all results."""
        self._of_class.clear()


@attrs.define(eq=False, repr=False)
class EquivalenceCache:
    """The results of all predicates on the nodes of *table*.

    Here cycles and events take turns, so a result cannot be stale when it is stored; upstream has to check for that.
    """

    table: NodeTable
    release: Release
    gates: Gates
    read_only: bool = False
    """Nothing new is cached."""
    _results: dict[str, Results] = attrs.field(factory=dict)
    _classes: dict[Hashable, int] = attrs.field(factory=dict)

    def view(self, pod: Pod, nominations: Nominations) -> CacheView:
        """The results for the class of *pod*, for one search over the whole table. The snapshot must be up to date."""
        number = self._classes.setdefault(class_of(pod), len(self._classes))
        usable = np.ones(self.table.size, np.bool_)
        # Upstream: the cache is not used for a node with any nominated pod, whatever its priority.
        usable[[self.table.row_of[name] for name in nominations if name in self.table.row_of]] = False
        return CacheView(self, number, usable)

    def frozen(self) -> EquivalenceCache:
        """The same results, for reading only."""
        return attrs.evolve(self, read_only=True, results=self._results, classes=dict(self._classes))

    def results(self, predicate: str) -> Results:
        """The results of *predicate*."""
        return self._results.setdefault(predicate, Results())

    # --- invalidation -----------------------------------------------------------------------------------------------

    def follow(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """An object came (*old* is None), changed, or was deleted (*new* is None); scheduler and listings know it already."""
        for predicate, node_name in of_change(old, new, self.release, self.gates):
            self._end(predicate, node_name)

    def pod_assumed(self, pod: Pod, node_name: str) -> None:
        """*pod* is assumed to be on the node."""
        for predicate in of_pod_arrival(pod, self.gates):
            self._end(predicate, node_name)

    def volumes_assumed(self) -> None:
        """A pod's volumes were assumed, or it has none, or assuming them failed."""
        for predicate in of_volumes_assumed(self.gates):
            self._end(predicate, None)

    def _end(self, predicate: str, node_name: str | None) -> None:
        named = self._results.values() if predicate == ALL else (self._results[predicate],) if predicate in self._results else ()
        row = None if node_name is None else self.table.row_of.get(node_name, -1)
        for results in named:
            if row is None:
                results.end()
            elif row >= 0:
                results.end_on(row)


@attrs.define(eq=False, repr=False)
class CacheView:
    """The cache as one search uses it: cached results replace fresh ones, and what was really evaluated is cached afterwards."""

    cache: EquivalenceCache
    number: int
    """The pod's class."""
    usable: Mask
    """Rows for which the cache may be used."""
    hits: dict[str, Mask] = attrs.field(factory=dict)
    """Predicate -> rows with a cache hit; absent where there is none."""

    def over(self, predicate: Predicate, fresh: Failures | None) -> Failures | None:
        """What *predicate* has against the rows of the table; *fresh*: what it has just answered."""
        results = self.cache.results(predicate.name)
        kept = results.of(self.number, len(self.usable))
        if kept is None:
            return fresh
        hits = (kept > 0) & self.usable
        if not hits.any():
            return fresh
        self.hits[predicate.name] = hits
        return results.over(fresh, kept, hits)

    def keep(self, judgement: FilterPass, visited: Rows) -> None:
        """Cache what each predicate answered for those *visited* rows that it really evaluated."""
        if self.cache.read_only:
            return
        visited = visited[self.usable[visited]]
        found = {predicate.name: failures for predicate, failures in judgement.findings}
        for name in [predicate.name for predicate in judgement.predicates]:
            asked = visited[judgement.reached(name)[visited]]
            if len(asked):
                self.cache.results(name).keep(self.number, len(self.usable), asked, found.get(name))
