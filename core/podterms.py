"""What pod (anti-)affinity terms select, and what of a pod's terms cannot be read.

A term selects by namespaces and labels; its topology key says where that counts. Namespaces that a term does not give are its
owner's, so a term is resolved against the pod that carries it.
Upstream: pkg/scheduler/algorithm/priorities/util/topologies.go; getAffinityTermProperties in predicates/metadata.go.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

import attrs

from ..api.labels import SelectorError, compile_selector
from ..api.objects import LabelSelector, PodAffinityTerm
from .template import Group, Template

T = TypeVar("T")
Pair = tuple[str, str] | None

REQUIRED_AFFINITY = "required_affinity"
REQUIRED_ANTI_AFFINITY = "required_anti_affinity"
PREFERRED_AFFINITY = "preferred_affinity"
PREFERRED_ANTI_AFFINITY = "preferred_anti_affinity"
ROLES = (REQUIRED_AFFINITY, REQUIRED_ANTI_AFFINITY, PREFERRED_AFFINITY, PREFERRED_ANTI_AFFINITY)


@attrs.frozen(cache_hash=True)
class Target:
    """The pods that a term is about, wherever they are."""

    namespaces: frozenset[str]
    selector: LabelSelector | None

    def matches(self, group: Group) -> bool:
        """Whether pods of *group* are meant. Raises :class:`~kubeclassic.api.labels.SelectorError` for an invalid selector."""
        return group.namespace in self.namespaces and compile_selector(self.selector)(group.labels)


@attrs.frozen(cache_hash=True)
class PodsMeant:
    """A query for the pods that *every* one of *targets*, or else any one, is about; no targets mean nobody."""

    targets: frozenset[Target]
    every: bool

    def counts(self, template: Template) -> int:
        if not self.targets:
            return 0
        found = (target.matches(template.group) for target in self.targets)
        return int(all(found) if self.every else any(found))


@attrs.frozen
class Unreadable:
    """A query for the pods that carry an invalid selector among their terms of a *role*."""

    role: str

    def counts(self, template: Template) -> int:
        return int(unreadable(template, self.role) is not None)


def terms_of(template: Template, role: str) -> Iterator[tuple[PodAffinityTerm, int]]:
    """The terms of *role* with their weights, 0 where the role has none."""
    for item in getattr(template, role):
        yield (item, 0) if isinstance(item, PodAffinityTerm) else (item.pod_affinity_term, item.weight)


def target_of(template: Template, term: PodAffinityTerm) -> Target:
    """The pods that *term* of a pod of *template* is about."""
    return Target(frozenset(term.namespaces or (template.namespace,)), term.label_selector)


def meant_by(template: Template, role: str, *, every: bool, key: str | None = None) -> PodsMeant:
    """The pods that every, or else any, term of *role* is about; with *key* only terms of that topology key."""
    terms = (term for term, _ in terms_of(template, role) if key is None or term.topology_key == key)
    targets = frozenset(target_of(template, term) for term in terms)
    return PodsMeant(targets, every or len(targets) == 1)


def unreadable(template: Template, role: str) -> str | None:
    """What is wrong with the first invalid selector among the terms of *role*, None where all can be read."""
    key = ("unreadable", role)
    if key not in template.memo:
        template.memo[key] = next(_errors(template, role), None)
    found: str | None = template.memo[key]
    return found


def _errors(template: Template, role: str) -> Iterator[str]:
    for term, _ in terms_of(template, role):
        try:
            compile_selector(term.label_selector)
        except SelectorError as error:
            yield str(error)


@attrs.frozen(cache_hash=True)
class TermHolders:
    """A query for the pods that carry a term of a *role*: one about *target*, by *topology_key*, of *weight*."""

    role: str
    target: Target
    topology_key: str
    weight: int = 0

    def counts(self, template: Template) -> int:
        return holders(template, self.role)[self]


def holders(template: Template, role: str) -> Multiset[TermHolders]:
    """The terms of *role* that pods of *template* carry and how often each; none where one of them cannot be read."""
    found: Multiset[TermHolders] | None = template.memo.get(("holders", role))
    if found is None:
        terms = terms_of(template, role) if unreadable(template, role) is None else ()
        found = Multiset(TermHolders(role, target_of(template, term), term.topology_key, weight) for term, weight in terms)
        template.memo["holders", role] = found
    return found


@attrs.define(eq=False)
class TermIndex(Generic[T]):
    """Terms of one role, each with something that belongs to it, found by the labels of the pods that they are about."""

    _by_pair: dict[Pair, list[tuple[TermHolders, T]]] = attrs.field(factory=dict)
    """A label pair that a term insists on, None where it insists on none -> such terms, oldest first."""
    _about: dict[Template, tuple[list[tuple[TermHolders, T]], dict[Pair, int]]] = attrs.field(factory=dict)
    """Template -> the terms about it, and how many of each list it was held against."""

    def add(self, holder: TermHolders, item: T) -> None:
        """Know a term that was not known before."""
        selector = holder.target.selector
        if selector is not None:
            pairs = selector.match_labels.items()
            rarest = min(pairs, key=lambda pair: len(self._by_pair.get(pair, ())), default=None)
            self._by_pair.setdefault(rarest, []).append((holder, item))

    def about(self, template: Template) -> Sequence[tuple[TermHolders, T]]:
        """The terms about pods of *template*."""
        found, seen = self._about.setdefault(template, ([], {}))
        for pair in (None, *template.labels.items()):
            terms = self._by_pair.get(pair, ())
            if len(terms) > (start := seen.get(pair, 0)):
                found.extend(term for term in terms[start:] if term[0].target.matches(template.group))
                seen[pair] = len(terms)
        return found
