"""The counts of a rule, and the domains refused for them: all forms of its answer follow from these.

A rule that looks beyond the row counts pods by *domain*: the nodes that share a value of one label. What one
pod does to such a rule is a constant, which the census knows by template. So a rule declares its counts once,
and this package answers for all rows, for one row, and for the domains that changed since it was asked last.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from copy import copy
from operator import add
from typing import Any

import attrs
import msgspec
import numpy as np

from .batch import Batch
from .census import DomainCounts, PodCount
from .columns import Ints, Mask, NodeColumn, Rows, RowsByCode, ValueCodes
from .failures import Failures, Reasons
from .table import NodeTable

FEW = 16
"""Values of a label that are looked at one by one, in tuples: for three zones numpy takes four times as long
as plain Python."""
Weighted = tuple[PodCount, str, int]
"""A counter of pods, their topology key and the weight of a pod."""
NO_MINIMUM = 2**31 - 1
"""The smallest count where there are no domains."""
NO_COLUMN: NodeColumn[Any] = NodeColumn(None)


class Watched(msgspec.Struct, eq=False):
    """A counter that an answer depends on."""

    counter: PodCount
    seen: int = -1
    """The revision of the counter that the answer has seen."""

    def __post_init__(self) -> None:
        self.seen = self.counter.revision


class CountTerm(msgspec.Struct, eq=False):
    """Pods that a counter counts, each worth *weight*, by the values of *column*; the counter keeps its sums
    by these under *slot*."""

    counter: PodCount
    weight: int
    slot: Hashable
    column: NodeColumn[Any]
    domains: DomainCounts | None = None
    """The counter's sums; None: they are on rows."""

    def __post_init__(self) -> None:
        if self.column is not NO_COLUMN:
            self.domains = self.counter.tracked(self.slot, self.column)

    def by_code(self) -> Ints:
        """The sum of each value: int64[values], perhaps the counter's own, which changes."""
        assert self.domains is not None
        sums = self.domains.counts[: len(self.column.values)]
        return sums if self.weight == 1 else sums * self.weight


@attrs.frozen(eq=False)
class DomainSum:
    """The sum for each node of all *counts* in its domain by label *key*; with key None, on its own row.

    It holds while no node object changes.
    """

    key: str | None
    column: NodeColumn[Any]
    """By whose values the nodes are in domains; the columns of the counts have the same codes, or 0 where
    pods do not count."""
    counts: Sequence[CountTerm]
    is_few: bool = attrs.field(init=False)
    """There are few domains, so that sums are in a tuple."""

    @is_few.default
    def _is_few(self) -> bool:
        return self.key is not None and len(self.column.values) <= FEW

    @classmethod
    def of_each(
        cls, terms: Iterable[Weighted], table: NodeTable, without: Collection[int] = ()
    ) -> list[DomainSum]:
        """One for each key of *terms* that some row of *table* has as a label; pods on the rows *without* do
        not count."""
        by_key: dict[str, list[CountTerm]] = {}
        labels = table.labels
        for counter, key, weight in terms:
            if key and key in labels:
                slot, column = (key, labels[key]) if not without else _without(key, table, without)
                by_key.setdefault(key, []).append(CountTerm(counter, weight, slot, column))
        return [cls(key, labels[key], counts) for key, counts in by_key.items()]

    @classmethod
    def on_rows(cls, counters: Iterable[PodCount]) -> DomainSum:
        """The pods of *counters* on the row itself."""
        return cls(None, NO_COLUMN, [CountTerm(counter, 1, "", NO_COLUMN) for counter in counters])

    @property
    def shape(self) -> Hashable:
        """The sums, whatever they come to."""
        return self.key, tuple([(id(term.counter), term.weight, term.slot) for term in self.counts])

    def by_code(self) -> tuple[int, ...] | Ints:
        """The sums by code of the column, in a tuple where they are few: else int64[values], not to be kept,
        as it may change."""
        counts = self.counts
        if self.is_few:
            width = len(self.column.values)
            totals: list[int] | None = None
            for term in counts:
                if term.counter.total and term.domains is not None:
                    part = term.domains.counts[:width].tolist()
                    if term.weight != 1:
                        part = [term.weight * number for number in part]
                    if totals is None:
                        totals = part
                    else:
                        totals = [total + amount for total, amount in zip(totals, part, strict=True)]
            return (0,) * width if totals is None else tuple(totals)
        if len(counts) == 1:
            return counts[0].by_code()
        return sum([term.by_code() for term in counts], np.zeros(len(self.column.values), np.int64))

    def at(self, row: int) -> int:
        """The sum of one row."""
        total = 0
        code = row if self.key is None else self.column.codes.item(row)
        for term in self.counts:
            sums = term.counter.rows if term.domains is None else term.domains.counts
            total += sums.item(code) * term.weight if code < len(sums) else 0
        return total

    def of_rows(self, rows: Rows) -> list[int]:
        """The sums of *rows*, after :meth:`everywhere` has seen to it that each has a count."""
        codes = rows if self.key is None else self.column.codes.take(rows)
        totals: list[int] | None = None
        for term in self.counts:
            sums = term.counter.rows if term.domains is None else term.domains.counts
            part = sums.take(codes)
            if term.weight != 1:
                part *= term.weight
            totals = part.tolist() if totals is None else list(map(add, totals, part.tolist()))
        return [0] * len(rows) if totals is None else totals

    def everywhere(self, nodes: Batch) -> Ints:
        """The sum of each of *nodes*, edits of the batch left out: int64[n]."""
        if self.key is not None:
            return np.asarray(self.by_code(), np.int64).take(nodes.label(self.key).codes)
        totals = nodes.zeros()
        for term in self.counts:
            totals += nodes.base_counting(term.counter.query)
        return totals

    @property
    def has_any(self) -> bool:
        """Whether any domain has a sum other than 0."""
        sums = self.by_code()
        return any(sums) if isinstance(sums, tuple) else bool(np.count_nonzero(sums))


def count_terms(sums: Iterable[DomainSum]) -> list[CountTerm]:
    """The counts in *sums*."""
    return [term for domain_sum in sums for term in domain_sum.counts]


def added(sums: Iterable[DomainSum], nodes: Batch) -> Ints:
    """The sums for *nodes* of all *sums*, edits of the batch left out: int64[n]."""
    totals = [domain_sum.everywhere(nodes) for domain_sum in sums]
    return totals[0] if len(totals) == 1 else np.add.reduce(totals) if totals else nodes.zeros()


class Sums(msgspec.Struct, eq=False):
    """Raw scores that are the total of *each* sum for a node. *also*: other counters that the reduce step
    reads."""

    each: Sequence[DomainSum] = ()
    also: Sequence[PodCount] = ()

    def __len__(self) -> int:
        return len(self.each)


Refused = tuple[bool, ...] | Mask
"""By code whether a domain is refused: a tuple where domains are few, else bool[values]."""


@attrs.frozen(eq=False, kw_only=True)
class Clause:
    """A test of a predicate: a node is refused, for *reasons*, where the sum of its domain is above
    ``limit``; *wants*: where it is not.

    The limit is *most*, and with *least_of* the smallest sum of these domains, by code, is added.
    """

    sum: DomainSum
    reasons: Reasons
    most: int = 0
    wants: bool = False
    least_of: Sequence[int] | ValueCodes | None = None
    keyless: bool = False
    """Whether nodes without the label are refused."""
    unless_none: Sequence[DomainSum] = ()
    """Sums that disable the clause while no domain of any of them has a pod. Nodes without the label are then
    refused if *keyless_alone*."""
    keyless_alone: bool = False
    is_local: bool = attrs.field(
        init=False,
        default=attrs.Factory(lambda self: self.least_of is None and not self.unless_none, takes_self=True),
    )
    """Whether a domain is refused for its own sum alone."""

    @property
    def sums(self) -> Sequence[DomainSum]:
        """All sums that it looks at."""
        return (self.sum, *self.unless_none)

    def limit(self, sums: tuple[int, ...] | Ints) -> int | None:
        """The limit of the *sums* of domains; None: no domain is refused."""
        if self.least_of is not None:
            if isinstance(sums, tuple):
                return self.most + min([sums[code] for code in self.least_of], default=NO_MINIMUM)
            return self.most + int(sums.take(self.least_of).min(initial=NO_MINIMUM))
        if self.unless_none and not (any(sums) if isinstance(sums, tuple) else sums.any()):
            other_sums = [domain_sum for domain_sum in self.unless_none if domain_sum is not self.sum]
            if not other_sums or not any(domain_sum.has_any for domain_sum in other_sums):
                return None
        return self.most

    def judge(self) -> Refused:
        """The domains refused now."""
        sums = self.sum.by_code()
        limit = self.most if self.is_local else self.limit(sums)
        keyless = self.keyless_alone if limit is None else self.keyless
        if isinstance(sums, tuple):
            if limit is None:
                return (keyless, *[False] * (len(sums) - 1))
            wants = self.wants
            return (keyless, *[(count > limit) is not wants for count in sums[1:]])
        refused: Mask = (
            np.zeros(len(sums), np.bool_)
            if limit is None
            else (sums <= limit if self.wants else sums > limit)
        )
        refused[0] = keyless
        return refused


def judged(clauses: Sequence[Clause], nodes: Batch) -> Failures | None:
    """The failures of *clauses* on *nodes*: the first that refuses a node decides.

    The edits of a batch count too; each clause must then compare a sum with ``most`` alone.
    """
    if not nodes.edits:
        return failures_of([(clause, clause.judge()) for clause in clauses], nodes)
    codes = nodes.zeros()
    for number, clause in reversed(list(enumerate(clauses, 1))):
        if not clause.is_local:
            raise ValueError(
                "expected `most` alone, as pods are tried on these nodes, got a clause whose limit depends on other domains"
            )
        present = nodes.label(clause.sum.key or "").present
        sums = clause.sum.everywhere(nodes)
        for term in clause.sum.counts:
            sums = sums + nodes.edited(term.counter.query).net * term.weight * present
        refused = np.where(present, (sums > clause.most) != clause.wants, clause.keyless)
        codes = np.where(refused, number, codes)
    return Failures.coded(codes, [clause.reasons for clause in clauses])


def failures_of(judgements: Sequence[tuple[Clause, Refused]], nodes: Batch) -> Failures | None:
    """The same, where it is known which domains are refused."""
    codes: Any = None
    for number, (clause, refused) in reversed(list(enumerate(judgements, 1))):
        if np.count_nonzero(refused):
            mask = np.asarray(refused, np.bool_).take(nodes.label(clause.sum.key or "").codes)
            codes = mask * np.int64(number) if codes is None else np.where(mask, number, codes)
    return None if codes is None else Failures.coded(codes, [clause.reasons for clause, _ in judgements])


def rows_by_label(table: NodeTable, key: str) -> RowsByCode:
    """The rows of *table* by value of label *key*."""
    return table.node_derived(
        ("rows by", key), lambda: RowsByCode.of(Batch.everywhere(table).label(key).codes)
    )


def masked(column: NodeColumn[Any], codes: ValueCodes) -> NodeColumn[Any]:
    """*column* with other *codes* of its own: intp[rows]."""
    copied_column: NodeColumn[Any] = copy(column)
    copied_column.codes = codes
    return copied_column


def _without(key: str, table: NodeTable, rows: Collection[int]) -> tuple[Hashable, NodeColumn[Any]]:
    """The label column *key* with no value on *rows*, and the slot under which counters keep sums by it."""
    slot = "without", key, tuple(sorted(rows))

    def make() -> NodeColumn[Any]:
        codes = table.labels[key].codes.copy()
        codes[list(rows)] = 0
        return masked(table.labels[key], codes)

    return slot, table.node_derived(slot, make)


def few_or_all(codes: ValueCodes) -> Sequence[int] | ValueCodes:
    """*codes* as a list where they are few."""
    return codes.tolist() if len(codes) <= FEW else codes
