"""Pods: what they request, and their status."""

from __future__ import annotations

from operator import attrgetter
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace

from .devices import PodResourceClaim, PodResourceClaimStatus
from .metadata import NO_QUANTITIES, Condition, KubeObject, Map
from .quantity import Int32, Quantity
from .selectors import Affinity, LabelSelector
from .storage import ClaimTemplate, VolumeSource

DEFAULT_SCHEDULER = "default-scheduler"
"""Whose a pod is that names no scheduler."""


class Toleration(Struct, frozen=True, kw_only=True, cache_hash=True):
    """Which taints a pod tolerates."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class TopologySpreadConstraint(Struct, frozen=True, kw_only=True, cache_hash=True):
    """How evenly pods must be spread over the domains of *topology_key*."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class ContainerPort(Struct, frozen=True, kw_only=True, cache_hash=True):
    """A port of a container; only those with a *host_port* matter here."""

    container_port: Int32 = 0
    host_port: Int32 = 0
    host_ip: str = ""
    protocol: str = ""
    name: str = ""


class Container(Struct, frozen=True, kw_only=True, cache_hash=True):
    """A container (or init container): image, requests, limits, ports."""

    name: str = ""
    image: str = ""
    requests: Map[Quantity] = NO_QUANTITIES
    limits: Map[Quantity] = NO_QUANTITIES
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""
    """``Always`` makes a sidecar of an init container in newer releases."""

    @property
    def is_sidecar(self) -> bool:
        """Whether an init container goes on running beside the others."""
        return self.restart_policy == "Always"


class Volume(VolumeSource, frozen=True, kw_only=True, cache_hash=True):
    """A volume of a pod: a disk, the name of a claim (None: no claim), a generic ephemeral volume, or an emptyDir."""

    name: str = ""
    persistent_volume_claim: str | None = None
    ephemeral: ClaimTemplate | None = None
    """Template of the claim of a generic ephemeral volume."""
    empty_dir: bool = False
    """Its data is on the node, and is lost with the pod."""

    @property
    def as_rules_see(self) -> Volume | None:
        """The volume with what rules read of it; None where they read nothing, as with a token, a config map or an emptyDir."""
        if _SOURCES(self) != _NO_SOURCES:
            return self
        # The volume's own name is in the name of an ephemeral volume's claim and in errors about disks, but not here.
        return None if self.persistent_volume_claim is None else Volume(persistent_volume_claim=self.persistent_volume_claim)


_SOURCES = attrgetter("ephemeral", *VolumeSource.__struct_fields__)
_NO_SOURCES = _SOURCES(Volume())


class PodSpec(Struct, frozen=True, kw_only=True):
    """What a pod requests."""

    node_name: str = ""
    scheduler_name: str = ""
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    node_selector: Map[str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Map[Quantity] = NO_QUANTITIES
    volumes: tuple[Volume, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduling_gates: tuple[str, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    """Its claims to devices, which newer releases allocate."""
    requests: Map[Quantity] = NO_QUANTITIES
    """What the pod as a whole requests, which newer releases read."""
    host_network: bool = False
    active_deadline_seconds: int | None = None

    @property
    def rule_volumes(self) -> tuple[Volume, ...]:
        """The volumes that rules read. Admission gives every pod a token volume with a name of its own, which no rule reads."""
        return tuple([seen for volume in self.volumes if (seen := volume.as_rules_see) is not None])

    def on(self, node_name: str) -> PodSpec:
        """A copy with *node_name*."""
        return replace(self, node_name=node_name)


class ContainerStatus(Struct, frozen=True, kw_only=True, cache_hash=True):
    """What the node says of a container's requests, which differs from the spec while the pod is resized."""

    name: str = ""
    requests: Map[Quantity] | None = None
    """What it has now; None where the status says nothing about resources."""
    allocated_resources: Map[Quantity] = NO_QUANTITIES
    """What the node has set aside for it."""


class PodStatus(Struct, frozen=True, kw_only=True):
    phase: str = ""
    nominated_node_name: str = ""
    start_time: str | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resize: str = ""
    """How a change of requests goes on, up to 1.32."""

    def with_conditions(self, conditions: tuple[Condition, ...]) -> PodStatus:
        """A copy with *conditions*."""
        return replace(self, conditions=conditions)


class Pod(KubeObject, frozen=True, kw_only=True):
    """A pod, bound when ``spec.node_name`` is set."""

    kind: ClassVar[str] = "Pod"

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

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

    def created_at(self, timestamp: str) -> Pod:
        """A copy of the pod that was created at *timestamp*, in RFC 3339."""
        metadata = replace(self.metadata, creation_timestamp=timestamp)
        return Pod(metadata=metadata, spec=self.spec, status=self.status, manifest=self.manifest)

    def bound_to(self, node_name: str) -> Pod:
        """A copy of the pod on *node_name*."""
        return Pod(metadata=self.metadata, spec=self.spec.on(node_name), status=self.status, manifest=self.manifest)
