"""Taints, counters, capacity and binding conditions of devices, from 1.35 on."""

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.devices.claimjudging import AllocationError
from kubeclassic.core.devices.nodedevices import ERROR, FOUND, NONE, Devices, accounts
from kubeclassic.core.release import with_gates
from kubeclassic.core.run import EventFeed
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.plugins.dynamicresources import BindingFailed, are_true
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.core.devices.test_search import GPU, devices, held, taken
from tests.support.build import node
from tests.support.devicebuild import DRIVER, a_slice, device, device_claim, either, exactly

TAINTED = {**device("bad"), "taints": yaml.safe_load("[{key: broken, value: 'yes', effect: NoSchedule}]")}
GATES = ("DRADeviceTaints", "DRAPartitionableDevices", "DRAConsumableCapacity", "DRADeviceBindingConditions")


def newest(*objects, release="1.36", **gates):
    """The devices of a cluster with node n, where all features are on."""
    return devices(GPU, *objects, release=release, **{**dict.fromkeys(GATES, True), **gates})


def outcome(found, *requests):
    return int(found.outcomes([device_claim("c", *requests)], np.array([0]))[0])


@pytest.mark.parametrize(
    "toleration, wanted",
    [
        (None, ["good"]),
        ({"operator": "Exists"}, ["bad"]),
        ({"key": "broken", "value": "yes"}, ["bad"]),
        ({"key": "broken", "value": "no"}, ["good"]),
        ({"key": "broken", "operator": "Exists", "effect": "NoExecute"}, ["good"]),
    ],
)
def test_what_is_tolerated(toleration, wanted):
    """A request gets a device with a taint only if it tolerates that; the tolerations stand with the
    device."""
    found = newest(a_slice("n", TAINTED, "good")).allocate(
        [device_claim("c", exactly(tolerations=[toleration] if toleration else []))], 0
    )
    assert [one.device for one in found[0].results] == wanted
    assert len(found[0].results[0].tolerations) == (toleration is not None)


def part(name, amount, **more):
    """A device that takes an amount of memory."""
    return {
        **device(name),
        "consumesCounters": [{"counterSet": "card", "counters": {"memory": {"value": amount}}}],
        **more,
    }


def card(*parts, total="40Gi"):
    """A pool with a set of counters, and devices that take from it."""
    sets = [{"name": "card", "counters": {"memory": {"value": total}}}]
    counters = a_slice("n", pool="p", count=2, name="a-counters", sharedCounters=sets)
    return [counters, a_slice("n", *parts, pool="p", count=2, name="b-devices")]


# --- Counters -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release, wanted", [("1.35", NONE), ("1.36", FOUND)])
def test_what_is_turned_down(release, wanted):
    """In 1.35 a device with a taint keeps the counters that were taken for it before the taint was looked
    at."""
    found = newest(
        *card(part("bad", "30Gi", taints=TAINTED["taints"]), part("good", "20Gi")), release=release
    )
    assert outcome(found, exactly()) == wanted


def test_each_device_says_its_nodes():
    """Where a slice leaves that to its devices a node reaches those that name it; what is taken is for
    that node alone."""
    listed = [
        {**device("a"), "nodeName": "m"},
        {**device("b"), "nodeName": "n"},
        {**device("c"), "allNodes": True},
    ]
    found = newest(a_slice("", *listed, pool="p", perDeviceNodeSelection=True))
    assert outcome(found, exactly(3)) == NONE
    results = found.allocate([device_claim("c", exactly()), device_claim("d", exactly())], 0)
    assert results is not None
    assert [[one.device for one in result.results] for result in results] == [["b"], ["c"]]
    assert [result.node_selector is None for result in results] == [False, True]


def held_in(*names):
    """The status of a claim with devices of pool p."""
    return {
        "allocation": {
            "devices": {
                "results": [
                    {"request": "r0", "driver": DRIVER, "pool": "p", "device": name} for name in names
                ]
            }
        }
    }


def shared(name, **policy):
    """A device that claims share."""
    capacity = {"memory": {"value": "40Gi", **({"requestPolicy": policy} if policy else {})}}
    return {**device(name), "allowMultipleAllocations": True, "capacity": capacity}


def asking(amount):
    return exactly(1, capacity={"requests": {"memory": amount}})


# --- Shared devices -----------------------------------------------------------------------------------------


def test_what_is_left():
    """Claims share a device until its capacity is used up; each share has an ID of its own, and says what
    it took."""
    engine = framework_engine()
    feed = EventFeed(engine)
    feed.put_all([node("n"), GPU, a_slice("n", shared("x"))])
    engine.snapshot.refresh()
    cells = with_gates(FRAMEWORK_RELEASES["1.36"].devices, dict.fromkeys(GATES, True))
    found = Devices(engine.table, engine.listings, cells)
    ids = set()
    for number in range(2):
        claim = device_claim(f"c{number}", asking("15Gi"))
        results = found.allocate([claim], 0)
        (one,) = results[0].results
        assert str(one.consumed_capacity["memory"]) == "16106127360"
        ids.add(one.share_id)
        engine.listings.resource_claims.allocate(
            device_claim(f"c{number}", status={"allocation": _written(one)})
        )
    assert len(ids) == 2
    assert outcome(found, asking("15Gi")) == NONE
    assert outcome(found, asking("10Gi")) == FOUND
    assert [one.usable for one in accounts(found, [device_claim("c", asking("10Gi"))], 0)] == [
        (f"{DRIVER}/n/x",)
    ]
    (account,) = accounts(found, [device_claim("c", asking("15Gi"))], 0)
    assert [one.why for one in account.refused] == ["it has not as much capacity left"]
    engine.listings.resource_claims.take_back("uid-c0")
    assert outcome(found, asking("15Gi")) == FOUND


@pytest.mark.parametrize(
    "policy, asked, took",
    [
        ("{}", None, 40),
        ("default: 5Gi", None, 5),
        ("{default: 5Gi, validValues: [5Gi, 10Gi]}", "6Gi", 10),
        ("{default: 5Gi, validValues: [5Gi, 10Gi]}", "11Gi", 0),
        ("{default: 4Gi, validRange: {min: 4Gi}}", "1Gi", 4),
        ("{default: 4Gi, validRange: {min: 4Gi, step: 2Gi}}", "5Gi", 6),
        ("{default: 4Gi, validRange: {min: 4Gi, max: 8Gi}}", "9Gi", 0),
        ("{}", "41Gi", 0),
    ],
)
def test_policies(policy, asked, took):
    """A requested amount is rounded up by the policy of the device; 0: it cannot be allocated."""
    claim = device_claim("c", asking(asked) if asked else exactly())
    results = newest(a_slice("n", shared("x", **yaml.safe_load(policy)))).allocate([claim], 0)
    assert (results[0].results[0].consumed_capacity["memory"].value() >> 30 if results else 0) == took


def test_a_capacity_that_is_not_there():
    """A device lacks a capacity that is asked for; without the gate it is an error to ask."""
    other = exactly(capacity={"requests": {"bandwidth": "1"}})
    assert outcome(newest(a_slice("n", shared("x"))), other) == NONE
    found = newest(a_slice("n", shared("x")), DRAConsumableCapacity=False)
    assert outcome(found, other) == ERROR


@pytest.mark.parametrize("release, named", [("1.34", "request r0"), ("1.36", "subrequest s1")])
def test_capacity_without_the_gate(release, named):
    """The error names the request, from 1.35 on the alternative."""
    found = newest(a_slice("n", shared("x")), release=release, DRAConsumableCapacity=False)
    asked = either(exactly(), exactly(capacity={"requests": {"memory": "1"}}))
    told = f"^claim default/c, {named}: has capacity requests, but the DRAConsumableCapacity feature is disabled$"
    with pytest.raises(AllocationError, match=told):
        taken(found, device_claim("c", asked))


def test_distinct_values():
    """Devices of different requests have different values of a distinctAttribute."""
    pool = a_slice("n", *(device(name, numa=numa) for name, numa in (("a", 0), ("b", 0), ("c", 1))))
    apart = {"distinctAttribute": f"{DRIVER}/numa"}
    claim = device_claim("c", exactly(), exactly(), constraints=[apart])
    assert taken(newest(pool), claim) == [["a", "c"]]
    with pytest.raises(AllocationError, match="empty constraint"):
        taken(
            newest(pool, DRAConsumableCapacity=False, DRADeviceBindingConditions=False, release="1.35"), claim
        )


def _written(one):
    taken = {name: str(amount) for name, amount in one.consumed_capacity.items()}
    found = {
        "request": one.request,
        "driver": one.driver,
        "pool": one.pool,
        "device": one.device,
        "shareID": one.share_id,
    }
    return {"devices": {"results": [{**found, "consumedCapacity": taken}]}}


WAITING = {
    **device("slow"),
    "bindingConditions": ["Ready"],
    "bindingFailureConditions": ["Broken"],
    "bindsToNode": True,
}


def test_such_devices_come_last():
    """A pool with such a device comes last, and what has to be true of it stands with it; it is for the
    one node."""
    found = newest(a_slice("*", WAITING, pool="a"), a_slice("*", "fast", pool="b"))
    results = found.allocate([device_claim("c", exactly()), device_claim("d", exactly())], 0)
    assert [one.device for result in results for one in result.results] == ["fast", "slow"]
    assert results[1].results[0].binding_conditions == ("Ready",)
    assert [result.node_selector is None for result in results] == [True, False]
    assert outcome(newest(a_slice("n", WAITING), DRADeviceBindingConditions=False), exactly()) == NONE


def test_when_it_is_ready():
    """A device is ready once its driver says so; a condition of failure ends that."""
    status = held("slow", bindingConditions=["Ready"], bindingFailureConditions=["Broken"])
    assert are_true(device_claim("c", status=held("fast")))
    assert not are_true(device_claim("c", status=status))
    for kind, ready in (("Other", False), ("Ready", True)):
        assert are_true(device_claim("c", status={**status, "devices": [_said(kind)]})) == ready
    with pytest.raises(BindingFailed, match=r"^it is off$"):
        are_true(device_claim("c", status={**status, "devices": [_said("Broken")]}))


def _said(kind):
    condition = {"type": kind, "status": "True", "reason": "Gone", "message": "it is off"}
    return {"driver": DRIVER, "pool": "n", "device": "slow", "conditions": [condition]}


AMOUNTS = st.lists(st.integers(1, 20), min_size=1, max_size=4)


@given(parts=AMOUNTS, whole=st.integers(1, 40), wanted=st.integers(1, 4), used=st.integers(0, 15))
def test_counters_are_exact(parts, whole, wanted, used):
    """Devices can be allocated as long as they together consume no more than the counters have."""
    names = [f"d{number}" for number in range(len(parts))]
    holding = [name for bit, name in enumerate(names) if used >> bit & 1]
    found = newest(
        *card(
            *(part(name, f"{amount}Gi") for name, amount in zip(names, parts, strict=True)),
            total=f"{whole}Gi",
        ),
        device_claim("other", status=held_in(*holding)),
    )
    amounts = dict(zip(names, parts, strict=True))
    left = whole - sum(amounts[name] for name in holding)
    free = sorted(amount for name, amount in amounts.items() if name not in holding)
    is_enough = len(free) >= wanted and sum(free[:wanted]) <= left
    assert outcome(found, exactly(wanted)) == (FOUND if is_enough else NONE)
