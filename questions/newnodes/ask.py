"""New nodes: the question, and its view."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import attrs

from ...api.controlplane import with_defaults
from ...api.load import Loaded
from ...api.objects import CSINode, KubeObject, Node, of_kind
from ...api.record import replace
from ...api.view import (
    BulletList,
    Column,
    Paragraph,
    PodOutcome,
    PodOutcomes,
    Section,
    Table,
    View,
    block,
    columns_of,
    kind_of,
    on_page,
)
from ...api.words import Figure, count_of, rounded
from ...core.decision import reasons_in
from ...core.pods import PODS
from ...exceptions import KubeclassicError, ManifestError, UnknownNameError, did_you_mean, wrong_type
from ...simulation.edits import LIKE
from ...simulation.input import parts_of
from ...simulation.nodekinds import NodeKind, new_node
from ...simulation.nodesbyuse import titles_of
from ..asking import Input, Observer, Result, asked_by, help_for, tell_left_out
from ..capacity.ask import CapacityResult, capacity, loaded_of, question_of
from ..capacity.options import NewNodesOptions
from .answer import NewNodesDocument, in_words, nodes_to_add

MOST_PODS = 5
"""How many pods without a node short text names."""
MOST_NODES = 10
"""How many new nodes short text lists."""


@attrs.frozen(eq=False, repr=False)
class NewNodesResult(Result):
    """The nodes to add, and with one fewer of each kind the number of pods that wait."""

    found: NewNodesDocument
    without_node: Mapping[str, str]
    """Pods that find no node -> why."""
    are_copies: bool
    """Whether the pods are copies of a template instead of pods of the cluster."""

    @property
    def ok(self) -> bool:
        """Whether each pod finds a node with the new ones."""
        return self.found.placed

    @property
    def added(self) -> dict[str, int]:
        """Kind -> how many of it to add; kinds that are not needed are left out. Empty if no number is
        enough."""
        return {row.node: row.count for row in self.found.added}

    @property
    def cost(self) -> Decimal | None:
        """The cost of all new nodes; each costs 1 if no costs were given. None if no number is enough.

        Pods that find no node do not count: *added* and *cost* are for the others.
        """
        return None if self.found.cost is None else Decimal(str(self.found.cost))

    @property
    def with_one_fewer(self) -> str | None:
        """The effect of one node less of each kind that is added; None if nothing is added."""
        return self.found.with_one_fewer

    @property
    def document(self) -> NewNodesDocument:
        return replace(self.found, warnings=self.told_warnings())

    def _view(self) -> View:
        document = self.found
        # The pods that no new node helps.
        pods = [
            PodOutcome(pod.pod, "waits", next(iter(reasons_in(pod.message))))
            for pod in document.without_node.pods
        ]
        return View(
            verdict=_verdict(document),
            facts={
                "release": document.release,
                "added": " and ".join(f"{row.count} {row.node}" for row in document.added) or "nothing",
                "cost": document.cost,
                "placed": self.ok,
            },
            who=PodOutcomes("Who finds no node", pods, "without"),
            next=[help_for(pod) for pod in [*self.without_node][: not self.are_copies]],
            sections=list(_sections(self)),
        )


@asked_by(NewNodesOptions, "cluster", "nodes", "scheduler")
def add_nodes(inputs: Input, options: NewNodesOptions, observer: Observer) -> NewNodesResult:
    """Find new nodes, or a mix of several kinds, with which all pending pods of *cluster* find a node.

    With one node fewer of any kind the mix is not enough: that is simulated, too. Another mix that costs less
    can still exist. With *pod* the nodes are for copies of it instead of pending pods.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> web = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"resources": {"requests": {"cpu": "1500m"}}}]}}
    >>> result = add_nodes(node, "like:a", pod=web, pods=7, scheduler="1.14")
    >>> result
    <NewNodesResult: release 1.14, added 3 a, cost 3, placed True>
    >>> result.with_one_fewer
    '2 a: 1 of 7 pods finds no node, first default/web-6: 0/3 nodes are available: 3 Insufficient cpu.'
    """
    question = question_of(inputs, options, observer)
    nodes = list[str | tuple[str, Loaded]]()
    for number, part in enumerate(parts_of("nodes", options.nodes), 1):
        where = os.fspath(part) if isinstance(part, str | os.PathLike) else None
        if where is not None and where.startswith(LIKE):
            nodes.append(where)
            continue
        if where is not None and (not where or "\0" in where or not (where == "-" or os.path.exists(where))):
            name = options.called("nodes").lstrip("-")
            raise ManifestError(
                f'{name}: expected a file with one Node, or like:NODE, got "{where}", which is no file'
            )
        part = with_defaults(part) if isinstance(part, KubeObject) and inputs.defaults else part
        nodes.append(loaded_of(f"node {number}", part, inputs, observer))
    costs = options.costs
    for name in costs:
        if not isinstance(name, str):
            raise wrong_type("costs", name, "the name of a kind")
    if isinstance(costs, Mapping):
        prices = {name: read_cost(name, value) for name, value in costs.items()}
    else:
        prices = read_costs(costs)
    inputs = inputs.with_pods(question.pods)
    observer.ready(inputs)
    if options.has("pod"):
        tell_left_out(inputs, options, observer)
    with observer.counting(None, "looking for new nodes", "simulations") as progress:
        kinds = kinds_of(nodes, inputs.scenario.objects, prices)
        document, unplaced = nodes_to_add(
            question,
            inputs,
            kinds,
            most_nodes=options.most_nodes,
            on_progress=lambda done: progress(done, ""),
        )
    return NewNodesResult(document, unplaced, options.has("pod"), warnings=inputs.warnings)


def capacity_or_nodes(
    inputs: Input, options: NewNodesOptions, observer: Observer
) -> CapacityResult | NewNodesResult:
    """The answer of the command: the copies that fit, or the nodes to add."""
    return (add_nodes if options.has("nodes") else capacity).ask(inputs, options, observer)


# --- the kinds that are given -------------------------------------------------------------------------------


class NewNodeError(KubeclassicError):
    """A question about new nodes that has no answer; the text says what was expected and what was given."""


def kinds_of(
    parts: Sequence[str | tuple[str, Loaded]], objects: Sequence[KubeObject], costs: Mapping[str, Decimal]
) -> list[NodeKind]:
    """The kinds of *parts*, each of them ``like:NODE``, or loaded objects with words for their source.

    *objects*: the cluster's objects. *costs*: name -> cost of one node. Raises
    :class:`~kubeclassic.exceptions.KubeclassicError` for nodes that cannot be added.
    """
    nodes = [item.name for item in of_kind(Node, objects)]
    kinds = {}
    for part in parts:
        if isinstance(part, str):
            name = part.removeprefix(LIKE)
            if name not in nodes:
                hint = did_you_mean(name, nodes)
                raise UnknownNameError(
                    f'add-node: expected the name of a node after {LIKE}, got "{part}"{hint}'
                )
            kind = NodeKind.like(name, objects)
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
    prices = {}
    for text, cost in costs.items():
        name = text.removeprefix(LIKE)
        if name not in kinds or (name != text and not kinds[name].is_copy):
            raise UnknownNameError(
                f'cost: expected the name of a node to add, got "{text}"{did_you_mean(text, kinds)}'
            )
        prices[name] = cost
    lacking = next((name for name in kinds if prices and name not in prices), None)
    if lacking is not None:
        raise NewNodeError(f"cost: expected one for each node to add, or none at all, got none for {lacking}")
    return [
        attrs.evolve(
            kind, cost=prices.get(name, Decimal(1)), used_names=frozenset(nodes).union(kinds.keys() - {name})
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
    """The cost of one node. Raises :class:`NewNodeError` unless it is a number above 0."""
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
    costs = {}
    for part in ",".join(texts).split(",") if texts else ():
        name, _, number = part.rpartition("=")
        if not name:
            raise NewNodeError(f'cost: expected NAME=NUMBER, got "{part}"')
        if name in costs:
            raise NewNodeError(f"cost: expected each once, got {name} twice")
        costs[name] = read_cost(name, number)
    return costs


# --- in words -----------------------------------------------------------------------------------------------


def _verdict(document: NewNodesDocument) -> str:
    """The nodes to add, or that nothing helps, in one sentence."""
    pods = f"{document.pods:,}"
    missing = document.without_node.count
    costs = {
        *(row.cost_of_one for row in document.added),
        *(row.cost_of_one for row in document.not_taken),
    } - {1}
    cost = f", cost {document.cost:,}" if costs and document.cost is not None else ""
    add = "No new node is needed"
    if document.added:
        add = f"Add {in_words({row.node: row.count for row in document.added})}{cost}"
    if document.placed:
        return f"{add}: {(f'each of {pods} pods finds a node' if document.pods != 1 else 'the pod finds a node')}."
    if missing and document.cost is not None:
        others = f"{count_of(missing, 'finds none', 'find none')} with up to {document.most_nodes:,}"
        start = f"{add}{',' if cost else ''} for {document.pods - missing:,} of {pods}"
        return f"{start} pods: each of them finds a node; {others}."
    sentence = f"{missing:,} of {pods}{' pods find' if missing != 1 else ' pods finds'} no node."
    return f"None of the mixes that were tried is enough: {sentence}"


def _paragraphs(result: NewNodesResult) -> Iterator[Paragraph]:
    document = result.found
    unplaced = result.without_node
    texts = [_verdict(document)]
    for domain, pods in (document.wanted_domains or {}).items():
        texts.append(
            f"{count_of(pods, 'pod wants', 'pods want')} room at {domain}, by a hard spread; none of the nodes to add is there."
        )
    if document.cost is not None:
        texts += [f"With one fewer, {sentence}" for sentence in document.fewer]
        texts += [f"No {kind.node}, cost {kind.cost_of_one:,}: {kind.why}" for kind in document.not_taken]
    else:
        trials = f"{count_of(document.simulated, 'mix', 'mixes')} of up to {count_of(document.most_nodes, 'node')} simulated"
        texts.append(f"{trials}; with {in_words(document.tried)} these find none:")
    yield from (Paragraph(text, hanging="") for text in texts)
    for at, (key, reason) in enumerate(unplaced.items()):
        yield Paragraph(f"  {key}: {reason}", "text" if at < MOST_PODS else "wide", hanging="")
    if len(unplaced) > MOST_PODS:
        yield Paragraph(f"  and {count_of(len(unplaced) - MOST_PODS, 'more pod')}", "table", hanging="")
    if document.evicted:
        yield Paragraph(f"{count_of(len(document.evicted), 'pod')} evicted to make room.", hanging="")


def _sections(result: NewNodesResult) -> Iterator[Section]:
    document = result.found
    yield block(*_paragraphs(result))
    table = "new node | name | field=node; count | count; cost of one | count | field=costOfOne; cost | count"
    added = [[row.node, row.count, row.cost_of_one, row.cost] for row in document.added]
    yield Section("What to add", [Table("added", table, added, forms="all" if added else "data csv")])
    yield Section(parts=[_nodes_table(document)])
    table = "node | name; cost of one | count; takes | count; why | name"
    unused = [[row.node, row.cost_of_one, row.takes, row.why] for row in document.not_taken]
    yield Section("What was not taken", [Table("notTaken", table, unused, forms="page")])
    if document.added and document.fewer:
        fewer = BulletList(items=[f"With one fewer, {sentence}" for sentence in document.fewer])
        yield Section(
            "Why not less",
            [fewer, *on_page("Each was simulated. Another mix that costs less can still exist.")],
        )
    mix = ", ".join(f"{count:,} {name}" for name, count in document.tried.items())
    if document.cost is None and any(document.tried.values()):
        yield Section("What was tried", on_page(f"Up to this, and none of it is enough: {mix}.", look=""))
    pods = [[pod.pod, pod.message] for pod in document.without_node.pods]
    yield Section(
        "Pods without a node", [Table("without", "pod | name; why", pods, noun="pod", forms="page")]
    )


# --- tables -------------------------------------------------------------------------------------------------


def _nodes_table(document: NewNodesDocument) -> Table:
    """A row a new node."""
    nodes = document.nodes
    resources = list(
        dict.fromkeys(
            name for node in nodes for name, number in node.allocatable.items() if number and name != PODS
        )
    )
    used = list(dict.fromkeys(name for node in nodes for name in node.requested))
    columns = columns_of("name | name; kind | name | filter rest field=node; pods | count")
    titles = titles_of([*resources, *used], [column.title for column in columns])
    for name in resources:
        kind = kind_of(name)
        table = f"{{name}} requested | {kind} | page; {{name}} allocatable | {kind} | page"
        columns += columns_of(table, name=titles[name])
    columns += [Column(f"{name} requested", kind_of(name), forms="data") for name in used]
    for name in used:
        short = "table" if any(node.requested.get(name) for node in nodes[:MOST_NODES]) else ""
        forms = "none" if name == PODS else f"{short} wide"
        columns += columns_of(f"{{name}} | amount | {forms}", name=titles[name])
    rows = []
    for node in nodes:
        row = [node.name, node.node, node.pods]
        for name in resources:
            row += [node.requested.get(name), node.allocatable.get(name)]
        row += [node.requested.get(name) for name in used]
        for name in used:
            requested = node.requested.get(name)
            allocatable = node.allocatable.get(name)
            if requested is None or allocatable is None:
                row.append(None)
            else:
                row.append(Figure(f"{rounded(name, requested)} of {rounded(name, allocatable)}"))
        rows.append(row)
    return Table(
        "nodes", columns, rows, noun="new node", most=MOST_NODES, forms="seen data" if rows else "data"
    )
