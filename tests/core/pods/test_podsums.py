"""What pods request with sidecars and as a whole: by example, and against a naive count of each resource."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kubeclassic.api.objects import Pod
from kubeclassic.core.pods import requests
from kubeclassic.framework.tables.newer import V1_32, V1_34
from tests.support.build import pod

Json = dict[str, Any]
ON = {"PodLevelResources": True}
MEBI200 = 200 * 1024 * 1024


def asking(name: str, requests: Json, *, sidecar: bool = False) -> Json:
    """A container."""
    return {"name": name, "resources": {"requests": requests}} | ({"restartPolicy": "Always"} if sidecar else {})


def made(*requests: Json, first: list[Json] | None = None, whole: Json | None = None, overhead: Json | None = None) -> Pod:
    """A pod of containers with these requests, the init containers *first*, and requests as a *whole*."""
    containers = [asking(f"c{at}", asked) for at, asked in enumerate(requests)]
    return pod("p", containers=containers, initContainers=first or [], resources={"requests": whole or {}}, overhead=overhead or {})


class TestSidecars:
    def test_on_a_node_they_are_in_uses_alone(self) -> None:
        """Up to 1.31 a sidecar does not raise what scores count of a pod on a node, until its own use is more than the containers."""
        with_one = made({"cpu": "300m"}, first=[asking("s", {"cpu": "200m"}, sidecar=True)])
        with_two = made({"cpu": "300m"}, first=[asking(name, {"cpu": "200m"}, sidecar=True) for name in "st"])
        assert requests.nonzero_of_uses(with_one, {})["cpu"] == 300
        assert requests.nonzero_of_uses(with_two, {})["cpu"] == 400
        assert requests.nonzero_of_pod(with_one, {})["cpu"] == 500


class TestTheWholePod:
    def test_scores_of_the_incoming_pod(self) -> None:
        """1.32 scores the pod as a whole, 1.33 and 1.34 its containers alone."""
        new = made({"cpu": "3"}, whole={"cpu": "1", "memory": "1Gi"})
        assert V1_32.incoming_nonzero(new, ON) == {"cpu": 1000, "memory": 1 << 30}
        assert V1_34.incoming_nonzero(new, ON) == {"cpu": 3000, "memory": MEBI200}


_AMOUNTS = {
    "cpu": ["0", "100u", "250m", "1", "1500m"], "memory": ["0", "1", "256Mi", "333333333001m", "1Gi"],
    "hugepages-2Mi": ["2Mi", "0"], "example.com/gpu": ["0", "1", "2"],
}  # fmt: skip
_REQUESTS = st.fixed_dictionaries({}, optional={name: st.sampled_from(amounts) for name, amounts in _AMOUNTS.items()})


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    """Pods with sidecars, requests as a whole, and overhead."""
    first = [asking(f"i{at}", draw(_REQUESTS), sidecar=draw(st.booleans())) for at in range(draw(st.integers(0, 3)))]
    whole, overhead = draw(st.one_of(st.just({}), _REQUESTS)), draw(st.one_of(st.just({}), _REQUESTS))
    return made(*draw(st.lists(_REQUESTS, min_size=1, max_size=3)), first=first, whole=whole, overhead=overhead)
