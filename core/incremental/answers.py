"""Layer 1: what rules answered for the whole table, brought up to date when it is asked for.

An answer is kept by (rule, the rule's key of the pod): a thousand pods of one template, or of templates that agree in what the rule
reads, pay for one. Stale rows are evaluated as a small batch; a rule that counts over domains is evaluated for all rows when one of
the counters that it looked at moved.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

import attrs
import numpy as np

from ..arrays.batch import Batch
from ..arrays.census import PodCount
from ..arrays.columns import NodeColumn, RowsByCode
from ..arrays.table import NodeTable
from ..arrays.trail import NEVER, NO_ROWS, distinct
from ..arrays.types import Rows
from ..cycle import Cycle
from ..pods.template import Template
from ..rebuilt import rebuilt_from
from ..rule import Predicate, Priority, Reads
from . import verify
from .byvalue import LARGE_SHARE
from .cachedanswer import FEW_ROWS, Answer, Environment, Scope, Still, Unanswerable, Value
from .failuresanswer import FailuresAnswer
from .scoresanswer import ScoresAnswer

Rule = Predicate | Priority
Kind = TypeVar("Kind", FailuresAnswer, ScoresAnswer)
PATIENCE = 3
"""Times that the domains of moved pods may be too large before they are no longer looked at."""


@rebuilt_from("table", "limit")
@attrs.define(eq=False, repr=False)
class AnswerCache:
    """The answers of one scheduler, up to *limit* bytes; 0 keeps nothing."""

    table: NodeTable
    limit: int = 1 << 30
    held: int = 0
    """Bytes held, about."""
    _answers: dict[Hashable, FailuresAnswer | ScoresAnswer] = attrs.field(factory=dict)
    """By :meth:`key`, the least recently looked up first."""
    _batch: Batch | None = None
    _changed: tuple[int, int, Rows | None] = (NEVER, NEVER, None)
    """From which revision of the table to which, and the rows that changed."""

    @staticmethod
    def keeps(rule: Rule, cycle: Cycle) -> bool:
        """Whether answers of *rule* can be kept at all: not if it reads what other rules left behind in the cycle."""
        return not (rule.reads & Reads.EFFECTS and cycle.algorithm.leaves_counts)

    # --- asking -----------------------------------------------------------------------------------------------------

    def failures(self, predicate: Predicate, cycle: Cycle) -> FailuresAnswer:
        """What *predicate* has against every row of the table: ``.answer`` is a Failures or None."""
        found = self.failures_of(predicate, cycle.template)
        self.refresh(found, predicate, cycle, self.still(cycle))
        if found.has_errors:
            found.forget()
        if verify.SWITCH.is_on:
            verify.check_failures(found.answer, predicate, cycle)
        return found

    def scores(self, priority: Priority, cycle: Cycle) -> ScoresAnswer:
        """The raw scores of *priority* for every row of the table: ``.answer`` is int64[size]. Raises its PriorityError."""
        found = self.scores_of(priority, cycle.template)
        self.refresh(found, priority, cycle, self.still(cycle))
        if verify.SWITCH.is_on:
            verify.check_scores(found.answer, priority, cycle)
        return found

    def refresh_failures(self, answer: FailuresAnswer, predicate: Predicate, cycle: Cycle, still: Still) -> None:
        """Bring the answer of *predicate* for the template of *cycle* up to date. Raises Unanswerable if there are errors in it."""
        self.refresh(answer, predicate, cycle, still)
        if answer.has_errors:
            answer.forget()  # the texts name the very pod, and errors can go without a change that a rule declares
            raise Unanswerable

    def refresh(self, answer: Answer[Value], rule: Any, cycle: Cycle, still: Still) -> None:
        """Bring the answer of *rule* for the template of *cycle* up to date; *still*: what :meth:`still` says. Raises its PriorityError."""
        each = [counter.revision for counter in answer.watched]
        if answer.still == still and not answer.scope.is_restless:
            if answer.each_seen != each:
                if answer.follow(self.table):
                    answer.each_seen = each
                else:
                    self._refresh(answer, rule, cycle, each)
                answer.still = still
            answer.verified_at = self.table.changed.revision
            return
        self._refresh(answer, rule, cycle, each)
        answer.still = still

    # --- finding ----------------------------------------------------------------------------------------------------

    def failures_of(self, predicate: Predicate, template: Template) -> FailuresAnswer:
        """Where the answer of *predicate* for *template* is kept, up to date or not."""
        return self._of(FailuresAnswer, predicate, template)

    def scores_of(self, priority: Priority, template: Template) -> ScoresAnswer:
        """Where the answer of *priority* for *template* is kept, up to date or not."""
        return self._of(ScoresAnswer, priority, template)

    @staticmethod
    def key(rule: Rule, template: Template) -> Hashable:
        """The rule and what it reads of a pod: answers of equal keys are the same."""
        found = template.notes.get(rule.slot)
        if found is None:
            found = template.notes[rule.slot] = type(rule), rule.name, rule.key(template)
        return found

    def _of(self, kind: type[Kind], rule: Rule, template: Template) -> Kind:
        key = self.key(rule, template)
        found = self._answers.pop(key, None)
        if found is None:
            self._make_room()
            found = kind(Scope.of(rule.reads), by_domain=rule.by_domain(template))
        assert isinstance(found, kind)
        self._answers[key] = found
        return found

    def _make_room(self) -> None:
        """Drop what was not looked up for longest, down to half of what may be held."""
        if self.held <= self.limit:
            return
        for key in list(self._answers):
            if self.held <= self.limit // 2:
                break
            self.held -= self._answers.pop(key).bytes_held

    # --- keeping up -------------------------------------------------------------------------------------------------

    def environment(self, scope: Scope, cycle: Cycle) -> tuple[Still, int, int]:
        """The revisions of all that rules of *scope* read besides the pods of the row.

        While it stays the same, no answer of such a rule is stale, but for rows whose own pods it reads.
        """
        table, census = self.table, self.table.census
        still = table.changed.node_revision, census.terms_revision, cycle.listings.owner_tick.count
        return still, census.revision if scope.wide or scope.counted else 0, _volumes(cycle) if scope.volumes else 0

    def still(self, cycle: Cycle) -> Still:
        """The revisions of all that rules read besides counters, volumes and the pods of the row. It seldom moves."""
        table = self.table
        return table.changed.node_revision, table.census.terms_revision, cycle.listings.owner_tick.count

    def _environment(self, answer: Answer[Value], cycle: Cycle) -> Environment:
        """The revisions of what one answer hangs on that no row and no counter tells of, node objects aside."""
        scope = answer.scope
        terms = self.table.census.terms_revision if scope.wide and answer.watches_terms else 0
        return terms, cycle.listings.owner_tick.count if scope.owners else 0, _volumes(cycle) if scope.volumes else 0

    def _refresh(self, answer: Answer[Value], rule: Any, cycle: Cycle, each: Sequence[int]) -> None:
        """As :meth:`refresh`, where nothing is prepared; *each*: the revision of each counter that it watches."""
        log, environment = self.table.changed, self._environment(answer, cycle)
        rows = self._stale_rows(answer, environment, each)
        if rows is None:
            if rule.by_value is None or not self._follow_values(answer, rule, cycle, environment):
                self._evaluate(answer, rule, cycle)
                return
        elif len(rows) and not self._put_each(answer, rule, cycle, rows):
            if answer.tells is None and rule.by_value is not None and answer.by_domain:
                answer.tells = rule.by_value(cycle.template, cycle)
            answer.put(rows, answer.ask(rule, cycle, self._batch_of(rows)))
            answer.values = None
        answer.verified_at, answer.node_revision, answer.environment = log.revision, log.node_revision, environment
        answer.each_seen = each

    def _put_each(self, answer: Answer[Value], rule: Any, cycle: Cycle, rows: Rows) -> bool:
        """Ask *rule* about each of *rows*, which are stale, by itself where they are few and it can be asked so; gives whether it was."""
        if rule.by_row is None or len(rows) > FEW_ROWS or not (answer.by_domain or answer.scope.counted):
            return False
        if answer.tells_row is None:
            answer.tells_row = rule.by_row(cycle.template, cycle)
            if answer.tells_row is None:
                return False
        if answer.narrow is None:
            answer.narrow = [answer.scope.counted or self._is_narrow(counter) for counter in answer.watched]
        answer.put_each(rows.tolist(), answer.tells_row)
        answer.values = None
        return True

    def _is_narrow(self, counter: PodCount) -> bool:
        """Whether no two rows are in one of the domains by which *counter* counts."""
        domains = [self._rows_by(key, column) for key, column in counter.columns()]
        return bool(domains) and all(rows.are_apart for rows in domains)

    def _follow_values(self, answer: Answer[Value], rule: Any, cycle: Cycle, environment: Environment) -> bool:
        """Bring *answer* up to date by what *rule* tells by value, where nothing but counters moved; gives whether that was possible."""
        if answer.verified_at == NEVER or not self._only_counters_moved(answer, environment):
            return False
        answer.forget()
        if answer.tells is None:
            answer.tells = rule.by_value(cycle.template, cycle)
            if answer.tells is None:
                return False
        answer.tell(answer.tells(), self.table)
        return True

    def _only_counters_moved(self, answer: Answer[Value], environment: Environment) -> bool:
        """Whether all else that a rule over domains depends on is as it was when the answer was verified."""
        is_same = environment == answer.environment and answer.node_revision == self.table.changed.node_revision
        return is_same and not (answer.scope.rowwise or answer.scope.counted)

    def _stale_rows(self, answer: Answer[Value], environment: Environment, each: Sequence[int]) -> Rows | None:
        """The rows to evaluate: none where the answer is up to date, None for all."""
        scope, log, moved = answer.scope, self.table.changed, answer.each_seen != each
        if answer.verified_at == NEVER or answer.environment != environment:
            return None
        if scope.wide and moved:
            return self._rows_of_moved(answer) if answer.by_domain and self._only_counters_moved(answer, environment) else None
        if answer.node_revision == log.node_revision and not (scope.rowwise or (scope.counted and moved)):
            return NO_ROWS
        rows = None if scope.wide or answer.size != self.table.size else self._changed_rows(answer)
        return None if rows is None or len(rows) * LARGE_SHARE > self.table.size else rows

    def _changed_rows(self, answer: Answer[Value]) -> Rows | None:
        """The rows that changed in what *answer* reads of a row: where it only counts pods, those on which a counter moved; None: all."""
        if not answer.scope.rowwise and len(answer.watched) == 1 and answer.node_revision == self.table.changed.node_revision:
            moved = answer.watched[0].moved_since(answer.each_seen[0])
            if moved is not None:
                return distinct(moved)
        return self._changed_since(answer.verified_at)

    def _rows_of_moved(self, answer: Answer[Value]) -> Rows | None:
        """The rows in the domains of pods that came or went, where these are not many; None: all rows."""
        found: set[int] = set()
        for counter, seen in zip(answer.watched, answer.each_seen, strict=True):
            moved = counter.moved_since(seen)
            if not moved:
                if moved is None:
                    return None
                continue
            columns = [(column.codes, self._rows_by(key, column)) for key, column in counter.columns()]
            if not columns:
                return None
            for codes, rows in columns:
                for code in {codes.item(row) for row in moved} - {0}:
                    mine = rows.at(code)
                    if (len(found) + len(mine)) * LARGE_SHARE > self.table.size:
                        answer.too_many += 1
                        answer.by_domain = answer.too_many < PATIENCE
                        return None
                    found.update(mine.tolist())
        answer.too_many = 0
        return np.fromiter(sorted(found), np.intp, len(found))

    def _rows_by(self, key: str, column: NodeColumn[Any]) -> RowsByCode:
        found: RowsByCode = self.table.node_derived(("rows by", key), lambda: RowsByCode.of(column.codes[: self.table.size]))
        return found

    def _changed_since(self, revision: int) -> Rows | None:
        """The rows of the table that changed after *revision*, worked out once for all rules that stand there."""
        log = self.table.changed
        if self._changed[:2] != (revision, log.revision):
            self._changed = revision, log.revision, log.since(revision)
        return self._changed[2]

    def _batch_of(self, rows: Rows) -> Batch:
        """One batch for all rules that are asked about the same rows of the same state."""
        if self._batch is None or self._batch.rows is not rows:
            self._batch = Batch(self.table, rows)
        return self._batch

    def _evaluate(self, answer: Answer[Value], rule: Any, cycle: Cycle) -> None:
        """Evaluate the rule for all rows, and note what it looks at."""
        census, log = self.table.census, self.table.changed
        answer.forget()
        answer.untell()
        answer.watched.clear()
        census.watch, census.asked_terms = answer.watched, False
        try:
            found = answer.ask(rule, cycle, Batch.everywhere(self.table))
        finally:
            census.watch = None
        answer.watched[:] = dict.fromkeys(answer.watched)
        answer.watches_terms, answer.moves = census.asked_terms, bool(answer.watched) or answer.scope.is_restless
        answer.replace(found, self.table.size)
        answer.verified_at, answer.node_revision, answer.environment = log.revision, log.node_revision, self._environment(answer, cycle)
        answer.each_seen = [counter.revision for counter in answer.watched]
        before, answer.bytes_held = answer.bytes_held, answer.nbytes
        self.held += answer.bytes_held - before


def _volumes(cycle: Cycle) -> int:
    return cycle.listings.volume_tick.count + cycle.binder.version
