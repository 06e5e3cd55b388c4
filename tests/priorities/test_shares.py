"""Shares of capacity: the quick way, where all is in bounds, and the way for any numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.table import HUGE
from kubeclassic.priorities.balancedresourceallocation import balanced_resource_allocation
from kubeclassic.priorities.leastrequested import least_requested
from kubeclassic.priorities.requestedtocapacityratio import broken_line, requested_to_capacity_ratio_of
from kubeclassic.priorities.rule import capacity_of, free_share, normalize_reduce, used_share
from tests.support.build import engine, node, pod, scored

REQUESTED = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 1 << 20)
CAPACITY = st.integers(1, HUGE - 1) | st.integers(1, 1 << 20)


def table_of(*cpus):
    """The table of nodes with so much cpu each."""
    return (
        engine(*[node(f"n{number}", cpu=cpu, memory="1Gi") for number, cpu in enumerate(cpus)])
        .begin(pod("p"))
        .table
    )


@pytest.mark.parametrize("share", [free_share, used_share])
@given(
    pairs=st.lists(st.tuples(REQUESTED, CAPACITY), min_size=1, max_size=6), scale=st.sampled_from((10, 100))
)
def test_the_quick_way_is_the_long_way(share, pairs, scale):
    """Where capacities are proper, both ways say the same of whatever is requested, with one capacity for
    all too."""
    requested, capacity = np.array(pairs, np.int64).T
    assert callable(share)
    for held in (capacity, capacity[:1]):
        whole = np.broadcast_to(held, capacity.shape)
        assert (
            share(requested, held, scale, is_proper=True).tolist() == share(requested, whole, scale).tolist()
        )


def test_nodes_that_are_equal_have_one_capacity():
    """Cpu and memory are given once where all nodes have the same, and for each node where one differs."""
    equal = table_of("4", "4")
    assert capacity_of(Batch(equal))[0].tolist() == [[4000], [1 << 30]]
    differing = table_of("4", "2")
    assert capacity_of(Batch(differing))[0].tolist() == [[4000, 2000], [1 << 30] * 2]


@pytest.mark.parametrize("cpu", ["0", "100000000000000"])
def test_none_and_too_much_are_not_proper(cpu):
    """A node without cpu, or with more than can be multiplied, is divided for with care."""
    table = table_of(cpu, cpu)
    assert not capacity_of(Batch(table))[1]


# --- LeastRequestedPriority, the emptier the better, and MostRequestedPriority, the fuller the better -------


def test_absent_requests_count_with_defaults():
    """A container without requests counts as 100m and 200Mi; an explicit 0 as 0."""
    small = node("n", cpu="200m", memory="400Mi")
    assert scored(least_requested, pod("p"), small) == {"n": 5}
    assert scored(least_requested, pod("p", requests={"cpu": "0", "memory": "0"}), small) == {"n": 10}


def test_the_cpu_overhead_of_the_incoming_pod_counts_whole_cores():
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


# --- BalancedResourceAllocation: cpu, memory and perhaps volumes used alike ---------------------------------


GATE = {"BalanceAttachedNodeVolumes": True}


def with_volumes(incoming, machine, volumes, **options):
    """Scores after a count predicate left *volumes*: node -> (allocatable, requested)."""
    cycle = engine(machine, **options).begin(incoming)
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


def test_volumes_count_with_the_gate():
    """The third fraction makes the score one minus the variance; without the gate, or without a limit, it
    does not count."""
    incoming = pod("p", requests={"cpu": "1", "memory": "1Gi"})
    machine = node("n", cpu="2", memory="4Gi")
    assert with_volumes(incoming, machine, {"n": (10, 9)}, gates=GATE) == {"n": 9}
    assert with_volumes(incoming, machine, {"n": (10, 9)}) == {"n": 7}
    assert with_volumes(incoming, machine, {"n": (0, 9)}, gates=GATE) == {"n": 7}


def test_nothing_of_a_negative_capacity():
    """Nothing of a capacity that wraps below 0 is a fraction of 0, on its own and beside proper ones."""
    incoming = pod("p", requests={"cpu": "0", "memory": "1Gi"})
    machines = [node("n", cpu=str(2**63 - 1)), node("m")]
    assert scored(balanced_resource_allocation, incoming, *machines) == {"n": 9, "m": 9}


# --- RequestedToCapacityRatioPriority: a curve from utilization to score ------------------------------------


RISING = [(0, 0), (100, 10)]


def test_a_weight_of_zero_counts_as_one():
    """A resource that is named without a weight counts like one of weight 1."""
    machine = node("n", cpu="10", memory="10Gi")
    incoming = pod("p", requests={"cpu": "9", "memory": "1Gi"})
    found = [
        scored(requested_to_capacity_ratio_of("Mine", RISING, {"cpu": w, "memory": 3}), incoming, machine)
        for w in (0, 1)
    ]
    assert found[0] == found[1] == {"n": 3}


def test_a_resource_that_nobody_knows_counts_as_full():
    """A name that the scheduler does not keep has no capacity on any node."""
    rule = requested_to_capacity_ratio_of("Mine", RISING, {"pods": 1})
    assert scored(rule, pod("p"), node("n")) == {"n": 10}


def test_a_falling_line_is_rounded_toward_zero():
    """The way from the left point is rounded toward zero, so that a falling line stays a little higher."""
    assert broken_line([(0, 10), (100, 0)])[[0, 1, 9, 10, 99, 100]].tolist() == [10, 10, 10, 9, 1, 0]


# --- Scaling raw scores to 0 to 10 --------------------------------------------------------------------------


CYCLE = engine(node("a")).begin(pod("p"))
RAW = st.lists(st.integers(0, 2**31), min_size=1, max_size=6)


def scaled(*raw, best=10, reverse=False):
    """The scores as a list; the step looks at nothing but them."""
    step = normalize_reduce(best, reverse=reverse)
    return step(CYCLE.template, np.array(raw, np.int64), Batch(CYCLE.table), CYCLE).tolist()


# --- Normalize reduce ---------------------------------------------------------------------------------------


def test_another_best_score():
    """The best score may be any number."""
    assert scaled(1, 4, best=100) == [25, 100]


def test_no_nodes():
    """Nothing in, nothing out."""
    assert scaled() == []


@given(raw=RAW)
def test_is_what_whole_numbers_give(raw):
    """Ten times the score by the greatest, rounded down."""
    greatest = max(raw)
    wanted = [10 * score // greatest if greatest else 0 for score in raw]
    assert scaled(*raw) == wanted
    assert scaled(*raw, reverse=True) == [10 - score for score in wanted]
