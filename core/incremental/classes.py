"""The rows of a board in classes: rows of one class look the same to all rules of one template.

A rule sees the worth of the row by itself, the values of few-valued labels, and sums of pods on the row or in
its small domain. Rows that are equal in these get the same answer from every rule, so each class is judged
once, whatever the number of its rows: 2 to 12 classes among 5,000 rows of the benches. One pod that comes
moves the rows that it touches to other classes.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from operator import add

import attrs
import msgspec
import numpy as np

from ..arrays import (
    NEVER,
    NO_INTS,
    NO_ROWS,
    Batch,
    Clause,
    DomainSum,
    Failures,
    Ints,
    Mask,
    NodeTable,
    Reduction,
    Rows,
    Watched,
    rows_by_label,
)
from ..cycle import Cycle
from ..decision import TieBreaker, TopOfHeap
from .answers import Answer
from .farrules import FarRules, FarScore
from .rows import OUT, RowScores

MOST_CLASSES = 256
"""With more classes numpy looks at all rows instead."""
MOST_SINGLE = 256
"""With more rows to move, all are grouped anew."""
FEW_ROWS = 4
"""With more rows to move, numpy reads their keys: ten take 5.6 us one by one, 2.8 us together."""
MOST_STALE = 32
"""The most places in a list beyond twice the rows of its class; with more it is made anew."""
MOST_KEYS = 1 << 62


@attrs.define(eq=False, repr=False)
class RowSum:
    """A sum of pods on each row, or in a domain of many: its rows move with its counters."""

    sum: DomainSum
    table: NodeTable
    at: Callable[[int], int] = attrs.field(init=False)
    """The sum of a row."""
    of_rows: Callable[[Rows], list[int]] = attrs.field(init=False)
    """The sums of some rows."""
    _seen: list[Watched] = attrs.field(init=False)
    _are_apart: bool = attrs.field(init=False)
    """Whether no two rows have a domain in common."""

    def __attrs_post_init__(self) -> None:
        domain_sum = self.sum
        self._seen = [Watched(term.counter) for term in domain_sum.counts]
        self._are_apart = domain_sum.key is None or rows_by_label(self.table, domain_sum.key).are_apart
        self.at = domain_sum.at
        self.of_rows = domain_sum.of_rows

    def everywhere(self) -> Ints:
        """The sums of all rows, which are followed from now on: int64[size]."""
        for watch in self._seen:
            watch.seen = watch.counter.revision
        return self.sum.everywhere(Batch.everywhere(self.table))

    def moved(self) -> Sequence[int] | None:
        """The rows whose sum may have changed since the last call; None: any."""
        moved: Sequence[int] = ()
        for watch in self._seen:
            counter = watch.counter
            if watch.seen != counter.revision:
                rows = counter.moved_since(watch.seen)
                if rows is None:
                    return None
                moved = [*moved, *rows] if moved else rows
                watch.seen = counter.revision
        if not moved or self._are_apart:
            return moved
        domains = rows_by_label(self.table, self.sum.key or "")
        codes = self.sum.column.codes
        return [
            row for code in {codes.item(row) for row in moved} if code for row in domains.at(code).tolist()
        ]


@attrs.define(eq=False, repr=False)
class AskedRow:
    """The answer for each row of a rule that declares nothing: its raw score, or 1 where it does not reject
    the row."""

    answer: Answer
    seen: int = NEVER

    def at(self, row: int) -> int:
        return int(self.everywhere().item(row))

    def of_rows(self, rows: Rows) -> list[int]:
        values: list[int] = self.everywhere().take(rows).tolist()
        return values

    def everywhere(self) -> Ints:
        self.seen = self.answer.revision
        answer: Failures | Ints | None = self.answer.answer
        if answer is None:
            return np.ones(self.answer.size, np.int64)
        return answer.passed.astype(np.int64) if isinstance(answer, Failures) else answer

    def moved(self) -> Sequence[int] | None:
        """As :meth:`RowSum.moved`."""
        return () if self.seen == self.answer.revision else None


class ScoresOfClasses(msgspec.Struct, eq=False):
    """Raw scores by class. *codes*: the values of a column; *sizes*: the number of feasible nodes in each
    class."""

    scores: Sequence[int]
    codes: Sequence[int]
    sizes: Sequence[int]

    @property
    def number(self) -> int:
        return sum(self.sizes)

    @property
    def highest(self) -> int:
        return max(self.scores, default=0)

    @property
    def lowest(self) -> int:
        return min(self.scores, default=0)

    @property
    def counted(self) -> Iterable[tuple[int, int, int]]:
        return zip(self.scores, self.codes, self.sizes, strict=True)


@attrs.frozen(eq=False, repr=False)
class ClassTest:
    """A clause, and the place of its sum in a class: slot *few* of a domain, or *moving*, where slot
    *present* has the label."""

    clause: Clause
    few: int | None
    moving: int
    present: int

    def passed(self, classes: Classes, which: list[int]) -> list[int]:
        """The classes among *which* that it does not refuse."""
        clause = self.clause
        if self.few is not None:
            codes = classes.fixed[self.few]
            refused = clause.judge()
            return [at for at in which if not refused[codes[at]]] if any(refused) else which
        sums = classes.sums[self.moving]
        present = classes.fixed[self.present]
        limit = clause.most if clause.is_local else clause.limit(clause.sum.by_code())
        if limit is None:
            return [at for at in which if present[at] or not clause.keyless_alone]
        wants = clause.wants
        keyless = clause.keyless
        return [at for at in which if ((sums[at] > limit) is wants if present[at] else not keyless)]


@attrs.frozen(eq=False, repr=False)
class ClassScore:
    """A priority, and the places in a class of the parts of its raw score."""

    few: Sequence[tuple[DomainSum, int]]
    """Sums by few domains, each with the slot of a class's domain."""
    moving: Sequence[int]
    fixed: int | None
    """The slot of a score that follows from node objects alone."""
    column: int | None
    """The slot of the column of its reduce step."""
    reduction: Reduction | None
    weight: int

    def raw(self, classes: Classes, which: list[int]) -> list[int]:
        """The raw scores of the classes *which*."""
        if self.fixed is not None:
            scores = classes.fixed[self.fixed]
            return [scores[at] for at in which]
        raw: list[int] | None = None
        for place in self.moving:
            sums = classes.sums[place]
            if raw is None:
                raw = [sums[at] for at in which]
            else:
                raw = [score + sums[at] for score, at in zip(raw, which, strict=True)]
        for domain_sum, slot in self.few:
            values = domain_sum.by_code()
            codes = classes.fixed[slot]
            part = [values[codes[at]] for at in which]
            raw = part if raw is None else list(map(add, raw, part))
        return [0] * len(which) if raw is None else raw


class NoScale(Exception):
    """Scores do not follow from what is known of classes: rows have to be looked at."""


@attrs.define(eq=False, repr=False)
class RowView:
    """The parts of a row that the rules of one template see, each once: node values in slots, and values that
    move with pods."""

    table: NodeTable
    columns: list[Ints] = attrs.Factory(list)
    """By slot: int64[rows]."""
    moving: list[RowSum | AskedRow] = attrs.Factory(list)
    _slots: dict[object, int] = attrs.Factory(dict)
    _places: dict[object, int] = attrs.Factory(dict)

    def slot(self, key: object, codes: Ints) -> int:
        """The slot of the column called *key*, with these *codes*: int64[rows or more]."""
        if key not in self._slots:
            self._slots[key] = len(self.columns)
            self.columns.append(codes[: self.table.size])
        return self._slots[key]

    def place(self, key: object, make: Callable[[], RowSum | AskedRow]) -> int:
        """The place of the moving value called *key*."""
        if key not in self._places:
            self._places[key] = len(self.moving)
            self.moving.append(make())
        return self._places[key]

    def sum(self, domain_sum: DomainSum) -> int:
        """The place of a sum that no rows, or only a few, share."""
        return self.place(domain_sum.shape, partial(RowSum, domain_sum, self.table))

    def asked(self, answer: Answer) -> int:
        """The place of an *answer*."""
        return self.place(id(answer), partial(AskedRow, answer))

    def test(self, clause: Clause) -> ClassTest:
        """The test by *clause*."""
        column = clause.sum.column
        if clause.sum.is_few:
            return ClassTest(clause, self.slot(id(column), column.codes), 0, 0)
        present = self.slot(("has", id(column)), (column.codes != 0).astype(np.int64))
        return ClassTest(clause, None, self.sum(clause.sum), present)

    def score(self, far_score: FarScore, moves: bool, cycle: Cycle) -> ClassScore:
        """The scores of *far_score*; *moves*: its answer changes with pods. Raises NoScale where its reduce
        step has no scale."""
        reduction = far_score.reduction
        column = None
        if far_score.rule.reduce is not None and reduction is None:
            raise NoScale
        if (
            reduction is not None
            and reduction.column is not None
            and (values := reduction.column(cycle.template, cycle)) is not None
        ):
            column = self.slot(id(values), values.codes)
        few = [
            (domain_sum, self.slot(id(domain_sum.column), domain_sum.column.codes))
            for domain_sum in far_score.sums
            if domain_sum.is_few
        ]
        rows = [self.sum(domain_sum) for domain_sum in far_score.sums if not domain_sum.is_few]
        fixed = None
        if far_score.answer is not None and moves:
            rows = [self.asked(far_score.answer)]
        elif far_score.answer is not None:
            fixed = self.slot(id(far_score.answer), far_score.answer.answer)
        return ClassScore(few, rows, fixed, column, reduction, far_score.weight)


@attrs.define(eq=False, repr=False)
class Classes:
    """The classes of one template. By class: ``size``, ``keys``, ``fits``, ``fixed[slot]``, ``sums[place]``.

    Invariants: the sizes add up to the rows that are open and fit by themselves; ``of_row`` has the class of
    each of them as of the last changes followed; each list of places has every place of its class; ``best``
    and ``count`` are right as long as ``is_judged``.
    """

    table: NodeTable
    near: RowScores
    far: FarRules
    open: Mask
    """bool[rows]: the visited rows whose node objects pass the predicates that read these alone."""
    of_row: Ints = NO_INTS
    """int64[rows]: the class of each row; -1 where a row is not open or does not fit by itself."""
    size: list[int] = attrs.Factory(list)
    keys: list[tuple[int, ...]] = attrs.Factory(list)
    """The key of each class: the worth of its rows by themselves, the code of their node values in the slots,
    and the sums."""
    fits: list[bool] = attrs.Factory(list)
    fixed: list[list[int]] = attrs.Factory(list)
    sums: list[list[int]] = attrs.Factory(list)
    count: int = 0
    """The number of rows that fit."""
    best: list[int] = attrs.Factory(list)
    """The classes with the highest total."""
    is_judged: bool = False
    live: dict[int, None] = attrs.Factory(dict)
    """The classes with rows."""
    _ids: dict[tuple[int, ...], int] = attrs.Factory(dict)
    """Key -> its class."""
    _free: list[int] = attrs.Factory(list)
    """Numbers of classes that lost their last row."""
    _fixed_of: list[tuple[int, ...]] = attrs.Factory(list)
    """The node values in the slots, by code."""
    _slots: int = 0
    """The number of slots."""
    _code: Ints = NO_INTS
    """int64[rows]: equal where node objects are equal for the rules; -1 where a row is not open."""
    _moving: list[RowSum | AskedRow] = attrs.Factory(list)
    _asked: list[int] = attrs.Factory(list)
    """The places of the answers of predicates that declare nothing."""
    _tests: list[ClassTest] = attrs.Factory(list)
    _scores: list[ClassScore] = attrs.Factory(list)
    _watches: list[Watched] = attrs.Factory(list)
    _fitting: Mask | None = None
    """bool[classes + 1]: the classes that fit, and False for rows in none; None: not asked for since the last
    judging."""
    _is_scored: bool = False
    """Whether the best of them were looked for, too."""
    _needs_sizes: bool = False
    """Whether scores may depend on the number of rows in each class."""
    _near_seen: int = NEVER
    _order: Rows = NO_ROWS
    _places: Rows = NO_ROWS
    """intp[rows]: the place of each row in the order."""
    _places_of: list[list[int] | None] = attrs.Factory(list)
    """Class -> the places of its rows, and stale ones, which are dropped when met; None: not looked for yet.
    They are negative and ascending, so that the first place is at the end, where a list is cheap to
    shorten."""

    @classmethod
    def of(cls, cycle: Cycle, near: RowScores, far: FarRules, is_open: Mask) -> Classes:
        """The classes of all rows, for the pod of *cycle*. Raises NoScale where a reduce step has no
        scale."""
        classes = cls(cycle.table, near, far, is_open)
        classes._lay_out(cycle)
        classes.group()
        return classes

    @property
    def nbytes(self) -> int:
        """The approximate size of its arrays and lists, in bytes."""
        places = sum(len(places) for places in self._places_of if places is not None)
        return (
            self.of_row.nbytes
            + self._code.nbytes
            + 100 * len(self.size) * (4 + len(self.fixed) + len(self.sums))
            + 40 * places
        )

    # --- what a class is ------------------------------------------------------------------------------------

    def _lay_out(self, cycle: Cycle) -> None:
        """Find out which parts of a row the rules see."""
        far = self.far
        view = RowView(self.table)
        self._tests = [view.test(clause) for clause in far.clauses]
        self._asked = [view.asked(answer) for answer in far.asked]
        self._scores = [view.score(score, score.answer in far.restless, cycle) for score in far.scores]
        self._moving = view.moving
        self._needs_sizes = any(score.reduction is not None for score in self._scores)
        self._watches = [Watched(counter) for counter in far.counters]
        self._code, rows = grouped(view.columns, self.open)
        values = [column.take(rows).tolist() for column in view.columns]
        self._slots = len(view.columns)
        self._fixed_of = list(zip(*values, strict=True)) if values else [()] * len(rows)

    def group(self) -> None:
        """Put all rows into classes anew."""
        worth = self.near.worth
        self._near_seen = self.near.moved.revision
        inside = (worth != OUT) & (self._code >= 0)
        sums = [source.everywhere() for source in self._moving]
        for place in self._asked:
            inside &= sums[place] != 0
        self.of_row, rows = grouped([worth, self._code, *sums], inside)
        columns = [column.take(rows).tolist() for column in (worth, self._code, *sums)]
        self.size = []
        self.keys = []
        self.fits = []
        self._places_of = []
        self._ids = {}
        self._free = []
        self.fixed = [[] for _ in range(self._slots)]
        self.sums = [[] for _ in sums]
        for key in zip(*columns, strict=True):
            self._begin(key)
        self.size = np.bincount(self.of_row[inside], minlength=len(rows)).tolist()
        self.live = dict.fromkeys(range(len(rows)))
        self._places_of = [None] * len(rows)
        self.is_judged = False

    def _begin(self, key: tuple[int, ...]) -> int:
        """The number of a new class without rows."""
        columns = (*self.fixed, *self.sums)
        if not self._free:
            self._free.append(len(self.size))
            self.size.append(0)
            self.keys.append(key)
            self.fits.append(False)
            self._places_of.append([])
            for values in columns:
                values.append(0)
        number = self._free.pop()
        self.keys[number] = key
        self.fits[number] = False
        self._places_of[number] = []
        for values, value in zip(columns, (*self._fixed_of[key[1]], *key[2:]), strict=True):
            values[number] = value
        self._ids[key] = number
        return number

    # --- following ------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Move the changed rows to their classes, and see whether classes have to be judged again."""
        rows = self.near.moved.steps_since(self._near_seen)
        for source in self._moving:
            more = source.moved()
            if more is None or rows is None:
                rows = None
            elif more:
                rows = [*rows, *more]
        self._near_seen = self.near.moved.revision
        if rows is None or len(rows) > MOST_SINGLE:
            self.group()
        elif rows:
            self._move(rows if len(rows) == 1 else set(rows))
        for watch in self._watches:
            if watch.seen != watch.counter.revision:
                watch.seen = watch.counter.revision
                self.is_judged = False

    def _move(self, rows: Collection[int]) -> None:
        of_row = self.of_row
        ids = self._ids
        asked = self._asked
        size = self.size
        fits = self.fits
        counts_sizes = self._needs_sizes and self._is_scored
        for row, key in zip(rows, self._keys_of(rows), strict=True):
            now = ids.get(key, -1)
            if now < 0 and key[0] != OUT and key[1] >= 0 and all(key[2 + place] for place in asked):
                now = self._begin(key)
            before = of_row.item(row)
            if now != before:
                # The row moves from class *before* to *now*; -1: no class.
                of_row[row] = now
                if counts_sizes:
                    self.is_judged = False
                if now >= 0:
                    if size[now]:
                        self.count += fits[now]
                    else:
                        self.is_judged = False
                        self.live[now] = None
                    size[now] += 1
                    places = self._places_of[now]
                    if places is not None:
                        if len(places) > 2 * size[now] + MOST_STALE or not len(self._places):
                            self._places_of[now] = None
                        else:
                            insort(places, -self._places.item(row))
                if before >= 0:
                    size[before] -= 1
                    self.count -= fits[before]
                    if not size[before]:
                        self.is_judged = False
                        del self.live[before], self._ids[self.keys[before]]
                        self._free.append(before)

    def _keys_of(self, rows: Collection[int]) -> Iterable[tuple[int, ...]]:
        """The keys of the classes that *rows* belong in now."""
        worth = self.near.worth
        codes = self._code
        moving = self._moving
        if len(rows) > FEW_ROWS:
            indexes = np.fromiter(rows, np.intp, len(rows))
            sums = [source.of_rows(indexes) for source in moving]
            return zip(worth.take(indexes).tolist(), codes.take(indexes).tolist(), *sums, strict=True)
        if not moving:
            return [(worth.item(row), codes.item(row)) for row in rows]
        return [(worth.item(row), codes.item(row), *[source.at(row) for source in moving]) for row in rows]

    # --- judging --------------------------------------------------------------------------------------------

    def judge(self, cycle: Cycle, *, scores: bool) -> None:
        """Find the classes that fit and, with *scores*, the best of them. Raises NoScale and
        PriorityError."""
        which = list(self.live)
        size = self.size
        for test in self._tests:
            which = test.passed(self, which)
        fits = self.fits = [False] * len(size)
        for at in which:
            fits[at] = True
        self._fitting = None
        self._is_scored = scores
        sizes = [size[at] for at in which]
        self.count = sum(sizes)
        self.best = which
        self.is_judged = True
        if scores and self.count > 1:
            totals = self.totals(cycle, which, sizes)
            most = max(totals)
            self.best = [at for at, total in zip(which, totals, strict=True) if total == most]

    def totals(self, cycle: Cycle, which: list[int], sizes: list[int]) -> list[int]:
        """The totals of the classes *which*, with *sizes* feasible rows each; a part that all share is left
        out."""
        keys = self.keys
        totals = [keys[at][0] for at in which]
        for class_score in self._scores:
            raw = class_score.raw(self, which)
            weight = class_score.weight
            reduction = class_score.reduction
            if reduction is not None:
                if reduction.zeros_alike and not any(raw):
                    continue
                values = None if class_score.column is None else self.fixed[class_score.column]
                codes = [0] * len(which) if values is None else [values[at] for at in which]
                scale = reduction.scale(cycle.template, ScoresOfClasses(raw, codes, sizes), cycle)
                if scale is None:
                    raise NoScale
                raw = scale.each(raw, codes)
            totals = list(map(add, totals, raw if weight == 1 else [score * weight for score in raw]))
        return totals

    # --- reading --------------------------------------------------------------------------------------------

    def host(self, order: Rows, places: Callable[[], Rows], ties: TieBreaker) -> int:
        """The row of the best class, or classes, that *ties* picks, in visiting *order*."""
        if self._order is not order:
            self._order, self._places, self._places_of = order, places(), [None] * len(self.size)
        best = self.best
        size = self.size
        if self.count > 1 and isinstance(ties.pick, TopOfHeap):
            tied = self.among(best, order).nonzero()[0]
            # Places among the rows that fit.
            among = tied if self.count == len(order) else self.feasible(order).cumsum()[tied] - 1
            return order.item(tied[ties.pick.among(among)])
        alike = size[best[0]] if len(best) == 1 else sum([size[at] for at in best])
        chosen = ties.which(alike) if self.count > 1 else 0
        if chosen:
            return order.item(self.among(best, order).nonzero()[0].item(chosen))
        return order.item(self._place(best[0]) if len(best) == 1 else min([self._place(at) for at in best]))

    def _place(self, which: int) -> int:
        """The first place in the order with a row of class *which*, which has some."""
        places = self._places_of[which]
        order = self._order
        of_row = self.of_row
        if places is None:
            matches = (of_row.take(order) == which).nonzero()[0]
            places = self._places_of[which] = (-matches[::-1]).tolist()
        while of_row.item(order.item(-places[-1])) != which:
            places.pop()
        return -places[-1]

    def host_in_window(
        self, cycle: Cycle, order: Rows, wanted: int, ties: TieBreaker
    ) -> tuple[int, int, bool]:
        """The outcome of a pass that stops after *wanted* fits and one more: host row, number of rows
        visited, whether it stops.

        Raises NoScale and PriorityError.
        """
        # Most nodes fit, so a little more than the wanted number is enough to look at.
        for reach in (wanted + wanted // 8 + 64, len(order)):
            codes = self.of_row.take(order[:reach])
            places = self._fit(codes).nonzero()[0]
            if len(places) > wanted:
                break
        visited = len(order)
        stopped = len(places) > wanted
        if stopped:
            visited = places.item(wanted) + 1
            places = places[:wanted]
        chosen = 0
        if len(places) > 1:
            codes = codes.take(places)
            sizes = np.bincount(codes).tolist()
            which = [at for at, size in enumerate(sizes) if size]
            totals = self.totals(cycle, which, [sizes[at] for at in which])
            most = max(totals)
            best = [at for at, total in zip(which, totals, strict=True) if total == most]
            leads = codes == best[0]
            for at in best[1:]:
                leads |= codes == at
            chosen = ties.of(leads.nonzero()[0])
        return order.item(places.item(chosen)), visited, stopped

    def feasible(self, rows: Rows | None = None) -> Mask:
        """The rows of *rows*, or of all, that fit: bool[k]."""
        return self._fit(self.of_row if rows is None else self.of_row.take(rows))

    def _fit(self, codes: Ints) -> Mask:
        if self._fitting is None:
            self._fitting = np.array([*self.fits, False])
        return self._fitting.take(codes, mode="wrap")

    def among(self, which: Sequence[int], rows: Rows | None = None) -> Mask:
        """The rows of *rows*, or of all, in the classes *which*: bool[k]."""
        is_chosen = np.zeros(len(self.size) + 1, np.bool_)
        is_chosen[list(which)] = True
        return is_chosen.take(self.of_row if rows is None else self.of_row.take(rows), mode="wrap")


def grouped(columns: Sequence[Ints], inside: Mask) -> tuple[Ints, Rows]:
    """The group of each row, int64[rows], and a row of each group: rows of one are equal in all *columns*; -1
    where not *inside*."""
    rows = inside.nonzero()[0]
    group_of = np.full(len(inside), -1, np.int64)
    keys = np.zeros(len(rows), np.int64)
    width = 1
    if not len(rows):
        return group_of, rows
    for column in columns:
        part = column.take(rows)
        lowest = int(part.min())
        span = int(part.max()) - lowest + 1
        if span == 1:
            continue
        if span > 4 * len(rows) or width * span >= MOST_KEYS:
            part = np.unique(part, return_inverse=True)[1].astype(np.int64)
            lowest = 0
            span = int(part.max()) + 1
        if width * span >= MOST_KEYS:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            width = int(keys.max()) + 1
        keys = keys * span + (part - lowest)
        width = width * span
    if width <= 8 * len(rows):
        present = np.zeros(width, np.bool_)
        present[keys] = True
        numbers = present.cumsum() - 1
        keys = numbers.take(keys)
        number = int(numbers[-1]) + 1
    else:
        values, keys = np.unique(keys, return_inverse=True)
        number = len(values)
    group_of[rows] = keys
    row_of = np.zeros(number, np.intp)
    row_of[keys[::-1]] = rows[::-1]
    return group_of, row_of
