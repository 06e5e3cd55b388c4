"""Batches: which pods are equal, the heap of scored nodes, and what a trial leaves of them."""

from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.decision.score import TopOfHeap, places_of_best
from kubeclassic.core.run import Run
from kubeclassic.framework.cycle.batching import _heap, _pop
from kubeclassic.framework.options import Framework
from kubeclassic.framework.schedulerspec import SchedulerSpec
from tests.support.build import node, pod
from tests.support.examples import examples

GROUP = "kubescheduler.config.k8s.io/v1"
SPREAD = {"disabled": [{"name": "PodTopologySpread"}]}
DISK = {"name": "disk", "awsElasticBlockStore": {"volumeID": "disk"}}


def run(release="1.36", plugins=None):
    """A scheduler with nodes of 1 cpu, in a profile that spreads nothing."""
    profile = {"plugins": {"multiPoint": SPREAD} if plugins is None else plugins}
    document = {"apiVersion": GROUP, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    found = Run(SchedulerSpec.of(Framework(release=release, profile=document)).engine())
    for name in "abc":
        found.put(node(name, cpu="1"))
    return found


def feasible(made, one):
    """The nodes that fit *one*, which is then placed."""
    return list(made.cycle(one).feasible or ())


def full(name, **fields):
    """A pod that fills a node."""
    return pod(name, cpu="1", **fields)


@examples(2.0)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_the_top_of_a_heap(totals):
    """Without a heap the node that would be on top of one is found; nodes are popped with their totals in
    order."""
    found = np.array(totals)
    cycle = SimpleNamespace(table=SimpleNamespace(names=[str(place) for place in range(len(totals))]))
    heap = _heap(cycle, np.arange(len(totals)), found)
    best = places_of_best(found)
    assert heap[0][1] == str(best[TopOfHeap.among(best)])
    popped = []
    while heap:
        name, heap = _pop(heap)
        popped.append(totals[int(name)])
    assert popped == sorted(totals, reverse=True)


@pytest.mark.parametrize(
    "other, is_equal",
    [
        ({}, True),
        ({"namespace": "other"}, True),
        ({"priority": 5}, True),
        ({"labels": {"app": "x"}}, False),
        ({"tolerations": [{"operator": "Exists"}]}, False),
        ({"nodeSelector": {}}, False),
        ({"volumes": [DISK]}, False),
        ({"requests": {"example.com/foo": "0"}}, False),
        ({"requests": {"ephemeral-storage": "0"}}, True),
        (yaml.safe_load("{volumes: [{name: config, configMap: {name: one}}]}"), True),
        (yaml.safe_load("{volumes: [{name: room, emptyDir: {}}]}"), False),
        (yaml.safe_load("{volumes: [{name: logs, hostPath: {path: /var/log}}]}"), False),
    ],
)
def test_pods_that_are_equal(other, is_equal):
    """Only a pod with the signature of the pod before it is offered the node that came next."""
    made = run()
    assert len(feasible(made, full("one"))) == 3
    assert len(feasible(made, full("two", **other))) == (1 if is_equal else 2)


@pytest.mark.parametrize(
    "one, two",
    [
        ("hostPath: {path: /a}", "hostPath: {path: /b}"),
        ("hostPath: {path: /a}", "hostPath: {path: /a, type: Directory}"),
        ("emptyDir: {}", "emptyDir: {medium: Memory}"),
        ("emptyDir: {sizeLimit: 1Gi}", "emptyDir: {sizeLimit: 2Gi}"),
        ("nfs: {server: a, path: /}", "nfs: {server: b, path: /}"),
        ("projected: {sources: []}", "configMap: {name: a}"),
    ],
)
def test_sources_of_volumes_that_differ(one, two):
    """The signature has all of a source, also where no rule looks at it."""
    for second, count in ((one, 1), (two, 2)):
        made = run()
        for number, (source, feasible_count) in enumerate([(one, 3), (second, count)]):
            volumes = yaml.safe_load(f"[{{name: v, {source}}}]")
            assert len(feasible(made, full(str(number), volumes=volumes))) == feasible_count


@pytest.mark.parametrize(
    "release, plugins, counts",
    [
        ("1.36", None, [3, 1, 1]),
        ("1.35", None, [3, 1, 1]),
        ("1.34", None, [3, 2, 1]),
        ("1.36", {}, [3, 2, 1]),
    ],
)
def test_profiles_that_batch(release, plugins, counts):
    """From 1.35 on, and not by default: PodTopologySpread has constraints of the system."""
    made = run(release, plugins)
    assert [len(feasible(made, full(name))) for name in ("one", "two", "three")] == counts


def test_a_node_with_room_for_more():
    """While the last node takes another such pod, all nodes are looked at."""
    made = run()
    assert [len(feasible(made, pod(name, cpu="400m"))) for name in ("one", "two")] == [3, 3]


def test_a_pod_between_them():
    """A pod that is tried between two equal ones ends the batch."""
    made = run()
    assert [len(feasible(made, one)) for one in (full("one"), pod("small", cpu="100m"), full("two"))] == [
        3,
        2,
        1,
    ]


def test_trials_leave_nothing():
    """A trial that is taken back does not end a batch, and leaves none."""
    made = run()
    feasible(made, full("one"))
    with made.engine.savepoint():
        made.engine.schedule(full("tried"))
        made.engine.schedule(pod("other"))
    assert len(feasible(made, full("two"))) == 1
