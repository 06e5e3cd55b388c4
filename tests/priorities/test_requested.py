"""LeastRequestedPriority, the emptier the better, and MostRequestedPriority, the fuller the better."""

from kubeclassic.priorities.leastrequested import least_requested
from tests.support.build import engine, node, pod, scored


class TestLeastRequested:
    def test_absent_requests_count_with_defaults(self):
        """A container without requests counts as 100m and 200Mi; an explicit 0 as 0."""
        small = node("n", cpu="200m", memory="400Mi")
        assert scored(least_requested, pod("p"), small) == {"n": 5}
        assert scored(least_requested, pod("p", requests={"cpu": "0", "memory": "0"}), small) == {"n": 10}

    def test_the_cpu_overhead_of_the_incoming_pod_counts_whole_cores(self):
        """With gate PodOverhead 250m of overhead add one millicore, not 250."""
        incoming = pod("p", requests={"cpu": "500m", "memory": "1Gi"}, overhead={"cpu": "250m"})
        machine = node("n", cpu="1", memory="10Gi")
        assert scored(least_requested, incoming, machine) == {"n": 7}
        assert scored(least_requested, incoming, machine, gates={"PodOverhead": True}) == {"n": 6}


def test_pods_that_request_the_same_share_scores():
    """The key holds the requests with defaults and nothing else."""
    begin = engine(node("n")).begin
    pairs = [({}, "a"), ({"cpu": "100m", "memory": "200Mi"}, "b"), ({"cpu": "101m"}, "a")]
    keys = [
        least_requested.key(begin(pod("p", requests=requests, labels={"x": label})).template)
        for requests, label in pairs
    ]
    assert keys[0] == keys[1] != keys[2]
