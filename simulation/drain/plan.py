"""The answer of a drain: which nodes can go together, which cannot and why, and who moves where in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ...api.objects import Pod
from .auto import Wish, find
from .bound import Bound
from .proof import OnNode, Proof, nobody_asks, prove
from .rules import DrainFlags
from .settled import Settled
from .trial import Eviction


@attrs.frozen(eq=False)
class Plan:
    """Which of the nodes that were asked about can go, all of them together, and what happens then."""

    release: str
    asked: tuple[str, ...]
    """The nodes that were named; of a search all that it could choose from."""
    can: tuple[str, ...]
    """In the order in which they are emptied."""
    cannot: Mapping[str, str]
    """Node -> why."""
    evictions: tuple[Eviction, ...]
    """In order; those of one round at the same time."""
    staying: tuple[tuple[Pod, str, str], ...]
    """Pods that a drain leaves on nodes that can go: pod, node, why."""
    budgets: tuple[Mapping[str, Any], ...]
    """The disruption budgets that were asked."""
    rounds: int
    placed: int
    """Waiting pods that were placed before the drain."""
    waiting: int
    """Pods that find no node even before the drain."""
    nodes: int
    """How many nodes the cluster has."""
    bound: Bound | None = None
    """Of a search: how many can go at most."""

    @property
    def all_can(self) -> bool:
        """Whether the answer is yes: all that were named can go, or a search found any."""
        return bool(self.can) and (self.bound is not None or not self.cannot)

    @property
    def moves(self) -> list[dict[str, str]]:
        """The evicted pods whose place another pod takes: pod, from, to."""
        return [{"pod": one.pod.key, "from": one.node, "to": one.to} for one in self.evictions if one.to is not None]

    def evictions_by_node(self) -> Counter[str]:
        """Node -> how many pods the drain evicts from it."""
        return Counter(one.node for one in self.evictions if one.by is None)

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "release": self.release,
            "can": list(self.can),
            "cannot": dict(self.cannot),
            "moves": self.moves,
            "evictions": [_eviction_record(one) for one in self.evictions],
            "staying": [{"pod": pod.key, "node": node, "why": why} for pod, node, why in self.staying],
            "budgets": [dict(budget) for budget in self.budgets],
            "bound": None if self.bound is None else self.bound.record(),
            "summary": {
                "nodes": self.nodes, "asked": len(self.asked), "can": len(self.can), "evictions": len(self.evictions),
                "moved": len(self.moves), "rounds": self.rounds, "placedBefore": self.placed, "waiting": self.waiting,
            },
        }  # fmt: skip


def _eviction_record(eviction: Eviction) -> dict[str, Any]:
    return {
        "round": eviction.round, "pod": eviction.pod.key, "node": eviction.node, "by": eviction.by,
        "replacement": eviction.replacement, "to": eviction.to,
    }  # fmt: skip


# --- asking ---------------------------------------------------------------------------------------------------------


def plan_for(settled: Settled, nodes: Iterable[str], flags: DrainFlags, on_node: OnNode = nobody_asks) -> Plan:
    """Whether *nodes*, which the cluster has, can go together."""
    asked = tuple(dict.fromkeys(nodes))
    return _plan(settled, asked, prove(settled, asked, flags, on_node))


def search_for(settled: Settled, wish: Wish, flags: DrainFlags, on_node: OnNode = nobody_asks) -> Plan:
    """As many nodes as can be found that can go together."""
    found = find(settled, wish, flags, on_node)
    asked = tuple(node.name for node in settled.nodes if wish.may_go(node))
    return _plan(settled, asked, found.proof, found.bound)


def _plan(settled: Settled, asked: tuple[str, ...], proof: Proof, bound: Bound | None = None) -> Plan:
    trial = proof.trial
    return Plan(
        release=trial.engine.release.version, asked=asked, can=proof.can,
        cannot={name: proof.cannot[name] for name in asked if name in proof.cannot},
        evictions=tuple(trial.evictions), staying=proof.staying, budgets=tuple(trial.budgets.records()), rounds=trial.rounds,
        placed=settled.placed, waiting=len(settled.waiting), nodes=len(settled.nodes), bound=bound,
    )  # fmt: skip
