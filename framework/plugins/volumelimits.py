"""The plugins for volume limits: can the node attach the pod's volumes besides its own?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Any, ClassVar

import attrs

from ...api.objects import Volume
from ...core.volumes import plugin_of
from ...predicates.maxcsivolumecount import csi_failures
from ...predicates.maxvolumecount import (
    AZURE,
    EBS,
    GCE,
    OPENSTACK,
    VOLUMES_GATE,
    DiskType,
    disk_failures,
    leave_counts,
)
from ..hints import attachment_goes, claim_is_used, limit_grows, pod_leaves_attachment
from ..plugin import (
    SKIP,
    Action,
    Batch,
    ClusterEvent,
    Events,
    Failures,
    FrameworkCycle,
    Handle,
    Plugin,
    Reads,
    Status,
    Template,
)


class _VolumeLimits(Plugin):
    """The common part of the plugins for volume limits."""

    filter_reads = Reads.PODS | Reads.VOLUMES | Reads.NODE
    pre_filter_by_class = True

    def concerns(self, pod: Template) -> bool:
        return bool(pod.claims) or any(map(self._counts, pod.volumes))

    def _counts(self, volume: Volume) -> bool:
        """Whether the plugin can count a *volume* that the pod names without a claim."""
        return False

    def pre_filter(self, pod: Template, cycle: FrameworkCycle) -> Status | None:
        """Skip pods without claims and without volumes that count; their filter would reject no node."""
        return None if self.concerns(pod) else SKIP

    def filter_key(self, pod: Template) -> Hashable:
        # A claim of an ephemeral volume depends on the pod itself.
        if any(volume.ephemeral is not None for volume in pod.volumes):
            return pod
        return (pod.namespace, pod.volumes)

    def _pods_and_claims(self) -> Iterator[ClusterEvent]:
        queueing = self.handle.queueing
        yield ClusterEvent(
            "Pod", Action.DELETE, hint=partial(pod_leaves_attachment, nominated=queueing.nomination_ends)
        )
        if "new claims" in queueing.limits_wait_for:
            yield ClusterEvent(
                "PersistentVolumeClaim", Action.ADD, hint=claim_is_used if queueing.narrow_events else None
            )


class _DiskLimits(_VolumeLimits):
    """The limits of one type of cloud disk. Upstream:
    pkg/scheduler/framework/plugins/nodevolumelimits/non_csi.go."""

    disk: ClassVar[DiskType]
    filter_effect: Callable[[Template, Batch, FrameworkCycle], None] | None = None
    """The function that stores the numbers of disks on filtered nodes, with gate
    BalanceAttachedNodeVolumes."""

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        if handle.enabled(VOLUMES_GATE):
            self.filter_effect = partial(leave_counts, self.disk)

    def _counts(self, volume: Volume) -> bool:
        return self.disk.id_of(volume) is not None

    def filter(self, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        return disk_failures(self.disk, pod, nodes, cycle)

    def events_to_register(self) -> Events:
        return ClusterEvent("Node", Action.ADD), *(
            attrs.evolve(event, hint=None) for event in self._pods_and_claims()
        )


class EBSLimits(_DiskLimits):
    """Reject nodes where the pod would exceed the limit of EBS volumes, unless a CSI driver counts them."""

    name = "EBSLimits"
    disk = EBS


class GCEPDLimits(_DiskLimits):
    """Reject nodes where the pod would exceed the limit of GCE disks, unless a CSI driver counts them."""

    name = "GCEPDLimits"
    disk = GCE


class AzureDiskLimits(_DiskLimits):
    """Reject nodes where the pod would exceed the limit of Azure disks, unless a CSI driver counts them."""

    name = "AzureDiskLimits"
    disk = AZURE


class CinderLimits(_DiskLimits):
    """Reject nodes where the pod would exceed the limit of Cinder volumes, unless a CSI driver counts
    them."""

    name = "CinderLimits"
    disk = OPENSTACK


class NodeVolumeLimits(_VolumeLimits):
    """Reject nodes where the pod's volumes of a CSI driver would exceed the node's limit for that driver.

    Upstream: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go.
    """

    name = "NodeVolumeLimits"

    def _counts(self, volume: Volume) -> bool:
        return plugin_of(volume) is not None

    filter = staticmethod(csi_failures)

    def events_to_register(self) -> Events:
        triggers = self.handle.queueing.limits_wait_for
        grows = "changed CSINodes" in triggers
        events = [ClusterEvent("CSINode", Action.ADD), *self._pods_and_claims()]
        if grows:
            events.append(ClusterEvent("CSINode", Action.UPDATE, hint=limit_grows))
        if "VolumeAttachments that go" in triggers:
            hint = attachment_goes if grows else None
            events.append(ClusterEvent("VolumeAttachment", Action.DELETE, hint=hint))
        return events
