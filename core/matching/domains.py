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
    return [
        (carrier, counter)
        for carrier, counter in terms
        if (pod.namespace in carrier.target.namespaces or selector_matches(carrier.target.namespace_selector, labels))
    ]


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


def has_pods_in_domains(terms: Iterable[Weighted], table: NodeTable) -> bool:
    """Whether any pod of the *terms*, whatever its weight, is on a row of *table* that has the topology key."""
    labels = table.labels
    return any(counter.total and key in labels and counter.domains(key, labels).any() for counter, key, _ in terms)


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
