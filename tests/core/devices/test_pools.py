"""The pools that nodes reach; nodes count as equal exactly where searches end equally."""

from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.devices.nodedevices import FOUND, NONE, Devices
from kubeclassic.core.run import EventFeed
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from tests.support.build import node
from tests.support.devicebuild import DRIVER, a_slice, device, device_claim, device_class, exactly

NODES = 4
SLICES = st.lists(
    st.tuples(
        st.integers(0, NODES - 1) | st.just("*"), st.lists(st.sampled_from("ab"), min_size=1, max_size=3)
    ),
    max_size=5,
)
STEPS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=6)


def held(name, *ids):
    """A claim with these devices: pool, name."""
    results = [{"request": "r0", "driver": DRIVER, "pool": pool, "device": one} for pool, one in ids]
    return device_claim(name, exactly(), status={"allocation": {"devices": {"results": results}}})


def objects(slices):
    """Slices in pools of their own."""
    made = [device_class()]
    for number, (where, models) in enumerate(slices):
        devices = [device(f"d{i}", model=model) for i, model in enumerate(models)]
        made.append(a_slice("*" if where == "*" else f"n{where}", *devices, pool=f"p{number}"))
    return made


@given(slices=SLICES, steps=STEPS, release=st.sampled_from(["1.34", "1.36"]))
def test_outcomes_follow_claims(slices, steps, release):
    """After any claims came and went, what is kept for all nodes is what a search on each node comes to."""
    engine = framework_engine()
    feed = EventFeed(engine)
    feed.put_all([*(node(f"n{i}") for i in range(NODES)), *objects(slices)])
    engine.snapshot.refresh()
    found = Devices(engine.table, engine.listings, FRAMEWORK_RELEASES[release].devices)
    asked = [device_claim("c", exactly(2, f'device.attributes["{DRIVER}"].model == "a"'), exactly(1))]
    rows = engine.flow.order.rows()
    for number, (pool, place) in enumerate([(99, 0), *steps]):
        name = f"holder{number % 3}"
        if pool < len(slices) and place < len(slices[pool][1]):
            feed.put(held(name, (f"p{pool}", f"d{place}")))
        else:
            feed.delete(device_claim(name, exactly()))
        wanted = [FOUND if found.allocate(asked, row) else NONE for row in rows.tolist()]
        assert found.outcomes(asked, rows).tolist() == wanted


def test_equal_nodes_look_alike():
    """Nodes with devices of the same models have one look, until a device of one of them is in use."""
    engine = framework_engine()
    feed = EventFeed(engine)
    slices = [a_slice(f"n{i}", device("x", model="a"), device("y", model="b")) for i in range(3)]
    feed.put_all([*(node(f"n{i}") for i in range(3)), *slices])
    engine.snapshot.refresh()
    pools = Devices(engine.table, engine.listings, FRAMEWORK_RELEASES["1.34"].devices).pools
    pools.refresh()
    assert len(set(pools.looks.tolist())) == 1
    feed.put(held("h", ("n1", "y")))
    pools.refresh()
    assert sorted(map(pools.looks.tolist().count, set(pools.looks.tolist()))) == [1, 2]
    feed.put(node("n1", labels={"new": "label"}))
    engine.snapshot.refresh()
    pools.refresh()
    assert sorted(map(pools.looks.tolist().count, set(pools.looks.tolist()))) == [1, 2]
