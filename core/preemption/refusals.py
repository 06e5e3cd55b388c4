"""Why pods of a template fit nowhere, kept from attempt to attempt: only the rows that changed are judged again.

A pod that fits nowhere is tried again and again, and mostly one or two nodes have changed in between. Where cached answers say all that
counts (see :class:`~kubeclassic.core.incremental.quick.Detour`), the reasons on all other rows are still the same. So the counts of
reasons follow from those before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.types import Mask, Rows
from ..cycle import Cycle
from ..decision.nodesearch import SearchResult
from ..decision.verdict import Verdict, judge
from ..failures import Codes, Failures, Reasons
from ..incremental import verify
from ..incremental.answers import LARGE_SHARE
from ..incremental.cachedanswer import Scope
from ..incremental.quick import Detour, QuickPath
from ..pods.template import Template
from ..rebuilt import rebuilt_from
from ..rule import Predicate

MOST_KEPT = 64
"""Templates that refusals are kept of."""
Objections = list[tuple[str, Reasons]]
"""The predicates that reject a row and count, each with its reasons."""


@attrs.define(eq=False, repr=False)
class PredicateRefusals:
    """What one predicate had against each row when all were judged, and what it has against the rows that changed since."""

    predicate: Predicate
    name: str
    """Under which it rejects rows: its own name, or that of the predicate that it is a part of."""
    sequences: Mapping[int, Reasons]
    codes: Codes | None
    """int64[rows] into ``sequences``; None: nothing against any row."""
    follows: bool
    """Its answer can change with the pods of the row."""
    changed: dict[int, Reasons] = attrs.field(factory=dict)

    @classmethod
    def of(cls, predicate: Predicate, name: str, failures: Failures | None) -> PredicateRefusals:
        """What *predicate* has against the rows by its *failures*, which may change afterwards."""
        scope = Scope.of(predicate.reads)
        follows = scope.rowwise or scope.counted
        return cls(predicate, name, {}, None, follows) if failures is None else cls(
            predicate, name, dict(failures.sequences), failures.codes.copy(), follows
        )  # fmt: skip

    def reasons(self, row: int) -> Reasons:
        """What it has against *row*; empty if nothing."""
        found = self.changed.get(row)
        if found is not None:
            return found
        code = 0 if self.codes is None else self.codes.item(row)
        return self.sequences[code] if code else ()


@attrs.define(eq=False, repr=False)
class UnschedulableTemplate:
    """Why pods of one template fit on none of the rows that a pass visits."""

    parts: list[PredicateRefusals]
    """In running order, without predicates that never object to the pod."""
    check_all: bool
    visited: Mask
    """bool[rows]"""
    tally: dict[str, int]
    """Reason -> the number of nodes that it rejects."""
    scope: Scope
    """What the predicates read."""
    environment: Hashable
    order_revision: Hashable
    seen: int
    """The revision of the table."""
    nodes: int
    """How many nodes a pass visits."""
    unresolvable: int = 0
    """How many of them have a reason that removing pods cannot resolve."""
    predicates: Counter[str] = attrs.field(factory=Counter)
    """Predicate -> the number of nodes that it rejects."""
    errors: dict[Hashable, tuple[str, frozenset[str]]] = attrs.field(factory=dict)
    """The errors that were made of the counts, each with the names to blame; none after a count has moved."""

    def follow(self, cycle: Cycle, rows: Rows) -> bool:
        """Judge *rows* again; False if the pod fits on one of them, or if a predicate has an error."""
        following = [part for part in self.parts if part.follows]
        nodes = Batch(cycle.table, rows)
        found = [part.predicate.check(cycle.template, nodes, cycle) for part in following]
        if any(failures is not None and failures.errors is not None for failures in found):
            return False
        return all(
            self._replace(row, following, [() if one is None else one.reasons(at) for one in found])
            for at, row in enumerate(rows.tolist()) if self.visited[row]
        )  # fmt: skip

    def _replace(self, row: int, parts: list[PredicateRefusals], found: list[Reasons]) -> bool:
        if [part.reasons(row) for part in parts] == found:
            return True  # the row is rejected for what it was rejected before
        before = self._objections(row)
        for part, reasons in zip(parts, found, strict=True):
            part.changed[row] = reasons
        after = self._objections(row)
        if before != after:
            self._count(before, -1)
            self._count(after, 1)
        return bool(after)

    def _objections(self, row: int) -> Objections:
        found: Objections = []
        for part in self.parts:
            reasons = part.reasons(row)
            if reasons:
                if found and found[-1][0] == part.name:
                    found[-1] = part.name, (*found[-1][1], *reasons)
                elif found and not self.check_all:
                    break
                else:
                    found.append((part.name, reasons))
        return found

    def _count(self, objections: Objections, sign: int) -> None:
        tally = self.tally
        self.errors.clear()
        for name, reasons in objections:
            self.predicates[name] += sign
            for reason in reasons:
                tally[reason.text] = left = tally.get(reason.text, 0) + sign
                if not left:
                    del tally[reason.text]
        self.unresolvable += sign * any(not reason.resolvable for _, reasons in objections for reason in reasons)


@rebuilt_from("quick_path")
@attrs.define(eq=False, repr=False)
class UnschedulableCache:
    """The refusals of one scheduler by template, those of the latest templates only."""

    quick_path: QuickPath
    _kept: dict[Template, UnschedulableTemplate] = attrs.field(factory=dict)

    def again(self, cycle: Cycle) -> UnschedulableTemplate | None:
        """Why the pod of *cycle* still fits nowhere; None where nothing is known, or where it fits now. Nothing moves."""
        kept = self._kept.get(cycle.template)
        if kept is None or self.quick_path.detour(cycle) is not None:
            return None
        if self._follow(kept, cycle):
            if verify.SWITCH.is_on:
                _check(kept, cycle)
            return kept
        del self._kept[cycle.template]
        return None

    def count(self) -> None:
        """A decision follows from what is kept."""
        self.quick_path.detours[Detour.NOTHING_FITS] += 1

    def _follow(self, kept: UnschedulableTemplate, cycle: Cycle) -> bool:
        path, log = self.quick_path, cycle.table.changed
        path.order.one_pass()
        if not path.order.is_regular or path.order.revision != kept.order_revision:
            return False
        if kept.environment != path.boards.answers.environment(kept.scope, cycle):
            return False
        rows = log.since(kept.seen)
        if rows is None or len(rows) * LARGE_SHARE > cycle.table.size:
            return False
        kept.seen = log.revision
        if not len(rows):
            return True
        algorithm, cycle.algorithm = cycle.algorithm, path.algorithm
        try:
            return kept.follow(cycle, rows)
        finally:
            cycle.algorithm = algorithm

    def note(self, cycle: Cycle, found: SearchResult) -> None:
        """Keep why the pod of *cycle* fits on none of the nodes that were *found*, where that can be followed."""
        verdict, path = found.verdict, self.quick_path
        if verdict.has_errors or verdict.with_nominated is not None or not _has_each_once(found.visited, len(path.order.one_pass())):
            return
        predicates = path.algorithm.predicates_for(cycle.template)
        ran = {predicate.name for predicate in verdict.plain.predicates}
        # Predicates that a cycle leaves out have nothing against any row.
        in_order = [predicate.name for predicate in predicates if predicate.name in ran]
        if in_order != [predicate.name for predicate in verdict.plain.predicates] or path.detour(cycle) is not None:
            return
        while len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[cycle.template] = self._refusal(cycle, found, predicates)

    def _refusal(self, cycle: Cycle, found: SearchResult, predicates: Sequence[Predicate]) -> UnschedulableTemplate:
        verdict, table, rows = found.verdict, cycle.table, found.visited
        failures = {predicate.name: failures for predicate, failures in verdict.plain.findings}
        parts = [part for predicate in predicates for part in _parts(predicate, failures.get(predicate.name), cycle)]
        scope = Scope.together(frozenset(Scope.of(predicate.reads) for predicate in predicates))
        visited, alive = np.zeros(table.size, np.bool_), np.zeros(table.size, np.bool_)
        visited[rows] = alive[rows] = True
        rejected: Counter[str] = Counter()
        for predicate, found_against in verdict.plain.findings:
            rejected[predicate.name] += int(np.count_nonzero(alive & (found_against.codes > 0)))
            if not verdict.plain.check_all:
                alive &= found_against.passed
        return UnschedulableTemplate(
            [part for part in parts if part.follows or part.codes is not None],
            verdict.plain.check_all, visited, verdict.tally(rows), scope,
            self.quick_path.boards.answers.environment(scope, cycle), self.quick_path.order.revision, table.changed.revision,
            nodes=len(rows), unresolvable=int(np.count_nonzero(verdict.unresolvable() & visited)), predicates=rejected,
        )  # fmt: skip


def _has_each_once(visited: Rows, count: int) -> bool:
    """Whether *visited* are that many rows, and no row twice: a pass can visit one node twice, and another not at all."""
    return len(visited) == count == np.count_nonzero(np.bincount(visited))


def _parts(predicate: Predicate, failures: Failures | None, cycle: Cycle) -> Iterator[PredicateRefusals]:
    """*predicate*, or the parts that it asks: those which look at node objects alone need not be asked again."""
    asked = predicate.parts_for(cycle.template)
    for part in asked:
        of_part = failures if failures is None or len(asked) == 1 else part.check(cycle.template, Batch.everywhere(cycle.table), cycle)
        yield PredicateRefusals.of(part, predicate.name, of_part)


def _check(kept: UnschedulableTemplate, cycle: Cycle) -> None:
    """Raise StaleError unless the pod fits on no row that a pass visits, for the reasons that are *kept*, which last where they did."""
    with verify.uncached(cycle) as fresh:
        found = judge(fresh, Batch.everywhere(cycle.table), kept.check_all)
    verdict = Verdict(found, found.fits)
    wanted = verdict.tally(np.flatnonzero(kept.visited)), int(np.count_nonzero(verdict.unresolvable() & kept.visited))
    if (kept.visited & found.fits).any() or (dict(kept.tally), kept.unresolvable) != wanted:
        told = f"kept {kept.tally}, {kept.unresolvable} unresolvable, worked out {wanted[0]}, {wanted[1]} unresolvable"
        raise verify.StaleError(f"the refusal of pod {cycle.pod.key} is stale: {told}")
