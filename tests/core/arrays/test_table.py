"""The table of nodes: what pods add up to, and what others keep of its arrays."""

from __future__ import annotations

from kubeclassic.core.arrays.batch import Batch
from tests.support.build import engine, node, pod


class TestSums:
    def test_a_new_resource_leaves_nobody_with_old_sums(self) -> None:
        """The batch of all nodes sees a pod that brought a resource which no node had before."""
        made = engine(node("n"), pod("p", on="n", requests={"cpu": "1"}))
        made.warm()
        assert Batch.everywhere(made.table).nonzeros.tolist()[0] == [1000]
        made.assume(pod("q", requests={"cpu": "2", "example.com/new": "1"}), "n")
        made.warm()
        everywhere = Batch.everywhere(made.table)
        assert everywhere.nonzeros.tolist()[0] == [3000]
        assert everywhere.requested("example.com/new").tolist() == [1]
        assert everywhere.pod_count.tolist() == [2]

    def test_sums_wrap_around(self) -> None:
        """More than fits into 64 bits becomes negative, as in Go."""
        most = str((1 << 63) - 1)
        made = engine(node("n"), *(pod(name, on="n", requests={"memory": most}) for name in "ab"))
        made.warm()
        assert Batch.everywhere(made.table).requested("memory").tolist() == [-2]

    def test_a_pod_that_leaves_takes_all_along(self) -> None:
        """What a pod added is taken off again."""
        made = engine(node("n"))
        one = pod("p", on="n", requests={"cpu": "1", "example.com/new": "3"})
        made.cache.add(one)
        made.warm()
        made.cache.remove(one)
        made.warm()
        assert not made.table.sums.any()
