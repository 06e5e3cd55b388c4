"""NodePorts: host ports in use."""

from __future__ import annotations

from typing import Any

from kubeclassic.api.objects import Pod
from kubeclassic.framework.plugins.nodeports import NodePorts
from tests.support.asking import cycle_of, handle, refusals
from tests.support.build import node, pod

PLUGIN = NodePorts(None, handle())
TAKEN = "node(s) didn't have free ports for the requested pod ports"


def with_port(name: str, number: int, address: str = "", **more: Any) -> Pod:
    port = {"hostPort": number, "containerPort": number, "hostIP": address}
    return pod(name, containers=[{"name": "c", "image": "i", "ports": [port]}], **more)


class TestNodePorts:
    def test_a_port_in_use_turns_the_node_down(self) -> None:
        """The same port on the same address, or on all addresses, is a conflict."""
        objects = [node("free"), node("all"), node("other"), with_port("a", 80, on="all"), with_port("b", 80, "10.0.0.2", on="other")]
        assert refusals(PLUGIN, with_port("new", 80, "10.0.0.1"), *objects) == {"free": None, "all": TAKEN, "other": None}

    def test_pods_without_ports_are_of_no_concern(self) -> None:
        """The plugin does not run for a pod without host ports."""
        assert not PLUGIN.concerns(cycle_of(pod("new"), node("n")).template)
        assert PLUGIN.concerns(cycle_of(with_port("new", 80), node("n")).template)
