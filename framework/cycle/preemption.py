"""Preemption in the framework: the pods that would have to leave for a pod that fits nowhere.

Upstream: pkg/scheduler/framework/preemption/preemption.go, plugins/defaultpreemption.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from ...core.decision import FitError, Preemption, Verdict
from ...core.preemption import (
    ArrayTrial,
    Candidates,
    Coming,
    OverlayTrial,
    Protection,
    Trial,
    chosen,
    coming_pods,
    counted_down,
    counted_to_the_first,
    dry_run,
    exhausted,
    is_plain,
)
from ...core.release import FrameworkCells
from ...exceptions import ExtenderError
from ..config.args import DefaultPreemptionArgs
from ..config.fielderrors import aggregated
from ..plugin import NO_ROWS, FrameworkCycle, Ints, Mask, PostFilterContext, PostFilterResult, Rows
from .feasible import Diagnosis

_PROTECTIONS = {
    "counted down": counted_down,
    "counted to the first": counted_to_the_first,
    "used up": exhausted,
}
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
NEVER = "not eligible due to preemptionPolicy=Never."
LEAVING = "not eligible due to a terminating pod on the nominated node."


def ineligible(cycle: FrameworkCycle, unresolvable: Mask) -> str | None:
    """The reason why the pod may not preempt; None where it may. *unresolvable*: bool[rows], where no removal
    helps."""
    pod = cycle.pod
    if refuses_to_preempt(cycle):
        return NEVER
    name = pod.status.nominated_node_name
    row = cycle.table.row_of.get(name)
    cells = cycle.release.framework
    if not name or (row is not None and unresolvable[row] and cells.unresolvable_ends_wait):
        return None
    by_condition = cells.waits_for_preempted_alone or (
        not cells.waits_for_any_leaving and cycle.enabled("PodDisruptionConditions")
    )
    # Upstream: the node is looked up by name, so that it may be one that the list of nodes misses.
    for entry in cycle.table.unlisted.get(name, ()) if row is None else cycle.table.pods[row]:
        if entry.priority < pod.priority and entry.pod.is_terminating:
            # Upstream: the first condition of the type counts.
            condition = next((c for c in entry.pod.status.conditions if c.type == "DisruptionTarget"), None)
            status_and_reason = None if condition is None else (condition.status, condition.reason)
            if not by_condition or status_and_reason == ("True", "PreemptionByScheduler"):
                return LEAVING
    return None


def refuses_to_preempt(cycle: FrameworkCycle) -> bool:
    """Whether the pod's policy is never to preempt, where the release reads that."""
    reads = not cycle.release.framework.never_needs_gate or cycle.enabled("NonPreemptingPriority")
    return reads and cycle.pod.spec.preemption_policy == "Never"


def protection_of(cycle: FrameworkCycle) -> Protection:
    """The protection by disruption budgets, as the release counts them."""
    cells = cycle.release.framework
    return _PROTECTIONS[cells.budgets](cycle.listings.budgets, exempts=cells.exempts_disrupted)


def in_vain(
    cycle: FrameworkCycle, tried_count: int, message: str = ""
) -> tuple[str | None, str, bool, Preemption]:
    """The fields of the result of an attempt without a candidate; *tried_count*: the number of nodes
    tried."""
    cells = cycle.release.framework
    if tried_count and cells.nomination_outlasts_tries:
        return None, message, False, Preemption()
    cleared = [cycle.pod] if cells.clears_itself else []
    return "", message, False, Preemption(drops_own=True, clear_nominations=cleared)


@attrs.define(eq=False, repr=False)
class Evaluator:
    """One attempt at preemption. With shortlists it starts at the first node and ends early, as upstream
    does; else each node is tried."""

    cycle: FrameworkCycle
    context: PostFilterContext
    args: DefaultPreemptionArgs = attrs.Factory(DefaultPreemptionArgs)
    reasons: dict[str, int] = attrs.Factory(dict)
    """Reason against nodes in the dry run -> the number of nodes."""
    errors: list[str] = attrs.Factory(list)
    _coming: Coming | None = None
    """The nominated pods, where sums alone decide whether the pod fits; else None."""
    _reads_outcomes: bool = False
    """Whether outcomes of earlier attempts may be read."""
    _lacks_reasons: bool = False
    """Whether some were read, so that ``reasons`` and ``errors`` are incomplete."""
    _surplus: int = 0
    """The number of candidates beyond those on the shortlist."""

    def run(self, diagnosis: Diagnosis) -> PostFilterResult:
        """Plan the preemption; nothing is changed."""
        if not self.cycle.table.ghosts:
            return self._run(diagnosis, NO_ROWS)
        with self.cycle.table.with_ghosts() as ghosts:
            result = self._run(diagnosis, ghosts)
            if result.plan is not None:
                result.plan.candidates  # noqa: B018  # read while the rows of ghosts are there
            return result

    def _run(self, diagnosis: Diagnosis, ghosts: Rows) -> PostFilterResult:
        unresolvable = diagnosis.unresolvable_rows(self.cycle.table.size)
        refusal = ineligible(self.cycle, unresolvable)
        if refusal is not None:
            return PostFilterResult(message=refusal, plan=Preemption())
        order = diagnosis.order
        rows = np.concatenate([diagnosis.one_row_per_name(order[~unresolvable[order]]), ghosts])
        if len(rows):
            coming = coming_pods(self.cycle, self.context.nominations)
            self._coming = coming if is_plain(self.cycle, coming) else None
            is_kept = self._coming is not None and self.cycle.claim_users is None and not len(ghosts)
            self._reads_outcomes = is_kept and not any(map(self._misses_pre_filter, self.context.pre_filters))
            candidates = self._candidates(rows)
            if not len(candidates) and self._lacks_reasons:
                # Reasons matter only now, and outcomes of earlier attempts have none.
                self.reasons = {}
                self.errors = []
                self._lacks_reasons = False
                self._reads_outcomes = False
                candidates = self._candidates(rows)
            if len(candidates):
                try:
                    plan = chosen(self.cycle, self.context.nominations, candidates, self.context.extenders)
                except ExtenderError as error:
                    return PostFilterResult.failed(str(error))
                return PostFilterResult(
                    plan.node, "" if plan.node is not None else "no candidate node for preemption", plan=plan
                )
        if self.errors and self._cells.dry_run_errs:
            return PostFilterResult.failed(aggregated(sorted(self.errors)))
        self._count(NOT_HELPFUL, len(diagnosis.order) - len(rows))
        message = str(FitError(diagnosis.node_count - self._surplus, self.reasons))
        return PostFilterResult(*in_vain(self.cycle, len(rows), message))

    @property
    def _cells(self) -> FrameworkCells:
        return self.cycle.release.framework

    def _count(self, reason: str, times: int) -> None:
        if times:
            self.reasons[reason] = self.reasons.get(reason, 0) + times

    # --- the dry run ----------------------------------------------------------------------------------------

    def _candidates(self, rows: Rows) -> Candidates:
        """The candidates among *rows*, in their order."""
        if not (self.context.shortlists and self._cells.samples_candidates):
            return self._dry_run(rows)
        share = len(rows) * self.args.min_candidate_nodes_percentage // 100
        enough = min(max(share, self.args.min_candidate_nodes_absolute), len(rows))
        candidates = Candidates.none()
        is_kept = np.zeros(0, np.bool_)
        step = max(enough, 1)
        for at in range(0, len(rows), step):
            candidates = candidates.followed_by(self._dry_run(rows[at : at + step]))
            is_kept, is_enough = shortlisted(candidates.violations, enough)
            if is_enough:
                break
        self._surplus = len(candidates) - int(is_kept.sum())
        return candidates.some(np.flatnonzero(is_kept))

    def _dry_run(self, rows: Rows) -> Candidates:
        """The candidates of *rows*, in their order: nodes where the pod would fit without all pods of lower
        priority."""
        kept_candidates = self._kept_candidates(rows) if self._reads_outcomes else None
        if kept_candidates is not None:
            return kept_candidates
        potential = self.context.layout.lower_than(self.cycle.pod.priority, rows)
        occupied = np.arange(len(rows)) if self._cells.tries_idle_nodes else np.flatnonzero(potential.any)
        self._count(NO_VICTIMS, len(rows) - len(occupied))
        # A plugin without its PreFilter cannot follow the pods that leave: every such node then has its
        # error.
        unprepared = next(
            filter(self._misses_pre_filter, self.context.pre_filters if len(occupied) else ()), None
        )
        if unprepared is not None:
            text = f'running RemovePod on PreFilter plugin "{unprepared.name}": {unprepared.follows_pods}'
            self.errors += [text] * len(occupied)
        if unprepared is not None or not len(occupied):
            return Candidates.none()
        occupied_potential = potential.some(occupied)
        trial: Trial
        if self._coming is not None:
            trial = ArrayTrial.of(self.cycle, self._coming, occupied_potential)
        else:
            trial = OverlayTrial.of(self.cycle, self.context.nominations, occupied_potential)
        candidates, verdict = dry_run(trial, protection_of(self.cycle))
        if self.cycle.claim_users is not None:
            self.cycle.claim_users.tried(
                self.cycle, self.context.nominations, rows[occupied].tolist(), candidates
            )
        self._note(verdict, np.ones(len(occupied), np.bool_))
        return self._with_victims(candidates)

    def _kept_candidates(self, rows: Rows) -> Candidates | None:
        """As :meth:`_dry_run`, with outcomes of earlier dry runs; None where no pod has a lower priority."""
        assert self._coming is not None
        result = self.context.runs.outcomes(self.cycle, self._coming, rows, protection_of(self.cycle))
        if result is None:
            return None
        outcomes, verdict = result
        occupied = outcomes.occupied[rows]
        if verdict is None:
            self._lacks_reasons = True
        else:
            self._count(NO_VICTIMS, len(rows) - int(occupied.sum()))
            self._note(verdict, occupied)
        return self._with_victims(
            outcomes.candidates(self.context.layout, rows if self._cells.tries_idle_nodes else rows[occupied])
        )

    def _misses_pre_filter(self, plugin: Any) -> bool:
        return (
            plugin.follows_pods is not None
            and plugin.name not in self.cycle.pre_filtered | self.cycle.skipped
        )

    def _note(self, verdict: Verdict, counted_nodes: Mask) -> None:
        """Note the reasons against those *counted_nodes* that fail even without any pod of lower priority."""
        failed = np.flatnonzero(~verdict.fits & counted_nodes)
        for text, times in verdict.tally(failed).items():
            self._count(text, times)
        if verdict.has_errors:
            self.errors += [error for i in failed.tolist() if (error := verdict.error(i)) is not None]

    def _with_victims(self, candidates: Candidates) -> Candidates:
        if not self._cells.needs_victims:
            return candidates
        for i in np.flatnonzero(~candidates.has_victims).tolist():
            self.errors.append(f'expected at least one victim pod on node "{candidates.name(i)}"')
        return candidates.some(np.flatnonzero(candidates.has_victims))


def shortlisted(violations: Ints, number: int) -> tuple[Mask, bool]:
    """The candidates that upstream keeps, bool[k], and whether it then stops. *violations*: of each
    candidate, in the order found.

    It keeps *number* candidates that violate a budget and as many that do not. It stops when it has *number*
    together, if one of them violates none.
    """
    clean = violations == 0
    clean_so_far = np.cumsum(clean)
    others_so_far = np.cumsum(~clean)
    clean_kept = np.minimum(clean_so_far, number)
    is_enough = (clean_kept > 0) & (clean_kept + np.minimum(others_so_far, number) >= number)
    is_kept = np.where(clean, clean_so_far, others_so_far) <= number
    if is_enough.any():
        is_kept[int(is_enough.argmax()) + 1 :] = False
    return is_kept, bool(is_enough.any())
