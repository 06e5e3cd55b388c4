"""What happens to a cluster from outside in a replay: events that create, change and delete objects, and that let nodes fail."""

from __future__ import annotations

import attrs
from msgspec.structs import replace

from ...api.objects import KubeObject, Node, Pod
from ...exceptions import ManifestError
from .cluster.nodefailures import NodeFailures
from .cluster.podlifecycle import PodLifecycle
from .cluster.podlifecycles import PodLifecycles
from .cluster.volumecontroller import VolumeController
from .inputs.traces import ADD, DELETE, DRAIN, FAIL, RECOVER, UPDATE, Event
from .journal import NodeEvent
from .simulatedcluster import SimulatedCluster


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
