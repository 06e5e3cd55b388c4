"""The scheduler's cache: how each event changes a pod's state, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
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


def lying(cache: Cache, node_name: str) -> list[str]:
    """Names of the pods of a node, in the node's own order."""
    info = cache.infos.get(node_name)
    return [] if info is None else [entry.pod.name for entry in info.pods]


def refusal(step: Callable[[Pod], None], given: Pod) -> str:
    """The words with which *step* is refused."""
    with pytest.raises(CacheError) as refused:
        step(given)
    return str(refused.value)


class TestAssume:
    def test_an_unknown_pod_is_on_its_node_at_once(self, cache: Cache) -> None:
        """A pod that is assumed counts on its node before the API says so."""
        cache.assume(on("n"))
        assert (lying(cache, "n"), cache.is_assumed(on("n"))) == (["a"], True)

    def test_a_known_pod_is_refused(self, cache: Cache) -> None:
        """A pod that is assumed or added cannot be assumed."""
        cache.assume(on("n"))
        cache.add(on("n", "b"))
        for name in ("a", "b"):
            assert refusal(cache.assume, on("m", name)) == f"pod u-{name} is in the cache, so can't be assumed"


class TestForget:
    def test_an_assumed_pod_leaves(self, cache: Cache) -> None:
        """A forgotten pod leaves nothing behind."""
        cache.assume(on("n"))
        cache.forget(on("n"))
        assert (lying(cache, "n"), cache.state(on("n")), cache.infos) == ([], None, {})

    def test_from_another_node_it_is_refused(self, cache: Cache) -> None:
        """A pod that is known on another node is not forgotten, whether it is assumed or added."""
        cache.assume(on("n"))
        cache.add(on("n", "b"))
        for name in ("a", "b"):
            assert refusal(cache.forget, on("m", name)) == f"pod u-{name} was assumed on m but assigned to n"

    def test_what_is_not_assumed_is_refused(self, cache: Cache) -> None:
        """A pod that is unknown or added cannot be forgotten."""
        cache.add(on("n", "b"))
        for name in ("a", "b"):
            assert refusal(cache.forget, on("n", name)) == f"pod u-{name} wasn't assumed so cannot be forgotten"


class TestAdd:
    def test_an_unknown_pod(self, cache: Cache) -> None:
        """A bound pod that was not known is on its node, and not assumed."""
        cache.add(on("n"))
        assert (lying(cache, "n"), cache.is_assumed(on("n"))) == (["a"], False)

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

    def test_another_node_wins(self, cache: Cache) -> None:
        """A pod that was assumed on one node and is confirmed on another is moved there."""
        cache.assume(on("n"))
        cache.add(on("m"))
        assert (lying(cache, "n"), lying(cache, "m"), cache.is_assumed(on("m"))) == ([], ["a"], False)

    def test_an_added_pod_is_refused(self, cache: Cache) -> None:
        """A pod is added once."""
        cache.add(on("n"))
        assert refusal(cache.add, on("n")) == "pod u-a was already in added state"


class TestUpdate:
    def test_the_pod_moves_to_the_end(self, cache: Cache) -> None:
        """An update is a removal, which puts the last pod in the place, and an addition at the end."""
        for name in "abc":
            cache.add(on("n", name))
        cache.update(on("n", "a"))
        assert lying(cache, "n") == ["c", "b", "a"]

    def test_what_is_not_added_is_refused(self, cache: Cache) -> None:
        """A pod that is unknown or only assumed cannot be updated."""
        cache.assume(on("n", "b"))
        for name in ("a", "b"):
            assert refusal(cache.update, on("n", name)) == f"pod u-{name} is not added to scheduler cache, so cannot be updated"

    def test_another_node_is_refused(self, cache: Cache) -> None:
        """A bound pod cannot change its node."""
        cache.add(on("n"))
        assert refusal(cache.update, on("m")) == "pod u-a updated on a different node than previously added to"


class TestRemove:
    def test_the_last_pod_takes_the_place(self, cache: Cache) -> None:
        """The last pod of a node's list moves into the place of a removed one."""
        for name in "abc":
            cache.add(on("n", name))
        cache.remove(on("n", "a"))
        assert lying(cache, "n") == ["c", "b"]

    def test_what_is_not_added_is_refused(self, cache: Cache) -> None:
        """A pod that is unknown or only assumed cannot be removed."""
        cache.assume(on("n", "b"))
        for name in ("a", "b"):
            text = f"pod u-{name} is not found in scheduler cache, so cannot be removed from it"
            assert refusal(cache.remove, on("n", name)) == text

    def test_another_node_is_refused(self, cache: Cache) -> None:
        """A pod is removed from the node that it is on."""
        cache.add(on("n"))
        assert refusal(cache.remove, on("m")) == "pod u-a was assumed to be on m but got added to n"


class TestExpiry:
    def test_thirty_seconds_after_the_binding(self, cache: Cache) -> None:
        """An assumed pod goes when more than 30 s passed since its binding finished."""
        cache.assume(on("n"))
        cache.finish_binding(on("n"), 10.0)
        assert (cache.next_expiry(), cache.expire(40.0), lying(cache, "n")) == (40.0, [], ["a"])
        assert [expired.name for expired in cache.expire(40.25)] == ["a"]
        assert (cache.infos, cache.state(on("n")), cache.next_expiry()) == ({}, None, None)

    def test_an_unfinished_binding_never_expires(self, cache: Cache) -> None:
        """An assumed pod whose binding has not finished is kept for ever."""
        cache.assume(on("n"))
        assert (cache.next_expiry(), cache.expire(1e9)) == (None, [])

    def test_a_confirmed_pod_does_not_expire(self, cache: Cache) -> None:
        """A pod that the API confirmed has no deadline any more, and finishing its binding again gives it none."""
        cache.assume(on("n"))
        cache.finish_binding(on("n"), 0.0)
        cache.add(on("n"))
        cache.finish_binding(on("n"), 0.0)
        assert (cache.next_expiry(), cache.expire(1e9)) == (None, [])

    def test_an_expired_pod_may_come_back(self, cache: Cache) -> None:
        """A pod that expired and is confirmed after all is added."""
        cache.assume(on("n"))
        cache.finish_binding(on("n"), 0.0)
        cache.expire(31.0)
        cache.add(on("n"))
        assert (lying(cache, "n"), cache.is_assumed(on("n"))) == (["a"], False)


class TestNodes:
    def test_pods_may_come_before_their_node(self, cache: Cache) -> None:
        """A pod on a node that is not known yet is there when the node comes."""
        cache.add(on("n"))
        assert (cache.node("n"), cache.node_count) == (None, 0)
        cache.add_node(node("n"))
        assert (lying(cache, "n"), cache.node_count) == (["a"], 1)

    def test_pods_stay_behind_when_their_node_goes(self, cache: Cache) -> None:
        """The pods of a deleted node stay, and it is forgotten with the last of them."""
        cache.add_node(node("n"))
        cache.add(on("n"))
        cache.remove_node(node("n"))
        assert (cache.node("n"), lying(cache, "n")) == (None, ["a"])
        cache.remove(on("n"))
        assert cache.infos == {}

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
