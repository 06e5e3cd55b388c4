"""What limits the pods of a namespace when they are created: ResourceQuotas and LimitRanges. Scheduling itself does not read them."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from .metadata import NO_QUANTITIES, KubeObject, Map
from .quantity import Quantity


class ScopedResourceSelectorRequirement(Struct, frozen=True, kw_only=True):
    """Which pods a quota counts: those with one of *values* for the scope."""

    scope_name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class ResourceQuota(KubeObject, frozen=True, kw_only=True):
    """How much the pods of a namespace may request together; *used* and *status_hard* are what the API server says in its status."""

    kind: ClassVar[str] = "ResourceQuota"

    hard: Map[Quantity] = NO_QUANTITIES
    scopes: tuple[str, ...] = ()
    scope_selector: tuple[ScopedResourceSelectorRequirement, ...] = ()
    status_hard: Map[Quantity] = NO_QUANTITIES
    used: Map[Quantity] = NO_QUANTITIES


class LimitRangeItem(Struct, frozen=True, kw_only=True):
    """Bounds and defaults of the pods or containers of a namespace."""

    type: str = ""
    max: Map[Quantity] = NO_QUANTITIES
    min: Map[Quantity] = NO_QUANTITIES
    default: Map[Quantity] = NO_QUANTITIES
    default_request: Map[Quantity] = NO_QUANTITIES
    max_limit_request_ratio: Map[Quantity] = NO_QUANTITIES


class LimitRange(KubeObject, frozen=True, kw_only=True):
    """The bounds and defaults of a namespace."""

    kind: ClassVar[str] = "LimitRange"

    limits: tuple[LimitRangeItem, ...] = ()
