"""The disruptions that budgets allow."""

import pytest
import yaml

from kubeclassic.api.controlplane import with_budgets, with_disruptions
from tests.support.build import manifest, obj, pod

READY = [("a", "True"), ("a", "True"), ("a", "False"), ("", None)]
"""The pods of a budget: their node, and their condition Ready."""


def pods(given=READY, **status):
    """Pods with the label app=web."""
    return [
        pod(
            f"p{at}",
            on=node,
            labels={"app": "web"},
            status={**status, "conditions": [{"type": "Ready", "status": ready}] if ready else []},
        )
        for at, (node, ready) in enumerate(given)
    ]


def budget(text, **status):
    spec = {"selector": {"matchLabels": {"app": "web"}}, **yaml.safe_load(text)}
    return obj(manifest("PodDisruptionBudget", "b", namespace="default", spec=spec, status=status))


@pytest.mark.parametrize(
    "text, desired, allowed",
    [
        ("minAvailable: 1", 1, 1),
        ("minAvailable: 3", 3, 0),
        ("maxUnavailable: 3", 1, 1),
        ("maxUnavailable: 50%", 2, 0),
        ("{}", 4, 0),
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
