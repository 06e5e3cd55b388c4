"""Which pods would have to go so that a pod that fits nowhere fits somewhere, as the releases of predicates
do it.

Upstream: Preempt in pkg/scheduler/core/generic_scheduler.go.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

import attrs
import numpy as np

from ...api.objects import Pod
from ..arrays.types import Rows
from ..cluster.nominations import Nominations
from ..cycle import Cycle
from ..decision.extender import Extender, preempt_with_extenders
from ..decision.nodesearch import SearchResult
from ..decision.preemptionplan import Preemption, Victims
from .budgets import Protection, exhausted
from .dryrun import ArrayTrial, OverlayTrial, Trial, coming_pods, dry_run, is_plain, reprieve
from .layout import PotentialVictims
from .outcomes import DryRuns
from .victimchoice import Candidates, pick_one_node


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
    found: SearchResult,
    nodes: Rows,
    runs: DryRuns,
    extenders: Sequence[Extender],
    *,
    asks_later: bool = False,
) -> Preemption:
    """Work out who would have to leave for the pod of *cycle*; *nodes*: the rows of the nodes in ascending
    order of name.

    Nothing is changed: the answer is a plan. With *asks_later* extenders are not asked yet:
    :attr:`Preemption.later` does that. Raises the error of an extender that may not be ignored.
    """
    if not is_eligible(cycle):
        return Preemption()
    # Those of *nodes* on which no unresolvable reason was found; nodes that were not visited count.
    unresolvable = np.zeros(cycle.table.size, np.bool_)
    failed = found.failed
    unresolvable[failed] = found.verdict.unresolvable()[failed]
    rows = nodes[~unresolvable[nodes]]
    if not len(rows):
        return Preemption(clear_nominations=[cycle.pod])
    return chosen(
        cycle,
        nominations,
        _candidates(cycle, nominations, found, rows, runs),
        extenders,
        asks_later=asks_later,
    )


def _candidates(
    cycle: Cycle, nominations: Nominations, found: SearchResult, rows: Rows, runs: DryRuns
) -> Candidates:
    """Those of *rows* where the pod would fit without all lower priorities."""
    coming = coming_pods(cycle, nominations)
    protection = exhausted(cycle.listings.budgets)
    if not is_plain(cycle, coming):
        trial = OverlayTrial.of(
            cycle, nominations, runs.layout.lower_than(cycle.pod.priority, rows), incoming=cycle.pod
        )
        return dry_run(trial, protection)[0]
    # A row without a pod of lower priority stays as it was when it failed, if the search came to it.
    others = np.ones(cycle.table.size, np.bool_)
    others[found.failed] = False
    known = runs.outcomes(cycle, coming, rows, protection)
    if known is not None:
        outcomes, _ = known
        return outcomes.candidates(runs.layout, rows[outcomes.occupied[rows] | others[rows]])
    rows = rows[others[rows]]
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
    """The plan for that of the *candidates* that *extenders* leave whose victims matter least; without a node
    if none is left."""
    if not len(candidates):
        return Preemption()
    if not any(extender.supports_preemption and extender.is_interested(cycle.pod) for extender in extenders):
        best = candidates.pick()
        return _plan(
            cycle, nominations, candidates.name(best), candidates.victims(best), candidates.spelled_out
        )
    ask = partial(_asked, cycle, nominations, candidates.spelled_out(), extenders)
    return Preemption(later=ask) if asks_later else ask(cycle.pod)


def _asked(
    cycle: Cycle,
    nominations: Nominations,
    candidates: dict[str, Victims],
    extenders: Sequence[Extender],
    pod: Pod,
) -> Preemption:
    """The plan after *extenders* were asked; they are sent *pod*, which is that of the cycle in its latest
    state."""
    left = preempt_with_extenders(extenders, cycle, candidates, pod)
    if not left:
        return Preemption()
    name = pick_one_node(left, cycle.release.preemption.by_start_time)
    return _plan(cycle, nominations, name, left[name], lambda: left)


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
    given: Collection[str],
    incoming: Pod | None = None,
) -> dict[str, Victims]:
    """Node -> its victims: the pods with the UIDs *given*, and the fewest others that have to leave as well.

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
    uids = frozenset(given)
    leaving = np.zeros_like(potential.there)
    for place, i in np.argwhere(potential.there).tolist() if uids else ():
        leaving[place, i] = potential.entry(place, i).pod.uid in uids
    others = attrs.evolve(potential, there=potential.there & ~leaving)
    return Candidates.of(potential, reprieve(trial.some(fitting, others)) | leaving).spelled_out()
