"""ResourceLimitsPriority: nodes that could give the pod its limits."""

from __future__ import annotations

from typing import Any

from kubeclassic.api.objects import Pod
from kubeclassic.priorities.resourcelimits import resource_limits
from tests.support.build import node, pod, scored


def limited(*containers: dict[str, str], init: tuple[dict[str, str], ...] = ()) -> Pod:
    """A pod whose containers have these limits."""

    def made(lists: tuple[dict[str, str], ...]) -> list[dict[str, Any]]:
        return [{"name": f"c{i}", "resources": {"limits": limits}} for i, limits in enumerate(lists)]

    return pod("p", containers=made(containers), initContainers=made(init))


def score(incoming: Pod, cpu: str = "2", memory: str = "2Gi") -> int:
    """The score of one node."""
    return scored(resource_limits, incoming, node("n", cpu=cpu, memory=memory))["n"]


class TestResourceLimits:
    def test_no_limit_is_not_satisfied(self) -> None:
        """A pod without limits, or with limits of 0, scores 0; so does a node without the resource."""
        assert score(limited({})) == score(limited({"cpu": "0"})) == 0
        assert score(limited({"cpu": "1"}), cpu="0") == 0

    def test_the_largest_init_container_counts(self) -> None:
        """Where an init container's limit is more than the containers' together it is the pod's."""
        assert score(limited({"cpu": "1"}, init=({"cpu": "3"}, {"cpu": "1"}))) == 0
        assert score(limited({"cpu": "1"}, init=({"cpu": "2"},))) == 1
