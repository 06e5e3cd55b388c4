"""Sums over topology domains: what each node gets from the pods in its domains.

A term counts pods by the value of one label key. Sums are made over the distinct values of a key, which are few, and then looked up for
each node.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import attrs
import numpy as np

from ...api.meaning.labels import selector_matches
from ...api.objects import NO_STRINGS, LabelSelector, Namespace
from ..arrays.batch import Batch
from ..arrays.census import PodCount, Terms
from ..arrays.counts import Weighted
from ..arrays.table import NodeTable
from ..arrays.types import Ints
from ..cluster.listings import Listing
from ..cycle import Cycle
from ..pods.template import Template
from ..pods.terms import PodsTargeted, Target

EVERYWHERE = LabelSelector()
"""It selects all namespaces."""


def labels_of(namespace: str, namespaces: Listing[Namespace]) -> Mapping[str, str]:
    """The labels of *namespace*."""
    found = namespaces.get(namespace)
    return NO_STRINGS if found is None else found.labels


def terms_about(pod: Template, role: str, cycle: Cycle) -> Terms:
    """The distinct terms of *role* that match *pod* and that pods carry or carried, each with the counter of its carriers."""
    terms = cycle.table.census.terms_about(pod, role)
    if not terms or not pod.selects_namespaces or not any(carrier.target.by_labels for carrier, _ in terms):
        return terms
    labels = labels_of(pod.namespace, cycle.listings.namespaces)
    return [(carrier, counter) for carrier, counter in terms if _reaches(carrier.target, pod.namespace, labels)]


def _reaches(target: Target, namespace: str, labels: Mapping[str, str]) -> bool:
    return namespace in target.namespaces or selector_matches(target.namespace_selector, labels)


def by_name(targeted: PodsTargeted, cycle: Cycle) -> PodsTargeted:
    """*targeted*, of the incoming pod, with namespaces that are selected by labels replaced by names."""
    if not any(target.by_labels for target in targeted.targets):
        return targeted
    return attrs.evolve(targeted, targets=frozenset(_named(target, cycle) for target in targeted.targets))


def _named(target: Target, cycle: Cycle) -> Target:
    if not target.by_labels:
        return target
    selector = target.namespace_selector
    selected = (item.name for item in cycle.listings.namespaces if selector_matches(selector, item.labels))
    # Upstream: a selector that is not emptied is matched once more, for every pod with the labels of no namespace.
    is_kept = cycle.release.framework.keeps_namespace_selectors and selector_matches(selector, NO_STRINGS)
    return attrs.evolve(target, namespaces=target.namespaces.union(selected), namespace_selector=EVERYWHERE if is_kept else None)


@attrs.define(eq=False, repr=False)
class DomainSums:
    """Weighted counts by topology key, each int64[values of the key]; pods on the rows *without* are left out."""

    table: NodeTable
    without: Collection[int] = ()
    _sums: dict[str, Ints] = attrs.field(factory=dict)

    def add(self, counter: PodCount, key: str, weight: int = 1) -> None:
        """Add *weight* for each pod of *counter* to its domain by *key*."""
        column = self.table.labels.get(key)
        if column is None or not key:
            return
        if self.without:
            counts = counter.domains_without(key, self.table.labels, self.without)[: len(column.values)]
        else:
            counts = counter.by(key, column)[: len(column.values)]
        if not counter.total:
            return
        sums = self._sums.get(key)
        more = counts if weight == 1 else counts * weight
        self._sums[key] = more if sums is None else sums + more

    def by_key(self) -> Collection[tuple[str, Ints]]:
        """Each topology key with its sums by code of the key's label column: int64[values]. They may be a counter's own, which change."""
        return self._sums.items()

    def of(self, key: str) -> Ints | None:
        """The sums of *key*; None where nothing was added."""
        return self._sums.get(key)

    @property
    def has_any(self) -> bool:
        """Whether any domain has a sum other than 0."""
        return any(sums.any() for sums in self._sums.values())

    def at(self, nodes: Batch) -> Ints | None:
        """What each node of a batch gets from all of its domains: int64[n]; None where nothing was added."""
        found: Ints | None = None
        for key, sums in self._sums.items():
            gathered = sums.take(nodes.label(key).codes)
            found = gathered if found is None else found + gathered
        return found


def has_pods_in_domains(terms: Iterable[Weighted], table: NodeTable, without: Collection[int] = ()) -> bool:
    """Whether any pod of the *terms*, whatever its weight, is on a row of *table* that has the topology key, those *without* left out."""
    for counter, key, _ in terms:
        if counter.total and key and key in table.labels:
            counts = counter.domains_without(key, table.labels, without) if without else counter.domains(key, table.labels)
            if counts.any():
                return True
    return False


def pods_with_any_key(nodes: Batch, counter: PodCount, keys: Collection[str]) -> int:
    """How many pods of *counter* are on rows, of the whole table, that have at least one of the label *keys*."""
    if not counter.total:
        return 0
    if len(keys) == 1:
        return int(sum(counter.domains(key, nodes.table.labels).sum() for key in keys))
    everywhere = Batch.everywhere(nodes.table)
    present = np.zeros(everywhere.n, np.bool_)
    for key in keys:
        present |= everywhere.label(key).present
    size = min(len(counter.rows), everywhere.n)
    return int(counter.rows[:size][present[:size]].sum())
