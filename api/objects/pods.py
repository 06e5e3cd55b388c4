"""Pods: what they request, and their status."""

from __future__ import annotations

from collections.abc import Collection
from operator import attrgetter
from typing import Annotated, ClassVar, TypeAlias

from msgspec import field
from msgspec.structs import replace

from .devices import PodResourceClaim, PodResourceClaimStatus
from .metadata import (
    NO_QUANTITIES,
    NO_STRINGS,
    Affinity,
    Condition,
    HashedPart,
    KubeObject,
    LabelSelector,
    Map,
    OneOf,
    Part,
    Quantities,
    Time,
    shortcut,
)
from .owners import PreemptionPolicy
from .quantity import Int32, Int64, Quantity
from .storage import ClaimTemplate, ResourceRequirements, VolumeSource

# --- Nodes --------------------------------------------------------------------------------------------------


EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class Taint(HashedPart):
    key: str = ""
    value: str = ""
    effect: Annotated[str, OneOf(*EFFECTS)] = ""


class ContainerImage(HashedPart):
    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class NodeSpec(Part):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = ""


class NodeSystemInfo(Part):
    kubelet_version: str = ""
    """The release that the node runs, such as ``v1.16.3``."""


class NodeStatus(Part):
    allocatable: Quantities = NO_QUANTITIES
    capacity: Quantities = NO_QUANTITIES
    conditions: tuple[Condition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    declared_features: tuple[str, ...] = ()
    """The features that it declares, in newer releases."""
    node_info: NodeSystemInfo = NodeSystemInfo()
    kubelet_version: ClassVar[str] = shortcut("node_info.kubelet_version")


class Node(KubeObject):
    kind = "Node"
    namespaced = False

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


# --- Pods ---------------------------------------------------------------------------------------------------


DEFAULT_SCHEDULER = "default-scheduler"
"""The scheduler of pods that name none."""


class Toleration(HashedPart):
    """A toleration of taints."""

    key: str = ""
    operator: Annotated[str, OneOf("Equal", "Exists", "Gt", "Lt", optional=True)] = ""
    value: str = ""
    effect: Annotated[str, OneOf(*EFFECTS, optional=True)] = ""
    toleration_seconds: Int64 | None = None


InclusionPolicy: TypeAlias = Annotated[str, OneOf("Honor", "Ignore", optional=True)]


class TopologySpreadConstraint(HashedPart):
    """A constraint on the spread of pods over the domains of *topology_key*."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: Annotated[str, OneOf("DoNotSchedule", "ScheduleAnyway")] = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: InclusionPolicy | None = None
    node_taints_policy: InclusionPolicy | None = None
    match_label_keys: tuple[str, ...] = ()


class ContainerPort(HashedPart):
    """A port of a container; only those with a *host_port* matter here."""

    container_port: Int32 = 0
    host_port: Int32 = 0
    host_ip: str = ""
    protocol: Annotated[str, OneOf("TCP", "UDP", "SCTP", optional=True)] = ""
    name: str = ""


class ContainerRestartRule(HashedPart):
    action: str = ""


class Container(HashedPart):
    """A container (or init container): image, requests, limits, ports."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    requests: ClassVar[Quantities] = shortcut("resources.requests")
    limits: ClassVar[Quantities] = shortcut("resources.limits")
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""
    """``Always`` makes a sidecar of an init container in newer releases."""
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    """Rules for its exit, in newer releases."""

    @property
    def restarts_all(self) -> bool:
        """Whether all containers of the pod may be restarted when it exits."""
        return any(rule.action == "RestartAllContainers" for rule in self.restart_policy_rules)

    @property
    def is_sidecar(self) -> bool:
        """Whether an init container goes on running beside the others."""
        return self.restart_policy == "Always"


class PersistentVolumeClaimVolumeSource(HashedPart):
    claim_name: str = ""


class EphemeralVolumeSource(HashedPart):
    volume_claim_template: ClaimTemplate = ClaimTemplate()


class EmptyDirVolumeSource(HashedPart):
    """A volume whose data is on the node, and is lost with the pod."""

    medium: str = ""
    size_limit: Quantity | None = None


class HostPathVolumeSource(HashedPart):
    path: str = ""
    type: str = ""


class NFSVolumeSource(HashedPart):
    server: str = ""
    path: str = ""
    read_only: bool = False


class ProjectedVolumeSource(HashedPart):
    """A projected volume without its sources: those of the token volume that admission adds are alike in all
    pods."""


class ImageVolumeSource(HashedPart):
    """An image whose files are the volume, in newer releases."""

    reference: str = ""


class Volume(VolumeSource):
    """A volume of a pod: a disk, a claim, a generic ephemeral volume, an emptyDir, or another kind, which no
    rule reads.

    Of other kinds, the signatures of batches read host paths, NFS shares and projected volumes.
    """

    name: str = ""
    claim: PersistentVolumeClaimVolumeSource | None = field(default=None, name="persistentVolumeClaim")
    ephemeral_source: EphemeralVolumeSource | None = field(default=None, name="ephemeral")
    empty_dir: EmptyDirVolumeSource | None = None
    image: ImageVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    nfs: NFSVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None

    @property
    def persistent_volume_claim(self) -> str | None:
        """The name of its claim; None: it has none."""
        return None if self.claim is None else self.claim.claim_name

    @property
    def ephemeral(self) -> ClaimTemplate | None:
        """The template of the claim of a generic ephemeral volume."""
        return None if self.ephemeral_source is None else self.ephemeral_source.volume_claim_template


_SOURCES = attrgetter("ephemeral_source", "image", *VolumeSource.__struct_fields__)
_NO_SOURCES = _SOURCES(Volume())


def claim_volume(name: str, claim: str) -> Volume:
    """A volume that is a claim."""
    return Volume(name=name, claim=PersistentVolumeClaimVolumeSource(claim_name=claim))


class PodSchedulingGate(HashedPart):
    name: str = ""


class PodOS(HashedPart):
    """The operating system that a pod asks for."""

    name: str = ""


class PodSpec(Part):
    """The spec of a pod."""

    node_name: str = ""
    scheduler_name: str = ""
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: PreemptionPolicy | None = None
    node_selector: Map[str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Quantities = NO_QUANTITIES
    volumes: tuple[Volume, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    """Its claims to devices, which newer releases allocate."""
    resources: ResourceRequirements = ResourceRequirements()
    """The requests of the pod as a whole, which newer releases read."""
    requests: ClassVar[Quantities] = shortcut("resources.requests")
    host_network: bool = False
    host_users: bool | None = None
    os: PodOS | None = None
    runtime_class_name: str = ""
    active_deadline_seconds: Int64 | None = None

    @property
    def all_containers(self) -> tuple[Container, ...]:
        """The containers, and after them the init containers."""
        return (*self.containers, *self.init_containers)

    @property
    def rule_volumes(self) -> tuple[Volume, ...]:
        """The volumes that rules read. Admission gives every pod a token volume with a name of its own, which
        no rule reads."""
        volumes = []
        for volume in self.volumes:
            # The volume's own name is in the name of an ephemeral volume's claim and in errors about disks,
            # but not in that of a claim.
            if _SOURCES(volume) != _NO_SOURCES:
                volumes.append(volume)
            elif volume.claim is not None:
                volumes.append(Volume(claim=volume.claim))
        return tuple(volumes)

    def on(self, node_name: str) -> PodSpec:
        """A copy with *node_name*."""
        return self if node_name == self.node_name else replace(self, node_name=node_name)


class ContainerStatus(HashedPart):
    """The node's status of a container's requests, which differs from the spec while the pod is resized."""

    name: str = ""
    resources: ResourceRequirements | None = None
    """Its resources now; None where the status says nothing about them."""
    allocated_resources: Quantities = NO_QUANTITIES
    """The resources that the node has set aside for the container."""

    @property
    def requests(self) -> Quantities | None:
        return None if self.resources is None else self.resources.requests


class PodStatus(Part):
    phase: str = ""
    nominated_node_name: str = ""
    start_time: Time | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resources: ResourceRequirements | None = None
    """The resources of the pod as a whole now, in newer releases."""
    allocated_resources: Quantities = NO_QUANTITIES
    """The resources that the node has set aside for the pod."""
    resize: str = ""
    """The progress of a change of requests, up to 1.32."""


class Pod(KubeObject):
    """A pod, bound when ``spec.node_name`` is set."""

    kind = "Pod"

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    node_name: ClassVar[str] = shortcut("spec.node_name")
    """The node that the pod is on; empty if on none."""

    @property
    def scheduler_name(self) -> str:
        """The scheduler, and so the profile, that the pod asks for."""
        return self.spec.scheduler_name or DEFAULT_SCHEDULER

    @property
    def priority(self) -> int:
        """The pod's priority; 0 if none is given."""
        return self.spec.priority or 0

    @property
    def is_terminal(self) -> bool:
        """Whether the pod has finished: phase Succeeded or Failed."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def is_terminating(self) -> bool:
        """Whether the pod is being deleted."""
        return self.metadata.deletion_timestamp is not None

    def with_status(self, status: PodStatus) -> Pod:
        """A copy of the pod with *status*."""
        return Pod(metadata=self.metadata, spec=self.spec, status=status, manifest=self.manifest)

    def bound_to(self, node_name: str) -> Pod:
        """A copy of the pod on *node_name*."""
        return Pod(
            metadata=self.metadata, spec=self.spec.on(node_name), status=self.status, manifest=self.manifest
        )


# --- RuntimeClasses -----------------------------------------------------------------------------------------


class Overhead(Part):
    pod_fixed: Quantities = NO_QUANTITIES


class Scheduling(Part):
    node_selector: Map[str] = NO_STRINGS
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(KubeObject):
    """A container runtime; pods that name it get its overhead, node selector and tolerations at admission."""

    kind = "RuntimeClass"
    namespaced = False

    overhead: Overhead = Overhead()
    scheduling: Scheduling = Scheduling()


ON_A_NODE = "on a node"


def why_not_waiting(pod: Pod, scheduler_names: Collection[str] | None = None) -> str | None:
    """The reason why *pod* does not wait for a node; None if it does. With *scheduler_names* it must ask for
    one of these."""
    if pod.is_terminal:
        return "finished"
    if pod.node_name:
        return ON_A_NODE
    if pod.is_terminating:
        return "being deleted"
    is_other = scheduler_names is not None and pod.scheduler_name not in scheduler_names
    return "for another scheduler" if is_other else None
