"""Does the node have the pod's images already?"""

from __future__ import annotations

from collections.abc import Iterable

from .rule import MAX_PRIORITY, Batch, Cycle, Ints, Reads, Scores, Template, priority, whole

MIB = 1024 * 1024
LEAST = 23 * MIB
MOST = 1000 * MIB
"""Total sizes of images with which a node scores 0 and 10."""


def normalized_image_name(name: str) -> str:
    """*name* with the tag ``latest`` where it has neither tag nor digest.

    >>> normalized_image_name("registry:5000/nginx")
    'registry:5000/nginx:latest'
    """
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


def images(pod: Template) -> tuple[str, ...]:
    """The images of the containers; those of init containers do not count."""
    return tuple([normalized_image_name(container.image) for container in pod.spec.containers])


@priority("ImageLocalityPriority", reads=Reads.NODE | Reads.CLUSTER, key=images)
def image_locality(pod: Template, nodes: Batch, cycle: Cycle) -> Scores:
    """Prefer nodes that have *pod*'s images, by size. An image that few nodes have counts for less, so that
    they do not attract all pods.

    Upstream: pkg/scheduler/algorithm/priorities/image_locality.go ImageLocalityPriorityMap.
    """
    # Upstream: deleted nodes that still have pods count in the total.
    total = spread_sizes(images(pod), nodes, nodes.table.row_count)
    return MAX_PRIORITY * (total.clip(LEAST, MOST) - LEAST) // (MOST - LEAST)


def spread_sizes(names: Iterable[str], nodes: Batch, node_count: int) -> Ints:
    """The image sizes on each node, each times the share of *node_count* nodes with the image: int64[n]."""
    total = nodes.zeros()
    for name in names:
        sizes, holders = nodes.image(name)
        # Upstream: the nodes with an image were counted when this node was last updated, or its snapshot
        # taken.
        total += whole(sizes * (holders / max(node_count, 1)))
    return total
