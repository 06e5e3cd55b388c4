"""The decision of one scheduling cycle, and its details: which nodes were visited, why they failed, how they
scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import partial
from typing import Any, Literal, Protocol

import attrs
import msgspec
import numpy as np

from ...api.objects import Pod
from ...api.record import UNSET, Names, PodKey, Record, UnsetType, plain
from ...api.view import Share, View, make_frame, shortened, table_of, tables
from ..arrays import Rows, Scores
from .extender import PassedNodes
from .preemptionplan import Preemption, PreemptionRecord
from .score import LateRanking, Ranking, places_of_best
from .verdict import FitError, Outcome, SearchResult, reasons_in


class RejectedNode(Record):
    """The plugin that rejected a node, and its status code."""

    plugin: str | None
    """null where PreFilter left the node out."""
    code: str


class DecisionRecord(Record, kw_only=True):
    """A decision."""

    pod: PodKey
    host: str | None
    """The node; null if this decision gives the pod none."""
    error: str | None
    """Upstream's message if the pod got no node."""
    feasible: Names | UnsetType = UNSET
    """--details: the nodes that fit, in visiting order."""
    failed: Mapping[str, Names] | UnsetType = UNSET
    """--details: node -> the reasons why the pod does not fit."""
    priorities: Mapping[str, Mapping[str, int]] | UnsetType = UNSET
    """--details: priority or plugin -> node -> score."""
    scores: Mapping[str, int] | UnsetType = UNSET
    """--details: node -> weighted sum."""
    preemption: PreemptionRecord | None = None
    """The outcome of preemption; null if it was not tried."""
    allocations: Mapping[str, Names] | UnsetType = UNSET
    """For a placed pod with claims to devices: claim -> its devices, as driver/pool/device."""
    plugins: Names | UnsetType = UNSET
    """Releases with plugins: the plugins that rejected nodes or the pod."""
    statuses: Mapping[str, RejectedNode] | UnsetType = UNSET
    """--details, releases with plugins: node -> the plugin that rejected it, and its status code."""
    post_filter: str | UnsetType | None = UNSET
    """--details, releases with plugins: the message of PostFilter."""


class CycleRecord(DecisionRecord, kw_only=True):
    """One decision of a run, in order. With final, no other one follows for the pod, though a later pod's
    preemption may still evict it."""

    waiting: Literal[True] | UnsetType = UNSET
    """Releases with plugins: the pod waits there for Permit plugins, so the node is not final."""
    retry: bool
    """Whether this is another attempt of a pod that made room in an earlier decision."""
    final: bool
    """Whether no other decision follows for this pod."""


class PluginStatus(Protocol):
    """A plugin's status for a node that it rejects."""

    @property
    def plugin(self) -> str: ...

    @property
    def reasons(self) -> tuple[str, ...]: ...

    @property
    def code(self) -> Enum: ...


@attrs.frozen
class NodeFailure:
    """The failure of a pod on a node."""

    rules: tuple[str, ...]
    """The predicates, or the plugin, that rejected it."""
    reasons: tuple[str, ...]
    code: str | None = None
    """The code of the plugin's status, in upstream's words; None for predicates."""


@attrs.define(eq=False, repr=False)
class Details:
    """The arrays behind a decision. Rows are those of the table at that time; ``names``: row -> node."""

    names: list[str]
    feasible_rows: Rows
    """The feasible rows after extenders, in visiting order: intp[k]; a row can be here twice."""
    search: SearchResult | None = None
    _ranking: Ranking | LateRanking | None = None
    reduced: Mapping[str, Scores] = attrs.Factory(dict)
    """Priority -> its scores after the reduce step, int64[k], where the cycle ended between that and the
    ranking."""
    extender_reasons: dict[str, list[str]] = attrs.Factory(dict)
    passed_extenders: bool = False
    """Whether extenders were asked already."""
    best: Rows | None = None
    """The indexes in ``feasible_rows`` of those with the highest total; None: nothing was scored, or this is
    a copy."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.feasible_rows)} of {len(self.visited)} nodes visited fit>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        """For copies and pickles: all that can be read, without the scheduler's own state behind it."""
        if self is NO_DETAILS:
            return "NO_DETAILS"
        settled = {
            "visited": self.visited,
            "failed": self.failed,
            "statuses": dict(self.statuses),
            "refusals": self.refusals(),
            "post_filter": self.post_filter,
        }
        arrays = self.ranking, dict(self.reduced), self.extender_reasons
        return partial(SettledDetails, read=settled), (list(self.names), self.feasible_rows, None, *arrays)

    @property
    def ranking(self) -> Ranking | None:
        """The scores of ``feasible_rows``; None where nothing was scored."""
        if isinstance(self._ranking, LateRanking):
            self._ranking = self._ranking.work_out(None)
        return self._ranking

    def ranking_at(self, places: Rows) -> Ranking | None:
        """The scores of the ``feasible_rows`` at *places* alone, which may cost less; None where nothing was
        scored."""
        if isinstance(self._ranking, LateRanking):
            return self._ranking.work_out(places)
        return None if self._ranking is None else self._ranking.at(places)

    def rank(self, ranking: Ranking | LateRanking) -> None:
        """Set the scores, and where the best of them are."""
        self._ranking, self.best = ranking, places_of_best(ranking.standing)

    def narrow(self, rows: Rows, passed: PassedNodes) -> None:
        """Set the result of extenders: the remaining feasible *rows*, and the reasons for others."""
        self.feasible_rows = rows
        self.extender_reasons = passed.reasons

    @property
    def feasible(self) -> list[str]:
        """The nodes that fit, in visiting order."""
        return [self.names[row] for row in self.feasible_rows.tolist()]

    @property
    def visited(self) -> list[int]:
        """The rows with an outcome, in visiting order."""
        return [] if self.search is None else self.search.visited.tolist()

    def has_visited(self, row: int) -> bool:
        """Whether *row* is among ``visited``; cheaper than to list them."""
        return self.search is not None and bool((self.search.visited == row).any())

    @property
    def outside(self) -> Rows:
        """The rows that were not judged, as plugins named other nodes; removing pods there cannot help."""
        return np.zeros(0, np.intp)

    @property
    def failed(self) -> dict[str, list[str]]:
        """Node -> the reasons why the pod does not fit, in visiting order."""
        reasons_by_node = {}
        if self.search is not None:
            verdict = self.search.verdict
            rows = self.search.failed
            texts_by_outcome = dict[Outcome, list[str]]()
            for row, outcome in zip(rows.tolist(), verdict.outcomes(rows), strict=True):
                if outcome not in texts_by_outcome:
                    texts_by_outcome[outcome] = [reason.text for reason in verdict.reasons(row)]
                reasons_by_node[self.names[row]] = texts_by_outcome[outcome].copy()
        for name, texts in self.extender_reasons.items():
            reasons_by_node.setdefault(name, []).extend(texts)
        return reasons_by_node

    @property
    def statuses(self) -> Mapping[str, PluginStatus]:
        """Node -> the status that rejected it; empty for a release without plugins."""
        return {}

    def refusal(self, row: int) -> NodeFailure | None:
        """The failure on *row*, even if the search did not visit it; None if it fits, or if no search ran."""
        if self.search is None:
            return None
        verdict = self.search.verdict
        texts = self.extender_reasons.get(self.names[row], [])
        if verdict.fits[row] and not texts:
            return None
        reasons = (*(reason.text for reason in verdict.reasons(row)), *texts)
        return NodeFailure(tuple(verdict.rejecting_predicates(row)), reasons)

    def refusals(self) -> dict[int, NodeFailure]:
        """Row -> the failure, for all rows where the pod does not fit, visited or not."""
        distinct: dict[NodeFailure, NodeFailure] = {}
        refusals_by_row = ((row, self.refusal(row)) for row in range(len(self.names)))
        return {
            row: distinct.setdefault(refusal, refusal)
            for row, refusal in refusals_by_row
            if refusal is not None
        }

    @property
    def totals(self) -> Scores | None:
        """int64[k]: the weighted sum of each of ``feasible_rows``; None if scoring did not run, as when only
        one node fits."""
        return None if self.ranking is None else self.ranking.totals

    @property
    def priorities(self) -> dict[str, dict[str, int]]:
        """Priority -> node -> score after its reduce step; empty if scoring did not run."""
        scored = self.reduced if self.ranking is None else self.ranking.by_priority
        return {name: self._by_name(scores) for name, scores in sorted(scored.items())}

    @property
    def scores(self) -> dict[str, int]:
        """Node -> weighted sum; empty if scoring did not run."""
        return {} if self.ranking is None else self._by_name(self.ranking.totals)

    def _by_name(self, scores: Any) -> dict[str, int]:
        return {
            self.names[row]: score
            for row, score in zip(self.feasible_rows.tolist(), scores.tolist(), strict=True)
        }

    @property
    def post_filter(self) -> str | None:
        """The message of PostFilter; None for a release without plugins."""
        return None


@attrs.define(eq=False, kw_only=True, repr=False)
class SettledDetails(Details):
    """The details of a decision that was copied or pickled: all that can be read, but no search."""

    _read: Mapping[str, Any]

    @property
    def visited(self) -> list[int]:
        return list(self._read["visited"])

    @property
    def failed(self) -> dict[str, list[str]]:
        return {node: list(reasons) for node, reasons in self._read["failed"].items()}

    @property
    def statuses(self) -> Mapping[str, PluginStatus]:
        return dict(self._read["statuses"])

    def refusals(self) -> dict[int, NodeFailure]:
        return dict(self._read["refusals"])

    def refusal(self, row: int) -> NodeFailure | None:
        refusal: NodeFailure | None = self._read["refusals"].get(row)
        return refusal

    @property
    def post_filter(self) -> str | None:
        text: str | None = self._read["post_filter"]
        return text


NO_DETAILS = Details([], np.zeros(0, np.intp))
"""Empty details, for a cycle that visited no node or kept no details."""


class Decision(msgspec.Struct, eq=False):
    """The decision about a pod: its node, or why it gets none. A pod that fits nowhere is a decision, not an
    exception."""

    pod: Pod
    host: str | None = None
    error: str | None = None
    """Upstream's message if the pod got no node."""
    fit_error: FitError | None = None
    """The failure of a pod that fits on no node: the reasons with their counts, and PostFilter's message."""
    is_fit_error: bool = False
    """Whether the error says that the pod fits on no node; otherwise something went wrong."""
    details: Details = NO_DETAILS
    """The arrays behind the decision; empty where none were kept (see :attr:`has_details`)."""
    preemption: Preemption | None = None
    nominated: str | None = None
    """The pod's nomination after the cycle, in the framework: a node, "" (cleared) or None (unchanged)."""
    plugins: frozenset[str] | None = None
    """The plugins that rejected nodes or the pod; None for a release without plugins."""
    is_gated: bool = False
    """Whether the pod was not tried because a PreEnqueue plugin holds it back."""
    is_waiting: bool = False
    """Whether the pod has a host but is not bound yet: Permit plugins make it wait until they allow or reject
    it."""
    allocations: Mapping[str, list[str]] | None = None
    """Claim -> its devices, as ``driver/pool/device``, once the pod is placed; None if it has no claims to
    devices."""
    is_retry: bool = False
    """Whether this is another attempt of a pod that made room in an earlier cycle of the run."""
    is_final: bool = True
    """Whether no other cycle of the run follows for the pod. False where the pod makes room: its retry comes
    at the end."""

    def __repr__(self) -> str:
        outcome = f"on {self.host}" if self.host is not None else f"on no node: {shortened(self.error or '')}"
        if self.has_details:
            visits = f" ({len(self.details.feasible_rows)} of {len(self.details.visited)} nodes visited fit)"
        else:
            visits = ""
        return f"<Decision: {self.pod.key} {outcome}{visits}>"

    def _repr_html_(self) -> str:
        return self.view().html()

    def fail(self, error: FitError) -> None:
        """Record the failure *error*: the pod fits on no node."""
        self.fit_error, self.error, self.is_fit_error = error, str(error), True

    @property
    def reasons(self) -> dict[str, int]:
        """Reason -> the number of nodes with it, the most frequent first; 0 for a reason of no node."""
        if self.fit_error is not None and self.fit_error.reasons:
            return self.fit_error.most_first
        return {} if self.error is None else reasons_in(self.error)

    def verdict(self) -> str:
        """The outcome in one sentence."""
        if self.host is not None:
            return f"{self.pod.key} goes to {self.host}."
        return f"{self.pod.key} fits on no node." if self.is_fit_error else f"{self.pod.key} gets no node."

    @property
    def has_details(self) -> bool:
        """Whether the cycle kept its details; False too for a pod that was not tried."""
        return self.details is not NO_DETAILS

    @property
    def feasible(self) -> list[str]:
        """The nodes that fit, in visiting order; empty without details."""
        return self.details.feasible

    @property
    def failed(self) -> dict[str, list[str]]:
        """Node -> reasons; empty without details."""
        return self.details.failed

    @property
    def priorities(self) -> dict[str, dict[str, int]]:
        """Priority -> node -> score; empty without details."""
        return self.details.priorities

    @property
    def scores(self) -> dict[str, int]:
        """Node -> weighted sum; empty without details."""
        return self.details.scores

    @property
    def total(self) -> int | None:
        """The weighted sum of the host; None without details, and where scoring did not run, as when only one
        node fits."""
        return None if self.host is None else self.scores.get(self.host)

    @property
    def statuses(self) -> Mapping[str, PluginStatus]:
        """Node -> the status that rejected it; empty without details, and for a release without plugins."""
        return self.details.statuses

    @property
    def victims(self) -> list[Pod]:
        """The pods that have to leave the node that the pod waits for, so that it fits there."""
        plan = self.preemption
        return list(plan.victims) if plan is not None and plan.node is not None else []

    def record(self, *, details: bool = False) -> dict[str, Any]:
        """The decision as plain data, in the form that ``-o jsonl`` prints.

        *details* adds feasible, failed, priorities and scores. A release with plugins adds ``plugins`` and,
        with *details*, ``statuses`` (node -> plugin and code) and ``postFilter``, its message.
        """
        document: dict[str, Any] = plain(DecisionRecord(**self._fields(details)))
        return document

    def cycle(self, *, details: bool = False) -> CycleRecord:
        """The decision as one cycle of a run."""
        waiting: Literal[True] | UnsetType = True if self.is_waiting else UNSET
        return CycleRecord(**self._fields(details), waiting=waiting, retry=self.is_retry, final=self.is_final)

    def _fields(self, details: bool) -> dict[str, Any]:
        fields: dict[str, Any] = {"pod": self.pod.key, "host": self.host, "error": self.error}
        if details:
            fields |= {
                "feasible": self.feasible,
                "failed": self.failed,
                "priorities": self.priorities,
                "scores": self.scores,
            }
        if self.preemption is not None:
            fields["preemption"] = self.preemption.record()
        if self.allocations is not None:
            fields["allocations"] = dict(self.allocations)
        if self.plugins is not None:
            fields["plugins"] = sorted(self.plugins)
            if details:
                statuses = {
                    node: RejectedNode(status.plugin or None, status.code.value)
                    for node, status in self.statuses.items()
                }
                fields |= {"statuses": statuses, "post_filter": self.details.post_filter}
        return fields

    # --- as tables ------------------------------------------------------------------------------------------

    def to_frame(self, library: str | None = None) -> Any:
        """The visited nodes as a DataFrame, one row each: node, fits, total, a column a priority, reasons.
        Empty without details.

        *library* is ``pandas`` or ``polars``; by default the first of them that is installed.
        """
        return make_frame([*self._rows()], ("node", "fits", "total", *self.priorities, "reasons"), library)

    def _rows(self) -> Iterator[dict[str, Any]]:
        scores = self.scores
        priorities = self.priorities
        for node in self.feasible:
            parts = {name: score_by_node.get(node) for name, score_by_node in priorities.items()}
            yield {"node": node, "fits": True, "total": scores.get(node), **parts, "reasons": ""}
        for node, reasons in self.failed.items():
            yield {
                "node": node,
                "fits": False,
                "total": None,
                **dict.fromkeys(priorities),
                "reasons": ", ".join(reasons),
            }

    def view(self) -> View:
        """The decision's view in a notebook: the nodes, those with the highest totals first."""
        facts = {
            "host": self.host,
            "error": self.error,
            "victims": ", ".join(pod.key for pod in self.victims) or None,
        }
        best_first = sorted(self._rows(), key=lambda row: (not row["fits"], -(row["total"] or 0)))
        columns = ("node", "total", "does not fit because")
        rows = [
            dict(
                zip(columns, (row["node"], row["total"] if row["fits"] else "", row["reasons"]), strict=True)
            )
            for row in best_first
        ]
        fit = sum(row["fits"] for row in best_first)
        shares = [Share("fit", fit, "good"), Share("do not fit", len(rows) - fit, "bad")] if rows else []
        nodes = tables(table_of("nodes", rows, columns))
        return View(
            title=f"Pod {self.pod.key}", verdict=self.verdict(), facts=facts, shares=shares, sections=nodes
        )
