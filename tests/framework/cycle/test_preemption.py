"""DefaultPreemption: which pods may preempt, which have to leave, and the message if it does not help."""

import numpy as np
import pytest
import yaml

from kubeclassic.core.decision.preemptionplan import NodeVictims
from kubeclassic.core.run import EventFeed
from kubeclassic.framework.cycle.preemption import shortlisted
from kubeclassic.simulation.conform import engine_for
from tests.support.build import node, pod
from tests.support.drainbuild import budget
from tests.support.frameworkbuild import decided, scheduler
from tests.support.volumebuild import bound, on, using, volume

BIG = {"cpu": "3"}


def plan(engine, new):
    """Node and victims of the preemption for *new*."""
    found = decided(engine, new).preemption
    return found.node, [victim.name for victim in found.victims]


# --- Eligibility --------------------------------------------------------------------------------------------


def leaving(**status):
    """A pod of lower priority on node a that is being deleted."""
    return pod(
        "low", on="a", requests=BIG, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}, status=status
    )


def test_victims_that_still_leave_block():
    """While a victim is leaving the nominated node, no other pod is preempted."""
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    new = pod("p", priority=5, requests=BIG, nominated="a")
    engine = scheduler(node("a"), leaving(conditions=[condition]))
    assert "not eligible due to a terminating pod on the nominated node." in str(decided(engine, new).error)


def test_a_pod_that_a_user_deletes_does_not():
    """A victim without that condition blocks only if gate PodDisruptionConditions is off."""
    new = pod("p", priority=5, requests=BIG, nominated="a")
    assert plan(scheduler(node("a"), leaving()), new) == ("a", ["low"])
    engine = scheduler(node("a"), leaving(), gates={"PodDisruptionConditions": False})
    assert "not eligible" in str(decided(engine, new).error)


def test_allowances_are_used_up():
    """Each victim uses up its budgets: the second of two violates an allowance of one, and violating
    victims are listed first."""
    there = [pod(f"e{i}", on="a", priority=5 - i, cpu="2", app="a") for i in range(2)]
    engine = scheduler(node("a"), *there, budget("b", "a", 1))
    decision = decided(engine, pod("p", priority=9, cpu="4"))
    assert decision.preemption.record().candidates == {"a": NodeVictims(("default/e1", "default/e0"), 1)}


# --- Shortlist ----------------------------------------------------------------------------------------------


def nodes():
    """150 nodes, the last of which is the best to preempt on."""
    return [
        item
        for i in range(150)
        for item in (node(f"n{i:03}"), pod(f"e{i}", on=f"n{i:03}", priority=150 - i, requests=BIG))
    ]


def test_not_all_nodes_are_tried():
    """The dry run ends with the hundredth candidate."""
    engine = scheduler(*nodes())
    assert plan(engine, pod("p", priority=999, requests=BIG)) == ("n099", ["e99"])


def test_all_are_where_that_is_asked_for():
    """Without shortlists every node is tried."""
    engine = scheduler(*nodes(), shortlists=False)
    assert plan(engine, pod("p", priority=999, requests=BIG)) == ("n149", ["e149"])


def test_each_kind_has_a_list_of_its_own():
    """As many candidates that violate a budget are kept as that do not, and the search ends with this number
    together if one does not."""
    assert kept([0, 1, 0], 2) == ([0, 1], True)
    assert kept([2, 1, 3], 2) == ([0, 1], False)
    assert kept([2, 1, 3, 0, 0], 2) == ([0, 1, 3], True)
    assert kept([0, 0], 3) == ([0, 1], False)


def test_a_list_without_places():
    """A share of nodes that comes to 0 leaves room for no candidate at all, however many nodes would do."""
    config = yaml.safe_load("""
        - name: DefaultPreemption
          args: {minCandidateNodesPercentage: 10, minCandidateNodesAbsolute: 0}
        """)
    nodes = [node("a"), node("b", cpu="1"), pod("x", on="a", requests=BIG), pod("y", on="b", cpu="1")]
    engine = scheduler(*nodes, profile={"pluginConfig": config})
    decision = decided(engine, pod("p", priority=9, requests=BIG))
    assert str(decision.error).endswith(" preemption: 0/1 nodes are available: 1 Insufficient cpu..")


def kept(violations, wanted):
    """The candidates that are kept, and whether the search ends."""
    mask, is_enough = shortlisted(np.array(violations, np.int64), wanted)
    return np.flatnonzero(mask).tolist(), is_enough


def test_pods_cannot_be_followed_after_an_empty_intersection():
    """If PreFilter ended early there is no state to update in the dry run: the attempt is an error."""
    there = volume("v", **on(**{"kubernetes.io/hostname": "b"}))
    engine = scheduler(node("a"), node("b"), pod("low", on="a"), bound("c", "v"), there)
    field = yaml.safe_load("{matchFields: [{key: metadata.name, operator: In, values: [a]}]}")
    affinity = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [field]}}
    }
    new = using("p", "c", priority=5, affinity=affinity)
    assert decided(engine, new).error == (
        "0/2 nodes are available: node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding] simultaneously."
        ' preemption: running RemovePod on PreFilter plugin "PodTopologySpread":'
        ' reading "PreFilterPodTopologySpread" from cycleState: not found.'
    )


@pytest.mark.parametrize(
    "release, wanted", [("1.17", ("gone", ["low"])), ("1.18", (None, [])), ("1.20", (None, []))]
)
def test_1_17_tries_them(release, wanted):
    """1.17 tries such a node as it was last seen, until its pods have left or it is back."""
    gone = node("gone")
    low = pod("low", on="gone", priority=0, requests=BIG)
    engine = engine_for(release, {"percentageOfNodesToScore": 100})
    feed = EventFeed(engine)
    feed.put_all([node("full", cpu="1"), gone, low])
    decided(engine, pod("any"))
    feed.delete(gone)
    assert plan(engine, pod("p", priority=5, requests=BIG)) == wanted
    assert plan(engine, pod("q", priority=5, requests=BIG)) == wanted
    feed.delete(low)
    assert plan(engine, pod("r", priority=5, requests=BIG)) == (None, [])
    feed.put(gone)
    assert decided(engine, pod("s", priority=5, requests=BIG)).host == "gone"
