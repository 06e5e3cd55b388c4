"""The kinds of nodes that can be added, each a node of which copies are made, with its drivers, devices, static
pods and pods of DaemonSets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import count, islice

from attrs import evolve, frozen
from msgspec.structs import replace

from ..api.controlplane import admit, claims_of_volumes, expand, runs_on, slices_like, target_node
from ..api.load import each_once
from ..api.meaning import ServerRules
from ..api.objects import CSINode, JsonObject, KubeObject, Map, Node, Pod, ResourceSlice, of_kind
from .evictions import is_daemon, is_mirror, made_new

HOSTNAME = "kubernetes.io/hostname"
PASSING = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "status-taint.cluster-autoscaler.kubernetes.io/",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
    "cloud.google.com/impending-node-termination",
    "NodeWithImpairedVolumes",
)
"""The beginnings of keys of taints that a node has for a time, from the control plane and autoscalers.

Upstream: SanitizeTaints in cluster-autoscaler/utils/taints/taints.go.
"""


@frozen(kw_only=True)
class NodeKind:
    """A kind of node that can be added, as copies of one node."""

    name: str
    """The name of the template, or of the node that is copied."""
    node: Node
    """The node that each copy equals, except for its name and its hostname label."""
    csi: CSINode | None
    """The CSI drivers of each copy."""
    slices: tuple[ResourceSlice, ...] = ()
    """The devices of the node that is copied: each copy has as many."""
    is_copy: bool = False
    """Whether it is a copy of a node of the cluster."""
    cost: Decimal = Decimal(1)
    """The cost of one copy."""
    daemons: tuple[Pod, ...] = ()
    """The pods that DaemonSets run on each copy, with the names of the DaemonSets, and its static pods."""
    used_names: frozenset[str] = frozenset()
    """Names that no copy may have."""

    @classmethod
    def like(cls, name: str, objects: Sequence[KubeObject], *, with_daemons: bool = False) -> NodeKind:
        """The kind of the node *name* of *objects*, in good health: not cordoned, ready, without
        pressure."""
        nodes = {item.name: item for item in of_kind(Node, objects)}
        node = new_node(nodes[name])
        taints = tuple(taint for taint in node.spec.taints if not taint.key.startswith(PASSING))
        conditions = tuple(
            replace(condition, status="True" if condition.type == "Ready" else "False")
            for condition in node.status.conditions
        )
        kind = cls(
            name=name,
            is_copy=True,
            used_names=frozenset(nodes),
            node=replace(
                node,
                spec=replace(node.spec, unschedulable=False, taints=taints),
                status=replace(node.status, conditions=conditions),
            ),
            csi=next((item for item in of_kind(CSINode, objects) if item.name == name), None),
            slices=tuple(item for item in of_kind(ResourceSlice, objects) if item.spec.node_name == name),
        )
        pods = of_kind(Pod, objects) if with_daemons else ()
        return evolve(kind, daemons=tuple(kind.daemons_among(pods)))

    def daemons_among(
        self, pods: Iterable[Pod], described: Collection[tuple[str, str]] = ()
    ) -> Iterator[Pod]:
        """A pod for each DaemonSet of *pods* that runs on such nodes, with the name of the DaemonSet, and
        the static pods of the node that is copied. DaemonSets *described* elsewhere are left out."""
        samples: dict[tuple[str, str], list[Pod]] = {}
        for pod in pods:
            owner = pod.controller
            if pod.is_terminal or pod.is_terminating:
                continue
            if owner is not None and is_daemon(pod):
                samples.setdefault((pod.namespace, owner.name), []).append(pod)
            elif self.is_copy and is_mirror(pod) and pod.node_name == self.name:
                yield made_new(pod, pod.name.removesuffix(f"-{self.name}"), "")
        for (namespace, name), daemons in samples.items():
            # Without its node, and without the affinity to it that its controller has put in place of any
            # other.
            where = {target_node(pod): pod for pod in daemons}
            free = where.get(self.name, daemons[0]) if self.is_copy else daemons[0]
            affinity = free.spec.affinity
            if affinity is not None and affinity.node_affinity is not None:
                affinity = replace(affinity, node_affinity=replace(affinity.node_affinity, required=None))
            free = replace(free, spec=replace(free.spec, node_name="", affinity=affinity))
            if (namespace, name) not in described and (
                self.name in where if self.is_copy else runs_on(free.spec, self.node)
            ):
                yield made_new(free, name, "")

    def names(self, count: int) -> list[str]:
        """The names of *count* copies: ``name-1``, ``name-2`` and so on, without names in use."""
        return list(islice(free_names(self.name, self.used_names), count))

    def copies(self, count: int) -> Iterator[KubeObject]:
        """The objects of *count* new nodes: each node, its CSI drivers, its devices, and the pods of
        DaemonSets on it."""
        for name in self.names(count):
            labels = Map({**self.node.labels, HOSTNAME: name})
            metadata = replace(self.node.metadata, name=name, labels=labels)
            yield replace(self.node, metadata=metadata, manifest=None)
            if self.csi is not None:
                yield replace(self.csi, metadata=replace(self.csi.metadata, name=name))
            yield from slices_like(self.slices, self.name, name)
            for pod in self.daemons:
                metadata = replace(pod.metadata, name=f"{pod.name}-{name}")
                yield replace(pod, metadata=metadata).bound_to(name)


def free_names(stem: str, taken: Collection[str]) -> Iterator[str]:
    """``STEM-1``, ``STEM-2`` and so on, without those *taken*."""
    return (name for number in count(1) if (name := f"{stem}-{number}") not in taken)


def new_node(node: Node) -> Node:
    """*node* as one that has just joined: without a UID, and with no image pulled."""
    metadata = replace(
        node.metadata, uid="", resource_version="", creation_timestamp=None, deletion_timestamp=None
    )
    return replace(
        node,
        metadata=metadata,
        spec=replace(node.spec, provider_id=""),
        status=replace(node.status, images=()),
    )


def daemons_made(
    manifests: Iterable[JsonObject],
    changes: Iterable[tuple[KubeObject | None, KubeObject | None]],
    objects: Sequence[KubeObject],
    *,
    defaults: bool,
    server: ServerRules,
) -> tuple[KubeObject, ...]:
    """The pods that the DaemonSets of *manifests* would still make beside *objects*, and the claims of their
    volumes: for nodes whose labels or taints *changes*, pairs of before and after, change."""
    names = {
        after.name
        for before, after in changes
        if isinstance(before, Node)
        and isinstance(after, Node)
        and (before.labels, before.spec.taints) != (after.labels, after.spec.taints)
    }
    if not names:
        return ()
    made = of_kind(Pod, expand(each_once(manifests)[0], objects, strict=defaults).objects)
    pods = [pod for pod in made if target_node(pod) in names]
    claims = [claim for pod in pods for claim in claims_of_volumes(pod)]
    return admit((*pods, *claims), objects, server=server).objects if defaults else (*pods, *claims)
