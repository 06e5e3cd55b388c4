"""A dump is of a cluster that runs: what is counted does not depend on the order in which its nodes are
read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic import Cluster, Scheduler
from kubeclassic.framework.options import options_of
from tests.support.build import node, pod
from tests.support.examples import examples

MIB = 1 << 20
RELEASES = ("1.12", "1.16", "1.17", "1.22", "1.27", "1.28", "1.34")
WAITING = pod("waits", containers=[{"name": "c", "image": "ham"}])


def holding(name, *images):
    """A node that has these images, of 300 MiB each."""
    return node(name, images=[{"names": [f"{image}:latest"], "sizeBytes": 300 * MIB} for image in images])


def scores(release, nodes, **options):
    """The scores by images of each node."""
    every_node = {"release": release, "percentage_of_nodes_to_score": 100, **options}
    decision = Scheduler(Cluster([*nodes, WAITING]), options_of(every_node)).schedule("waits")
    return next(
        (found for rule, found in decision.priorities.items() if rule.startswith("ImageLocality")), {}
    )


@pytest.mark.parametrize("release", RELEASES)
@given(has=st.lists(st.booleans(), min_size=2, max_size=6), data=st.data())
@examples(0.4)
def test_the_order_of_nodes_does_not_matter(release, has, data):
    """Images count the same whichever node comes first."""
    nodes = [holding(f"n{at}", *(["ham"] if one else [])) for at, one in enumerate(has)]
    assert scores(release, data.draw(st.permutations(nodes))) == scores(release, nodes)


@pytest.mark.parametrize(
    "release, fresh, settled",
    [("1.16", [1, 2], [2, 2]), ("1.28", [12, 28], [28, 28]), ("1.29", [28, 28], [28, 28])],
)
def test_a_scheduler_that_has_just_started(release, fresh, settled):
    """Where it is asked for, a node counts the nodes with its image that came before it, up to 1.28."""
    nodes = [holding("a", "ham"), holding("b", "ham")]
    assert list(scores(release, nodes, fresh_start=True).values()) == fresh
    assert list(scores(release, nodes).values()) == settled
