"""One more node of a kind that is there, with the pods that its DaemonSets would run on it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from msgspec.structs import replace

from ...api.controlplane.deviceclaims import slices_like
from ...api.objects import Node, Pod
from .change import WhatIfChange
from .context import HOSTNAME, WhatIfContext


def one_more(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A copy of a node of each kind: nodes are of one kind if they differ in their names alone. The smallest comes first."""
    kinds: dict[Hashable, Node] = {}
    for node in context.nodes():
        kinds.setdefault(_kind(node), node)
    names = {node.name for node in context.nodes()}
    for number, like in enumerate(sorted(kinds.values(), key=_size)):
        new = _copy(like, names)
        pods = tuple(_daemon_pods(context, like, new.name))
        told = f"add a node like {like.name}"
        slices = slices_like(context.engine.listings.slices, like.name, new.name)
        patch = (f"adds: node like {like.name}",)
        yield WhatIfChange(kind="addNode", words=told, patch=patch, nodes=(new,), objects=slices, pods=pods, size=number)


def _kind(node: Node) -> Hashable:
    labels = frozenset((key, value) for key, value in node.labels.items() if value != node.name)
    allocatable = frozenset(node.status.allocatable.items())
    conditions = frozenset((one.type, one.status) for one in node.status.conditions)
    return labels, allocatable, frozenset(node.spec.taints), node.spec.unschedulable, conditions


def _size(node: Node) -> list[int]:
    found = node.status.allocatable
    return [found[name].nanos if name in found else 0 for name in ("cpu", "memory")]


def _copy(like: Node, names: set[str]) -> Node:
    name = next(name for number in range(1, len(names) + 2) if (name := f"{like.name}-new{number if number > 1 else ''}") not in names)
    labels = {key: name if value == like.name or key == HOSTNAME else value for key, value in like.labels.items()}
    metadata = replace(like.metadata, name=name, uid=name, labels=type(like.labels)(labels))
    return replace(like, metadata=metadata, manifest=None)


def _daemon_pods(context: WhatIfContext, like: Node, name: str) -> Iterator[Pod]:
    """What DaemonSets run on *like*, as they would run it on the node called *name*."""
    for entry in context.on(like.name):
        owner = entry.pod.metadata.controller
        if owner is not None and owner.kind == "DaemonSet":
            called = f"{owner.name}-{name}"
            metadata = replace(entry.pod.metadata, name=called, uid=f"{entry.pod.namespace}/{called}")
            yield replace(entry.pod, metadata=metadata, manifest=None).bound_to(name)
