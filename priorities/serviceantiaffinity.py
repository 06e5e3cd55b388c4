"""ServiceAntiAffinity: values of a node label with fewer pods of the same service."""

from __future__ import annotations

import numpy as np

from ..core.matching import first_service_selector
from .rule import MAX_PRIORITY, Batch, Cycle, Priority, Reads, Scores, Template, priority
from .selectorspread import peers


def service_anti_affinity(name: str, label: str) -> Priority:
    """The priority *name*, which spreads the pods of a service over the values of node label *label*.

    Upstream: pkg/scheduler/algorithm/priorities/selector_spreading.go ServiceAntiAffinity.
    """

    def reduce(pod: Template, raw: Scores, nodes: Batch, cycle: Cycle) -> Scores:
        total = int(raw.sum())
        values = nodes.label(label)
        if not total:
            return values.present * np.int64(MAX_PRIORITY)
        share = (total - np.bincount(values.codes, raw).astype(np.int64)) / float(total)
        return (float(MAX_PRIORITY) * share).astype(np.int64)[values.codes] * values.present

    @priority(
        name, reads=Reads.COUNTS | Reads.LISTINGS, key=lambda pod: (pod.namespace, pod.labels), reduce=reduce
    )
    def service_anti_affinity(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
        """Prefer nodes whose value of the label has fewer pods of *pod*'s first service; without the label a
        node scores 0."""
        selector = first_service_selector(pod, cycle.listings)
        if selector is None:
            return nodes.zeros()
        return nodes.counting(peers(pod.namespace, frozenset((selector,))))

    return service_anti_affinity
