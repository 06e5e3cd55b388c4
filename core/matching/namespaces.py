"""Which namespaces pod affinity terms select by the labels of the Namespace objects.

The selectors of the incoming pod's own terms are replaced by names once. The terms of existing pods are matched against the labels of the
incoming pod's namespace; a namespace without an object has no labels.
Upstream: pkg/scheduler/framework/plugins/interpodaffinity/plugin.go mergeAffinityTermNamespacesIfNotEmpty, GetNamespaceLabelsSnapshot.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...api.meaning.labels import selector_matches
from ...api.objects import NO_STRINGS, LabelSelector, Namespace
from ..arrays.census import Terms
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
