"""PodTopologySpread, hard constraints: which domains are too full, by example, on trials and against a plain
loop."""

import pytest

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.arrays.counts import judged
from kubeclassic.core.feed import EventFeed
from kubeclassic.framework.flow import framework_engine
from kubeclassic.framework.status import Code, Status
from tests.support.asking import cycle_of, found_by
from tests.support.build import node, overlay, pod
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
)


class TestHard:
    def test_the_error_says_where_from_some_release_on(self):
        """From 1.30 on the text begins with what was being done."""
        cycle = cycle_of(incoming(constraint(selector=NEAR)), A)
        status = plugin(release="1.30").pre_filter(cycle.template, cycle)
        assert isinstance(status, Status)
        assert status.message.startswith(
            "get constraints from pod: obtaining pod's hard topology spread constraints: "
        )

    def test_an_invalid_selector_is_an_error(self):
        """An invalid hard constraint is an error of PreFilter; an invalid soft one is not."""
        cycle = cycle_of(incoming(constraint(selector=NEAR)), A)
        status = plugin().pre_filter(cycle.template, cycle)
        assert status == Status(
            Code.ERROR,
            (
                'obtaining pod\'s hard topology spread constraints: "Near" is not a valid label selector operator',
            ),
        )
        quiet = cycle_of(incoming(soft(selector=NEAR)), A)
        assert plugin().pre_filter(quiet.template, quiet) is None


class TestOneKeyTwice:
    TWO = (
        constraint(selector={"matchLabels": {"app": "a"}}),
        constraint(skew=2, selector={"matchLabels": {"tier": "t"}}),
    )

    @pytest.mark.parametrize(("release", "found"), [("1.32", "skew"), ("1.33", None)])
    def test_counts_are_shared_or_not(self, release, found):
        """A pod that the second constraint alone counts fills the domain for the first one too, until they
        count apart."""
        pods = pod("f", on="a", labels={"tier": "t"}), pod("g", on="a", labels={"tier": "t"})
        by = plugin(release=release)
        assert against(incoming(*self.TWO), A, B, *pods, by=by) == {"a": found, "b": None}

    @pytest.mark.parametrize("release", ["1.32", "1.33"])
    def test_what_is_declared_says_the_same(self, release):
        """Shared or apart, the clauses of the plugin have against each node what its filter has."""
        pods = pod("f", on="a", labels={"tier": "t"}), pod("g", on="a", labels={"tier": "t"})
        cycle = cycle_of(incoming(*self.TWO), A, B, *pods)
        by = plugin(release=release)
        clauses = by.filter_clauses(cycle.template, cycle)
        nodes = Batch(cycle.table)
        assert clauses is not None
        found = [
            answer and [answer.reasons(row) for row in range(2)]
            for answer in (judged(clauses, nodes), by.filter(cycle.template, nodes, cycle))
        ]
        assert found[0] == found[1]


class TestMinDomains:
    def test_later_no_gate_is_needed(self):
        """From 1.30 on minDomains counts though there is no such gate any more."""
        pods = peer("f", "a"), peer("g", "b")
        assert against(incoming(constraint(minDomains=3)), A, B, *pods, by=plugin(release="1.34")) == {
            "a": "skew",
            "b": "skew",
        }

    def test_without_the_gate_it_is_passed_over(self):
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


class TestPolicies:
    C = node("c", labels={"zone": "z", "rack": "2"})
    TAINTED = node(
        "t", labels={"zone": "t", "rack": "1"}, taints=[{"key": "k", "value": "v", "effect": "NoExecute"}]
    )

    def test_without_the_gate_the_policies_are_the_defaults(self):
        """With NodeInclusionPolicyInPodTopologySpread off affinity is honored and taints are ignored."""
        off = plugin(NodeInclusionPolicyInPodTopologySpread=False)
        new = incoming(constraint(nodeAffinityPolicy="Ignore"), nodeSelector={"rack": "1"})
        assert against(new, A, self.C, peer("f", "a"), by=off)["a"] is None
        assert (
            against(incoming(constraint(nodeTaintsPolicy="Honor")), A, self.TAINTED, peer("f", "a"), by=off)[
                "a"
            ]
            == "skew"
        )


class TestMatchLabelKeys:
    def test_without_the_gate_they_are_passed_over(self):
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
        trial.add(cycle.nominated_entry(peer("n", "")), 1)
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
    for item in (A, B, peer("f", "a"), pod("other", on="b")):
        feed.put(item)
    cycle = engine.begin(incoming(constraint()))
    assert named(found_by(plugin(), cycle, Batch(cycle.table)))["a"] == "skew"
    feed.delete(B)
    cycle = engine.begin(incoming(constraint()))
    assert named(found_by(plugin(), cycle, Batch(cycle.table))) == {"a": None}


# --- against a plain loop -----------------------------------------------------------------------------------
