"""Has the node the pod's images already?"""

from __future__ import annotations

import numpy as np

from ..core.batch import Batch, Ints
from ..core.cycle import Cycle
from ..core.rule import Reads, Scores
from ..core.template import Template
from .rule import MAX_PRIORITY, priority

MIB = 1024 * 1024
LEAST, MOST = 23 * MIB, 1000 * MIB
"""Sizes of all images together that give a node 0 and 10."""


def normalized_image_name(name: str) -> str:
    """*name* with the tag ``latest`` where it has neither tag nor digest.

    >>> normalized_image_name("registry:5000/nginx")
    'registry:5000/nginx:latest'
    """
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


def _images(pod: Template) -> tuple[str, ...]:
    """The images of the containers; those of init containers do not count."""
    return tuple(normalized_image_name(container.image) for container in pod.spec.containers)


@priority("ImageLocalityPriority", reads=Reads.NODE | Reads.CLUSTER, key=_images)
def image_locality(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes that hold *pod*'s images, by size; an image that few nodes hold counts for less, lest they attract every such pod.

    Upstream: pkg/scheduler/algorithm/priorities/image_locality.go ImageLocalityPriorityMap.
    """
    total = np.zeros(nodes.n, np.int64)
    for name in _images(pod):
        total += _spread_size(name, nodes)
    return MAX_PRIORITY * (total.clip(LEAST, MOST) - LEAST) // (MOST - LEAST)


def _spread_size(image: str, nodes: Batch) -> Ints:
    """The size of *image* on each node, times the share of all nodes that hold it: int64[n]."""
    sizes, holders = nodes.image(image)
    # Upstream: the holders were counted when the node itself was last updated; nodes that are gone but have pods count in the total.
    shares = holders / max(nodes.table.row_count, 1)
    return (sizes * shares).astype(np.int64)
