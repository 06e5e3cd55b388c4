"""Pods that wait, and how they are found by name. (What files come to: tests/simulation/test_scenario.py.)"""

import pytest

from kubeclassic.api.inventory import find_waiting, take_in, why_not_waiting
from kubeclassic.api.load import Loaded
from kubeclassic.exceptions import UnknownNameError
from tests.support.build import node, pod
from tests.support.refusals import refusal_text


class TestWhoWaits:
    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ({}, None),
            ({"schedulerName": "default-scheduler"}, None),
            ({"schedulerName": "other"}, "for another scheduler"),
            ({"on": "a"}, "on a node"),
            ({"on": "a", "metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}}, "on a node"),
            ({"metadata": {"deletionTimestamp": "2020-01-01T00:00:00Z"}}, "being deleted"),
            ({"on": "a", "status": {"phase": "Succeeded"}}, "finished"),
            ({"status": {"phase": "Failed"}}, "finished"),
        ],
    )
    def test_why_not(self, options, why):
        """A pod waits unless it has finished, has a node, is being deleted, or asks for another scheduler."""
        assert why_not_waiting(pod("p", **options), "default-scheduler") == why

    def test_whichever_scheduler(self):
        """Where no scheduler is named a pod waits whichever it asks for."""
        assert why_not_waiting(pod("p", schedulerName="other")) is None


class TestFinding:
    PODS = (
        pod("web", namespace="shop"),
        pod("web", namespace="blog"),
        pod("db", namespace="shop"),
        pod("bound", on="a"),
    )

    @pytest.mark.parametrize("name", ["db", "shop/db"])
    def test_by_name(self, name):
        """The name will do where only one namespace has it."""
        assert find_waiting(name, self.PODS).key == "shop/db"

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("web", 'pod: expected one of shop/web, blog/web, got "web"'),
            ("bound", 'pod: expected a pod without a node, got "bound", which is on node a'),
            ("dbb", 'pod: expected a pod without a node, got "dbb"; did you mean "db"?'),
        ],
    )
    def test_refusals(self, name, message):
        """A name of several, of one that has a node, or of none, is refused in one line."""
        assert refusal_text(UnknownNameError, find_waiting, name, self.PODS) == message


def test_what_is_there_counts_for_workloads():
    """A DaemonSet makes a pod for each node that the cluster has already."""
    template = {"spec": {"containers": [{"name": "c"}]}}
    daemon_set = {"kind": "DaemonSet", "metadata": {"name": "logs"}, "spec": {"template": template}}
    found = take_in([Loaded(raw={"DaemonSet": (daemon_set,)})], [node("a"), node("b")])
    assert [item.kind for item in found.objects] == ["Pod", "Pod"]
