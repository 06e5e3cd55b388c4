"""A question about a drain and its answer: which nodes can go together, which cannot and why, who moves
where, and the cluster after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs
import numpy as np
from msgspec.structs import replace

from ...api.meaning import ZONES, zone_of
from ...api.objects import Node, Pod
from ...api.reading import ResultDocument
from ...api.record import Count, Names, Positive, Record, field
from ...exceptions import UnknownNameError, did_you_mean
from ...simulation.edits import LIKE
from ...simulation.evictions import BudgetUse, DrainFlags
from ...simulation.nodekinds import PASSING
from ...simulation.nodesbyuse import FreeRoom, pods_on
from .options import DrainOptions
from .trial import UNASKED, DrainTrial, EvictedPod, NotDrainable, SteadyState, lose

OnNode = Callable[[str], object]


def ignored(node: str) -> None:
    """Progress that is not shown."""


class StayingPod(Record):
    """A pod that a drain leaves on a node that can go."""

    pod: str
    node: str
    why: str


@attrs.frozen(eq=False)
class Verification:
    """The pass in which every node could go, and what failed in the passes before it."""

    can: Names
    cannot: dict[str, str]
    """Node -> why."""
    trial: DrainTrial
    """The cluster after it."""
    staying: tuple[StayingPod, ...]


def verify(
    steady: SteadyState, nodes: Iterable[str], flags: DrainFlags, on_node: OnNode = ignored
) -> Verification:
    """Empty *nodes*, in this order, after all of them are cordoned. A node that cannot go stays in service,
    and the others are tried again without it on a new scheduler, until all of a pass can go."""
    remaining = list(nodes)
    cannot = dict[str, str]()
    while True:
        trial = steady.trial(recreates_bare=flags.recreate_bare)
        refused = trial.refused(remaining, flags)
        remaining = [name for name in remaining if name not in refused]
        failed = empty_all(trial, remaining, flags, on_node)
        cannot |= refused | failed
        if not failed:
            staying = tuple(
                StayingPod(pod.key, name, reason)
                for name in remaining
                for pod, reason in flags.sort(trial.pods_on(name)).staying
            )
            return Verification(tuple(remaining), cannot, trial, staying)
        remaining = [name for name in remaining if name not in failed]


def empty_all(trial: DrainTrial, nodes: Sequence[str], flags: DrainFlags, on_node: OnNode) -> dict[str, str]:
    """Cordon *nodes*, then empty one after the other. Nodes that fail are restored and returned, each with
    the reason."""
    failed = {}
    for name in nodes:
        trial.cordon(name)
    for name in nodes:
        on_node(name)
        try:
            with trial.run.savepoint() as point:
                trial.empty(
                    name, flags.sort(trial.pods_on(name)).leaving, asks_budgets=not flags.disable_eviction
                )
                point.keep()
        except NotDrainable as error:
            failed[name] = str(error)
            trial.uncordon(name)
    return failed


# --- a search -----------------------------------------------------------------------------------------------


CONTROL_PLANE = frozenset({"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"})
"""The labels of control plane nodes, and the keys of their taints; some installers set only one of the
two."""


def find(
    steady: SteadyState, names: Sequence[str], keep: int, flags: DrainFlags, on_node: OnNode
) -> Verification:
    """The largest set of *names* that one of :func:`orders` leads to, with all others that can go too; at
    least *keep* of them stay."""
    trial = steady.trial(recreates_bare=flags.recreate_bare)
    refused = trial.refused(names, flags)
    most = max(len(names) - max(keep, len(refused)), 0)
    search = DrainSearch(steady, flags, most, on_node)
    search_orders = orders(trial, [name for name in names if name not in refused])
    tries = sorted(
        ((search.empty((), order), order) for order in search_orders), key=lambda attempt: -len(attempt[0][0])
    )
    best = tries[0][1]
    verification = search.verified(*tries[0][0])
    for (went, failed), order in tries[1:]:
        if len(went) > len(verification.can) and len(
            (alternative := search.verified(went, failed)).can
        ) > len(verification.can):
            best = order
            verification = alternative
    while len(verification.can) < most:
        more = search.verified(*search.empty(verification.can, best))
        if len(more.can) <= len(verification.can):
            break
        verification = more
    return attrs.evolve(verification, cannot={**refused, **verification.cannot})


@attrs.frozen(eq=False)
class DrainSearch:
    """A search for a set of at most *most* nodes."""

    steady: SteadyState
    flags: DrainFlags
    most: int
    on_node: OnNode

    def verified(self, went: Sequence[str], failed: Mapping[str, str]) -> Verification:
        """The verification that the nodes that *went* one after the other can go at once. *failed*: node ->
        why it cannot."""
        verification = verify(self.steady, went, self.flags)
        return attrs.evolve(verification, cannot={**failed, **verification.cannot})

    def empty(self, before: Sequence[str], names: Sequence[str]) -> tuple[Sequence[str], Mapping[str, str]]:
        """Empty as many of *names* as possible, one after the other, on top of the nodes *before*. Returns
        all that went, and why others failed."""
        trial = verify(self.steady, before, self.flags).trial
        went = list(before)
        failed = {}
        for name in names:
            if name in trial.cordoned:
                continue
            if len(went) == self.most:
                failed[name] = "stays, as --keep wants"
            else:
                failed |= empty_all(trial, [name], self.flags, self.on_node)
                went += [] if name in failed else [name]
        return went, failed


# --- orders -------------------------------------------------------------------------------------------------


ORDERS = 3
"""How many orders a search tries."""


def orders(trial: DrainTrial, names: Sequence[str]) -> list[list[str]]:
    """The nodes *names* in three orders, lowest first: by use, by requests and by size.

    Use: the share of the scarcest resource that is requested. Requests: the sum of the shares of each
    resource's total that the node's pods request. Size: the sum of the node's shares, each weighed by how
    much of the total is requested. Totals are over *names*.
    """
    room = FreeRoom.of(trial.engine)
    place = {name: at for at, name in enumerate(room.names)}
    rows = [place[name] for name in names]
    allocatable, requested = (
        amounts[:, rows].astype(np.float64).T for amounts in (room.allocatable, room.requested)
    )
    total = np.maximum(allocatable.sum(axis=0), 1.0)
    requested = requested / total
    allocatable = allocatable / total
    scarcest = np.divide(requested, allocatable, out=np.zeros_like(allocatable), where=allocatable > 0).max(
        axis=1, initial=0
    )
    costs = (scarcest, requested.sum(axis=1), (allocatable * requested.sum(axis=0)).sum(axis=1))
    return [[names[number] for number in np.argsort(cost, kind="stable").tolist()] for cost in costs]


# --- plans --------------------------------------------------------------------------------------------------


class DrainMove(Record):
    """An eviction whose replacement finds a node."""

    pod: str
    origin: str = field(name="from")
    to: str


class DrainEviction(Record):
    """A pod that leaves a node."""

    round: Positive
    """The round of the eviction; pods of one round leave at the same time."""
    pod: str
    node: str
    by: str | None
    """The pod that preempts it; null: the drain evicts it."""
    replacement: str | None
    """The pod that replaces it; null: it is lost."""
    to: str | None
    """The node of the replacement."""
    why: str | None = None
    """--gone: why the replacement waits, or why there is none."""
    reason: str | None = None
    """--gone: the reason that alone keeps the replacement from most nodes, else the one that most nodes
    give."""

    @property
    def waits(self) -> bool:
        """Whether the replacement is made and finds no node."""
        return self.replacement is not None and self.to is None

    @property
    def is_elsewhere(self) -> bool:
        """Whether the replacement is for another scheduler, whose decision is unknown."""
        return self.replacement is None and self.by is None and self.why is not None


class DrainSummary(Record):
    """A drain in numbers."""

    nodes: Count
    """Nodes of the cluster."""
    asked: Count
    """Nodes that were given, or that the search could choose."""
    can: Count
    evictions: Count
    moved: Count
    rounds: Count
    placed_before: Count
    """Waiting pods that found a node before the drain."""
    waiting: Count
    """Waiting pods that found none."""
    left_out: Count
    """Pending pods that were left out."""
    without_node: Count = 0
    """--gone: replacements that find no node."""


class DrainDocument(ResultDocument, kw_only=True):
    """The nodes that can go together, the others and why, and the moves of pods."""

    KIND = "Drain"
    release: str
    """The release that places the pods."""
    can: Names
    """The nodes that can go, all together, in the order in which they are emptied."""
    cannot: Mapping[str, str]
    """The other nodes that were given, or that the search could choose, and why each has to stay."""
    moves: tuple[DrainMove, ...]
    """Evictions whose replacement finds a node."""
    evictions: tuple[DrainEviction, ...]
    """All pods that leave a node, in order."""
    staying: tuple[StayingPod, ...]
    """Pods that stay on nodes that can go; --gone: pods that end with their node."""
    budgets: tuple[BudgetUse, ...]
    """The PodDisruptionBudgets of pods that leave."""
    searched: bool
    """The nodes were found by --auto; a larger set may exist."""
    summary: DrainSummary
    gone: bool = False
    """The nodes fail at once; `can` has all of them."""
    add_nodes: Names = ()
    """--gone: options for kubeclassic capacity to find nodes to add; empty: none."""

    @property
    def ok(self) -> bool:
        """Whether the answer is yes: all named nodes can go, or a search found any; --gone: no replacement
        waits, or is for another scheduler."""
        waits = self.summary.without_node or any(eviction.is_elsewhere for eviction in self.evictions)
        return bool(self.can) and (self.searched or not self.cannot) and not waits


Plan = tuple[DrainDocument, tuple[EvictedPod, ...]]
"""The answer, and the evictions in order with the pods themselves."""


# --- asking -------------------------------------------------------------------------------------------------


def _plan(steady: SteadyState, names: Names, verification: Verification, *, searched: bool = False) -> Plan:
    trial = verification.trial
    evicted = tuple(verification.trial.evictions)
    moves = tuple(
        DrainMove(eviction.pod.key, eviction.node, eviction.to)
        for eviction in evicted
        if eviction.to is not None
    )
    evictions = tuple(
        DrainEviction(
            eviction.round,
            eviction.pod.key,
            eviction.node,
            eviction.by,
            eviction.replacement,
            eviction.to,
            eviction.why,
            eviction.reason,
        )
        for eviction in evicted
    )
    summary = DrainSummary(
        nodes=len(steady.nodes),
        asked=len(names),
        can=len(verification.can),
        evictions=len(evicted),
        moved=len(moves),
        rounds=trial.rounds,
        placed_before=steady.placed,
        waiting=len(steady.waiting),
        left_out=steady.left_out,
        without_node=sum(eviction.waits for eviction in evictions),
    )
    return DrainDocument(
        warnings=(),
        release=trial.engine.release.version,
        can=verification.can,
        cannot={name: verification.cannot[name] for name in names if name in verification.cannot},
        moves=moves,
        evictions=evictions,
        staying=verification.staying,
        budgets=trial.budgets.used(),
        searched=searched,
        summary=summary,
    ), evicted


Occupancy = tuple[FreeRoom, Sequence[Sequence[str]]]
"""The resources of the nodes at one moment, and the keys of the pods on each."""


def before_and_after(
    steady: SteadyState, answer: DrainDocument, evictions: Iterable[EvictedPod]
) -> tuple[Occupancy, Occupancy]:
    """The nodes before a plan, and after it."""
    run = steady.trial().run
    names = [node.name for node in steady.nodes]

    def occupancy() -> Occupancy:
        return FreeRoom.of(run.engine), pods_on(run.engine, names)

    before = occupancy()
    for eviction in evictions:
        run.delete(eviction.pod)
        if eviction.replacement is not None and eviction.to is not None:
            key = eviction.replacement
            pod = eviction.pod  # the pod that takes the place of the evicted one, on its node
            metadata = replace(pod.metadata, name=key.rpartition("/")[2], uid=key)
            run.put(replace(pod.bound_to(eviction.to), metadata=metadata))
    for pod in [pod for name in answer.can if answer.gone for pod in run.engine.pods_on(name)]:
        run.delete(pod)
    return before, occupancy()


# --- what is asked ------------------------------------------------------------------------------------------


def nodes_asked(options: DrainOptions, nodes: Sequence[Node]) -> Names:
    """The names of the given nodes, or of those that a search may choose: none of the control plane.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for options that exclude each other, and for
    unknown names.
    """
    called = options.called
    is_choice = options.zone is not None or options.node_selector is not None
    if options.node_selector is not None and not options.node_selector.strip():
        raise UnknownNameError(f'{called("node_selector")}: expected labels such as pool=general, got ""')
    if options.nodes and (options.auto or is_choice):
        alternatives = called("auto") if options.auto else f"{called('zone')} or {called('node_selector')}"
        raise UnknownNameError(f"node: expected names or {alternatives}, got both")
    if not (options.nodes or options.auto or is_choice):
        choices = f"{called('zone')}, {called('node_selector')} or {called('auto')}"
        raise UnknownNameError(f"node: expected the names of nodes, {choices}, got none")
    selects = options.matcher("node_selector")
    zones = sorted({zone for node in nodes if (zone := zone_of(node.labels))})
    if options.zone is not None and options.zone not in zones:
        expected = "expected nodes with a zone, of which there are none"
        if zones:
            expected = f"expected one of {', '.join(zones)}"
        raise UnknownNameError(
            f'{called("zone")}: {expected}, got "{options.zone}"{did_you_mean(options.zone, zones)}'
        )
    names = {node.name for node in nodes}
    for name in options.nodes:
        if name not in names:
            raise UnknownNameError(
                f'node: expected a node of the cluster, got "{name}"{did_you_mean(name, names)}'
            )
    if options.nodes:
        return tuple(dict.fromkeys(options.nodes))
    chosen = [node for node in nodes if selects(node.labels) and options.zone in (None, zone_of(node.labels))]
    if options.auto:
        return tuple(
            node.name
            for node in chosen
            if CONTROL_PLANE.isdisjoint((*node.labels, *(taint.key for taint in node.spec.taints)))
        )
    if not chosen:
        raise UnknownNameError(
            f'{called("node_selector")}: got "{options.node_selector}", which chooses no node'
        )
    return tuple(node.name for node in chosen)


def planned(
    options: DrainOptions, names: Names, steady: SteadyState, flags: DrainFlags, on_node: OnNode = ignored
) -> Plan:
    """The plan for the nodes *names*, or for a search among them; with ``gone``, the fates of their pods."""
    if options.auto:
        return _plan(steady, names, find(steady, names, options.keep, flags, on_node), searched=True)
    if not options.gone:
        return _plan(steady, names, verify(steady, names, flags, on_node))
    trial, made_again = lose(steady, names, recreates_bare=flags.recreate_bare)
    trial.place(made_again)
    sorted_pods = UNASKED.sort(
        item for item in steady.objects if isinstance(item, Pod) and item.spec.node_name in names
    )
    ending = tuple(StayingPod(pod.key, pod.spec.node_name, reason) for pod, reason in sorted_pods.staying)
    answer, evicted = _plan(steady, names, Verification(names, {}, trial, ending))
    answer = replace(answer, gone=True)
    waiting_nodes = {eviction.node for eviction in answer.evictions if eviction.waits}
    gone = answer.can
    nodes = steady.nodes
    zone = options.zone
    if not waiting_nodes or len(gone) == len(nodes):
        return answer, evicted
    # Options of ``capacity`` for nodes like those whose pods wait, one of each kind and zone. Models are the
    # gone nodes, or the remaining ones if a zone is gone.
    sizes = {node.status.allocatable for node in nodes if node.name in waiting_nodes}
    models = [node for node in nodes if (node.name in gone) == (zone is None)]
    kinds = {}
    for node in [node for node in models if node.status.allocatable in sizes] or models:
        taints = tuple(taint for taint in node.spec.taints if not taint.key.startswith(PASSING))
        kinds[node.status.allocatable, taints, zone_of(node.labels)] = node.name
    zones = {key: {node.name for node in nodes if node.labels.get(key) == zone} for key in ZONES if zone}
    chosen = next((f"{key}={zone}" for key, names in zones.items() if names == {*gone}), ",".join(gone))
    words = (word for name in kinds.values() for word in ("--add-node", LIKE + name))
    return replace(answer, add_nodes=("--exclude-nodes", chosen, "--gone", *words)), evicted
