"""The pods that may preempt, the nominations that end, and the changes that an attempt must notice since the
one before."""

import pytest

from kubeclassic.core.incremental.verify import verifying
from kubeclassic.core.run import EventFeed
from kubeclassic.simulation.conform import engine_for
from tests.support.build import manifest, node, obj, pod

RELEASES = ("1.13", "1.16", "1.18", "1.27", "1.34")
SLOT = {"cpu": "1"}


def engine(release, *objects):
    """A scheduler of the release."""
    made = engine_for(release, {"percentageOfNodesToScore": 100})
    EventFeed(made).put_all(objects)
    return made


def plan(made, incoming):
    """The node of the preemption, its victims, and the pods that lose their nomination."""
    found = made.schedule(incoming).preemption
    if found is None:
        return None, [], []
    return (
        found.node,
        [one.name for one in found.victims],
        sorted(one.name for one in found.clear_nominations),
    )


def leaving(name, priority, **status):
    """A pod on node n that is being deleted."""
    return pod(
        name,
        on="n",
        priority=priority,
        requests=SLOT,
        metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"},
        status=status,
    )


def budget(name, allowed, **labels):
    """A disruption budget for the pods with *labels*."""
    spec = {"selector": {"matchLabels": labels}}
    return obj(
        manifest(
            "PodDisruptionBudget",
            name,
            namespace="default",
            spec=spec,
            status={"disruptionsAllowed": allowed},
        )
    )


@pytest.mark.parametrize("release", RELEASES)
class TestPriorities:
    """Pods of equal priority are not lower."""

    def test_sums_of_many_are_above_those_of_few(self, release):
        """Of equal first victims two matter more than one, whatever the second one's priority, as 2^31 is
        added to each."""
        first = [pod("a0", on="a", priority=1, requests=SLOT), pod("a1", on="a", priority=-9, requests=SLOT)]
        made = engine(
            release, node("a", cpu="2"), node("b", cpu="2"), *first, pod("b0", on="b", priority=1, cpu="2")
        )
        assert plan(made, pod("p", priority=5, cpu="2"))[:2] == ("b", ["b0"])

    def test_many_ties(self, release):
        """Of many equal nodes the first by name is chosen."""
        names = [f"n{number:02}" for number in range(40)]
        machines = [node(name, cpu="1") for name in reversed(names)]
        there = [pod(f"e-{name}", on=name, priority=0, requests=SLOT) for name in names]
        assert plan(engine(release, *machines, *there), pod("p", priority=5, requests=SLOT))[0] == "n00"

    def test_who_loses_a_nomination(self, release):
        """Pods of lower priority lose their nomination to the node; one of equal priority keeps it."""
        made = engine(
            release, node("n", cpu="3"), *(pod(f"e{i}", on="n", priority=0, requests=SLOT) for i in range(3))
        )
        for name, priority in (("lower", 4), ("equal", 5)):
            nominee = pod(name, priority=priority, requests=SLOT, uid=name, nominated="n")
            made.nominations.add(nominee, "n")
        node_name, victims, cleared = plan(made, pod("p", priority=5, requests=SLOT, uid="p"))
        assert (node_name, bool(victims), cleared) == ("n", True, ["lower"])

    def test_who_blocks_another_attempt(self, release):
        """A pod of lower priority that is leaving the nominated node is waited for; one of equal priority is
        not."""
        condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
        nominated = pod("p", priority=5, requests=SLOT, uid="p", nominated="n")
        for priority, wanted in ((4, None), (5, "n")):
            others = (
                leaving("leaves", priority, conditions=[condition]),
                pod("low", on="n", priority=0, requests=SLOT),
            )
            assert plan(engine(release, node("n", cpu="2"), *others), nominated)[0] == wanted


def test_nominations_outlast_a_victim_that_leaves():
    """With SchedulerAsyncPreemption nominations end unless all victims are leaving already."""
    for leave, cleared in (("a", ["lower"]), ("", ["lower"]), ("ab", [])):
        there = [
            leaving(name, 0) if name in leave else pod(name, on="n", priority=0, requests=SLOT)
            for name in "ab"
        ]
        made = engine("1.34", node("n", cpu="2"), *there)
        made.nominations.add(pod("lower", priority=4, requests=SLOT, uid="lower", nominated="n"), "n")
        assert plan(made, pod("p", priority=5, cpu="2", uid="p"))[2] == cleared


@pytest.mark.parametrize("release", ["1.16", "1.27"])
@pytest.mark.parametrize("allowed, violations", [(0, {"n": 1}), (1, {"n": 0})])
def test_the_number_counts_exactly(release, allowed, violations):
    """A budget with nothing left protects its pod; one with one left lets one go."""
    there = pod("e", on="n", priority=0, requests=SLOT, app="a")
    made = engine(release, node("n", cpu="1"), there, budget("b", allowed, app="a"))
    found = made.schedule(pod("p", priority=5, requests=SLOT)).preemption
    assert {name: one.violations for name, one in found.candidates.items()} == violations


def test_a_protected_pod_takes_from_no_later_budget():
    """1.18 counts budgets down pod by pod: one that the first budget protects does not use up the second
    one."""
    labels = {"x": "1", "y": "1"}
    both = pod("both", on="n", priority=1, requests=SLOT, labels=labels)
    there = [both, pod("second", on="n", priority=0, requests=SLOT, labels={"y": "1"})]
    made = engine("1.18", node("n", cpu="2"), *there, budget("b1", 0, x="1"), budget("b2", 1, y="1"))
    found = made.schedule(pod("p", priority=5, cpu="2")).preemption
    assert {name: one.violations for name, one in found.candidates.items()} == {"n": 1}


@pytest.mark.parametrize("release", ["1.16", "1.27"])
class TestSinceTheLastAttempt:
    """Changes between two attempts are noticed, without verify mode."""

    @pytest.mark.parametrize(
        "key, where", [("kubernetes.io/hostname", "a"), ("failure-domain.beta.kubernetes.io/zone", "a2")]
    )
    def test_a_new_term_of_affinity(self, release, key, where):
        """A pod that comes and refuses the preemptor takes its node out of the candidates; so does one that
        comes to another node of the zone, whose own row alone changes."""
        nodes = [
            node(name, cpu="2", labels={key: name if where == "a" else name[0]}) for name in ("a", "b", "a2")
        ]
        there = [
            pod(f"on-{name}", on=name, priority=priority, cpu="2")
            for name, priority in (("a", 0), ("b", 1), ("a2", 9))
        ]
        made = engine(release, *nodes, *there)
        incoming = pod("p", priority=5, requests=SLOT, app="p", uid="p")
        with verifying(False):
            assert plan(made, incoming)[0] == "a"
            term = {"labelSelector": {"matchLabels": {"app": "p"}}, "topologyKey": key}
            refuses = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
            EventFeed(made).put(pod("shy", on=where, priority=9, affinity=refuses))
            assert plan(made, incoming)[0] == "b"

    @pytest.mark.parametrize("priorities", [(3, 7), (5,)])
    def test_another_priority(self, release, priorities):
        """Pods that are equal but for their priority have outcomes of their own: whom the more important one
        may evict, the less important one may not."""
        size = str(len(priorities))
        there = [pod(f"e{priority}", on="n", priority=priority, cpu="1") for priority in priorities]
        made = engine(release, node("n", cpu=size), *there)
        with verifying(False):
            found = [plan(made, pod(f"p{each}", priority=each, cpu=size))[0] for each in (9, 5, 9)]
        assert found == ["n", None, "n"]

    def test_a_budget(self, release):
        """A budget that changes changes which node is chosen."""
        there = [pod(f"e-{name}", on=name, priority=0, requests=SLOT, app=name) for name in "ab"]
        made = engine(release, node("a", cpu="1"), node("b", cpu="1"), *there)
        incoming = pod("p", priority=5, requests=SLOT, uid="p")
        with verifying(False):
            assert plan(made, incoming)[0] == "a"
            EventFeed(made).put(budget("b", 0, app="a"))
            assert plan(made, incoming)[0] == "b"
