"""PodFitsHostPorts: which host ports clash, against plain loops and in trials."""

from kubeclassic.predicates.podfitshostports import pod_fits_host_ports, pod_fits_ports
from tests.support.build import answers, engine, node, overlay, pod

REASON = "node(s) didn't have free ports for the requested pod ports"


def with_ports(name, *ports, on=""):
    """A pod with these (address, protocol, number), one container each."""
    containers = [
        {"name": f"c{i}", "ports": [{"hostIP": address, "protocol": protocol, "hostPort": number}]}
        for i, (address, protocol, number) in enumerate(ports)
    ]
    return pod(name, on=on, containers=containers)


class TestPodFitsHostPorts:
    def test_removing_one_of_two_users_frees_the_port(self):
        """Ports in use are a set: where two pods have one, the first that goes frees it."""
        used = "", "TCP", 80
        cycle = engine(node("n"), with_ports("a", used, on="n"), with_ports("b", used, on="n")).begin(
            with_ports("p", used)
        )
        what_if = overlay(cycle, "n")
        assert answers(pod_fits_host_ports, cycle, what_if) == {"n": [REASON]}
        what_if.remove(what_if.pods(0)[0], 0)
        assert answers(pod_fits_host_ports, cycle, what_if) == {"n": []}

    def test_an_overlay_brings_ports_that_the_table_never_saw(self):
        """A pod put on a what-if copy takes its port there, though no node has it in use."""
        cycle = engine(node("n"), node("m")).begin(with_ports("p", ("", "TCP", 80)))
        what_if = overlay(cycle, "n", "m")
        late = engine(node("n"), with_ports("late", ("127.0.0.1", "TCP", 80), on="n")).begin(pod("q"))
        what_if.add(late.table.pods[late.table.row_of["n"]][0], 1)
        assert answers(pod_fits_host_ports, cycle, what_if) == {"n": [], "m": [REASON]}

    def test_has_an_older_name(self):
        """PodFitsPorts is the same rule."""
        assert (pod_fits_ports.name, pod_fits_host_ports.name) == ("PodFitsPorts", "PodFitsHostPorts")
        assert pod_fits_ports.check is pod_fits_host_ports.check
