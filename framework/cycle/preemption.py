"""Which pods would have to go so that a pod that fits nowhere fits somewhere.

Upstream: pkg/scheduler/framework/preemption/preemption.go, plugins/defaultpreemption.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from ...api.objects import Pod, PodDisruptionBudget
from ...core.arrays.batch import Rows
from ...core.arrays.overlay import Overlay
from ...core.cluster.nominations import Nominations
from ...core.decision.extender import Extender, preempt_with_extenders
from ...core.decision.plan import Preemption, Victims
from ...core.decision.search import judge_twice
from ...core.decision.verdict import Verdict
from ...core.pods.notes import Slot
from ...core.pods.template import Entry
from ...core.preemption.layout import importance
from ...core.preemption.select import pick_one_node, selects
from ...exceptions import ExtenderError
from ..config.args import DefaultPreemptionArgs
from ..config.fielderrors import aggregated
from ..plugin import FrameworkCycle
from ..profile import Profile
from .diagnosis import Diagnosis, fit_error, reasons_text

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
NEVER = "not eligible due to preemptionPolicy=Never."
LEAVING = "not eligible due to a terminating pod on the nominated node."
POST_FILTER: Slot[tuple[Profile, Nominations, bool, Sequence[Extender]]] = Slot("post_filter")
"""What a PostFilter plugin needs besides the cycle: profile, nominations, whether searches end early, extenders."""


@attrs.define(eq=False)
class PostFilterResult:
    """What a PostFilter plugin came to. ``nominated``: the node that the pod is to wait for, "" for none any more, None: as before."""

    nominated: str | None = None
    message: str = ""
    """Why there is no node to wait for; empty on success."""
    is_error: bool = False
    plan: Preemption | None = None


def ineligible(cycle: FrameworkCycle, hopeless: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str | None:
    """Why the pod may not preempt; None where it may. *hopeless*: bool[rows], where no removal helps."""
    pod = cycle.pod
    if pod.spec.preemption_policy == "Never":
        return NEVER
    row = cycle.table.row_of.get(pod.status.nominated_node_name)
    if row is None or not pod.status.nominated_node_name or hopeless[row]:
        return None
    by_condition = cycle.enabled("PodDisruptionConditions")
    leaving = (entry.priority < pod.priority and _is_leaving(entry.pod, by_condition) for entry in cycle.table.pods[row])
    return LEAVING if any(leaving) else None


def _is_leaving(pod: Pod, by_condition: bool) -> bool:
    """Whether *pod* is being deleted, for a preemption where conditions tell."""
    if not pod.is_terminating or not by_condition:
        return pod.is_terminating
    # Upstream: the first condition of the type counts.
    first = next((c for c in pod.status.conditions if c.type == "DisruptionTarget"), None)
    return first is not None and first.status == "True" and first.reason == "PreemptionByScheduler"


@attrs.define(eq=False)
class Evaluator:
    """One attempt at preemption. With *shortlists* it ends early as upstream does, starting at the first node; else each is tried."""

    cycle: FrameworkCycle
    profile: Profile
    nominations: Nominations
    extenders: Sequence[Extender] = ()
    args: DefaultPreemptionArgs = attrs.field(factory=DefaultPreemptionArgs)
    shortlists: bool = True
    reasons: dict[str, int] = attrs.field(factory=dict)
    """What stood against nodes in the dry run, and how often."""
    errors: list[str] = attrs.field(factory=list)

    def run(self, diagnosis: Diagnosis) -> PostFilterResult:
        """Work out who would have to leave; nothing is changed."""
        hopeless = diagnosis.unresolvable_rows(self.cycle.table.size)
        refused = ineligible(self.cycle, hopeless)
        if refused is not None:
            return PostFilterResult(message=refused, plan=Preemption())
        order = diagnosis.order
        rows = order[~hopeless[order]]
        candidates = self._candidates(rows) if len(rows) else {}
        if not candidates:
            return self._none(diagnosis, len(order) - len(rows))
        try:
            candidates = preempt_with_extenders(self.extenders, self.cycle.pod, dict(sorted(candidates.items())))
        except ExtenderError as error:
            return PostFilterResult(message=str(error), is_error=True, plan=Preemption(error=str(error)))
        if not candidates:
            return PostFilterResult(message="no candidate node for preemption", plan=Preemption())
        return self._chosen(candidates)

    def _chosen(self, candidates: dict[str, Victims]) -> PostFilterResult:
        name = pick_one_node(candidates, by_start_time=True)
        lower = [pod for pod in self.nominations.on(name) if pod.priority < self.cycle.pod.priority]
        return PostFilterResult(name, plan=Preemption(name, candidates[name].pods, lower, lambda: candidates))

    def _none(self, diagnosis: Diagnosis, hopeless: int) -> PostFilterResult:
        if self.errors:
            text = aggregated(sorted(self.errors))
            return PostFilterResult(message=text, is_error=True, plan=Preemption(error=text))
        if hopeless:
            self.reasons[NOT_HELPFUL] = self.reasons.get(NOT_HELPFUL, 0) + hopeless
        message = fit_error(diagnosis.node_count, reasons_text(self.reasons))
        return PostFilterResult("", message, plan=Preemption(drops_own=True))

    # --- the dry run ------------------------------------------------------------------------------------------------

    def _candidates(self, rows: Rows) -> dict[str, Victims]:
        wanted = self._wanted(len(rows))
        if not self.shortlists or wanted == len(rows):
            return self._dry_run(rows)
        found: dict[str, Victims] = {}
        for at in range(0, len(rows), wanted):
            found |= self._dry_run(rows[at : at + wanted])
            if len(found) >= wanted and any(not victims.violations for victims in found.values()):
                return self._shortlist(found, wanted)
        return found

    def _wanted(self, nodes: int) -> int:
        share = nodes * self.args.min_candidate_nodes_percentage // 100
        return min(max(share, self.args.min_candidate_nodes_absolute), nodes)

    @staticmethod
    def _shortlist(found: dict[str, Victims], wanted: int) -> dict[str, Victims]:
        """The candidates up to the one with which the search would have ended."""
        kept: dict[str, Victims] = {}
        for name, victims in found.items():
            kept[name] = victims
            if len(kept) >= wanted and any(not victims.violations for victims in kept.values()):
                break
        return kept

    def _dry_run(self, rows: Rows) -> dict[str, Victims]:
        """The fewest victims on each of *rows* where the pod would fit without all lower priorities, in order of *rows*.

        All rows in lockstep: step j puts back the j-th potential victim of each.
        """
        trial = Overlay.of(self.cycle.table, rows)
        potential = [[e for e in trial.pods(i) if e.priority < self.cycle.pod.priority] for i in range(trial.n)]
        occupied = np.array([i for i, entries in enumerate(potential) if entries], np.intp)
        self._count(NO_VICTIMS, trial.n - len(occupied))
        if not len(occupied) or self._cannot_follow(len(occupied)):
            return {}
        trial = trial.some(occupied)
        potential = [potential[i] for i in occupied.tolist()]
        for i, entries in enumerate(potential):
            for entry in entries:
                trial.remove(entry, i)
        alive = self._alive(trial)
        return self._reprieve(trial.some(alive), [self._reprieve_order(potential[i]) for i in alive.tolist()])

    def _count(self, reason: str, times: int) -> None:
        if times:
            self.reasons[reason] = self.reasons.get(reason, 0) + times

    def _cannot_follow(self, nodes: int) -> bool:
        """Whether a plugin whose PreFilter did not run would have to follow the pods that leave: then every such node errs."""
        for plugin in self.profile.points.pre_filter:
            if plugin.follows_pods is not None and plugin.name not in self.cycle.pre_filtered | self.cycle.skipped:
                self.errors += [f'running RemovePod on PreFilter plugin "{plugin.name}": {plugin.follows_pods}'] * nodes
                return True
        return False

    def _alive(self, trial: Overlay) -> Rows:
        """The nodes where the pod fits once all lower priorities are gone; what stands against the others is noted."""
        verdict = judge_twice(self.cycle, trial, self.nominations, check_all=False)
        failed = np.flatnonzero(~verdict.fits)
        for text, times in verdict.tally(failed).items():
            self._count(text, times)
        if verdict.has_errors:
            self.errors += [error for i in failed.tolist() if (error := verdict.error(i)) is not None]
        return np.flatnonzero(verdict.fits)

    def _reprieve(self, trial: Overlay, ordered: list[tuple[list[Entry], int]]) -> dict[str, Victims]:
        victims = [Victims([], 0) for _ in ordered]
        for step in range(max((len(entries) for entries, _ in ordered), default=0)):
            at = [i for i, (entries, _) in enumerate(ordered) if step < len(entries)]
            for i in at:
                trial.add(ordered[i][0][step], i)
            fits = self._fits(trial, np.array(at, np.intp))
            for i in at:
                if i not in fits:
                    entries, protected = ordered[i]
                    trial.remove(entries[step], i)
                    victims[i].pods.append(entries[step].pod)
                    victims[i].violations += step < protected
        named = {trial.name(i): found for i, found in enumerate(victims)}
        for name, found in named.items():
            if not found.pods:
                self.errors.append(f'expected at least one victim pod on node "{name}"')
        return {name: found for name, found in named.items() if found.pods}

    def _fits(self, trial: Overlay, at: Rows) -> set[int]:
        # All nodes are judged at once: to copy some of them would mean to follow all that happened to them once more.
        verdict: Verdict = judge_twice(self.cycle, trial, self.nominations, check_all=False)
        return set(at[verdict.fits[at]].tolist())

    def _reprieve_order(self, entries: list[Entry]) -> tuple[list[Entry], int]:
        """The order in which pods are put back, and how many of the first are protected by a budget."""
        ordered = sorted(entries, key=importance(by_start_time=True))
        protected = _protected(ordered, list(self.cycle.listings.budgets))
        chosen = {id(entry) for entry in protected}
        return protected + [entry for entry in ordered if id(entry) not in chosen], len(protected)


def _protected(entries: Sequence[Entry], budgets: Sequence[PodDisruptionBudget]) -> list[Entry]:
    """The pods whose eviction violates a budget, if all of *entries* go in this order: each takes one from the allowance."""
    allowed = [budget.disruptions_allowed for budget in budgets]
    found: list[Entry] = []
    for entry in entries:
        violated = False
        for i, budget in enumerate(budgets):
            if _counts(budget, entry.pod):
                allowed[i] -= 1
                violated |= allowed[i] < 0
        if violated:
            found.append(entry)
    return found


def _counts(budget: PodDisruptionBudget, pod: Pod) -> bool:
    if budget.namespace != pod.namespace or not pod.labels or pod.name in budget.disrupted_pods:
        return False
    return selects(budget, pod)
