"""HostName: the node that a pod names."""

from __future__ import annotations

from kubeclassic.predicates.hostname import pod_fits_host
from tests.support.build import ask, node, pod

REASON = "node(s) didn't match the requested hostname"


class TestHostName:
    def test_only_the_named_node_fits(self) -> None:
        """A pod with a nodeName fits that node and no other."""
        assert ask(pod_fits_host, pod("p", on="m"), node("n"), node("m")) == {"n": [REASON], "m": []}

    def test_without_a_name_every_node_fits(self) -> None:
        """A pod without nodeName has nothing against any node."""
        assert ask(pod_fits_host, pod("p"), node("n"), node("m")) == {"n": [], "m": []}

    def test_a_name_that_no_node_has(self) -> None:
        """A pod that names a node that is not there fits none."""
        assert ask(pod_fits_host, pod("p", on="gone"), node("n")) == {"n": [REASON]}
