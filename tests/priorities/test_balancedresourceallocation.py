"""BalancedResourceAllocation: cpu, memory and perhaps volumes used alike."""

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.priorities.balancedresourceallocation import balanced_resource_allocation
from tests.support.build import engine, node, pod

GATE = {"BalanceAttachedNodeVolumes": True}


def with_volumes(incoming, objects, volumes, **options):
    """Scores after a count predicate left *volumes*: node -> (allocatable, requested)."""
    cycle = engine(*objects, **options).begin(incoming)
    nodes = Batch(cycle.table)
    for name, (allocatable, requested) in volumes.items():
        nodes.set_transient(cycle.table.row_of[name], allocatable, requested)
    return dict(
        zip(
            cycle.table.names,
            balanced_resource_allocation.score(cycle.template, nodes, cycle).tolist(),
            strict=True,
        )
    )


class TestBalancedResourceAllocation:
    def test_volumes_count_with_the_gate(self):
        """The third fraction makes the score one minus the variance; without the gate, or without a limit, it
        does not count."""
        incoming = pod("p", requests={"cpu": "1", "memory": "1Gi"})
        machine = node("n", cpu="2", memory="4Gi")
        assert with_volumes(incoming, [machine], {"n": (10, 9)}, gates=GATE) == {"n": 9}
        assert with_volumes(incoming, [machine], {"n": (10, 9)}) == {"n": 7}
        assert with_volumes(incoming, [machine], {"n": (0, 9)}, gates=GATE) == {"n": 7}
