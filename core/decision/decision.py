"""The decision of one scheduling cycle, and its details: which nodes were visited, why they failed, how they scored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import attrs
import numpy as np

from ...api.objects import Pod
from ..arrays.types import Rows, Scores
from .plan import Preemption
from .score import Ranking
from .search import Search


class NodeStatus(Protocol):
    """A plugin's status for a node that it rejects."""

    @property
    def plugin(self) -> str: ...

    @property
    def reasons(self) -> tuple[str, ...]: ...


@attrs.frozen
class Refusal:
    """Why a node does not fit."""

    rules: tuple[str, ...]
    """The predicates, or the plugin, that rejected it."""
    reasons: tuple[str, ...]
    code: str | None = None
    """The code of the plugin's status, in upstream's words; None for predicates."""


@attrs.define(eq=False)
class Details:
    """The arrays behind a decision. Rows are those of the table at that time; ``names``: row -> node."""

    names: list[str]
    feasible_rows: Rows
    """After extenders, in visiting order: intp[k]; a row can be here twice."""
    search: Search | None = None
    ranking: Ranking | None = None
    reduced: Mapping[str, Scores] = attrs.field(factory=dict)
    """Priority -> int64[k]: its scores after the reduce step, also where the cycle ended after that without a ranking."""
    extender_reasons: dict[str, list[str]] = attrs.field(factory=dict)

    def narrow(self, rows: Rows, reasons: dict[str, list[str]]) -> None:
        """Set the result of extenders: the remaining feasible *rows*, and node -> *reasons* for others."""
        self.feasible_rows, self.extender_reasons = rows, reasons

    @property
    def feasible(self) -> list[str]:
        """The nodes that fit, in visiting order."""
        return [self.names[row] for row in self.feasible_rows.tolist()]

    @property
    def visited(self) -> list[int]:
        """The rows with an outcome, in visiting order."""
        return [] if self.search is None else self.search.visited.tolist()

    @property
    def outside(self) -> Rows:
        """Rows that were not judged, as plugins named others; removing pods there cannot help."""
        return np.zeros(0, np.intp)

    @property
    def failed(self) -> dict[str, list[str]]:
        """Node -> why it does not fit, in visiting order."""
        found: dict[str, list[str]] = {}
        if self.search is not None:
            for row in self.search.failed.tolist():
                found[self.names[row]] = [reason.text for reason in self.search.verdict.reasons(row)]
        for name, texts in self.extender_reasons.items():
            found.setdefault(name, []).extend(texts)
        return found

    @property
    def statuses(self) -> Mapping[str, NodeStatus]:
        """Node -> the status that rejected it; empty for a release without plugins."""
        return {}

    def refusal(self, row: int) -> Refusal | None:
        """Why *row* does not fit, even if the search did not visit it; None if it fits, or if no search ran."""
        if self.search is None:
            return None
        verdict, texts = self.search.verdict, self.extender_reasons.get(self.names[row], [])
        if verdict.fits[row] and not texts:
            return None
        reasons = (*(reason.text for reason in verdict.reasons(row)), *texts)
        return Refusal(tuple(verdict.rejecting_predicates(row)), reasons)

    @property
    def totals(self) -> Scores | None:
        """int64[k]: the weighted sum of each of ``feasible_rows``; None if scoring did not run, as when only one node fits."""
        return None if self.ranking is None else self.ranking.totals

    @property
    def priorities(self) -> dict[str, dict[str, int]]:
        """Priority -> node -> score after its reduce step; empty if scoring did not run."""
        return {name: self._by_name(scores) for name, scores in sorted(self.reduced.items())}

    @property
    def scores(self) -> dict[str, int]:
        """Node -> weighted sum; empty if scoring did not run."""
        return {} if self.ranking is None else self._by_name(self.ranking.totals)

    def _by_name(self, scores: Any) -> dict[str, int]:
        return {self.names[row]: score for row, score in zip(self.feasible_rows.tolist(), scores.tolist(), strict=True)}

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {"feasible": self.feasible, "failed": self.failed, "priorities": self.priorities, "scores": self.scores}

    def plugin_record(self) -> dict[str, Any]:
        """What only releases with plugins have, as plain data."""
        return {}


def no_details() -> Details:
    """Empty details, for a cycle that visited no node or kept no details."""
    return Details([], np.zeros(0, np.intp))


@attrs.define(eq=False)
class Decision:
    """Where a pod goes, or why it goes nowhere. A pod that fits nowhere is a decision, not an exception."""

    pod: Pod
    host: str | None = None
    error: str | None = None
    """Upstream's message if the pod got no node."""
    is_fit_error: bool = False
    """Whether the error says that the pod fits on no node; otherwise something went wrong."""
    details: Details | None = None
    preemption: Preemption | None = None
    nominated: str | None = None
    """The pod's nomination after the cycle, in the framework: a node, "" (cleared) or None (unchanged)."""
    plugins: frozenset[str] | None = None
    """The plugins that rejected nodes or the pod; None for a release without plugins."""
    is_gated: bool = False
    """The pod was not tried, because a PreEnqueue plugin holds it back."""
    is_retry: bool = False
    """The pod had made room in an earlier cycle of the run, and is tried once more."""
    is_final: bool = True
    """No other cycle of the run follows for the pod. It is False where the pod makes room: its retry comes at the end."""

    @property
    def feasible(self) -> list[str]:
        """The nodes that fit, in visiting order; empty without details."""
        return [] if self.details is None else self.details.feasible

    @property
    def failed(self) -> dict[str, list[str]]:
        """Node -> reasons; empty without details."""
        return {} if self.details is None else self.details.failed

    @property
    def priorities(self) -> dict[str, dict[str, int]]:
        """Priority -> node -> score; empty without details."""
        return {} if self.details is None else self.details.priorities

    @property
    def scores(self) -> dict[str, int]:
        """Node -> weighted sum; empty without details."""
        return {} if self.details is None else self.details.scores

    @property
    def statuses(self) -> Mapping[str, NodeStatus]:
        """Node -> the status that rejected it; empty without details, and for a release without plugins."""
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
