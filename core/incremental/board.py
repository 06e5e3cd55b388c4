"""The materialised view of all rules of one template: the rows that fit and the best of them, updated when
asked for.

The first pod of a template is decided row by row, by numpy; from the second on its rows are in classes
(:mod:`.classes`), if every reduce step has a scale and the classes are few.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from itertools import islice
from weakref import WeakValueDictionary

import attrs
import numpy as np

from ..arrays import NEVER, NO_ROWS, NOWHERE, Batch, Ints, Mask, Rows
from ..cluster.snapshot import Order
from ..cycle import Cycle, every_pod
from ..decision import TieBreaker
from ..pods import Template, rebuilt_from
from . import verify
from .answers import AnswerCache, Still, Unanswerable
from .classes import MOST_CLASSES, Classes, NoScale
from .farrules import FarRules, Plan
from .rows import OUT, Lookahead, LookaheadStats, RowScores

MOST_MOVED = 64
ROWS_A_MOVE = 64
"""With more moved rows and classes than MOST_MOVED plus one per ROWS_A_MOVE rows, numpy looks at all rows."""


@attrs.define(eq=False, repr=False)
class Board:
    """One template against all rows."""

    answers: AnswerCache
    plan: Plan
    near: RowScores
    """The row scores: the answers of the rules that look at the row alone."""
    far: FarRules = attrs.Factory(FarRules)
    order: Rows = NO_ROWS
    """The rows of the coming pass, each once."""
    count: int = 0
    """The number of rows that fit."""
    wanted: int = 0
    """The number of feasible rows that ends the pass; if there are more rows than that, not all that fit are
    feasible."""
    classes: Classes | None = None
    """The rows in classes; None: they are looked at one by one."""
    still: Still = (NEVER, NEVER, NEVER)
    """The revisions of durable state when the far rules were asked."""
    alike: dict[str, int] = attrs.Factory(dict)
    """Rule with equal scores for all nodes at these revisions -> that score, once it was asked for."""
    _order_revision: Hashable = None
    """The revision of the set of rows in ``order``, whatever their sequence."""
    _open: Mask = NOWHERE
    """bool[rows]: the rows of ``order`` whose node objects pass the predicates that read these alone."""
    _fits: Mask | None = None
    """bool[rows]: the rows that fit; None: ``classes`` has them."""
    _is_apart: bool = False
    """Whether its rows cannot be put into classes, or into too many."""
    _revision: int = NEVER
    """A counter of rows that may belong in another class; NEVER: not read since the far rules were asked."""

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays, and of the answers that it alone keeps."""
        parts = (self.classes, *[answer for answer in self.far.restless if not answer.is_kept])
        fits = NOWHERE if self._fits is None else self._fits
        return self._open.nbytes + fits.nbytes + sum([part.nbytes for part in parts if part is not None])

    def forget(self) -> None:
        """Work everything out again when next asked."""
        self.still = (NEVER, NEVER, NEVER)
        self.classes = None

    # --- following ------------------------------------------------------------------------------------------

    def refresh(
        self, cycle: Cycle, order: Rows, order_revision: Hashable, wanted: int, *, by_rows: bool = False
    ) -> bool:
        """Update the rows that fit and, where more than one does, the best. False where this cycle has to be
        run in full.

        *order*: the rows of the coming pass, which ends with *wanted* feasible ones; *order_revision*
        identifies the set of these rows. *by_rows*: rows are asked about, not the best. Raises PriorityError
        where a priority cannot be computed.
        """
        self.order = order
        self.wanted = wanted
        try:
            still = self.answers.still(cycle)
            if still != self.still or order_revision != self._order_revision:
                self._take_over(cycle, still, order_revision)
            self.near.refresh(cycle)
            if self.far.restless:
                self.answers.update(self.far.restless, cycle)
            before = self._revision
            self._revision = self.near.moved.revision + sum(
                [counter.revision for counter in self.far.counters]
            )
            moved = self._revision - before
            # Grouping the rows costs as much as many turns row by row, and how many classes there will be is
            # a guess.
            moved += moved // 2 if self.classes is None else len(self.classes.live)
            is_slower = (
                by_rows or self._is_apart or before < 0 or moved > MOST_MOVED + len(order) // ROWS_A_MOVE
            )
            if is_slower or not self._judge_classes(cycle):
                fits = (self.near.worth != OUT) & self._open
                passed = self.far.passed(Batch.everywhere(cycle.table))
                self._fits = fits if passed is None else fits & passed
                self.count = int(np.count_nonzero(self._fits))
        except Unanswerable:
            self.forget()
            return False
        if verify.SWITCH.is_on:
            verify.check_fits(self.order, self.fits, self.count, self.classes, cycle)
        return True

    def _take_over(self, cycle: Cycle, still: Still, order_revision: Hashable) -> None:
        """Ask the rules again for their declarations, as durable state moved, or other rows are visited."""
        table = cycle.table

        def visited() -> Mask:
            is_visited = np.zeros(table.size, np.bool_)
            is_visited[self.order] = True
            return is_visited

        self._open = table.node_derived(("visited", order_revision), visited)
        of_nodes = [self.answers.of(rule, cycle.template) for rule in self.plan.of_nodes]
        self.answers.update(of_nodes, cycle)
        for answer in of_nodes:
            if answer.answer is not None:
                self._open = self._open & answer.answer.passed
        far = FarRules.of(cycle, self.answers, self.plan.beyond, self.plan.wider)
        # Terms and services of other pods change often, and mostly change nothing for this template.
        if self.still[0] != still[0] or order_revision != self._order_revision or far.shape != self.far.shape:
            self.far = far
            self.classes = None
            self._is_apart = False
            self._revision = NEVER
        self.still = still
        self._order_revision = order_revision
        self.alike = {}

    def _judge_classes(self, cycle: Cycle) -> bool:
        """Update the classes; False where rows have to be looked at one by one."""
        try:
            classes = self.classes
            if classes is None:
                classes = self.classes = Classes.of(cycle, self.near, self.far, self._open)
            else:
                classes.follow()
            if len(classes.live) > MOST_CLASSES:
                raise NoScale
            if not classes.is_judged:
                classes.judge(cycle, scores=self.wanted >= len(self.order))
        except NoScale:
            self.classes = None
            self._is_apart = True
            return False
        self.count = classes.count
        self._fits = None
        return True

    # --- reading --------------------------------------------------------------------------------------------

    @property
    def fits(self) -> Mask:
        """The rows that fit: bool[size]."""
        return self.fit(None)

    def fit(self, rows: Rows | None) -> Mask:
        """The rows of *rows*, or of all, that fit: bool[k]."""
        if self._fits is not None:
            return self._fits if rows is None else self._fits.take(rows)
        assert self.classes is not None
        return self.classes.feasible(rows)

    def host(self, cycle: Cycle, order: Order, ties: TieBreaker) -> int:
        """The row of the host; *order* and *ties* move on. Raises PriorityError, and NoScale."""
        visited = len(self.order)
        stopped = False
        wanted = self.wanted
        classes = self.classes if self._fits is None else None
        if classes is not None and wanted < visited:
            if verify.SWITCH.is_on:
                rows = self.order[self.fit(self.order)][:wanted]
                verify.check_totals(cycle, rows, self.totals(cycle, rows))
            row, visited, stopped = classes.host_in_window(cycle, self.order, wanted, ties)
        elif classes is not None:
            row = classes.host(self.order, order.places, ties)
            if verify.SWITCH.is_on:
                rows = self.order[self.fit(self.order)]
                totals = self.totals(cycle, rows)
                verify.check_totals(cycle, rows, totals)
                verify.check_best(
                    classes.among(classes.best).nonzero()[0], rows[totals == totals.max()], cycle
                )
        else:
            # Most nodes fit, so a little more than the wanted number is enough to look at.
            places = self.fit(self.order[: wanted + wanted // 8 + 64]).nonzero()[0]
            if len(places) <= wanted:
                places = self.fit(self.order).nonzero()[0]
            if len(places) > wanted:
                # Upstream: the search ends with the feasible node beyond the wanted number.
                visited = int(places[wanted]) + 1
                stopped = True
                places = places[:wanted]
            rows = self.order.take(places)
            totals = self.totals(cycle, rows) if len(rows) > 1 else np.zeros(1, np.int64)
            if verify.SWITCH.is_on:
                verify.check_totals(cycle, rows, totals)
            row = int(rows[ties.best(totals)]) if len(rows) > 1 else int(rows[0])
        order.take(visited, stopped=stopped)
        return row

    def totals(self, cycle: Cycle, rows: Rows) -> Ints:
        """The totals of the feasible *rows*, in visiting order, without what all have: int64[k]. Raises
        PriorityError, and NoScale."""
        if self._fits is None and self.classes is not None:
            classes = self.classes
            codes = classes.of_row.take(rows)
            sizes = np.bincount(codes, minlength=len(classes.size))
            which: Sequence[int] = sizes.nonzero()[0].tolist()
            total_of = np.zeros(len(classes.size), np.int64)
            total_of[which] = classes.totals(cycle, list(which), sizes[which].tolist())
            return total_of.take(codes)
        totals = self.near.worth.take(rows)
        for score in self.far.scores:
            totals += self.far.reduced(cycle, score, rows) * score.weight
        return totals


# --- all boards ---------------------------------------------------------------------------------------------

# The boards of the templates in use, made when a template is first asked about.


BOARD_OBJECTS = 1 << 12
"""Bytes of a board and of its answers besides their arrays, as measured by tracemalloc."""


@rebuilt_from("answers", "limit")
@attrs.define(eq=False, repr=False)
class Boards:
    """The boards of the templates in use, up to *limit* bytes; those not asked for longest are dropped."""

    answers: AnswerCache
    limit: int
    _known: dict[Template, Board] = attrs.Factory(dict)
    _plans: dict[Hashable, Plan] = attrs.Factory(dict)
    """The plans by the rules that concern a pod."""
    _unweighed: int = 0
    """The number of boards added since sizes were last summed."""
    _luck: LookaheadStats = attrs.Factory(LookaheadStats)
    _row_scores: WeakValueDictionary[Hashable, RowScores] = attrs.Factory(WeakValueDictionary)

    def of(self, cycle: Cycle) -> Board:
        """The board of the template of *cycle*."""
        board = self._known.pop(cycle.template, None)
        if board is None:
            pod = cycle.template
            algorithm = cycle.algorithm
            parts = tuple(
                [part for predicate in algorithm.predicates_for(pod) for part in predicate.parts_for(pod)]
            )
            weighed = tuple(
                [
                    item
                    for item in algorithm.priorities
                    if item[0].concerns is every_pod or item[0].concerns(pod)
                ]
            )
            plan = self._plans.get((parts, weighed))
            if plan is None:
                plan = self._plans[parts, weighed] = Plan.of(parts, weighed)
            board = Board(self.answers, plan, self._shared(pod, plan))
            self._make_room()
        self._known[cycle.template] = board
        return board

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep only the boards and answers of the templates *in_use*."""
        self._known = {template: board for template, board in self._known.items() if template in in_use}
        self.answers.forget(in_use)

    def _shared(self, pod: Template, plan: Plan) -> RowScores:
        """The row scores of *pod*, shared by all templates that these rules cannot tell apart."""
        keys = (
            [self.answers.key(rule, pod) for rule in plan.near],
            [self.answers.key(rule, pod) for rule, _ in plan.worth],
        )
        key = pod.size, *map(tuple, keys)
        row_scores = self._row_scores.get(key)
        if row_scores is None:
            row_scores = self._row_scores[key] = RowScores(
                self.answers.table, plan.near, plan.worth, ahead=Lookahead(luck=self._luck)
            )
        return row_scores

    @property
    def held(self) -> int:
        """Bytes of all boards and of the row scores that they share."""
        boards = self._known.values()
        row_scores = self._row_scores.values()
        return sum(BOARD_OBJECTS + board.nbytes for board in boards) + sum(near.nbytes for near in row_scores)

    def _make_room(self) -> None:
        """Drop the boards not asked for longest, an eighth at a time, once one in eight is new."""
        self._unweighed += 1
        if self._unweighed * 8 <= len(self._known):
            return
        self._unweighed = 0
        while self._known and self.held > self.limit:
            for template in list(islice(self._known, len(self._known) // 8 + 1)):
                del self._known[template]
