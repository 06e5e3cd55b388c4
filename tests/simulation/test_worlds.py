"""Whole control planes on drawn manifests: API server, controllers and scheduler of 1.15.5, 1.19.1, 1.28.7,
1.35.6 and 1.36.3, recorded in ``worlds.jsonl.gz``. A line has the ``release``, the ``manifests``, those
``refused``, by kind and name, and the ``cluster`` once nothing changed any more, without kubelets; ``in_order``:
pods came in the order of their names, for one worker. Left out is a world in which 1.28.7 preempts otherwise
than the 1.28.14 that 1.28 stands for."""

import gzip
import json
from collections import Counter
from copy import deepcopy
from pathlib import Path

import pytest

import kubeclassic
from kubeclassic.options import SimulationOptions
from kubeclassic.questions.asking import cluster_input
from kubeclassic.simulation.simulate import Simulation

with gzip.open(Path(__file__).parent / "worlds.jsonl.gz", "rt") as file:
    WORLDS = [json.loads(line) for line in file]


def of_kind(items, kind):
    return [item for item in items if item["kind"] == kind]


def message(pod):
    """The scheduler's reason why *pod* waits."""
    conditions = pod["status"].get("conditions", ())
    return next(item.get("message") for item in conditions if item["type"] == "PodScheduled")


@pytest.fixture(params=["1.15", "1.19", "1.28", "1.35", "1.36"])
def worlds(request):
    """The worlds of a release."""
    return [world for world in WORLDS if world["release"] == request.param]


def test_pods_that_wait(worlds):
    """The pods without a node are those of the cluster, no more and no less, and wait for its reasons; a gated
    one has no reason of a scheduler."""
    for world in worlds:
        waiting = {
            f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": message(pod)
            for pod in of_kind(world["cluster"], "Pod")
            if not (pod["spec"].get("nodeName") or pod["spec"].get("schedulingGates"))
        }
        answer = kubeclassic.simulate(world["cluster"], world["release"])
        assert {pod.pod: pod.error for pod in answer.document.pods if pod.outcome != "gated"} == waiting


@pytest.mark.parametrize("world", [world for world in WORLDS if world.get("in_order")])
def test_hosts_and_devices(world):
    """Without what the scheduler did, it does the same again: nodes of pods, devices of claims."""
    undecided, placed, given = [], {}, {}
    for item in deepcopy(world["cluster"]):
        key = f"{item['metadata'].get('namespace')}/{item['metadata']['name']}"
        if item["kind"] == "Pod":
            placed[key] = item["spec"].pop("nodeName", None)
            item["status"] = {"resourceClaimStatuses": item["status"].get("resourceClaimStatuses", [])}
        if item["kind"] == "VolumeAttachment" or "-extended-resources-" in key:
            continue
        if item["kind"] == "ResourceClaim":
            devices = item.pop("status", {}).get("allocation", {}).get("devices", {})
            given[key] = [result["device"] for result in devices.get("results", ())]
        undecided.append(item)
    inputs = cluster_input(undecided, SimulationOptions(scheduler=world["release"], order="queue"))
    outcomes = Simulation(inputs.scenario, inputs.engine, inputs.order).finish()
    assert {key: outcome.host for key, outcome in outcomes.items()} == placed
    claims = inputs.engine.listings.resource_claims
    for key, devices in given.items():
        found = claims.get(key).status.allocation
        assert [result.device for result in (found.results if found else ())] == devices


def test_pods_of_manifests(worlds):
    """Workloads have as many pods as their controllers made. Left out: what is refused, quotas, which workloads
    use up in any order, and StatefulSets whose pods wait for each other."""
    for world in worlds:
        manifests = [
            item
            for item in world["manifests"]
            if [item["kind"], item["metadata"]["name"]] not in world["refused"]
        ]
        ordered = {
            item["metadata"]["name"]
            for item in of_kind(manifests, "StatefulSet")
            if item["spec"].get("podManagementPolicy") != "Parallel"
        }
        if of_kind(manifests, "ResourceQuota"):
            continue
        answer = kubeclassic.simulate(manifests, world["release"])
        made = Counter(pod.name.partition("-")[0] for pod in answer.document.pods)
        real = Counter(pod["metadata"]["labels"]["w"] for pod in of_kind(world["cluster"], "Pod"))
        assert {
            name: made[name] - real[name] for name in made | real if name not in ordered
        } == dict.fromkeys((made | real).keys() - ordered, 0)


def test_manifests_that_are_refused(worlds):
    """Each refused manifest, or one of its pods, is named in a warning. Left out: quotas, and CronJobs, which
    make no pods here."""
    for world in worlds:
        if of_kind(world["manifests"], "ResourceQuota"):
            continue
        answer = kubeclassic.simulate(world["manifests"], world["release"])
        warnings = [str(warning) for warning in answer.document.warnings if "refuse" in str(warning)]
        for kind, name in world["refused"]:
            named = (warning for warning in warnings if f"/{name}" in warning or f"{kind} {name}" in warning)
            assert kind == "CronJob" or next(named, None)
