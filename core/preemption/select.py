"""Preemption in the releases with predicates: the pods that would have to leave for a pod that fits nowhere.

Upstream: Preempt in pkg/scheduler/core/generic_scheduler.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import partial

import numpy as np
from attrs import Factory, define, evolve

from ...api.objects import Pod
from ..arrays import Batch, Mask, Rows
from ..cluster.nominations import Nominations
from ..cycle import Cycle
from ..decision import (
    Extender,
    FilterPass,
    FitError,
    Preemption,
    SearchResult,
    Verdict,
    Victims,
    judge,
    preempt_with_extenders,
)
from ..incremental import verify
from ..incremental.answers import Answer, Unanswerable
from ..incremental.quick import Detour, QuickPath
from ..pods import Template, rebuilt_from
from .dryrun import (
    ArrayTrial,
    DryRuns,
    OverlayTrial,
    Protection,
    Trial,
    coming_pods,
    dry_run,
    exhausted,
    is_plain,
    reprieve,
)
from .victimchoice import Candidates, PotentialVictims, pick_one_node


def is_eligible(cycle: Cycle) -> bool:
    """Whether the pod may preempt: its policy allows it, and no victim of an earlier attempt is still leaving
    its nominated node."""
    pod = cycle.pod
    if (
        cycle.release.preemption.never_policy
        and cycle.enabled("NonPreemptingPriority")
        and pod.spec.preemption_policy == "Never"
    ):
        return False
    row = cycle.table.row_of.get(pod.status.nominated_node_name)
    if row is None or not pod.status.nominated_node_name:
        return True
    return not any(
        entry.pod.is_terminating and entry.priority < pod.priority for entry in cycle.table.pods[row]
    )


def preempt(
    cycle: Cycle,
    nominations: Nominations,
    search: SearchResult,
    nodes: Rows,
    runs: DryRuns,
    extenders: Sequence[Extender],
    *,
    asks_later: bool = False,
) -> Preemption:
    """Plan the preemption for the pod of *cycle*. *nodes*: the rows of the nodes in ascending order of name.

    Nothing is changed: the answer is a plan. With *asks_later* extenders are not asked yet:
    :attr:`Preemption.later` does that. Raises the error of an extender that may not be ignored.
    """
    if not is_eligible(cycle):
        return Preemption()
    # The rows of *nodes* without a known unresolvable reason; nodes that were not visited are among them.
    unresolvable = np.zeros(cycle.table.size, np.bool_)
    failed = search.failed
    unresolvable[failed] = search.verdict.unresolvable()[failed]
    rows = nodes[~unresolvable[nodes]]
    if not len(rows):
        return Preemption(clear_nominations=[cycle.pod])
    candidates = _candidates(cycle, nominations, search, rows, runs)
    return chosen(cycle, nominations, candidates, extenders, asks_later=asks_later)


def _candidates(
    cycle: Cycle, nominations: Nominations, search: SearchResult, rows: Rows, runs: DryRuns
) -> Candidates:
    """The candidates of *rows*, where the pod would fit without any pod of lower priority."""
    coming = coming_pods(cycle, nominations)
    protection = exhausted(cycle.listings.budgets)
    if not is_plain(cycle, coming):
        trial = OverlayTrial.of(
            cycle, nominations, runs.layout.lower_than(cycle.pod.priority, rows), incoming=cycle.pod
        )
        return dry_run(trial, protection)[0]
    # A row without a pod of lower priority would fail as before, if the search visited it.
    unvisited = np.ones(cycle.table.size, np.bool_)
    unvisited[search.failed] = False
    result = runs.outcomes(cycle, coming, rows, protection)
    if result is not None:
        outcomes, _ = result
        return outcomes.candidates(runs.layout, rows[outcomes.occupied[rows] | unvisited[rows]])
    rows = rows[unvisited[rows]]
    if not len(rows):
        return Candidates.none()
    return dry_run(ArrayTrial.of(cycle, coming, PotentialVictims.none(runs.layout, rows)), protection)[0]


def chosen(
    cycle: Cycle,
    nominations: Nominations,
    candidates: Candidates,
    extenders: Sequence[Extender],
    *,
    asks_later: bool = False,
) -> Preemption:
    """The plan for the node whose victims matter least, of the *candidates* that *extenders* leave; without a
    node if they leave none."""
    if not len(candidates):
        return Preemption()
    if not cycle.release.extenders.asked_to_preempt or not any(
        extender.supports_preemption and extender.is_interested(cycle.pod) for extender in extenders
    ):
        best = candidates.pick()
        return _plan(
            cycle, nominations, candidates.name(best), candidates.victims(best), candidates.spelled_out
        )
    ask = partial(_after_extenders, cycle, nominations, candidates.spelled_out(), extenders)
    return Preemption(later=ask) if asks_later else ask(cycle.pod)


def _after_extenders(
    cycle: Cycle,
    nominations: Nominations,
    candidates: dict[str, Victims],
    extenders: Sequence[Extender],
    pod: Pod,
) -> Preemption:
    """The plan after *extenders* were asked; they are sent *pod*, the cycle's pod in its latest state."""
    remaining = preempt_with_extenders(extenders, cycle, candidates, pod)
    if not remaining:
        return Preemption()
    name = pick_one_node(remaining, cycle.release.preemption.by_start_time)
    return _plan(cycle, nominations, name, remaining[name], lambda: remaining)


def _plan(
    cycle: Cycle,
    nominations: Nominations,
    name: str,
    victims: Victims,
    candidates: Callable[[], dict[str, Victims]],
) -> Preemption:
    keeps = cycle.release.framework.leaving_victims_keep_nominations and cycle.enabled(
        "SchedulerAsyncPreemption"
    )
    is_over = keeps and all(pod.is_terminating for pod in victims.pods)
    return Preemption(
        name,
        victims.pods,
        [] if is_over else [pod for pod in nominations.on(name) if pod.priority < cycle.pod.priority],
        candidates,
    )


def victims_beside(
    cycle: Cycle,
    nominations: Nominations,
    potential: PotentialVictims,
    protection: Protection,
    required_uids: Collection[str],
    incoming: Pod | None = None,
) -> dict[str, Victims]:
    """Node -> its victims: the pods with *required_uids*, and the fewest others that have to leave as well.

    Only the rows of *potential* where the pod then fits are in the answer. *incoming*: as for an
    :class:`OverlayTrial`.
    """
    coming = coming_pods(cycle, nominations)
    trial: Trial
    if is_plain(cycle, coming):
        trial = ArrayTrial.of(cycle, coming, potential)
    else:
        trial = OverlayTrial.of(cycle, nominations, potential, incoming)
    fitting = np.flatnonzero(trial.judge().fits)
    potential = potential.some(fitting)
    potential = potential.protecting(protection(potential))
    # Which of the potential victims have one of *uids*: bool[places, k].
    uids = frozenset(required_uids)
    leaving = np.zeros_like(potential.present)
    for place, i in np.argwhere(potential.present).tolist() if uids else ():
        leaving[place, i] = potential.entry(place, i).pod.uid in uids
    optional = evolve(potential, present=potential.present & ~leaving)
    return Candidates.of(potential, reprieve(trial.some(fitting, optional)) | leaving).spelled_out()


# --- Refusals, kept from attempt to attempt -----------------------------------------------------------------
# A pod that fits nowhere is tried again and again, and mostly nothing that its rules read has changed in
# between. Where cached answers decide everything (see quick.Detour), its reasons are counted again only where
# an answer of a rule moved.


MOST_KEPT = 64
"""The most templates whose refusals are kept."""


@define(eq=False, repr=False)
class UnschedulableTemplate:
    """The failures of one template on all rows that a pass visits."""

    answers: Sequence[Answer]
    """The answers of the predicates, in running order."""
    revisions: Sequence[int]
    """The revisions of the answers that are counted."""
    visited: Mask
    """bool[rows]"""
    order_revision: Hashable
    nodes: int
    """The number of nodes that a pass visits."""
    tally: dict[str, int]
    """Reason -> the number of nodes that it rejects."""
    unresolvable: int
    """The number of nodes with a reason that removing pods cannot resolve."""
    predicates: Counter[str]
    """Predicate -> the number of nodes that it rejects."""
    errors: dict[Hashable, tuple[FitError, frozenset[str]]] = Factory(dict)
    """The errors made from the counts, each with the names of the rules that rejected nodes."""

    @classmethod
    def of(
        cls, findings: FilterPass, answers: Sequence[Answer], visited: Mask, order_revision: Hashable
    ) -> UnschedulableTemplate:
        """The counts of *findings* on the *visited* rows, on none of which the pod fits."""
        rejected = Counter[str]()
        alive = visited.copy()
        verdict = Verdict(findings, findings.fits)
        for predicate, failures in findings.findings:
            rejected[predicate.name] += int(np.count_nonzero(alive & (failures.codes > 0)))
            if not findings.check_all:
                alive &= failures.passed
        rows = visited.nonzero()[0]
        return cls(
            answers,
            [answer.revision for answer in answers],
            visited,
            order_revision,
            len(rows),
            verdict.tally(rows),
            int(np.count_nonzero(verdict.unresolvable() & visited)),
            rejected,
        )


@rebuilt_from("quick_path")
@define(eq=False, repr=False)
class UnschedulableCache:
    """The refusals of one scheduler by template, those of the latest templates only."""

    quick_path: QuickPath
    kept: dict[Template, UnschedulableTemplate] = Factory(dict)

    def forget(self, in_use: Collection[Template]) -> None:
        """Keep only the refusals of the templates *in_use*."""
        self.kept = {template: refusal for template, refusal in self.kept.items() if template in in_use}

    def again(self, cycle: Cycle) -> UnschedulableTemplate | None:
        """The failures of the pod of *cycle*, if it still fits nowhere; None where nothing is known, or where
        it fits now. Nothing moves."""
        cached = self.kept.pop(cycle.template, None)
        if cached is None:
            return None
        is_readable = self.quick_path.detour(cycle) is None
        if is_readable:
            cached = self._updated(cached, cycle)
            if cached is not None and verify.SWITCH.is_on:
                _check(cached, cycle)
        if cached is not None:
            self.kept[cycle.template] = cached
        return cached if is_readable else None

    def _updated(self, cached: UnschedulableTemplate, cycle: Cycle) -> UnschedulableTemplate | None:
        """The *cached* failures brought up to date; None where the pod fits on some node, or a cycle has to
        find out."""
        path = self.quick_path
        path.order.one_pass()
        if not path.order.is_regular or path.order.revision != cached.order_revision:
            return None
        algorithm = cycle.algorithm
        cycle.algorithm = path.algorithm
        try:
            path.boards.answers.update(cached.answers, cycle)
            if [answer.revision for answer in cached.answers] == cached.revisions:
                return cached
            findings = judge(cycle, Batch.everywhere(cycle.table), algorithm.check_all)
            if (findings.fits & cached.visited).any():
                return None
            return UnschedulableTemplate.of(findings, cached.answers, cached.visited, cached.order_revision)
        except Unanswerable:
            return None
        finally:
            cycle.algorithm = algorithm

    def count(self) -> None:
        """Count a decision made from kept refusals."""
        self.quick_path.detours[Detour.NOTHING_FITS] += 1

    def note(self, cycle: Cycle, search: SearchResult) -> None:
        """Keep the reasons against all nodes that *search* visited for *cycle*, where they can be kept up to
        date."""
        verdict = search.verdict
        path = self.quick_path
        if (
            verdict.has_errors
            or verdict.with_nominated is not None
            or not (
                len(search.visited)
                == len(path.order.one_pass())
                == np.count_nonzero(np.bincount(search.visited))
            )
        ):
            return
        predicates = path.algorithm.predicates_for(cycle.template)
        ran = {predicate.name for predicate in verdict.plain.predicates}
        # Predicates that a cycle leaves out reject no row.
        in_order = [predicate.name for predicate in predicates if predicate.name in ran]
        if (
            in_order != [predicate.name for predicate in verdict.plain.predicates]
            or path.detour(cycle) is not None
        ):
            return
        while len(self.kept) >= MOST_KEPT:
            del self.kept[next(iter(self.kept))]
        algorithm = cycle.algorithm
        cycle.algorithm = path.algorithm
        answers = path.boards.answers
        try:
            kept_answers = [answers.of(predicate, cycle.template) for predicate in predicates]
            answers.update(kept_answers, cycle)
            visited = np.zeros(cycle.table.size, np.bool_)
            visited[search.visited] = True
            self.kept[cycle.template] = UnschedulableTemplate.of(
                verdict.plain, kept_answers, visited, path.order.revision
            )
        except Unanswerable:
            return
        finally:
            cycle.algorithm = algorithm


def _check(cached: UnschedulableTemplate, cycle: Cycle) -> None:
    """Raise StaleError unless the pod fits on no row that a pass visits, for the *cached* reasons."""
    with verify.uncached(cycle) as fresh:
        findings = judge(fresh, Batch.everywhere(cycle.table), cycle.algorithm.check_all)
    fresh_template = UnschedulableTemplate.of(findings, (), cached.visited, cached.order_revision)
    if (cached.visited & findings.fits).any() or (cached.tally, cached.unresolvable) != (
        fresh_template.tally,
        fresh_template.unresolvable,
    ):
        raise verify.StaleError(
            f"the refusal of pod {cycle.pod.key} is stale: kept {cached.tally}, {cached.unresolvable} unresolvable, "
            f"worked out {fresh_template.tally}, {fresh_template.unresolvable} unresolvable"
        )
