"""The use of the nodes: each one, before and after a simulation; their number by use, in tenths; and the
summary of a simulation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal

import attrs
import numpy as np

from ..api.load import REFUSED
from ..api.meaning import ZONES
from ..api.objects import Node, Pod
from ..api.record import Count, Counts, Meta, Names, Record, Size, derive, says
from ..api.view import Amount, Table, columns_of, kind_of
from ..api.words import Figure, percent, rounded, short_name
from ..core.arrays import Ints, Mask
from ..core.engine import Engine
from ..core.pods import PODS
from .reasons import shortage_of
from .simulate import Simulation

Unit = Literal["millicores", "bytes", "pieces"]
UNITS: Mapping[str, Unit] = {"cpu": "millicores", "memory": "bytes", "ephemeral-storage": "bytes"}
"""Other resources are counted in pieces."""


@attrs.frozen(eq=False, repr=False)
class FreeRoom:
    """The nodes of a scheduler at one moment: N nodes, R resources, the last of which is ``pods``."""

    names: Names
    resources: Names
    """The resources that any node has, or any pod requests."""
    allocatable: Ints
    """int64[R, N]: millicores, bytes, pieces."""
    requested: Ints
    """int64[R, N]."""

    @classmethod
    def of(cls, engine: Engine) -> FreeRoom:
        """The nodes as *engine* sees them now."""
        table = engine.fresh_table()
        node_rows = np.flatnonzero(table.has_node)
        names = table.names
        allocatable = table.allocatable[:, node_rows]
        requested = table.requested[:, node_rows]
        rows = np.flatnonzero((allocatable + requested).any(axis=1)).tolist()
        return cls(
            tuple(names[row] for row in node_rows.tolist()),
            (*(name for name, at in table.resources.items() if at in rows), PODS),
            np.vstack([allocatable[rows], table.max_pods[node_rows]]),
            np.vstack([requested[rows], table.pod_count[node_rows]]),
        )

    @property
    def free(self) -> Ints:
        """int64[R, N]: what is left, 0 where pods request more than there is."""
        free: Ints = np.maximum(self.allocatable - self.requested, 0)
        return free

    def each(self) -> list[tuple[str, Ints, Ints]]:
        """Each resource that any node has, and pods, with allocatable and requested: int64[N]."""
        resources = zip(self.resources, self.allocatable, self.requested, strict=True)
        return [entry for entry in resources if entry[1].any() or (entry[0] == PODS and self.names)]

    def uses(self, names: Sequence[str]) -> dict[str, list[float | None]]:
        """Resource -> the share of it that is requested on each node of *names*; None where a node has none
        of it."""
        at = {name: column for column, name in enumerate(self.names)}
        shares_by_resource = {}
        for resource, allocatable, requested in self.each():
            totals = allocatable.tolist()
            amounts = requested.tolist()
            shares = [
                amounts[at[name]] / totals[at[name]] if name in at and totals[at[name]] else None
                for name in names
            ]
            if any(shares):
                shares_by_resource[resource] = shares
        return shares_by_resource

    def copies(self, requests: Mapping[str, int], barred: Collection[str] = ()) -> dict[str, int]:
        """Resource -> how many copies of a pod with *requests* would fit if nothing else counted.

        Nodes that are *barred* are left out, and resources that the pod does not request.
        """
        free = self.free[:, ~self.at(barred)]
        amounts = {**requests, PODS: 1}
        copies = {}
        for name, number in amounts.items():
            if number > 0:
                copies[name] = (
                    sum((free[self.resources.index(name)] // number).tolist())
                    if name in self.resources
                    else 0
                )
        return copies

    def at(self, names: Collection[str]) -> Mask:
        """bool[N]: which nodes are among *names*."""
        return np.array([name in names for name in self.names], np.bool_)


def short_of(reasons: list[str]) -> Names:
    """The resources that are missing, if *reasons* against a node say nothing else; empty if they do.

    >>> short_of(["Insufficient cpu", "Too many pods"]), short_of(["Insufficient cpu", "node(s) had taints"])
    (('cpu', 'pods'), ())
    """
    short = [name for name in map(shortage_of, reasons) if name is not None]
    return tuple(short) if len(short) == len(reasons) else ()


# --- what is free at one moment -----------------------------------------------------------------------------


TENTHS = 10
ALWAYS = ("cpu", "memory")
"""The resources that tables always have."""

DIGITS = 6
UseShare = Annotated[float, says("A share of 1; more than 1 where pods request more than there is.")]
NodesByUse = Annotated[
    Mapping[str, Annotated[Sequence[Count], Meta(min_length=10, max_length=10)]],
    says(
        "Resource, or pods -> nodes by tenth of their use: 10 counts, before the first cycle and in the end."
    ),
]


class ResourceUse(Record):
    """One resource of one node."""

    unit: Unit
    allocatable: int
    requested_before: int
    requested: int
    free: int
    """Negative where pods request more than the node has."""
    use_before: UseShare | None
    """null where the node has nothing of it."""
    use: UseShare | None
    """null where the node has nothing of it."""

    @property
    def is_used(self) -> bool:
        """Whether pods request any of it, before or after."""
        return bool(self.requested or self.requested_before)

    @classmethod
    def of(cls, resource: str, allocatable: int, before: int, requested: int) -> ResourceUse:
        """The use of *resource*, with the requests *before* a simulation, and those after it as
        *requested*."""
        uses = [
            round(number / allocatable, DIGITS) if allocatable > 0 else None for number in (before, requested)
        ]
        return cls(
            UNITS.get(resource, "pieces"), allocatable, before, requested, allocatable - requested, *uses
        )


class PodPlaces(Record):
    """The places for pods of one node, and the pods on it."""

    allocatable: int
    before: Count
    after: Count
    free: int = 0

    def __post_init__(self) -> None:
        derive(self, free=self.allocatable - self.after)

    @property
    def requested_before(self) -> int:
        """The pods before, named as for other resources."""
        return self.before

    @property
    def requested(self) -> int:
        """The pods after, named as for other resources."""
        return self.after


class NodeRecord(Record):
    """One node before and after a simulation."""

    node: str
    pods: PodPlaces
    resources: Mapping[str, ResourceUse]
    """Resource -> amounts, for those that any node has."""


class NodeUse(NodeRecord):
    """One node before and after a simulation, with its labels."""

    labels: Mapping[str, str]


@attrs.define(eq=False, repr=False)
class NodeUses:
    """The use of the nodes of *engine*: call :meth:`begin` before the first cycle, :meth:`found` after the
    last one."""

    engine: Engine
    _before: dict[str, dict[str, int]] = attrs.Factory(dict)
    """Node -> resource -> the amount that was requested."""

    def begin(self) -> None:
        """Note the amounts that are requested now."""
        room = FreeRoom.of(self.engine)
        for name, requested in zip(room.names, room.requested.T.tolist(), strict=True):
            self._before[name] = dict(zip(room.resources, requested, strict=True))

    def found(self) -> list[NodeUse]:
        """Each node, in the order in which the scheduler got them."""
        room = FreeRoom.of(self.engine)
        amounts = [
            (resource, allocatable.tolist(), requested.tolist())
            for resource, allocatable, requested in room.each()
        ]
        node_uses = []
        for at, name in enumerate(room.names):
            node = self.engine.node(name)
            before = self._before.get(name, {})
            uses = {
                resource: ResourceUse.of(resource, allocatable[at], before.get(resource, 0), requested[at])
                for resource, allocatable, requested in amounts[:-1]
            }
            _, most, pods = amounts[-1]
            places = PodPlaces(most[at], before.get(PODS, 0), pods[at])
            node_uses.append(NodeUse(name, places, uses, {} if node is None else node.labels))
        return node_uses


def nodes_by_use(engine: Engine) -> dict[str, list[int]]:
    """Resource, and ``pods`` -> nodes by tenth of their use: 10 counts, the last of them from 0.9 on; nodes
    without it are left out."""
    counts_by_resource = {}
    for name, allocatable, requested in FreeRoom.of(engine).each():
        having = allocatable > 0
        tenths = np.clip(requested[having] * TENTHS // allocatable[having], 0, TENTHS - 1)
        counts = np.bincount(tenths, minlength=TENTHS).tolist()
        if any(counts):
            counts_by_resource[name] = counts
    return counts_by_resource


def pods_on(engine: Engine, names: Sequence[str], *, keys: Collection[str] | None = None) -> list[list[str]]:
    """The keys of the pods on each node of *names*, as *engine* has them now; *keys*: these pods alone."""
    return [[pod.key for pod in engine.pods_on(name) if keys is None or pod.key in keys] for name in names]


def grouped(places: Iterable[tuple[str, str | None]], names: Sequence[str]) -> list[list[str]]:
    """The pods on each node of *names*, from pairs of a pod and its node.

    >>> grouped([("a", "n2"), ("b", None), ("c", "n2")], ["n1", "n2"])
    [[], ['a', 'c']]
    """
    pods_by_node = defaultdict(list)
    for pod, node in places:
        if node is not None:
            pods_by_node[node].append(pod)
    return [pods_by_node[name] for name in names]


# --- nodes of a map -----------------------------------------------------------------------------------------


MOST_VALUES = 40
"""A label with more values says little about groups of nodes."""


def labels_of(nodes: Sequence[Node | NodeUse], most: int | None = None) -> dict[str, list[str]]:
    """Label -> its value on each of *nodes*, empty where it has none; only labels that make groups of nodes,
    zones first.

    *most*: how many values a label may have, by default fewer than there are nodes.
    """
    named = dict.fromkeys([*ZONES, *sorted({label for node in nodes for label in node.labels})])
    values_by_label = {label: [node.labels.get(label) or "" for node in nodes] for label in named}
    most = min(MOST_VALUES, len(nodes) - 1 if most is None else most)
    return {
        label: values
        for label, values in values_by_label.items()
        if any(values) and (label in ZONES or 1 < len(set(values)) <= most)
    }


def share_of(node: NodeUse, resource: str, *, before: bool = False) -> float | None:
    """The share of *resource* that is requested on *node*, or was before a simulation; None where it has none
    of it."""
    amounts = node.pods if resource == PODS else node.resources.get(resource)
    if amounts is None or amounts.allocatable <= 0:
        return None
    return (amounts.requested_before if before else amounts.requested) / amounts.allocatable


# --- tables of nodes ----------------------------------------------------------------------------------------


def titles_of(resources: Iterable[str], others: Iterable[str] = (PODS,)) -> dict[str, str]:
    """Resource -> its title in a table: short, or in full where that of another resource or one of *others*
    is the same.

    >>> titles_of(["cpu", "nvidia.com/gpu"]), titles_of(["nvidia.com/gpu", "amd.com/gpu"])["amd.com/gpu"]
    ({'cpu': 'cpu', 'nvidia.com/gpu': 'gpu'}, 'amd.com/gpu')
    """
    names = dict.fromkeys(resources)
    uses = Counter([*map(short_name, names), *others])
    return {name: name if uses[short_name(name)] > 1 else short_name(name) for name in names}


def node_table(nodes: Sequence[NodeRecord], *, alone: bool) -> Table:
    """Each node's pods and, of each resource, what is requested and free, and its use, before and after.

    *alone*: text has them instead of pods; else they come after pods in wide text.
    """
    columns = columns_of(f"""
        node | name
        pods || text
        pods before | count | page
        pods | count | rest
        max pods | count | data {"wide" if alone else ""}
    """)
    names = {
        name: name in ALWAYS or any(node.resources[name].is_used for node in nodes)
        for node in nodes[:1]
        for name in node.resources
    }
    titles = titles_of(names, [column.title for column in columns])
    for name, used in names.items():
        kind = kind_of(name)
        everything = "wide" if alone else "none"
        text = "text" if used else everything
        page = "page" if used else "none"
        table = f"""
            {{short}} | amount | {everything}
            {{short}} requested | amount | {text}
            {{short}} free | amount | {text}
            {{short}} use || {text}
            {{short}} use before | share | {page}
            {{short}} use | share | {page}
            {{short}} free | {kind} | {page}
            {{name}} requested | {kind} | data
            {{name}} | {kind} | data
        """
        columns += columns_of(table, short=titles[name], name=name)
    rows = []
    details = []
    for node in nodes:
        before = node.pods.before
        after = node.pods.after
        most = node.pods.allocatable
        row = [
            node.node,
            Figure(f"{after:,}" if before == after else f"{before:,} -> {after:,}"),
            before,
            after,
            most,
        ]
        lines = []
        for name, use in node.resources.items():
            total, requested, free = (
                Amount(name, number) for number in (use.allocatable, use.requested, use.free)
            )
            shares = None
            if use.use is not None and use.use_before is not None:
                earlier = percent(use.use_before)
                later = percent(use.use)
                shares = later if earlier == later else Figure(f"{earlier} -> {later}")
            row += [total, *([requested, free] if use.allocatable or use.requested else [None, None]), shares]
            row += [use.use_before, use.use, use.free, use.requested, use.allocatable]
            before_note = ""
            if use.requested_before != use.requested:
                before_note = f", {rounded(name, use.requested_before)} before"
            if use.allocatable:
                amount = f"{rounded(name, use.allocatable)}{' cores' if name == 'cpu' else ''}"
                lines.append(
                    [titles[name], f"{rounded(name, use.requested)} of {amount} requested{before_note}"]
                )
        rows.append(row)
        details.append([*lines, ["places for pods", f"{after:,} of {most:,} taken"]])
    forms = f"page data {'text' if alone else 'wide'}"
    return Table("nodes", columns, rows, noun="node", details=details, forms=forms)


# --- a simulation in numbers --------------------------------------------------------------------------------


def fragmentation(engine: Engine, pods: Iterable[Pod]) -> dict[str, float]:
    """Resource -> the share of its free amount on nodes where a pod of *pods* does not fit. It is the average
    over the pods; 0 if nothing is free.

    A pod does not fit if a node has less left of a resource than it requests, or no room for one more pod.
    """
    room = FreeRoom.of(engine)
    free = dict(zip(room.resources, room.free, strict=True))
    kinds = Counter(tuple(engine.template_of(pod).requests.items()) for pod in pods)
    weights = np.zeros(len(room.names))
    for requests, count in kinds.items():
        misfit = free[PODS] < 1
        for name, number in requests:
            if number > 0:
                misfit |= free[name] < number if name in free else True
        weights += misfit * (count / kinds.total())
    shares = {}
    for name, _, _ in room.each():
        if name != PODS:
            total = float(free[name].sum(dtype=float))
            shares[name] = round(float(free[name] @ weights) / total, 6) if total else 0.0
    return shares


class Imbalance(Record):
    """The imbalance of a resource over the nodes that have any of it."""

    standard_deviation: Size
    """The standard deviation of the use of nodes."""
    max_min: Size
    """fullest minus emptiest."""


class Usage(Record):
    """One resource over all nodes; ``use`` and the measures of imbalance are shares of 1, over the nodes that
    have any of it."""

    resource: str
    unit: Unit
    allocatable: int
    requested: int
    use: UseShare
    emptiest: float
    """The use of the emptiest node that has the resource."""
    fullest: float
    """The use of the fullest one."""
    imbalance: Imbalance


class Summary(Record):
    """The results of a simulation."""

    nodes: Count
    pods: Count
    """Pending pods, and replacements of evicted ones."""
    placed: Count
    waiting: Count
    """Pods that have a node but wait for Permit plugins."""
    unschedulable: Count
    gated: Count
    """Pods that were not tried because of scheduling gates or a PreEnqueue plugin."""
    evicted: Count
    """All evicted pods, whether they had their node before the simulation or found it there."""
    replaced: Count
    """Evicted pods that their controllers replaced."""
    decisions: Count
    ignored: Counts
    """Reason -> number of ignored objects."""
    resources: tuple[Usage, ...]

    @property
    def refused_pods(self) -> int:
        """The number of pods that the API server would refuse; they are among those that are ignored."""
        return self.ignored.get(REFUSED, 0)


def summarise(simulation: Simulation, *, digits: int = 6) -> Summary:
    """The summary of a finished simulation; shares are rounded to *digits*."""
    engine = simulation.engine
    outcomes = simulation.outcomes.values()
    words = Counter([outcome.word for outcome in outcomes])
    return Summary(
        nodes=engine.node_count,
        pods=len(outcomes),
        placed=words["placed"],
        waiting=sum(outcome.is_waiting for outcome in outcomes),
        unschedulable=words["unschedulable"],
        gated=sum(outcome.is_gated for outcome in outcomes),
        evicted=len(simulation.evictions),
        replaced=sum(eviction.replacement is not None for eviction in simulation.evictions),
        decisions=simulation.cycles,
        ignored=dict(simulation.scenario.ignored),
        resources=tuple(usages(engine, digits=digits)),
    )


def usages(engine: Engine, *, digits: int = 6) -> Iterator[Usage]:
    """The use of each resource that any node has, pods last."""
    for name, allocatable, requested in FreeRoom.of(engine).each():
        having = allocatable > 0
        shares = requested[having] / allocatable[having] if having.any() else np.zeros(1)
        total = sum(allocatable.tolist())  # exact: an int64 may overflow
        used = sum(requested.tolist())
        least = float(shares.min())
        most = float(shares.max())
        yield Usage(
            name,
            UNITS.get(name, "pieces"),
            total,
            used,
            round(used / total, digits) if total > 0 else 0.0,
            round(least, digits),
            round(most, digits),
            Imbalance(round(float(shares.std()), digits), round(most - least, digits)),
        )
