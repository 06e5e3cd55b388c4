"""Random small clusters for the priorities that look at how full nodes are."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kubeclassic.api.objects import Node, Pod
from tests.support.build import node, pod

RELEASES = ("1.12", "1.13", "1.14", "1.15", "1.16")
Cluster = list[tuple[Node, list[Pod]]]
CPU = st.sampled_from(["0", "1m", "50m", "333m", "500m", "1", "0.1m"])
MEMORY = st.sampled_from(["0", "1", "100Mi", "333Mi", "1Gi", "3G"])
REQUESTS = st.fixed_dictionaries({}, optional={"cpu": CPU, "memory": MEMORY, "example.com/gpu": st.sampled_from(["0", "1", "3"])})


@st.composite
def pods(draw: st.DrawFn, name: str, on: str = "") -> Pod:
    """A pod with up to two containers and one init container."""

    def containers(most: int) -> list[dict[str, Any]]:
        requests = draw(st.lists(REQUESTS, max_size=most))
        return [{"name": f"c{i}", "image": "i", "resources": {"requests": each}} for i, each in enumerate(requests)]

    return pod(name, on=on, containers=containers(2), initContainers=containers(1))


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """One to three nodes with up to three pods each; capacities small enough to be exceeded."""
    found = []
    for i in range(draw(st.integers(1, 3))):
        cpu, memory = draw(st.sampled_from(["0", "100m", "700m", "1", "3"])), draw(st.sampled_from(["0", "1", "400Mi", "1Gi", "7Gi"]))
        gpu = draw(st.sampled_from([{}, {"example.com/gpu": "4"}]))
        made = node(f"n{i}", cpu=cpu, memory=memory, allocatable=gpu)
        found.append((made, [draw(pods(f"old{i}-{j}", on=made.name)) for j in range(draw(st.integers(0, 3)))]))
    return found


def objects(cluster: Cluster) -> list[Node | Pod]:
    """All objects of the cluster, nodes before their pods."""
    return [item for made, existing in cluster for item in (made, *existing)]
