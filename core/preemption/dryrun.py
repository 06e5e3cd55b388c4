"""The dry run of preemption, on all rows in lockstep: all pods of lower priority leave, then they are put
back one by one.

Who can be put back stays, the others are the victims. Releases differ in the order of this, and in whom a
budget protects. There are two backings with the same answers: overlays serve every pod; arrays of sums serve
the many pods that lack cpu or memory, where no rule about ports, volumes or other pods has a say. Then to put
a pod back on thousands of rows is one addition. Upstream: selectVictimsOnNode in
pkg/scheduler/core/generic_scheduler.go, SelectVictimsOnNode in plugins/defaultpreemption.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from ...api.objects import Pod
from ..arrays.overlay import Overlay, SumsTrial
from ..arrays.types import Ints, Mask, Rows
from ..cluster.nominations import Nominations
from ..cycle import Cycle
from ..decision.nodesearch import Nominated, judge_twice, nominated, run_effects
from ..decision.verdict import Verdict, judge
from ..pods.template import Template
from ..rule import ROWWISE, WIDE, Predicate, Reads
from .budgets import Protection
from .layout import PotentialVictims
from .victimchoice import Candidates

SUMS = Reads.NODE | Reads.REQUESTS | Reads.PORTS
"""What a rule may read that is asked about sums alone; ports only for a pod that asks for none."""
Coming = list[tuple[int, Template]]
"""Nominated pods: row and template."""


# --- where sums are enough ----------------------------------------------------------------------------------


def coming_pods(cycle: Cycle, nominations: Nominations) -> Coming:
    """The row and the template of every nominated pod that counts."""
    found: Coming = []
    for name in nominations:
        row = cycle.table.row_of.get(name)
        if row is not None:
            pods = (pod for pod in nominations.on(name) if cycle.counts_nominated(pod))
            found += [(row, cycle.nominated_entry(pod).template) for pod in pods]
    return found


def is_plain(cycle: Cycle, coming: Coming) -> bool:
    """Whether sums alone show where the pod fits, no matter which pods leave."""
    if cycle.answers is None or cycle.template.ports or not cycle.algorithm.has_predicates:
        return False
    templates = dict.fromkeys(template for _, template in coming)
    if any(template.has_pod_affinity for template in templates):
        return False
    # Each predicate looks at sums at most, or at counts of pods of which there are none, not even among those
    # that are coming.
    for predicate in cycle.predicates:
        if predicate.effect is not None or predicate.reads & ~(SUMS | WIDE):
            # Those that read services look at pods that no counter covers.
            return False
        if predicate.reads & WIDE:
            for counter in cycle.answers.failures(predicate, cycle).watched:
                if counter.total or any(counter.of(template) for template in templates):
                    return False
    return True


@attrs.define(eq=False, repr=False)
class ArrayTrial:
    """A trial where only sums matter."""

    cycle: Cycle
    potential: PotentialVictims
    sums: SumsTrial
    footprints: dict[str, Ints]
    """By resource, what a pod of each template takes: int64[templates]."""
    predicates: Sequence[Predicate]
    """Those that look at sums; the others answer the same no matter which pods leave."""

    @classmethod
    def of(cls, cycle: Cycle, coming: Coming, potential: PotentialVictims) -> ArrayTrial:
        """The rows without their potential victims, but with the *coming* pods: where the pod fits beside
        these, it fits without them."""
        footprints = {name: potential.layout.footprint(name) for name in cycle.table.resources}
        footprints = {name: amounts for name, amounts in footprints.items() if amounts.any()}
        made = cls(
            cycle,
            potential,
            SumsTrial.of(cycle.table, potential.rows),
            footprints,
            [predicate for predicate in cycle.predicates if predicate.reads & ROWWISE],
        )
        for place in np.flatnonzero(potential.there.any(axis=1)).tolist():
            made.take_off(place, potential.there[place])
        at = np.full(cycle.table.size, -1, np.intp)
        at[potential.rows] = np.arange(made.sums.n)
        for row, template in coming:
            if at[row] >= 0:
                made.sums.put_at(at[row], template)
        return made

    def judge(self) -> Verdict:
        """Where the pod fits now, and what rules out the other rows."""
        found = judge(self.cycle, self.sums, check_all=False)
        return Verdict(found, found.fits)

    def some(self, at: Rows, potential: PotentialVictims) -> ArrayTrial:
        """Some of the rows, with their potential victims in the order in which they are to be put back."""
        return attrs.evolve(
            self, sums=self.sums if len(at) == self.sums.n else self.sums.some(at), potential=potential
        )

    def put_back(self, place: int, here: Mask) -> None:
        """Put the pods at *place* back on the rows *here*: bool[k]."""
        self._put(place, here.astype(np.int64))

    def take_off(self, place: int, here: Mask) -> None:
        self._put(place, -here.astype(np.int64))

    def _put(self, place: int, sign: Ints) -> None:
        numbers = self.potential.of_layout(self.potential.layout.template, place)
        self.sums.put(sign, {name: amounts[numbers] * sign for name, amounts in self.footprints.items()})

    def fits(self, here: Mask) -> Mask:
        """Where of *here* the pod fits now: bool[k], of no meaning elsewhere."""
        fits = here
        for predicate in self.predicates:
            found = predicate.check(self.cycle.template, self.sums, self.cycle)
            if found is not None:
                fits = fits & found.passed
        return fits


# --- where they are not -------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False)
class OverlayTrial:
    """A trial of any pod: each of its pods comes and goes by itself, and rules see all of it."""

    cycle: Cycle
    nominations: Nominations
    potential: PotentialVictims
    overlay: Overlay
    _waiting: Nominated | None = attrs.field(default=None, init=False)

    @classmethod
    def of(
        cls, cycle: Cycle, nominations: Nominations, potential: PotentialVictims, incoming: Pod | None = None
    ) -> OverlayTrial:
        """The rows without their potential victims. *incoming*: as for :meth:`~..arrays.overlay.Overlay.of`."""
        overlay = Overlay.of(cycle.table, potential.rows, incoming)
        lower = np.flatnonzero(potential.any).tolist()
        priority = cycle.pod.priority
        overlay.remove_all(
            [(i, entry) for i in lower for entry in overlay.pods(i) if entry.priority < priority]
        )
        return cls(cycle, nominations, potential, overlay)

    def judge(self) -> Verdict:
        return self._judge(np.arange(self.overlay.n))

    def some(self, at: Rows, potential: PotentialVictims) -> OverlayTrial:
        return attrs.evolve(
            self,
            overlay=self.overlay if len(at) == self.overlay.n else self.overlay.some(at),
            potential=potential,
        )

    def put_back(self, place: int, here: Mask) -> None:
        self.overlay.add_all([(i, self.potential.entry(place, i)) for i in np.flatnonzero(here).tolist()])

    def take_off(self, place: int, here: Mask) -> None:
        self.overlay.remove_all([(i, self.potential.entry(place, i)) for i in np.flatnonzero(here).tolist()])

    def fits(self, here: Mask) -> Mask:
        # All rows are judged: to copy some of them would mean to follow all that happened to them once more.
        return self._judge(np.flatnonzero(here)).fits

    def _judge(self, at: Rows) -> Verdict:
        """Judge all rows; effects are left on those of *at* alone. The dry run always stops at the first
        failing predicate."""
        if self._waiting is None:
            self._waiting = nominated(self.cycle, self.overlay, self.nominations)
        verdict = judge_twice(
            self.cycle, self.overlay, self.nominations, check_all=False, waiting=self._waiting
        )
        run_effects(self.cycle, verdict, at)
        return verdict


Trial = ArrayTrial | OverlayTrial
"""k rows as they are without their potential victims, some of whom are put back."""


def dry_run(trial: Trial, protection: Protection) -> tuple[Candidates, Verdict]:
    """The rows on which the pod fits with the fewest pods gone, and the verdict on all rows with all
    potential victims gone."""
    verdict = trial.judge()
    fitting = np.flatnonzero(verdict.fits)
    potential = trial.potential.some(fitting)
    potential = potential.protecting(protection(potential))
    return Candidates.of(potential, reprieve(trial.some(fitting, potential))), verdict


def reprieve(trial: Trial) -> Mask:
    """Put the potential victims back, place by place, and take those off again who do not leave enough room:
    bool[places, k]."""
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
