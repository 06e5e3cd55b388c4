"""The search for devices: held to all assignments on small pools, and what the releases do in corners."""

from functools import partial

import numpy as np
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from kubeclassic.core.devices.claimjudging import AllocationError
from kubeclassic.core.devices.nodedevices import FOUND, INVALID, NONE, TOO_LATE, Devices
from kubeclassic.core.release import with_gates
from kubeclassic.core.run import EventFeed
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.reference.devices import AgainstAllError, Ask, first_fit
from tests.support.build import node
from tests.support.devicebuild import (
    DRIVER,
    a_slice,
    device,
    device_claim,
    device_class,
    either,
    exactly,
    same,
)

GPU = device_class()
MODEL_A = f'device.attributes["{DRIVER}"].model == "a"'
NUMA_0 = f'device.attributes["{DRIVER}"].numa == 0'


THREE = (GPU, a_slice("n", "a", "b", "c"))


def devices(*objects, release="1.34", admin=True, **gates):
    """The devices of a cluster with node n, in *release* with *gates*."""
    engine = framework_engine()
    EventFeed(engine).put_all([node("n"), *objects])
    engine.snapshot.refresh()
    return Devices(
        engine.table,
        engine.listings,
        with_gates(FRAMEWORK_RELEASES[release].devices, {"DRAAdminAccess": admin, **gates}),
    )


def taken(found, *claims):
    """The names of the devices of each claim, in the order in which they were chosen."""
    results = found.allocate(claims, 0)
    return None if results is None else [[one.device for one in result.results] for result in results]


# --- against all assignments --------------------------------------------------------------------------------

KINDS = st.tuples(st.sampled_from("ab"), st.sampled_from([0, 1]), st.booleans())
"""Model, NUMA node, and whether it is free."""
MATCHES = {(): lambda one: True, (MODEL_A,): lambda one: one[0] == "a", (NUMA_0,): lambda one: one[1] == 0}
ASKS = st.tuples(st.integers(1, 3), st.sampled_from(list(MATCHES)), st.booleans())
"""Devices, selectors, and whether admin access is wanted."""
REQUESTS = st.one_of(
    ASKS.map(lambda one: [one]),
    st.tuples(st.just("All"), st.sampled_from(list(MATCHES)), st.booleans()).map(lambda one: [one]),
    st.lists(ASKS.map(lambda one: (*one[:2], False)), min_size=2, max_size=3),
)
CLAIMS = st.lists(
    st.tuples(st.lists(REQUESTS, min_size=1, max_size=3), st.booleans()), min_size=1, max_size=2
)
"""Requests, and whether all devices of a claim have to be on one NUMA node."""


# Two requests for admin access of one claim do not get the one device there is.
@example(pool=[("a", 0, True)], claims=[([[(1, (), True)]] * 2, False)], release="1.36")
@given(pool=st.lists(KINDS, min_size=1, max_size=6), claims=CLAIMS, release=st.sampled_from(["1.34", "1.36"]))
def test_the_first_of_all_assignments(pool, claims, release):
    """Claims get the first assignment in depth-first order that holds, or none where no assignment does."""
    together = [wanted for _, wanted in claims]
    found = devices(*cluster(pool), release=release, DRAConsumableCapacity=True)
    asked = [made(f"c{i}", requests, together[i]) for i, (requests, _) in enumerate(claims)]
    first = partial(
        first_fit,
        [[[as_ask(one, pool) for one in request] for request in requests] for requests, _ in claims],
        [free for _, _, free in pool],
        [
            (lambda chosen: len({pool[one][1] for one in chosen}) == 1) if one else (lambda chosen: True)
            for one in together
        ],
    )
    try:
        wanted = first()
    except AgainstAllError as error:
        claim, one = error.args
        with pytest.raises(AllocationError, match=f"/c{claim}, .*/d{one} "):
            found.allocate(asked, 0)
        return
    lists = (
        None
        if wanted is None
        else [[f"d{one}" for owner, one in wanted if owner == i] for i in range(len(claims))]
    )
    assert taken(found, *asked) == lists


def cluster(pool):
    """A slice with the devices of *pool*, and a claim that holds those that are not free."""
    held = [
        {"request": "r", "driver": DRIVER, "pool": "n", "device": f"d{i}"}
        for i, one in enumerate(pool)
        if not one[2]
    ]
    holder = device_claim("holder", exactly(), status={"allocation": {"devices": {"results": held}}})
    return [
        GPU,
        a_slice("n", *(device(f"d{i}", model=one[0], numa=one[1]) for i, one in enumerate(pool))),
        holder,
    ]


def made(name, requests, together):
    """The claim of an example."""
    return device_claim(name, *map(as_request, requests), constraints=[same("numa")] if together else [])


def as_request(request):
    """A request of an example."""
    asked = [
        exactly(count, *selectors, **({"adminAccess": True} if admin else {}))
        for count, selectors, admin in request
    ]
    return asked[0] if len(asked) == 1 else either(*asked)


def as_ask(one, pool):
    """A request of an example, for the naive allocator."""
    count, selectors, admin = one
    return Ask(
        None if count == "All" else count,
        [i for i, kind in enumerate(pool) if MATCHES[selectors](kind)],
        admin,
    )


# --- corners ------------------------------------------------------------------------------------------------


def test_a_constraint():
    """Mode All errs where a constraint is against one of the devices."""
    found = devices(GPU, a_slice("n", device("a", numa=0), device("b", numa=1)))
    told = f"claim default/c, request r0: cannot add device {DRIVER}/n/b because a claim constraint would not be satisfied"
    with pytest.raises(AllocationError, match=f"^{told}$"):
        taken(found, device_claim("c", exactly("All"), constraints=[same("numa")]))


def test_a_constraint_after_a_choice():
    """Mode All errs in the same way where another claim has the last device. With the first one, which is
    like it, mode All has no way to go on, and goes back."""
    found = devices(GPU, a_slice("n", device("a", numa=0), device("b", numa=1), device("c", numa=0)))
    claims = device_claim("one", exactly(1)), device_claim("all", exactly("All"), constraints=[same("numa")])
    with pytest.raises(AllocationError, match=f"cannot add device {DRIVER}/n/b"):
        taken(found, *claims)


def held(*names, **more):
    """The status of a claim that has the devices called so."""
    results = [{"request": "r0", "driver": DRIVER, "pool": "n", "device": name, **more} for name in names]
    return {"allocation": {"devices": {"results": results}}}


@pytest.mark.parametrize("release, wanted", [("1.32", 20), ("1.33", None), ("1.34", 20)])
def test_room_for_32(release, wanted):
    """In 1.33 the devices of a request that were chosen already count twice towards 32."""
    found = taken(
        devices(GPU, a_slice("n", *map(str, range(40))), release=release), device_claim("c", exactly(20))
    )
    assert (found and len(found[0])) == wanted


# --- Alternatives -------------------------------------------------------------------------------------------


def test_what_another_constraint_refuses_is_not_counted():
    """A device that the second constraint refuses leaves no mark on the first one."""
    pool = a_slice("n", device("a", numa=0), device("b", numa=1, model="x"), device("c", numa=1, model="x"))
    assert taken(
        devices(GPU, pool), device_claim("c", exactly(2), constraints=[same("numa"), same("model")])
    ) == [["b", "c"]]


@pytest.mark.parametrize("release, wanted", [("1.35", [["b", "c", "d", "a"]]), ("1.36", None)])
def test_mode_all_after_a_choice(release, wanted):
    """Up to 1.35 mode All goes on as the first alternative, for which the first device is enough: r0 has to
    leave that one, though all are alike."""
    found = devices(GPU, a_slice("n", *"abcd"), release=release)
    assert taken(found, device_claim("c", exactly(3), either(exactly(1, "false"), exactly("All")))) == wanted


def test_a_class_that_changes():
    """The result of a search is forgotten when a class gets other selectors."""
    found = devices(device_class("gpu", "false"), a_slice("n", "a"))
    asked = device_claim("c", exactly())
    assert found.outcomes([asked], np.array([0])).tolist() == [NONE]
    found.listings.device_classes.put(device_class())
    assert found.outcomes([asked], np.array([0])).tolist() == [FOUND]


def test_constraints_name_requests_and_alternatives():
    """A constraint holds for the request that it names, or for one alternative of it."""
    found = devices(GPU, a_slice("n", device("a", numa=0), device("b", numa=1), device("c", numa=0)))
    for named, wanted in (("r0", ["a", "c"]), ("r0/s1", ["a", "b"]), ("r0/s0", ["a", "c"])):
        asked = device_claim("c", either(exactly(2), exactly(1)), constraints=[same("numa", named)])
        assert taken(found, asked) == [wanted]


def test_an_attribute_without_a_value_is_like_no_other():
    """Devices whose attribute has no value that is known do not match each other."""
    odd = [{"name": name, "attributes": {"numa": {}}} for name in "ab"]
    assert (
        taken(devices(GPU, a_slice("n", *odd)), device_claim("c", exactly(2), constraints=[same("numa")]))
        is None
    )


def test_a_short_name_is_of_the_drivers_domain():
    """An attribute without a domain is not found under another domain than that of the driver."""
    other = {"matchAttribute": "other.example.com/numa", "requests": []}
    pool = a_slice("n", device("a", numa=0), device("b", numa=0))
    assert taken(devices(GPU, pool), device_claim("c", exactly(2), constraints=[other])) is None


def test_attributes_that_nothing_reads():
    """Devices that differ in an attribute that no request reads are alike: a claim is not tried with all
    their orders."""
    pool = [device(f"d{number}", uuid=f"u{number}") for number in range(30)]
    found = devices(GPU, a_slice("n", *pool))
    missing = f'device.attributes["{DRIVER}"].?uuid.orValue("") == "none"'
    assert found.outcomes(
        [device_claim("c", *([exactly()] * 4), exactly(1, missing))], np.array([0])
    ).tolist() == [NONE]


def test_an_end_after_some_seconds():
    """A search that has not ended when its time is over ends without an answer."""
    pool = [device(f"d{number}", uuid=f"u{number}") for number in range(30)]
    found = devices(GPU, a_slice("n", *pool))
    found.seconds = 0
    together = [same("uuid", f"r{number}") for number in range(7)]
    asked = device_claim("c", *([exactly()] * 6), exactly(2), constraints=together)
    assert found.outcomes([asked], np.array([0])).tolist() == [TOO_LATE]


# --- Pools --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release, errs", [("1.32", False), ("1.33", True), ("1.34", True)])
def test_an_invalid_pool(release, errs):
    """Up to 1.32 an invalid pool is an error only if one of its devices matches."""
    found = devices(
        GPU, a_slice("n", "a", "a", pool="p"), a_slice("n", device("b", model="a"), pool="q"), release=release
    )
    asked = device_claim("c", exactly(1, f'"model" in device.attributes["{DRIVER}"]'))
    if errs:
        with pytest.raises(AllocationError, match=r"^pool p is invalid: duplicate device name a$"):
            taken(found, asked)
    else:
        assert taken(found, asked) == [["b"]]


def test_the_first_device_of_a_name():
    """In 1.32 the first device of a name answers for all of that name in its pool."""
    found = devices(GPU, a_slice("n", "a", device("a", model="a"), pool="p"), release="1.32")
    assert taken(found, device_claim("c", exactly(1, f'"model" in device.attributes["{DRIVER}"]'))) is None


@pytest.mark.parametrize("count, outcome", [(1, INVALID), (2, NONE)])
def test_an_incomplete_pool_is_not_checked(count, outcome):
    """From 1.35 on a pool that misses slices is not invalid, whatever the others hold."""
    found = devices(GPU, a_slice("n", "a", "a", count=count), release="1.36")
    assert found.outcomes([device_claim("c", exactly())], np.array([0])).tolist() == [outcome]


def test_the_node_selector_of_the_result():
    """Devices of one node bind the claim to it, those of all nodes do not, and selectors of slices are
    joined."""
    zone = yaml.safe_load("""
        nodeSelector:
          nodeSelectorTerms:
          - matchExpressions:
            - {key: zone, operator: DoesNotExist}
        """)
    slices = [a_slice("n", "a"), a_slice("*", "b", pool="all"), a_slice("", "c", pool="zone", **zone)]
    found = {}
    for name, one in zip("abc", slices, strict=True):
        results = devices(GPU, one).allocate([device_claim("c", exactly())], 0)
        found[name] = results[0].node_selector
    assert found["b"] is None
    terms = {name: one.node_selector_terms[0] for name, one in found.items() if one is not None}
    assert [one.values for one in terms["a"].match_fields] == [("n",)]
    assert [one.key for one in terms["c"].match_expressions] == ["zone"]


def test_more_slices_than_there_should_be():
    """Such a pool is no more whole than one that lacks slices."""
    found = devices(GPU, *(a_slice("n", one, count=1, name=f"s-{one}") for one in "ab"))
    with pytest.raises(AllocationError, match="is currently being updated"):
        taken(found, device_claim("c", exactly("All")))


def test_an_error_names_the_class_or_the_claim():
    """An attribute that a device lacks is an error, which says where the selector is."""
    for objects, where in (((device_class("gpu", MODEL_A),), "class gpu"), ((GPU,), "claim default/c")):
        with pytest.raises(
            AllocationError, match=f"^{where}: selector #0: CEL runtime error: no such key: model$"
        ):
            taken(
                devices(*objects, a_slice("n", "a")),
                device_claim("c", exactly(1, *([MODEL_A] if where != "class gpu" else []))),
            )


def test_without_the_gate():
    """Without the gate it is an error to ask for it, even with false."""
    told = "claim default/c, request r0: admin access is requested, but the feature is disabled"
    with pytest.raises(AllocationError, match=f"^{told}$"):
        taken(devices(*THREE, admin=False), device_claim("c", exactly(adminAccess=False)))


def test_many_devices_of_one_pod():
    """A pod can have more devices than calls may be nested by default."""
    names = [f"d{number}" for number in range(960)]
    found = taken(
        devices(GPU, a_slice("n", *names)), *(device_claim(f"c{number}", exactly(32)) for number in range(30))
    )
    assert [name for of_claim in found for name in of_claim] == names
