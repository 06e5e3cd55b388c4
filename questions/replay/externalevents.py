"""Events from outside in a replay: they create, change and delete objects, and let nodes fail.

Upstream: pkg/controller/nodelifecycle/node_lifecycle_controller.go and scheduler/taint_manager.go there;
``kubectl drain``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

import attrs
from msgspec.structs import replace

from ...api.meaning.labels import toleration_tolerates
from ...api.objects import KubeObject, Node, PersistentVolumeClaim, Pod, Taint
from ...exceptions import ManifestError
from ...predicates.checknodeunschedulable import UNSCHEDULABLE
from ...simulation.drainrules import is_mirror, stays_with_node
from .cluster.podlifecycles import PodLifecycle, PodLifecycles
from .cluster.volumecontroller import VolumeController
from .inputs.churn import Operation, named
from .inputs.inputs import ADD, DELETE, DRAIN, FAIL, RECOVER, UPDATE, Event, Lifetime
from .journal import BarrierGivenUp, NodeEvent, OperationBegun
from .simulatedcluster import SimulatedCluster

UNREACHABLE = (
    Taint(key="node.kubernetes.io/unreachable", effect="NoSchedule"),
    Taint(key="node.kubernetes.io/unreachable", effect="NoExecute"),
)
OURS = {UNSCHEDULABLE, *UNREACHABLE}


@attrs.define(eq=False, repr=False)
class ExternalEvents:
    """The events from outside of *cluster*: those of the inputs, and the operations of a scenario."""

    cluster: SimulatedCluster
    pods: PodLifecycles
    volumes: VolumeController
    _failures: dict[str, int] = attrs.Factory(dict)
    """Node -> number of the failure that it has not recovered from."""
    _count: int = 0

    def apply(self, event: Event) -> None:
        """Carry out *event*. Raises :class:`~kubeclassic.exceptions.ManifestError` for a node that does not
        exist."""
        item = event.item
        cluster = self.cluster
        if isinstance(item, Node):
            current = cluster.node(item.name)
            if event.verb in (ADD, UPDATE):
                if event.where and current is None:
                    cluster.note(NodeEvent(event="NodeAdded", node=item.name))
                cluster.put(item)
                return
            if current is None:
                raise ManifestError(
                    f"{event.where}: {event.verb}: expected a node that exists at that time, got {item.name}"
                )
            {DELETE: self.remove, DRAIN: self.drain, FAIL: self.fail, RECOVER: self.recover}[event.verb](
                current
            )
        elif event.verb == DELETE:
            self.delete(item)
        elif isinstance(item, Pod) and item.key in self.pods.all:
            self._update(item)
        elif isinstance(item, Pod):
            if not item.is_terminal and (event.verb == ADD or item.key not in self.pods.seen):
                self.pods.arrive(item, event.lifetime)
        elif not isinstance(item, PersistentVolumeClaim) or item.key not in self.volumes.for_pods:
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
        if (
            replace(changed, metadata=replace(metadata, resource_version=current.metadata.resource_version))
            != current
        ):
            self.cluster.put(changed)

    # --- nodes ----------------------------------------------------------------------------------------------

    def drain(self, node: Node) -> None:
        """Cordon the node and evict all pods but those of DaemonSets and static ones, whatever budgets say."""
        self._change(node, "NodeDrained", (*node.spec.taints, UNSCHEDULABLE), unschedulable=True)
        for life in self._pods_on(node.name):
            if not stays_with_node(life.original):
                self.pods.evict(life, reason="node drained")

    def fail(self, node: Node) -> None:
        """The node stops answering: it is tainted, and its pods are evicted after a while."""
        self._count += 1
        self._failures[node.name] = failure = self._count
        self._change(node, "NodeFailed", (*node.spec.taints, *UNREACHABLE), ready="Unknown")
        for life in self._pods_on(node.name):
            pod = self.cluster.pod(life.key)
            if pod is None or is_mirror(pod):  # its kubelet lets it tolerate everything
                continue
            # Upstream: of several tolerations of a taint the first counts, GetMatchingTolerations in
            # pkg/apis/core/v1/helper/helpers.go.
            matching = (one for one in pod.spec.tolerations if toleration_tolerates(one, UNREACHABLE[1]))
            toleration = next(matching, None)
            delay: float | None = self.cluster.delays.failure
            if toleration is not None:
                delay = toleration.toleration_seconds
            if delay is not None:
                self._evict_later(
                    life, max(delay, 0), "node failed", lambda name: self._failures.get(name) == failure
                )

    def recover(self, node: Node) -> None:
        """The node takes pods again, whether it had failed or was drained."""
        self._failures.pop(node.name, None)
        left = tuple(taint for taint in node.spec.taints if taint not in OURS)
        self._change(node, "NodeRecovered", left, unschedulable=False, ready="True")

    def _change(
        self,
        node: Node,
        event: Literal["NodeDrained", "NodeFailed", "NodeRecovered"],
        taints: tuple[Taint, ...],
        *,
        ready: str = "",
        **changes: bool,
    ) -> None:
        """Write *node* with *taints*, each once, and, where *ready* says so, another status of its condition
        Ready, if it has that."""
        self.cluster.note(NodeEvent(event=event, node=node.name))
        conditions = tuple(
            replace(condition, status=ready) if ready and condition.type == "Ready" else condition
            for condition in node.status.conditions
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
            self._evict_later(
                life,
                self.cluster.delays.failure,
                "node deleted",
                lambda name: self.cluster.node(name) is None,
            )

    def _evict_later(
        self, life: PodLifecycle, seconds: float, reason: str, still: Callable[[str], bool]
    ) -> None:
        """Evict a pod after so long, if that is *still* so of the node that it has then."""

        def evict() -> None:
            if still(life.node):
                self.pods.evict(life, reason=reason)

        self.cluster.later(seconds, evict)

    def _pods_on(self, name: str) -> list[PodLifecycle]:
        return [life for life in self.pods.all.values() if life.node == name]


# Runs the operations of a scenario, one after the other, as virtual time passes.


@attrs.define(eq=False, repr=False)
class ChurnWorkload:
    """The state of a running scenario; *operations* themselves do not change."""

    operations: tuple[Operation, ...]
    outside: ExternalEvents
    position: int = 0
    """The number of the next operation, or of the one that waits."""
    deadline: int | None = None
    """When the current barrier times out; None if there is none."""
    created: dict[str, dict[str, None]] = attrs.Factory(dict)
    """Namespace -> pods of createPods that had no node when last looked at."""
    _numbers: dict[str, int] = attrs.Factory(dict)
    _slots: dict[tuple[int, int, int], KubeObject] = attrs.Factory(dict)
    """Objects of churn in mode ``recreate``: operation, template, slot -> object."""
    cluster: SimulatedCluster = attrs.field(init=False)
    pods: PodLifecycles = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.cluster = self.outside.cluster
        self.pods = self.outside.pods
        if self.operations:
            self.cluster.agenda.put(self.cluster.now, self._advance)

    @property
    def is_over(self) -> bool:
        return self.position >= len(self.operations)

    def _advance(self) -> None:
        """Do operations until one takes time or waits."""
        steps: Mapping[str, Callable[[Operation], float | None]] = {
            "createNodes": self._create_nodes,
            "createPods": self._create_pods,
            "createAny": self._create_any,
            "churn": lambda operation: self._churn_later(operation, self.position),
            "sleep": lambda operation: operation.interval,
            "barrier": self._raise_barrier,
            "deletePods": self._delete_pods,
            "deleteNodes": self._delete_nodes,
        }
        while not self.is_over and self.deadline is None:
            operation = self.operations[self.position]
            self.cluster.note(OperationBegun(opcode=operation.opcode, number=self.position + 1))
            seconds = steps[operation.opcode](operation)
            if seconds:
                self.cluster.later(seconds, self._go_on)
                return
            self.position += self.deadline is None

    def _go_on(self) -> None:
        self.deadline = None
        self.position += 1
        self._advance()

    # --- making ---------------------------------------------------------------------------------------------

    def _named(self, template: KubeObject, namespace: str | None, *, is_alone: bool = False) -> KubeObject:
        base = f"{template.kind} {namespace or ''}/{template.metadata.name}"
        self._numbers[base] = number = self._numbers.get(base, -1) + 1
        name = template.metadata.name
        return named(
            template,
            name if name and is_alone and not number else f"{name or template.kind.lower()}-{number}",
            namespace,
        )

    def _create_nodes(self, operation: Operation) -> None:
        for number in range(operation.count):
            node = self._named(operation.templates[0], None, is_alone=operation.count == 1)
            if operation.label_key:
                values = operation.label_values or (node.name,)
                labels = {**node.labels, operation.label_key: values[number % len(values)]}
                node = replace(node, metadata=replace(node.metadata, labels=type(node.labels)(labels)))
            self.make(node)

    def make(self, item: KubeObject, run_time: float | None = None) -> None:
        """Create an object."""
        if isinstance(item, Pod):
            self.pods.arrive(item, Lifetime(runs_for=run_time))
            return
        if isinstance(item, Node):
            self.cluster.note(NodeEvent(event="NodeAdded", node=item.name))
        self.outside.create(item)

    def _create_any(self, operation: Operation) -> None:
        for template in operation.templates:
            for _ in range(operation.count):
                one = operation.count == 1 and template.metadata.name
                self.make(template if one else self._named(template, operation.namespace))

    def _create_pods(self, operation: Operation) -> float:
        """The pods come at once or one by one; the next operation waits for all of them unless *skip_wait*."""
        seconds = 0.0
        for number in range(operation.count):
            if number and operation.per_second:
                seconds += self.cluster.draw.expovariate(operation.per_second)
            elif number:
                seconds += operation.interval
            pod = self._named(operation.templates[0], operation.namespace)
            self.created.setdefault(pod.namespace, {})[pod.key] = None
            if seconds:
                self.cluster.later(seconds, partial(self.make, pod, operation.run_time))
            else:
                self.make(pod, operation.run_time)
        if not operation.skip_wait:
            self._raise_barrier(operation)
            return 0.0
        return seconds

    # --- waiting --------------------------------------------------------------------------------------------

    def _raise_barrier(self, operation: Operation) -> None:
        self.deadline = self.cluster.after(operation.timeout)

    def look(self) -> None:
        """Go on while all pods of the barrier are scheduled, or its time is up: what comes next may be a
        barrier that is met, too."""
        while self.deadline is not None:
            operation = self.operations[self.position]
            spaces = operation.namespaces or (
                (operation.namespace,) if operation.namespace else tuple(self.created)
            )
            if any(self._waits(self.created.get(space, {})) for space in spaces):
                if self.cluster.now < self.deadline:
                    return
                self.cluster.note(BarrierGivenUp(number=self.position + 1))
            self._go_on()

    def _waits(self, pods: dict[str, None]) -> bool:
        """Whether one of *pods* has not had a node, and is there; those before it are dropped."""
        while pods:
            key = next(iter(pods))
            life = self.pods.all.get(key)
            if key not in self.pods.seen or (life is not None and life.waits):
                return True
            del pods[key]
        return False

    # --- churn ----------------------------------------------------------------------------------------------

    def _churn_later(self, operation: Operation, place: int, step: int = 0) -> None:
        self.cluster.later(operation.interval or 0.5, partial(self._churn, operation, place, step))

    def _churn(self, operation: Operation, place: int, step: int) -> None:
        """One step of churn; it goes on until the scenario is over."""
        recreates = operation.mode == "recreate"
        if self.is_over or (not recreates and operation.number and step >= operation.number):
            return
        for index, template in enumerate(operation.templates):
            slot = (place, index, step % max(operation.number, 1))
            if (old := self._slots.pop(slot, None)) is not None:
                self.outside.delete(old)
                continue
            made = self._named(template, operation.namespace)
            self.make(made, operation.run_time)
            if recreates:
                self._slots[slot] = made
        self._churn_later(operation, place, step + 1)

    # --- removing -------------------------------------------------------------------------------------------

    def _delete_pods(self, operation: Operation) -> None:
        for life in list(self.pods.all.values()):
            if not operation.namespace or life.key.partition("/")[0] == operation.namespace:
                self.pods.delete(life)

    def _delete_nodes(self, operation: Operation) -> None:
        """The named nodes, or *count* random ones."""
        there = sorted(node.name for node in self.cluster.engine.nodes())
        for name in operation.names or self.cluster.draw.sample(there, min(operation.count, len(there))):
            if (node := self.cluster.node(name)) is not None:
                self.outside.remove(node)
