"""From a question and kinds of nodes to the answer: which nodes to add, and what became of the pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import attrs

from ...api.controlplane.admission import admit
from ...api.controlplane.manifests import each_once, identity_of
from ...api.controlplane.workloads import Known, expand
from ...api.load import Loaded
from ...api.objects import CSINode, KubeObject, Node, Pod
from ...api.reading.notices import ResultDocument
from ...api.record import UNSET, Count, Counts, Meta, Record, UnsetType, replace, says
from ...api.words import count_of
from ...exceptions import KubeclassicError, ManifestError, UnknownNameError, did_you_mean, wrong_type
from ...simulation.explain.faileddemands import spread_counts
from ...simulation.input import Input
from ...simulation.nodekinds import HOSTNAME, NodeKind, new_node
from ...simulation.scenario import Scenario
from ...simulation.simulate import Simulation
from ..capacity.question import CapacityQuestion
from .search import Demand, MixesFound, MixSearch, MixTrial, MixTrials, NewNode, PodShape, PodWithoutNode

LIKE = "like:"


class NewNodeError(KubeclassicError):
    """A question about new nodes that has no answer; the text says what was expected and what came."""


# --- reading --------------------------------------------------------------------------------------------------------


def kinds_of(
    given: Sequence[str | tuple[str, Loaded]], known: Sequence[KubeObject], costs: Mapping[str, Decimal]
) -> list[NodeKind]:  # fmt: skip
    """The kinds that are *given*, each as ``like:NODE`` or as what was loaded, with the words for where it is from.

    *known*: the cluster's objects. *costs*: name -> cost of one node. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what
    cannot be added.
    """
    nodes = [item.name for item in known if isinstance(item, Node)]
    kinds = dict[str, NodeKind]()
    for part in given:
        if isinstance(part, str):
            name = part.removeprefix(LIKE)
            if name not in nodes:
                near = did_you_mean(name, nodes)
                raise UnknownNameError(f'add-node: expected the name of a node after {LIKE}, got "{part}"{near}')
            kind = NodeKind.like(name, known)
        else:
            kind = _of_file(*part)
        if kind.name in kinds:
            raise NewNodeError(f"add-node: expected different names, got {kind.name} twice: new nodes are named after them")
        kinds[kind.name] = kind
    if not kinds:
        raise NewNodeError("add-node: expected a file with one Node, or like:NODE, got none")
    # All kinds have a cost, or none has and each node counts 1.
    found: dict[str, Decimal] = {}
    for text, cost in costs.items():
        name = text.removeprefix(LIKE)
        if name not in kinds or (name != text and not kinds[name].is_copy):
            raise UnknownNameError(f'cost: expected the name of a node to add, got "{text}"{did_you_mean(text, kinds)}')
        found[name] = cost
    lacking = next((name for name in kinds if found and name not in found), None)
    if lacking is not None:
        raise NewNodeError(f"cost: expected one for each node to add, or none at all, got none for {lacking}")
    return [
        attrs.evolve(kind, cost=found.get(name, Decimal(1)), taken=frozenset(nodes).union(kinds.keys() - {name}))
        for name, kind in kinds.items()
    ]


def _of_file(where: str, loaded: Loaded) -> NodeKind:
    nodes, drivers = loaded.of(Node), loaded.of(CSINode)
    others = [item.kind for item in loaded.objects if not isinstance(item, Node | CSINode)]
    kinds = dict.fromkeys([*("Node" for _ in nodes), *others, *loaded.raw, *loaded.ignored])
    if len(nodes) != 1 or len(kinds) != 1 or len(drivers) > 1:
        got = f"{len(nodes)} Nodes" if len(nodes) > 1 else " and ".join(kinds) or "nothing"
        raise ManifestError(f"{where}: expected one Node, got {got}")
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
        raise NewNodeError(f"cost: expected a number above 0, got {name}={value}")
    return cost


def read_costs(texts: Sequence[str]) -> dict[str, Decimal]:
    """Costs as the command line has them: ``NAME=NUMBER``, several with commas between them.

    >>> read_costs(["big=2.5,small=1", "like:gpu-1=7"])
    {'big': Decimal('2.5'), 'small': Decimal('1'), 'like:gpu-1': Decimal('7')}
    """
    found: dict[str, Decimal] = {}
    for part in ",".join(texts).split(",") if texts else ():
        name, _, number = part.rpartition("=")
        if not name:
            raise NewNodeError(f'cost: expected NAME=NUMBER, got "{part}"')
        if name in found:
            raise NewNodeError(f"cost: expected each once, got {name} twice")
        found[name] = read_cost(name, number)
    return found


# --- the pods of DaemonSets -----------------------------------------------------------------------------------------


def daemons_on(kind: NodeKind, scenario: Scenario, *, defaults: bool, priorities: bool) -> tuple[Pod, ...]:
    """The pods that the DaemonSets of *scenario* run on a node of *kind*, with the names of their DaemonSets."""
    manifests, _ = each_once(scenario.daemon_sets)
    described = {identity_of(manifest)[1:] for manifest in manifests}
    everyone = (*scenario.objects, *scenario.pending, *scenario.set_aside)
    found = list(kind.daemons_among((item for item in everyone if isinstance(item, Pod)), described))
    (name,) = kind.names(1)
    node = replace(kind.node, metadata=replace(kind.node.metadata, name=name))
    for manifest in manifests:
        made = expand([manifest], Known(nodes=(node,)), strict=defaults).objects
        pods = [item for item in made if isinstance(item, Pod)]
        for pod in admit(pods, scenario.objects, priorities=priorities).objects if defaults else pods:
            if isinstance(pod, Pod):
                found.append(replace(pod, metadata=replace(pod.metadata, name=identity_of(manifest)[2])))
    return tuple(sorted(found, key=lambda pod: pod.key))


# --- the answer -------------------------------------------------------------------------------------------------------


MOST_TOLD = 10
"""How many pods without a node are listed at most."""


Mix = Annotated[Counts, says("Kind -> new nodes of it.")]


class AddedNodes(Record):
    """The new nodes of one kind."""

    node: str
    """The name of the template, or of the node that is copied."""
    count: Annotated[int, says("How many.", ge=1)]
    cost: float
    """Of all nodes of the row; each counts 1 if no costs were given."""
    cost_of_one: float


class FewerNodes(Record):
    """A simulation with one node less."""

    mix: Mix
    without_node: Count
    """How many pods find no node."""
    message: str


class KindNotTaken(Record):
    """A kind of node of which none is added."""

    node: str
    """The name of the template, or of the node that is copied."""
    cost_of_one: float
    takes: Count
    """How many of the pods that find a node an empty one takes."""
    why: str


class PodsWithoutNode(Record):
    """The pods that find no node: with any mix that was tried, or with the one that leaves the fewest pods."""

    count: Count
    pods: Annotated[tuple[PodWithoutNode, ...], Meta(max_length=MOST_TOLD)]


class NewNodesDocument(ResultDocument, kw_only=True):
    """Which new nodes let pods find a node, and what became of the pods."""

    KIND = "NewNodes"
    release: str
    added: tuple[AddedNodes, ...]
    """A row a kind, for the pods that find a node; empty if none is needed or enough."""
    not_taken: tuple[KindNotTaken, ...]
    """Kinds of which none is added although others are, and why."""
    placed: bool
    """Whether every pod finds a node with them."""
    with_one_fewer: str | None
    """What happens with one node less of each kind that is added; null if none is added."""
    cost: float | None
    """Of all new nodes; null if no number is enough."""
    pods: Count
    """How many pods need a node."""
    nodes: tuple[NewNode, ...]
    """The new nodes."""
    one_fewer: tuple[FewerNodes, ...]
    """The simulations behind withOneFewer."""
    without_node: PodsWithoutNode
    tried: Mix
    """The mix of the answer; if no number is enough, the one that leaves the fewest pods."""
    daemons: Mapping[str, tuple[str, ...]]
    """Kind -> the DaemonSets of which a new node of it has a pod."""
    evicted: Mapping[str, str]
    """--preemption: evicted pod -> the pod that evicted it."""
    most_nodes: Annotated[int, says("More nodes were not added.", ge=1)]
    simulated: Count
    """How many mixes were simulated."""
    wanted_domains: Counts | UnsetType = UNSET
    """Label that none of the nodes to add has -> pods whose hard spread wants room there; absent: none."""

    @property
    def fewer(self) -> list[str]:
        """A sentence for each simulation with one node less."""
        return [f"{in_words(one.mix)}: {one.message}" for one in self.one_fewer]


def in_words(mix: Mapping[str, int]) -> str:
    """A mix in words.

    >>> in_words({"big": 2, "mid": 0, "small": 1})
    '2 big and 1 small'
    """
    *first, last = [f"{count:,} {name}" for name, count in mix.items() if count] or ["no new node"]
    return " and ".join([", ".join(first), last] if first else [last])


def number_of(number: Decimal) -> int | float:
    """*number* as JSON has it: whole where it is.

    >>> number_of(Decimal("2.50")), number_of(Decimal("3.0"))
    (2.5, 3)
    """
    return int(number) if number == int(number) else float(number)


# --- from a question to the answer ----------------------------------------------------------------------------------


def nodes_to_add(
    question: CapacityQuestion, given: Input, kinds: Sequence[NodeKind], *, most_nodes: int | None,
    on_progress: Callable[[int], None],
) -> tuple[NewNodesDocument, dict[str, str]]:  # fmt: skip
    """A mix of *kinds* of nodes with which the pods of *question* find a node; and why the others find none, by pod.

    *given*: the whole cluster and its scheduler. *most_nodes*: more are not added; by default as many as there are pods.
    """
    scenario, spec = given.scenario, given.spec
    run = {"defaults": question.admits, "priorities": spec.keeps_priorities}
    kinds = [attrs.evolve(kind, daemons=daemons_on(kind, scenario, **run)) for kind in kinds]
    trials = MixTrials(question, kinds, lambda: spec.engine(scenario.config_maps), on_progress)
    copies = [pod for _, pod in trials.copies()]
    waiting = question.scenario.pending if question.pending_first or not question.templates else ()
    demand, most = Demand.of(trials, [*waiting, *copies]), most_nodes or max(trials.wanted, 1)
    # Copies come in turn, and the first one without a node ends them: none of them is set aside.
    found = MixSearch(trials, demand, most, sets_aside=not question.templates).run()
    without = _without_place(kinds, demand.shapes, found)
    wanted = _wanted_domains(trials, found) if without and not question.templates else {}
    best = found.best
    counts = list(zip(kinds, best.mix, strict=True)) if best.is_placed else []
    added = tuple(AddedNodes(kind.name, count, number_of(kind.cost * count), number_of(kind.cost)) for kind, count in counts if count)
    unused = [at for at, (_, count) in enumerate(counts) if added and not count]
    fewer = tuple(FewerNodes(_mix(kinds, trial), len(trial.missing), left(trial)) for trial in found.fewer)
    document = NewNodesDocument(
        warnings=(), release=spec.version, added=added, placed=best.is_placed and not found.stuck,
        with_one_fewer="; ".join(f"{in_words(one.mix)}: {one.message}" for one in fewer) or None,
        not_taken=tuple(_not_taken(kinds, at, demand.shapes, found) for at in sorted(unused, key=lambda at: kinds[at].cost)),
        cost=number_of(sum((kind.cost * count for kind, count in counts), Decimal(0))) if best.is_placed else None,
        pods=best.wanted + len(found.stuck), nodes=best.nodes if best.is_placed else (), one_fewer=fewer,
        without_node=PodsWithoutNode(len(without), tuple(PodWithoutNode(*one) for one in [*without.items()][:MOST_TOLD])),
        tried=_mix(kinds, best), daemons={kind.name: tuple(pod.key for pod in kind.daemons) for kind in kinds},
        evicted=dict(best.evicted), most_nodes=most, simulated=found.simulated, wanted_domains=wanted or UNSET,
    )  # fmt: skip
    return document, without


def _wanted_domains(trials: MixTrials, found: MixesFound) -> dict[str, int]:
    """The emptiest domains of the hard spread of pods without a node, where none of the nodes to add is."""
    simulation = Simulation(trials.scenario(found.best.mix), trials.new_engine(), trials.question.order)
    for _ in simulation.decisions():
        pass
    wanted = Counter[str]()
    for pod in (simulation.outcomes[one.pod].pod for one in (*found.stuck, *found.best.missing)):
        for one in pod.spec.topology_spread_constraints:
            alone = replace(pod, spec=replace(pod.spec, topology_spread_constraints=(one,)))
            counts = spread_counts(simulation.engine, alone) if one.when_unsatisfiable == "DoNotSchedule" else None
            there = {kind.node.labels.get(one.topology_key) for kind in trials.kinds}
            if counts is not None and one.topology_key != HOSTNAME:
                emptiest = [domain for domain, count in counts.counts.items() if count == counts.least]
                wanted.update(f"{one.topology_key}={domain}" for domain in emptiest if not there.intersection(emptiest))
    return dict(wanted)


def _mix(kinds: Sequence[NodeKind], trial: MixTrial) -> dict[str, int]:
    return {kind.name: count for kind, count in zip(kinds, trial.mix, strict=True)}


def left(trial: MixTrial) -> str:
    """What *trial* leaves, in words: how many pods, and the first of them with the scheduler's message."""
    if not trial.missing:
        return "all pods find a node"
    number, first = len(trial.missing), trial.missing[0]
    return f"{number:,} of {trial.wanted:,} pods {'finds' if number == 1 else 'find'} no node, first {first.pod}: {first.message}"


def _not_taken(kinds: Sequence[NodeKind], at: int, shapes: Sequence[PodShape], found: MixesFound) -> KindNotTaken:
    """The kind number *at*, of which none is added though others are, with why."""
    stuck, why = {one.pod for one in found.stuck}, "no mix with it that costs less was found"
    placed = [(key, shape.refusals[at]) for shape in shapes for key in shape.keys if key not in stuck]
    refused = [(key, told) for key, told in placed if told]
    takes = len(placed) - len(refused)
    if refused:
        first = ": ".join(refused[0])
        pods = f"{len(refused):,} of {count_of(len(placed), 'pod')}"
        why = f"an empty one does not take {pods}, first {first}" + (f"; {why}" if takes else "")
    return KindNotTaken(kinds[at].name, number_of(kinds[at].cost), takes, why)


def _without_place(kinds: Sequence[NodeKind], shapes: Sequence[PodShape], found: MixesFound) -> dict[str, str]:
    """Pods that find no node, each with why: on an empty new node where none takes it, else what the scheduler says."""
    refused, without = {key: shape for shape in shapes if all(shape.refusals) for key in shape.keys}, dict[str, str]()
    for one in (*found.stuck, *found.best.missing):
        told: dict[str, list[str]] = {}
        for kind, why in zip(kinds, refused[one.pod].refusals, strict=True) if one.pod in refused else ():
            told.setdefault(why, []).append(kind.name)
        words = "; ".join(f"on an empty {' or '.join(names)}: {why}" for why, names in told.items())
        without[one.pod] = words or one.message
    return without
