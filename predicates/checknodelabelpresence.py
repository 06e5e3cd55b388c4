"""Does the node have, or lack, the labels that the Policy names?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from .rule import NODE_LABEL_PRESENCE_VIOLATED, Batch, Cycle, Failures, Predicate, Reads, Template, predicate


def node_label_presence(name: str, labels: Sequence[str], presence: bool) -> Predicate:
    """The predicate *name* for a Policy's ``labelsPresence`` argument: nodes must have all of *labels*, or
    without *presence* none of them.

    Upstream: pkg/scheduler/algorithm/predicates/predicates.go CheckNodeLabelPresence.
    """

    @predicate(name, reads=Reads.NODE, key=lambda pod: None)
    def check_node_label_presence(pod: Template, nodes: Batch, cycle: Cycle) -> Failures | None:
        """Turn down nodes that lack any of the labels or, without *presence*, have any; the values do not
        matter."""
        if not labels:
            return None
        return Failures.where(
            NODE_LABEL_PRESENCE_VIOLATED,
            reduce(or_, (nodes.label(key).present != presence for key in labels)),
        )

    return check_node_label_presence
