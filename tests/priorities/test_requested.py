"""LeastRequestedPriority, the emptier the better, and MostRequestedPriority, the fuller the better."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.objects import Pod
from kubeclassic.core.rule import Priority
from kubeclassic.priorities.leastrequested import least_requested
from kubeclassic.priorities.mostrequested import most_requested
from tests.reference import resourcescoring
from tests.support.build import engine, node, pod, scored
from tests.support.examples import examples
from tests.support.scoring import RELEASES, Cluster, clusters, objects, pods


class TestLeastRequested:
    def test_is_the_mean_of_the_free_shares(self) -> None:
        """Half the cpu and three quarters of the memory free: 5 and 7 tenths, together 6."""
        incoming = pod("p", requests={"cpu": "2", "memory": "8Gi"})
        assert scored(least_requested, incoming, node("n", cpu="4", memory="32Gi")) == {"n": 6}

    def test_more_than_there_is_scores_zero(self) -> None:
        """A resource that is exceeded, or that the node has none of, gives 0; the other still counts."""
        incoming = pod("p", requests={"cpu": "2", "memory": "0"})
        found = scored(least_requested, incoming, node("exceeded", cpu="1"), node("none", cpu="0"), node("exact", cpu="2"))
        assert found == {"exceeded": 5, "none": 5, "exact": 5}

    def test_absent_requests_count_with_defaults(self) -> None:
        """A container without requests counts as 100m and 200Mi; an explicit 0 as 0."""
        small = node("n", cpu="200m", memory="400Mi")
        assert scored(least_requested, pod("p"), small) == {"n": 5}
        assert scored(least_requested, pod("p", requests={"cpu": "0", "memory": "0"}), small) == {"n": 10}

    @pytest.mark.parametrize(("release", "score"), [("1.12", 7), ("1.15", 7), ("1.16", 6)])
    def test_init_containers_count_from_1_16_on(self, release: str, score: int) -> None:
        """A large init container lowers the score in 1.16 only."""
        init = [{"name": "i", "resources": {"requests": {"cpu": "2", "memory": "0"}}}]
        incoming = pod("p", requests={"cpu": "1", "memory": "16Gi"}, initContainers=init)
        assert scored(least_requested, incoming, node("n", cpu="4", memory="80Gi"), release=release) == {"n": score}

    def test_the_cpu_overhead_of_the_incoming_pod_counts_whole_cores(self) -> None:
        """With gate PodOverhead 250m of overhead add one millicore, not 250."""
        incoming, machine = pod("p", requests={"cpu": "500m", "memory": "1Gi"}, overhead={"cpu": "250m"}), node("n", cpu="1", memory="10Gi")
        assert scored(least_requested, incoming, machine) == {"n": 7}
        assert scored(least_requested, incoming, machine, gates={"PodOverhead": True}) == {"n": 6}


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


@pytest.mark.parametrize("rule", [least_requested, most_requested], ids=["least", "most"])
@examples(0.5)
@given(cluster=clusters(), incoming=pods("p"), release=st.sampled_from(RELEASES))
def test_is_what_a_loop_over_nodes_finds(rule: Priority, cluster: Cluster, incoming: Pod, release: str) -> None:
    """On random clusters every score is that of the plain loop."""
    plain = resourcescoring.least_requested if rule is least_requested else resourcescoring.most_requested
    wanted = {made.name: plain(incoming, made, existing, release == "1.16") for made, existing in cluster}
    assert scored(rule, incoming, *objects(cluster), release=release) == wanted


def test_pods_that_request_the_same_share_scores() -> None:
    """The key holds the requests with defaults and nothing else."""
    begin = engine(node("n")).begin
    pairs = [({}, "a"), ({"cpu": "100m", "memory": "200Mi"}, "b"), ({"cpu": "101m"}, "a")]
    keys = [least_requested.key(begin(pod("p", requests=requests, labels={"x": label})).template) for requests, label in pairs]
    assert keys[0] == keys[1] != keys[2]
