"""The pods that terms of pod affinity and anti-affinity match, and invalid terms.

A term selects pods by namespaces and labels; its topology key says in which domain they count. A term without
namespaces means the namespace of the pod that carries it. Some releases let it select namespaces by their
labels too. Upstream: pkg/scheduler/algorithm/priorities/util/topologies.go; getAffinityTermProperties in
predicates/metadata.go.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

import attrs

from ...api.meaning import SelectorError, compile_selector
from ...api.objects import LabelSelector, PodAffinityTerm
from .template import Group, StateKey, Template

_T = TypeVar("_T")
Pair = tuple[str, str]


@attrs.define(eq=False, repr=False)
class Pairs(Generic[_T]):
    """Lists of items by label pair, each in order of arrival; under None the items that ask for no pair."""

    lists: dict[Pair | None, list[_T]] = attrs.Factory(dict)

    def file(self, item: _T, asked: Collection[Pair]) -> None:
        """Keep *item* for pods that have all pairs of *asked*: under the pair that has the fewest items so
        far."""
        rarest = min(asked, key=lambda pair: len(self.lists.get(pair, ())), default=None)
        self.lists.setdefault(rarest, []).append(item)

    def file_under_each(self, item: _T, pairs: Iterable[Pair]) -> None:
        """Keep *item* under every one of its *pairs*."""
        for pair in pairs:
            self.lists.setdefault(pair, []).append(item)

    def concerning(self, labels: Mapping[str, str]) -> list[tuple[Pair | None, list[_T]]]:
        """The lists that can hold items for pods with *labels*, each with its pair."""
        return [(pair, found) for pair in (None, *labels.items()) if (found := self.lists.get(pair))]

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
        found = (target.matches(template.group) for target in self.targets)
        return int(all(found) if self.every else any(found))


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
    named = term.namespaces or (() if by_labels is not None else (template.namespace,))
    return Target(frozenset(named), term.label_selector, by_labels if template.adds_namespaces else None)


def targeted_by(template: Template, role: str, *, every: bool, key: str | None = None) -> PodsTargeted:
    """The pods that every, or else any, term of *role* matches; with *key* only terms of that topology key."""
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
    found: str | None = notes[slot]
    return found


def _errors(template: Template, role: str) -> Iterator[str]:
    for term, _ in terms_of(template, role):
        try:
            compile_selector(term.label_selector)
            compile_selector(term.namespace_selector if template.selects_namespaces else None)
        except SelectorError as error:
            yield str(error)


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
    """The terms of *role* that pods of *template* carry and how often each; none if one of them is invalid."""
    found = template.notes.get(_CARRIERS[role])
    if found is None:
        terms = terms_of(template, role) if unreadable(template, role) is None else ()
        found = Multiset(
            TermCarriers(role, target_of(template, term), term.topology_key, weight) for term, weight in terms
        )
        template.notes[_CARRIERS[role]] = found
    return found


@attrs.define(eq=False, repr=False)
class TermsAbout(Generic[_T]):
    """The terms that match one template, and which terms it was compared with."""

    terms: list[tuple[TermCarriers, _T]] = attrs.Factory(list)
    size: int = 0
    """With how many terms in all."""
    seen: dict[Pair | None, int] = attrs.Factory(dict)
    """With how many of each list."""


@attrs.define(eq=False, repr=False)
class TermIndex(Generic[_T]):
    """Terms of one role, each with an item that belongs to it, found by the labels of the pods that they
    match."""

    size: int = 0
    """The terms that are here."""
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
        """The terms that match pods of *template*, including all that depend on the labels of its namespace."""
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
