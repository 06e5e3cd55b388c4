"""ImageLocality: sizes, spread, and how many containers share the scale."""

from __future__ import annotations

import numpy as np
import pytest

from kubeclassic.api.objects import Node, Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.framework.plugins.imagelocality import ImageLocality
from tests.support.asking import cycle_of, handle
from tests.support.build import node, pod

MIB = 1024 * 1024


def with_images(name: str, **sizes: int) -> Node:
    return node(name, images=[{"names": [f"{image}:latest"], "sizeBytes": size * MIB} for image, size in sizes.items()])


def running(*images: str) -> Pod:
    return pod("new", containers=[{"name": f"c{i}", "image": image} for i, image in enumerate(images)])


def scores(new: Pod, *nodes: Node) -> list[int]:
    cycle = cycle_of(new, *nodes)
    cycle.node_count = len(nodes)
    rows = np.array([cycle.table.row_of[item.name] for item in nodes], np.intp)
    return [int(n) for n in ImageLocality(None, handle()).score(cycle.template, Batch(cycle.table, rows), cycle)]


class TestImageLocality:
    def test_the_scale_grows_with_the_containers(self) -> None:
        """A score of 100 needs 1000 MiB a container: the same images score less for a pod with more containers."""
        assert scores(running("big"), with_images("n", big=1000)) == [100]
        assert scores(running("big", "small"), with_images("n", big=1000)) == [49]
        assert scores(running("big", "big"), with_images("n", big=1000)) == [100]

    @pytest.mark.parametrize(("size", "score"), [(23, 0), (22, 0), (500, 48), (4000, 100)])
    def test_sizes_are_scaled_between_the_least_and_the_most(self, size: int, score: int) -> None:
        """Images up to 23 MiB score 0, and more than 1000 MiB score no more than 1000 MiB."""
        assert scores(running("a"), with_images("n", a=size)) == [score]

    def test_rare_images_count_by_their_share(self) -> None:
        """An image on the last added of two nodes alone counts half its size."""
        assert scores(running("a"), node("x"), with_images("y", a=1000)) == [0, 48]

    def test_a_pod_without_containers_scores_nothing(self) -> None:
        """With no container there is no scale, and every node gets 0."""
        assert scores(running(), with_images("n", a=1000)) == [0]
