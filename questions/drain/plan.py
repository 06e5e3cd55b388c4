"""A question about a drain and its answer: which nodes can go together, which cannot and why, who moves where, and the cluster after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from msgspec.structs import replace

from ...api.meaning.labels import ZONES, Matcher, SelectorError, parse_selector, zone_of
from ...api.objects import Node, Pod
from ...api.reading.notices import ResultDocument
from ...api.record import Count, Names, Record, field, says
from ...exceptions import UnknownNameError, did_you_mean
from ...simulation.drainrules import BudgetUse, DrainFlags
from ..capacity.room import FreeRoom
from ..newnodes.kinds import LIKE
from .auto import DrainWish, OnNode, StayingPod, Verification, find, ignored, verify
from .options import DrainOptions
from .trial import UNASKED, EvictedPod, SteadyState, lose


class DrainMove(Record):
    """An eviction in whose place another pod finds a node."""

    pod: str
    origin: str = field(name="from")
    to: str


class DrainEviction(Record):
    """A pod that leaves a node."""

    round: Annotated[int, says("Those of one round leave at the same time.", ge=1)]
    pod: str
    node: str
    by: Annotated[str | None, says("The pod that preempts it; null: the drain evicts it.")]
    replacement: Annotated[str | None, says("The pod that is made in its place; null: it is gone for good.")]
    to: Annotated[str | None, says("The node of that pod.")]
    why: Annotated[str | None, says("--gone: why that pod waits, or why there is none.")] = None
    reason: Annotated[str | None, says("--gone: what alone keeps that pod from most nodes, else what most nodes have against it.")] = None

    @property
    def waits(self) -> bool:
        """Whether that pod is made and finds no node."""
        return self.replacement is not None and self.to is None


class DrainSummary(Record):
    """A drain in numbers."""

    nodes: Annotated[Count, says("Of the cluster.")]
    asked: Annotated[Count, says("Nodes that were asked about, or that a search could choose.")]
    can: Count
    evictions: Count
    moved: Count
    rounds: Count
    placed_before: Annotated[Count, says("Waiting pods that found a node before the drain.")]
    waiting: Annotated[Count, says("Pods that found none even then.")]
    left_out: Annotated[Count, says("Pods that wait and were left out: neither placed nor in anybody's way.")]
    without_node: Annotated[Count, says("--gone: pods that are made anew and find no node.")] = 0


class DrainDocument(ResultDocument, kw_only=True):
    """Which nodes can go together, which cannot and why, and who moves where."""

    KIND = "Drain"
    release: Annotated[str, says("The release that places the pods.")]
    can: Annotated[tuple[str, ...], says("The nodes that can go, all together, in the order in which they are emptied.")]
    cannot: Annotated[
        Mapping[str, str],
        says("The other nodes that were asked about, or that a search could choose, and why each has to stay."),
    ]
    moves: Annotated[tuple[DrainMove, ...], says("The evictions in whose place another pod finds a node.")]
    evictions: Annotated[tuple[DrainEviction, ...], says("All pods that leave a node, in order.")]
    staying: Annotated[tuple[StayingPod, ...], says("Pods that a drain leaves on nodes that can go; --gone: that end with them.")]
    budgets: Annotated[tuple[BudgetUse, ...], says("The PodDisruptionBudgets of pods that leave.")]
    searched: Annotated[bool, says("The nodes that can go were looked for; a larger set can still exist.")]
    summary: DrainSummary
    gone: Annotated[bool, says("The nodes are gone at once: can has all of them.")] = False
    add_nodes: Annotated[Names, says("--gone: options of kubeclassic capacity that ask which nodes to add; empty: none.")] = ()

    @property
    def ok(self) -> bool:
        """Whether the answer is yes: all that were named can go, or a search found any; of nodes that are gone: no pod of theirs waits."""
        return bool(self.can) and (self.searched or not self.cannot) and not self.summary.without_node


Plan = tuple[DrainDocument, tuple[EvictedPod, ...]]
"""The answer, and the evictions in order with the pods themselves."""


# --- asking ---------------------------------------------------------------------------------------------------------


def search_for(steady: SteadyState, wish: DrainWish, flags: DrainFlags, on_node: OnNode = ignored) -> Plan:
    """As many nodes as can be found that can go together."""
    asked = tuple(node.name for node in steady.nodes if wish.may_go(node))
    return _plan(steady, asked, find(steady, wish, flags, on_node), searched=True)


def _plan(steady: SteadyState, asked: tuple[str, ...], verification: Verification, *, searched: bool = False) -> Plan:
    trial, left = verification.trial, tuple(verification.trial.evictions)
    moves = tuple(DrainMove(pod=one.pod.key, origin=one.node, to=one.to) for one in left if one.to is not None)
    evictions = tuple(
        DrainEviction(one.round, one.pod.key, one.node, one.by, one.replacement, one.to, one.why, one.reason) for one in left
    )
    summary = DrainSummary(
        nodes=len(steady.nodes), asked=len(asked), can=len(verification.can), evictions=len(left), moved=len(moves), rounds=trial.rounds,
        placed_before=steady.placed, waiting=len(steady.waiting), left_out=steady.left_out,
        without_node=sum(one.waits for one in evictions),
    )  # fmt: skip
    return DrainDocument(
        warnings=(), release=trial.engine.release.version, can=verification.can,
        cannot={name: verification.cannot[name] for name in asked if name in verification.cannot}, moves=moves,
        evictions=evictions, staying=verification.staying, budgets=trial.budgets.used(), searched=searched, summary=summary,
    ), left  # fmt: skip


Occupancy = tuple[FreeRoom, Mapping[str, Sequence[str]]]
"""What nodes have at one moment, and node -> the keys of the pods on it."""


def before_and_after(steady: SteadyState, answer: DrainDocument, evictions: Iterable[EvictedPod]) -> tuple[Occupancy, Occupancy]:
    """The cluster that a plan begins with, and what it makes of it."""
    run = steady.trial().run

    def occupancy() -> Occupancy:
        return FreeRoom.of(run.engine), {name: [pod.key for pod in on] for name, on in run.engine.pods_by_node().items()}

    before = occupancy()
    for eviction in evictions:
        run.delete(eviction.pod)
        if eviction.replacement is not None and eviction.to is not None:
            key, pod = eviction.replacement, eviction.pod  # the pod that takes the place of the evicted one, on its node
            metadata = replace(pod.metadata, name=key.rpartition("/")[2], uid=key)
            run.put(replace(pod.bound_to(eviction.to), metadata=metadata))
    for pod in [pod for name in answer.can if answer.gone for pod in run.engine.pods_on(name)]:
        run.delete(pod)
    return before, occupancy()


# --- what is asked --------------------------------------------------------------------------------------------------


def wish_of(options: DrainOptions) -> DrainWish:
    """Which nodes may go."""
    return DrainWish(
        keep=options.keep, zone=options.zone, selector=matcher(options.called("node_selector"), options.node_selector)
    )  # fmt: skip


def nodes_asked(options: DrainOptions, nodes: Sequence[Node]) -> tuple[str, ...]:
    """The names of the nodes that are asked about; nodes that are looked for have no names.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for what does not go together or does not exist.
    """
    called, is_choice = options.called, options.zone is not None or options.node_selector is not None
    if options.node_selector is not None and not options.node_selector.strip():
        raise UnknownNameError(f'{called("node_selector")}: got "", wanted labels such as pool=general')
    if options.nodes and (options.auto or is_choice):
        other = called("auto") if options.auto else f"{called('zone')} or {called('node_selector')}"
        raise UnknownNameError(f'node: got "{options.nodes[0]}" beside {other}, wanted one of them')
    if not (options.nodes or options.auto or is_choice):
        choices = f"{called('zone')}, {called('node_selector')} or {called('auto')}"
        raise UnknownNameError(f"node: got none, wanted the names of nodes, {choices}")
    wish = wish_of(options)
    if options.zone is not None:
        zones = dict.fromkeys(sorted(zone for node in nodes if (zone := zone_of(node.labels))))
        if options.zone not in zones:
            wanted = f"wanted one of {', '.join(zones)}" if zones else "wanted nodes with a zone, of which there are none"
            raise UnknownNameError(f'{called("zone")}: got "{options.zone}", {wanted}{did_you_mean(options.zone, zones)}')
    known = {node.name for node in nodes}
    for name in options.nodes:
        if name not in known:
            raise UnknownNameError(f'node: got "{name}", wanted a node of the cluster{did_you_mean(name, known)}')
    if options.auto or options.nodes:
        return tuple(dict.fromkeys(options.nodes))
    chosen = tuple(node.name for node in nodes if wish.chooses(node))
    if not chosen:
        raise UnknownNameError(f'{called("node_selector")}: got "{options.node_selector}", which chooses no node')
    return chosen


def planned(options: DrainOptions, asked: tuple[str, ...], steady: SteadyState, flags: DrainFlags, on_node: OnNode = ignored) -> Plan:
    """Which of the nodes *asked* about, or that a search may choose, can go; or what becomes of the pods where they are gone at once."""
    if options.auto:
        return search_for(steady, wish_of(options), flags, on_node)
    if not options.gone:
        return _plan(steady, asked, verify(steady, asked, flags, on_node))
    trial, made = lose(steady, asked, recreates_bare=flags.recreate_bare)
    trial.place(made)
    there = UNASKED.sort(item for item in steady.objects if isinstance(item, Pod) and item.spec.node_name in asked)
    ending = tuple(StayingPod(pod.key, pod.spec.node_name, why) for pod, why in there.staying)
    answer, left = _plan(steady, asked, Verification(asked, {}, trial, ending))
    kinds = [word for name in _like_lost(steady.nodes, answer, options.zone) for word in ("--add-node", LIKE + name)]
    labels = {node.name: node.labels for node in steady.nodes}
    zones = {key: {name for name in labels if labels[name].get(key) == options.zone} for key in ZONES if options.zone}
    chosen = next((f"{key}={options.zone}" for key, names in zones.items() if names == {*asked}), ",".join(asked))
    words = ("--exclude-nodes", chosen, "--gone", *kinds) if kinds else ()
    return replace(answer, gone=True, add_nodes=words), left


def _like_lost(nodes: Sequence[Node], answer: DrainDocument, zone: str | None) -> list[str]:
    """Nodes such as those of the pods that wait, one of a kind and zone: of those that are gone, or of the others if a *zone* is."""
    lost = {one.node for one in answer.evictions if one.waits}
    if not lost or len(answer.can) == len(nodes):
        return []
    sizes = {node.status.allocatable for node in nodes if node.name in lost}
    there = [node for node in nodes if (node.name in answer.can) == (zone is None)]
    alike = [node for node in there if node.status.allocatable in sizes] or there
    own = {node.name: tuple(taint for taint in node.spec.taints if "node.kubernetes.io/" not in taint.key) for node in alike}
    return list({(node.status.allocatable, own[node.name], zone_of(node.labels)): node.name for node in alike}.values())


def matcher(name: str, text: str | None) -> Matcher:
    """The test that a selector *text* describes. Raises :class:`~kubeclassic.exceptions.UnknownNameError` with *name*."""
    try:
        return parse_selector(text or "")
    except SelectorError as error:
        raise UnknownNameError(f"{name}: {error}") from None
