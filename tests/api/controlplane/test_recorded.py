"""The API server's and the controllers' own answers on drawn objects, recorded from the sources of 1.36:
``recorded``, described in its README."""

import gzip
import json
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from kubeclassic.api.controlplane import completion_index, expand
from kubeclassic.api.load import load, load_documents, made_by_workloads, take_in
from kubeclassic.api.meaning import parse_selector, zone_of
from kubeclassic.api.objects import (
    BIND_COMPLETED,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodSpec,
    of_kind,
)
from kubeclassic.api.reading import Document
from kubeclassic.api.reading.decode import decode
from kubeclassic.core.queue.backoff import SECOND
from kubeclassic.exceptions import ManifestError
from kubeclassic.framework.releases import framework_release
from kubeclassic.questions.replay.nodelifecycle import NO_EXECUTE
from kubeclassic.simulation.edits import Edits
from kubeclassic.simulation.evictions import Budgets, DrainFlags
from tests.support.build import node
from tests.support.replaybuild import at, of_event, played, replay, there

FOLDER = Path(__file__).parent / "recorded"
HASHES = {
    "controller-revision-hash",
    "pod-template-generation",
    "pod-template-hash",
    "controller-uid",
    "batch.kubernetes.io/controller-uid",
}
"""Labels with values that are hashes, or UIDs of objects that are made."""
COUNTS = "batch.kubernetes.io/job-index-failure-count"
"""An annotation for controllers alone."""


def recorded(name):
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def loaded_of(documents):
    return load_documents([Document(document, "recorded") for document in documents])


WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "ReplicationController")


# --- Workloads ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WORKLOADS)
def test_pods_and_claims_of_workloads(kind):
    """Each workload gets the pods and claims that its controller makes."""
    different = []
    for number, case in enumerate(case for case in recorded("workloads") if case["kind"] == kind):
        made = made_by_workloads(loaded_of(case["objects"])).objects
        created = [decode(document) for document in case["created"]]
        if traits(kind, made) != traits(kind, created):
            different.append(number)
    assert different == []


def traits(kind, objects):
    """What counts of the pods and claims among *objects*: all but names that are drawn, and hashes."""
    found = Counter()
    for item in objects:
        labels = frozenset(pair for pair in item.labels.items() if pair[0] not in HASHES)
        if isinstance(item, PersistentVolumeClaim):
            found[item.key, labels] += 1
        elif isinstance(item, Pod):
            spec = item.spec
            notes = frozenset(pair for pair in item.annotations.items() if pair[0] != COUNTS)
            volumes = frozenset((volume.name, volume.persistent_volume_claim) for volume in spec.volumes)
            requests = tuple(container.requests for container in spec.containers)
            places = (spec.affinity, spec.node_selector, spec.tolerations, spec.node_name)
            name = item.name if kind == "StatefulSet" else ""
            found[name, item.controller.kind, labels, notes, volumes, requests, places] += 1
    return found


def test_pods_that_fewer_replicas_delete():
    """An edit of a workload's number deletes the pods that its controller deletes, or makes as many."""
    different = []
    for number, case in enumerate(recorded("scaledowns")):
        before = loaded_of(case["objects"])
        (after,), _ = Edits.parse([case["edit"]]).of_loaded([before])
        kept = {pod.name for pod in after.of(Pod)}
        gone = sorted({pod.name for pod in before.of(Pod)} - kept)
        made = len(of_kind(Pod, made_by_workloads(after).objects))
        if (gone, made) != (case["deleted"], case["created"]):
            different.append(number)
    assert different == []


def test_status_of_budgets():
    """A budget without a status gets that of its controller; where this failed, it allows nothing."""
    for number, case in enumerate(recorded("budgets")):
        objects = take_in([loaded_of(case["objects"])], whole=True).objects
        for budget in of_kind(PodDisruptionBudget, objects):
            status = budget.status
            recorded_status = case["budgets"][budget.name]
            found = [status.disruptions_allowed, status.current_healthy, status.desired_healthy]
            assert found[: len(recorded_status)] == recorded_status, (number, budget.name)


# --- Volumes ------------------------------------------------------------------------------------------------


def test_volumes_of_claims():
    """In a replay each claim is bound to the volume that the controller binds to it, or has one made."""
    different = []
    for number, case in enumerate(recorded("volumes")):
        objects = [decode(document) for document in case["objects"]]
        made = replay(*there(node("n0"), *objects), release="1.36", provisioning=0)
        making = sorted(record["claim"] for record in of_event(played(made), "VolumeProvisioned"))
        bound = {
            claim.key: claim.spec.volume_name
            for claim in made.engine.listings.claims
            if claim.key not in making and claim.spec.volume_name and BIND_COMPLETED in claim.annotations
        }
        if (bound, making) != (case["bound"], case["making"]):
            different.append(number)
    assert different == []


# --- Drains -------------------------------------------------------------------------------------------------


def test_drains_and_evictions():
    """kubectl's drain takes the same pods, or refuses for the same reasons; the API server allows the same
    evictions, one after another."""
    for number, case in enumerate(recorded("drains")):
        objects = [decode(document) for document in case["objects"]]
        pods = {pod.key: pod for pod in of_kind(Pod, objects)}
        flags = DrainFlags(
            ignore_daemonsets=case["ignoreDaemonsets"],
            force=case["force"],
            delete_emptydir_data=case["deleteEmptydirData"],
            pod_selector=parse_selector(case["selector"]),
        )
        fates = flags.sort(pods.values())
        assert sorted(pod.key for pod in fates.leaving) == case["leaving"], number
        refusals = (fates.refusal or "").removeprefix("cannot delete ").split("; ")
        assert sorted(filter(None, (text.partition(": ")[0] for text in refusals))) == case["refused"], number
        budgets = Budgets.of(of_kind(PodDisruptionBudget, objects), framework_release("1.36"))
        for key, is_evicted in case["evicted"].items():
            pod = pods[key]
            assert (pod.is_terminating or budgets.blocking(pod) is None) == is_evicted, (number, key)
            if is_evicted and not pod.is_terminating:
                budgets.take(pod)


# --- Over time ----------------------------------------------------------------------------------------------


def test_jobs_whose_pods_finish_or_are_evicted():
    """In a replay a Job has as many pods as its controller gives it, of the same indexes, at the same
    times."""
    different = []
    for number, case in enumerate(recorded("jobs")):
        (job,) = case["objects"]
        big = node("n0", cpu="100", pods="100")
        made = replay(*there(big, *expand([job]).objects), release="1.36", until=case["until"], jobs=[job])
        found = []

        def running(made=made):
            lives = [life for life in made.pods.all.values() if not life.is_leaving]
            return sorted(lives, key=lambda life: (completion_index(life.original), life.arrived))

        def happen(verb, which, made=made, running=running):
            if lives := running():
                life = lives[which % len(lives)]
                made.pods.finish(life) if verb == "finish" else made.pods.evict(life, "x")

        for time, verb, which in case["events"]:
            made.cluster.agenda.put(time * SECOND, partial(happen, verb, which))
        for time in made.run():
            indexes = [completion_index(life.original) for life in running()]
            found.append([time, indexes if max(indexes, default=-1) >= 0 else len(indexes)])
        if states(found) != case["pods"]:
            different.append(number)
    assert different == []


def states(found):
    """The state after each time of *found* at which it changed."""
    last = dict(found)
    changed = []
    for time, state in last.items():
        if not changed or changed[-1][1] != state:
            changed.append([time, state])
    return changed


def test_taints_of_failed_nodes():
    """In a replay nodes of each zone are tainted, and no longer are, at the times at which the controller
    does it."""
    different = []
    for number, case in enumerate(recorded("disruptions")):
        nodes = {item.name: item for item in map(decode, case["objects"])}
        events = [at(time, nodes[name], verb) for time, verb, name in case["events"]]
        made = replay(*there(*nodes.values()), *events, release="1.36", until=case["until"])
        found = []
        tainted = dict.fromkeys(nodes, False)
        for time in made.run():
            for name in nodes:
                current = made.cluster.node(name)
                is_tainted = current is not None and NO_EXECUTE in current.spec.taints
                if current is not None and is_tainted != tainted[name]:
                    found.append([time, zone_of(current.labels), is_tainted])
                tainted[name] = is_tainted
        if sorted(found) != case["changes"]:
            different.append(number)
    assert different == []


# --- Admission ----------------------------------------------------------------------------------------------


def test_admission(tmp_path):
    """A new pod or claim is stored as the API server stores it, and one that it refuses is refused, or
    told."""
    different = []
    for number, case in enumerate(recorded("admission")):
        given = case.get("pod") or case["claim"]
        file = tmp_path / "case.json"
        file.write_text(json.dumps({"kind": "List", "items": [*case["objects"], given]}))
        stored = None
        with suppress(ManifestError):
            loaded = load([file])
            inventory = take_in([loaded], whole=True)
            subject = f"{given['kind']} default/{given['metadata']['name']}"
            is_told = any(
                "would refuse it" in notice.what and notice.subject == subject for notice in loaded.warnings
            )
            if not (is_told or inventory.refused):
                name = given["metadata"]["name"]
                stored = next(item.spec for item in inventory.objects if item.name == name)
        spec = case["stored"]
        wanted = None if spec is None else decode({**given, "spec": spec}).spec
        if preempting(stored) != preempting(wanted):
            different.append(number)
    assert different == []


def test_refusals(tmp_path):
    """New objects of any kind are taken or refused as by the API server."""
    different = []
    file = tmp_path / "case.json"
    for number, case in enumerate(recorded("refusals")):
        file.write_text(json.dumps({"kind": "List", "items": case["objects"]}))
        is_refused = True
        with suppress(ManifestError):
            loaded = load([file])
            inventory = take_in([loaded], whole=True)
            is_told = any("would refuse it" in notice.what for notice in loaded.warnings)
            is_refused = is_told or bool(inventory.refused)
        if is_refused != case["refused"]:
            different.append(number)
    assert different == []


def preempting(spec):
    """*spec* with the policy that it has by default."""
    if not isinstance(spec, PodSpec):
        return spec
    return replace(spec, preemption_policy=spec.preemption_policy or "PreemptLowerPriority")
