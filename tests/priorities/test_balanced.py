"""BalancedResourceAllocation: cpu, memory and perhaps volumes used alike."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.objects import KubeObject, Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.priorities.balanced import balanced_resource_allocation
from tests.reference import resourcescoring
from tests.support.build import engine, node, pod, scored
from tests.support.examples import examples
from tests.support.scoring import RELEASES, Cluster, clusters, objects, pods

GATE = {"BalanceAttachedNodeVolumes": True}


def with_volumes(incoming: Pod, objects: list[KubeObject], volumes: dict[str, tuple[int, int]], **options: object) -> dict[str, int]:
    """Scores after a count predicate left *volumes*: node -> (allocatable, requested)."""
    cycle = engine(*objects, **options).begin(incoming)
    nodes = Batch(cycle.table)
    for name, (allocatable, requested) in volumes.items():
        nodes.set_transient(cycle.table.row_of[name], allocatable, requested)
    return dict(zip(cycle.table.names, balanced_resource_allocation.score(cycle.template, nodes, cycle).tolist(), strict=True))


class TestBalancedResourceAllocation:
    def test_volumes_count_with_the_gate(self) -> None:
        """The third fraction makes the score one minus the variance; without the gate, or without a limit, it does not count."""
        incoming, machine = pod("p", requests={"cpu": "1", "memory": "1Gi"}), node("n", cpu="2", memory="4Gi")
        assert with_volumes(incoming, [machine], {"n": (10, 9)}, gates=GATE) == {"n": 9}
        assert with_volumes(incoming, [machine], {"n": (10, 9)}) == {"n": 7}
        assert with_volumes(incoming, [machine], {"n": (0, 9)}, gates=GATE) == {"n": 7}

    @examples(0.5)
    @given(cluster=clusters(), incoming=pods("p"), release=st.sampled_from(RELEASES))
    def test_is_what_a_loop_over_nodes_finds(self, cluster: Cluster, incoming: Pod, release: str) -> None:
        """On random clusters every score is that of the plain loop."""
        inits = release == "1.16"
        wanted = {made.name: resourcescoring.balanced(incoming, made, existing, inits) for made, existing in cluster}
        assert scored(balanced_resource_allocation, incoming, *objects(cluster), release=release) == wanted

    @examples(0.5)
    @given(cluster=clusters(), incoming=pods("p"), volumes=st.lists(st.tuples(st.integers(-1, 7), st.integers(0, 7)), min_size=3))
    def test_is_what_a_loop_finds_with_volumes(self, cluster: Cluster, incoming: Pod, volumes: list[tuple[int, int]]) -> None:
        """With the gate too, whatever the count predicates left behind."""
        left = {made.name: pair for (made, _), pair in zip(cluster, volumes, strict=False)}
        wanted = {made.name: resourcescoring.balanced(incoming, made, existing, True, left[made.name]) for made, existing in cluster}
        assert with_volumes(incoming, [*objects(cluster)], left, gates=GATE) == wanted
