"""Clusters and traces with more or fewer nodes and pods."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.objects import Node, Pod
from kubeclassic.exceptions import ManifestError
from kubeclassic.simulation.replay.inputs.inputs import read_inputs
from kubeclassic.simulation.scenario import Scenario, read_scenario
from kubeclassic.simulation.sweep.scaling import HOSTNAME, counts, scaled_inputs, scaled_scenario
from tests.conftest import ROOT

EXAMPLE = read_scenario([ROOT / "examples" / "cluster"])
FACTORS = st.floats(0.05, 4)


def bound(scenario: Scenario) -> list[Pod]:
    """The pods with a node."""
    return [item for item in scenario.objects if isinstance(item, Pod)]


@given(st.integers(1, 60), FACTORS)
def test_counts_are_even(number: int, factor: float) -> None:
    """So many times as many in all, and no two differ by more than one."""
    found = counts([str(at) for at in range(number)], factor)
    assert sum(found.values()) == round(number * factor)
    assert max(found.values()) - min(found.values()) <= 1


@given(FACTORS, FACTORS)
def test_a_scaled_cluster_is_whole(nodes: float, pods: float) -> None:
    """Names stay unique, pods on a node have one that is there, hostnames are the nodes' own, and kinds keep their shares."""
    found = scaled_scenario(EXAMPLE, nodes, pods)
    names = [node.name for node in found.nodes]
    assert len(set(names)) == len(names) == round(EXAMPLE.node_count * nodes)
    assert all(pod.spec.node_name in names for pod in bound(found))
    assert all(node.metadata.labels.get(HOSTNAME, node.name) == node.name for node in found.nodes)
    keys = [pod.key for pod in found.pending]
    assert len(set(keys)) == len(keys) == round(len(EXAMPLE.pending) * pods)
    assert {key.split("-copy-")[0] for key in keys} <= {pod.key for pod in EXAMPLE.pending}


def test_events_are_doubled() -> None:
    """A trace with twice the pods and half the nodes has that many, each with its own events."""
    inputs = read_inputs([ROOT / "examples" / "cluster"])
    found = scaled_inputs(inputs, 0.5, 2)
    seen = Counter(type(event.item) for event in found.events)
    before = Counter(type(event.item) for event in inputs.events)
    assert seen[Node] == round(before[Node] / 2)
    waiting = [event.item.key for event in found.events if isinstance(event.item, Pod) and not event.item.spec.node_name]
    assert len(waiting) == len(set(waiting)) == 44


def test_operations_cannot_be_scaled() -> None:
    """A scenario makes its own nodes and pods, so that is refused."""
    inputs = read_inputs([ROOT / "examples" / "day.yaml"])
    with pytest.raises(ManifestError, match=r"^scale: got a scenario of operations, wanted a trace of events or a cluster$"):
        scaled_inputs(inputs, 2, 1)
