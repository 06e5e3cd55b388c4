"""PodFitsResources: places, then cpu, memory, ephemeral storage, then scalars."""

from __future__ import annotations

import string
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeclassic.api.objects import Node, Pod
from kubeclassic.core.arrays.batch import Batch
from kubeclassic.predicates.resources import pod_fits_resources
from tests.reference.resources import short_of
from tests.support.build import answers, ask, engine, node, overlay, pod
from tests.support.examples import examples

RELEASES = ("1.12", "1.13", "1.14", "1.15", "1.16")
GPU, HUGE = "example.com/gpu", "hugepages-2Mi"


def short(incoming: Pod, *objects: Any, **options: Any) -> list[str]:
    """What the node ``n`` is short of."""
    reasons = ask(pod_fits_resources, incoming, *objects, **options)["n"]
    assert isinstance(reasons, list)
    return [reason.removeprefix("Insufficient ") for reason in reasons]


def init(**requests: str) -> list[dict[str, Any]]:
    """One init container."""
    return [{"name": "i", "resources": {"requests": requests}}]


class TestPodFitsResources:
    def test_reasons_come_in_a_fixed_order(self) -> None:
        """Pods, cpu, memory, ephemeral storage, then scalars in ascending order of name."""
        requests = {HUGE: "2Mi", GPU: "1", "memory": "1", "cpu": "1", "ephemeral-storage": "1", "attachable-volumes-x": "1"}
        full = node("n", cpu="0", memory="0", pods="0")
        assert short(pod("p", requests=requests), full) == [
            *("pods", "cpu", "memory", "ephemeral-storage"),
            *("attachable-volumes-x", GPU, HUGE),
        ]

    def test_a_scalar_of_zero_is_a_request(self) -> None:
        """A scalar of 0 counts as requested, and so makes an overcommitted node fail."""
        objects = node("n", cpu="1"), pod("old", on="n", requests={"cpu": "2"})
        assert short(pod("p", requests={GPU: "0"}), *objects) == ["cpu"]

    def test_a_scalar_of_zero_in_an_init_container_is_no_request(self) -> None:
        """A scalar of 0 counts as requested in a container, and not in an init container."""
        objects = node("n", cpu="1"), pod("old", on="n", requests={"cpu": "2"})
        assert short(pod("p", initContainers=init(**{GPU: "0"})), *objects) == []
        assert short(pod("p", initContainers=init(**{GPU: "1"})), *objects) == ["cpu", GPU]

    @pytest.mark.parametrize("release", RELEASES)
    def test_terminating_pods_still_take_room(self, release: str) -> None:
        """A pod that is being deleted counts until it is gone."""
        leaving = pod("old", on="n", requests={"cpu": "1"}, metadata={"deletionTimestamp": "2020-01-01T00:00:00Z"})
        assert short(pod("p", requests={"cpu": "1"}), node("n", cpu="1"), leaving, release=release) == ["cpu"]

    def test_a_what_if_copy_counts_its_own_pods(self) -> None:
        """On an overlay the pods that were taken off have freed their room, and those put on take theirs."""
        cycle = engine(node("n", cpu="1"), node("m", cpu="1"), pod("old", on="n", requests={"cpu": "1"})).begin(
            pod("p", requests={"cpu": "1"})
        )
        what_if = overlay(cycle, "n", "m")
        entry = what_if.pods(0)[0]
        what_if.remove(entry, 0)
        what_if.add(entry, 1)
        assert answers(pod_fits_resources, cycle, what_if) == {"n": [], "m": ["Insufficient cpu"]}


class TestIgnoredResources:
    """An extender that manages a resource with ignoredByScheduler answers for it alone."""

    @pytest.mark.parametrize(
        ("requests", "ignored", "has_metadata", "lacks"),
        [
            ({GPU: "1", "example.com/fpga": "1"}, {GPU}, True, ["example.com/fpga"]),
            ({HUGE: "2Mi", "x.kubernetes.io/y": "1"}, {HUGE, "x.kubernetes.io/y"}, True, [HUGE, "x.kubernetes.io/y"]),
            ({GPU: "1"}, {GPU}, False, [GPU]),
        ],
        ids=["others are checked", "only extended resources", "nothing without metadata"],
    )
    def test_what_is_checked(self, requests: dict[str, str], ignored: set[str], has_metadata: bool, lacks: list[str]) -> None:
        """An extended resource is ignored, huge pages and names of kubernetes.io are not; what is ignored stands in the metadata."""
        cycle = engine(node("n")).begin(pod("p", requests=requests))
        cycle.algorithm = attrs.evolve(cycle.algorithm, ignored_resources=frozenset(ignored))
        cycle.has_metadata = has_metadata
        assert answers(pod_fits_resources, cycle, Batch(cycle.table))["n"] == [f"Insufficient {name}" for name in lacks]

    def test_an_ignored_resource_is_a_request_still(self) -> None:
        """A pod that requests nothing but an ignored resource is held against cpu."""
        cycle = engine(node("n", cpu="1"), pod("old", on="n", requests={"cpu": "2"})).begin(pod("p", requests={GPU: "1"}))
        cycle.algorithm = attrs.evolve(cycle.algorithm, ignored_resources=frozenset({GPU}))
        assert answers(pod_fits_resources, cycle, Batch(cycle.table))["n"] == ["Insufficient cpu"]


class TestKey:
    """Pods that request the same share an answer; pods that do not, must not."""

    def test_sees_requests_alone(self) -> None:
        """A scalar of 0 is a request, so its key differs from that of no request; labels are none."""
        begin = engine(node("n")).begin
        pods = [{}, {"labels": {"a": "x"}}, {"requests": {GPU: "0"}}, {"requests": {GPU: "1"}}]
        keys = [pod_fits_resources.key(begin(pod("p", **each)).template) for each in pods]
        assert (keys[0] == keys[1], len(set(keys))) == (True, 3)


QUANTITIES = {
    "cpu": st.sampled_from(["0", "1m", "500m", "1", "1500m", "0.1m"]),
    "memory": st.sampled_from(["0", "1", "100m", "1Gi", "2Gi"]),
    "ephemeral-storage": st.sampled_from(["0", "1Gi", "3Gi"]),
    GPU: st.sampled_from(["0", "1", "2", "1500m"]),
    HUGE: st.sampled_from(["0", "2Mi", "4Mi"]),
    "foo": st.just("1"),
}
REQUESTS = st.fixed_dictionaries({}, optional=QUANTITIES)
CONTAINERS = st.lists(REQUESTS, max_size=2)


@st.composite
def pods(draw: st.DrawFn, name: str, on: str = "") -> Pod:
    """A pod with up to two containers and two init containers."""

    def containers(requests: list[dict[str, str]]) -> list[dict[str, Any]]:
        return [{"name": string.ascii_letters[i], "resources": {"requests": each}} for i, each in enumerate(requests)]

    return pod(name, on=on, containers=containers(draw(CONTAINERS)), initContainers=containers(draw(CONTAINERS)))


@st.composite
def clusters(draw: st.DrawFn) -> dict[str, tuple[Node, list[Pod]]]:
    """Up to four nodes with up to three pods each."""
    found = {}
    for i in range(draw(st.integers(1, 4))):
        sizes = {"cpu": draw(st.sampled_from(["0", "1", "2"])), "memory": draw(st.sampled_from(["0", "1Gi", "4Gi"]))}
        extra = draw(st.fixed_dictionaries({}, optional={key: QUANTITIES[key] for key in ("ephemeral-storage", GPU, HUGE)}))
        made = node(f"n{i}", pods=draw(st.sampled_from(["0", "2", "10"])), allocatable=extra, **sizes)
        found[made.name] = made, [draw(pods(f"old{i}{j}", on=made.name)) for j in range(draw(st.integers(0, 3)))]
    return found


@examples(0.6)
@given(cluster=clusters(), incoming=pods("p"), release=st.sampled_from(("1.12", "1.15")))
def test_is_what_a_loop_over_nodes_finds(cluster: dict[str, tuple[Node, list[Pod]]], incoming: Pod, release: str) -> None:
    """On random clusters the arrays give each node the reasons that a plain loop over its pods gives."""
    objects = [item for made, existing in cluster.values() for item in (made, *existing)]
    wanted = {name: [f"Insufficient {what}" for what in short_of(incoming, made, existing)] for name, (made, existing) in cluster.items()}
    assert ask(pod_fits_resources, incoming, *objects, release=release) == wanted
