"""Layer 1: what rules answered for the whole table, brought up to date when it is asked for.

An answer is kept by (rule, the rule's key of the pod): a thousand pods of one template, or of templates that
agree in what the rule reads, pay for one. Stale rows are evaluated as a small batch; a rule that counts over
domains is evaluated for all rows when one of the counters that it looked at moved.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from contextlib import suppress
from itertools import accumulate, takewhile

import attrs

from ..arrays.batch import Batch
from ..arrays.census import PodCount
from ..arrays.table import NodeTable
from ..arrays.trail import NEVER, NO_ROWS, distinct
from ..arrays.types import Rows
from ..cycle import Cycle
from ..pods.template import Template
from ..rebuilt import rebuilt_from
from ..rule import Predicate, Priority, PriorityError, Reads
from . import verify
from .cachedanswer import Answer, Environment, Rule, Still, Unanswerable

LARGE_SHARE = 4
"""Where more than one row in that many changed, all are looked at."""


@rebuilt_from("table", "limit")
@attrs.define(eq=False, repr=False)
class AnswerCache:
    """The answers of one scheduler, up to *limit* bytes; 0 keeps nothing."""

    table: NodeTable
    limit: int = 1 << 30
    _answers: dict[Hashable, Answer] = attrs.Factory(dict)
    """By :meth:`key`, the least recently looked up first."""
    _unweighed: int = 0
    """How many are new since they were weighed."""
    _batch: Batch | None = None
    _changed: tuple[int, int, Rows | None] = (NEVER, NEVER, None)
    """From which revision of the table to which, and the rows that changed."""

    @staticmethod
    def keeps(rule: Rule, cycle: Cycle) -> bool:
        """Whether answers of *rule* can be kept at all: not if it reads what other rules left behind in the
        cycle."""
        return not (rule.reads & Reads.EFFECTS and cycle.algorithm.leaves_counts)

    def take_over(self, before: AnswerCache) -> None:
        """Keep the answers of *before*, which is over, had the same table and listings, and rules that answer
        the same.

        Those that read volumes stay behind: each scheduler binds its own.
        """
        self._answers = {key: answer for key, answer in before._answers.items() if not answer.scope.volumes}

    # --- asking ---------------------------------------------------------------------------------------------

    def failures(self, predicate: Predicate, cycle: Cycle) -> Answer:
        """What *predicate* has against every row of the table: ``.answer`` is a Failures or None."""
        return self._read(predicate, cycle)

    def scores(self, priority: Priority, cycle: Cycle) -> Answer:
        """The raw scores of *priority* for every row of the table: ``.answer`` is int64[size]. Raises its
        PriorityError."""
        return self._read(priority, cycle)

    def _read(self, rule: Rule, cycle: Cycle) -> Answer:
        answer = self.of(rule, cycle.template)
        with suppress(Unanswerable):
            self.update((answer,), cycle, self.still(cycle))
        if verify.SWITCH.is_on:
            verify.check_answer(answer, cycle)
        return answer

    def update(self, answers: Iterable[Answer], cycle: Cycle, still: Still) -> None:
        """Bring those of *answers* that are stale up to date for the template of *cycle*; *still*: what
        :meth:`still` says.

        Raises Unanswerable where a predicate has errors, and the PriorityError of a priority.
        """
        revision = self.table.changed.revision
        for answer in answers:
            if answer.still != still or answer.is_restless:
                self._refresh(answer, cycle, still)
                continue
            for watch in answer.watches:
                if watch.counter.revision != watch.seen:
                    if answer.declared is not None:
                        answer.follow()
                        self._verified(answer, cycle, still)
                    else:
                        self._refresh(answer, cycle, still)
                    break
            else:
                answer.verified_at = revision

    def _refresh(self, answer: Answer, cycle: Cycle, still: Still) -> None:
        before = answer.environment
        now = self._environment(answer, cycle, still)
        if answer.declared is not None and before == now:
            if answer.is_behind:
                answer.follow()
        else:
            is_known = before is not None and before[1:] == now[1:] and answer.declared is None
            rows = self._stale_rows(answer, before == now) if is_known else None
            if rows is None:
                self._evaluate(answer, cycle)
            elif len(rows):
                # One batch for all rules that are asked about the same rows of the same state.
                if self._batch is None or self._batch.rows is not rows:
                    self._batch = Batch(self.table, rows)
                answer.put(rows, answer.ask(cycle, self._batch))
        self._verified(answer, cycle, still)
        if answer.has_errors:
            answer.forget()  # the texts name the very pod, and errors can go without a change that a rule declares
            raise Unanswerable

    # --- finding --------------------------------------------------------------------------------------------

    @staticmethod
    def key(rule: Rule, template: Template) -> Hashable:
        """The rule and what it reads of a pod: answers of equal keys are the same."""
        found = template.notes.get(rule.slot)
        if found is None:
            key = rule.key(template)
            # A template whose notes named it would live until the next garbage collection.
            found = template.notes[rule.slot] = (
                type(rule),
                rule.name,
                template.number if key is template else key,
            )
        return found

    def of(self, rule: Rule, template: Template) -> Answer:
        """Where the answer of *rule* for *template* is kept, up to date or not."""
        key = template.notes.get(rule.slot) or self.key(rule, template)
        found = self._answers.pop(key, None)
        if found is None:
            self._make_room()
            found = Answer(rule, self.table)
        self._answers[key] = found
        return found

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep the answers for the templates *in_use* alone."""
        slots = {answer.rule.slot for answer in self._answers.values()}
        keys = {template.notes.get(slot) for template in in_use for slot in slots}
        self._drop([key for key in self._answers if key not in keys])

    @property
    def held(self) -> int:
        """Bytes of all answers."""
        return sum(answer.nbytes for answer in self._answers.values())

    def _make_room(self) -> None:
        """Where one in eight is new, weigh them, and drop those not looked up for longest, down to half of
        the limit."""
        self._unweighed += 1
        if self._unweighed * 8 <= len(self._answers):
            return
        self._unweighed = 0
        held = self.held
        if held > self.limit:
            gone = takewhile(
                lambda weight: weight > self.limit // 2,
                accumulate((-a.nbytes for a in self._answers.values()), initial=held),
            )
            self._drop([key for key, _ in zip(list(self._answers), gone, strict=False)])

    def _drop(self, keys: Iterable[Hashable]) -> None:
        for key in keys:
            self._answers.pop(key).is_kept = False

    # --- keeping up -----------------------------------------------------------------------------------------

    def still(self, cycle: Cycle) -> Still:
        """The revisions of all that rules read besides counters, volumes and the pods of the row. It seldom
        moves."""
        table = self.table
        return table.changed.node_revision, table.census.terms_revision, cycle.listings.owner_tick.count

    def _verified(self, answer: Answer, cycle: Cycle, still: Still) -> None:
        """The *answer* is right as all is now."""
        answer.verified_at = self.table.changed.revision
        answer.still = still
        answer.environment = self._environment(answer, cycle, still)
        for watch in answer.watches:
            watch.seen = watch.counter.revision

    @staticmethod
    def _environment(answer: Answer, cycle: Cycle, still: Still) -> Environment:
        """The revisions of all that one answer hangs on but pods of the row and counters."""
        scope = answer.scope
        (nodes, terms, owners) = still
        volumes = cycle.volumes_version if scope.volumes else 0
        return nodes, terms if scope.wide else 0, owners if scope.owners else 0, volumes

    def _stale_rows(self, answer: Answer, nodes_stay: bool) -> Rows | None:
        """The rows to evaluate, where the answer is not declared: none where it is up to date, None for all.

        *nodes_stay*: no node object changed.
        """
        scope = answer.scope
        is_behind = answer.is_behind
        if scope.wide and is_behind:
            return None
        if nodes_stay and not scope.rowwise and not (scope.counted and is_behind):
            return NO_ROWS
        if scope.wide or answer.size != self.table.size:
            return None
        if nodes_stay and not scope.rowwise and len(answer.watches) == 1:
            moved = answer.watches[0].counter.moved_since(answer.watches[0].seen)
            rows = self._changed_since(answer.verified_at) if moved is None else distinct(moved)
        else:
            rows = self._changed_since(answer.verified_at)
        return None if rows is None or len(rows) * LARGE_SHARE > self.table.size else rows

    def _changed_since(self, revision: int) -> Rows | None:
        """The rows of the table that changed after *revision*, worked out once for all rules that stand
        there."""
        log = self.table.changed
        if self._changed[:2] != (revision, log.revision):
            self._changed = revision, log.revision, log.since(revision)
        return self._changed[2]

    def _evaluate(self, answer: Answer, cycle: Cycle) -> None:
        """Take what the rule declares, or ask it about all rows and note what it looks at."""
        census = self.table.census
        declared = answer.rule.declares(cycle)
        if declared is not None:
            answer.declare(declared)
            return
        watched: list[PodCount] = []
        census.watch = watched
        try:
            found = answer.ask(cycle, Batch.everywhere(self.table))
        except PriorityError:
            answer.forget()
            raise
        finally:
            census.watch = None
        answer.replace(found, watched)
