"""What limits the pods of a namespace when they are created: ResourceQuotas and LimitRanges. Scheduling
itself does not read them."""

from __future__ import annotations

from typing import ClassVar

from .metadata import NO_QUANTITIES, KubeObject, Map, Part
from .quantity import Quantity


class ScopedResourceSelectorRequirement(Part):
    """Which pods a quota counts: those with one of *values* for the scope."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class ScopeSelector(Part):
    match_expressions: tuple[ScopedResourceSelectorRequirement, ...] = ()


class ResourceQuotaSpec(Part):
    hard: Map[Quantity] = NO_QUANTITIES
    scopes: tuple[str, ...] = ()
    scope_selector: ScopeSelector = ScopeSelector()


class ResourceQuotaStatus(Part):
    """What the API server says of it."""

    hard: Map[Quantity] = NO_QUANTITIES
    used: Map[Quantity] = NO_QUANTITIES


class ResourceQuota(KubeObject):
    """How much the pods of a namespace may request together."""

    kind: ClassVar[str] = "ResourceQuota"

    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class LimitRangeItem(Part):
    """Bounds and defaults of the pods or containers of a namespace."""

    type: str = ""
    max: Map[Quantity] = NO_QUANTITIES
    min: Map[Quantity] = NO_QUANTITIES
    default: Map[Quantity] = NO_QUANTITIES
    default_request: Map[Quantity] = NO_QUANTITIES
    max_limit_request_ratio: Map[Quantity] = NO_QUANTITIES


class LimitRangeSpec(Part):
    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(KubeObject):
    """The bounds and defaults of a namespace."""

    kind: ClassVar[str] = "LimitRange"

    spec: LimitRangeSpec = LimitRangeSpec()
