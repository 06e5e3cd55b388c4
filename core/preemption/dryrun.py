"""The two backings of the dry run: overlays, which serve every pod, and arrays of sums, which are enough for most.

Most pods that preempt lack cpu or memory, and no rule about ports, volumes or other pods has a say. Then removing a pod is a
subtraction, and to put a pod back on thousands of rows is one addition. The answers are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs
import numpy as np

from ...api.objects import Pod
from ..arrays.overlay import Overlay
from ..arrays.sums import SumsTrial
from ..arrays.types import Ints, Mask, Rows
from ..cluster.nominations import Nominations
from ..cycle import Answers, Cycle
from ..decision.nodesearch import Nominated, judge_twice, nominated, run_effects
from ..decision.verdict import Verdict, judge
from ..pods.template import Template
from ..rule import ROWWISE, WIDE, Predicate, Reads
from .layout import PotentialVictims

SUMS = Reads.NODE | Reads.REQUESTS | Reads.PORTS
"""What a rule may read that is asked about sums alone; ports only for a pod that asks for none."""
Coming = list[tuple[int, Template]]
"""Nominated pods: row and template."""


# --- where sums are enough ------------------------------------------------------------------------------------------


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
    """Whether sums alone can tell where the pod fits, no matter which pods leave."""
    if cycle.answers is None or cycle.template.ports or not cycle.algorithm.has_predicates:
        return False
    templates = dict.fromkeys(template for _, template in coming)
    if any(template.has_pod_affinity for template in templates):
        return False
    return all(_is_untouched(predicate, cycle, cycle.answers, templates) for predicate in cycle.predicates)


def _is_untouched(predicate: Predicate, cycle: Cycle, answers: Answers, coming: Collection[Template]) -> bool:
    """Whether a predicate looks at sums at most, or at counts of pods of which there are none, not even among the *coming* ones."""
    if predicate.effect is not None or predicate.reads & ~(SUMS | WIDE):
        # Those that read services look at pods that no counter tells of.
        return False
    if not predicate.reads & WIDE:
        return True
    counters = answers.failures(predicate, cycle).watched
    return not any(counter.total or any(counter.of(template) for template in coming) for counter in counters)


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
        """The rows without their potential victims, but with the *coming* pods: where the pod fits beside these, it fits without them."""
        footprints = {name: potential.layout.footprint(name) for name in cycle.table.resources}
        footprints = {name: amounts for name, amounts in footprints.items() if amounts.any()}
        rowwise = [predicate for predicate in cycle.predicates if predicate.reads & ROWWISE]
        made = cls(cycle, potential, SumsTrial.of(cycle.table, potential.rows), footprints, rowwise)
        for place in np.flatnonzero(potential.there.any(axis=1)).tolist():
            made.take_off(place, potential.there[place])
        made._add(coming)
        return made

    def _add(self, coming: Coming) -> None:
        place = np.full(self.cycle.table.size, -1, np.intp)
        place[self.potential.rows] = np.arange(self.sums.n)
        for row, template in coming:
            if place[row] >= 0:
                self.sums.put_at(place[row], template)

    def judge(self) -> Verdict:
        found = judge(self.cycle, self.sums, check_all=False)
        return Verdict(found, found.fits)

    def some(self, at: Rows, potential: PotentialVictims) -> ArrayTrial:
        sums = self.sums if len(at) == self.sums.n else self.sums.some(at)
        return attrs.evolve(self, sums=sums, potential=potential)

    def put_back(self, place: int, here: Mask) -> None:
        self._put(place, here.astype(np.int64))

    def take_off(self, place: int, here: Mask) -> None:
        self._put(place, -here.astype(np.int64))

    def _put(self, place: int, sign: Ints) -> None:
        numbers = self.potential.templates(place)
        self.sums.put(sign, {name: amounts[numbers] * sign for name, amounts in self.footprints.items()})

    def fits(self, here: Mask) -> Mask:
        fits = here
        for predicate in self.predicates:
            found = predicate.check(self.cycle.template, self.sums, self.cycle)
            if found is not None:
                fits = fits & found.passed
        return fits


# --- where they are not ---------------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False)
class OverlayTrial:
    """A trial of any pod: each of its pods comes and goes by itself, and rules see all of it."""

    cycle: Cycle
    nominations: Nominations
    potential: PotentialVictims
    overlay: Overlay
    _waiting: Nominated | None = attrs.field(default=None, init=False)

    @classmethod
    def of(cls, cycle: Cycle, nominations: Nominations, potential: PotentialVictims, incoming: Pod | None = None) -> OverlayTrial:
        """The rows without their potential victims. *incoming*: as for :meth:`~..arrays.overlay.Overlay.of`."""
        overlay = Overlay.of(cycle.table, potential.rows, incoming)
        overlay.remove_all([(i, entry) for i in range(overlay.n) for entry in overlay.pods(i) if entry.priority < cycle.pod.priority])
        return cls(cycle, nominations, potential, overlay)

    def judge(self) -> Verdict:
        return self._judge(np.arange(self.overlay.n))

    def some(self, at: Rows, potential: PotentialVictims) -> OverlayTrial:
        overlay = self.overlay if len(at) == self.overlay.n else self.overlay.some(at)
        return attrs.evolve(self, overlay=overlay, potential=potential)

    def put_back(self, place: int, here: Mask) -> None:
        self.overlay.add_all([(i, self.potential.entry(place, i)) for i in np.flatnonzero(here).tolist()])

    def take_off(self, place: int, here: Mask) -> None:
        self.overlay.remove_all([(i, self.potential.entry(place, i)) for i in np.flatnonzero(here).tolist()])

    def fits(self, here: Mask) -> Mask:
        # All rows are judged: to copy some of them would mean to follow all that happened to them once more.
        return self._judge(np.flatnonzero(here)).fits

    def _judge(self, at: Rows) -> Verdict:
        """Judge all rows; effects are left on those of *at* alone. The dry run always stops at the first failing predicate."""
        if self._waiting is None:
            self._waiting = nominated(self.cycle, self.overlay, self.nominations)
        verdict = judge_twice(self.cycle, self.overlay, self.nominations, check_all=False, waiting=self._waiting)
        run_effects(self.cycle, verdict, at)
        return verdict
