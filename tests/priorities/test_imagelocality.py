"""ImageLocalityPriority: nodes that need not pull."""

import numpy as np
import pytest

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.priorities.imagelocality import MIB, image_locality, normalized_image_name
from tests.support.build import engine, node, pod, scored


def image(size, *names):
    """An image on a node, *size* in MiB."""
    return {"names": list(names), "sizeBytes": size * MIB}


def of(*images, init=()):
    """A pod of these images."""
    containers, inits = (
        [{"name": f"c{i}", "image": name} for i, name in enumerate(names)] for names in (images, init)
    )
    return pod("p", containers=containers, initContainers=inits)


class TestImageName:
    @pytest.mark.parametrize(
        ("name", "wanted"),
        [
            ("nginx", "nginx:latest"),
            ("nginx:1", "nginx:1"),
            ("reg:5000/nginx", "reg:5000/nginx:latest"),
            ("reg:5000/nginx:1", "reg:5000/nginx:1"),
            ("nginx@sha256:abc", "nginx@sha256:abc"),
            ("", ":latest"),
        ],
    )
    def test_a_name_without_tag_means_latest(self, name, wanted):
        """A colon counts as a tag's only behind the last slash."""
        assert normalized_image_name(name) == wanted


class TestImageLocality:
    def test_rows_whose_node_is_gone_count_in_the_total(self):
        """A pod on a node that was never seen makes one row more in 1.13; later releases do not take it over."""
        objects = node("n", images=[image(900, "a:1")]), pod("old", on="nowhere")
        assert scored(image_locality, of("a:1"), *objects, release="1.13") == {"n": 4}
        assert scored(image_locality, of("a:1"), *objects, release="1.14") == {"n": 8}

    def test_some_rows_are_scored_as_all_are(self):
        """A batch of few rows, in any order, has the scores of the whole table."""
        nodes = [node(f"n{i}", images=[image(200 * i, "a:1")] if i % 2 else []) for i in range(8)]
        cycle = engine(*nodes).begin(of("a:1"))
        whole = image_locality.score(cycle.template, Batch(cycle.table), cycle)
        for rows in ([], [7], [5, 0, 3], [7, 6, 5, 4, 3, 2, 1, 0]):
            part = image_locality.score(cycle.template, Batch(cycle.table, np.array(rows, np.intp)), cycle)
            assert part.tolist() == whole[rows].tolist()
