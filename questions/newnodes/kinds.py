"""The kinds of nodes that can be added, what they cost, and the pods of DaemonSets on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import attrs

from ...api.controlplane.admission import admit
from ...api.controlplane.manifests import each_once, identity_of
from ...api.controlplane.workloads import expand
from ...api.load import Loaded
from ...api.objects import CSINode, KubeObject, Node, Pod, of_kind
from ...api.record import replace
from ...exceptions import KubeclassicError, ManifestError, UnknownNameError, did_you_mean, wrong_type
from ...simulation.nodekinds import NodeKind, new_node
from ...simulation.simulate import Scenario

LIKE = "like:"


class NewNodeError(KubeclassicError):
    """A question about new nodes that has no answer; the text says what was expected and what came."""


# --- reading ------------------------------------------------------------------------------------------------


def kinds_of(
    given: Sequence[str | tuple[str, Loaded]], known: Sequence[KubeObject], costs: Mapping[str, Decimal]
) -> list[NodeKind]:
    """The kinds that are *given*, each as ``like:NODE`` or as what was loaded, with the words for where it is
    from.

    *known*: the cluster's objects. *costs*: name -> cost of one node. Raises
    :class:`~kubeclassic.exceptions.KubeclassicError` for what cannot be added.
    """
    nodes = [item.name for item in of_kind(Node, known)]
    kinds = {}
    for part in given:
        if isinstance(part, str):
            name = part.removeprefix(LIKE)
            if name not in nodes:
                near = did_you_mean(name, nodes)
                raise UnknownNameError(
                    f'add-node: expected the name of a node after {LIKE}, got "{part}"{near}'
                )
            kind = NodeKind.like(name, known)
        else:
            kind = _of_file(*part)
        if kind.name in kinds:
            raise NewNodeError(
                f"add-node: expected different names, got {kind.name} twice: new nodes are named after them"
            )
        kinds[kind.name] = kind
    if not kinds:
        raise NewNodeError("add-node: expected a file with one Node, or like:NODE, got none")
    # All kinds have a cost, or none has and each node counts 1.
    found = {}
    for text, cost in costs.items():
        name = text.removeprefix(LIKE)
        if name not in kinds or (name != text and not kinds[name].is_copy):
            raise UnknownNameError(
                f'cost: expected the name of a node to add, got "{text}"{did_you_mean(text, kinds)}'
            )
        found[name] = cost
    lacking = next((name for name in kinds if found and name not in found), None)
    if lacking is not None:
        raise NewNodeError(f"cost: expected one for each node to add, or none at all, got none for {lacking}")
    return [
        attrs.evolve(
            kind, cost=found.get(name, Decimal(1)), taken=frozenset(nodes).union(kinds.keys() - {name})
        )
        for name, kind in kinds.items()
    ]


def _of_file(where: str, loaded: Loaded) -> NodeKind:
    nodes = loaded.of(Node)
    drivers = loaded.of(CSINode)
    others = [item.kind for item in loaded.objects if not isinstance(item, Node | CSINode)]
    kinds = dict.fromkeys([*("Node" for _ in nodes), *others, *loaded.raw, *loaded.ignored])
    if len(nodes) != 1 or len(kinds) != 1 or len(drivers) > 1:
        got = f"{len(nodes)} Nodes" if len(nodes) > 1 else " and ".join(kinds) or "nothing"
        raise ManifestError(f"{where}: expected one Node, got {got}")
    return NodeKind(name=nodes[0].name, node=new_node(nodes[0]), csi=drivers[0] if drivers else None)


# --- costs --------------------------------------------------------------------------------------------------


def read_cost(name: str, value: Any) -> Decimal:
    """The cost of one node. Raises :class:`NewNodeError` for what is no number above 0."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise wrong_type(f"cost: {name}", value, "a number above 0")
    try:
        cost = Decimal(str(value))
    except InvalidOperation:
        cost = Decimal(0)
    if not cost.is_finite() or not 0 < cost < Decimal(10) ** 15 or int(cost.as_tuple().exponent) < -9:
        raise NewNodeError(f"cost: expected a number above 0, got {name}={value}")
    return cost


def read_costs(texts: Sequence[str]) -> dict[str, Decimal]:
    """Costs as the command line has them: ``NAME=NUMBER``, several with commas between them.

    >>> read_costs(["big=2.5,small=1", "like:gpu-1=7"])
    {'big': Decimal('2.5'), 'small': Decimal('1'), 'like:gpu-1': Decimal('7')}
    """
    found = {}
    for part in ",".join(texts).split(",") if texts else ():
        name, _, number = part.rpartition("=")
        if not name:
            raise NewNodeError(f'cost: expected NAME=NUMBER, got "{part}"')
        if name in found:
            raise NewNodeError(f"cost: expected each once, got {name} twice")
        found[name] = read_cost(name, number)
    return found


# --- the pods of DaemonSets ---------------------------------------------------------------------------------


def daemons_on(kind: NodeKind, scenario: Scenario, *, defaults: bool, priorities: bool) -> tuple[Pod, ...]:
    """The pods that the DaemonSets of *scenario* run on a node of *kind*, with the names of their DaemonSets."""
    manifests, _ = each_once(scenario.daemon_sets)
    described = {identity_of(manifest)[1:] for manifest in manifests}
    everyone = (*scenario.objects, *scenario.pending, *scenario.set_aside)
    found = list(kind.daemons_among(of_kind(Pod, everyone), described))
    (name,) = kind.names(1)
    node = replace(kind.node, metadata=replace(kind.node.metadata, name=name))
    for manifest in manifests:
        made = expand([manifest], [node], strict=defaults).objects
        pods = of_kind(Pod, made)
        for pod in admit(pods, scenario.objects, priorities=priorities).objects if defaults else pods:
            if isinstance(pod, Pod):
                found.append(replace(pod, metadata=replace(pod.metadata, name=identity_of(manifest)[2])))
    return tuple(sorted(found, key=lambda pod: pod.key))
