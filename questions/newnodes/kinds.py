"""The kinds of nodes that can be added: read from a template or copied from a node, each with its cost and its DaemonSets' pods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import attrs
from msgspec.structs import replace

from ...api.controlplane.admission import admit
from ...api.controlplane.manifests import each_once, identity_of
from ...api.controlplane.workloads import Known, expand
from ...api.load import Loaded
from ...api.objects import CSINode, KubeObject, Node, Pod
from ...exceptions import KubeclassicError, ManifestError, UnknownNameError, did_you_mean, wrong_type
from ...simulation.nodekinds import NodeKind, new_node
from ...simulation.scenario import Scenario

LIKE = "like:"
WANTED = "wanted a file with one Node, or like:NODE"
WANTED_COST = "wanted a number above 0"


class NewNodeError(KubeclassicError):
    """A question about new nodes that has no answer; the text says what was got and what is wanted."""


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
        raise NewNodeError(f"add-node: got none, {WANTED}")
    names = [kind.name for kind in read]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise NewNodeError(f"add-node: got two of the name {name}, wanted different names: new nodes are named after them")
        seen.add(name)
    priced = _with_costs(read, costs)
    named = [attrs.evolve(kind, taken=taken | {other.name for other in read if other is not kind}) for kind in priced]
    return tuple(attrs.evolve(kind, daemons=daemons(kind)) for kind in named)


def _like(text: str, known: Sequence[KubeObject]) -> NodeKind:
    name, nodes = text.removeprefix(LIKE), [item.name for item in known if isinstance(item, Node)]
    if name not in nodes:
        raise UnknownNameError(f'add-node: got "{text}", wanted the name of a node after {LIKE}{did_you_mean(name, nodes)}')
    return NodeKind.like(name, known)


def _of_file(where: str, loaded: Loaded) -> NodeKind:
    nodes, drivers = loaded.of(Node), loaded.of(CSINode)
    others = [item.kind for item in loaded.objects if not isinstance(item, Node | CSINode)]
    kinds = dict.fromkeys([*("Node" for _ in nodes), *others, *loaded.raw, *loaded.ignored])
    if len(nodes) != 1 or len(kinds) != 1 or len(drivers) > 1:
        got = f"{len(nodes)} Nodes" if len(nodes) > 1 else " and ".join(kinds) or "nothing"
        raise ManifestError(f"{where}: got {got}, wanted one Node")
    return NodeKind(name=nodes[0].name, node=new_node(nodes[0]), csi=drivers[0] if drivers else None)


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
        raise NewNodeError(f"cost: got {name}={value}, {WANTED_COST}")
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
            raise NewNodeError(f'cost: got "{part}", wanted NAME=NUMBER')
        if name in found:
            raise NewNodeError(f"cost: got {name} twice, wanted each once")
        found[name] = read_cost(name, number)
    return found


def _with_costs(kinds: Sequence[NodeKind], costs: Mapping[str, Decimal]) -> list[NodeKind]:
    """*kinds* with their costs: all have one, or none has and each node counts 1."""
    names = {kind.name: kind for kind in kinds}
    found: dict[str, Decimal] = {}
    for given, cost in costs.items():
        name = given.removeprefix(LIKE) if names.get(given.removeprefix(LIKE), kinds[0]).is_copy else given
        if name not in names:
            raise UnknownNameError(f'cost: got "{given}", wanted the name of a node to add{did_you_mean(given, names)}')
        found[name] = cost
    lacking = [name for name in names if found and name not in found]
    if lacking:
        raise NewNodeError(f"cost: got none for {lacking[0]}, wanted one for each node to add, or none at all")
    return [attrs.evolve(kind, cost=found.get(kind.name, Decimal(1))) for kind in kinds]


# --- the pods of DaemonSets -----------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class DaemonPods:
    """What the DaemonSets of *scenario* run on nodes that come to it; *priorities*: whether gate PodPriority is on."""

    scenario: Scenario
    defaults: bool = True
    priorities: bool = True

    def __call__(self, kind: NodeKind) -> tuple[Pod, ...]:
        """The pods on each node of *kind*, with the names of their DaemonSets."""
        manifests, _ = each_once(self.scenario.daemon_sets)
        described = {identity_of(manifest)[1:] for manifest in manifests}
        everyone = (*self.scenario.objects, *self.scenario.pending, *self.scenario.set_aside)
        sampled = kind.daemons_among((item for item in everyone if isinstance(item, Pod)), described)
        return tuple(sorted((*self._described(kind, manifests), *sampled), key=lambda pod: pod.key))

    def _described(self, kind: NodeKind, manifests: Sequence[Mapping[str, Any]]) -> Iterator[Pod]:
        (name,) = kind.names(1)
        node = replace(kind.node, metadata=replace(kind.node.metadata, name=name))
        for manifest in manifests:
            made = expand([manifest], Known(nodes=(node,)), strict=self.defaults).objects
            pods = [item for item in made if isinstance(item, Pod)]
            admitted = admit(pods, self.scenario.objects, priorities=self.priorities).objects if self.defaults else tuple(pods)
            for pod in (item for item in admitted if isinstance(item, Pod)):
                yield replace(pod, metadata=replace(pod.metadata, name=identity_of(manifest)[2]))
