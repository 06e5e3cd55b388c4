"""Nodes: their resources, taints and conditions."""

from __future__ import annotations

from typing import Annotated, ClassVar

from .metadata import NO_QUANTITIES, Condition, HashedPart, KubeObject, Map, OneOf, Part
from .quantity import Int64, Quantity

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
    """Which release the node runs, such as ``v1.16.3``."""


class NodeStatus(Part):
    allocatable: Map[Quantity] = NO_QUANTITIES
    capacity: Map[Quantity] = NO_QUANTITIES
    conditions: tuple[Condition, ...] = ()
    images: tuple[ContainerImage, ...] = ()
    declared_features: tuple[str, ...] = ()
    """What it says that it can do, in newer releases."""
    node_info: NodeSystemInfo = NodeSystemInfo()

    @property
    def kubelet_version(self) -> str:
        return self.node_info.kubelet_version


class Node(KubeObject):
    kind: ClassVar[str] = "Node"
    namespaced: ClassVar[bool] = False

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
