"""The reasons why a pod fits on no node: as data, and parsed from the messages of every release."""

from collections import Counter

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic import Scheduler, explain, simulate
from kubeclassic.api.cluster import Cluster
from kubeclassic.api.view import Paragraph
from kubeclassic.core.decision.verdict import FitError, read_fit_error, reasons_in
from kubeclassic.framework.options import options_of
from kubeclassic.framework.releases import ALL_RELEASES
from tests.support.build import node, pod

NODES = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(["1", "2"]),
        "memory": st.sampled_from(["1Gi", "2Gi"]),
        "labels": st.sampled_from([{}, {"disk": "ssd"}]),
        "taints": st.sampled_from([[], yaml.safe_load("[{key: for, value: b, effect: NoSchedule}]")]),
        "unschedulable": st.booleans(),
    }
)
PODS = st.fixed_dictionaries(
    {
        "requests": st.sampled_from(
            [{"cpu": "3"}, {"cpu": "3", "memory": "3Gi"}, {"memory": "1500Mi"}, {"example.com/gpu": "1"}]
        ),
        "priority": st.sampled_from([0, 10]),
        "nodeSelector": st.sampled_from([{}, {"disk": "ssd"}]),
        "preemptionPolicy": st.sampled_from(["PreemptLowerPriority", "Never"]),
    }
)


@given(
    st.sampled_from(sorted(ALL_RELEASES)),
    st.lists(NODES, min_size=1, max_size=5),
    PODS,
    st.lists(PODS, max_size=2),
)
def test_reasons_are_those_of_the_nodes(release, nodes, waits, others):
    """The decision's data, and the parsed message, count the reasons of the nodes that failed, whichever rule
    spoke last."""
    there = [node(f"n{at}", **fields) for at, fields in enumerate(nodes)]
    bound = [pod(f"b{at}", on="n0", **{**fields, "priority": 0}) for at, fields in enumerate(others)]
    cluster = Cluster([*there, *bound, pod("p", **waits), pod("q", **waits)])
    ours = Scheduler(cluster, options_of({"release": release}))
    for name in "pq":  # the second one is read off what is kept of the first
        decision = ours.schedule(name)
        if decision.host is None:
            counted = Counter(reason for reasons in decision.failed.values() for reason in reasons)
            assert decision.reasons == counted == reasons_in(decision.error or "")
            assert decision.fit_error is not None
            assert str(decision.fit_error) == decision.error
    for name, outcome in (
        (one.name, one) for one in simulate(cluster, release).document.pods if one.error is not None
    ):
        assert outcome.reason in {
            reason for found in explain(cluster, name, release).nodes for reason in found.reasons
        }
        told = [
            str(part.text)
            for part in explain(cluster, name, release).view().sections[0].shown("table")
            if isinstance(part, Paragraph)
        ]
        assert told[1].endswith(".")
        assert "preemption" not in told[1]


SAID = "0/4 nodes are available: 4 Preemption is not helpful for scheduling."
NOBODY = f"preemption: {SAID}"


@pytest.mark.parametrize(
    "post_filter",
    [
        "",
        NOBODY,
        f"no new claims to deallocate, {NOBODY}",
        f"still not schedulable, {NOBODY}",
        f"plugin disabled, {NOBODY}",
        "deallocation of ResourceClaim completed",
        "deallocation of ResourceClaim completed, preemption: not eligible",
    ],
)
def test_a_message_is_taken_apart(post_filter):
    """Whatever PostFilter says is no reason."""
    error = FitError(
        4, {"Insufficient cpu": 1, "node(s) had taint {a: b}, that the pod didn't tolerate": 3}, post_filter
    )
    found = read_fit_error(str(error))
    assert (found.nodes, found.reasons, found.post_filter.rstrip(".")) == (
        4,
        error.reasons,
        post_filter.rstrip("."),
    )
    assert found.headline == error.headline == str(FitError(4, error.reasons))


def test_what_a_plugin_says_is_no_text_to_cut():
    """Data know where a reason ends; a text does not."""
    error = FitError(4, {"taint {a: 1. preemption: x, 3 b}": 4}, NOBODY)
    assert error.most_first == {"taint {a: 1. preemption: x, 3 b}": 4}
    assert error.headline == "0/4 nodes are available: 4 taint {a: 1. preemption: x, 3 b}."


def test_what_is_said_of_no_node():
    """PreFilter speaks for all nodes in some releases, and other messages count nothing."""
    assert reasons_in("0/9 nodes are available: pod has unbound immediate PersistentVolumeClaims.") == {
        "pod has unbound immediate PersistentVolumeClaims": 0
    }
    assert reasons_in(f"0/4 nodes are available: {NOBODY}") == {
        f"0/4 nodes are available: {NOBODY}".rstrip("."): 0
    }
    assert reasons_in("no such thing.") == {"no such thing": 0}
