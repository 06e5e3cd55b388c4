"""The kinds of nodes that can be added: each a node of which copies are made, with its drivers, devices and
pods of DaemonSets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal

import attrs
from msgspec.structs import replace

from ..api.controlplane import runs_on, slices_like, target_node
from ..api.objects import CSINode, KubeObject, Map, Node, Pod, PodStatus, ResourceSlice, of_kind
from .drainrules import is_daemon

HOSTNAME = "kubernetes.io/hostname"
PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""What begins so is a taint that the control plane puts on a node for a time."""


@attrs.frozen(kw_only=True)
class NodeKind:
    """A node of which copies can be added."""

    name: str
    """The name of the template, or of the node that is copied."""
    node: Node
    """As each copy is, but for its name and its label for that."""
    csi: CSINode | None
    """The CSI drivers of each copy."""
    slices: tuple[ResourceSlice, ...] = ()
    """The devices of the node that is copied: each copy has as many."""
    is_copy: bool = False
    """It is a copy of a node of the cluster."""
    cost: Decimal = Decimal(1)
    """Of one copy."""
    daemons: tuple[Pod, ...] = ()
    """What DaemonSets run on each copy; their names and nodes are those of the copied kind."""
    taken: frozenset[str] = frozenset()
    """Names that no copy may have."""

    @classmethod
    def like(cls, name: str, known: Sequence[KubeObject], *, with_daemons: bool = False) -> NodeKind:
        """Nodes as the node *name* of *known* is when nothing is wrong with it: not cordoned, ready, without
        pressure."""
        nodes = {item.name: item for item in of_kind(Node, known)}
        node = new_node(nodes[name])
        taints = tuple(taint for taint in node.spec.taints if not taint.key.startswith(PASSING))
        conditions = tuple(
            replace(found, status="True" if found.type == "Ready" else "False")
            for found in node.status.conditions
        )
        found = cls(
            name=name,
            is_copy=True,
            taken=frozenset(nodes),
            node=replace(
                node,
                spec=replace(node.spec, unschedulable=False, taints=taints),
                status=replace(node.status, conditions=conditions),
            ),
            csi=next((item for item in of_kind(CSINode, known) if item.name == name), None),
            slices=tuple(item for item in of_kind(ResourceSlice, known) if item.spec.node_name == name),
        )
        pods = of_kind(Pod, known) if with_daemons else ()
        return attrs.evolve(found, daemons=tuple(found.daemons_among(pods)))

    def daemons_among(
        self, pods: Iterable[Pod], described: Collection[tuple[str, str]] = ()
    ) -> Iterator[Pod]:
        """The pods of the DaemonSets of *pods*, but for those *described* elsewhere, on each node, with the
        names of the DaemonSets."""
        samples: dict[tuple[str, str], list[Pod]] = {}
        for pod in pods:
            owner = pod.metadata.controller
            if owner is not None and is_daemon(pod) and not pod.is_terminal and not pod.is_terminating:
                samples.setdefault((pod.namespace, owner.name), []).append(pod)
        for (namespace, name), found in samples.items():
            # Without its node, and without the affinity to it that its controller has put in place of any
            # other.
            where = {target_node(pod) for pod in found}
            free = found[0]
            affinity = free.spec.affinity
            if affinity is not None and affinity.node_affinity is not None:
                affinity = replace(affinity, node_affinity=replace(affinity.node_affinity, required=None))
            free = replace(free, spec=replace(free.spec, node_name="", affinity=affinity))
            if (namespace, name) not in described and (
                self.name in where if self.is_copy else runs_on(free.spec, self.node)
            ):
                metadata = replace(
                    free.metadata, name=name, uid="", resource_version="", creation_timestamp=None
                )
                yield replace(free, metadata=metadata, status=PodStatus(), manifest=None)

    def names(self, count: int) -> list[str]:
        """The names of *count* copies: ``name-1``, ``name-2`` and so on, without names in use."""
        found: list[str] = []
        number = 0
        while len(found) < count:
            number += 1
            if (name := f"{self.name}-{number}") not in self.taken:
                found.append(name)
        return found

    def copies(self, count: int) -> list[KubeObject]:
        """The objects of *count* new nodes: each node, its CSI drivers, its devices, and the pods of
        DaemonSets on it."""
        made: list[KubeObject] = []
        for name in self.names(count):
            labels = Map({**self.node.labels, HOSTNAME: name})
            made.append(
                replace(
                    self.node, metadata=replace(self.node.metadata, name=name, labels=labels), manifest=None
                )
            )
            if self.csi is not None:
                made.append(replace(self.csi, metadata=replace(self.csi.metadata, name=name)))
            made += slices_like(self.slices, self.name, name)
            for pod in self.daemons:
                made.append(
                    replace(pod, metadata=replace(pod.metadata, name=f"{pod.name}-{name}")).bound_to(name)
                )
        return made


def new_node(node: Node) -> Node:
    """*node* as one that has just come: without a UID, and with no image pulled."""
    metadata = replace(
        node.metadata, uid="", resource_version="", creation_timestamp=None, deletion_timestamp=None
    )
    return replace(
        node,
        metadata=metadata,
        spec=replace(node.spec, provider_id=""),
        status=replace(node.status, images=()),
    )
