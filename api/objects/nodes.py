"""Nodes: their resources, taints and conditions."""

from __future__ import annotations

from typing import ClassVar

import attrs

from .metadata import NO_QUANTITIES, Condition, KubeObject, Map
from .quantity import Quantity


@attrs.frozen(kw_only=True, cache_hash=True)
class Taint:
    key: str = ""
    value: str = ""
    effect: str = ""


@attrs.frozen(kw_only=True, cache_hash=True)
class ContainerImage:
    names: tuple[str, ...] = ()
    size_bytes: int = 0


@attrs.frozen(kw_only=True)
class NodeSpec:
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = ""


@attrs.frozen(kw_only=True)
class NodeStatus:
    allocatable: Map[Quantity] = NO_QUANTITIES
    capacity: Map[Quantity] = NO_QUANTITIES
    conditions: tuple[Condition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    kubelet_version: str = ""
    """Which release the node runs, such as ``v1.16.3``."""


@attrs.frozen(kw_only=True)
class Node(KubeObject):
    kind: ClassVar[str] = "Node"
    namespaced: ClassVar[bool] = False

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
