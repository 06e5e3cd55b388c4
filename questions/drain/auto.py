"""Which of some nodes can go together, verified at once on a new scheduler; and a greedy search for a large set of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs
import numpy as np

from ...api.meaning.labels import Matcher, everything, zone_of
from ...api.objects import Node
from ...api.record import Record
from ...core.arrays.types import Floats
from ...simulation.drainrules import DrainFlags
from .trial import DrainTrial, NotDrainable, SteadyState

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

    can: tuple[str, ...]
    cannot: dict[str, str]
    """Node -> why."""
    trial: DrainTrial
    """The cluster after it."""
    staying: tuple[StayingPod, ...]


def verify(steady: SteadyState, nodes: Iterable[str], flags: DrainFlags, on_node: OnNode = ignored) -> Verification:
    """Empty *nodes*, in this order, after all of them are cordoned. A node that cannot go stays in service, and the others are tried again
    without it on a new scheduler, until all of a pass can go."""
    wanted, cannot = list(nodes), dict[str, str]()
    while True:
        trial = steady.trial(recreates_bare=flags.recreate_bare)
        refused = _refused(trial, wanted, flags)
        wanted = [name for name in wanted if name not in refused]
        failed = empty_all(trial, wanted, flags, on_node)
        cannot |= refused | failed
        if not failed:
            staying = tuple(StayingPod(pod.key, name, why) for name in wanted for pod, why in flags.sort(trial.pods_on(name)).staying)
            return Verification(tuple(wanted), cannot, trial, staying)
        wanted = [name for name in wanted if name not in failed]


def _refused(trial: DrainTrial, nodes: Iterable[str], flags: DrainFlags) -> dict[str, str]:
    """Those of *nodes* from which nothing is evicted at all, and why."""
    return {name: why for name in nodes if (why := flags.sort(trial.pods_on(name)).refusal) is not None}


def empty_all(trial: DrainTrial, nodes: Sequence[str], flags: DrainFlags, on_node: OnNode = ignored) -> dict[str, str]:
    """Cordon *nodes*, then empty one after the other; those that fail, each with the reason, are as they were."""
    failed: dict[str, str] = {}
    for name in nodes:
        trial.cordon(name)
    for name in nodes:
        on_node(name)
        why = try_node(trial, name, flags)
        if why is not None:
            failed[name] = why
            trial.uncordon(name)
    return failed


def try_node(trial: DrainTrial, node: str, flags: DrainFlags) -> str | None:
    """Empty *node*, which is cordoned; answers why that failed, and then its pods are where they were."""
    try:
        with trial.run.savepoint() as point:
            trial.empty(node, flags.sort(trial.pods_on(node)).leaving, asks_budgets=not flags.disable_eviction)
            point.keep()
    except NotDrainable as error:
        return str(error)
    return None


# --- a search -------------------------------------------------------------------------------------------------------


CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
"""The labels of its nodes, and the keys of their taints: some installers set only one of the two."""
KEPT = "stays, as --keep wants"


@attrs.frozen(kw_only=True)
class DrainWish:
    """Which nodes may go, and how many of them have to stay."""

    keep: int = 0
    zone: str | None = None
    selector: Matcher = everything

    def chooses(self, node: Node) -> bool:
        """Whether *node* is in the zone and has the labels."""
        return self.selector(node.labels) and (self.zone is None or zone_of(node.labels) == self.zone)

    def may_go(self, node: Node) -> bool:
        """Whether a search may choose *node*. Nodes of the control plane always stay."""
        marks = {*node.labels, *(taint.key for taint in node.spec.taints)}
        return self.chooses(node) and marks.isdisjoint(CONTROL_PLANE)


def find(steady: SteadyState, wish: DrainWish, flags: DrainFlags, on_node: OnNode = ignored) -> Verification:
    """The largest set of nodes that one of :data:`ORDERS` leads to, with all others that can go too."""
    names = [node.name for node in steady.nodes if wish.may_go(node)]
    trial = steady.trial(recreates_bare=flags.recreate_bare)
    refused = _refused(trial, names, flags)
    candidates = [name for name in names if name not in refused]
    most = max(len(names) - max(wish.keep, len(refused)), 0)
    search = DrainSearch(steady, flags, most, on_node)
    orders = [order(trial, candidates) for order in ORDERS]
    tries = sorted(((search.empty((), names), names) for names in orders), key=lambda found: -len(found[0][0]))
    best, verification = tries[0][1], search.verified(*tries[0][0])
    for (went, failed), order in tries[1:]:
        if len(went) > len(verification.can) and len((other := search.verified(went, failed)).can) > len(verification.can):
            best, verification = order, other
    while len(verification.can) < most:
        more = search.verified(*search.empty(verification.can, best))
        if len(more.can) <= len(verification.can):
            break
        verification = more
    return attrs.evolve(verification, cannot={**refused, **verification.cannot})


@attrs.frozen(eq=False)
class DrainSearch:
    """Looks for a set of at most *most* nodes."""

    steady: SteadyState
    flags: DrainFlags
    most: int
    on_node: OnNode

    def verified(self, went: Sequence[str], failed: Mapping[str, str]) -> Verification:
        """Whether the nodes that *went* one after the other can go at once, beside those that *failed*, each with why."""
        verification = verify(self.steady, went, self.flags)
        return attrs.evolve(verification, cannot={**failed, **verification.cannot})

    def empty(self, before: Sequence[str], names: Sequence[str]) -> tuple[Sequence[str], Mapping[str, str]]:
        """Empty all of *names* that can be, one after the other, where those *before* are empty: which went, and why others failed."""
        trial = verify(self.steady, before, self.flags).trial
        went, failed = list(before), dict[str, str]()
        for name in names:
            if name in trial.cordoned:
                continue
            if len(went) == self.most:
                failed[name] = KEPT
            else:
                failed |= empty_all(trial, [name], self.flags, self.on_node)
                went += [] if name in failed else [name]
        return went, failed


# --- orders ---------------------------------------------------------------------------------------------------------


def _use(trial: DrainTrial, names: Sequence[str]) -> tuple[Floats, Floats]:
    """What the pods of each node request, and what it has: float64[N, R], each in shares of what all nodes have."""
    table = trial.engine.fresh_table()
    rows = np.array([table.row_of[name] for name in names], np.intp)
    has = np.vstack([table.allocatable[:, rows], table.max_pods[rows]]).astype(np.float64).T
    requested = np.vstack([table.requested[:, rows], table.pod_count[rows]]).astype(np.float64).T
    total = np.maximum(has.sum(axis=0), 1.0)
    return requested / total, has / total


def emptiest(trial: DrainTrial, names: Sequence[str]) -> list[str]:
    """The nodes by the share of their scarcest resource that is in use."""
    requested, has = _use(trial, names)
    return _sorted(names, np.divide(requested, has, out=np.zeros_like(has), where=has > 0).max(axis=1, initial=0))


def cheapest(trial: DrainTrial, names: Sequence[str]) -> list[str]:
    """The nodes by how much their pods request of all that the cluster has."""
    return _sorted(names, _use(trial, names)[0].sum(axis=1))


def smallest(trial: DrainTrial, names: Sequence[str]) -> list[str]:
    """The nodes by how much they have of the scarce resources."""
    requested, has = _use(trial, names)
    return _sorted(names, (has * requested.sum(axis=0)).sum(axis=1))


ORDERS: tuple[Callable[[DrainTrial, Sequence[str]], list[str]], ...] = (emptiest, cheapest, smallest)


def _sorted(names: Sequence[str], cost: Floats) -> list[str]:
    return [names[number] for number in np.argsort(cost, kind="stable").tolist()]
