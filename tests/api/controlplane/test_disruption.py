"""The disruptions that budgets allow."""

import pytest
import yaml
from msgspec.structs import replace

from kubeclassic.api.controlplane import scales_of, with_budgets, with_disruptions
from kubeclassic.api.objects import Map
from tests.support.build import manifest, obj, owned_by, pod

READY = [("a", "True"), ("a", "True"), ("a", "False"), ("", None)]
"""The pods of a budget: their node, and their condition Ready."""


def pods(given=READY, kind="ReplicaSet", deleted=0, **status):
    """Pods with the label app=web, of a controller; the first *deleted* ones are being deleted."""
    gone = {"deletionTimestamp": "2024-01-01T00:00:00Z"}
    return [
        pod(
            f"p{at}",
            on=node,
            labels={"app": "web"},
            metadata={**(owned_by(kind) if kind else {}), **(gone if at < deleted else {})},
            status={**status, "conditions": [{"type": "Ready", "status": ready}] if ready else []},
        )
        for at, (node, ready) in enumerate(given)
    ]


def budget(text, selector=None, **status):
    spec = {"selector": selector or {"matchLabels": {"app": "web"}}, **yaml.safe_load(text)}
    return obj(manifest("PodDisruptionBudget", "b", namespace="default", spec=spec, status=status))


@pytest.mark.parametrize(
    "text, desired, allowed",
    [
        ("minAvailable: 1", 1, 1),
        ("minAvailable: 3", 3, 0),
        ("maxUnavailable: 3", 1, 1),
        ("maxUnavailable: 50%", 2, 0),
        ("{}", 0, 0),
    ],
)
def test_what_the_spec_allows(text, desired, allowed):
    """Of four pods two are healthy: of the others one is not ready, and one has no node."""
    status = with_disruptions(budget(text), pods()).status
    assert (status.current_healthy, status.desired_healthy, status.disruptions_allowed) == (
        2,
        desired,
        allowed,
    )


@pytest.mark.parametrize("text", ["maxUnavailable: 1", "minAvailable: 50%", "minAvailable: 2"])
@pytest.mark.parametrize(
    "kind, deleted, allowed",
    [("ReplicaSet", 1, [1, 1, 1]), ("StatefulSet", 1, [0, 1, 1]), ("Job", 0, [0, 0, 2]), ("", 0, [0, 0, 2])],
)
def test_the_replicas_of_controllers(text, kind, deleted, allowed):
    """Shares, and what may be unavailable, are of the replicas that controllers ask for; where there are no such
    numbers, nothing is allowed."""
    ready = pods([("a", "True")] * 4, kind, deleted)
    index = ["maxUnavailable: 1", "minAvailable: 50%", "minAvailable: 2"].index(text)
    assert with_disruptions(budget(text), ready).disruptions_allowed == allowed[index]


def test_pods_that_have_yet_to_start():
    """A pod that is on its node and has no condition yet is not healthy."""
    counted = [
        with_disruptions(budget("minAvailable: 1"), pods([("a", None)], phase=phase)).status.current_healthy
        for phase in ("Pending", "Running")
    ]
    assert counted == [0, 1]


def test_finished_pods_are_none():
    """Pods that have finished are neither expected nor healthy."""
    status = with_disruptions(budget("maxUnavailable: 1"), pods(phase="Succeeded")).status
    assert (status.current_healthy, status.desired_healthy) == (0, 0)


def test_a_status_stays():
    """Only a budget without a status gets one, by all pods of the cluster."""
    bare = budget("minAvailable: 1")
    written = budget("minAvailable: 1", disruptionsAllowed=0)
    given, kept = with_budgets([bare, written], pods())
    assert (given.disruptions_allowed, kept) == (1, written)


@pytest.mark.parametrize("replicas, desired", [(None, 3), (6, 5)])
def test_a_part_of_a_controller(replicas, desired):
    """All replicas of a controller count, as its manifest has them, if only some of its pods are selected."""
    owner = owned_by("Deployment", "d", "")
    manifests = [
        manifest("Deployment", "d", namespace="default", spec={"replicas": replicas}),
        manifest("ReplicaSet", "o", namespace="default", metadata=owner, spec={"replicas": 2}),
    ]
    one = budget("maxUnavailable: 1", selector={"matchLabels": {"part": "a"}})
    own = pods([("a", "True")] * 4)
    first = replace(own[0], metadata=replace(own[0].metadata, labels=Map(part="a")))
    scales = scales_of(manifests if replicas else [])
    status = with_disruptions(one, [first, *own[1:]], scales).status
    assert (status.current_healthy, status.desired_healthy, status.disruptions_allowed) == (1, desired, 0)


def test_a_finished_pod_of_a_job():
    """No disruption is allowed while a selected pod's controller has no replicas, even if the pod has
    finished."""
    done = pods([("a", "False")], "Job", phase="Succeeded")
    assert (
        with_disruptions(budget("maxUnavailable: 1"), [*pods([("a", "True")]), *done]).disruptions_allowed
        == 0
    )
