"""Shares of capacity: the quick way, where all is in bounds, and the way for any numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.table import HUGE
from kubeclassic.priorities.shares import capacity_of, free_share, used_share
from tests.support.build import engine, node, pod

REQUESTED = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 1 << 20)
CAPACITY = st.integers(1, HUGE - 1) | st.integers(1, 1 << 20)


def table_of(*cpus):
    """The table of nodes with so much cpu each."""
    return (
        engine(*[node(f"n{number}", cpu=cpu, memory="1Gi") for number, cpu in enumerate(cpus)])
        .begin(pod("p"))
        .table
    )


class TestShares:
    @pytest.mark.parametrize("share", [free_share, used_share])
    @given(
        pairs=st.lists(st.tuples(REQUESTED, CAPACITY), min_size=1, max_size=6),
        scale=st.sampled_from((10, 100)),
    )
    def test_the_quick_way_is_the_long_way(self, share, pairs, scale):
        """Where capacities are proper, both ways say the same of whatever is requested, with one capacity for
        all too."""
        requested, capacity = np.array(pairs, np.int64).T
        assert callable(share)
        for held in (capacity, capacity[:1]):
            whole = np.broadcast_to(held, capacity.shape)
            assert (
                share(requested, held, scale, is_proper=True).tolist()
                == share(requested, whole, scale).tolist()
            )


class TestCapacity:
    def test_nodes_that_are_equal_have_one_capacity(self):
        """Cpu and memory are given once where all nodes have the same, and for each node where one differs."""
        equal = table_of("4", "4")
        assert capacity_of(Batch(equal))[0].tolist() == [[4000], [1 << 30]]
        differing = table_of("4", "2")
        assert capacity_of(Batch(differing))[0].tolist() == [[4000, 2000], [1 << 30] * 2]

    @pytest.mark.parametrize("cpu", ["0", "100000000000000"])
    def test_none_and_too_much_are_not_proper(self, cpu):
        """A node without cpu, or with more than can be multiplied, is divided for with care."""
        table = table_of(cpu, cpu)
        assert not capacity_of(Batch(table))[1]
