"""What pods can belong to: services, controllers, disruption budgets, priority classes, namespaces."""

from __future__ import annotations

from typing import ClassVar

from .metadata import KubeObject, Map
from .quantity import Int32
from .selectors import LabelSelector


class Service(KubeObject, frozen=True, kw_only=True):
    """A service; None as selector selects nothing, an empty one everything."""

    kind: ClassVar[str] = "Service"

    selector: Map[str] | None = None


class ReplicationController(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "ReplicationController"

    selector: Map[str] | None = None


class ReplicaSet(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "ReplicaSet"

    selector: LabelSelector | None = None


class StatefulSet(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "StatefulSet"

    selector: LabelSelector | None = None


class PodDisruptionBudget(KubeObject, frozen=True, kw_only=True):
    """A disruption budget; *disrupted_pods* are the names in ``status.disruptedPods``, *min_available* and *max_unavailable* are texts
    such as ``2`` or ``50%``.
    """

    kind: ClassVar[str] = "PodDisruptionBudget"

    selector: LabelSelector | None = None
    min_available: str | None = None
    max_unavailable: str | None = None
    disruptions_allowed: Int32 = 0
    expected_pods: Int32 | None = None
    """How many pods its controller has counted; None where no controller has written a status."""
    disrupted_pods: tuple[str, ...] = ()


class PriorityClass(KubeObject, frozen=True, kw_only=True):
    """A named priority."""

    kind: ClassVar[str] = "PriorityClass"
    namespaced: ClassVar[bool] = False

    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str | None = None


class Namespace(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "Namespace"
    namespaced: ClassVar[bool] = False
