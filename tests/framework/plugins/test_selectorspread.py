"""SelectorSpread: peers by service and controller, by node and zone."""

from __future__ import annotations

from typing import Any

from kubeclassic.api.objects import Pod
from kubeclassic.framework.plugins.selectorspread import SelectorSpread
from tests.support.asking import handle, scores
from tests.support.build import node, obj, pod

PLUGIN = SelectorSpread(None, handle())
ZONE = "topology.kubernetes.io/zone"
NODES = (node("x", labels={ZONE: "1"}), node("y", labels={ZONE: "1"}), node("z", labels={ZONE: "2"}), node("bare"))
SERVICE = obj({"kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "a"}}})


def peer(name: str, on: str = "", **more: Any) -> Pod:
    return pod(name, on=on, labels={"app": "a"}, **more)


class TestSelectorSpread:
    def test_peers_are_counted_by_service(self) -> None:
        """Pods that are being deleted and pods of other namespaces are no peers."""
        leaving = {"deletionTimestamp": "2020-01-01T00:00:00Z"}
        others = [peer("far", "y", namespace="other"), peer("leaving", "y", metadata=leaving)]
        found = scores(PLUGIN, peer("new"), *NODES, SERVICE, peer("a", "x"), peer("b", "x"), *others, raw=True)
        assert found == {"x": 2, "y": 0, "z": 0, "bare": 0}

    def test_zones_count_for_two_thirds(self) -> None:
        """A node of a crowded zone is worse than one of an empty zone; a node without zone goes by its own count."""
        found = scores(PLUGIN, peer("new"), *NODES, SERVICE, peer("a", "x"), peer("b", "bare"))
        assert found == {"x": 0, "y": 33, "z": 100, "bare": 0}

    def test_without_owners_all_are_alike(self) -> None:
        """A pod that nothing selects has no peers, and every node gets 100."""
        assert set(scores(PLUGIN, peer("new"), *NODES, peer("a", "x")).values()) == {100}

    def test_constraints_of_its_own_leave_it_to_them(self) -> None:
        """A pod with topology spread constraints scores 0 on every node."""
        wanted = [{"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"}]
        assert set(scores(PLUGIN, peer("new", topologySpreadConstraints=wanted), *NODES, SERVICE, peer("a", "x")).values()) == {0}
