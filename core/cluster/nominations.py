"""The nominations: which pods wait for which node, until its victims have left.

Upstream: nominatedPodMap in pkg/scheduler/internal/queue/scheduling_queue.go (1.12: PriorityQueue.nominatedPods).
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from ...api.objects import Pod


@attrs.define(eq=False)
class Nominations:
    """Node -> pods in order of nomination.

    With *by_uid* the map stores the node of each UID, and an explicit node wins over the pod's status. Else
    ``status.nominatedNodeName`` decides, both when a pod is added and when it is removed.
    """

    by_uid: bool
    keeps_on_update: bool = True
    refuses_placed: bool = False
    """A pod that has a node cannot be nominated."""
    by_node: dict[str, list[Pod]] = attrs.field(factory=dict)
    """Not to be changed from outside."""
    _node_of: dict[str, str] = attrs.field(factory=dict)

    def __bool__(self) -> bool:
        return bool(self.by_node)

    def __iter__(self) -> Iterator[str]:
        """The nodes that have nominated pods."""
        return iter(self.by_node)

    def on(self, node_name: str) -> list[Pod]:
        """The pods nominated to a node. Not to be changed."""
        return self.by_node.get(node_name, [])

    def node_of(self, pod: Pod) -> str:
        """The node that *pod* is nominated to; empty if there is none."""
        if not self.by_node:
            return ""
        if self.by_uid:
            return self._node_of.get(pod.uid, "")
        name = pod.status.nominated_node_name
        return name if any(other.uid == pod.uid for other in self.on(name)) else ""

    def add(self, pod: Pod, node_name: str = "") -> None:
        """Nominate *pod* to *node_name*, or else to the node in its status; without either nothing happens."""
        if self.by_uid:
            self.remove(pod)
            if self.refuses_placed and pod.spec.node_name:
                return
            name = node_name or pod.status.nominated_node_name
        else:
            name = pod.status.nominated_node_name
        if not name or any(other.uid == pod.uid for other in self.on(name)):
            return
        self.by_node.setdefault(name, []).append(pod)
        if self.by_uid:
            self._node_of[pod.uid] = name

    def remove(self, pod: Pod) -> None:
        """Remove the nomination of *pod*, if it has one."""
        if not self.by_node:
            return
        name = self._node_of.pop(pod.uid, "") if self.by_uid else pod.status.nominated_node_name
        left = [other for other in self.on(name) if other.uid != pod.uid]
        if left:
            self.by_node[name] = left
        else:
            self.by_node.pop(name, None)

    def update(self, old: Pod, new: Pod) -> None:
        """A nominated pod is updated."""
        kept = ""
        if self.keeps_on_update and not old.status.nominated_node_name and not new.status.nominated_node_name:
            kept = self.node_of(old)
        self.remove(old)
        self.add(new, kept)
