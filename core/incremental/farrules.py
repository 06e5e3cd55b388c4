"""The far rules of one template, which look further than the row: their declarations, and their view of a
row.

Upstream runs them node by node. Here each declares what it depends on: sums of pods by domain, or values of
nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from ..arrays import Batch, Clause, DomainSum, Mask, PodCount, Rows, Scores, added, count_terms, failures_of
from ..cycle import Cycle, Predicate, Priority, Reduction, is_even
from .answers import Answer, AnswerCache, Scope


@attrs.define(eq=False, repr=False)
class FarScore:
    """A priority that looks further than the row, or has a reduce step. Its raw scores are *sums*, or the
    kept answer of the rule."""

    rule: Priority
    weight: int
    sums: Sequence[DomainSum] = ()
    answer: Answer | None = None

    def raw(self, nodes: Batch) -> Scores:
        """The raw scores of *nodes*: int64[n]."""
        return added(self.sums, nodes) if self.answer is None else self.answer.answer.take(nodes.indexes)

    @property
    def reduction(self) -> Reduction | None:
        """Its reduce step, where scores follow from a scale."""
        return self.rule.reduce if isinstance(self.rule.reduce, Reduction) else None


@attrs.define(eq=False, repr=False)
class FarRules:
    """The declarations of one template's far rules, valid while node objects, terms, services and controllers
    stay."""

    clauses: list[Clause] = attrs.Factory(list)
    asked: list[Answer] = attrs.Factory(list)
    """The answers of predicates that declare nothing."""
    scores: list[FarScore] = attrs.Factory(list)
    """The priorities that tell nodes apart."""
    restless: list[Answer] = attrs.Factory(list)
    """The answers that have to be updated in each cycle."""
    counters: list[PodCount] = attrs.Factory(list)
    """All counters that these depend on, each once."""
    shape: list[Any] = attrs.Factory(list)
    """A value that is equal for rules with the same counters and limits, while node objects stay."""

    @classmethod
    def of(
        cls,
        cycle: Cycle,
        answers: AnswerCache,
        predicates: Sequence[Predicate],
        priorities: Sequence[tuple[Priority, int]],
    ) -> FarRules:
        """The far rules for the pod of *cycle*, without rules that treat all nodes the same. Raises
        Unanswerable and PriorityError."""
        rules = cls()
        for predicate in predicates:
            clauses = None if predicate.clauses is None else predicate.clauses(cycle.template, cycle)
            if clauses is None:
                rules.asked.append(answers.of(predicate, cycle.template))
            rules.clauses += clauses or ()
        for priority, weight in priorities:
            declared = None if priority.sums is None else priority.sums(cycle.template, cycle)
            if declared is not None:
                if declared:
                    rules.scores.append(FarScore(priority, weight, declared.each))
                    rules.counters += declared.also
                    counters = [id(counter) for counter in declared.also]
                    rules.shape.append(
                        (priority.name, [domain_sum.shape for domain_sum in declared.each], counters)
                    )
                continue
            answer = answers.of(priority, cycle.template)
            answers.update((answer,), cycle)
            moves = answer.is_restless or bool(answer.watches)
            if moves or not is_even(priority, answer.constant):
                rules.scores.append(FarScore(priority, weight, answer=answer))
                rules.shape.append((id(answer), None if moves else answer.revision))
            if moves:
                rules.restless.append(answer)
        rules.restless += rules.asked
        rules.shape += [[id(answer) for answer in rules.asked], *map(_shape_of_clause, rules.clauses)]
        sums = [
            *[domain_sum for clause in rules.clauses for domain_sum in clause.sums],
            *[domain_sum for score in rules.scores for domain_sum in score.sums],
        ]
        rules.counters = list(dict.fromkeys([*[term.counter for term in count_terms(sums)], *rules.counters]))
        return rules

    def passed(self, nodes: Batch) -> Mask | None:
        """The rows that no predicate refuses: bool[size]; None: all."""
        answers = [answer.answer for answer in self.asked]
        if self.clauses:
            answers.append(failures_of([(clause, clause.judge()) for clause in self.clauses], nodes))
        masks = [failures.passed for failures in answers if failures is not None]
        if len(masks) < 2:
            return masks[0] if masks else None
        every: Mask = np.logical_and.reduce(masks)
        return every

    def reduced(self, cycle: Cycle, score: FarScore, rows: Rows) -> Scores:
        """The scores of *score* for the feasible *rows*, in visiting order: int64[k]. Raises
        PriorityError."""
        nodes = Batch(cycle.table, rows)
        raw = score.raw(nodes)
        reduce = score.rule.reduce
        scores: Scores = raw if reduce is None else reduce(cycle.template, raw, nodes, cycle)
        return scores


def _shape_of_clause(clause: Clause) -> Any:
    return (
        clause.reasons,
        clause.most,
        clause.wants,
        clause.keyless,
        clause.keyless_alone,
        [domain_sum.shape for domain_sum in clause.sums],
    )


# --- the plan -----------------------------------------------------------------------------------------------

# The layers ask different rules: those of the row alone, those of node objects alone, and those that look
# further.


@attrs.frozen(eq=False, repr=False)
class Plan:
    """The layers of the rules that concern a pod; pods with the same rules share one plan."""

    near: Sequence[Predicate]
    """Predicates that read the row alone."""
    beyond: Sequence[Predicate]
    of_nodes: Sequence[Predicate]
    """Predicates that read node objects alone."""
    worth: Sequence[tuple[Priority, int]]
    """Priorities that read the row alone and have no reduce step."""
    wider: Sequence[tuple[Priority, int]]

    @classmethod
    def of(cls, predicates: Sequence[Predicate], priorities: Sequence[tuple[Priority, int]]) -> Plan:
        """The plan of these rules."""
        far = [rule for rule in predicates if not rule.is_of_row]
        beyond = [rule for rule in far if Scope.of(rule.reads).is_global]
        worth = [item for item in priorities if item[0].is_of_row and item[0].reduce is None]
        return cls(
            [rule for rule in predicates if rule.is_of_row],
            beyond,
            [rule for rule in far if rule not in beyond],
            worth,
            [item for item in priorities if item not in worth],
        )
