"""The images of nodes in the scheduler's cache; pods and nodes are told to a naive one beside it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.algorithmprovider.releases import RELEASES
from kubeclassic.core.cluster.cache import NodeTree, VisitingOrder
from kubeclassic.core.cluster.snapshot import ListOrder
from kubeclassic.core.run import EventFeed
from kubeclassic.simulation.conform import engine_for
from tests.support.build import engine, node, pod
from tests.support.frameworkbuild import scheduler


@pytest.fixture(params=RELEASES)
def cache(request):
    """An empty cache of each release."""
    return engine(release=request.param).cache


def with_image(name, size):
    """A node that has an image."""
    return node(name, images=[{"names": ["i"], "sizeBytes": size}])


def test_an_image_is_counted_when_its_node_is_told(cache):
    """An image's node count is from the last update of the node; its size is from the first node that had
    it."""
    cache.add_node(with_image("n", 5))
    cache.add_node(with_image("m", 9))
    assert (cache.infos["n"].images, cache.infos["m"].images) == ({"i": (5, 1)}, {"i": (5, 2)})


def test_an_image_that_no_node_has_is_forgotten(cache):
    """When the last node with an image goes, the next one's size counts."""
    cache.add_node(with_image("n", 5))
    cache.remove_node(with_image("n", 5))
    cache.add_node(with_image("m", 9))
    assert cache.infos["m"].images == {"i": (9, 1)}


# --- The list of nodes that a search visits, where it is read on from a cursor ------------------------------


ZONE = "topology.kubernetes.io/zone"


def order_of(engine):
    """The order of an engine of the framework."""
    order = engine.flow.order
    assert isinstance(order, ListOrder)
    return order


@pytest.mark.parametrize("release", ["1.17", "1.18"])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_one_that_is_read_anew(release, seed):
    """While nodes come and go, each search visits the nodes that it would if the list were made from
    nothing."""
    rng = random.Random(seed)
    kept = engine_for(release, {})
    anew = engine_for(release, {})
    nodes = [node(f"n{number}", labels={ZONE: rng.choice("abc")}) for number in range(12)]
    there = set()
    for step in range(60):
        changed = rng.choice(nodes) if step > 7 and rng.random() < 0.4 else nodes[step] if step <= 7 else None
        for one in (kept, anew):
            if changed is not None:
                (EventFeed(one).delete if changed.name in there else EventFeed(one).put)(changed)
        if changed is not None:
            there ^= {changed.name}
        order_of(anew)._read_at = None
        found, wanted = (engine.schedule(pod(f"p{step}"), details=False) for engine in (kept, anew))
        assert (found.host, found.error) == (wanted.host, wanted.error)
        names = [
            [engine.table.names[row] for row in order_of(engine).rows().tolist()] for engine in (kept, anew)
        ]
        assert names[0] == names[1]
        assert kept.position == anew.position


# --- The visiting order: zones in turn, and how an added or removed node changes a round --------------------


class WalkedTree(NodeTree):
    """A tree that is walked node by node, as upstream does."""

    def update(self, name, old_zone, new_zone):
        """Move a node to the end of its new zone."""
        if old_zone != new_zone:
            self.remove(name, old_zone)
            self.add(name, new_zone)

    def next(self):
        """The next node to visit; empty if there are none."""
        if not self.zones:
            return ""
        zones = list(self.zones.values())
        exhausted = 0
        while True:
            if self.turn >= len(zones):
                self.turn = 0
            zone = zones[self.turn]
            self.turn += 1
            if zone.cursor < len(zone.names):
                zone.cursor += 1
                return list(zone.names)[zone.cursor - 1]
            exhausted += 1
            if exhausted >= len(zones):
                self.reset()


def passes(tree, count):
    """The next *count* nodes."""
    if isinstance(tree, WalkedTree):
        return [tree.next() for _ in range(count)]
    rest, full = tree.rest_and_round()
    endless = rest + full * (tree.taken // max(len(full), 1) + count + 1)
    taken = endless[tree.taken : tree.taken + count]
    tree.taken += count
    return taken


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.integers(0, 25)),
        st.tuples(st.sampled_from(["add", "remove"]), st.integers(0, 9), st.integers(0, 3)),
        st.tuples(st.just("update"), st.integers(0, 9), st.integers(0, 3), st.integers(0, 3)),
    ),
    max_size=30,
)


@given(STEPS)
def test_is_the_tree_read_off(steps):
    """When nodes are added, removed and moved between passes, the order is that of a tree that is walked."""
    tree = WalkedTree()
    order = VisitingOrder()
    for verb, *arguments in steps:
        if verb == "take":
            count = int(arguments[0]) if len(tree) else 0
            assert passes(order, count) == passes(tree, count)
        else:
            name, *zones = (f"{kind}{value}" for kind, value in zip("nzz", arguments, strict=False))
            for target in (tree, order):
                getattr(target, str(verb))(name, *zones)
    assert len(tree) == len(order)
    assert passes(order, 2 * len(tree)) == passes(tree, 2 * len(tree))


# --- The snapshot: the table follows the cache when a cycle begins, and not before --------------------------


def content(made):
    """Name -> whether the row has a node object, and the names of its pods, as the table has them."""
    table = made.table
    return {
        name: (bool(table.has_node[row]), [entry.pod.name for entry in table.pods[row]])
        for name, row in table.row_of.items()
    }


def refreshed(made):
    """The state after a cycle has begun."""
    made.snapshot.refresh()
    return content(made)


@pytest.mark.parametrize("release", RELEASES)
class TestEveryRelease:
    def test_what_did_not_change_is_not_touched(self, release):
        """The log of changes names the rows of nodes and pods that were told of, and no others."""
        made = engine(node("a"), node("b"), release=release)
        refreshed(made)
        before = made.table.changed.revision
        refreshed(made)
        assert made.table.changed.revision == before
        EventFeed(made).put(pod("p", on="b"))
        refreshed(made)
        rows = made.table.changed.since(before)
        assert rows is not None
        assert [made.table.names[row] for row in rows] == ["b"]

    def test_each_update_of_a_node_counts(self, release):
        """The values of a node before its latest update are not lost if no cycle began in between."""
        made = engine(node("a"), node("b"), release=release)
        refreshed(made)
        EventFeed(made).put(node("a", conditions=[{"type": "DiskPressure", "status": "True"}]))
        EventFeed(made).put(node("a", labels={"x": "y"}))
        refreshed(made)
        row = made.table.row_of["a"]
        assert made.table.pressures.values[made.table.pressures.codes[row]] == ("", "True", "")
        assert made.table.labels["x"].values[made.table.labels["x"].codes[row]] == "y"


def test_a_pod_that_was_there_first_and_left():
    """A pod that was told of before its node, and is gone when the node comes, is on no row."""
    made = scheduler(pod("p", on="a"))
    assert refreshed(made) == {}
    EventFeed(made).put(node("a"))
    EventFeed(made).delete(pod("p", on="a"))
    assert refreshed(made) == {"a": (True, [])}


@pytest.mark.parametrize("release, pods", [("1.17", ["p"]), ("1.18", []), ("1.19", []), ("1.20", ["p"])])
def test_a_pod_that_changes_after_its_node_went(release, pods):
    """In 1.18 and 1.19 it stays forgotten, so that the node comes back without it."""
    made = engine_for(release, {})
    feed = EventFeed(made)
    feed.put_all([node("a"), pod("p", on="a")])
    refreshed(made)
    feed.delete(node("a"))
    feed.put(pod("p", on="a", labels={"changed": "yes"}))
    feed.put(node("a"))
    assert refreshed(made) == {"a": (True, pods)}


def test_the_set_of_nodes_has_a_version():
    """The version of the set of nodes moves when a row is added or removed, not with pods."""
    made = scheduler(node("a"), pod("p", on="a"))
    refreshed(made)
    before = made.snapshot.version
    EventFeed(made).put(pod("q", on="a"))
    refreshed(made)
    assert made.snapshot.version == before
    EventFeed(made).put(node("b"))
    refreshed(made)
    assert made.snapshot.version == before + 1
