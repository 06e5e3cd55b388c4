"""What one scheduling cycle decided, and everything that it looked at on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import attrs
import numpy as np

from ...api.objects import Pod
from ..arrays.batch import Rows
from ..rule import Scores
from .plan import Preemption
from .score import Ranking
from .search import Search


class NodeStatus(Protocol):
    """What a plugin of the framework holds against a node."""

    @property
    def plugin(self) -> str: ...

    @property
    def reasons(self) -> tuple[str, ...]: ...


@attrs.frozen
class Refusal:
    """Why a node does not fit."""

    rules: tuple[str, ...]
    """The predicates, or the plugin, that turned it down."""
    reasons: tuple[str, ...]
    code: str | None = None
    """That of a plugin's status, in upstream's words."""


@attrs.define(eq=False)
class Details:
    """The arrays behind a decision; rows are those of the table at the time, ``names`` tells whose they are."""

    names: list[str]
    feasible_rows: Rows
    """After extenders, in visiting order; a row can stand here twice."""
    search: Search | None = None
    ranking: Ranking | None = None
    extender_reasons: dict[str, list[str]] = attrs.field(factory=dict)

    def narrow(self, rows: Rows, reasons: dict[str, list[str]]) -> None:
        """Extenders left *rows* of the feasible ones, and gave *reasons* against others, by node."""
        self.feasible_rows, self.extender_reasons = rows, reasons

    @property
    def feasible(self) -> list[str]:
        """The nodes that fit, in visiting order."""
        return [self.names[row] for row in self.feasible_rows.tolist()]

    @property
    def visited(self) -> list[int]:
        """The rows that have an outcome, those of the search first, in visiting order."""
        return [] if self.search is None else self.search.visited.tolist()

    @property
    def failed(self) -> dict[str, list[str]]:
        """Node -> why it does not fit, in the order found."""
        found: dict[str, list[str]] = {}
        if self.search is not None:
            for row in self.search.failed.tolist():
                found[self.names[row]] = [reason.text for reason in self.search.verdict.reasons(row)]
        for name, texts in self.extender_reasons.items():
            found.setdefault(name, []).extend(texts)
        return found

    @property
    def statuses(self) -> Mapping[str, NodeStatus]:
        """Node -> the status that turned it down; empty for a release without plugins."""
        return {}

    def refusal(self, row: int) -> Refusal | None:
        """Why *row* does not fit, whether the search came to it or not; None where it fits, or where no search ran."""
        if self.search is None:
            return None
        verdict, texts = self.search.verdict, self.extender_reasons.get(self.names[row], [])
        if verdict.fits[row] and not texts:
            return None
        reasons = (*(reason.text for reason in verdict.reasons(row)), *texts)
        return Refusal(tuple(verdict.rejecting_predicates(row)), reasons)

    @property
    def totals(self) -> Scores | None:
        """int64[k]: the weighted sum of each of ``feasible_rows``; None where scoring did not run, as where one node alone fits."""
        return None if self.ranking is None else self.ranking.totals

    @property
    def priorities(self) -> dict[str, dict[str, int]]:
        """Priority -> node -> score after its reduce step; empty where scoring did not run."""
        if self.ranking is None:
            return {}
        return {name: self._by_name(scores) for name, scores in sorted(self.ranking.by_priority.items())}

    @property
    def scores(self) -> dict[str, int]:
        """Node -> weighted sum; empty where scoring did not run."""
        return {} if self.ranking is None else self._by_name(self.ranking.totals)

    def _by_name(self, scores: Any) -> dict[str, int]:
        return {self.names[row]: score for row, score in zip(self.feasible_rows.tolist(), scores.tolist(), strict=True)}

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {"feasible": self.feasible, "failed": self.failed, "priorities": self.priorities, "scores": self.scores}

    def plugin_record(self) -> dict[str, Any]:
        """What only plugins tell, as plain data."""
        return {}


def no_details() -> Details:
    """Details of a cycle that looked at nothing, or that kept nothing."""
    return Details([], np.zeros(0, np.intp))


@attrs.define(eq=False)
class Decision:
    """Where a pod goes, or why it goes nowhere. A pod that fits nowhere is a decision, not an exception."""

    pod: Pod
    host: str | None = None
    error: str | None = None
    """Upstream's own message where the cycle failed."""
    is_fit_error: bool = False
    """The pod fits on no node; any other error says that the question could not be answered."""
    details: Details | None = None
    preemption: Preemption | None = None
    nominated: str | None = None
    """What the framework makes of the pod's nomination: a node, "" for none any more, None: unchanged."""
    plugins: frozenset[str] | None = None
    """The plugins that turned nodes, or the pod, down; None for a release without plugins."""
    is_gated: bool = False
    """The pod was not tried at all, as a PreEnqueue plugin holds it back."""

    @property
    def feasible(self) -> list[str]:
        """The nodes that fit, in visiting order; empty where details were not kept."""
        return [] if self.details is None else self.details.feasible

    @property
    def failed(self) -> dict[str, list[str]]:
        """Node -> reasons; empty where details were not kept."""
        return {} if self.details is None else self.details.failed

    @property
    def priorities(self) -> dict[str, dict[str, int]]:
        """Priority -> node -> score; empty where details were not kept."""
        return {} if self.details is None else self.details.priorities

    @property
    def scores(self) -> dict[str, int]:
        """Node -> weighted sum; empty where details were not kept."""
        return {} if self.details is None else self.details.scores

    @property
    def statuses(self) -> Mapping[str, NodeStatus]:
        """Node -> the status that turned it down; empty where details were not kept, and for a release without plugins."""
        return {} if self.details is None else self.details.statuses

    def record(self, *, details: bool = False) -> dict[str, Any]:
        """The decision as plain data, in the form that ``-o jsonl`` prints.

        *details* adds feasible, failed, priorities and scores. A release with plugins adds ``plugins`` and, with *details*, ``statuses``
        (node -> plugin and code) and ``postFilter``, its message.
        """
        preemption = None if self.preemption is None else self.preemption.record()
        found: dict[str, Any] = {"pod": self.pod.key, "host": self.host, "error": self.error}
        shown = no_details() if self.details is None else self.details
        if details:
            found |= shown.record()
        found |= {"preemption": preemption}
        if self.plugins is not None:
            found |= {"plugins": sorted(self.plugins)}
            found |= {"statuses": {}, "postFilter": None, **shown.plugin_record()} if details else {}
        return found
