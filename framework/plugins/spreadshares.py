"""The scores of soft spread constraints up to 1.18: by the share of all counted peers that are not in a node's domains.

Upstream: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go NormalizeScore of 1.18.
"""

from __future__ import annotations

import msgspec
import numpy as np

from ...core.arrays.arithmetic import whole
from ...core.arrays.types import Mask, Scores
from ..plugin import MAX_NODE_SCORE


class SpreadShares(msgspec.Struct, frozen=True):
    """What scores follow from besides the count of each node."""

    total: int
    """The counts of all nodes that have the topology keys, added up."""
    least: int | None
    """The smallest of them; None where no node has the keys."""

    @classmethod
    def of(cls, counts: Scores, judged: Mask) -> SpreadShares:
        """From the *counts* of all feasible nodes, int64[k], those not *judged* left out."""
        found = counts[judged]
        return cls(int(found.sum()), int(found.min()) if len(found) else None)

    def scores(self, counts: Scores, judged: Mask) -> Scores:
        """100 for the smallest count, less for larger ones, 0 for nodes that are not *judged*: int64[n]."""
        if self.least is None:
            return np.zeros(len(counts), np.int64)
        spread = self.total - self.least
        if not spread:
            # Upstream: nodes that lack a topology key get the best score, too.
            return np.full(len(counts), MAX_NODE_SCORE, np.int64)
        return whole(float(MAX_NODE_SCORE) * ((self.total - counts) / float(spread))) * judged
