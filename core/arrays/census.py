"""Pods counted by row and by topology domain, for every question that a rule has asked so far; and the terms
of pod affinity and anti-affinity, with the pods that they match.

A *query* says which pods count; the census keeps, for each query that was asked, how many such pods are on
each row and, for each topology key asked for, in each domain. One pod that comes or goes costs as many steps
as there are queries that it matches. Affinity terms are kept by the pods that carry them: which of them are
about a given pod is looked up by its labels.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import attrs
import numpy as np

from ...api.meaning import SelectorError, compile_selector
from ...api.objects import LabelSelector, PodAffinityTerm
from ..pods import SPARE, Group, StateKey, Template
from .columns import Ints, NodeColumn, grown

# --- Terms of affinity --------------------------------------------------------------------------------------
# A term selects pods by namespaces and labels; its topology key says in which domain they count. A term
# without namespaces means the namespace of the pod that carries it. Some releases let it select namespaces by
# their labels too. Upstream: pkg/scheduler/algorithm/priorities/util/topologies.go; getAffinityTermProperties
# in predicates/metadata.go.


_T = TypeVar("_T")
Pair = tuple[str, str]


@attrs.define(eq=False, repr=False)
class Pairs(Generic[_T]):
    """Lists of items by label pair, each in order of arrival; under None the items that ask for no pair."""

    lists: dict[Pair | None, list[_T]] = attrs.Factory(dict)

    def file(self, item: _T, pairs: Collection[Pair]) -> None:
        """Keep *item* for pods that have all *pairs*: under the pair that has the fewest items so
        far."""
        rarest = min(pairs, key=lambda pair: len(self.lists.get(pair, ())), default=None)
        self.lists.setdefault(rarest, []).append(item)

    def file_under_each(self, item: _T, pairs: Iterable[Pair]) -> None:
        """Keep *item* under every one of its *pairs*."""
        for pair in pairs:
            self.lists.setdefault(pair, []).append(item)

    def concerning(self, labels: Mapping[str, str]) -> list[tuple[Pair | None, list[_T]]]:
        """The lists that can hold items for pods with *labels*, each with its pair."""
        return [(pair, items) for pair in (None, *labels.items()) if (items := self.lists.get(pair))]

    def shortest(self, pairs: Iterable[Pair]) -> list[_T]:
        """The shortest of the lists under *pairs*; there must be at least one pair."""
        return min((self.lists.get(pair, []) for pair in pairs), key=len)


REQUIRED_AFFINITY = "required_affinity"
REQUIRED_ANTI_AFFINITY = "required_anti_affinity"
PREFERRED_AFFINITY = "preferred_affinity"
PREFERRED_ANTI_AFFINITY = "preferred_anti_affinity"
ROLES = (REQUIRED_AFFINITY, REQUIRED_ANTI_AFFINITY, PREFERRED_AFFINITY, PREFERRED_ANTI_AFFINITY)
_UNREADABLE: Mapping[str, StateKey[str | None]] = {role: StateKey(f"unreadable {role}") for role in ROLES}
_CARRIERS: Mapping[str, StateKey[Multiset[TermCarriers]]] = {
    role: StateKey(f"carriers of {role}") for role in ROLES
}


@attrs.frozen(cache_hash=True, repr=False)
class Target:
    """The pods that a term matches, wherever they are."""

    namespaces: frozenset[str]
    selector: LabelSelector | None
    namespace_selector: LabelSelector | None = None
    """Adds namespaces by their labels: None adds none, an empty one all."""

    @property
    def pairs(self) -> Collection[Pair]:
        """Label pairs that all those pods have."""
        return () if self.selector is None else self.selector.match_labels.items()

    @property
    def by_labels(self) -> bool:
        """Whether labels of namespaces decide which pods match."""
        return self.namespace_selector is not None and not self.namespace_selector.is_empty

    def matches(self, group: Group) -> bool:
        """Whether pods of *group* match; if it is :attr:`by_labels`, as if the labels of their namespace
        matched.

        Raises :class:`~kubeclassic.api.meaning.labels.SelectorError` for an invalid selector.
        """
        reached = group.namespace in self.namespaces or self.namespace_selector is not None
        return reached and compile_selector(self.selector)(group.labels)


@attrs.frozen(cache_hash=True, repr=False)
class PodsTargeted:
    """A query for the pods that *every* one of *targets*, or else any one, matches; without targets it counts
    no pod."""

    targets: frozenset[Target]
    every: bool

    @property
    def pairs(self) -> Collection[Pair]:
        return {pair for target in self.targets for pair in target.pairs} if self.every else ()

    def counts(self, template: Template) -> int:
        if not self.targets:
            return 0
        matches = (target.matches(template.group) for target in self.targets)
        return int(all(matches) if self.every else any(matches))


@attrs.frozen(cache_hash=True, repr=False)
class AllPods:
    """A query for all pods."""

    pairs: ClassVar[Collection[Pair]] = ()

    def counts(self, template: Template) -> int:
        return 1


@attrs.frozen(cache_hash=True, repr=False)
class Unreadable:
    """A query for the pods that have an invalid selector among their terms of any of *roles*."""

    roles: tuple[str, ...]
    pairs: ClassVar[Collection[Pair]] = ()

    def counts(self, template: Template) -> int:
        return int(any(unreadable(template, role) is not None for role in self.roles))


def terms_of(template: Template, role: str) -> Iterator[tuple[PodAffinityTerm, int]]:
    """The terms of *role* with their weights, 0 where the role has none."""
    for item in getattr(template, role):
        yield (item, 0) if isinstance(item, PodAffinityTerm) else (item.pod_affinity_term, item.weight)


def target_of(template: Template, term: PodAffinityTerm) -> Target:
    """The pods that *term* of a pod of *template* matches."""
    by_labels = term.namespace_selector if template.selects_namespaces else None
    names = term.namespaces or (() if by_labels is not None else (template.namespace,))
    return Target(frozenset(names), term.label_selector, by_labels if template.adds_namespaces else None)


def targeted_by(template: Template, role: str, *, every: bool, key: str | None = None) -> PodsTargeted:
    """The pods that every, or else any, term of *role* matches; with *key* only terms of that topology
    key."""
    terms = (term for term, _ in terms_of(template, role) if key is None or term.topology_key == key)
    targets = frozenset(target_of(template, term) for term in terms)
    return PodsTargeted(targets, every or len(targets) == 1)


def unreadable(template: Template, role: str) -> str | None:
    """The error of the first invalid selector among the terms of *role*, None where all are valid."""
    if not template.has_pod_affinity:
        return None
    notes = template.notes
    slot = _UNREADABLE[role]
    if slot not in notes:
        notes[slot] = next(_errors(template, role), None)
    error: str | None = notes[slot]
    return error


def _errors(template: Template, role: str) -> Iterator[str]:
    for term, _ in terms_of(template, role):
        try:
            compile_selector(term.label_selector)
            compile_selector(term.namespace_selector if template.selects_namespaces else None)
        except SelectorError as error:
            yield template.selector_text(error)


@attrs.frozen(cache_hash=True, repr=False)
class TermCarriers:
    """A query for the pods that carry a term of a *role* with this *target*, *topology_key* and *weight*."""

    role: str
    target: Target
    topology_key: str
    weight: int = 0
    pairs: ClassVar[Collection[Pair]] = ()

    def counts(self, template: Template) -> int:
        return carriers(template, self.role)[self]


def carriers(template: Template, role: str) -> Multiset[TermCarriers]:
    """The terms of *role* that pods of *template* carry and how often each; none if one of them is
    invalid."""
    carried = template.notes.get(_CARRIERS[role])
    if carried is None:
        terms = terms_of(template, role) if unreadable(template, role) is None else ()
        carried = Multiset(
            TermCarriers(role, target_of(template, term), term.topology_key, weight) for term, weight in terms
        )
        template.notes[_CARRIERS[role]] = carried
    return carried


@attrs.define(eq=False, repr=False)
class TermsAbout(Generic[_T]):
    """The terms that match one template, and which terms it was compared with."""

    terms: list[tuple[TermCarriers, _T]] = attrs.Factory(list)
    size: int = 0
    """The number of terms in the index when it was last compared."""
    seen: dict[Pair | None, int] = attrs.Factory(dict)
    """Label pair -> the number of terms in its list that were compared."""


@attrs.define(eq=False, repr=False)
class TermIndex(Generic[_T]):
    """The terms of one role, each with an item of its own, by the labels of the pods they match."""

    size: int = 0
    """The number of terms."""
    _terms: Pairs[tuple[TermCarriers, _T]] = attrs.Factory(Pairs)
    _about: dict[Template, TermsAbout[_T]] = attrs.Factory(dict)

    def add(self, carrier: TermCarriers, item: _T) -> None:
        """Add a new term."""
        if carrier.target.selector is not None:
            self.size += 1
            self._terms.file((carrier, item), carrier.target.pairs)

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep what is known of the templates *in_use* alone."""
        self._about = {template: about for template, about in self._about.items() if template in in_use}

    def about(self, template: Template) -> Sequence[tuple[TermCarriers, _T]]:
        """The terms that match pods of *template*, including all that depend on the labels of its
        namespace."""
        about = self._about.get(template)
        if about is None:
            about = self._about[template] = TermsAbout()
        if about.size != self.size:
            for pair, terms in self._terms.concerning(template.labels):
                start = about.seen.get(pair, 0)
                about.seen[pair] = len(terms)
                about.terms.extend(term for term in terms[start:] if term[0].target.matches(template.group))
            about.size = self.size
        return about.terms


# --- Counts of pods -----------------------------------------------------------------------------------------


MOST_MOVED = 1 << 10
"""The most changes of a counter whose rows are kept."""


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
        count = self._by_template.get(template.number)
        if count is None:
            count = self._by_template[template.number] = self.query.counts(template)
        return count

    def forget(self, numbers: Collection[int]) -> None:
        """Keep what is known of the templates with these *numbers* alone."""
        self._by_template = {
            number: times for number, times in self._by_template.items() if number in numbers
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
        for sums in self._domains.values():
            codes = sums.column.codes
            code = codes.item(row) if row < len(codes) else 0
            if code:
                if code >= len(sums.counts):
                    sums.counts = grown(sums.counts, code + 1)
                sums.counts[code] += count

    def begin(self, pods: Mapping[int, int], times: int) -> None:
        """Count *times* for each of the *pods* on each row, before anybody asked for domains."""
        if pods:
            rows = np.fromiter(pods, np.intp, len(pods))
            counts = times * np.fromiter(pods.values(), np.int64, len(pods))
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
        sums = self._domains.get(key)
        if sums is None:
            sums = self._domains[key] = DomainCounts(column, self._count_by(column))
        elif sums.column is not column or len(sums.counts) < len(column.values):
            # Readers that have the counts already go on with the same values: a column is made anew where it
            # was forgotten, or a node changed.
            sums.column, sums.counts = column, self._count_by(column)
        return sums

    def _count_by(self, column: NodeColumn[Any]) -> Ints:
        counts = np.zeros(len(column.values), np.int64)
        if self.total:
            rows = self.rows[: len(column.codes)].nonzero()[0]
            np.add.at(counts, column.codes[rows], self.rows[rows])
            counts[0] = 0
        return counts

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
    """A list that takes every counter asked for, so that the caller can see later whether they moved; None:
    no list."""
    terms: dict[str, TermIndex[PodCount]] = attrs.field(factory=lambda: {role: TermIndex() for role in ROLES})
    """By role, the terms that pods carry or carried."""
    _registered: Pairs[PodCount] = attrs.Factory(Pairs)
    """The counters to test new templates against: all but those of terms, which a template names itself."""
    _templates: dict[Template, dict[int, int]] = attrs.Factory(dict)
    """Template -> row -> pods, of the templates that are or were present."""
    _labelled: Pairs[Template] = attrs.Factory(Pairs)
    _matching: dict[Template, list[tuple[PodCount, int]]] = attrs.Factory(dict)
    _usual_size: int = 0
    """The number of counters when templates were first forgotten after counters began anew; 0: none were
    yet."""

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies and pickles: the pods that are present, without the queries."""
        return _counted, (self.labels, list(self.present()))

    def counter(self, query: Query) -> PodCount:
        """The counter of *query*; the first time all present pods are counted for it."""
        counter = self.counters.get(query)
        if counter is None:
            counter = self._term_counter(query) if isinstance(query, TermCarriers) else self._create(query)
        if self.watch is not None:
            self.watch.append(counter)
        return counter

    def _create(self, query: Query) -> PodCount:
        counter = self.counters[query] = PodCount(query)
        self._registered.file(counter, query.pairs)
        for template in self._labelled.shortest(query.pairs) if query.pairs else self._templates:
            if times := counter.of(template):
                self._matching[template].append((counter, times))
                counter.begin(self._templates[template], times)
        return counter

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
        pods_left = rows.get(row, 0) + count
        if pods_left:
            rows[row] = pods_left
        else:
            rows.pop(row, None)
        matching = self._matching[template]
        if matching:
            self.revision += 1
            for counter, times in matching:
                counter.add(row, times * count)

    def present(self) -> Iterator[tuple[Template, int, int]]:
        """Each template that is present with each of its rows and how many of its pods are there."""
        return (
            (template, row, pods) for template, rows in self._templates.items() for row, pods in rows.items()
        )

    def forget(self, in_use: Collection[Template]) -> bool:
        """Keep only the templates *in_use*, which must include those of all pods here. Returns whether all
        counters begin anew.

        Nothing shows which counters are still asked for. So where they have become many more, all begin anew,
        and their users have to ask for them again.
        """
        self._templates = {template: rows for template, rows in self._templates.items() if template in in_use}
        if self._usual_size and len(self.counters) > 2 * self._usual_size + SPARE:
            self._begin_anew()
            return True
        self._usual_size = self._usual_size or len(self.counters)
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
        self.counters, self._registered, self._labelled, self.terms = (
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
        self._usual_size = 0

    def relabelled(self) -> None:
        """Labels of some row changed."""
        self.revision += 1
        for counter in self.counters.values():
            counter.relabelled()

    def _register(self, template: Template) -> None:
        self._templates[template] = {}
        self._labelled.file_under_each(template, template.labels.items())
        matching = self._matching[template] = [
            (counter, times)
            for _, counters in self._registered.concerning(template.labels)
            for counter in counters
            if (times := counter.of(template))
        ]
        for role in ROLES if template.has_pod_affinity else ():
            matching.extend(
                (self._term_counter(carrier), times) for carrier, times in carriers(template, role).items()
            )
            if not self.has_unreadable and unreadable(template, role) is not None:
                self.has_unreadable = True
                self.terms_revision += 1

    def _term_counter(self, carrier: TermCarriers) -> PodCount:
        counter = self.counters.get(carrier)
        if counter is None:
            counter = self.counters[carrier] = PodCount(carrier)
            self.terms[carrier.role].add(carrier, counter)
            self.terms_revision += 1
            self.revision += 1
        return counter


def _counted(
    labels: dict[str, NodeColumn[str | None]], present: Iterable[tuple[Template, int, int]]
) -> Census:
    census = Census(labels)
    for template, row, count in present:
        census.add(template, row, count)
    return census
