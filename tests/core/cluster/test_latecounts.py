"""Numbers of nodes with an image, counted when a node's snapshot is taken: against a naive count at each such
moment."""

import random

import numpy as np
import pytest

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.incremental.verify import verifying
from kubeclassic.core.run import EventFeed
from kubeclassic.framework.flow import laid_out
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, pod

MIB = 1024 * 1024
IMAGES = ("a:1", "b:1", "c:1")


def with_images(name, *images):
    return node(name, images=[{"names": [image], "sizeBytes": 600 * MIB} for image in images])


def wanting(name, *images, **more):
    containers = [{"name": f"c{i}", "image": image} for i, image in enumerate(images)]
    return pod(name, containers=containers, **more)


def scores(release, *nodes, new):
    """The scores of *nodes* for *new*."""
    made = engine_for(release, {})
    EventFeed(made).put_all(nodes)
    ranking = made.schedule(new).details.ranking
    return list(map(int, ranking.by_priority["ImageLocality"]))


@pytest.mark.parametrize("release", ["1.28", "1.29"])
def test_all_nodes_of_the_first_snapshot_count_alike(release):
    """Before it was counted late, the first of two nodes with an image counted itself alone."""
    nodes = (with_images("n0", "a:1"), with_images("n1", "a:1"))
    first, second = scores(release, *nodes, new=wanting("x", "a:1"))
    assert (first == second) is (release == "1.29")


def late_engine(release, *nodes):
    """A scheduler of *release* that knows *nodes*, whose images it counts late."""
    made = engine_for(release, {}, counts_images_late=True)
    EventFeed(made).put_all(nodes)
    return made


def test_nodes_share_the_count_of_an_image():
    """The number of nodes that have it now, with the size that the first of them gave."""
    nodes = [with_images("n0", "a:1"), with_images("n1", "a:1")]
    made = late_engine("1.27", *nodes)
    first, second = map(made.cache.image_states, nodes)
    assert first == second == {"a:1": (600 * MIB, 2)}
    assert first["a:1"] is second["a:1"]
    made.cache.remove_node(nodes[0])
    assert made.cache.image_states(nodes[1]) == {"a:1": (600 * MIB, 1)}


def test_a_list_that_has_a_node_twice_keeps_the_counts_of_the_snapshot():
    """In 1.17 and 1.18 a list may be read on in the middle."""
    made = late_engine("1.18", with_images("n0", "a:1"), with_images("n1", "a:1"))
    made.warm()
    table = laid_out(made.table, np.array([1, 0, 1]), made.cache, keeps_ghosts=False)
    assert table.images == {"a:1": dict.fromkeys(range(3), (600 * MIB, 2))}


@pytest.mark.parametrize("release, score", [("1.29", 28), ("1.30", 14)])
def test_init_containers_share_the_scale(release, score):
    """Until 1.29 they do not count at all; then their images add to the sum, and they to the scale."""
    new = wanting("x", "a:1", initContainers=[{"name": "i", "image": "b:1"}])
    assert scores(release, with_images("n0", "a:1"), node("n1"), new=new) == [score, 0]


class _Naive:
    """Counts by name, and what each node saw when its snapshot was taken last."""

    def __init__(self):
        self.nodes = {}
        self.changed = set()
        self.seen = {}

    def snapshot(self):
        for name in self.changed & self.nodes.keys():
            self.seen[name] = {
                image: sum(image in held for held in self.nodes.values()) for image in self.nodes[name]
            }
        self.changed.clear()


@pytest.mark.parametrize("seed", range(6))
def test_as_counted_naively(seed):
    """Whatever happens to nodes and pods, each row has the counts of the moment of its latest snapshot, on
    all ways to an answer."""
    draw = random.Random(seed)
    made = engine_for("1.29", {})
    naive = _Naive()
    feed = EventFeed(made)
    with verifying():
        for step in range(80):
            name = f"n{draw.randrange(6)}"
            if draw.random() < 0.4 or not naive.nodes:
                naive.nodes[name] = tuple(draw.sample(IMAGES, draw.randrange(4)))
                feed.put(with_images(name, *naive.nodes[name]))
            else:
                name = draw.choice(sorted(naive.nodes))
                feed.put(pod(f"p{step}", on=name))
            naive.changed.add(name)
            if draw.random() < 0.6:
                naive.snapshot()
                cycle = made.begin(wanting(f"x{step}", *IMAGES))
                made.schedule(wanting(f"y{step}", *IMAGES), details=draw.random() < 0.5)
                rows = np.array([cycle.table.row_of[name] for name in naive.nodes], np.intp)
                for image in IMAGES:
                    found = Batch(cycle.table, rows).image(image)[1].tolist()
                    assert found == [naive.seen[name].get(image, 0) for name in naive.nodes]
