"""The dry run of preemption: all rows in lockstep, one potential victim of each after the other.

Every release goes the same way: all pods of lower priority leave, and where the pod then fits they are put back one by one. Who can be
put back stays, the others are the victims. The releases differ in the order in which pods are put back and in whom a budget protects,
and pods differ in whether arrays of sums hold enough about them; so both are arguments.
Upstream: selectVictimsOnNode in pkg/scheduler/core/generic_scheduler.go, SelectVictimsOnNode in plugins/defaultpreemption.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..arrays.types import Mask, Rows
from ..decision.verdict import Verdict
from .budgets import Protection
from .layout import PotentialVictims
from .victimchoice import Candidates


class Trial(Protocol):
    """k rows as they are without their potential victims, some of whom are put back."""

    potential: PotentialVictims

    def judge(self) -> Verdict:
        """Where the pod fits now, and what rules out the other rows."""
        ...

    def some(self, at: Rows, potential: PotentialVictims) -> Trial:
        """Some of the rows, with their potential victims in the order in which they are to be put back."""
        ...

    def put_back(self, place: int, here: Mask) -> None:
        """Put the pods at *place* back on the rows *here*: bool[k]."""
        ...

    def take_off(self, place: int, here: Mask) -> None:
        """Take them off again."""
        ...

    def fits(self, here: Mask) -> Mask:
        """Where of *here* the pod fits now: bool[k], of no meaning elsewhere."""
        ...


def dry_run(trial: Trial, protection: Protection) -> tuple[Candidates, Verdict]:
    """The rows on which the pod fits with the fewest pods gone, and the verdict on all rows with all potential victims gone."""
    verdict = trial.judge()
    fitting = np.flatnonzero(verdict.fits)
    potential = trial.potential.some(fitting)
    potential = potential.protecting(protection(potential))
    return Candidates.of(potential, reprieve(trial.some(fitting, potential))), verdict


def reprieve(trial: Trial) -> Mask:
    """Put the potential victims back, place by place, and take those off again who do not leave enough room: bool[places, k]."""
    there = trial.potential.there
    victims = np.zeros_like(there)
    for place in np.flatnonzero(there.any(axis=1)).tolist():
        here = there[place]
        trial.put_back(place, here)
        refused = here & ~trial.fits(here)
        if refused.any():
            trial.take_off(place, refused)
            victims[place] = refused
    return victims
