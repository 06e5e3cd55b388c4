"""DynamicResources: which claims a pod may use, where it can have its devices, and what it does to claims."""

from datetime import UTC, datetime

import pytest
import yaml
from msgspec.structs import replace

from kubeclassic.api.objects import AllocatedDeviceStatus, Condition, DeviceAllocationResult
from kubeclassic.core.run import EventFeed, Run
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.simulation.explain.explain import explain
from tests.support.build import node, owned_by, pod
from tests.support.devicebuild import (
    DRIVER,
    a_slice,
    claiming,
    device,
    device_claim,
    device_class,
    either,
    exactly,
    made,
    same,
)

GPU = device_class()
NODES = (node("a", cpu="4"), node("b", cpu="4"))
SLICES = (a_slice("a", "g0", "g1"), a_slice("b", "g0"))
WHERE = "0/2 nodes are available: "
NOT_HELPFUL = "preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."


def scheduler(*objects, release="1.34", **gates):
    """A scheduler with devices on, in a cluster of *objects*."""
    gates = {"DynamicResourceAllocation": True, **gates} if release != "1.34" else gates
    engine = framework_engine(read_configuration(None, gates, FRAMEWORK_RELEASES[release]))
    EventFeed(engine).put_all(objects)
    return engine


def owned(name, owner):
    """A claim that was made for a pod."""
    return device_claim(name, exactly(), metadata=owned_by("Pod", owner, f"uid-{owner}"))


def allocated(name, where, *users, device_name="g0"):
    """A claim with a device of a node, which pods use."""
    field = {"key": "metadata.name", "operator": "In", "values": [where]}
    results = [{"request": "r0", "driver": DRIVER, "pool": where, "device": device_name}]
    allocation = {
        "devices": {"results": results},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
    }
    reserved = [{"resource": "pods", "name": user, "uid": f"uid-{user}"} for user in users]
    return device_claim(name, exactly(), status={"allocation": allocation, "reservedFor": reserved})


@pytest.mark.parametrize(
    "new, text",
    [
        (claiming("p", "gone"), 'could not find ResourceClaim "default/gone"'),
        (claiming("p", "from t"), 'pod "default/p": ResourceClaim not created yet'),
        (claiming("p", "leaving"), 'resourceclaim "leaving" is being deleted'),
        (
            claiming("p", "from t", c0="other"),
            "ResourceClaim default/other was not created for pod default/p (pod is not owner)",
        ),
    ],
)
def test_claims_that_cannot_be_used(new, text):
    """A pod waits for claims that are not there, that go, or that were made for another pod."""
    leaving = device_claim("leaving", exactly(), metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    decision = scheduler(*NODES, leaving, owned("other", "q")).schedule(new)
    assert (decision.error, decision.is_gated) == (text, True)


def test_a_class_that_is_not_there():
    """A pod whose claim names an unknown class fits nowhere; requests with alternatives say which."""
    for request, name in ((exactly(of="gone"), "r0"), (either(exactly(), exactly(of="gone")), "r0/s1")):
        decision = scheduler(*NODES, *SLICES, GPU, device_claim("c", request)).schedule(claiming("p", "c"))
        told = f"{WHERE}request {name}: device class gone does not exist. no new claims to deallocate, {NOT_HELPFUL}"
        assert decision.error == told


def test_alternatives_without_the_gate():
    """Without DRAPrioritizedList a request with alternatives is refused."""
    claim = device_claim("c", either(exactly(), exactly()))
    decision = scheduler(*NODES, GPU, claim, DRAPrioritizedList=False).schedule(claiming("p", "c"))
    told = "resource claim default/c, request r0: has subrequests, but the DRAPrioritizedList feature is disabled"
    assert told in (decision.error or "")


def test_an_error_ends_the_cycle():
    """An error of a selector is the error of the cycle."""
    claim = device_claim("c", exactly(1, f'device.attributes["{DRIVER}"].model == "x"'))
    decision = scheduler(*NODES, *SLICES, GPU, claim).schedule(claiming("p", "c"))
    told = "claim default/c: selector #0: CEL runtime error: no such key: model"
    assert decision.error == f'running "DynamicResources" filter plugin: {told}'


def test_each_device():
    """Each device that a node can access gets its first obstacle, request by request."""
    own = f'device.attributes["{DRIVER}"]'
    pool = a_slice(
        "a",
        *(
            device(name, model=model, numa=0)
            for name, model in (("g0", "t4"), ("g1", "a100"), ("g2", "a100"))
        ),
        "g3",
    )
    claim = device_claim(
        "c", exactly(2, f'{own}.?model.orValue("a100") == "a100"'), constraints=[same("numa")]
    )
    engine = scheduler(*NODES, pool, GPU, claim, allocated("other", "a", device_name="g1"))
    (found,) = explain(engine, claiming("p", "c")).answer.nodes[0].devices
    assert (found.claim, found.request, found.device_class, found.wanted, found.takes_all) == (
        "c",
        "r0",
        "gpu",
        2,
        False,
    )
    assert found.usable == (f"{DRIVER}/a/g2",)
    assert {one.why: one.devices for one in found.refused} == {
        f'selector of request: {own}.?model.orValue("a100") == "a100"': (f"{DRIVER}/a/g0",),
        "used by claim default/other": (f"{DRIVER}/a/g1",),
        f"it has no attribute {DRIVER}/numa, which a constraint compares": (f"{DRIVER}/a/g3",),
    }


# --- Post filter --------------------------------------------------------------------------------------------


def test_a_claim_out_of_reach_is_given_back():
    """A claim of a pod that fits nowhere loses its devices if nobody else uses it."""
    for users, told in (
        (("p",), "deallocation of ResourceClaim completed"),
        (("q",), "still not schedulable"),
    ):
        engine = scheduler(node("a", cpu="4"), node("b", cpu="1"), *SLICES, GPU, allocated("c", "b", *users))
        new = claiming("p", "c")
        decision = engine.schedule(_needing(new, "2"))
        assert told in (decision.error or "")
        assert bool(engine.listings.resource_claims.holders) == (users == ("q",))


def test_preemption_sees_the_devices_as_they_were():
    """Devices that a claim gives back are no reason to preempt in the same cycle."""
    engine = scheduler(
        *(node("a", cpu="4"), node("b", cpu="4"), pod("v", on="b", cpu="4"), GPU),
        *(SLICES[0], a_slice("b", "g0", "g1"), allocated("c", "b"), device_claim("d", exactly(2))),
    )
    claims = [{"name": f"c{number}", "resourceClaimName": name} for number, name in enumerate("cd")]
    decision = engine.schedule(pod("p", cpu="2", priority=1, resourceClaims=claims))
    assert "deallocation" in (decision.error or "")
    assert (decision.nominated, engine.listings.resource_claims.holders) == ("", {})


def test_looking_changes_nothing():
    """A decision that is only looked at gives no claim back."""
    engine = scheduler(node("a", cpu="4"), node("b", cpu="1"), *SLICES, GPU, allocated("c", "b"))
    assert "deallocation" in (Run(engine).ask(_needing(claiming("p", "c"), "2")).error or "")
    assert engine.listings.resource_claims.holders == {(DRIVER, "b", "g0"): 1}


@pytest.mark.parametrize(
    "release, told",
    [("1.32", "no new claims to deallocate, "), ("1.33", ""), ("1.34", "no new claims to deallocate, ")],
)
def test_a_pod_without_claims(release, told):
    """In 1.33 nothing is said of a pod without claims; the same when it is tried again."""
    run = Run(scheduler(node("a", cpu="1"), release=release), details=False)
    for name in "xyz":
        error = run.cycle(pod(name, cpu="2")).error or ""
        assert error.startswith(f"0/1 nodes are available: 1 Insufficient cpu. {told}preemption: ")


def test_after_an_early_rejection():
    """Where an earlier plugin rejects the pod in PreFilter, the plugin has no state: PostFilter errs."""
    volumes = yaml.safe_load("[{name: v, persistentVolumeClaim: {claimName: gone}}]")
    decision = scheduler(*NODES).schedule(pod("p", volumes=volumes))
    assert decision.error == f'{WHERE}persistentvolumeclaim "gone" not found. not found'


OWNED_BY_P = yaml.safe_load("[{kind: Pod, name: p, uid: uid-p, controller: true}]")
GIVING = made("DeviceClass", "gpus", {"extendedResourceName": "example.com/gpu"})


def asking(name, **requests):
    """A pod that asks for extended resources of example.com."""
    asked = {f"example.com/{key}": amount for key, amount in requests.items()}
    return pod(name, requests=asked, uid=f"uid-{name}")


# --- Extended resources -------------------------------------------------------------------------------------


def test_each_node_gives_them_in_its_way():
    """A node that has the resource itself gives that; from others come devices, and one with neither is
    too small."""
    nodes = [node("a", cpu="4"), node("b", cpu="4", allocatable={"example.com/gpu": "1"}), node("c", cpu="4")]
    engine = scheduler(*nodes, SLICES[0], GIVING, release="1.36")
    claims = engine.listings.resource_claims
    placed = [(new, engine.schedule(new).host) for new in [asking("p", gpu="2")]]
    assert [host for _, host in placed] == ["a"]
    assert engine.assume(placed[0][0], "a") is None
    assert engine.allocations(placed[0][0]) == {"<extended-resources>": [f"{DRIVER}/a/g0", f"{DRIVER}/a/g1"]}
    second = asking("q", gpu="1")
    assert engine.schedule(second).host == "b"
    assert engine.assume(second, "b") is None
    assert [claim.name for claim in claims.of(second)] == []
    third = engine.schedule(asking("r", gpu="1", other="1"))
    assert third.error.startswith("0/3 nodes are available: ")
    assert "cannot fit resource" not in third.error  # NodeResourcesFit comes first


def test_a_resource_that_nothing_gives():
    """Where NodeResourcesFit ignores a resource that no node has, DynamicResources does not."""
    args = yaml.safe_load("""
        pluginConfig:
        - name: NodeResourcesFit
          args:
            ignoredResources: [example.com/other]
        """)
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [args],
    }
    engine = framework_engine(read_configuration(config, {}, FRAMEWORK_RELEASES["1.36"]))
    EventFeed(engine).put_all([*NODES, *SLICES, GIVING])
    found = engine.schedule(asking("p", gpu="1", other="1"))
    assert (found.error or "").startswith(
        f"{WHERE}2 cannot fit resource. still not schedulable, preemption: "
    )


def test_the_claim_of_an_earlier_attempt_is_deleted():
    """A claim that was made for the pod before keeps it from all nodes, and is deleted."""
    metadata = {
        "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
        "ownerReferences": OWNED_BY_P,
    }
    engine = scheduler(
        *NODES, *SLICES, GIVING, device_claim("old", exactly(of="gpus"), metadata=metadata), release="1.36"
    )
    found = engine.schedule(asking("p", gpu="1"))
    assert (found.error or "").startswith(
        f"{WHERE}2 cannot schedule extended resource claim. deletion of ResourceClaim completed, "
    )
    assert engine.listings.resource_claims.get("default/old") is None
    assert engine.schedule(asking("p", gpu="1")).host == "a"


def test_with_claims_where_the_node_gives_the_resource():
    """A pod that has claims as well cannot be bound to a node that gives the resource itself, and leaves
    nothing behind."""
    giving = node("a", cpu="4", allocatable={"example.com/gpu": "1"})
    engine = scheduler(giving, SLICES[0], GPU, GIVING, device_claim("c", exactly()), release="1.36")
    claims = [{"name": "c0", "resourceClaimName": "c"}]
    new = pod("p", requests={"example.com/gpu": "1"}, uid="uid-p", resourceClaims=claims)
    assert engine.schedule(new).host == "a"
    told = "nil or empty request mappings, no update of pod default/p ExtendedResourceClaimStatus"
    assert engine.assume(new, "a") == f'running PreBind plugin "DynamicResources": {told}'
    assert not engine.listings.resource_claims.pending
    assert [claim.name for claim in engine.listings.resource_claims] == ["c"]


@pytest.mark.parametrize(
    "late, kind, fits",
    [(False, "", True), (True, "", False), (True, "Ready", True), (False, "Broken", False)],
)
def test_a_device_that_fails(late, kind, fits):
    """A claim whose device failed, or is not ready in time, cannot be used, and loses its devices."""
    claim = allocated("c", "a")
    allocation = claim.status.allocation
    results = tuple(
        replace(one, binding_conditions=("Ready",), binding_failure_conditions=("Broken",))
        for one in allocation.results
    )
    said = AllocatedDeviceStatus(
        driver=DRIVER, pool="a", device="g0", conditions=(Condition(type=kind, status="True"),)
    )
    status = replace(
        claim.status,
        devices=(said,),
        allocation=replace(
            allocation,
            devices=DeviceAllocationResult(results=results),
            allocation_timestamp="2026-01-01T00:00:00Z",
        ),
    )
    engine = scheduler(*NODES, *SLICES, GPU, replace(claim, status=status), release="1.36")
    since = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    for profile in (engine.flow.profiles or {}).values():
        profile.handle.now = lambda: since + (601 if late else 599)
    found = engine.schedule(claiming("p", "c"))
    assert (found.host == "a") == fits
    left = engine.listings.resource_claims.get("default/c")
    assert (left.status.allocation is not None) == fits


# --- Reserve ------------------------------------------------------------------------------------------------


def test_claims_are_written():
    """A placed pod's claims have devices, a finalizer and the pod as their user; no other pod gets these
    devices."""
    engine = scheduler(*NODES, *SLICES, GPU, *(device_claim(name, exactly()) for name in "cde"))
    run = Run(engine)
    placed = [run.cycle(claiming(f"p-{name}", name)) for name in "cde"]
    assert [decision.allocations for decision in placed] == [
        {"c": [f"{DRIVER}/a/g0"]},
        {"d": [f"{DRIVER}/b/g0"]},
        {"e": [f"{DRIVER}/a/g1"]},
    ]
    found = engine.listings.resource_claims.get("default/c")
    assert found.metadata.finalizers == ("resource.kubernetes.io/delete-protection",)
    assert [(one.resource, one.name, one.uid) for one in found.status.reserved_for] == [
        ("pods", "p-c", "uid-p-c")
    ]


def test_a_shared_claim_has_both_users():
    """A second pod with the claim goes to the same node and is added to its users."""
    engine = scheduler(*NODES, *SLICES, GPU, device_claim("c", exactly(2)))
    run = Run(engine)
    assert [run.cycle(claiming(name, "c")).host for name in "pq"] == ["a", "a"]
    (found,) = engine.listings.resource_claims
    assert [one.name for one in found.status.reserved_for] == ["p", "q"]


def test_undone():
    """A pod that loses its place before it is bound leaves the devices free, and its claims to others."""
    engine = scheduler(*NODES, *SLICES, GPU, device_claim("c", exactly()), device_claim("d", exactly()))
    first = claiming("p", "c")
    host = engine.schedule(first).host or ""
    assert engine.flow.binding.reserve(first, host) is None
    held = engine.schedule(claiming("q", "c"))
    assert "resource claim default/c is in the process of being allocated" in (held.error or "")
    engine.flow.binding.give_back(first, host)
    claims = engine.listings.resource_claims
    assert (claims.holders, claims.pending) == ({}, {})
    assert engine.schedule(claiming("q", "c")).host == host


def test_pods_from_one_template_share_what_is_known_of_them():
    """Pods whose claims come from one template are equal for scheduling but for their claims."""
    engine = scheduler(*NODES, *SLICES, GPU)
    one, other = (engine.templates.of(claiming(name, "from t", c0=f"{name}-c")) for name in "pq")
    assert one is other
    assert engine.templates.of(claiming("p", "from u")) is not one


def test_each_is_scored_by_its_own_claims():
    """A pod is scored by its claims, not by those of an earlier pod from the same template."""
    numa = f'device.attributes["{DRIVER}"].numa'
    pools = [a_slice(name, device("g0", numa=at), device("g1", numa=2)) for at, name in enumerate("ab")]
    asked = {"p": either(exactly(1, f"{numa} == 0"), exactly()), "q": exactly()}
    claims = [
        device_claim(f"{name}-c", one, metadata=owned_by("Pod", name, f"uid-{name}"))
        for name, one in asked.items()
    ]
    run = Run(scheduler(*NODES, *pools, GPU, *claims, release="1.36"))
    assert [run.cycle(claiming(name, "from t", c0=f"{name}-c")).host for name in asked] == ["a", "b"]


def _needing(new, cpu):
    """The pod *new* with a request of *cpu*."""
    return pod(new.name, cpu=cpu, uid=new.uid, resourceClaims=[{"name": "c0", "resourceClaimName": "c"}])
