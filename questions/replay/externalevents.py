"""What happens to a cluster from outside in a replay: events that create, change and delete objects, and that let nodes fail."""

from __future__ import annotations

from functools import partial

import attrs
from msgspec.structs import replace

from ...api.meaning.labels import toleration_tolerates
from ...api.objects import Condition, KubeObject, Node, Pod, Taint
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
class NodeFailures:
    """Drains, failures and recoveries. A drain ignores disruption budgets."""

    cluster: SimulatedCluster
    pods: PodLifecycles
    _failures: dict[str, int] = attrs.field(factory=dict)
    """Node -> number of the failure that it has not recovered from."""
    _count: int = 0

    def drain(self, node: Node) -> None:
        """Cordon the node and evict all pods but those of DaemonSets and static ones."""
        self.cluster.note(NodeEvent(event="NodeDrained", node=node.name))
        spec = replace(node.spec, unschedulable=True, taints=_with(node.spec.taints, CORDONED))
        self._update(replace(node, spec=spec))
        for life in self._pods_on(node.name):
            if not stays_with_node(life.original):
                self.pods.evict(life, reason="node drained")

    def fail(self, node: Node) -> None:
        """The node stops answering: it is tainted, and its pods are evicted after a while."""
        self.cluster.note(NodeEvent(event="NodeFailed", node=node.name))
        self._count += 1
        self._failures[node.name] = self._count
        spec = replace(node.spec, taints=_with(node.spec.taints, *UNREACHABLE))
        self._update(replace(node, spec=spec, status=replace(node.status, conditions=_ready(node, "Unknown"))))
        for life in self._pods_on(node.name):
            pod = self.cluster.pod(life.key)
            delay = None if pod is None else self._seconds_to_eviction(pod)
            if delay is not None:
                self.cluster.later(delay, partial(self._evict_if_failed, life, self._count))

    def recover(self, node: Node) -> None:
        """The node takes pods again, whether it had failed or was drained."""
        self.cluster.note(NodeEvent(event="NodeRecovered", node=node.name))
        self._failures.pop(node.name, None)
        spec = replace(node.spec, unschedulable=False, taints=tuple(taint for taint in node.spec.taints if taint not in OURS))
        self._update(replace(node, spec=spec, status=replace(node.status, conditions=_ready(node, "True"))))

    def remove(self, node: Node) -> None:
        """The node is deleted, and its pods are evicted after a while."""
        self.cluster.note(NodeEvent(event="NodeDeleted", node=node.name))
        self._failures.pop(node.name, None)
        pods = self._pods_on(node.name)
        self.cluster.delete(node)
        for life in pods:
            self.cluster.later(self.cluster.delays.failure, partial(self._evict_if_deleted, life))

    def _update(self, node: Node) -> None:
        self.cluster.write(node)

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


def _with(taints: tuple[Taint, ...], *more: Taint) -> tuple[Taint, ...]:
    return (*taints, *(taint for taint in more if taint not in taints))


def _ready(node: Node, status: str) -> tuple[Condition, ...]:
    """The node's conditions with Ready set to *status*, where it has that condition."""
    return tuple(replace(condition, status=status) if condition.type == "Ready" else condition for condition in node.status.conditions)


@attrs.frozen(eq=False, repr=False)
class ExternalEvents:
    """What users do to *cluster*: the events of the inputs, and the operations of a scenario."""

    cluster: SimulatedCluster
    pods: PodLifecycles
    volumes: VolumeController
    failures: NodeFailures

    def apply(self, event: Event) -> None:
        """Carry out *event*. Raises :class:`~kubeclassic.exceptions.ManifestError` for a node that does not exist."""
        item = event.item
        if isinstance(item, Node) and event.verb not in (ADD, UPDATE):
            current = self.cluster.node(item.name)
            if current is None:
                raise ManifestError(f"{event.where}: {event.verb}: expected a node that exists at that time, got {item.name}")
            failures = self.failures
            {DELETE: failures.remove, DRAIN: failures.drain, FAIL: failures.fail, RECOVER: failures.recover}[event.verb](current)
        elif event.verb == DELETE:
            self.delete(item)
        elif isinstance(item, Pod) and item.key in self.pods.all:
            self._update(self.pods.all[item.key], item)
        elif isinstance(item, Pod):
            if not item.is_terminal and (event.verb == ADD or item.key not in self.pods.seen):
                self.pods.arrive(item, event.lifetime)
        elif isinstance(item, Node):
            if event.where and self.cluster.node(item.name) is None:
                self.cluster.note(NodeEvent(event="NodeAdded", node=item.name))
            self.cluster.put(item)
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
            self.failures.remove(item)
        else:
            self.volumes.delete(item)

    def _update(self, life: PodLifecycle, pod: Pod) -> None:
        """A pod changes; its node, its status and its deletion stay as the replay has them."""
        current = self.cluster.pod(life.key)
        if current is None or current.is_terminating:
            return
        spec = replace(pod.spec, node_name=current.spec.node_name)
        metadata = replace(pod.metadata, uid=current.metadata.uid, deletion_timestamp=None)
        changed = replace(pod, metadata=metadata, spec=spec, status=current.status)
        if replace(changed, metadata=replace(metadata, resource_version=current.metadata.resource_version)) != current:
            self.cluster.put(changed)
