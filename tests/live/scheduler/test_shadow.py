"""The shadow: which pod may be next, which rule refuses one, and how far it agrees with a scheduler that runs
at the same time."""

import asyncio
import random
import re

import attrs
import pytest
import yaml

from kubeclassic.cli import run
from kubeclassic.live.scheduler.scheduler import LiveScheduler
from kubeclassic.live.scheduler.shadow.judging import refusing_rule
from kubeclassic.live.scheduler.shadow.shadow import Backlog, Shadow, UnjudgedPod
from kubeclassic.live.scheduler.state import DryApi
from kubeclassic.predicates import rule
from tests.apiserver import NEW_SERVER, NO_FAULT, Fault, Store, refused, serving_store
from tests.live.scheduler.worlds import live, lived
from tests.support.build import node, pod
from tests.support.kubeconfigs import kubeconfig


def backlog(*pods, reached=0):
    """Pods with their priorities, which came as events 1, 2 and so on."""
    waiting = {key: UnjudgedPod(key, priority, event) for event, (key, priority) in enumerate(pods, start=1)}
    return Backlog(reached=reached, waiting=waiting)


def keys(found):
    """The candidates, the likeliest first."""
    return [each.key for each in found.candidates()]


def test_the_highest_priority_of_those_that_were_known():
    """Where all pods were known to the other scheduler there is one candidate: the first one of the highest
    priority."""
    assert keys(backlog(("a", 0), ("b", 5), ("c", 5), reached=3)) == ["b"]


def test_a_decision_is_older_than_its_outcome():
    """A pod that came after an outcome was seen is not decided on before it."""
    found = backlog(("a", 0))
    found.waiting["a"].outcome = 2
    found.waiting["b"] = UnjudgedPod("b", 5, 3)
    assert keys(found) == ["a"]


MESSAGE = "0/3 nodes are available: 3 {}."


@pytest.mark.parametrize(
    "reason, rule",
    [
        ("Insufficient nvidia.com/gpu", "NodeResourcesFit"),
        ("Too many pods", "NodeResourcesFit"),
        (rule.DISK_CONFLICT.text, "VolumeRestrictions"),
        (rule.VOLUME_ZONE_CONFLICT.text, "VolumeZone"),
        (rule.TAINTS_TOLERATIONS_NOT_MATCH.text, "TaintToleration"),
        (rule.NODE_UNSCHEDULABLE.text, "NodeUnschedulable"),
        (rule.NODE_NETWORK_UNAVAILABLE.text, "CheckNodeCondition"),
        ("cannot allocate all claims", "DynamicResources"),
        ("a reason of one's own", None),
    ],
)
def test_each_reason_has_its_rule(reason, rule):
    """The newest name of the rule is told; an unknown reason has none."""
    assert refusing_rule(MESSAGE.format(reason), [], []) == rule


MOST_ALLOCATED = yaml.safe_load("""
    policy:
      kind: Policy
      predicates: []
      priorities:
      - {name: MostRequestedPriority, weight: 1}
    """)
NO_PREDICATES = yaml.safe_load("{policy: {kind: Policy, predicates: [], priorities: []}}")


def shadowed(release, other, config):
    """The report of a shadow on a burst of pods of three sizes on six nodes, one of them larger, and on one
    pod that fits nowhere."""
    told = []

    async def play(world):
        for number in range(6):
            world.add_node(f"node-{number}", cpu="8" if number == 3 else "4")
        found = world.shadow(other, config)[1]
        world.schedule()
        await asyncio.sleep(2.0)
        for number in range(40):
            world.add_pod(f"pod-{number}", cpu=("100m", "250m", "500m")[number % 3])
        world.add_pod("big", cpu="64")
        await asyncio.sleep(30.0)
        told.extend(found)

    return live(release, play), told


@pytest.mark.parametrize("release", ["1.12", "1.15", "1.16", "1.27", "1.36"])
def test_a_scheduler_agrees_with_itself(release):
    """Beside a scheduler of the same release and configuration no pod differs, not even by a tie-break, in a
    burst of bindings."""
    world, told = shadowed(release, release, {})
    assert len(told) == 41
    assert {one.verdict for one in told} == {"same"}
    assert all(host for name, host in world.hosts.items() if name != "big")


def test_other_scores_are_found():
    """A scheduler that packs pods differs from one that spreads them, and the rule is named."""
    _, told = shadowed("1.16", "1.16", MOST_ALLOCATED)
    different = [one for one in told if one.differs and one.cluster]
    assert different
    assert {one.cause.rule for one in different if one.cause is not None} == {"MostRequestedPriority"}
    assert "MostRequestedPriority: scores" in different[0].line()


def test_other_predicates_are_found():
    """A pod that fits nowhere for the cluster's scheduler, but fits for the shadow, differs; the cluster's
    message says why."""
    _, told = shadowed("1.16", "1.16", NO_PREDICATES)
    big = next(one for one in told if one.pod == "default/big")
    assert (big.verdict, big.cluster) == ("different", None)
    assert big.ours
    assert (big.cause.rule, big.cause.side) == ("NodeResourcesFit", "cluster")
    assert "NodeResourcesFit turns" in big.line()
    assert "Insufficient cpu" in big.line()


@pytest.mark.parametrize("release", ["1.16", "1.27"])
async def test_a_difference_in_a_quiet_cluster(release):
    """The order of pods that come one by one is known: one on a node that ours would not take is reported as
    different within three seconds."""
    async with lived(release) as world:
        world.add_node("node-0")
        world.add_node("node-1", cpu="64")
        told = world.shadow(release)[1]
        for number in range(6):
            world.add_pod(f"pod-{number}", cpu="1")
            await asyncio.sleep(0.2)
            world.bind(f"pod-{number}", "node-0" if number == 2 else "node-1")
            await asyncio.sleep(3.0)
            assert len(told) == number + 1
    assert [one.verdict for one in told] == ["same", "same", "different", "same", "same", "same"]


@pytest.mark.parametrize("node", ["", "node-0"])
async def test_a_pod_under_the_name_of_another(node):
    """A pod is judged though one of its name, with or without a node, left while a third waits."""
    async with lived("1.27") as world:
        world.add_node("node-0")
        world.add_node("node-1", cpu="64")
        world.add_pod("db-0", cpu="1")
        if node:
            world.bind("db-0", node)
        told = world.shadow("1.27")[1]
        await asyncio.sleep(1.0)
        world.add_pod("other", cpu="1")
        await asyncio.sleep(0.1)
        world.drop_pod("db-0")
        world.add_pod("db-0", cpu="1")
        await asyncio.sleep(0.1)
        world.bind("other", "node-1")
        world.bind("db-0", "node-1")
        await asyncio.sleep(9.0)
    assert sorted((one.pod, one.verdict) for one in told) == [
        ("default/db-0", "same"),
        ("default/other", "same"),
    ]


@attrs.define(eq=False)
class Slow(LiveScheduler):
    """A scheduler that needs some time for each decision."""

    async def step(self):
        """One cycle."""
        await asyncio.sleep(0.03)
        return await super().step()


@pytest.mark.whole
@pytest.mark.parametrize("release", ["1.15", "1.16", "1.27", "1.36"])
@pytest.mark.parametrize("seed", range(3))
async def test_priorities_while_pods_come(release, seed):
    """Pods of four priorities come faster than they are decided on, and their bindings are written in any
    order: still nothing differs."""
    rand = random.Random(seed)

    def slow_bindings(request):
        return Fault(delay=rand.uniform(0.0, 0.1)) if request.path.endswith("/binding") else NO_FAULT

    async with lived(release, slow_bindings) as world:
        for number, value in enumerate((-10, 100, 1000)):
            world.user.create("priorityclasses", {"metadata": {"name": f"class-{number}"}, "value": value})
        for number in range(9):
            world.add_node(f"node-{number}", cpu="10" if number % 2 else "6")
        told = world.shadow(release)[1]
        world.schedule(make=Slow)
        await asyncio.sleep(2.0)
        for number in range(90):
            wanted = rand.choice(({}, *({"priorityClassName": f"class-{value}"} for value in range(3))))
            world.add_pod(f"pod-{number}", cpu=rand.choice(("100m", "250m", "700m", "64")), **wanted)
            await asyncio.sleep(0.02)
        await asyncio.sleep(60.0)
    assert {one.pod for one in told} == {f"default/pod-{number}" for number in range(90)}
    assert [one.line() for one in told if one.differs] == []


@pytest.mark.parametrize("release", ["1.16", "1.27", "1.36"])
async def test_what_follows_a_decision_does_not_count_for_it(release):
    """A pod is refused, and at once another one goes whose place it then gets: for the shadow too it fitted
    nowhere first."""
    async with lived(release) as world:
        world.add_node("node-0", cpu="1")
        world.schedule()
        told = world.shadow(release)[1]
        world.add_pod("first", cpu="1")
        await asyncio.sleep(5.0)
        world.add_pod("second", cpu="1")
        await asyncio.sleep(0.1)
        world.drop_pod("first")
        await asyncio.sleep(30.0)
    assert [(one.pod, one.verdict, one.cluster) for one in told] == [
        ("default/first", "same", "node-0"),
        ("default/second", "same", None),
        ("default/second", "same", "node-0"),
    ]


def test_a_cluster_that_is_never_seen(tmp_path, capsys):
    """A shadow that got no list is bad input, not a scheduler that decides alike; the kinds are named."""
    with serving_store(Store(NEW_SERVER), faults=lambda request: refused(403, "Forbidden", "no")) as address:
        status = run(
            ["shadow", "--for", "0.3", "--kubeconfig", str(kubeconfig(tmp_path, {"server": address}))]
        )
    captured = capsys.readouterr()
    assert (status, captured.out) == (2, "")
    assert re.search(
        r"^kubeclassic: cluster: expected a whole list of .*\bPod\b.* before the end, got none$",
        captured.err,
        re.M,
    )


@pytest.mark.parametrize(
    "seen",
    [
        [{}, {"on": "node-0"}, {"uid": "b", "on": "node-0"}],
        [{"schedulerName": "other"}, {"uid": "b"}],
        [{"on": "node-0"}, {"uid": "b"}, {"uid": "b", "on": "node-0"}],
    ],
)
async def test_another_pod_of_the_name(seen):
    """Whatever waits to be judged about the pod before, the last one that was *seen* stays."""
    async with lived("1.27") as world:
        shadow = Shadow(world.state(DryApi()), [].append)
        shadow.put(node("node-0"))
        task = asyncio.create_task(shadow.run())
        await asyncio.sleep(1.0)
        shadow.put(pod("waits"))
        for form in seen:
            last = pod("p", **{"uid": "a", **form})
            shadow.put(last)
        shadow.put(pod("waits", uid="c"))  # all that was seen before takes effect
        await asyncio.sleep(30.0)
        task.cancel()
        assert shadow.state.pod(last.key) == last
