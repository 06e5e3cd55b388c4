"""Which pods would have to go so that a pod that fits nowhere fits somewhere.

Upstream: Preempt, selectVictimsOnNode and pickOneNodeForPreemption in pkg/scheduler/core/generic_scheduler.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...api.meaning.labels import SelectorError, selector_matches
from ...api.objects import Pod, PodDisruptionBudget
from ..arrays.batch import Rows
from ..arrays.overlay import Overlay
from ..cluster.nominations import Nominations
from ..cycle import Cycle
from ..decision.extender import Extender, preempt_with_extenders
from ..decision.plan import Preemption, Victims
from ..decision.search import Search, judge_twice, run_effects
from ..pods.template import Entry
from .dryrun import Trial, dry_run, is_plain
from .layout import NEVER_STARTED, PodLayout, importance


def is_eligible(cycle: Cycle) -> bool:
    """Whether the pod may preempt: its policy allows it, and no victim of an earlier attempt is still leaving its nominated node."""
    pod, cells = cycle.pod, cycle.release.preemption
    if cells.never_policy and cycle.enabled("NonPreemptingPriority") and pod.spec.preemption_policy == "Never":
        return False
    row = cycle.table.row_of.get(pod.status.nominated_node_name)
    if row is None or not pod.status.nominated_node_name:
        return True
    return not any(entry.pod.is_terminating and entry.priority < pod.priority for entry in cycle.table.pods[row])


def preempt(
    cycle: Cycle, nominations: Nominations, found: Search, nodes: Rows, layout: PodLayout, extenders: Sequence[Extender]
) -> Preemption:
    """Work out who would have to leave for the pod of *cycle*; *nodes*: the rows of the nodes in ascending order of name.

    Nothing is changed: the answer is a plan.
    """
    if not is_eligible(cycle):
        return Preemption()
    rows = _where_it_might_help(cycle, found, nodes)
    if not len(rows):
        return Preemption(clear_nominations=[cycle.pod])
    if is_plain(cycle, nominations):
        rows = _with_a_chance(cycle, found, rows, layout)
        trial = dry_run(cycle, nominations, rows, layout, lambda template: is_protected(template.pod, cycle))
        if not extenders:
            return _plan_of(cycle, nominations, trial)
        candidates = _spelled_out(trial)
    else:
        candidates = select_victims(cycle, nominations, rows)
    candidates = preempt_with_extenders(extenders, cycle.pod, candidates)
    if not candidates:
        return Preemption()
    name = pick_one_node(candidates, cycle.release.preemption.by_start_time)
    lower = [pod for pod in nominations.on(name) if pod.priority < cycle.pod.priority]
    return Preemption(name, candidates[name].pods, lower, lambda: candidates)


def _with_a_chance(cycle: Cycle, found: Search, rows: Rows, layout: PodLayout) -> Rows:
    """Those of *rows* that hold a pod of lower priority, or that the search did not judge: any other stays as it was when it failed."""
    judged = np.zeros(cycle.table.size, np.bool_)
    judged[found.failed] = True
    if min(cycle.table.priorities, default=cycle.pod.priority) >= cycle.pod.priority:
        return rows[~judged[rows]]
    layout.follow(rows)
    return rows[~judged[rows] | (layout.priority[:, rows] < cycle.pod.priority).any(axis=0)]


def _plan_of(cycle: Cycle, nominations: Nominations, trial: Trial) -> Preemption:
    if not trial.names:
        return Preemption()
    index = trial.pick(cycle.release.preemption.by_start_time)
    name, victims = trial.names[index], _victims(trial, index)
    lower = [pod for pod in nominations.on(name) if pod.priority < cycle.pod.priority]
    return Preemption(name, victims.pods, lower, lambda: _spelled_out(trial))


def _spelled_out(trial: Trial) -> dict[str, Victims]:
    return {name: _victims(trial, i) for i, name in enumerate(trial.names)}


def _victims(trial: Trial, index: int) -> Victims:
    entries, violations = trial.victims_of(index)
    return Victims([entry.pod for entry in entries], violations)


def _where_it_might_help(cycle: Cycle, found: Search, nodes: Rows) -> Rows:
    """Those of *nodes* on which no unresolvable reason was found; nodes that were not visited count."""
    hopeless = np.zeros(cycle.table.size, np.bool_)
    failed = found.failed
    hopeless[failed] = found.verdict.unresolvable()[failed]
    return nodes[~hopeless[nodes]]


def select_victims(cycle: Cycle, nominations: Nominations, rows: Rows) -> dict[str, Victims]:
    """For each of *rows* on which the pod would fit once all lower priorities are gone: the fewest that have to go.

    All rows in lockstep: step j puts back the j-th potential victim of each.
    """
    trial = Overlay.of(cycle.table, rows, cycle.pod)
    potential = [_potential_victims(cycle, trial.pods(i)) for i in range(trial.n)]
    for i, entries in enumerate(potential):
        for entry in entries:
            trial.remove(entry, i)
    alive = _fitting(cycle, nominations, trial)
    trial = trial.some(alive)
    names = [trial.name(i) for i in range(trial.n)]
    ordered = [_reprieve_order(cycle, potential[i]) for i in alive.tolist()]
    victims = [Victims([], 0) for _ in names]
    for step in range(max((len(entries) for entries, _ in ordered), default=0)):
        at = [i for i, (entries, _) in enumerate(ordered) if step < len(entries)]
        for i in at:
            trial.add(ordered[i][0][step], i)
        kept = set(_fitting(cycle, nominations, trial, np.array(at, np.intp)).tolist())
        for i in at:
            if i not in kept:
                entries, protected = ordered[i]
                trial.remove(entries[step], i)
                victims[i].pods.append(entries[step].pod)
                victims[i].violations += step < protected
    return dict(zip(names, victims, strict=True))


def _fitting(cycle: Cycle, nominations: Nominations, trial: Overlay, at: Rows | None = None) -> Rows:
    """The nodes of *trial* (of *at*) that the pod fits on; the dry run always stops at the first failing predicate."""
    part = trial if at is None or len(at) == trial.n else trial.some(at)
    verdict = judge_twice(cycle, part, nominations, check_all=False)
    run_effects(cycle, verdict, np.arange(part.n))
    fits = np.flatnonzero(verdict.fits)
    return fits if at is None else at[fits]


def _potential_victims(cycle: Cycle, entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.priority < cycle.pod.priority]


def _reprieve_order(cycle: Cycle, entries: list[Entry]) -> tuple[list[Entry], int]:
    """The order in which pods are put back, and how many of the first are protected by a budget."""
    ordered = sorted(entries, key=importance(cycle.release.preemption.by_start_time))
    protected = [entry for entry in ordered if is_protected(entry.pod, cycle)]
    chosen = {id(entry) for entry in protected}
    return protected + [entry for entry in ordered if id(entry) not in chosen], len(protected)


def is_protected(pod: Pod, cycle: Cycle) -> bool:
    """Whether evicting *pod* violates a budget: one that selects it has no disruption left."""
    budgets = cycle.listings.budgets.within(pod.namespace)
    return any(budget.disruptions_allowed <= 0 and selects(budget, pod) for budget in budgets) if pod.labels else False


def selects(budget: PodDisruptionBudget, pod: Pod) -> bool:
    """Whether the labels of *pod* match the selector of *budget*; none, an empty or an invalid one matches no pod."""
    if budget.selector is None or budget.selector.is_empty:
        return False
    try:
        return selector_matches(budget.selector, pod.labels)
    except SelectorError:
        return False


def pick_one_node(candidates: dict[str, Victims], by_start_time: bool) -> str:
    """The candidate whose victims matter least; *candidates* are looked at in their order, and the first of equals wins."""
    for name, victims in candidates.items():
        if not victims.pods:
            return name
    names = list(candidates)
    criteria: list[Callable[[Victims], int]] = [
        lambda victims: victims.violations,
        # Upstream: the first victim of the list, which with violated budgets need not have the highest priority.
        lambda victims: victims.pods[0].priority,
        lambda victims: sum(pod.priority + 2**31 for pod in victims.pods),
        lambda victims: len(victims.pods),
    ]
    for criterion in criteria:
        least = min(criterion(candidates[name]) for name in names)
        names = [name for name in names if criterion(candidates[name]) == least]
        if len(names) == 1:
            return names[0]
    return max(names, key=lambda name: _earliest_start(candidates[name])) if by_start_time else names[0]


def _earliest_start(victims: Victims) -> str:
    """When the first of the most important victims started; RFC 3339 texts in UTC compare as times."""
    highest = max(pod.priority for pod in victims.pods)
    return min(pod.status.start_time or NEVER_STARTED for pod in victims.pods if pod.priority == highest)

