"""The evicted pods that come back, and their names."""

import pytest
from msgspec.structs import replace

from kubeclassic import simulate
from kubeclassic.api.controlplane import claims_of_volumes, with_device_claims
from kubeclassic.api.objects import Pod, ResourceClaimConsumerReference
from kubeclassic.simulation.evictions import Replacements, claims_left_by, made_new
from kubeclassic.simulation.nodesbyuse import NodeUses, summarise
from kubeclassic.simulation.simulate import Simulation
from tests.support.build import engine, node, obj, owned_by, pod, scenario
from tests.support.drainbuild import with_devices
from tests.support.manifests import manifest


def owned(name, kind, owner, **more):
    """A pod whose controller is *kind* *owner*."""
    return pod(name, uid=f"uid-of-{name}", metadata=owned_by(kind, owner), **more)


def simulation(*objects):
    """A simulation in which owners replace evicted pods."""
    made = Simulation(scenario(*objects), engine())
    made.replacements = Replacements.beside(item for item in objects if isinstance(item, Pod))
    return made


# --- Replacements -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController", "Job", "DaemonSet", "Workflow"])
def test_the_first_free_number(kind):
    """A replacement is called after its owner, with the first number that no pod has, evicted ones
    included."""
    old = owned("web-1", kind, "web", on="a")
    made = Replacements.beside([old, pod("web-0")])
    assert [found.name for found in (made.of(old), made.of(old)) if found] == ["web-2", "web-3"]


def test_it_is_new():
    """A replacement has neither node nor nomination nor times, and the labels and spec of the old pod; a
    StatefulSet's has its name, too."""
    status = {"nominatedNodeName": "a", "startTime": "2020-01-01T00:00:00Z", "phase": "Running"}
    old = owned(
        "web-0", "StatefulSet", "web", on="a", status=status, labels={"app": "web"}, requests={"cpu": 1}
    )
    made = Replacements.beside([old]).of(old)
    assert (made.spec.node_name, made.status.nominated_node_name, made.status.start_time) == ("", "", None)
    assert (made.labels, made.spec.containers) == (old.labels, old.spec.containers)
    assert (made.key, made.uid != old.uid) == (old.key, True)


def test_who_does_not_come_back():
    """A bare pod and a static pod do not, nor does one that another scheduler would place."""
    made = Replacements(set(), frozenset(["default-scheduler"]))
    assert made.of(pod("bare", on="a")) is None
    assert made.of(owned("static-a", "Node", "a", on="a")) is None
    assert made.of(owned("other-0", "Job", "other", on="a", schedulerName="mine")) is None


# --- Claims to devices --------------------------------------------------------------------------------------


def test_a_claim_that_others_use_stays():
    """A claim that was made for a pod goes with it, unless another pod uses it, too."""
    *_, claim, infer = with_devices()
    more = (ResourceClaimConsumerReference(resource="pods", name="b", uid="b"),)
    shared = replace(claim, status=replace(claim.status, reserved_for=(*claim.status.reserved_for, *more)))
    assert list(claims_left_by(infer, [claim])) == [(claim, None)]
    ((_, after),) = claims_left_by(infer, [shared])
    assert (after.status.reserved_for, after.status.allocation) == (more, claim.status.allocation)


def test_a_claim_that_is_there_is_not_made_again():
    """A pending pod whose status lacks the name of the claim that was made for it uses that claim."""
    *others, claim, infer = with_devices()
    waiting = made_new(infer, "infer", infer.uid)
    annotations = {"resource.kubernetes.io/pod-claim-name": "gpu"}
    metadata = replace(claim.metadata, name="infer-gpu-x7k", annotations=annotations)
    *_, pod_there = with_device_claims([*others, replace(claim, metadata=metadata), waiting])
    assert [status.resource_claim_name for status in pod_there.status.resource_claim_statuses] == [
        "infer-gpu-x7k"
    ]
    *_, made, _ = with_device_claims([*others, claim, waiting])
    assert made.name == "infer-gpu"


# --- Simulation ---------------------------------------------------------------------------------------------


def test_the_same_name_is_another_pod():
    """A StatefulSet's pod that was placed, evicted and made again has one entry, that of the new pod."""
    low = owned("db-0", "StatefulSet", "db", requests={"cpu": 2})
    run = simulation(node("a", cpu="2"), low, pod("high", cpu=2, priority=5))
    assert [(decision.pod.name, decision.host) for decision in run.decisions()] == [
        ("db-0", "a"),
        ("high", None),
        ("high", "a"),
        ("db-0", None),
    ]
    outcome = run.outcomes["default/db-0"]
    assert (outcome.tries, outcome.replaces, outcome.word) == (1, "default/db-0", "unschedulable")
    assert not run.all_placed


def test_replacements_may_evict_in_turn():
    """A replacement makes room as its priority allows; those who leave then are replaced after it."""
    middle = owned("m-0", "ReplicaSet", "m", on="a", requests={"cpu": 2}, priority=5)
    low = owned("l-0", "ReplicaSet", "l", on="b", requests={"cpu": 2})
    high = pod("high", cpu=2, priority=9, nodeSelector={"kubernetes.io/hostname": "a"})
    nodes = [node(name, cpu="2", labels={"kubernetes.io/hostname": name}) for name in "abc"]
    run = simulation(*nodes[:2], middle, low, high)
    assert [decision.pod.name for decision in run.decisions()] == ["high", "high", "m-1", "m-1", "l-1"]
    assert run.evicted == {"default/m-0": "default/high", "default/l-0": "default/m-1"}
    found = summarise(run)
    assert (found.pods, found.placed, found.unschedulable, found.evicted, found.replaced) == (3, 2, 1, 2, 2)


@pytest.mark.parametrize("mode", ["WaitForFirstConsumer", "Immediate"])
@pytest.mark.parametrize("kind, name", [("ReplicaSet", "web-1"), ("StatefulSet", "web-0")])
def test_ephemeral_volumes(kind, name, mode):
    """The claim of a generic ephemeral volume goes with its pod, and the replacement gets one of its own."""
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "disks",
    }
    volumes = [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}]
    low = owned("web-0", kind, "web", on="a", volumes=volumes, priority=0)
    (claim,) = claims_of_volumes(low)
    found = simulate(
        [
            *(node(name, pods="1", labels={"kubernetes.io/hostname": name}) for name in "ab"),
            obj(manifest("StorageClass", "disks", provisioner="disk.example.com", volumeBindingMode=mode)),
            claim,
            low,
            pod("high", priority=9, nodeSelector={"kubernetes.io/hostname": "a"}),
        ],
        "1.36",
        reschedule_evicted=True,
    )
    assert found.hosts == {"default/high": "a", f"default/{name}": "b"}


@pytest.mark.parametrize("cpu, placed", [("2", True), ("1", False)])
def test_a_successor_counts_for_the_pod(cpu, placed):
    """A pod that found a node and was evicted counts as placed where its replacement has a node, and not
    where it has none."""
    low = owned("web-0", "ReplicaSet", "web", requests={"cpu": 2}, nodeSelector={"pool": "x"})
    high = pod("high", cpu=2, priority=9, nodeSelector={"kubernetes.io/hostname": "a"})
    nodes = (
        node("a", cpu="2", labels={"kubernetes.io/hostname": "a", "pool": "x"}),
        node("b", cpu=cpu, labels={"pool": "x"}),
    )
    run = simulation(*nodes, low, high)
    assert [(decision.pod.name, decision.host) for decision in run.decisions()] == [
        ("web-0", "a"),
        ("high", None),
        ("high", "a"),
        ("web-1", "b" if placed else None),
    ]
    assert run.outcomes["default/web-0"].word == "evicted"
    assert run.all_placed is placed


def test_before_and_after():
    """The requests on each node before the first cycle and after the last one."""
    run = simulation(node("a", cpu="4"), pod("there", on="a", cpu=1), pod("p", cpu=2))
    uses = NodeUses(run.engine)
    run.on_begin = uses.begin
    assert [decision.host for decision in run.decisions()] == ["a"]
    (use,) = uses.found()
    cpu = use.resources["cpu"]
    assert (cpu.allocatable, cpu.requested_before, cpu.requested, cpu.free) == (4000, 1000, 3000, 1000)
    assert (use.pods.before, use.pods.requested) == (1, 2)


def test_watching_changes_no_decision():
    """Pods get the same nodes, watched or not."""
    objects = [*(node(name, cpu="3") for name in "abc"), *(pod(f"p{n}", cpu=n % 3) for n in range(12))]
    watched = simulation(*objects)
    plain = simulation(*objects)
    watched.on_begin = NodeUses(watched.engine).begin
    assert [decision.host for decision in watched.decisions()] == [
        decision.host for decision in plain.decisions()
    ]
