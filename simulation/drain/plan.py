"""The answer of a drain: which nodes can go together, which cannot and why, and who moves where in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated

import attrs
from msgspec import structs

from ...api.reading.notices import InputWarning, ResultDocument
from ...api.record import Count, Record, field, says
from .auto import DrainWish, find
from .budgets import BudgetUse
from .rules import DrainFlags
from .steadystate import SteadyState
from .trial import EvictedPod
from .upperbound import Bound
from .verification import OnNode, StayingPod, Verification, ignored, verify


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
    staying: Annotated[tuple[StayingPod, ...], says("Pods that a drain leaves on nodes that can go.")]
    budgets: Annotated[tuple[BudgetUse, ...], says("The PodDisruptionBudgets of pods that leave.")]
    bound: Annotated[Bound | None, says("Of a search: how many nodes can go at most.")]
    summary: DrainSummary

    @property
    def ok(self) -> bool:
        """Whether the answer is yes: all that were named can go, or a search found any."""
        return bool(self.can) and (self.bound is not None or not self.cannot)


@attrs.frozen(eq=False)
class DrainPlan:
    """Which of the nodes that were asked about can go, all of them together, and what happens then."""

    answer: DrainDocument
    asked: tuple[str, ...]
    """The nodes that were named; of a search all that it could choose from."""
    evictions: tuple[EvictedPod, ...]
    """In order, with the pods themselves."""

    def evictions_by_node(self) -> Counter[str]:
        """Node -> how many pods the drain evicts from it."""
        return Counter(one.node for one in self.evictions if one.by is None)

    def document(self, warnings: tuple[InputWarning, ...] = ()) -> DrainDocument:
        """Everything."""
        return structs.replace(self.answer, warnings=warnings)


# --- asking ---------------------------------------------------------------------------------------------------------


def plan_for(steady: SteadyState, nodes: Iterable[str], flags: DrainFlags, on_node: OnNode = ignored) -> DrainPlan:
    """Whether *nodes*, which the cluster has, can go together."""
    asked = tuple(dict.fromkeys(nodes))
    return _plan(steady, asked, verify(steady, asked, flags, on_node))


def search_for(steady: SteadyState, wish: DrainWish, flags: DrainFlags, on_node: OnNode = ignored) -> DrainPlan:
    """As many nodes as can be found that can go together."""
    found = find(steady, wish, flags, on_node)
    asked = tuple(node.name for node in steady.nodes if wish.may_go(node))
    return _plan(steady, asked, found.verification, found.bound)


def _plan(steady: SteadyState, asked: tuple[str, ...], verification: Verification, bound: Bound | None = None) -> DrainPlan:
    trial, left = verification.trial, tuple(verification.trial.evictions)
    moves = tuple(DrainMove(pod=one.pod.key, origin=one.node, to=one.to) for one in left if one.to is not None)
    summary = DrainSummary(
        nodes=len(steady.nodes), asked=len(asked), can=len(verification.can), evictions=len(left), moved=len(moves), rounds=trial.rounds,
        placed_before=steady.placed, waiting=len(steady.waiting),
    )  # fmt: skip
    answer = DrainDocument(
        release=trial.engine.release.version, can=verification.can,
        cannot={name: verification.cannot[name] for name in asked if name in verification.cannot}, moves=moves,
        evictions=tuple(DrainEviction(one.round, one.pod.key, one.node, one.by, one.replacement, one.to) for one in left),
        staying=verification.staying, budgets=trial.budgets.used(), bound=bound, summary=summary,
    )  # fmt: skip
    return DrainPlan(answer, asked, left)
