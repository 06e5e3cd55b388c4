"""Why pods of a template fit nowhere, kept from attempt to attempt: only the rows that changed are counted again.

A pod that fits nowhere is tried again and again, and mostly one or two nodes have changed in between. Where cached answers say all that
counts (see :class:`~kubeclassic.core.incremental.quick.Detour`), these know what changed, and the counts of reasons follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.types import Mask
from ..cycle import Cycle
from ..decision.fiterror import FitError
from ..decision.nodesearch import SearchResult
from ..decision.verdict import Verdict, judge
from ..failures import Failures, Reasons
from ..incremental import verify
from ..incremental.answers import AnswerCache
from ..incremental.cachedanswer import Unanswerable
from ..incremental.failuresanswer import FailuresAnswer
from ..incremental.quick import Detour, QuickPath
from ..pods.template import Template
from ..rebuilt import rebuilt_from
from ..rule import Predicate

MOST_KEPT = 64
"""Templates that refusals are kept of."""
Objections = list[tuple[str, Reasons]]
"""The predicates that reject a row and count, each with its reasons."""


@attrs.define(eq=False, repr=False)
class UnschedulableTemplate:
    """Why pods of one template fit on none of the rows that a pass visits."""

    answers: Sequence[FailuresAnswer]
    """Of the predicates, in running order."""
    findings: Sequence[tuple[Predicate, Failures]]
    """What they had against each row when all were judged."""
    check_all: bool
    visited: Mask
    """bool[rows]"""
    tally: dict[str, int]
    """Reason -> the number of nodes that it rejects."""
    order_revision: Hashable
    nodes: int
    """How many nodes a pass visits."""
    unresolvable: int
    """How many of them have a reason that removing pods cannot resolve."""
    predicates: Counter[str]
    """Predicate -> the number of nodes that it rejects."""
    errors: dict[Hashable, tuple[FitError, frozenset[str]]] = attrs.field(factory=dict)
    """The errors that were made of the counts, each with the names to blame; none after a count has moved."""
    _changed: dict[int, Objections] = attrs.field(factory=dict)
    """What is against the rows that changed since."""
    _seen: list[int] = attrs.field(init=False)
    """The revision of each answer that is counted."""

    def __attrs_post_init__(self) -> None:
        self._seen = [answer.trail.revision for answer in self.answers]

    def follow(self, cycle: Cycle, cache: AnswerCache) -> bool:
        """Count again the rows that changed; False if these may be many, or the pod fits on one. Raises Unanswerable."""
        rows = set[int]()
        cache.update(self.answers, cycle, cache.still(cycle))
        for place, answer in enumerate(self.answers):
            moved = answer.trail.since(self._seen[place])
            if moved is None:
                return False
            self._seen[place] = answer.trail.revision
            rows.update(moved)
        return all(self._count_again(row) for row in rows if self.visited.item(row))

    def _count_again(self, row: int) -> bool:
        """Count what is against *row* now; gives whether anything is."""
        before = self._changed.get(row)
        if before is None:
            before = self._counting((predicate.name, failures.reasons(row)) for predicate, failures in self.findings)
        after = self._changed[row] = self._counting((answer.rule.name, answer.reasons(row)) for answer in self.answers)
        if before != after:
            self._count(before, -1)
            self._count(after, 1)
        return bool(after)

    def _counting(self, found: Iterable[tuple[str, Reasons]]) -> Objections:
        """Those of *found*, in running order, that count."""
        objections = [(name, reasons) for name, reasons in found if reasons]
        return objections if self.check_all else objections[:1]

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

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep those of the templates *in_use* alone."""
        self._kept = {template: kept for template, kept in self._kept.items() if template in in_use}

    def again(self, cycle: Cycle) -> UnschedulableTemplate | None:
        """Why the pod of *cycle* still fits nowhere; None where nothing is known, or where it fits now. Nothing moves."""
        kept = self._kept.get(cycle.template)
        if kept is None or self.quick_path.detour(cycle) is not None:
            return None
        if self._follow(kept, cycle):
            if verify.SWITCH.is_on:
                # Raise StaleError unless the pod fits on no row that a pass visits, for the reasons that are *kept*, which last
                # where they did.
                with verify.uncached(cycle) as fresh:
                    found = judge(fresh, Batch.everywhere(cycle.table), kept.check_all)
                verdict = Verdict(found, found.fits)
                wanted = verdict.tally(np.flatnonzero(kept.visited)), int(np.count_nonzero(verdict.unresolvable() & kept.visited))
                if (kept.visited & found.fits).any() or (dict(kept.tally), kept.unresolvable) != wanted:
                    told = f"kept {kept.tally}, {kept.unresolvable} unresolvable, worked out {wanted[0]}, {wanted[1]} unresolvable"
                    raise verify.StaleError(f"the refusal of pod {cycle.pod.key} is stale: {told}")
            return kept
        del self._kept[cycle.template]
        return None

    def count(self) -> None:
        """A decision follows from what is kept."""
        self.quick_path.detours[Detour.NOTHING_FITS] += 1

    def _follow(self, kept: UnschedulableTemplate, cycle: Cycle) -> bool:
        path = self.quick_path
        path.order.one_pass()
        if not path.order.is_regular or path.order.revision != kept.order_revision:
            return False
        algorithm, cycle.algorithm = cycle.algorithm, path.algorithm
        try:
            return kept.follow(cycle, path.boards.answers)
        except Unanswerable:
            return False
        finally:
            cycle.algorithm = algorithm

    def note(self, cycle: Cycle, found: SearchResult) -> None:
        """Keep why the pod of *cycle* fits on none of the nodes that were *found*, where that can be followed."""
        verdict, path = found.verdict, self.quick_path
        if (
            verdict.has_errors
            or verdict.with_nominated is not None
            or not (len(found.visited) == len(path.order.one_pass()) == np.count_nonzero(np.bincount(found.visited)))
        ):
            return
        predicates = path.algorithm.predicates_for(cycle.template)
        ran = {predicate.name for predicate in verdict.plain.predicates}
        # Predicates that a cycle leaves out have nothing against any row.
        in_order = [predicate.name for predicate in predicates if predicate.name in ran]
        if in_order != [predicate.name for predicate in verdict.plain.predicates] or path.detour(cycle) is not None:
            return
        while len(self._kept) >= MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        algorithm, cycle.algorithm = cycle.algorithm, path.algorithm
        try:
            self._kept[cycle.template] = self._refusal(cycle, found, predicates)
        except Unanswerable:
            return
        finally:
            cycle.algorithm = algorithm

    def _refusal(self, cycle: Cycle, found: SearchResult, predicates: Sequence[Predicate]) -> UnschedulableTemplate:
        verdict, table, rows, cache = found.verdict, cycle.table, found.visited, self.quick_path.boards.answers
        answers = [cache.failures_of(predicate, cycle.template) for predicate in predicates]
        cache.update(answers, cycle, cache.still(cycle))
        for answer in answers:
            answer.shared = True  # the findings are kept
        visited, alive = np.zeros(table.size, np.bool_), np.zeros(table.size, np.bool_)
        visited[rows] = alive[rows] = True
        rejected: Counter[str] = Counter()
        for predicate, found_against in verdict.plain.findings:
            rejected[predicate.name] += int(np.count_nonzero(alive & (found_against.codes > 0)))
            if not verdict.plain.check_all:
                alive &= found_against.passed
        return UnschedulableTemplate(
            answers, verdict.plain.findings, verdict.plain.check_all, visited, verdict.tally(rows), self.quick_path.order.revision,
            len(rows), int(np.count_nonzero(verdict.unresolvable() & visited)), rejected,
        )  # fmt: skip
