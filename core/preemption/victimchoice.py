"""Among the nodes where preemption would help: the one whose victims matter least.

Upstream: pickOneNodeForPreemption in pkg/scheduler/core/generic_scheduler.go,
pkg/scheduler/framework/preemption/preemption.go.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints, Mask, Rows
from ..decision import Victims
from .layout import NEVER_STARTED, PodLayout, PotentialVictims

SHIFT = 2**31
"""What upstream adds to a priority, so that the sum of many is greater than that of few."""

FEW = 32
"""Names that are compared one by one."""
GAP = -1
"""A place without a victim."""
ODD = -1
"""When a pod started whose start time is of another form than the API's."""


@attrs.frozen(eq=False)
class Candidates:
    """k nodes where the pod would fit, and who would have to leave each.

    ``criteria``: int64[4, k], the less the better: victims that a budget protects, the priority of the first
    victim, the sum of all priorities, the number of victims. ``started``: int64[k], when the first of the
    most important victims started, 0 where that does not matter.
    """

    rows: Rows
    criteria: Ints
    started: Ints
    _names: list[str]
    """By row."""
    _ranks: Callable[[list[str]], Ints]
    """How names compare, for those of all rows: int64[rows]."""
    _entries: NDArray[np.object_]
    """list[Entry] of each node."""
    _places: Ints
    """int64[places, k], the places of the victims in those lists, in order, with gaps."""

    @classmethod
    def of(cls, potential: PotentialVictims, victim: Mask) -> Candidates:
        """The candidates where these of all potential victims have to leave: bool[places, k]."""
        layout = potential.layout
        rows = potential.rows
        if layout.sorts_again:
            potential, victim = potential.sorted_again(victim)
        used = np.flatnonzero(victim.any(axis=1))
        victim = victim[used]
        places = potential.places(used)
        priority = potential.of_layout(layout.priority, used)
        criteria = np.zeros((4, len(rows)), np.int64)
        started = np.zeros(len(rows), np.int64)
        if len(used):
            criteria[0] = (potential.protected[used] & victim).sum(axis=0)
            # Upstream: the first victim of the list, which with violated budgets need not have the highest
            # priority.
            criteria[1] = np.take_along_axis(priority, victim.argmax(axis=0)[None], axis=0)[0]
            criteria[2], criteria[3] = ((priority + SHIFT) * victim).sum(axis=0), victim.sum(axis=0)
        if len(used) and layout.by_start_time:
            highest = np.where(victim, priority, -(2**62)).max(axis=0)
            beginnings = potential.of_layout(layout.started, used)
            started = np.where(victim & (priority == highest), beginnings, 2**62).min(axis=0)
        # The layout may lack rows where no pod has to leave.
        return cls.at(layout, rows, criteria, started, potential.entries, np.where(victim, places, GAP))

    @classmethod
    def at(
        cls,
        layout: PodLayout,
        rows: Rows,
        criteria: Ints,
        started: Ints,
        entries: NDArray[np.object_],
        places: Ints,
    ) -> Candidates:
        """The candidates on *rows*, whose victims have these *places* in *layout*, among its *entries*
        there."""
        layout.table.shared_names = True
        return cls(rows, criteria, started, layout.table.names, layout.ranks, entries, places)

    @classmethod
    def none(cls) -> Candidates:
        """No node at all."""
        nothing = np.zeros((4, 0), np.int64)
        return cls(
            np.zeros(0, np.intp),
            nothing,
            nothing[0],
            [],
            lambda names: nothing[0],
            np.zeros(0, np.object_),
            nothing,
        )

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def violations(self) -> Ints:
        """The number of victims that a budget protects: int64[k]."""
        found: Ints = self.criteria[0]
        return found

    @property
    def has_victims(self) -> Mask:
        """The nodes with victims: bool[k]."""
        found: Mask = self.criteria[3] > 0
        return found

    def some(self, at: Rows) -> Candidates:
        """Some of the nodes, by index, ascending."""
        if len(at) == len(self):
            return self
        return Candidates(
            self.rows[at],
            self.criteria[:, at],
            self.started[at],
            self._names,
            self._ranks,
            self._entries[at],
            self._places[:, at],
        )

    def followed_by(self, other: Candidates) -> Candidates:
        """These nodes and then those of *other*, of the same table at the same time."""
        if not len(self) or not len(other):
            return self if len(self) else other
        size = max(len(self._places), len(other._places))
        places = (
            np.pad(part, ((0, size - len(part)), (0, 0)), constant_values=GAP)
            for part in (self._places, other._places)
        )
        return Candidates(
            np.append(self.rows, other.rows),
            np.append(self.criteria, other.criteria, axis=1),
            np.append(self.started, other.started),
            self._names,
            self._ranks,
            np.append(self._entries, other._entries),
            np.concatenate(list(places), axis=1),
        )

    def name(self, i: int) -> str:
        """The name of node *i*."""
        return self._names[int(self.rows[i])]

    def victims(self, i: int) -> Victims:
        """The victims on node *i*."""
        return Victims(
            [self._entries[i][place].pod for place in self._places[:, i].tolist() if place != GAP],
            int(self.violations[i]),
        )

    def spelled_out(self) -> dict[str, Victims]:
        """Node -> its victims, in ascending order of name."""
        return {self.name(i): self.victims(i) for i in sorted(range(len(self)), key=self.name)}

    def closed_up(self) -> Ints:
        """The places of the victims in the layout, in order: int64[most, k], with no gap before a victim."""
        is_gap = self._places == GAP
        most = int(self.criteria[3].max(initial=0))
        if not is_gap.any():
            return self._places[:most]
        return np.take_along_axis(self._places, np.argsort(is_gap, axis=0, kind="stable")[:most], axis=0)

    def same_as(self, other: Candidates) -> bool:
        """Whether these are the same nodes with the same victims in the same order."""
        mine, others = (
            (found.rows, found.criteria, found.started, found.closed_up()) for found in (self, other)
        )
        return all(map(np.array_equal, mine, others))

    def pick(self) -> int:
        """The node whose victims matter least; among equals the first by name. There has to be one."""
        if not self.has_victims.all():
            return self._first(np.flatnonzero(~self.has_victims))
        best = np.arange(len(self))
        for criterion in self.criteria:
            values = criterion[best]
            best = best[values == values.min()]
        # Of these the nodes whose first most important victim started last.
        started = self.started[best]
        if (started == ODD).any():
            texts = [_earliest_start(self.victims(i)) for i in best.tolist()]
            return self._first(best[[text == max(texts) for text in texts]])
        return self._first(best[started == started.max()])

    def _first(self, tied: Rows) -> int:
        """The first of *tied* by name."""
        if len(tied) > FEW:
            return int(tied[self._ranks(self._names)[self.rows[tied]].argmin()])
        names = [self._names[row] for row in self.rows[tied].tolist()]
        return int(tied[names.index(min(names))])


def pick_one_node(candidates: dict[str, Victims], by_start_time: bool) -> str:
    """As :meth:`Candidates.pick`, for what extenders left; *candidates* are looked at in their order, and the
    first of equals wins."""
    for name, victims in candidates.items():
        if not victims.pods:
            return name
    names = list(candidates)
    criteria: list[Callable[[Victims], int]] = [
        lambda victims: victims.violations,
        lambda victims: victims.pods[0].priority,
        lambda victims: sum(pod.priority + SHIFT for pod in victims.pods),
        lambda victims: len(victims.pods),
    ]
    for criterion in criteria:
        least = min(criterion(candidates[name]) for name in names)
        names = [name for name in names if criterion(candidates[name]) == least]
        if len(names) == 1:
            return names[0]
    return max(names, key=lambda name: _earliest_start(candidates[name])) if by_start_time else names[0]


def _earliest_start(victims: Victims) -> str:
    """The earliest start among the most important victims; RFC 3339 texts in UTC compare as times."""
    highest = max(pod.priority for pod in victims.pods)
    return min(pod.status.start_time or NEVER_STARTED for pod in victims.pods if pod.priority == highest)
