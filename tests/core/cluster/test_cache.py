"""The scheduler's cache: how each event changes a pod's state, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.api.objects import Pod
from kubeclassic.core.cluster.cache import Cache
from kubeclassic.exceptions import CacheError
from tests.support.build import engine, node, pod


@pytest.fixture(params=RELEASES)
def cache(request: pytest.FixtureRequest) -> Cache:
    """An empty cache of each release."""
    return engine(release=request.param).cache


def on(node_name: str, name: str = "a", **more: Any) -> Pod:
    """Pod *name* on a node."""
    return pod(name, on=node_name, metadata={"uid": f"u-{name}"}, **more)


class TestAdd:
    def test_the_assumed_object_stays_until_the_next_update(self, cache: Cache) -> None:
        """Confirmed on the node that was assumed, the assumed object stays on it until the next update."""
        cache.assume(on("n"))
        confirmed = on("n", labels={"x": "y"})
        cache.add(confirmed)
        state = cache.state(confirmed)
        assert state is not None
        assert state.pod is confirmed
        assert cache.infos["n"].pods[0].pod.labels == {}
        cache.update(confirmed)
        assert cache.infos["n"].pods[0].pod.labels == {"x": "y"}


class TestNodes:
    def test_an_unknown_node_is_refused(self, cache: Cache) -> None:
        """A node that is not known cannot be removed."""
        with pytest.raises(CacheError, match="node n is not found"):
            cache.remove_node(node("n"))

    def test_an_image_is_counted_when_its_node_is_told(self, cache: Cache) -> None:
        """An image's node count is from the last update of the node; its size is from the first node that had it."""
        cache.add_node(node("n", images=[{"names": ["i"], "sizeBytes": 5}]))
        cache.add_node(node("m", images=[{"names": ["i"], "sizeBytes": 9}]))
        assert (cache.infos["n"].images, cache.infos["m"].images) == ({"i": (5, 1)}, {"i": (5, 2)})

    def test_an_image_that_no_node_has_is_forgotten(self, cache: Cache) -> None:
        """When the last node with an image goes, the next one's size counts."""
        cache.add_node(node("n", images=[{"names": ["i"], "sizeBytes": 5}]))
        cache.remove_node(node("n", images=[{"names": ["i"], "sizeBytes": 5}]))
        cache.add_node(node("m", images=[{"names": ["i"], "sizeBytes": 9}]))
        assert cache.infos["m"].images == {"i": (9, 1)}
