"""Layer 1: the answers of rules for the whole table, each brought up to date when it is asked for.

An answer is kept by (rule, the rule's key of the pod): a thousand pods of one template, or of templates that
agree in what the rule reads, share one. Stale rows are evaluated as a small batch. A rule that counts over
domains is evaluated for all rows when one of its counters moved.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import accumulate, takewhile
from typing import Any

import attrs
import numpy as np

from ..arrays import (
    NEVER,
    NO_ROWS,
    Batch,
    Clause,
    Codes,
    Derived,
    Failures,
    NodeTable,
    PodCount,
    Reasons,
    Rows,
    Scores,
    Sums,
    Watched,
    added,
    count_terms,
    distinct,
    failures_of,
    is_anywhere,
)
from ..cycle import ROWWISE, WIDE, Cycle, Predicate, Priority, PriorityError, Reads
from ..pods import Template, rebuilt_from
from . import verify

# --- One rule's answer --------------------------------------------------------------------------------------
# A derived value for the whole table, and the revisions that it was derived from.


Rule = Predicate | Priority
Environment = tuple[int, int, int, int]
"""The revisions of node objects and, as far as the rule reads them, of affinity terms, services and
controllers, volumes."""
Still = tuple[int, int, int]
"""The revisions of node objects, affinity terms, services and controllers."""


class Unanswerable(Exception):
    """A predicate has an error for some row: the cycle must find out node by node whether it counts."""


@attrs.frozen(eq=False)
class Scope:
    """The parts of a rule's reads that decide when its answer is stale. There is one for each declaration."""

    rowwise: bool
    """Whether the rule reads the pods of the row itself."""
    counted: bool
    """Whether it reads counts of the row's pods by queries: a row is stale only where a counter moved."""
    wide: bool
    """Whether it reads other rows."""
    owners: bool
    """Whether it reads services and controllers."""
    volumes: bool
    """Whether it reads volumes and claims."""

    @property
    def is_global(self) -> bool:
        """Whether the rule reads state that no row shows."""
        return self.wide or self.owners or self.volumes

    @staticmethod
    @cache
    def of(reads: Reads) -> Scope:
        """The scope of a rule that declares *reads*."""
        return Scope(
            *(bool(reads & kind) for kind in (ROWWISE, Reads.COUNTS, WIDE, Reads.LISTINGS, Reads.VOLUMES))
        )


@attrs.define(eq=False, repr=False)
class Answer:
    """The answer of a rule for all rows of the table. Only :class:`~.answers.AnswerCache` writes it.

    It is *declared* where the rule gave the counts that it follows from, as ``clauses`` or ``sums``: then the
    rule is not asked again.
    """

    rule: Rule
    table: NodeTable
    answer: Any = None
    """A predicate's Failures, or None where it rejects no row; a priority's raw scores, int64[size]."""
    declared: Sequence[Clause] | Sums | None = None
    revision: int = 0
    """Moves when the answer may have changed."""
    size: int = 0
    """The number of rows in the table when all were evaluated."""
    shared: bool = False
    """Whether the rule or a reader may have the arrays, too: copy them before they change."""
    constant: int | None = None
    """The score of all rows, where they are known to have the same; else None."""
    watches: list[Watched] = attrs.Factory(list)
    """The counters of the census that it depends on."""
    is_restless: bool = True
    """Whether the answer depends on pods of the row or on volumes, whose changes neither ``still`` nor a
    counter shows."""
    verified_at: int = NEVER
    """The revision of the table for which the answer is right; NEVER: all rows are stale."""
    still: Still | None = None
    """The revisions of durable state at that moment."""
    environment: Environment | None = None
    """The revisions of what this rule reads, when the answer was verified; None: it is stale."""
    is_kept: bool = True
    """Whether the cache still has it; else it lives as long as its readers do."""
    scope: Scope = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.scope = Scope.of(self.rule.reads)

    @property
    def nbytes(self) -> int:
        """The approximate size of its arrays, in bytes."""
        if isinstance(self.answer, Failures):
            return self.answer.codes.nbytes
        return 0 if self.answer is None or self.constant is not None else self.answer.nbytes

    @property
    def watched(self) -> list[PodCount]:
        """The counters, each once."""
        return list(dict.fromkeys(watch.counter for watch in self.watches))

    @property
    def is_behind(self) -> bool:
        """Whether a counter moved since the answer was verified."""
        return any(watch.counter.revision != watch.seen for watch in self.watches)

    def forget(self) -> None:
        """Evaluate all rows next time."""
        self.verified_at = NEVER
        self.still = None
        self.environment = None

    def ask(self, cycle: Cycle, nodes: Batch) -> Any:
        """The rule's answer for *nodes*."""
        if isinstance(self.rule, Predicate):
            return self.rule.check(cycle.template, nodes, cycle)
        return self.rule.score(cycle.template, nodes, cycle)

    # --- writing --------------------------------------------------------------------------------------------

    def declare(self, declared: Sequence[Clause] | Sums) -> None:
        """Take the rule's new declaration *declared*."""
        if isinstance(declared, Sums):
            sums = declared.each
        else:
            sums = [domain_sum for clause in declared for domain_sum in clause.sums]
        also = declared.also if isinstance(declared, Sums) else ()
        self.watches = [
            Watched(counter)
            for counter in dict.fromkeys([*[term.counter for term in count_terms(sums)], *also])
        ]
        self.declared = declared
        self.is_restless = False
        self.follow()

    def follow(self) -> None:
        """Compute a declared answer again."""
        nodes = Batch.everywhere(self.table)
        declared = self.declared
        if isinstance(declared, Sums):
            self._take(added(declared.each, nodes))
        else:
            self._take(failures_of([(clause, clause.judge()) for clause in declared or ()], nodes))

    def replace(self, answer: Any, watched: Sequence[PodCount]) -> None:
        """Take the rule's new *answer* for all rows, and the counters *watched* that it read."""
        self.declared = None
        self.is_restless = self.scope.rowwise or self.scope.volumes
        self.watches = [Watched(counter) for counter in dict.fromkeys(watched)]
        self._take(answer)

    def _take(self, answer: Any) -> None:
        self.size = self.table.size
        self.shared = True
        self.constant = None
        if isinstance(answer, np.ndarray):
            if len(answer) and answer[0] == answer[-1] and (answer == answer[0]).all():
                self.constant = int(answer[0])
                # All such answers share one array: most rules are indifferent to most pods that come.
                answer = everywhere(self.constant, len(answer))
            elif answer.base is not None:
                # A view may be of one of the table's own arrays, which change.
                answer = answer.copy()
                self.shared = False
            self.revision += 1
        elif not self._says(answer):
            self.revision += 1
        self.answer = answer
        if answer is not None and isinstance(answer, Failures):
            answer.codes  # noqa: B018  # now: until then they may be masks that are views of the table's own arrays

    def _says(self, answer: Failures | None) -> bool:
        """Whether *answer* rejects the same rows as before, for the same reasons."""
        before = self.answer
        if self.verified_at == NEVER or answer is None or before is None:
            return answer is before and self.verified_at != NEVER
        if answer.errors is not None or before.errors is not None or answer.sequences != before.sequences:
            return False
        return len(answer.codes) == len(before.codes) and not is_anywhere(answer.codes != before.codes)

    def put(self, rows: Rows, answer: Any) -> None:
        """Take a new answer for *rows*."""
        before = self.answer
        if answer is None and before is None:
            return
        self.revision += 1
        if isinstance(self.rule, Priority):
            if self.shared:
                self.answer = before.copy()
                self.shared = False
            self.answer[rows] = answer
            if self.constant is not None and (answer != self.constant).any():
                self.constant = None
            return
        # The answer itself, or from now on a copy where others may have it too.
        if before is None:
            self.answer = Failures(np.zeros(self.size, np.int64), {})
        elif self.shared:
            self.answer = Failures(before.codes.copy(), dict(before.sequences), before.errors, before.texts)
        self.shared = False
        target = self.answer
        target.codes[rows] = 0 if answer is None else _recoded(answer, target.sequences)
        if answer is not None and answer.errors is not None:
            errors = np.zeros(len(target.codes), np.int64)
            errors[rows] = answer.errors
            self.answer = Failures(target.codes, target.sequences, errors, answer.texts)


def _recoded(failures: Failures, sequences: dict[int, Reasons]) -> Codes:
    """The codes of *failures* in the terms of *sequences*, which gets the reasons that it lacks."""
    if all(sequences.get(code) == reasons for code, reasons in failures.sequences.items()):
        return failures.codes
    number_of = {reasons: code for code, reasons in sequences.items()}
    table = np.zeros(max(failures.sequences, default=0) + 1, np.int64)
    for code, reasons in failures.sequences.items():
        number = number_of.get(reasons)
        if number is None:
            number = number_of[reasons] = max(sequences, default=0) + 1
            sequences[number] = reasons
        table[code] = number
    return table[failures.codes]


@lru_cache(1 << 4)
def everywhere(score: int, size: int) -> Scores:
    """The same *score* for each of *size* rows: int64[size], read only."""
    scores = np.full(size, score)
    scores.setflags(write=False)
    return scores


# --- The cache of answers -----------------------------------------------------------------------------------


LARGE_SHARE = 4
"""If more than one row in LARGE_SHARE changed, all are evaluated."""
BYTES_A_ROW = 8
"""The most bytes of an answer for each row of the table: one number."""


@rebuilt_from("table", "limit")
@attrs.define(eq=False, repr=False)
class AnswerCache:
    """The answers of one scheduler, up to *limit* bytes; 0 keeps nothing."""

    table: NodeTable
    limit: int = 1 << 30
    _answers: dict[Hashable, Answer] = attrs.Factory(dict)
    """By :meth:`key`, the least recently looked up first."""
    _unweighed: int = 0
    """The number of answers added since sizes were last summed."""
    _batch: Batch | None = None
    """The batch of the rows that rules were last asked about."""
    _whole: Batch | None = None
    """The batch of all rows, valid as long as the table has *_derived*."""
    _derived: Derived | None = None
    _changed: tuple[int, int, Rows | None] = (NEVER, NEVER, None)
    """Two revisions of the table, and the rows that changed between them."""

    def take_over(self, before: AnswerCache) -> None:
        """Keep the answers of *before*, a finished cache of the same table and listings whose rules answer
        the same.

        Answers that read volumes stay behind: each scheduler binds its own.
        """
        self._answers = {key: answer for key, answer in before._answers.items() if not answer.scope.volumes}

    # --- asking ---------------------------------------------------------------------------------------------

    def read(self, rule: Rule, cycle: Cycle) -> Answer:
        """The answer of *rule* for every row of the table; raises the PriorityError of a priority."""
        answer = self.of(rule, cycle.template)
        with suppress(Unanswerable):
            self.update((answer,), cycle)
        if verify.SWITCH.is_on:
            verify.check_answer(answer, cycle)
        return answer

    def update(self, answers: Iterable[Answer], cycle: Cycle) -> None:
        """Bring those of *answers* that are stale up to date for the template of *cycle*.

        Raises Unanswerable where a predicate has errors, and the PriorityError of a priority.
        """
        still = self.still(cycle)
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
        if isinstance(answer.answer, Failures) and answer.answer.errors is not None:
            answer.forget()  # texts name the pod itself, and errors can go without a declared change
            raise Unanswerable

    # --- finding --------------------------------------------------------------------------------------------

    @staticmethod
    def key(rule: Rule, template: Template) -> Hashable:
        """The rule and the pod's part that it reads: answers with equal keys are the same."""
        full_key = template.notes.get(rule.slot)
        if full_key is None:
            key = rule.key(template)
            # A template that its own notes name would live until the next garbage collection.
            full_key = template.notes[rule.slot] = (
                type(rule),
                rule.name,
                template.number if key is template else key,
            )
        return full_key

    def of(self, rule: Rule, template: Template) -> Answer:
        """The kept answer of *rule* for *template*, up to date or not."""
        key = template.notes.get(rule.slot) or self.key(rule, template)
        answer = self._answers.pop(key, None)
        if answer is None:
            self._make_room()
            answer = Answer(rule, self.table)
        self._answers[key] = answer
        return answer

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep only the answers for the templates *in_use*."""
        slots = {answer.rule.slot for answer in self._answers.values()}
        keys = {template.notes.get(slot) for template in in_use for slot in slots}
        self._drop([key for key in self._answers if key not in keys])

    @property
    def held(self) -> int:
        """Bytes of all answers."""
        return sum(answer.nbytes for answer in self._answers.values())

    def _make_room(self) -> None:
        """Drop the answers not looked up for longest, down to half of the limit, once one in eight is new."""
        if len(self._answers) * self.table.size * BYTES_A_ROW <= self.limit:
            return
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
        """The revisions of all that rules read besides counters, volumes and the pods of the row; they seldom
        move."""
        table = self.table
        return table.changed.node_revision, table.census.terms_revision, cycle.listings.owner_tick.count

    def _verified(self, answer: Answer, cycle: Cycle, still: Still) -> None:
        """Note that *answer* is right for the current state."""
        answer.verified_at = self.table.changed.revision
        answer.still = still
        answer.environment = self._environment(answer, cycle, still)
        for watch in answer.watches:
            watch.seen = watch.counter.revision

    @staticmethod
    def _environment(answer: Answer, cycle: Cycle, still: Still) -> Environment:
        """The revisions of all that one answer depends on, except pods of the row and counters."""
        scope = answer.scope
        (nodes, terms, owners) = still
        volumes = cycle.volumes_version if scope.volumes else 0
        return nodes, terms if scope.wide else 0, owners if scope.owners else 0, volumes

    def _stale_rows(self, answer: Answer, nodes_stay: bool) -> Rows | None:
        """The rows to evaluate for an answer that is not declared: none where it is up to date, None for all.

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
        """The rows of the table that changed after *revision*, computed once for all rules at that
        revision."""
        log = self.table.changed
        if self._changed[:2] != (revision, log.revision):
            self._changed = revision, log.revision, log.since(revision)
        return self._changed[2]

    def _evaluate(self, answer: Answer, cycle: Cycle) -> None:
        """Take what the rule declares; or ask it about all rows, and note which counters it reads."""
        census = self.table.census
        if self._whole is None or self._derived is not self.table.changed.derived:
            self._derived = self.table.changed.derived
            self._whole = Batch.everywhere(self.table)
        rule = answer.rule
        declares = rule.clauses if isinstance(rule, Predicate) else rule.sums
        declared = None if declares is None else declares(cycle.template, cycle)
        if declared is not None:
            answer.declare(declared)
            return
        watched: list[PodCount] = []
        census.watch = watched
        try:
            value = answer.ask(cycle, self._whole)
        except PriorityError:
            answer.forget()
            raise
        finally:
            census.watch = None
        answer.replace(value, watched)
