"""PodTopologySpread, hard constraints: which domains are too full, by example, on trials and against a plain
loop."""

import pytest
import yaml

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.counts import judged
from kubeclassic.core.run import EventFeed
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.plugin import Code, Status
from tests.support.asking import cycle_of, found_by, scores
from tests.support.build import manifest, node, obj, overlay, owned_by, pod
from tests.support.spreadbuild import (
    LEAVING,
    NEAR,
    A,
    B,
    against,
    constraint,
    incoming,
    named,
    peer,
    plugin,
    soft,
)  # fmt: skip


def test_the_error_says_where_from_some_release_on():
    """From 1.30 on the text begins with what was being done."""
    cycle = cycle_of(incoming(constraint(selector=NEAR)), A)
    status = plugin(release="1.30").pre_filter(cycle.template, cycle)
    assert status.message.startswith(
        "get constraints from pod: obtaining pod's hard topology spread constraints: "
    )


def test_an_invalid_selector_is_an_error():
    """An invalid hard constraint is an error of PreFilter; an invalid soft one is not."""
    cycle = cycle_of(incoming(constraint(selector=NEAR)), A)
    status = plugin().pre_filter(cycle.template, cycle)
    assert status == Status(
        Code.ERROR,
        ('obtaining pod\'s hard topology spread constraints: "Near" is not a valid label selector operator',),
    )
    quiet = cycle_of(incoming(soft(selector=NEAR)), A)
    assert plugin().pre_filter(quiet.template, quiet) is None


# --- One key twice ------------------------------------------------------------------------------------------


TWO = (
    constraint(selector={"matchLabels": {"app": "a"}}),
    constraint(skew=2, selector={"matchLabels": {"tier": "t"}}),
)


@pytest.mark.parametrize("release, found", [("1.32", "skew"), ("1.33", None)])
def test_counts_are_shared_or_not(release, found):
    """A pod that the second constraint alone counts fills the domain for the first one too, until they
    count apart."""
    pods = pod("f", on="a", labels={"tier": "t"}), pod("g", on="a", labels={"tier": "t"})
    by = plugin(release=release)
    assert against(incoming(*TWO), A, B, *pods, by=by) == {"a": found, "b": None}


@pytest.mark.parametrize("release", ["1.32", "1.33"])
def test_what_is_declared_says_the_same(release):
    """Shared or apart, the clauses of the plugin have against each node what its filter has."""
    pods = pod("f", on="a", labels={"tier": "t"}), pod("g", on="a", labels={"tier": "t"})
    cycle = cycle_of(incoming(*TWO), A, B, *pods)
    by = plugin(release=release)
    clauses = by.filter_clauses(cycle.template, cycle)
    nodes = Batch(cycle.table)
    assert clauses is not None
    found = [
        answer and [answer.reasons(row) for row in range(2)]
        for answer in (judged(clauses, nodes), by.filter(cycle.template, nodes, cycle))
    ]
    assert found[0] == found[1]


def test_later_no_gate_is_needed():
    """From 1.30 on minDomains counts though there is no such gate any more."""
    pods = peer("f", "a"), peer("g", "b")
    assert against(incoming(constraint(minDomains=3)), A, B, *pods, by=plugin(release="1.34")) == {
        "a": "skew",
        "b": "skew",
    }


def test_without_the_gate_it_is_passed_over():
    """With MinDomainsInPodTopologySpread off minDomains means nothing, and without any domain everything
    fits."""
    off = plugin(MinDomainsInPodTopologySpread=False)
    assert against(incoming(constraint(minDomains=3)), A, B, peer("f", "a"), peer("g", "b"), by=off) == {
        "a": None,
        "b": None,
    }
    nowhere = incoming(constraint(skew=0), nodeSelector={"rack": "none"})
    assert against(nowhere, A, by=off) == {"a": None}
    assert against(nowhere, A) == {"a": "skew"}


# --- Policies -----------------------------------------------------------------------------------------------


C = node("c", labels={"zone": "z", "rack": "2"})
TAINTED = node(
    "t", labels={"zone": "t", "rack": "1"}, taints=yaml.safe_load("[{key: k, value: v, effect: NoExecute}]")
)


def test_without_the_gate_the_policies_are_the_defaults():
    """With NodeInclusionPolicyInPodTopologySpread off affinity is honored and taints are ignored."""
    off = plugin(NodeInclusionPolicyInPodTopologySpread=False)
    new = incoming(constraint(nodeAffinityPolicy="Ignore"), nodeSelector={"rack": "1"})
    assert against(new, A, C, peer("f", "a"), by=off)["a"] is None
    assert (
        against(incoming(constraint(nodeTaintsPolicy="Honor")), A, TAINTED, peer("f", "a"), by=off)["a"]
        == "skew"
    )


def test_without_the_gate_they_are_passed_over():
    """With MatchLabelKeysInPodTopologySpread off the selector alone counts."""
    new = incoming(constraint(matchLabelKeys=["rev"]), labels={"rev": "2"})
    off = plugin(MatchLabelKeysInPodTopologySpread=False)
    assert against(new, A, B, peer("f", "a", labels={"rev": "1"}), by=off)["a"] == "skew"


class TestTrials:
    def trial(self, new, *objects):
        cycle = cycle_of(new, *objects)
        return cycle, overlay(cycle)

    def test_removing_a_terminating_pod_takes_off_what_was_never_counted(self):
        """The count of its domain falls to one less than the pods that count there."""
        cycle, trial = self.trial(
            incoming(constraint()), A, B, peer("f", "a"), peer("g", "a", metadata=LEAVING)
        )
        assert named(found_by(plugin(), cycle, trial))["a"] == "skew"
        trial.remove(trial.pods(0)[1], 0)
        assert named(found_by(plugin(), cycle, trial))["a"] is None

    def test_an_edit_where_the_policies_forbid_is_not_followed(self):
        """A pod that leaves a node that makes no domain changes nothing."""
        c = node("c", labels={"zone": "x", "rack": "2"})
        cycle, trial = self.trial(
            incoming(constraint(), nodeSelector={"rack": "1"}), A, B, c, peer("f", "a"), peer("g", "c")
        )
        trial.remove(trial.pods(2)[0], 2)
        assert named(found_by(plugin(), cycle, trial))["c"] == "skew"

    def test_the_number_of_domains_stays_as_it_was(self):
        """Adding and removing pods does not change whether there are too few domains."""
        cycle, trial = self.trial(incoming(constraint(minDomains=3)), A, B, peer("f", "a"))
        trial.remove(trial.pods(0)[0], 0)
        trial.add(cycle.templates.entry(peer("n", ""), nominated=True), 1)
        assert named(found_by(plugin(), cycle, trial)) == {"a": None, "b": "skew"}

    def test_what_a_trial_asked_first_is_still_watched(self):
        """After a trial in the same cycle the whole table is counted again, so its cached answer knows which
        counters it read."""
        cycle, trial = self.trial(incoming(constraint()), A, B)
        judge = plugin()
        found_by(judge, cycle, trial)
        watched = cycle.table.census.watch = []
        found_by(judge, cycle, Batch(cycle.table))
        cycle.table.census.watch = None
        assert watched


def test_a_node_that_left_takes_its_domain_along():
    """A deleted node makes no domain any more, even while its pods remain."""
    engine = framework_engine()
    feed = EventFeed(engine)
    feed.put_all((A, B, peer("f", "a"), pod("other", on="b")))
    cycle = engine.begin(incoming(constraint()))
    assert named(found_by(plugin(), cycle, Batch(cycle.table)))["a"] == "skew"
    feed.delete(B)
    cycle = engine.begin(incoming(constraint()))
    assert named(found_by(plugin(), cycle, Batch(cycle.table))) == {"a": None}


# --- PodTopologySpread, soft and default constraints: which domains are preferred, by example and against a plain loo---


SERVICE = obj(manifest("Service", "s", namespace="default", spec={"selector": {"app": "a"}}))
ZONED = [
    node(name, labels={"kubernetes.io/hostname": name, **zone})
    for name, zone in (
        ("n0", {"topology.kubernetes.io/zone": "a"}),
        ("n1", {"topology.kubernetes.io/zone": "b"}),
        ("n2", {}),
    )
]


# --- Defaults -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, api, selector",
    [
        ("ReplicaSet", "apps/v1", {"matchLabels": {"app": "a"}}),
        ("StatefulSet", "apps/v1", {"matchLabels": {"app": "a"}}),
        ("ReplicationController", "v1", {"app": "a"}),
    ],
)
def test_a_controller_selects(kind, api, selector):
    """The controller that owns the pod selects its peers; one that is only called so, of another API
    group, does not."""
    for version, spreads in ((api, True), ("other/v1", False)):
        new = pod("new", app="a", metadata=owned_by(kind, apiVersion=version))
        found = scores(
            plugin(),
            new,
            obj(manifest(kind, "o", namespace="default", spec={"selector": selector})),
            *ZONED,
            peer("p", "n0"),
        )
        assert (found["n0"] < 100) is spreads


def test_nodes_without_a_zone_stand_with_those_of_an_empty_one():
    """An empty zone label and none make one domain: the node that has the label is scored with the pods
    of the one that lacks it."""
    nodes = node("n0", labels={"topology.kubernetes.io/zone": ""}), node("n1")
    found = scores(plugin(), pod("new", app="a"), SERVICE, *nodes, peer("p", "n1"), raw=True)
    assert found == {"n0": 5, "n1": 0}


def test_a_service_that_comes_later_is_seen():
    """Default constraints are deduced again once a service is added."""
    new = pod("new", app="a")
    cycle = cycle_of(new, *ZONED)
    judge = plugin()
    assert judge.constraints(cycle.template, "ScheduleAnyway", cycle) == ()
    cycle.listings.services.put(SERVICE)
    assert len(judge.constraints(cycle.template, "ScheduleAnyway", cycle)) == 2


def test_an_invalid_selector_of_a_soft_one_is_an_error():
    """An invalid soft constraint is an error of PreScore."""
    cycle = cycle_of(incoming(soft(selector=NEAR)), A)
    status = plugin().pre_score(cycle.template, Batch(cycle.table), cycle)
    of_soft = "calculating preScoreState: obtaining pod's soft topology spread constraints"
    text = f'{of_soft}: "Near" is not a valid label selector operator'
    assert status == Status(Code.ERROR, (text,))
