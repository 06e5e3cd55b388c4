"""The visiting order: zones in turn, and how an added or removed node changes a round."""

from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.cluster.cache import NodeTree, VisitingOrder


class WalkedTree(NodeTree):
    """A tree that is walked node by node, as upstream does."""

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
                return zone.names[zone.cursor - 1]
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
    tree.take(count)
    return taken


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.integers(0, 25)),
        st.tuples(st.sampled_from(["add", "remove"]), st.integers(0, 9), st.integers(0, 3)),
        st.tuples(st.just("update"), st.integers(0, 9), st.integers(0, 3), st.integers(0, 3)),
    ),
    max_size=30,
)


class TestVisitingOrder:
    @given(STEPS)
    def test_is_the_tree_read_off(self, steps):
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
