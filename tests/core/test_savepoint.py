"""All changes in a savepoint are taken back, whatever they were."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.core.run import Run
from tests.support.build import manifest, node, obj, pod
from tests.support.examples import examples
from tests.support.towns import scheduler

RELEASES = ("1.12", "1.14", "1.16", "1.19", "1.27", "1.34")
ZONE = "failure-domain.beta.kubernetes.io/zone"


def in_zone(name, zone, **more):
    """A node of a zone."""
    return node(name, labels={ZONE: zone, "topology.kubernetes.io/zone": zone}, **more)


def waiting(name, **more):
    """A pod that half fills a node."""
    return pod(name, cpu="2", uid=name, **more)


def new_run(release):
    """Three nodes in two zones; one is nearly full, and a pod of a high priority is nominated to another."""
    run = Run(scheduler(release))
    for item in (
        *(in_zone(name, zone) for name, zone in (("a", "x"), ("b", "y"), ("c", "x"))),
        waiting("old", on="a", priority=1),
        waiting("early", on="a"),
        obj(manifest("Service", "s", spec={})),
    ):
        run.put(item)
    run.put(waiting("nominee", priority=5, status={"nominatedNodeName": "b"}))
    return run


def state(run):
    """The observable state of a run."""
    engine = run.engine
    engine.snapshot.refresh()
    pods = {name: sorted(entry.pod.key for entry in info.pods) for name, info in engine.cache.infos.items()}
    nodes = {name: info.node for name, info in engine.cache.infos.items()}
    nominated = {name: [one.key for one in engine.nominations.on(name)] for name in engine.nominations}
    requested = {name: engine.table.requested[:, engine.table.row_of[name]].tolist() for name in nodes}
    services = sorted(item.key for item in engine.listings.services)
    return (
        pods,
        nodes,
        requested,
        nominated,
        services,
        engine.position,
        dict(run.evicted),
        set(run._pods),
        set(run._waiting),
    )


def decisions(run):
    """Where the next pods go, which depends on the visiting order and the tie-break as well."""
    return [run.cycle(waiting(f"next-{number}")).record() for number in range(5)]


STEPS = (
    lambda run: run.put(in_zone("d", "z")),
    lambda run: run.put(in_zone("a", "y")),
    lambda run: run.put(in_zone("c", "x", unschedulable=True)),
    lambda run: run.delete(in_zone("b", "y")),
    lambda run: run.delete(waiting("early", on="a")),
    lambda run: run.delete(waiting("nominee")),
    lambda run: run.put(waiting("more", on="c")),
    lambda run: run.put(waiting("early", on="a", labels={"changed": "yes"})),
    lambda run: run.put(obj(manifest("Service", "t", spec={"selector": {"app": "web"}}))),
    lambda run: run.delete(obj(manifest("Service", "s", spec={}))),
    lambda run: run.cycle(waiting("one")),
    lambda run: run.cycle(waiting("nominee", priority=5)),
    lambda run: [run.cycle(pod("large", cpu="4", priority=9)), *map(run.cycle, run.take_retries())],
    lambda run: run.nominate(waiting("two"), "c"),
)
"""The events that can happen to a run."""


@pytest.mark.parametrize("release", RELEASES)
class TestSavepoint:
    @examples(0.2)
    @given(steps=st.lists(st.sampled_from(STEPS), max_size=8), fails=st.booleans())
    def test_all_is_as_before(self, release, steps, fails):
        """After a savepoint a run is in the state of one without it, and decides alike; an error takes back
        what was to be kept."""
        ours = new_run(release)
        twin = new_run(release)
        ours.cycle(waiting("first"))
        twin.cycle(waiting("first"))
        before = state(ours)
        with suppress(ZeroDivisionError), ours.savepoint() as point:
            for step in steps:
                step(ours)
            if fails:
                point.keep()
                raise ZeroDivisionError
        assert state(ours) == before
        assert decisions(ours) == decisions(twin)

    def test_what_is_kept_goes_with_the_outer_one(self, release):
        """An inner savepoint that is kept counts until the outer one ends."""
        run = new_run(release)
        before = state(run)
        with run.savepoint():
            with run.savepoint() as point:
                run.put(in_zone("d", "z"))
                point.keep()
            with run.savepoint():
                run.put(in_zone("e", "z"))
            assert {"d", "e"} & set(run.engine.cache.infos) == {"d"}
        assert state(run) == before

    def test_what_is_kept_stays(self, release):
        """Outside of others, what is kept stays for good."""
        run = new_run(release)
        with run.savepoint() as point:
            host = run.cycle(waiting("one")).host
            point.keep()
        assert host is not None
        assert "default/one" in state(run)[0][host]

    def test_nominations_keep_their_order(self, release):
        """A pod's own nomination does not count for what is asked about it, and comes back to its place in
        the node's list."""
        engine = new_run(release).engine
        pods = [waiting(name, status={"nominatedNodeName": "a"}) for name in "pqr"]
        for one in pods:
            engine.nominations.add(one)
        with engine.preserving_state(pods[0]):
            assert [one.name for one in engine.nominations.on("a")] == ["q", "r"]
            assert engine.nominations.node_of(pods[0]) == ""
        assert [one.name for one in engine.nominations.on("a")] == ["p", "q", "r"]


def test_a_node_that_is_only_tried_gone_leaves_no_error():
    """In 1.19, where a pod is on an unknown node, the cycle after a node went fails; a trial's end is no such
    event."""
    run = new_run("1.19")
    run.put(waiting("lost", on="unknown"))
    run.cycle(pod("before"))
    for step in (lambda: run.delete(in_zone("b", "y")), lambda: run.put(in_zone("d", "z"))):
        with run.savepoint():
            step()
            run.cycle(pod("tried"))
        with run.savepoint():
            assert run.cycle(pod("after")).error is None
