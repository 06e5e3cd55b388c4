"""MostRequestedPriority: the fuller the better."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.objects import Pod
from kubeclassic.priorities.mostrequested import most_requested
from tests.reference import resourcescoring
from tests.support.build import node, pod, scored
from tests.support.examples import examples
from tests.support.scoring import RELEASES, Cluster, clusters, objects, pods


class TestMostRequested:
    def test_is_the_mean_of_the_used_shares(self) -> None:
        """Half the cpu and a quarter of the memory used: 5 and 2 tenths, together 3."""
        incoming = pod("p", requests={"cpu": "2", "memory": "8Gi"})
        assert scored(most_requested, incoming, node("n", cpu="4", memory="32Gi")) == {"n": 3}

    def test_a_full_node_is_best(self) -> None:
        """Requests that fill the node exactly score 10; one millicore more loses the cpu's share."""
        incoming = pod("p", requests={"cpu": "1", "memory": "1Gi"})
        found = scored(most_requested, incoming, node("exact", cpu="1", memory="1Gi"), node("over", cpu="999m", memory="1Gi"))
        assert found == {"exact": 10, "over": 5}

    @examples(0.5)
    @given(cluster=clusters(), incoming=pods("p"), release=st.sampled_from(RELEASES))
    def test_is_what_a_loop_over_nodes_finds(self, cluster: Cluster, incoming: Pod, release: str) -> None:
        """On random clusters every score is that of the plain loop."""
        inits = release == "1.16"
        wanted = {made.name: resourcescoring.most_requested(incoming, made, existing, inits) for made, existing in cluster}
        assert scored(most_requested, incoming, *objects(cluster), release=release) == wanted
