"""The images of nodes in the scheduler's cache; pods and nodes are told to a naive one beside it."""

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from tests.support.build import engine, node


@pytest.fixture(params=RELEASES)
def cache(request):
    """An empty cache of each release."""
    return engine(release=request.param).cache


class TestNodes:
    def test_an_image_is_counted_when_its_node_is_told(self, cache):
        """An image's node count is from the last update of the node; its size is from the first node that had
        it."""
        cache.add_node(node("n", images=[{"names": ["i"], "sizeBytes": 5}]))
        cache.add_node(node("m", images=[{"names": ["i"], "sizeBytes": 9}]))
        assert (cache.infos["n"].images, cache.infos["m"].images) == ({"i": (5, 1)}, {"i": (5, 2)})

    def test_an_image_that_no_node_has_is_forgotten(self, cache):
        """When the last node with an image goes, the next one's size counts."""
        cache.add_node(node("n", images=[{"names": ["i"], "sizeBytes": 5}]))
        cache.remove_node(node("n", images=[{"names": ["i"], "sizeBytes": 5}]))
        cache.add_node(node("m", images=[{"names": ["i"], "sizeBytes": 9}]))
        assert cache.infos["m"].images == {"i": (9, 1)}
