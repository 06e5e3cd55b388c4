"""GeneralPredicates: four rules, all of whose reasons count."""

import attrs
import pytest
import yaml

from kubeclassic.core.arrays.batch import Batch
from kubeclassic.core.cycle import Reads
from kubeclassic.core.run import EventFeed
from kubeclassic.predicates.checknodepressure import (
    check_node_disk_pressure,
    check_node_memory_pressure,
    check_node_pid_pressure,
)
from kubeclassic.predicates.generalpredicates import PARTS, general_predicates
from kubeclassic.predicates.podfitshostports import pod_fits_host_ports, pod_fits_ports
from kubeclassic.predicates.podfitsresources import pod_fits_resources
from tests.support.build import answers, engine, node, overlay, pod

CONTAINERS = yaml.safe_load("[{name: c, resources: {requests: {cpu: '2'}}, ports: [{hostPort: 80}]}]")


# --- General predicates -------------------------------------------------------------------------------------


def test_reads_what_its_parts_read():
    """A change that makes a part's answer stale makes the whole stale."""
    together = Reads.NOTHING
    for part in PARTS:
        together |= part.reads
    assert general_predicates.reads == together


@pytest.mark.parametrize(
    "other",
    [{"on": "n"}, {"requests": {"cpu": "1"}}, {"nodeSelector": {"a": "b"}}, {"containers": CONTAINERS}],
)
def test_the_key_covers_every_part(other):
    """Pods that differ in what one part reads have different keys."""
    begin = engine(node("n")).begin
    assert general_predicates.key(begin(pod("p")).template) != general_predicates.key(
        begin(pod("p", **other)).template
    )


@pytest.mark.parametrize(
    "more, asked",
    [({}, 1), ({"on": "n"}, 2), ({"nodeSelector": {"a": "b"}}, 2), ({"containers": CONTAINERS}, 2)],
)
def test_each_part_tells_which_pods_concern_it(more, asked):
    """Resources concern every pod; the other parts those that name a node, ports or labels."""
    template = engine(node("n")).begin(pod("p", **more)).template
    assert len([part for part in PARTS if part.concerns(template)]) == asked


# --- PodFitsResources: places, then cpu, memory, ephemeral storage, then scalars ----------------------------


GPU = "example.com/gpu"
HUGE = "hugepages-2Mi"


@pytest.mark.parametrize(
    "requests, ignored, has_metadata, lacks",
    [
        ({GPU: "1", "example.com/fpga": "1"}, {GPU}, True, ["example.com/fpga"]),
        (
            {HUGE: "2Mi", "x.kubernetes.io/y": "1"},
            {HUGE, "x.kubernetes.io/y"},
            True,
            [HUGE, "x.kubernetes.io/y"],
        ),
        ({GPU: "1"}, {GPU}, False, [GPU]),
    ],
    ids=["others are checked", "only extended resources", "nothing without metadata"],
)
def test_what_is_checked(requests, ignored, has_metadata, lacks):
    """An extended resource is ignored, huge pages and names of kubernetes.io are not; what is ignored
    stands in the metadata."""
    cycle = engine(node("n")).begin(pod("p", requests=requests))
    cycle.algorithm = attrs.evolve(cycle.algorithm, ignored_resources=frozenset(ignored))
    cycle.has_metadata = has_metadata
    assert answers(pod_fits_resources, cycle, Batch(cycle.table))["n"] == [
        f"Insufficient {name}" for name in lacks
    ]


def test_an_ignored_resource_is_a_request_still():
    """A pod that requests nothing but an ignored resource is held against cpu."""
    cycle = engine(node("n", cpu="1"), pod("old", on="n", cpu="2")).begin(pod("p", requests={GPU: "1"}))
    cycle.algorithm = attrs.evolve(cycle.algorithm, ignored_resources=frozenset({GPU}))
    assert answers(pod_fits_resources, cycle, Batch(cycle.table))["n"] == ["Insufficient cpu"]


def test_sees_requests_alone():
    """A scalar of 0 is a request, so its key differs from that of no request; labels are none."""
    begin = engine(node("n")).begin
    pods = [{}, {"labels": {"a": "x"}}, {"requests": {GPU: "0"}}, {"requests": {GPU: "1"}}]
    keys = [pod_fits_resources.key(begin(pod("p", **each)).template) for each in pods]
    assert (keys[0] == keys[1], len(set(keys))) == (True, 3)


# --- PodFitsHostPorts: which host ports clash ---------------------------------------------------------------


REASON = "node(s) didn't have free ports for the requested pod ports"


def with_ports(name, *ports, on=""):
    """A pod with these (address, protocol, number), one container each."""
    containers = [
        {"name": f"c{i}", "ports": [{"hostIP": address, "protocol": protocol, "hostPort": number}]}
        for i, (address, protocol, number) in enumerate(ports)
    ]
    return pod(name, on=on, containers=containers)


def test_removing_one_of_two_users_frees_the_port():
    """Ports in use are a set: where two pods have one, the first that goes frees it."""
    used = "", "TCP", 80
    cycle = engine(node("n"), with_ports("a", used, on="n"), with_ports("b", used, on="n")).begin(
        with_ports("p", used)
    )
    what_if = overlay(cycle, "n")
    assert answers(pod_fits_host_ports, cycle, what_if) == {"n": [REASON]}
    what_if.remove(what_if.pods(0)[0], 0)
    assert answers(pod_fits_host_ports, cycle, what_if) == {"n": []}


def test_an_overlay_brings_ports_that_the_table_never_saw():
    """A pod put on a what-if copy takes its port there, though no node has it in use."""
    cycle = engine(node("n"), node("m")).begin(with_ports("p", ("", "TCP", 80)))
    what_if = overlay(cycle, "n", "m")
    late = engine(node("n"), with_ports("late", ("127.0.0.1", "TCP", 80), on="n")).begin(pod("q"))
    what_if.add(late.table.pods[late.table.row_of["n"]][0], 1)
    assert answers(pod_fits_host_ports, cycle, what_if) == {"n": [], "m": [REASON]}


def test_has_an_older_name():
    """PodFitsPorts is the same rule."""
    assert (pod_fits_ports.name, pod_fits_host_ports.name) == ("PodFitsPorts", "PodFitsHostPorts")
    assert pod_fits_ports.check is pod_fits_host_ports.check


# --- The three pressure predicates, and which pods are BestEffort -------------------------------------------


MEMORY = "node(s) had memory pressure"


@pytest.mark.parametrize(
    "rule, condition, reason",
    [
        (check_node_memory_pressure, "MemoryPressure", MEMORY),
        (check_node_disk_pressure, "DiskPressure", "node(s) had disk pressure"),
        (check_node_pid_pressure, "PIDPressure", "node(s) had pid pressure"),
    ],
)
class TestEachPressure:
    def test_a_condition_that_disappears_keeps_its_last_status(self, rule, condition, reason):
        """The status that the scheduler remembers of a condition outlives it."""
        scheduler = engine(node("n", conditions=[{"type": condition, "status": "True"}]))
        EventFeed(scheduler).put(node("n"))
        cycle = scheduler.begin(pod("p"))
        assert answers(rule, cycle, Batch(cycle.table)) == {"n": [reason]}
