"""Pods counted by row and by topology domain, for every question that a rule has asked so far.

A *query* says which pods count; the census keeps, for each query that was asked, how many such pods are on
each row and, for each topology key asked for, in each domain. One pod that comes or goes costs as many steps
as there are queries that it matches. Affinity terms are kept by the pods that carry them: which of them are
about a given pod is looked up by its labels.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import attrs
import numpy as np

from ..pods import ROLES, SPARE, Group, Pair, Pairs, Template, TermCarriers, TermIndex, carriers, unreadable
from .columns import Ints, NodeColumn, grown

MOST_MOVED = 1 << 10
"""Changes that a counter keeps the rows of."""


class Query(Hashable, Protocol):
    """A query for pods to count: a hashable value that decides by template."""

    @property
    def pairs(self) -> Collection[Pair]:
        """Label pairs that every pod that counts has, so that only pods with one of them need be tried; none:
        all are tried."""
        ...

    def counts(self, template: Template) -> int:
        """The number of times that a pod of *template* counts: 0 not at all."""
        ...


@attrs.frozen(cache_hash=True)
class PodsMatching:
    """Pods of one of *namespaces* (None: of any) whose labels *matches* accepts; *matches* is compared by
    *key*."""

    namespaces: frozenset[str] | None
    key: Hashable
    matches: Callable[[Group], bool] = attrs.field(eq=False)
    pairs: Collection[Pair] = attrs.field(default=(), eq=False)

    def counts(self, template: Template) -> int:
        group = template.group
        return int((self.namespaces is None or group.namespace in self.namespaces) and self.matches(group))


def no_group(group: Group) -> bool:
    """Match no pod."""
    return False


NO_PODS = PodsMatching(frozenset(), "none", no_group)
"""The query that counts no pod."""


@attrs.define(eq=False, repr=False)
class DomainCounts:
    """The number of pods of a query by code of *column*, kept up to date: ``counts`` int64[values or more];
    code 0 counts nothing."""

    column: NodeColumn[Any]
    counts: Ints


@attrs.define(eq=False, repr=False)
class PodCount:
    """The number of pods of a query: ``rows`` int64[rows], ``total``, and by domain of each topology key
    asked for."""

    query: Query
    rows: Ints = attrs.field(factory=lambda: np.zeros(8, np.int64))
    total: int = 0
    revision: int = 0
    """Moves with every change, for those who keep what they made of it."""
    _domains: dict[Hashable, DomainCounts] = attrs.Factory(dict)
    _moved: list[int] = attrs.Factory(list)
    """The rows of the latest changes, one a revision."""
    _by_template: dict[int, int] = attrs.Factory(dict)

    def of(self, template: Template) -> int:
        """The number of times that a pod of *template* counts."""
        found = self._by_template.get(template.number)
        if found is None:
            found = self._by_template[template.number] = self.query.counts(template)
        return found

    def forget(self, numbers: Collection[int]) -> None:
        """Keep what is known of the templates with these *numbers* alone."""
        self._by_template = {
            number: often for number, often in self._by_template.items() if number in numbers
        }

    def on(self, row: int) -> int:
        """The number of pods on *row*."""
        return self.rows.item(row) if row < len(self.rows) else 0

    def add(self, row: int, count: int) -> None:
        """Count *count* more (or fewer) on *row*."""
        if row >= len(self.rows):
            self.rows = grown(self.rows, row + 1)
        self.rows[row] += count
        self.total += count
        self.revision += 1
        self._moved.append(row)
        if len(self._moved) > MOST_MOVED:
            del self._moved[: MOST_MOVED // 2]
        for kept in self._domains.values():
            codes = kept.column.codes
            code = codes.item(row) if row < len(codes) else 0
            if code:
                if code >= len(kept.counts):
                    kept.counts = grown(kept.counts, code + 1)
                kept.counts[code] += count

    def begin(self, pods: Mapping[int, int], often: int) -> None:
        """Count *often* for each of the *pods* on each row, before anybody asked for domains."""
        if pods:
            rows = np.fromiter(pods, np.intp, len(pods))
            counts = often * np.fromiter(pods.values(), np.int64, len(pods))
            self.rows = grown(self.rows, int(rows.max()) + 1)
            self.rows[rows] += counts
            self.total += int(counts.sum())

    def domains(self, key: str, labels: dict[str, NodeColumn[str | None]]) -> Ints:
        """Counts by code of the label column *key*: int64[values]; code 0, the rows without the label, counts
        nothing."""
        column = labels.get(key)
        return np.zeros(1, np.int64) if column is None else self.by(key, column)

    def by(self, key: Hashable, column: NodeColumn[Any]) -> Ints:
        """Counts by code of *column*, kept under *key*: int64[values or more]; code 0 counts nothing."""
        return self.tracked(key, column).counts

    def tracked(self, key: Hashable, column: NodeColumn[Any]) -> DomainCounts:
        """The counts of :meth:`by`, which move with it until a node object changes."""
        found = self._domains.get(key)
        if found is None:
            found = self._domains[key] = DomainCounts(column, self._counted_by(column))
        elif found.column is not column or len(found.counts) < len(column.values):
            # Who has the counts already goes on with the same values: a column is made anew where it was
            # forgotten, or a node changed.
            found.column, found.counts = column, self._counted_by(column)
        return found

    def _counted_by(self, column: NodeColumn[Any]) -> Ints:
        found = np.zeros(len(column.values), np.int64)
        if self.total:
            rows = self.rows[: len(column.codes)].nonzero()[0]
            np.add.at(found, column.codes[rows], self.rows[rows])
            found[0] = 0
        return found

    def relabelled(self) -> None:
        """Some row's labels changed: count its domains again when next asked."""
        self._domains.clear()
        self._moved.clear()
        self.revision += 1

    def moved_since(self, revision: int) -> list[int] | None:
        """The rows on which it counted after *revision*; None where that is not kept."""
        start = self.revision - len(self._moved)
        return None if revision < start else self._moved[revision - start :]


Terms = Sequence[tuple[TermCarriers, PodCount]]


@attrs.define(eq=False, repr=False)
class Census:
    """All counters of one table."""

    labels: dict[str, NodeColumn[str | None]]
    """The table's label columns."""
    counters: dict[Query, PodCount] = attrs.Factory(dict)
    revision: int = 0
    """Moves with every counter."""
    terms_revision: int = 0
    """Moves when a term appears that no pod had before, or the first invalid one."""
    has_unreadable: bool = False
    """Some pod has or had an invalid selector among its terms."""
    watch: list[PodCount] | None = None
    """Where to note the counters that are asked for, so that the caller can see later whether they moved."""
    terms: dict[str, TermIndex[PodCount]] = attrs.field(factory=lambda: {role: TermIndex() for role in ROLES})
    """By role, the terms that pods carry or carried."""
    _asked: Pairs[PodCount] = attrs.Factory(Pairs)
    """The counters that new templates are held against: all but those of terms, which a template names
    itself."""
    _templates: dict[Template, dict[int, int]] = attrs.Factory(dict)
    """Template -> row -> pods, of the templates that are or were present."""
    _labelled: Pairs[Template] = attrs.Factory(Pairs)
    _matching: dict[Template, list[tuple[PodCount, int]]] = attrs.Factory(dict)
    _usual: int = 0
    """How many counters there were when it forgot templates for the first time since they began anew; 0: it
    has not."""

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and pickles: the pods that are present, without the queries."""
        return _counted, (self.labels, list(self.present()))

    def counter(self, query: Query) -> PodCount:
        """The counter of *query*; the first time all present pods are counted for it."""
        found = self.counters.get(query)
        if found is None:
            found = self._carried(query) if isinstance(query, TermCarriers) else self._new(query)
        if self.watch is not None:
            self.watch.append(found)
        return found

    def _new(self, query: Query) -> PodCount:
        found = self.counters[query] = PodCount(query)
        self._asked.file(found, query.pairs)
        for template in self._labelled.shortest(query.pairs) if query.pairs else self._templates:
            if often := found.of(template):
                self._matching[template].append((found, often))
                found.begin(self._templates[template], often)
        return found

    def terms_about(self, template: Template, role: str) -> Terms:
        """The distinct terms of *role* that pods carry or carried and that are about pods of *template*.

        Each comes with the counter of its carriers. Not to be changed.
        """
        index = self.terms[role]
        if not index.size:
            return ()
        terms = index.about(template)
        if self.watch is not None:
            self.watch.extend(counter for _, counter in terms)
        return terms

    def learn(self, template: Template) -> None:
        """Know the terms of *template*, whether or not it has a pod."""
        if template not in self._templates:
            self._register(template)

    def add(self, template: Template, row: int, count: int = 1) -> None:
        """A pod of *template* comes to *row*, or with *count* -1 leaves it."""
        rows = self._templates.get(template)
        if rows is None:
            self._register(template)
            rows = self._templates[template]
        left = rows.get(row, 0) + count
        if left:
            rows[row] = left
        else:
            rows.pop(row, None)
        matching = self._matching[template]
        if matching:
            self.revision += 1
            for counter, often in matching:
                counter.add(row, often * count)

    def present(self) -> Iterator[tuple[Template, int, int]]:
        """Each template that is present with each of its rows and how many of its pods are there."""
        return (
            (template, row, pods) for template, rows in self._templates.items() for row, pods in rows.items()
        )

    def forget(self, in_use: Collection[Template]) -> bool:
        """Keep the templates *in_use* alone, which all have that have pods here; gives whether all counters
        begin anew.

        It is not known which counters are still asked for. So where they are many more than they were, who
        keeps one has to ask again.
        """
        self._templates = {template: rows for template, rows in self._templates.items() if template in in_use}
        if self._usual and len(self.counters) > 2 * self._usual + SPARE:
            self._begin_anew()
            return True
        self._usual = self._usual or len(self.counters)
        self._matching = {template: self._matching[template] for template in self._templates}
        self._labelled = Pairs()
        for template in self._templates:
            self._labelled.file_under_each(template, template.labels.items())
        numbers = {template.number for template in in_use}
        for counter in self.counters.values():
            counter.forget(numbers)
        for index in self.terms.values():
            index.forget(in_use)
        return False

    def _begin_anew(self) -> None:
        present = list(self.present())
        self.counters, self._asked, self._labelled, self.terms = (
            {},
            Pairs(),
            Pairs(),
            {role: TermIndex() for role in ROLES},
        )
        self._templates = {}
        self._matching = {}
        self.terms_revision += 1
        self.revision += 1
        for template, row, count in present:
            self.add(template, row, count)
        self._usual = 0

    def relabelled(self) -> None:
        """Labels of some row changed."""
        self.revision += 1
        for counter in self.counters.values():
            counter.relabelled()

    def _register(self, template: Template) -> None:
        self._templates[template] = {}
        self._labelled.file_under_each(template, template.labels.items())
        matching = self._matching[template] = [
            (counter, often)
            for _, counters in self._asked.concerning(template.labels)
            for counter in counters
            if (often := counter.of(template))
        ]
        for role in ROLES if template.has_pod_affinity else ():
            matching.extend(
                (self._carried(carrier), often) for carrier, often in carriers(template, role).items()
            )
            if not self.has_unreadable and unreadable(template, role) is not None:
                self.has_unreadable = True
                self.terms_revision += 1

    def _carried(self, carrier: TermCarriers) -> PodCount:
        found = self.counters.get(carrier)
        if found is None:
            found = self.counters[carrier] = PodCount(carrier)
            self.terms[carrier.role].add(carrier, found)
            self.terms_revision += 1
            self.revision += 1
        return found


def _counted(
    labels: dict[str, NodeColumn[str | None]], present: Iterable[tuple[Template, int, int]]
) -> Census:
    census = Census(labels)
    for template, row, count in present:
        census.add(template, row, count)
    return census
