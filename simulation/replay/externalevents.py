"""What happens to a cluster from outside in a replay: events that create, change and delete objects, and that let nodes fail."""

from __future__ import annotations

import attrs
from msgspec.structs import replace

from ...api.objects import Node, Pod
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
    """Applies the events of the inputs to *cluster*."""

    cluster: SimulatedCluster
    pods: PodLifecycles
    volumes: VolumeController
    failures: NodeFailures

    def apply(self, event: Event) -> None:
        """Carry out *event*. Raises :class:`~kubeclassic.exceptions.ManifestError` for a node that does not exist."""
        if isinstance(event.item, Pod):
            self._apply_to_pod(event, event.item)
        elif isinstance(event.item, Node):
            self._apply_to_node(event, event.item)
        elif event.verb == DELETE:
            self.volumes.delete(event.item)
        elif not self.volumes.made_claim(event.item):
            self.volumes.put(event.item)
            self.volumes.reconcile()

    def _apply_to_pod(self, event: Event, pod: Pod) -> None:
        life = self.pods.all.get(pod.key)
        if event.verb == DELETE:
            if life is not None:
                self.pods.delete(life)
        elif life is not None:
            self._update(life, pod)
        elif not pod.is_terminal and (event.verb == ADD or pod.key not in self.pods.seen):
            self.pods.arrive(pod, event.lifetime)

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

    def _apply_to_node(self, event: Event, node: Node) -> None:
        current = self.cluster.node(node.name)
        if event.verb in (ADD, UPDATE):
            if current is None and event.where:
                self.cluster.journal.note(NodeEvent(event="NodeAdded", node=node.name))
            self.cluster.put(node)
        elif current is None:
            raise ManifestError(f"{event.where}: {event.verb}: got {node.name}, wanted a node that exists at that time")
        else:
            failures = self.failures
            {DELETE: failures.remove, DRAIN: failures.drain, FAIL: failures.fail, RECOVER: failures.recover}[event.verb](current)
