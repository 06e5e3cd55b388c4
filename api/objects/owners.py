"""Owners of pods and limits on them: services, controllers, disruption budgets, priority classes, namespaces.

And what limits the pods of a namespace when they are created: ResourceQuotas and LimitRanges. Scheduling
itself does not read them.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, TypeAlias

from .metadata import (
    NO_QUANTITIES,
    NOTHING,
    KubeObject,
    LabelSelector,
    Map,
    OneOf,
    Part,
    Quantities,
    shortcut,
)
from .quantity import Int32, IntOrString

PreemptionPolicy: TypeAlias = Annotated[str, OneOf("PreemptLowerPriority", "Never", optional=True)]


class ServiceSpec(Part):
    """The spec of a service; None as selector selects nothing, an empty one everything."""

    selector: Map[str] | None = None


class _PairSelecting(KubeObject):
    spec: ServiceSpec = ServiceSpec()
    selector: ClassVar[Map[str] | None] = shortcut("spec.selector")


class Service(_PairSelecting):
    """A service."""

    kind = "Service"


class ReplicationController(_PairSelecting):
    kind = "ReplicationController"


class ControllerSpec(Part):
    """The selector of a controller."""

    selector: LabelSelector | None = None


class _Controller(KubeObject):
    spec: ControllerSpec = ControllerSpec()
    selector: ClassVar[LabelSelector | None] = shortcut("spec.selector")


class ReplicaSet(_Controller):
    kind = "ReplicaSet"


class StatefulSet(_Controller):
    kind = "StatefulSet"


class PodDisruptionBudgetSpec(Part):
    """The pods of a budget, and how many must keep running."""

    selector: LabelSelector | None = None
    min_available: IntOrString | None = None
    max_unavailable: IntOrString | None = None
    unhealthy_pod_eviction_policy: str = ""


class PodDisruptionBudgetStatus(Part):
    """The counts of the disruption controller."""

    disruptions_allowed: Int32 | None = None
    """None: no controller has written it."""
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    disrupted_pods: Map[Any] = NOTHING
    """The names of pods that are being evicted -> since when."""


class PodDisruptionBudget(KubeObject):
    """A disruption budget."""

    kind = "PodDisruptionBudget"

    spec: PodDisruptionBudgetSpec = PodDisruptionBudgetSpec()
    status: PodDisruptionBudgetStatus = PodDisruptionBudgetStatus()
    selector: ClassVar[LabelSelector | None] = shortcut("spec.selector")

    @property
    def disruptions_allowed(self) -> int:
        return self.status.disruptions_allowed or 0


class PriorityClass(KubeObject):
    """A named priority."""

    kind = "PriorityClass"
    namespaced = False

    value: Int32 = 0
    global_default: bool = False
    preemption_policy: PreemptionPolicy | None = None


class Namespace(KubeObject):
    kind = "Namespace"
    namespaced = False


# --- ResourceQuotas and LimitRanges -------------------------------------------------------------------------


class ScopedResourceSelectorRequirement(Part):
    """A scope of a quota: it counts pods with one of *values*."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class ScopeSelector(Part):
    match_expressions: tuple[ScopedResourceSelectorRequirement, ...] = ()


class ResourceQuotaSpec(Part):
    hard: Quantities = NO_QUANTITIES
    scopes: tuple[str, ...] = ()
    scope_selector: ScopeSelector = ScopeSelector()


class ResourceQuotaStatus(Part):
    """The API server's status of a quota."""

    hard: Quantities = NO_QUANTITIES
    used: Quantities = NO_QUANTITIES


class ResourceQuota(KubeObject):
    """A limit on the requests of all pods of a namespace together."""

    kind = "ResourceQuota"

    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class LimitRangeItem(Part):
    """Bounds and defaults of the pods or containers of a namespace."""

    type: str = ""
    max: Quantities = NO_QUANTITIES
    min: Quantities = NO_QUANTITIES
    default: Quantities = NO_QUANTITIES
    default_request: Quantities = NO_QUANTITIES
    max_limit_request_ratio: Quantities = NO_QUANTITIES


class LimitRangeSpec(Part):
    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(KubeObject):
    """The bounds and defaults of a namespace."""

    kind = "LimitRange"

    spec: LimitRangeSpec = LimitRangeSpec()
