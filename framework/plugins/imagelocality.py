"""ImageLocality: does the node have the pod's images already?"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ...priorities.imagelocality import LEAST, MOST, images, normalized_image_name, spread_sizes
from ..plugin import MAX_NODE_SCORE, Batch, FrameworkCycle, Plugin, Reads, Scores, Template


class ImageLocality(Plugin):
    """Prefer nodes that have the pod's images, by size. An image that few nodes have counts less, so that
    they do not get every such pod.

    Upstream: pkg/scheduler/framework/plugins/imagelocality/image_locality.go.
    """

    name = "ImageLocality"
    score_reads = Reads.NODE | Reads.CLUSTER

    def score_key(self, pod: Template) -> Hashable:
        return self._images(pod), self._of_volumes(pod)

    def score(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        names = self._images(pod)
        most = MOST if self.cells.image_bound_of_one else MOST * len(names)
        total = spread_sizes((*names, *self._of_volumes(pod)), nodes, cycle.node_count)
        # Upstream: without containers the upper threshold is below the lower one, and the lower one wins.
        total = np.where(total < LEAST, LEAST, np.minimum(total, most))
        return MAX_NODE_SCORE * (total - LEAST) // (most - LEAST)

    def _of_volumes(self, pod: Template) -> tuple[str, ...]:
        """The images of its volumes that count."""
        volumes = pod.volumes if self.cells.volume_images_count else ()
        references = [volume.image.reference for volume in volumes if volume.image is not None]
        return tuple(map(normalized_image_name, references))

    def _images(self, pod: Template) -> tuple[str, ...]:
        """The images of the containers that count, one for each."""
        init = pod.spec.init_containers if self.cells.init_images_count else ()
        return (*[normalized_image_name(container.image) for container in init], *images(pod))
