"""Preemption's dry run where only sums matter: all candidate rows and all their potential victims as arrays.

Most pods that preempt lack cpu or memory, and no rule about ports, volumes or other pods has a say. Then removing a pod is a
subtraction, and step j of the reprieve puts back the j-th victim of every row by one addition. Any other pod goes through overlays,
one pod after another (:func:`~kubeclassic.core.preemption.select.select_victims`); the answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

from ..arrays.batch import Ints, Mask, Rows
from ..arrays.sums import SumsTrial
from ..cluster.nominations import Nominations
from ..cycle import Answers, Cycle
from ..pods.template import Entry, Template
from ..rule import ROWWISE, WIDE, Predicate, Reads
from .layout import NEVER_STARTED, PodLayout

SUMS = Reads.NODE | Reads.REQUESTS | Reads.PORTS
"""What a rule may read that is asked about sums alone; ports only for a pod that asks for none."""


@attrs.define(eq=False)
class Trial:
    """What came of the rows on which the pod fits once all lower priorities are gone.

    ``victim``: bool[places, k], who would have to leave; ``protected``: bool[places, k]; ``priority`` and ``started``: int64[places, k].
    """

    rows: Rows
    names: list[str]
    """Of the rows."""
    entries: list[list[Entry]]
    """The pods of each row by place; the row's own list may change later, these do not."""
    priority: Ints
    started: Ints
    victim: Mask
    protected: Mask

    def pick(self, by_start_time: bool) -> int:
        """The row whose victims matter least; the first of equals. Upstream: pickOneNodeForPreemption."""
        counts = self.victim.sum(axis=0)
        if not counts.all():
            return int(np.argmin(counts != 0))
        priority = self.priority
        guarded = self.victim & self.protected
        first = np.where(guarded.any(axis=0), guarded.argmax(axis=0), self.victim.argmax(axis=0))
        worth = np.where(self.victim, priority + 2**31, 0).sum(axis=0)
        best = np.arange(len(self.rows))
        for criterion in (guarded.sum(axis=0), priority[first, np.arange(len(first))], worth, counts):
            values = criterion[best]
            best = best[values == values.min()]
        return self._latest(best) if by_start_time and len(best) > 1 else int(best[0])

    def _latest(self, tied: Rows) -> int:
        """Of *tied* rows the one whose first most important victim started last."""
        victim = self.victim[:, tied]
        ranks = np.where(victim, self.priority[:, tied], -(2**62))
        highest = victim & (ranks == ranks.max(axis=0))
        started = self.started[:, tied]
        if (started[highest] < 0).any():
            texts = [min(e.pod.status.start_time or NEVER_STARTED for e in self._most_important(int(i))) for i in tied]
            return int(tied[texts.index(max(texts))])
        return int(tied[np.argmax(np.where(highest, started, 2**62).min(axis=0))])

    def _most_important(self, index: int) -> list[Entry]:
        victims, _ = self.victims_of(index)
        highest = max(entry.priority for entry in victims)
        return [entry for entry in victims if entry.priority == highest]

    def victims_of(self, index: int) -> tuple[list[Entry], int]:
        """Who would have to leave row *index*, protected ones first, and how many of them are protected."""
        places = np.flatnonzero(self.victim[:, index])
        guarded = self.protected[places, index]
        ordered = [*places[guarded].tolist(), *places[~guarded].tolist()]
        return [self.entries[index][place] for place in ordered], int(guarded.sum())


def is_plain(cycle: Cycle, nominations: Nominations) -> bool:
    """Whether sums alone can tell where the pod fits, whoever leaves."""
    if cycle.answers is None or cycle.template.ports or not cycle.algorithm.has_predicates:
        return False
    if any(cycle.nominated_entry(pod).template.has_pod_affinity for name in nominations for pod in nominations.on(name)):
        return False
    return all(_is_untouched(predicate, cycle, cycle.answers) for predicate in cycle.algorithm.predicates_for(cycle.template))


def _is_untouched(predicate: Predicate, cycle: Cycle, memory: Answers) -> bool:
    """Whether a predicate looks at sums at most, or at counts of pods of which there are none."""
    if predicate.effect is not None or predicate.reads & (Reads.EFFECTS | Reads.PODS):
        return False
    if not predicate.reads & WIDE:
        return not predicate.reads & ~SUMS
    if predicate.reads & Reads.LISTINGS:
        # A nominated pod may be the peer that its service's pods follow.
        return False
    kept = memory.failures(predicate, cycle)
    return kept.answer is None and not any(counter.total for counter in kept.watched)


def dry_run(cycle: Cycle, nominations: Nominations, rows: Rows, layout: PodLayout, is_protected: Callable[[Template], bool]) -> Trial:
    """Who would have to leave each of *rows*, for a pod that :func:`is_plain`; rows that would not do are left out."""
    rows = rows[_permanent_fits(cycle, rows)]
    layout.follow(rows)
    lower = layout.priority[:, rows] < cycle.pod.priority
    numbers = layout.template[:, rows]
    used, step = _emptied(cycle, nominations, rows, layout, lower, numbers)
    alive = _fits(cycle, used)
    if not alive.all():
        chosen = np.flatnonzero(alive)
        rows, lower, numbers = rows[chosen], lower[:, chosen], numbers[:, chosen]
        used, step = _emptied(cycle, nominations, rows, layout, lower, numbers)
    guarded = layout.asked_of(is_protected, np.bool_)
    protected = guarded[numbers] & lower if len(guarded) else np.zeros_like(lower)
    victim = np.zeros_like(lower)
    for round_of in (protected, lower & ~protected) if protected.any() else (lower,):
        for place in np.flatnonzero(round_of.any(axis=1)).tolist():
            here = round_of[place]
            step(used, numbers[place], here.astype(np.int64))
            refused = here & ~_fits(cycle, used)
            if refused.any():
                step(used, numbers[place], -refused.astype(np.int64))
                victim[place] |= refused
    names, entries = cycle.table.names, [layout.entries[row] for row in rows.tolist()]
    priority, started = layout.priority[:, rows], layout.started[:, rows]
    return Trial(rows, [names[row] for row in rows.tolist()], entries, priority, started, victim, protected)


Step = Callable[[SumsTrial, Ints, Ints], None]


def _permanent_fits(cycle: Cycle, rows: Rows) -> Mask:
    """Where the predicates that look at nothing but nodes let the pod pass: bool[len(rows)]."""
    fits = np.ones(len(rows), np.bool_)
    assert cycle.answers is not None
    for predicate in cycle.algorithm.predicates_for(cycle.template):
        if not predicate.reads & ROWWISE:
            answer = cycle.answers.failures(predicate, cycle).answer
            if answer is not None:
                fits &= answer.passed[rows]
    return fits


def _fits(cycle: Cycle, used: SumsTrial) -> Mask:
    fits = np.ones(used.n, np.bool_)
    for predicate in cycle.algorithm.predicates_for(cycle.template):
        if predicate.reads & ROWWISE:
            found = predicate.check(cycle.template, used, cycle)
            if found is not None:
                fits &= found.passed
    return fits


def _emptied(cycle: Cycle, nominations: Nominations, rows: Rows, layout: PodLayout, lower: Mask, numbers: Ints) -> tuple[SumsTrial, Step]:
    """The sums of *rows* without their lower priorities but with the pods nominated to them, and how to add pods by template number."""
    names = [name for name in cycle.table.resources if name in {key for t in layout.templates for key in t.footprint}]
    by_name = {name: layout.asked_of(lambda t, name=name: t.footprint.get(name, 0)) for name in names}  # type: ignore[misc]
    used = SumsTrial.of(cycle.table, rows)

    def step(sums: SumsTrial, at: Ints, sign: Ints) -> None:
        sums.put(sign, {name: table[at] * sign for name, table in by_name.items()})

    if len(layout.templates):
        for place in np.flatnonzero(lower.any(axis=1)).tolist():
            step(used, numbers[place], -lower[place].astype(np.int64))
    _add_nominated(cycle, nominations, used)
    return used, step


def _add_nominated(cycle: Cycle, nominations: Nominations, used: SumsTrial) -> None:
    """Put the pods that count as nominated on their rows: where the pod fits beside them it fits without them too."""
    place = {row: i for i, row in enumerate(used.indexes.tolist())} if nominations else {}
    for name in nominations:
        i = place.get(cycle.table.row_of.get(name, -1))
        if i is not None:
            for pod in nominations.on(name):
                if cycle.counts_nominated(pod):
                    template = cycle.nominated_entry(pod).template
                    for resource, number in template.footprint.items():
                        used.requests.setdefault(resource, np.zeros(used.n, np.int64))[i] += number
                    used.nonzero_sums[:, i] += template.nonzero_footprint
                    used.pods_there[i] += 1
