"""What happens to a cluster from outside in a replay: events that create, change and delete objects, and that let nodes fail.

Upstream: pkg/controller/nodelifecycle/node_lifecycle_controller.go and scheduler/taint_manager.go there; ``kubectl drain``.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import attrs
from msgspec.structs import replace

from ...api.meaning.labels import toleration_tolerates
from ...api.objects import KubeObject, Node, Pod, Taint
from ...exceptions import ManifestError
from ...simulation.drainrules import is_mirror, stays_with_node
from .cluster.podlifecycles import PodLifecycle, PodLifecycles
from .cluster.volumecontroller import VolumeController
from .inputs.traces import ADD, DELETE, DRAIN, FAIL, RECOVER, UPDATE, Event
from .journal import NodeEvent
from .simulatedcluster import SimulatedCluster

CORDONED = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
UNREACHABLE = (
    Taint(key="node.kubernetes.io/unreachable", effect="NoSchedule"),
    Taint(key="node.kubernetes.io/unreachable", effect="NoExecute"),
)
OURS = {CORDONED, *UNREACHABLE}


@attrs.define(eq=False, repr=False)
class ExternalEvents:
    """What users do to *cluster*: the events of the inputs, and the operations of a scenario."""

    cluster: SimulatedCluster
    pods: PodLifecycles
    volumes: VolumeController
    _failures: dict[str, int] = attrs.field(factory=dict)
    """Node -> number of the failure that it has not recovered from."""
    _count: int = 0

    def apply(self, event: Event) -> None:
        """Carry out *event*. Raises :class:`~kubeclassic.exceptions.ManifestError` for a node that does not exist."""
        item, cluster = event.item, self.cluster
        current = cluster.node(item.name) if isinstance(item, Node) else None
        if isinstance(item, Node) and event.verb not in (ADD, UPDATE):
            if current is None:
                raise ManifestError(f"{event.where}: {event.verb}: expected a node that exists at that time, got {item.name}")
            {DELETE: self.remove, DRAIN: self.drain, FAIL: self.fail, RECOVER: self.recover}[event.verb](current)
        elif event.verb == DELETE:
            self.delete(item)
        elif isinstance(item, Pod) and item.key in self.pods.all:
            self._update(item)
        elif isinstance(item, Pod):
            if not item.is_terminal and (event.verb == ADD or item.key not in self.pods.seen):
                self.pods.arrive(item, event.lifetime)
        elif isinstance(item, Node):
            if event.where and current is None:
                cluster.note(NodeEvent(event="NodeAdded", node=item.name))
            cluster.put(item)
        elif not self.volumes.made_claim(item):
            self.create(item)

    def create(self, item: KubeObject) -> None:
        """An object that is no pod is created or changed."""
        self.volumes.put(item)
        self.volumes.reconcile()

    def delete(self, item: KubeObject) -> None:
        """An object is deleted."""
        if isinstance(item, Pod):
            life = self.pods.all.get(item.key)
            if life is not None:
                self.pods.delete(life)
        elif isinstance(item, Node):
            self.remove(item)
        else:
            self.volumes.delete(item)

    def _update(self, pod: Pod) -> None:
        """A pod changes; its node, its status and its deletion stay as the replay has them."""
        current = self.cluster.pod(pod.key)
        if current is None or current.is_terminating:
            return
        spec = replace(pod.spec, node_name=current.spec.node_name)
        metadata = replace(pod.metadata, uid=current.metadata.uid, deletion_timestamp=None)
        changed = replace(pod, metadata=metadata, spec=spec, status=current.status)
        if replace(changed, metadata=replace(metadata, resource_version=current.metadata.resource_version)) != current:
            self.cluster.put(changed)

    # --- nodes ------------------------------------------------------------------------------------------------------

    def drain(self, node: Node) -> None:
        """Cordon the node and evict all pods but those of DaemonSets and static ones, whatever budgets say."""
        self._change(node, "NodeDrained", (*node.spec.taints, CORDONED), unschedulable=True)
        for life in self._pods_on(node.name):
            if not stays_with_node(life.original):
                self.pods.evict(life, reason="node drained")

    def fail(self, node: Node) -> None:
        """The node stops answering: it is tainted, and its pods are evicted after a while."""
        self._count += 1
        self._failures[node.name] = self._count
        self._change(node, "NodeFailed", (*node.spec.taints, *UNREACHABLE), ready="Unknown")
        for life in self._pods_on(node.name):
            pod = self.cluster.pod(life.key)
            delay = None if pod is None else self._seconds_to_eviction(pod)
            if delay is not None:
                self.cluster.later(delay, partial(self._evict_if_failed, life, self._count))

    def recover(self, node: Node) -> None:
        """The node takes pods again, whether it had failed or was drained."""
        self._failures.pop(node.name, None)
        left = tuple(taint for taint in node.spec.taints if taint not in OURS)
        self._change(node, "NodeRecovered", left, unschedulable=False, ready="True")

    def _change(
        self, node: Node, event: Literal["NodeDrained", "NodeFailed", "NodeRecovered"], taints: tuple[Taint, ...], *, ready: str = "",
        **changes: bool,
    ) -> None:  # fmt: skip
        """Write *node* with *taints*, each once, and, where *ready* says so, another status of its condition Ready, if it has that."""
        self.cluster.note(NodeEvent(event=event, node=node.name))
        conditions = tuple(
            replace(condition, status=ready) if ready and condition.type == "Ready" else condition for condition in node.status.conditions
        )
        spec = replace(node.spec, taints=tuple(dict.fromkeys(taints)), **changes)
        self.cluster.write(replace(node, spec=spec, status=replace(node.status, conditions=conditions)))

    def remove(self, node: Node) -> None:
        """The node is deleted, and its pods are evicted after a while."""
        self.cluster.note(NodeEvent(event="NodeDeleted", node=node.name))
        self._failures.pop(node.name, None)
        pods = self._pods_on(node.name)
        self.cluster.delete(node)
        for life in pods:
            self.cluster.later(self.cluster.delays.failure, partial(self._evict_if_deleted, life))

    def _pods_on(self, name: str) -> list[PodLifecycle]:
        return [life for life in self.pods.all.values() if life.node == name]

    def _seconds_to_eviction(self, pod: Pod) -> float | None:
        """Seconds until a pod on a failed node is evicted; None: never."""
        if is_mirror(pod):  # its kubelet lets it tolerate everything
            return None
        # Upstream: of several tolerations of a taint the first counts, GetMatchingTolerations in pkg/apis/core/v1/helper/helpers.go.
        matching = next((toleration for toleration in pod.spec.tolerations if toleration_tolerates(toleration, UNREACHABLE[1])), None)
        if matching is None:
            return self.cluster.delays.failure
        return None if matching.toleration_seconds is None else float(max(matching.toleration_seconds, 0))

    def _evict_if_failed(self, life: PodLifecycle, failure: int) -> None:
        if self._failures.get(life.node) == failure:
            self.pods.evict(life, reason="node failed")

    def _evict_if_deleted(self, life: PodLifecycle) -> None:
        if self.cluster.node(life.node) is None:
            self.pods.evict(life, reason="node deleted")
