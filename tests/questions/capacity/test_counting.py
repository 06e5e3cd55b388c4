"""Details of the count: what plugins and users' rules say, pods that wait, gates, orders, and what functions
and results give."""

import pytest
import yaml

from kubeclassic import Cluster, capacity
from kubeclassic.framework.options import Classic
from kubeclassic.plugins import Plugin, unschedulable, wait
from kubeclassic.rules import CATALOGUE, Failures, Reads, Reason, predicate
from tests.conftest import ROOT
from tests.support.keywords import keywords_of
from tests.support.manifests import node, pod

EXAMPLE = ROOT / "examples/cluster"
SMALL = ROOT / "examples/capacity/small-pod.yaml"


class Threes(Plugin):
    """Pods wait until three of them have a node; if one fits nowhere, all that wait give up."""

    name = "Threes"

    def permit(self, pod, node_name, cycle):
        waiting = list(self.handle.iterate_over_waiting_pods())
        if len(waiting) < 2:
            return wait(timeout=60)
        for other in waiting:
            other.allow(self.name)
        return None

    def post_filter(self, pod, found, cycle):
        for other in self.handle.iterate_over_waiting_pods():
            other.reject(self.name, "too few")
        return unschedulable("too few")


@pytest.mark.parametrize("options, fits", [({}, 6), ({"pods": 7}, 6), ({"pods": 5}, 3), ({"pods": 2}, 0)])
def test_copies_that_wait_on_permit_do_not_count(options, fits):
    """A copy counts once Permit plugins have let it go, not while it waits, and not if it was rejected."""
    given = {"release": "1.27", "plugins": [Threes], **options}
    assert capacity(node(cpu="8"), pod(cpu=1), **keywords_of(given, "preemption")).fits == fits


def test_users_rules_count():
    """A rule of one's own stops copies, with its reason."""

    @predicate("Small", reads=Reads.NODE, key=lambda pod: None)
    def small(pod, nodes, cycle):
        return Failures.where(Reason("node(s) were too big"), nodes.allocatable("cpu") > 4_000)

    found = capacity(
        [node("a"), node("b", cpu="5")], pod(cpu=1), scheduler=Classic(catalogue=CATALOGUE.with_(small))
    )
    assert (found.nodes, found.stop.reasons) == ({"a": 4}, {"node(s) were too big": 1, "Insufficient cpu": 1})
    assert found.stop.out_of_reach["cpu"] == 5000


def test_copies_without_end(monkeypatch):
    """Where nothing stops copies, the count ends all the same."""
    monkeypatch.setattr("kubeclassic.questions.capacity.answer.MOST", 30)
    found = capacity(
        node(cpu="1"),
        pod(cpu=1),
        scheduler=Classic(policy=yaml.safe_load("{kind: Policy, predicates: [{name: HostName}]}")),
    )
    assert (found.fits, found.stop.kind) == (30, "LimitReached")


def test_gates():
    """A pod that is not ready to be tried has no copies, and it is said why."""
    found = capacity(node(), pod(cpu=1, schedulingGates=[{"name": "wait"}]), scheduler="1.27")
    assert (found.fits, found.stop.kind) == (0, "SchedulingGated")


def test_another_scheduler():
    """A template for another scheduler is asked about all the same."""
    assert capacity(node(), pod(cpu=1, schedulerName="other")).fits == 4


def test_pending_pods_come_in_order():
    """With ``pending_first`` the pods that wait are tried in the order that is asked for."""
    waiting = [pod("low", "3"), pod("high", "2", priority=9)]
    left = {
        order: capacity([node(), *waiting], pod(cpu=1), pending_first=True, order=order)
        for order in ("input", "priority")
    }
    assert {order: (found.fits, found.counted.pending) for order, found in left.items()} == {
        "input": (1, 1),
        "priority": (2, 1),
    }


def test_a_cluster_stays_as_it_is():
    """The count changes nothing: a second one gives the same."""
    cluster = Cluster.load(EXAMPLE)
    before = cluster.objects
    first = capacity(cluster, SMALL)
    assert (cluster.objects, capacity(cluster, SMALL).record()) == (before, first.record())


def test_excluded_nodes_go_with_their_pods():
    """The pods on excluded nodes keep no copy away."""
    term = yaml.safe_load("{topologyKey: zone, labelSelector: {matchLabels: {app: web}}}")
    alone = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    there = [
        node("a", labels={"zone": "z"}),
        node("b", labels={"zone": "z"}),
        pod("there", 1, on="b", app="web"),
    ]
    assert capacity(there, pod(cpu=1, app="web", affinity=alone)).fits == 0
    assert capacity(there, pod(cpu=1, app="web", affinity=alone), exclude_nodes="b").fits == 1


def test_higher_copies_evict_lower_ones():
    """With preemption a copy that has to leave for another copy does not count."""
    found = capacity(
        node(cpu="3"), [pod("low", "1"), pod("high", "2", priority=5)], ratio=(2, 1), preemption=True
    )
    assert found.templates == {"low": 1, "high": 1}
    assert list(found.counted.evicted.values()) == ["default/high-0"]


def test_tables():
    """A frame of nodes has a row each, one of resources too."""
    found = capacity(EXAMPLE, SMALL)
    assert found.to_frame()["copies"].sum() == found.fits
    assert list(found.to_frame("headroom")["resource"])[-1] == "pods"
    assert "general-a1" in found._repr_html_()
