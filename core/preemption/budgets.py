"""Whose eviction violates a disruption budget: what the releases mean by that, for all potential victims at
once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ...api.meaning.labels import SelectorError, selector_matches
from ...api.objects import PodDisruptionBudget
from ..arrays.types import Mask
from ..pods.template import Template
from .layout import PotentialVictims

Protection = Callable[[PotentialVictims], Mask]
"""Which of the potential victims, in the order of their importance, a budget protects: bool[places, k]."""


def exhausted(budgets: Iterable[PodDisruptionBudget], *, exempts: bool = False) -> Protection:
    """A budget that has no disruption left protects every pod that it selects.

    In each of these, with *exempts* a pod that a budget lists as disrupted is none of its pods.
    Upstream: filterPodsWithPDBViolation in pkg/scheduler/core/generic_scheduler.go.
    """
    spent = [budget for budget in budgets if budget.disruptions_allowed <= 0]
    return lambda potential: _beyond_allowance(potential, spent, exempts=exempts)


def counted_down(budgets: Iterable[PodDisruptionBudget], *, exempts: bool = True) -> Protection:
    """Each pod of a node takes one from the budgets that select it, the most important first; those that come
    too late are protected.

    Upstream: filterPodsWithPDBViolation in
    pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go.
    """
    known = list(budgets)
    return lambda potential: _beyond_allowance(potential, known, exempts=exempts)


def counted_to_the_first(budgets: Iterable[PodDisruptionBudget], *, exempts: bool = False) -> Protection:
    """Each pod takes one from the budgets that select it, in their order, up to the first that has none left,
    which protects it.

    Upstream: filterPodsWithPDBViolation in pkg/scheduler/core/generic_scheduler.go of 1.18.
    """
    known = list(budgets)
    return lambda potential: _one_by_one(potential, known, exempts=exempts)


def _one_by_one(
    potential: PotentialVictims, budgets: Sequence[PodDisruptionBudget], *, exempts: bool
) -> Mask:
    found = np.zeros_like(potential.there)
    templates = potential.layout.templates
    if not templates:
        return found
    numbers = potential.of_layout(potential.layout.template, np.arange(len(found)))
    mine: list[Mask] = []
    for budget in budgets:
        is_selected = np.array([selects(budget, template) for template in templates], np.bool_)
        mine.append(is_selected[numbers] & potential.there)
        if exempts:
            _leave_out_disrupted(mine[-1], potential, budget)
    left = [np.full(found.shape[1], budget.disruptions_allowed, np.int64) for budget in budgets]
    for place in range(len(found)):
        for selected, allowed in zip(mine, left, strict=True):
            takes = selected[place] & ~found[place]
            found[place] |= takes & (allowed <= 0)
            allowed -= takes & (allowed > 0)
    return found


def _beyond_allowance(
    potential: PotentialVictims, budgets: Sequence[PodDisruptionBudget], *, exempts: bool
) -> Mask:
    there = potential.there
    templates = potential.layout.templates
    found = np.zeros_like(there)
    if not budgets or not there.any():
        return found
    numbers = potential.of_layout(potential.layout.template, np.arange(len(there)))
    present: dict[str, list[int]] = {}
    for number in np.flatnonzero(np.bincount(numbers[there])).tolist():
        present.setdefault(templates[number].namespace, []).append(number)
    for budget in budgets:
        selected = [
            number for number in present.get(budget.namespace, ()) if selects(budget, templates[number])
        ]
        if selected:
            is_selected = np.zeros(len(templates), np.bool_)
            is_selected[selected] = True
            mine = is_selected[numbers] & there
            if exempts:
                _leave_out_disrupted(mine, potential, budget)
            found |= mine & (mine.cumsum(axis=0) > budget.disruptions_allowed)
    return found


def _leave_out_disrupted(mine: Mask, potential: PotentialVictims, budget: PodDisruptionBudget) -> None:
    """Take the pods that *budget* lists as disrupted out of *mine*."""
    names = frozenset(budget.disrupted_pods)
    for place, i in np.argwhere(mine).tolist() if names else ():
        if potential.entry(place, i).pod.name in names:
            mine[place, i] = False


def selects(budget: PodDisruptionBudget, template: Template) -> bool:
    """Whether *budget* is one of pods of *template*; it needs a selector that is valid and not empty, and the
    pods need labels."""
    selector = budget.selector
    if budget.namespace != template.namespace or not template.labels or selector is None or selector.is_empty:
        return False
    try:
        return selector_matches(selector, template.labels)
    except SelectorError:
        return False
