"""The kinds of nodes that can be added: read from a template or copied from a node, each with its cost and its DaemonSets' pods."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import attrs
from msgspec.structs import replace

from ...api.controlplane.admission import admit
from ...api.controlplane.deviceclaims import slices_like
from ...api.controlplane.manifests import each_once, identity_of
from ...api.controlplane.workloads import Known, expand, runs_on, target_node
from ...api.load import Loaded
from ...api.objects import CSINode, KubeObject, Map, Node, Pod, PodStatus, ResourceSlice
from ...exceptions import KubeclassicError, ManifestError, UnknownNameError, did_you_mean, wrong_type
from ...simulation.scenario import Scenario

LIKE = "like:"
HOSTNAME = "kubernetes.io/hostname"
WANTED = "expected a file with one Node, or like:NODE"
WANTED_COST = "expected a number above 0"
_PASSING = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""What begins so is a taint that the control plane puts on a node for a time."""


class NewNodeError(KubeclassicError):
    """A question about new nodes that has no answer; the text says what was expected and what came."""


@attrs.frozen(kw_only=True)
class NodeKind:
    """A node of which copies can be added."""

    name: str
    """The name of the template, or of the node that is copied."""
    node: Node
    """As each copy is, but for its name and its label for that."""
    csi: CSINode | None = None
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
        """The objects of *count* new nodes: each node, its CSI drivers, its devices, and the pods of DaemonSets on it."""
        return [item for name in self.names(count) for item in self._copy(name)]

    def _copy(self, name: str) -> list[KubeObject]:
        labels = Map({**self.node.labels, HOSTNAME: name})
        made: list[KubeObject] = [replace(self.node, metadata=replace(self.node.metadata, name=name, labels=labels))]
        if self.csi is not None:
            made.append(replace(self.csi, metadata=replace(self.csi.metadata, name=name)))
        made += slices_like(self.slices, self.name, name)
        for pod in self.daemons:
            owned = replace(pod, metadata=replace(pod.metadata, name=f"{pod.name}-{name}"))
            made.append(owned.bound_to(name))
        return made


# --- reading --------------------------------------------------------------------------------------------------------


def kinds_of(
    given: Sequence[str | tuple[str, Loaded]], known: Sequence[KubeObject], costs: Mapping[str, Decimal],
    daemons: Callable[[NodeKind], tuple[Pod, ...]],
) -> tuple[NodeKind, ...]:  # fmt: skip
    """The kinds that are *given*, each as ``like:NODE`` or as what was loaded, with the words for where it is from.

    *known*: the cluster's objects. *costs*: name -> cost of one node. *daemons*: what DaemonSets run on a node of a kind. Raises
    :class:`~kubeclassic.exceptions.KubeclassicError` for what cannot be added.
    """
    taken = frozenset(item.name for item in known if isinstance(item, Node))
    read = [_like(part, known) if isinstance(part, str) else _of_file(*part) for part in given]
    if not read:
        raise NewNodeError(f"add-node: {WANTED}, got none")
    names = [kind.name for kind in read]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise NewNodeError(f"add-node: expected different names, got {name} twice: new nodes are named after them")
        seen.add(name)
    priced = _with_costs(read, costs)
    named = [attrs.evolve(kind, taken=taken | {other.name for other in read if other is not kind}) for kind in priced]
    return tuple(attrs.evolve(kind, daemons=daemons(kind)) for kind in named)


def _like(text: str, known: Sequence[KubeObject]) -> NodeKind:
    name = text.removeprefix(LIKE)
    nodes = {item.name: item for item in known if isinstance(item, Node)}
    if name not in nodes:
        raise UnknownNameError(f'add-node: expected the name of a node after {LIKE}, got "{text}"{did_you_mean(name, nodes)}')
    drivers = next((item for item in known if isinstance(item, CSINode) and item.name == name), None)
    slices = tuple(item for item in known if isinstance(item, ResourceSlice) and item.spec.node_name == name)
    # *node* as it is when nothing is wrong with it: not cordoned, ready, without pressure.
    node = _new(nodes[name])
    taints = tuple(taint for taint in node.spec.taints if not taint.key.startswith(_PASSING))
    conditions = tuple(replace(found, status="True" if found.type == "Ready" else "False") for found in node.status.conditions)
    spec = replace(node.spec, unschedulable=False, taints=taints)
    return NodeKind(
        name=name,
        node=replace(node, spec=spec, status=replace(node.status, conditions=conditions)),
        csi=drivers,
        slices=slices,
        is_copy=True,
    )


def _of_file(where: str, loaded: Loaded) -> NodeKind:
    nodes, drivers = loaded.of(Node), loaded.of(CSINode)
    others = [item.kind for item in loaded.objects if not isinstance(item, Node | CSINode)]
    kinds = dict.fromkeys([*("Node" for _ in nodes), *others, *loaded.raw, *loaded.ignored])
    if len(nodes) != 1 or len(kinds) != 1 or len(drivers) > 1:
        got = f"{len(nodes)} Nodes" if len(nodes) > 1 else " and ".join(kinds) or "nothing"
        raise ManifestError(f"{where}: expected one Node, got {got}")
    return NodeKind(name=nodes[0].name, node=_new(nodes[0]), csi=drivers[0] if drivers else None)


def _new(node: Node) -> Node:
    """*node* as one that has just come: without a UID, and with no image pulled."""
    metadata = replace(node.metadata, uid="", resource_version="", creation_timestamp=None, deletion_timestamp=None)
    status = replace(node.status, images=())
    return replace(node, metadata=metadata, spec=replace(node.spec, provider_id=""), status=status)


# --- costs ----------------------------------------------------------------------------------------------------------


def read_cost(name: str, value: Any) -> Decimal:
    """What one node costs. Raises :class:`NewNodeError` for what is no number above 0."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise wrong_type(f"cost: {name}", value, "a number above 0")
    try:
        cost = Decimal(str(value))
    except InvalidOperation:
        cost = Decimal(0)
    if not cost.is_finite() or not 0 < cost < Decimal(10) ** 15 or int(cost.as_tuple().exponent) < -9:
        raise NewNodeError(f"cost: {WANTED_COST}, got {name}={value}")
    return cost


def read_costs(texts: Sequence[str]) -> dict[str, Decimal]:
    """Costs as the command line has them: ``NAME=NUMBER``, several with commas between them.

    >>> read_costs(["big=2.5,small=1", "like:gpu-1=7"])
    {'big': Decimal('2.5'), 'small': Decimal('1'), 'like:gpu-1': Decimal('7')}
    """
    found: dict[str, Decimal] = {}
    for part in (part for text in texts for part in text.split(",")):
        name, equals, number = part.rpartition("=")
        if not equals or not name:
            raise NewNodeError(f'cost: expected NAME=NUMBER, got "{part}"')
        if name in found:
            raise NewNodeError(f"cost: expected each once, got {name} twice")
        found[name] = read_cost(name, number)
    return found


def _with_costs(kinds: Sequence[NodeKind], costs: Mapping[str, Decimal]) -> list[NodeKind]:
    """*kinds* with their costs: all have one, or none has and each node counts 1."""
    names = {kind.name: kind for kind in kinds}
    found: dict[str, Decimal] = {}
    for given, cost in costs.items():
        name = given.removeprefix(LIKE) if names.get(given.removeprefix(LIKE), kinds[0]).is_copy else given
        if name not in names:
            raise UnknownNameError(f'cost: expected the name of a node to add, got "{given}"{did_you_mean(given, names)}')
        found[name] = cost
    lacking = [name for name in names if found and name not in found]
    if lacking:
        raise NewNodeError(f"cost: expected one for each node to add, or none at all, got none for {lacking[0]}")
    return [attrs.evolve(kind, cost=found.get(kind.name, Decimal(1))) for kind in kinds]


# --- the pods of DaemonSets -----------------------------------------------------------------------------------------


DAEMON_SET = "DaemonSet"


@attrs.frozen(eq=False)
class DaemonPods:
    """What the DaemonSets of *scenario* run on nodes that come to it; *priorities*: whether gate PodPriority is on."""

    scenario: Scenario
    defaults: bool = True
    priorities: bool = True

    def __call__(self, kind: NodeKind) -> tuple[Pod, ...]:
        """The pods on each node of *kind*, with the names of their DaemonSets."""
        manifests, _ = each_once(self.scenario.daemon_sets)
        found = (*self._described(kind, manifests), *self._sampled(kind, {identity_of(manifest)[1:] for manifest in manifests}))
        return tuple(sorted(found, key=lambda pod: pod.key))

    def _described(self, kind: NodeKind, manifests: Sequence[Mapping[str, Any]]) -> Iterator[Pod]:
        (name,) = kind.names(1)
        node = replace(kind.node, metadata=replace(kind.node.metadata, name=name))
        for manifest in manifests:
            made = expand([manifest], Known(nodes=(node,)), strict=self.defaults).objects
            pods = [item for item in made if isinstance(item, Pod)]
            admitted = admit(pods, self.scenario.objects, priorities=self.priorities).objects if self.defaults else tuple(pods)
            for pod in (item for item in admitted if isinstance(item, Pod)):
                yield replace(pod, metadata=replace(pod.metadata, name=identity_of(manifest)[2]))

    def _sampled(self, kind: NodeKind, described: Collection[tuple[str, str]]) -> Iterator[Pod]:
        everyone = (*self.scenario.objects, *self.scenario.pending, *self.scenario.set_aside)
        for (_, name), pods in _samples((item for item in everyone if isinstance(item, Pod)), described).items():
            where = {target_node(pod) for pod in pods}
            if kind.name in where if kind.is_copy else runs_on(_untied(pods[0]).spec, kind.node):
                metadata = replace(pods[0].metadata, name=name, uid="", resource_version="", creation_timestamp=None)
                yield replace(_untied(pods[0]), metadata=metadata, status=PodStatus())


def _samples(pods: Iterable[Pod], described: Collection[tuple[str, str]]) -> dict[tuple[str, str], list[Pod]]:
    found: dict[tuple[str, str], list[Pod]] = {}
    for pod in pods:
        owner = pod.metadata.controller
        identity = (pod.namespace, owner.name) if owner is not None and owner.kind == DAEMON_SET else None
        if identity is not None and identity not in described and not pod.is_terminal and not pod.is_terminating:
            found.setdefault(identity, []).append(pod)
    return found


def _untied(pod: Pod) -> Pod:
    """*pod* without its node, and without the affinity to it that its controller has put in place of any other."""
    affinity = pod.spec.affinity
    if affinity is not None and affinity.node_affinity is not None:
        affinity = replace(affinity, node_affinity=replace(affinity.node_affinity, required=None))
    return replace(pod, spec=replace(pod.spec, node_name="", affinity=affinity))
