"""Why pods of a template fit nowhere, kept from attempt to attempt: counted again only where an answer of a
rule moved.

A pod that fits nowhere is tried again and again, and mostly nothing that its rules read has changed in
between. Where cached answers say all that counts (see :class:`~kubeclassic.core.incremental.quick.Detour`),
these know what changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.types import Mask
from ..cycle import Cycle
from ..decision.nodesearch import SearchResult
from ..decision.verdict import FilterPass, FitError, Verdict, judge
from ..incremental import verify
from ..incremental.cachedanswer import Answer, Unanswerable
from ..incremental.quick import Detour, QuickPath
from ..pods.template import Template
from ..rebuilt import rebuilt_from

MOST_KEPT = 64
"""Templates that refusals are kept of."""


@attrs.define(eq=False, repr=False)
class UnschedulableTemplate:
    """Why pods of one template fit on none of the rows that a pass visits."""

    answers: Sequence[Answer]
    """Of the predicates, in running order."""
    revisions: Sequence[int]
    """Those of the answers that are counted."""
    visited: Mask
    """bool[rows]"""
    order_revision: Hashable
    nodes: int
    """How many nodes a pass visits."""
    tally: dict[str, int]
    """Reason -> the number of nodes that it rejects."""
    unresolvable: int
    """How many of them have a reason that removing pods cannot resolve."""
    predicates: Counter[str]
    """Predicate -> the number of nodes that it rejects."""
    errors: dict[Hashable, tuple[FitError, frozenset[str]]] = attrs.Factory(dict)
    """The errors that were made of the counts, each with the names to blame."""

    @classmethod
    def of(
        cls, found: FilterPass, answers: Sequence[Answer], visited: Mask, order_revision: Hashable
    ) -> UnschedulableTemplate:
        """The counts of *found* on the *visited* rows, on none of which the pod fits."""
        rejected = Counter[str]()
        alive = visited.copy()
        verdict = Verdict(found, found.fits)
        for predicate, failures in found.findings:
            rejected[predicate.name] += int(np.count_nonzero(alive & (failures.codes > 0)))
            if not found.check_all:
                alive &= failures.passed
        rows = visited.nonzero()[0]
        return cls(
            answers,
            [answer.revision for answer in answers],
            visited,
            order_revision,
            len(rows),
            verdict.tally(rows),
            int(np.count_nonzero(verdict.unresolvable() & visited)),
            rejected,
        )


@rebuilt_from("quick_path")
@attrs.define(eq=False, repr=False)
class UnschedulableCache:
    """The refusals of one scheduler by template, those of the latest templates only."""

    quick_path: QuickPath
    _kept: dict[Template, UnschedulableTemplate] = attrs.Factory(dict)

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep those of the templates *in_use* alone."""
        self._kept = {template: kept for template, kept in self._kept.items() if template in in_use}

    def again(self, cycle: Cycle) -> UnschedulableTemplate | None:
        """Why the pod of *cycle* still fits nowhere; None where nothing is known, or where it fits now.
        Nothing moves."""
        kept = self._kept.pop(cycle.template, None)
        if kept is None:
            return None
        if self.quick_path.detour(cycle) is None:
            kept = self._now(kept, cycle)
            if kept is not None and verify.SWITCH.is_on:
                _check(kept, cycle)
        if kept is not None:
            self._kept[cycle.template] = kept
        return kept if self.quick_path.detour(cycle) is None else None

    def _now(self, kept: UnschedulableTemplate, cycle: Cycle) -> UnschedulableTemplate | None:
        """*kept* as it is now; None where the pod fits on some node, or where it has to be found out."""
        path = self.quick_path
        path.order.one_pass()
        if not path.order.is_regular or path.order.revision != kept.order_revision:
            return None
        algorithm = cycle.algorithm
        cycle.algorithm = path.algorithm
        try:
            answers = path.boards.answers
            answers.update(kept.answers, cycle, answers.still(cycle))
            if [answer.revision for answer in kept.answers] == kept.revisions:
                return kept
            found = judge(cycle, Batch.everywhere(cycle.table), algorithm.check_all)
            if (found.fits & kept.visited).any():
                return None
            return UnschedulableTemplate.of(found, kept.answers, kept.visited, kept.order_revision)
        except Unanswerable:
            return None
        finally:
            cycle.algorithm = algorithm

    def count(self) -> None:
        """A decision follows from what is kept."""
        self.quick_path.detours[Detour.NOTHING_FITS] += 1

    def note(self, cycle: Cycle, found: SearchResult) -> None:
        """Keep why the pod of *cycle* fits on none of the nodes that were *found*, where that can be
        followed."""
        verdict = found.verdict
        path = self.quick_path
        table = cycle.table
        if (
            verdict.has_errors
            or verdict.with_nominated is not None
            or not (
                len(found.visited)
                == len(path.order.one_pass())
                == np.count_nonzero(np.bincount(found.visited))
            )
        ):
            return
        predicates = path.algorithm.predicates_for(cycle.template)
        ran = {predicate.name for predicate in verdict.plain.predicates}
        # Predicates that a cycle leaves out have nothing against any row.
        in_order = [predicate.name for predicate in predicates if predicate.name in ran]
        if (
            in_order != [predicate.name for predicate in verdict.plain.predicates]
            or path.detour(cycle) is not None
        ):
            return
        while len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        algorithm = cycle.algorithm
        cycle.algorithm = path.algorithm
        answers = path.boards.answers
        try:
            kept = [answers.of(predicate, cycle.template) for predicate in predicates]
            answers.update(kept, cycle, answers.still(cycle))
            visited = np.zeros(table.size, np.bool_)
            visited[found.visited] = True
            self._kept[cycle.template] = UnschedulableTemplate.of(
                verdict.plain, kept, visited, path.order.revision
            )
        except Unanswerable:
            return
        finally:
            cycle.algorithm = algorithm


def _check(kept: UnschedulableTemplate, cycle: Cycle) -> None:
    """Raise StaleError unless the pod fits on no row that a pass visits, for the reasons that are *kept*."""
    with verify.uncached(cycle) as fresh:
        found = judge(fresh, Batch.everywhere(cycle.table), cycle.algorithm.check_all)
    wanted = UnschedulableTemplate.of(found, (), kept.visited, kept.order_revision)
    if (kept.visited & found.fits).any() or (kept.tally, kept.unresolvable) != (
        wanted.tally,
        wanted.unresolvable,
    ):
        raise verify.StaleError(
            f"the refusal of pod {cycle.pod.key} is stale: kept {kept.tally}, {kept.unresolvable} unresolvable, "
            f"worked out {wanted.tally}, {wanted.unresolvable} unresolvable"
        )
