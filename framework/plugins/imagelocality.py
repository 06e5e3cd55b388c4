"""ImageLocality: does the node have the pod's images already?"""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

import numpy as np

from ...core.arrays.batch import Batch
from ...core.arrays.types import Scores
from ...core.pods.template import Template
from ...core.rule import Reads
from ...priorities.imagelocality import LEAST, MOST, images, spread_sizes
from ..cycle.state import FrameworkCycle
from ..plugin import MAX_NODE_SCORE, Plugin


class ImageLocality(Plugin):
    """Prefer nodes that have the pod's images, by size. An image that few nodes have counts less, so that they do not get every such pod.

    Upstream: pkg/scheduler/framework/plugins/imagelocality/image_locality.go.
    """

    name = "ImageLocality"
    score_reads: ClassVar[Reads] = Reads.NODE | Reads.CLUSTER

    def score_key(self, pod: Template) -> Hashable:
        return images(pod)

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        most = MOST * len(pod.spec.containers)
        total = spread_sizes(pod, nodes, cycle.node_count)
        # Upstream: without containers the upper threshold is below the lower one, and the lower one wins.
        total = np.where(total < LEAST, LEAST, np.minimum(total, most))
        return MAX_NODE_SCORE * (total - LEAST) // (most - LEAST)
