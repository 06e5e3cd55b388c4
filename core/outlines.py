"""The details of a decision in outline: which nodes fit and their scores at once, why others do not fit only for those who ask.

Those who compare schedulers want the scores of every cycle, but only of a few nodes why they were turned down. For most templates all
rules but those that look at the row alone give every node the same score, and object to the same nodes, for a long time. An
:class:`Outline` has noted that; what is left for a cycle are the rows that changed, on a :class:`RowSheet`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from weakref import WeakValueDictionary

import attrs
import numpy as np

from .arrays.batch import Batch
from .arrays.table import NodeTable
from .arrays.trail import NEVER
from .arrays.types import Ints, Mask, Rows, Scores
from .cycle import Cycle, constant_array
from .decision.score import Ranking
from .decision.verdict import FilterPass, Verdict, judge
from .incremental import verify
from .incremental.answers import LARGE_SHARE, volumes_revision
from .incremental.cachedanswer import Scope, Unanswerable
from .incremental.quick import QuickPath
from .pods.template import Template
from .rebuilt import rebuilt_from
from .rule import Predicate, Priority, PriorityError


@attrs.define(eq=False, repr=False)
class RowSheet:
    """One for all templates that these rules cannot tell apart. It differs from ``RowScores`` in that it keeps the scores of each rule.

    ``fits``: bool[size], whether no predicate objects; ``scores``: int64[priorities, size].
    """

    table: NodeTable
    predicates: Sequence[Predicate]
    priorities: Sequence[Priority]
    """Those without a reduce step."""
    fits: Mask = attrs.field(factory=lambda: np.zeros(0, np.bool_))
    scores: Ints = attrs.field(factory=lambda: np.zeros((0, 0), np.int64))
    verified_at: int = NEVER
    """The revision of the table that they are right for."""
    node_revision: int = NEVER

    def refresh(self, cycle: Cycle) -> None:
        """Bring all up to date. Raises Unanswerable where a predicate has an error, and the PriorityError of a priority."""
        log, seen, size = self.table.changed, self.verified_at, self.table.size
        if seen == log.revision and self.node_revision == log.node_revision:
            return
        self.verified_at = NEVER
        is_followed = seen != NEVER and self.node_revision == log.node_revision and len(self.fits) == size
        rows = log.since(seen) if is_followed else None
        if rows is None or len(rows) * LARGE_SHARE > size:
            self.fits, self.scores = self._judge(cycle, Batch.everywhere(self.table))
        elif len(rows):
            self.fits[rows], self.scores[:, rows] = self._judge(cycle, Batch(self.table, rows))
        self.verified_at, self.node_revision = log.revision, log.node_revision

    def _judge(self, cycle: Cycle, nodes: Batch) -> tuple[Mask, Ints]:
        """Fits and scores of a batch: bool[n] and int64[priorities, n]."""
        fits = np.ones(nodes.n, np.bool_)
        for predicate in self.predicates:
            failures = predicate.check(cycle.template, nodes, cycle)
            if failures is not None:
                if failures.errors is not None:
                    raise Unanswerable
                fits &= failures.passed
        scores = np.empty((len(self.priorities), nodes.n), np.int64)
        for line, priority in zip(scores, self.priorities, strict=True):
            line[:] = priority.score(cycle.template, nodes, cycle)
        return fits, scores


@attrs.frozen
class ScoreLine:
    """One rule's score: ``place`` is that of its line on the sheet; None: each node that fits gets ``score``."""

    name: str
    place: int | None
    score: int


@attrs.define(eq=False, repr=False)
class Outline:
    """The state of all nodes for one template, as long as nothing moves but what rules read of a row's own pods."""

    sheet: RowSheet
    allowed: Mask | None
    """bool[size], which nodes all other predicates pass; None: all."""
    lines: Sequence[ScoreLine]
    """The rules in their order."""
    weights: Sequence[int]
    """Those of the rules that are on the sheet, by place."""
    offset: int
    """What the other rules add to each total."""
    scopes: frozenset[Scope]
    """What the other rules read."""
    node_revision: int
    environment: Hashable

    def ranking(self, rows: Rows) -> Ranking:
        """The scores of the feasible *rows*."""
        parts = self.sheet.scores.take(rows, axis=1)
        totals = np.full(len(rows), self.offset, np.int64)
        for part, weight in zip(parts, self.weights, strict=True):
            totals += part if weight == 1 else part * weight
        count = len(rows)
        scores: dict[str, Scores] = {
            line.name: constant_array(line.score, count) if line.place is None else parts[line.place] for line in self.lines
        }
        return Ranking(totals, scores, {})


@rebuilt_from("quick_path")
@attrs.define(eq=False, repr=False)
class Outlines:
    """The outlines of one algorithm, those that were not looked at for longest dropped beyond the memory of its boards.

    What rules out the quick path rules them out too, but that details are wanted.
    """

    quick_path: QuickPath
    _known: dict[Template, Outline] = attrs.field(factory=dict)
    _sheets: WeakValueDictionary[Hashable, RowSheet] = attrs.field(factory=WeakValueDictionary)
    _latest: tuple[Cycle, Outline] | None = None
    """The cycle whose verdict came from an outline."""

    def verdict(self, cycle: Cycle, prepare: Callable[[], object] = bool) -> Verdict | None:
        """Which nodes fit; None where the rules have to be asked. Read the rest of it before the next cycle begins.

        *prepare*: what has to be done before rules are asked.
        """
        self._latest = None
        outline = self._known.pop(cycle.template, None)
        if outline is None or not self._is_current(outline, cycle) or self.quick_path.beyond_details(cycle) is not None:
            return None
        algorithm, cycle.algorithm = cycle.algorithm, self.quick_path.algorithm
        try:
            outline.sheet.refresh(cycle)
        except (Unanswerable, PriorityError):
            return None
        finally:
            cycle.algorithm = algorithm
        sheet, self._known[cycle.template] = outline.sheet, outline
        fits = sheet.fits if outline.allowed is None else sheet.fits & outline.allowed
        if not np.count_nonzero(fits):
            return None
        self._latest = cycle, outline
        found = Verdict(partial(_judgement, cycle, cycle.table.changed.revision, prepare), fits)
        if verify.SWITCH.is_on:
            _check_fits(found, cycle)
        return found

    def ranking(self, cycle: Cycle, rows: Rows, ask: Callable[[], Ranking]) -> Ranking:
        """The scores of the feasible *rows*: without the raw ones where the verdict of *cycle* was from here, else those that *ask* gives.

        Raises its :class:`~..decision.score.ScoreError`.
        """
        if self._latest is None or self._latest[0] is not cycle:
            found = ask()
            self._note(cycle, found)
            return found
        found = self._latest[1].ranking(rows)
        if verify.SWITCH.is_on:
            _check_scores(found, ask(), cycle)
        return found

    def _is_current(self, outline: Outline, cycle: Cycle) -> bool:
        log = cycle.table.changed
        if outline.node_revision != log.node_revision or len(outline.sheet.fits) not in (0, cycle.table.size):
            return False
        return outline.environment == self._environment(outline.scopes, cycle)

    def _environment(self, scopes: frozenset[Scope], cycle: Cycle) -> Hashable:
        """The revisions of all that rules of these *scopes* read besides the pods of the row."""
        counted = any(scope.wide or scope.counted for scope in scopes)
        volumes = any(scope.volumes for scope in scopes)
        still = self.quick_path.boards.answers.still(cycle)
        return still, cycle.table.census.revision if counted else 0, volumes_revision(cycle) if volumes else 0

    # --- making them ------------------------------------------------------------------------------------------------

    def _note(self, cycle: Cycle, ranking: Ranking) -> None:
        """Make the outline of the template of *cycle* from its whole *ranking*, where that is possible."""
        path = self.quick_path
        if path.beyond_details(cycle) is not None or not ranking.by_priority:
            return
        algorithm, cycle.algorithm = cycle.algorithm, path.algorithm
        try:
            found = self._outline(cycle, ranking, dict(algorithm.priorities))
        except (Unanswerable, PriorityError):
            return
        finally:
            cycle.algorithm = algorithm
        if found is not None:
            self._make_room(cycle.table.size)
            self._known[cycle.template] = found

    def _make_room(self, size: int) -> None:
        most = self.quick_path.boards.limit // (100 * max(size, 1))
        while self._known and len(self._known) >= most:
            del self._known[next(iter(self._known))]

    def _outline(self, cycle: Cycle, ranking: Ranking, weights: dict[Priority, int]) -> Outline | None:
        pod, algorithm = cycle.template, cycle.algorithm
        parts = [part for predicate in algorithm.predicates_for(pod) for part in predicate.parts_for(pod)]
        near = [part for part in parts if part.is_of_row]
        far = [part for part in parts if not part.is_of_row]
        on_sheet = [rule for rule, _ in algorithm.priorities if rule.is_of_row and rule.reduce is None and rule.name in ranking.by_priority]
        others = [rule for rule, _ in algorithm.priorities if rule not in on_sheet and rule.name in ranking.by_priority]
        if len(on_sheet) + len(others) != len(ranking.by_priority) or not all(self._is_even(rule, cycle, ranking) for rule in others):
            return None
        weight_of = {rule.name: weight for rule, weight in weights.items()}
        scores = {rule.name: int(ranking.by_priority[rule.name][0]) for rule in others}
        places = {rule.name: place for place, rule in enumerate(on_sheet)}
        # What skipped in this cycle may not skip once something moves that it reads.
        skipped = [rule for rule, _ in algorithm.priorities if rule.name not in ranking.by_priority]
        reads = [part.reads for part in far] + [rule.reads for rule in (*others, *skipped) if rule.concerns(pod)]
        scopes = frozenset(map(Scope.of, reads))
        return Outline(
            self._sheet(pod, near, on_sheet), self._allowed(far, cycle),
            [ScoreLine(name, places.get(name), scores.get(name, 0)) for name in ranking.by_priority],
            [weight_of[rule.name] for rule in on_sheet], sum(score * weight_of[name] for name, score in scores.items()),
            scopes, cycle.table.changed.node_revision, self._environment(scopes, cycle),
        )  # fmt: skip

    def _is_even(self, rule: Priority, cycle: Cycle, ranking: Ranking) -> bool:
        """Whether *rule* gives each node that fits the same score, whichever nodes fit."""
        scores = ranking.by_priority[rule.name]
        if not (scores == scores[0]).all():
            return False
        if not rule.concerns(cycle.template):
            return True
        answer, reduce = self.quick_path.boards.answers.scores(rule, cycle), rule.reduce
        constant = answer.constant
        if answer.is_idle:
            return True
        return constant is not None and (reduce is None or (constant == 0 and getattr(reduce, "zeros_alike", False)))

    def _allowed(self, predicates: Sequence[Predicate], cycle: Cycle) -> Mask | None:
        """bool[size], which nodes all *predicates* pass; None: all. Raises Unanswerable."""
        found, answers = None, self.quick_path.boards.answers
        for predicate in predicates:
            answer = answers.failures_of(predicate, cycle.template)
            answers.update((answer,), cycle, answers.still(cycle))
            passed = answer.passed()
            if passed is not None:
                found = passed if found is None else found & passed
        return found

    def _sheet(self, pod: Template, predicates: Sequence[Predicate], priorities: Sequence[Priority]) -> RowSheet:
        answers = self.quick_path.boards.answers
        key = pod.size, *[tuple(answers.key(rule, pod) for rule in rules) for rules in (predicates, priorities)]
        found = self._sheets.get(key)
        if found is None:
            found = self._sheets[key] = RowSheet(answers.table, predicates, priorities)
        return found


def _judgement(cycle: Cycle, revision: int, prepare: Callable[[], object]) -> FilterPass:
    """What all predicates say of all nodes in *cycle*, which began at this *revision* of the table."""
    assert cycle.table.changed.revision == revision, "the next cycle has begun"
    prepare()
    return judge(cycle, Batch.everywhere(cycle.table), cycle.algorithm.check_all)


def _check_fits(found: Verdict, cycle: Cycle) -> None:
    """Raise StaleError unless the nodes fit that the predicates pass."""
    with verify.uncached(cycle) as fresh:
        wanted = judge(fresh, Batch.everywhere(cycle.table), cycle.algorithm.check_all).fits
    wrong = np.flatnonzero((wanted != found.fits) & cycle.table.has_node[: cycle.table.size])
    if len(wrong):
        raise verify.StaleError(f"the outline of pod {cycle.pod.key} is stale: {len(wrong)} nodes, row {wrong[0]} first")


def _check_scores(found: Ranking, wanted: Ranking, cycle: Cycle) -> None:
    """Raise StaleError unless all scores are as *wanted*."""
    is_same = [*found.by_priority] == [*wanted.by_priority] and all(
        np.array_equal(one, other)
        for one, other in zip((found.totals, *found.by_priority.values()), (wanted.totals, *wanted.by_priority.values()), strict=True)
    )
    if not is_same:
        raise verify.StaleError(f"the outline of pod {cycle.pod.key} is stale: {found.by_priority}, worked out {wanted.by_priority}")
