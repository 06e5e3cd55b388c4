"""ImageLocalityPriority: nodes that need not pull."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.objects import Node, Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.priorities.imagelocality import MIB, image_locality, normalized_image_name
from tests.reference import imagelocality
from tests.support.build import engine, node, pod, scored
from tests.support.examples import examples


def image(size: int, *names: str) -> dict[str, Any]:
    """An image on a node, *size* in MiB."""
    return {"names": list(names), "sizeBytes": size * MIB}


def of(*images: str, init: Sequence[str] = ()) -> Pod:
    """A pod of these images."""
    containers, inits = ([{"name": f"c{i}", "image": name} for i, name in enumerate(names)] for names in (images, init))
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
    def test_a_name_without_tag_means_latest(self, name: str, wanted: str) -> None:
        """A colon counts as a tag's only behind the last slash."""
        assert normalized_image_name(name) == wanted


class TestImageLocality:
    def test_rows_whose_node_is_gone_count_in_the_total(self) -> None:
        """A pod on a node that was never seen makes one row more in 1.13; later releases do not take it over."""
        objects = node("n", images=[image(900, "a:1")]), pod("old", on="nowhere")
        assert scored(image_locality, of("a:1"), *objects, release="1.13") == {"n": 4}
        assert scored(image_locality, of("a:1"), *objects, release="1.14") == {"n": 8}

    def test_some_rows_are_scored_as_all_are(self) -> None:
        """A batch of few rows, in any order, has the scores of the whole table."""
        nodes = [node(f"n{i}", images=[image(200 * i, "a:1")] if i % 2 else []) for i in range(8)]
        cycle = engine(*nodes).begin(of("a:1"))
        whole = image_locality.score(cycle.template, Batch(cycle.table), cycle)
        for rows in ([], [7], [5, 0, 3], [7, 6, 5, 4, 3, 2, 1, 0]):
            part = image_locality.score(cycle.template, Batch(cycle.table, np.array(rows, np.intp)), cycle)
            assert part.tolist() == whole[rows].tolist()


NAMES = st.sampled_from(["a", "a:1", "a:latest", "b:latest", "reg:5000/b:latest", "c@sha256:1"])
WANTED = st.lists(st.sampled_from(["a", "a:1", "b", "reg:5000/b", "c@sha256:1", "d"]), max_size=3)
IMAGES = st.lists(st.builds(lambda names, size: image(size, *names), st.lists(NAMES, max_size=2), st.integers(0, 1500)), max_size=4)


@st.composite
def clusters(draw: st.DrawFn) -> list[Node]:
    """Up to five nodes with some images each; two nodes may report different sizes for one name."""
    return [node(f"n{i}", images=images) for i, images in enumerate(draw(st.lists(IMAGES, min_size=1, max_size=5)))]


@examples(0.8)
@given(nodes=clusters(), images=WANTED, init=WANTED)
def test_is_what_loops_find(nodes: list[Node], images: list[str], init: list[str]) -> None:
    """On random clusters every score is that of plain loops over nodes, images and containers; init containers do not count."""
    assert scored(image_locality, of(*images, init=init), *nodes) == imagelocality.image_locality(of(*images), nodes)
