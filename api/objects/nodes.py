"""Nodes: their resources, taints and conditions."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from .metadata import NO_QUANTITIES, Condition, KubeObject, Map
from .quantity import Quantity


class Taint(Struct, frozen=True, kw_only=True, cache_hash=True):
    key: str = ""
    value: str = ""
    effect: str = ""


class ContainerImage(Struct, frozen=True, kw_only=True, cache_hash=True):
    names: tuple[str, ...] = ()
    size_bytes: int = 0


class NodeSpec(Struct, frozen=True, kw_only=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = ""


class NodeStatus(Struct, frozen=True, kw_only=True):
    allocatable: Map[Quantity] = NO_QUANTITIES
    capacity: Map[Quantity] = NO_QUANTITIES
    conditions: tuple[Condition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    kubelet_version: str = ""
    """Which release the node runs, such as ``v1.16.3``."""


class Node(KubeObject, frozen=True, kw_only=True):
    kind: ClassVar[str] = "Node"
    namespaced: ClassVar[bool] = False

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
