"""The nodes of a decision one by one: what rules out each, and what is short there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from ...api.record import UNSET
from ...core.arrays.batch import Batch
from ...core.cycle import Cycle
from ...core.decision.decision import Details, NodeFailure
from ...core.decision.score import Ranking
from ...core.decision.verdict import FilterPass
from ...core.devices.accounts import DeviceAccount
from ...core.rule import Predicate
from ...framework.plugins.dynamicresources import DynamicResources
from ..records import shortage_of
from .values import NodeReport, NodeScore, NodeShortage, Objection


@attrs.define(eq=False)
class JudgedNodes:
    """Makes the reports of the rows of a decision; *cycle* is one for the same pod on the same snapshot."""

    cycle: Cycle
    details: Details
    accounts: Callable[[int], tuple[DeviceAccount, ...]]
    """Row -> what rules out each device there."""
    by_plugins: bool = False
    visited: frozenset[int] = attrs.field(init=False)
    weights: dict[str, int] = attrs.field(init=False)
    _known: dict[tuple[int, int, bool], Objection] = attrs.field(factory=dict)
    """(findings, code, counted) -> the objection, which many nodes share."""
    _codes: dict[int, list[int]] = attrs.field(factory=dict)
    """Findings -> their codes as a list, which is faster to look things up in."""

    def __attrs_post_init__(self) -> None:
        self.visited = frozenset(self.details.visited)
        self.weights = {priority.name: weight for priority, weight in self.cycle.algorithm.priorities}

    # --- reports ----------------------------------------------------------------------------------------------------

    def scored(self, rows: Sequence[int], ranking: Ranking | None) -> dict[int, NodeReport]:
        """The reports of *rows*, which fit, best first; *ranking*: their scores."""
        if ranking is None:
            return {row: self._report(row, True) for row in rows}
        totals, best_first = ranking.totals.tolist(), sorted(range(len(rows)), key=lambda at: -int(ranking.totals[at]))
        return {rows[at]: self._report(rows[at], True, scores=self.scores(ranking, at), total=totals[at]) for at in best_first}

    def scores(self, ranking: Ranking, at: int) -> dict[str, NodeScore]:
        """The scores of the node at index *at* of a ranking."""
        return {
            name: NodeScore(int(ranking.raw[name][at]), int(reduced[at]), self.weights[name])
            for name, reduced in ranking.by_priority.items()
        }

    def unscored(self, rows: Sequence[int]) -> list[NodeReport]:
        """The reports of other rows: those that fit but were not reached, then those that do not fit, the nearest to fitting first."""
        found = [self._unscored(row, self.details.refusal(row)) for row in rows]
        return [*(node for node in found if node.fits), *sorted((n for n in found if not n.fits), key=lambda node: node.nearness)]

    def _unscored(self, row: int, refusal: NodeFailure | None) -> NodeReport:
        visited = row in self.visited
        if refusal is None:
            return self._report(row, visited)
        objections = self.objections(row)
        reasons = dict.fromkeys([*refusal.reasons, *(reason for objection in objections for reason in objection.reasons)])
        has_devices = any(objection.rule == DynamicResources.name for objection in objections)
        return self._report(
            row, visited, refusal, reasons=refusal.reasons, objections=objections, shortages=tuple(self._shortages(row, list(reasons))),
            devices=(self.accounts(row) if has_devices else ()) or UNSET,
        )  # fmt: skip

    def _report(self, row: int, visited: bool, refusal: NodeFailure | None = None, **found: Any) -> NodeReport:
        rules, code = ((), None) if refusal is None else (refusal.rules, refusal.code)
        by = {"plugins": rules, "code": code} if self.by_plugins else {"predicates": rules}
        return NodeReport(self.details.names[row], refusal is None, visited, **by, **found)

    # --- one row ----------------------------------------------------------------------------------------------------

    def judged(self, row: int) -> tuple[FilterPass, int] | None:
        """The pass that counts for a row, with the pods nominated there or without them, and the row's place in it; None without any."""
        if self.details.search is None:
            return None
        verdict = self.details.search.verdict
        place, trial = verdict.place.get(row), verdict.with_nominated
        if trial is not None and place is not None and not trial.fits[place]:
            return trial, place
        return verdict.plain, row

    def objections(self, row: int) -> tuple[Objection, ...]:
        """What every predicate or plugin has against a row, in running order."""
        judged = self.judged(row)
        return () if judged is None else tuple(self._objections(*judged))

    def _objections(self, judgement: FilterPass, at: int) -> Iterator[Objection]:
        counted = True
        for predicate, failures in judgement.findings:
            code = self._code(failures, at)
            if code:
                yield self._objection(predicate, failures, code, counted)
                counted &= judgement.check_all
            elif failures.errors is not None and failures.errors[at]:
                yield Objection(predicate.name, (failures.texts[int(failures.errors[at]) - 1],), False, counted)
                counted = False

    def _code(self, failures: Any, at: int) -> int:
        codes = self._codes.get(id(failures))
        if codes is None:
            codes = self._codes[id(failures)] = failures.codes.tolist()
        return codes[at]

    def _objection(self, predicate: Predicate, failures: Any, code: int, counted: bool) -> Objection:
        key = id(failures), code, counted
        found = self._known.get(key)
        if found is None:
            reasons = failures.sequences[code]
            texts, evictable = tuple(reason.text for reason in reasons), all(reason.resolvable for reason in reasons)
            found = self._known[key] = Objection(predicate.name, texts, evictable, counted)
        return found

    def _shortages(self, row: int, reasons: Sequence[str]) -> Iterator[NodeShortage]:
        names = [name for name in map(shortage_of, reasons) if name is not None]
        judged = self.judged(row) if names else None
        if judged is None:
            return
        for name in names:
            asked, free, allocatable = self.room(name, judged[0].nodes, judged[1])
            yield NodeShortage(name, asked, free, has_none=not allocatable)

    def room(self, name: str, nodes: Batch, at: int) -> tuple[int, int, int]:
        """Of the resource *name*: how much the pod asks for, how much is free on node *at* of a batch, and how much it has in all."""
        if name == "pods":
            places = int(nodes.max_pods[at])
            return 1, places - int(nodes.pod_count[at]), places
        allocatable = int(nodes.allocatable(name)[at])
        return self.cycle.template.requests.get(name, 0), allocatable - int(nodes.requested(name)[at]), allocatable
