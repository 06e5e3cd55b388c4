"""Does the node have, or lack, the label that the Policy names?"""

from __future__ import annotations

import numpy as np

from .rule import MAX_PRIORITY, Batch, Cycle, Priority, Reads, Scores, Template, priority


def node_label(name: str, label: str, presence: bool) -> Priority:
    """The priority *name* for a Policy's ``labelPreference`` argument: prefer nodes that have *label*, or
    without *presence* that lack it.

    Upstream: pkg/scheduler/algorithm/priorities/node_label.go CalculateNodeLabelPriorityMap.
    """

    @priority(name, reads=Reads.NODE, key=lambda pod: None)
    def node_label_preference(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
        """Prefer nodes by the presence of the label, whatever its value: 10 or 0."""
        return np.where(nodes.label(label).present == presence, np.int64(MAX_PRIORITY), np.int64(0))

    return node_label_preference
