"""A gang of pods: all of them get their nodes, or none does.

``kubeclassic simulate examples/gang/cluster.yaml --profile examples/gang/profile.yaml --rules examples/gang/gang.py:Gang``

Pods of a gang have the label ``gang`` and the annotation ``minMember``: how many of them have to have a node before any of them is bound.
"""

from typing import Any

from kubeclassic import Pod
from kubeclassic.plugins import Plugin, Status, unschedulable, wait
from kubeclassic.rules import Batch


class Gang(Plugin):
    """Let the pods of a gang wait on their nodes until there are enough of them; if one gives up, the others lose their nodes too."""

    name = "Gang"

    def __init__(self, args: Any, handle: Any) -> None:
        super().__init__(args, handle)
        self.timeout = float((args or {}).get("timeoutSeconds", 60))
        self.min_member = int((args or {}).get("minMember", 1))

    def permit(self, pod: Pod, node_name: str, cycle: Any) -> Status | None:
        """The last one that is needed lets all go; those before it wait."""
        if "gang" not in pod.labels:
            return None
        if self._on_nodes(pod, cycle) + 1 < int(pod.metadata.annotations.get("minMember", self.min_member)):
            return wait(timeout=self.timeout)
        for other in self._waiting(pod):
            other.allow(self.name)
        return None

    def post_filter(self, pod: Any, found: Any, cycle: Any) -> Status:
        """A pod that fits nowhere keeps its gang from being complete: the others need not wait for it."""
        return unschedulable(*self._give_up(cycle.pod, f"{cycle.pod.name} fits on no node"))

    def reserve(self, pod: Pod, node_name: str, cycle: Any) -> None:
        """Nothing: the scheduler itself keeps the node's resources for the pod."""

    def unreserve(self, pod: Pod, node_name: str, cycle: Any) -> None:
        """A pod loses its node, perhaps because it has waited long enough: so do the others."""
        self._give_up(pod, f"{pod.name} lost its node")

    def _give_up(self, pod: Pod, why: str) -> list[str]:
        others = self._waiting(pod)
        for other in others:
            other.reject(self.name, f"gang {pod.labels['gang']}: {why}")
        return [f"gang {pod.labels['gang']}: {len(others)} waiting pod(s) rejected"] if others else []

    def _waiting(self, pod: Pod) -> list[Any]:
        """The gang's pods that wait on their nodes."""
        return [other for other in self.handle.iterate_over_waiting_pods() if _is_same_gang(other.pod, pod)]

    def _on_nodes(self, pod: Pod, cycle: Any) -> int:
        """How many of the gang's pods have a node, bound or waiting there."""
        nodes = Batch(cycle.table)
        return sum(_is_same_gang(entry.pod, pod) for i in range(nodes.n) for entry in nodes.pods(i))


def _is_same_gang(one: Pod, other: Pod) -> bool:
    return "gang" in other.labels and (one.namespace, one.labels.get("gang")) == (other.namespace, other.labels["gang"])
