"""The answer as plain data: which nodes to add, what became of the pods, and what was proven."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import attrs

from .kinds import NodeKind
from .search import Found
from .trials import Trial

Row = dict[str, Any]
MOST_TOLD = 10
"""Of pods without a node that many are told."""


@attrs.frozen(kw_only=True, eq=False)
class Answer:
    """What was found for *kinds*; *scale*: whole prices of the search for one of cost."""

    release: str
    kinds: Sequence[NodeKind]
    found: Found
    scale: int
    most_nodes: int

    @property
    def is_yes(self) -> bool:
        """Whether each pod finds a node."""
        return self.found.is_placed

    @property
    def count(self) -> int:
        """How many nodes are added."""
        return sum(self.found.best.mix)

    @property
    def cost(self) -> Decimal:
        """What they cost in all."""
        return sum((kind.cost * count for kind, count in self._counts(self.found.best)), Decimal(0))

    @property
    def bound(self) -> Decimal:
        """What any mix costs at least that can do."""
        return Decimal(self.found.bound) / self.scale

    @property
    def without_place(self) -> list[tuple[str, str]]:
        """Pods that find no node, each with why: those that never can, else those that the best mix leaves."""
        if self.found.never:
            return [(key, _never(self.kinds, shape.refusals)) for shape in self.found.never for key in shape.keys]
        return [(missing.pod.key, missing.message) for missing in self.found.best.missing]

    @property
    def fewer(self) -> list[str]:
        """A sentence for each simulation with one node less."""
        return [f"{self.named(trial)}: {left(trial)}" for trial in self.found.fewer]

    @property
    def with_one_fewer(self) -> str | None:
        """These sentences in one; None if no node is added."""
        return "; ".join(self.fewer) or None

    def named(self, trial: Trial) -> str:
        """A mix in words: ``2 big and 1 small``."""
        told = [f"{count:,} {kind.name}" for kind, count in self._counts(trial) if count]
        return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told) or "no new node"

    def added(self) -> list[Row]:
        """A row a kind that is needed; ``cost``: of all its nodes."""
        return [
            {"node": kind.name, "count": count, "cost": plain(kind.cost * count), "costOfOne": plain(kind.cost)}
            for kind, count in self._counts(self.found.best) if count and self.is_yes
        ]  # fmt: skip

    def nodes(self) -> list[Row]:
        """A row a new node: the pods on it, without those of DaemonSets, and of each resource what is requested."""
        return [
            {
                "name": node.name, "node": node.kind, "pods": node.pods, "requested": dict(node.requested),
                "allocatable": dict(node.allocatable),
            }
            for node in (self.found.best.nodes if self.is_yes else ())
        ]  # fmt: skip

    def record(self) -> Row:
        """Everything."""
        found, told = self.found, self.without_place
        return {
            "release": self.release, "added": self.added(), "placed": self.is_yes, "withOneFewer": self.with_one_fewer,
            "cost": plain(self.cost) if self.is_yes else None, "lowerBound": plain(self.bound) if self.is_yes else None,
            "cheapest": found.is_proven and self.is_yes, "noneFrom": found.none_from, "pods": found.best.wanted, "nodes": self.nodes(),
            "oneFewer": [
                {
                    "mix": {kind.name: count for kind, count in self._counts(trial)}, "withoutNode": len(trial.missing),
                    "message": left(trial),
                }
                for trial in found.fewer
            ],
            "withoutNode": {
                "count": len(told), "never": bool(found.never), "pods": [{"pod": key, "message": why} for key, why in told[:MOST_TOLD]],
            },
            "tried": {kind.name: count for kind, count in self._counts(found.best)},
            "daemons": {kind.name: [pod.key for pod in kind.daemons] for kind in self.kinds},
            "evicted": dict(found.best.evicted), "mostNodes": self.most_nodes, "simulated": found.simulated,
        }  # fmt: skip

    def _counts(self, trial: Trial) -> list[tuple[NodeKind, int]]:
        return list(zip(self.kinds, trial.mix, strict=True))


def left(trial: Trial) -> str:
    """What *trial* leaves, in words: how many pods, and the first of them with the scheduler's message."""
    first = trial.missing[0] if trial.missing else None
    if first is None:
        return "all pods find a node"
    number = len(trial.missing)
    return f"{number:,} of {trial.wanted:,} pods {'finds' if number == 1 else 'find'} no node, first {first.pod.key}: {first.message}"


def plain(number: Decimal) -> int | float:
    """*number* as JSON has it: whole where it is.

    >>> plain(Decimal("2.50")), plain(Decimal("3.0"))
    (2.5, 3)
    """
    return int(number) if number == int(number) else float(number)


def _never(kinds: Sequence[NodeKind], refusals: Sequence[str]) -> str:
    told: dict[str, list[str]] = {}
    for kind, why in zip(kinds, refusals, strict=True):
        told.setdefault(why, []).append(kind.name)
    return "; ".join(f"on an empty {' or '.join(names)}: {why}" for why, names in told.items())
