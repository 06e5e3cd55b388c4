"""An explanation as a whole: the decision, every node's part in it, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ...core.decision.decision import Decision
from .choice import Choice
from .closeup import CloseUp
from .eviction import Eviction
from .values import NodeReport, ReasonGroup, in_groups


@attrs.frozen
class Question:
    """What was asked about the pod besides where it goes."""

    placed_on: str | None = None
    """The node that the pod is on; the decision is made as if it had no node, with the pod itself taken off."""
    passed_over: str | None = None
    """Why the pod is not scheduled at all; None if it is."""
    workload: str | None = None
    """The workload that was named instead of a pod, as ``Deployment shop/web``."""
    pods: tuple[str, ...] = ()
    """All pods of that workload."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "placedOn": self.placed_on,
            "passedOver": self.passed_over,
            "workload": self.workload,
            "workloadPods": list(self.pods),
        }


@attrs.frozen
class Explanation:
    """A decision, and every node's part in it: those that fit by total, then the others, the nearest to fitting first."""

    decision: Decision
    nodes: tuple[NodeReport, ...]
    was_scored: bool
    """False if only one node fitted, which was taken without scoring; its scores are shown anyway."""
    release: str = ""
    choice: Choice | None = None
    """None where no two nodes were compared."""
    eviction: Eviction | None = None
    """What evicting other pods would do; None for a pod that finds a node."""
    close_up: CloseUp | None = None
    """All about the one node that was asked for."""
    question: Question = Question()
    rules: Mapping[str, bool] = attrs.field(factory=dict)
    """The filtering rules in running order -> whether the pod wants anything that the rule looks at; empty if no node was asked."""
    asks_all: bool = False
    """Whether a node that a rule has turned down is asked by the others too."""

    @property
    def by_plugins(self) -> bool:
        """Whether plugins decided, as they do in the framework."""
        return self.decision.plugins is not None

    @property
    def scored(self) -> list[NodeReport]:
        """The nodes with a total, best first."""
        return [node for node in self.nodes if node.total is not None]

    @property
    def fitting(self) -> list[NodeReport]:
        """The nodes that fit, those that the search did not reach among them."""
        return [node for node in self.nodes if node.fits]

    @property
    def turned_down(self) -> list[NodeReport]:
        """The nodes that do not fit, the nearest to fitting first."""
        return [node for node in self.nodes if not node.fits]

    @property
    def groups(self) -> tuple[ReasonGroup, ...]:
        """Why nodes were turned down: reason by reason."""
        return in_groups(self.nodes)

    @property
    def elsewhere(self) -> list[str]:
        """The nodes other than that of a placed pod which could take it too, best first."""
        return [node.name for node in self.fitting if node.name != self.question.placed_on]

    def report_of(self, name: str) -> NodeReport | None:
        """The report of the node called *name*."""
        return next((node for node in self.nodes if node.name == name), None)

    def record(self) -> dict[str, Any]:
        """As plain data, in the form of ``kubeclassic schema explain``; with a close-up, the nodes are that one alone."""
        close = self.close_up
        shown = self.nodes if close is None else [node for node in self.nodes if node.name == close.node]
        return {
            **self.decision.record(),
            "release": self.release,
            "gated": self.decision.is_gated,
            **self.question.record(),
            "scored": self.was_scored,
            "rules": [{"rule": rule, "concerned": concerned} for rule, concerned in self.rules.items()],
            "counts": self.counts(),
            "choice": None if self.choice is None else self.choice.record(),
            "reasons": [group.record() for group in self.groups],
            "eviction": None if self.eviction is None else self.eviction.record(),
            "closeUp": None if close is None else close.record(),
            "nodes": [node.record(by_plugins=self.by_plugins) for node in shown],
        }

    def counts(self) -> dict[str, int]:
        """How many nodes there are, were visited, fit, and were turned down."""
        visited = [node for node in self.nodes if node.visited]
        fit = sum(node.fits for node in visited)
        return {"nodes": len(self.nodes), "visited": len(visited), "fit": fit, "turnedDown": len(visited) - fit}
