"""Every "can go" holds in a replay through a scheduler of its own, and every "cannot" of a single node in one
that tries it out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.objects import Pod
from kubeclassic.simulation.evictions import is_mirror
from tests.support.drainbuild import FLAGS, RELEASES, Replay, asked, cluster_of, renewed, replayed, settled
from tests.support.examples import examples

SEEDS = st.integers(0, 1 << 30)
flags_by_lot = st.fixed_dictionaries(
    {
        name: st.booleans()
        for name in (
            "ignore_daemonsets",
            "delete_emptydir_data",
            "force",
            "recreate_bare",
            "disable_eviction",
        )
    }
)


def left_on(pods, names):
    """The pods on some nodes that a drain must not leave there."""
    here = [pod for pod in pods if pod.spec.node_name in names]
    return [
        pod
        for pod in here
        if not (is_mirror(pod) or (pod.metadata.controller and pod.metadata.controller.kind == "DaemonSet"))
    ]


@examples(0.6)
@given(
    seed=SEEDS,
    release=st.sampled_from(RELEASES),
    flags=flags_by_lot,
    names=st.sets(st.integers(0, 4), min_size=1),
)
def test_what_can_go_does_in_a_replay(seed, release, flags, names):
    """The plan's steps lead to nodes without pods, on the hosts that a new scheduler chooses, with
    budgets held in each round."""
    objects = settled(cluster_of(seed), release, preemption=False)
    record = asked(objects, [f"n{number}" for number in sorted(names)], release, **flags)
    assert set(record["can"]) | set(record["cannot"]) == {f"n{number}" for number in names}
    after = replayed(objects, release, record, asks_budgets=not flags["disable_eviction"])
    assert left_on(list(after.pods), record["can"]) == []


@examples(0.4)
@given(seed=SEEDS, release=st.sampled_from(RELEASES))
def test_so_does_what_a_search_finds(seed, release):
    """The set that --auto finds is proven in the same way."""
    objects = settled(cluster_of(seed), release, preemption=False)
    record = asked(objects, [], release, auto=True, **FLAGS)
    after = replayed(objects, release, record)
    assert left_on(list(after.pods), record["can"]) == []


@examples(0.2)
@given(seed=SEEDS, release=st.sampled_from(RELEASES))
def test_those_that_run_somewhere_still_do(seed, release):
    """Each pod that ran before runs afterwards, or another in its place, but for bare pods of drained
    nodes."""
    objects = settled(cluster_of(seed), release, preemption=False)
    record = asked(objects, ["n0", "n1"], release, **FLAGS)
    gone = [found for found in record["evictions"] if found["to"] is None]
    before = [item for item in objects if isinstance(item, Pod) and item.spec.node_name]
    after = [pod for pod in replayed(objects, release, record).pods if pod.spec.node_name]
    assert len(before) - len(gone) == len(after)
    bare = {pod.key for pod in before if pod.metadata.controller is None}
    assert {found["pod"] for found in gone} <= bare


def tried_out(objects, name, release):
    """Whether one node can go, by plain steps: evict what budgets allow, place what comes instead, until
    nothing is left."""
    replay = Replay.of(objects, release, preemption=False)
    replay.cordon(name)
    number = 0
    while True:
        pods = sorted(left_on(list(replay.cluster.pods), [name]), key=lambda pod: pod.key)
        if not pods:
            return True
        gone = []
        for pod in pods:
            if (
                all(replay.left[budget] > 0 for budget in replay.of_budget(pod))
                and len(replay.of_budget(pod)) < 2
            ):
                gone.append(replay.leave(pod.key, by_drain=True))
        if not gone:
            return False
        for pod in gone:
            owner = pod.metadata.controller
            if owner is not None:
                number += 1
                key = pod.key if owner.kind == "StatefulSet" else f"default/new-{number}"
                if replay.come(renewed(pod, key)).host in (None, name):
                    return False


@examples(0.8)
@given(seed=SEEDS, release=st.sampled_from(RELEASES), number=st.integers(0, 4))
def test_of_one_node_is_what_trying_says(seed, release, number):
    """A single node can go if and only if plain steps empty it."""
    objects = settled(cluster_of(seed), release, preemption=False)
    record = asked(objects, [f"n{number}"], release, preemption=False, **FLAGS)
    assert bool(record["can"]) == tried_out(objects, f"n{number}", release)


@pytest.mark.parametrize("release", RELEASES)
def test_a_wrong_claim_is_seen(release):
    """A plan with another host, or with budgets overdrawn, does not pass."""
    for seed in range(200):
        objects = settled(cluster_of(seed), release, preemption=False)
        record = asked(objects, ["n0"], release, **FLAGS)
        moved = [found for found in record["evictions"] if found["to"] is not None]
        if moved:
            break
    wrong = {**record, "evictions": [{**found, "to": "n0"} for found in record["evictions"]]}
    with pytest.raises(AssertionError):
        replayed(objects, release, wrong)
