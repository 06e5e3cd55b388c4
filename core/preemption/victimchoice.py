"""The pods of each row as arrays, the most important first, and the choice of a node for preemption. That is
the one whose victims matter least. Preemption goes through such arrays for thousands of rows at once.

Upstream: pickOneNodeForPreemption in pkg/scheduler/core/generic_scheduler.go,
pkg/scheduler/framework/preemption/preemption.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from attrs import Factory, define, evolve, field, frozen
from numpy.typing import NDArray

from ..arrays import NO_INTS, Ints, Mask, NodeTable, Rows, grown
from ..decision import Victims
from ..pods import Entry, Template, rebuilt_from

# --- the pods of each row ----------------------------------------------------------------------------------

NO_PRIORITY = 2**62
"""The priority of an empty place, which is never preempted."""
NEVER_STARTED = "9999-12-31T23:59:59Z"
"""The start time of pods that have none."""
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def importance(by_start_time: bool) -> Callable[[Entry], tuple[Any, ...]]:
    """The sort key that puts the most important pod first: by priority and then, where the release reads it,
    by the earlier start."""
    if by_start_time:
        return lambda entry: (-entry.priority, entry.pod.status.start_time or NEVER_STARTED)
    return lambda entry: (-entry.priority,)


@lru_cache(1 << 16)
def instant(text: str) -> int:
    """An RFC 3339 time in UTC as a number that grows with it; -1 for a text not in the API's form."""
    return int(re.sub(r"\D", "", text)) if _INSTANT.fullmatch(text) else -1


@rebuilt_from("table", "by_start_time", "sorts_again")
@define(eq=False, repr=False)
class PodLayout:
    """Rows by places: ``priority``, ``template``, ``started``: int64[places, rows]; ``entries``: the pods of
    a row as a list, by row.

    A row is laid out again when its pods have changed. Pods of equal importance keep the order of the node's
    own list.
    """

    table: NodeTable
    by_start_time: bool
    sorts_again: bool = False
    """Whether victims are sorted by importance at the end, too."""
    priority: Ints = field(factory=lambda: np.full((8, 8), NO_PRIORITY, np.int64))
    template: Ints = field(factory=lambda: np.zeros((8, 8), np.int64))
    started: Ints = field(factory=lambda: np.zeros((8, 8), np.int64))
    entries: NDArray[np.object_] = field(factory=lambda: np.zeros(8, np.object_))
    templates: list[Template] = Factory(list)
    """By number; the arrays hold numbers."""
    _numbers: dict[Template, int] = Factory(dict)
    _footprints: dict[str, Ints] = Factory(dict)
    _revision: int = 0
    """The revision of the table at which the rows were laid out."""
    _is_laid_out: Mask = field(factory=lambda: np.zeros(8, np.bool_))
    """bool[rows]: the rows whose layout is up to date."""
    _ranks_of_names: tuple[list[str], Ints] | None = None
    """The names last compared, and their ranks."""

    def lower_than(self, priority: int, rows: Rows) -> PotentialVictims:
        """The pods on *rows* of a lower priority than *priority*, in an up-to-date layout."""
        table = self.table
        if min(table.priorities, default=priority) >= priority:
            return PotentialVictims.none(self, rows)
        # Lay out those rows whose pods have changed.
        changed_rows = table.changed.since(self._revision)
        self._revision = table.changed.revision
        self._is_laid_out = grown(self._is_laid_out, table.size)
        self.entries = grown(self.entries, table.size)
        self._is_laid_out[slice(None) if changed_rows is None else changed_rows] = False
        for row in rows[~self._is_laid_out[rows]].tolist():
            entries = self.entries[row] = sorted(table.pods[row], key=importance(self.by_start_time))
            self._make_room(len(entries), row + 1)
            self.priority[:, row] = NO_PRIORITY
            self.priority[: len(entries), row] = [entry.priority for entry in entries]
            self.template[: len(entries), row] = [self._number(entry.template) for entry in entries]
            self.started[: len(entries), row] = [
                instant(entry.pod.status.start_time or NEVER_STARTED) for entry in entries
            ]
            self._is_laid_out[row] = True
        present = self.priority.take(rows, axis=1) < priority
        return PotentialVictims(self, rows, self.entries[rows], present, np.zeros_like(present))

    def begin_anew(self) -> None:
        """Lay all rows out again when next asked for, and number their templates anew."""
        self.templates = []
        self._numbers = {}
        self._footprints = {}
        self._is_laid_out[:] = False

    def _make_room(self, places: int, rows: int) -> None:
        for name, filler in (("priority", NO_PRIORITY), ("template", 0), ("started", 0)):
            array: Ints = getattr(self, name)
            if array.shape[0] < places or array.shape[1] < rows:
                size = max(places, array.shape[0]), grown(array[0], rows).shape[0]
                wider = np.full(size, filler, np.int64)
                wider[: array.shape[0], : array.shape[1]] = array
                setattr(self, name, wider)

    def _number(self, template: Template) -> int:
        number = self._numbers.get(template)
        if number is None:
            number = self._numbers[template] = len(self.templates)
            self.templates.append(template)
        return number

    def ranks(self, names: list[str]) -> Ints:
        """The order of *names*, those of all rows of the table: int64[rows]. The list must not change
        later."""
        if self._ranks_of_names is None or self._ranks_of_names[0] is not names:
            ranks = np.empty(len(names), np.int64)
            ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
            self._ranks_of_names = names, ranks
        return self._ranks_of_names[1]

    def footprint(self, resource: str) -> Ints:
        """The usage of *resource* by a pod of each template, by the template's number: int64[templates]."""
        amounts = self._footprints.get(resource, NO_INTS)
        if len(amounts) < len(self.templates):
            further = [template.footprint.get(resource, 0) for template in self.templates[len(amounts) :]]
            amounts = self._footprints[resource] = np.append(amounts, np.array(further, np.int64))
        return amounts


@frozen(eq=False)
class PotentialVictims:
    """The pods that may have to leave k rows, by place, in the order in which they are put back.

    ``there``: bool[places, k], where a place holds such a pod; ``protected``: bool[places, k], those whose
    eviction violates a budget. Valid until the layout is next brought up to date.
    """

    layout: PodLayout
    rows: Rows
    entries: NDArray[np.object_]
    """list[Entry] of each row, in the order of the layout."""
    present: Mask
    protected: Mask
    order: Ints | None = None
    """int64[places, k], the place in the layout of each; None: the same."""

    @classmethod
    def none(cls, layout: PodLayout, rows: Rows) -> PotentialVictims:
        """No pod on any of *rows*."""
        nothing = np.zeros((0, len(rows)), np.bool_)
        return cls(layout, rows, np.zeros(len(rows), np.object_), nothing, nothing)

    @property
    def any(self) -> Mask:
        """The rows with potential victims: bool[k]."""
        mask: Mask = np.logical_or.reduce(self.present, axis=0)
        return mask

    def some(self, at: Rows) -> PotentialVictims:
        """The potential victims of some of the rows, by index."""
        if len(at) == len(self.rows):
            return self
        return PotentialVictims(
            self.layout,
            self.rows[at],
            self.entries[at],
            self.present[:, at],
            self.protected[:, at],
            None if self.order is None else self.order[:, at],
        )

    def protecting(self, protected: Mask) -> PotentialVictims:
        """The same with the *protected* ones first: bool[places, k]."""
        if not protected.any():
            return self
        order = np.argsort(~protected, axis=0, kind="stable")
        present, protected = (np.take_along_axis(mask, order, axis=0) for mask in (self.present, protected))
        return evolve(self, present=present, protected=protected, order=order)

    def sorted_again(self, victim: Mask) -> tuple[PotentialVictims, Mask]:
        """The same pods by importance, protected or not, and *victim*, bool[places, k], in that order."""
        if self.order is None:
            return self, victim
        priority, started = (
            array[: len(self.present)].take(self.rows, axis=1)
            for array in (self.layout.priority, self.layout.started)
        )
        is_less = (priority[1:] != priority[:-1]) | (started[1:] != started[:-1])
        rank = np.pad(is_less.cumsum(axis=0), ((1, 0), (0, 0)))
        # Upstream: among victims of equal importance the protected ones stay first.
        order = np.argsort(np.take_along_axis(rank, self.order, axis=0), axis=0, kind="stable")
        present, protected, victim = (
            np.take_along_axis(mask, order, axis=0) for mask in (self.present, self.protected, victim)
        )
        return evolve(
            self, present=present, protected=protected, order=np.take_along_axis(self.order, order, axis=0)
        ), victim

    def places(self, places: Rows) -> Ints:
        """The places in the layout of the pods of some *places*: int64[len(places), k]."""
        if self.order is None:
            return np.repeat(places[:, None], len(self.rows), axis=1)
        return self.order[places]

    def of_layout(self, array: Ints, places: Rows | int) -> Ints:
        """The values of an *array* of the layout at *places*, int64[len(places), k], or at one of them,
        int64[k]; of no meaning where there is no pod."""
        if self.order is None:
            return array[places].take(self.rows, axis=-1)
        values: Ints = array[self.order[places], self.rows]
        return values

    def entry(self, place: int, i: int) -> Entry:
        """The pod at *place* of row *i*."""
        entry: Entry = self.entries[i][place if self.order is None else self.order[place, i]]
        return entry


# --- the choice ---------------------------------------------------------------------------------------------

SHIFT = 2**31
"""A number that upstream adds to each priority, so that the sum of many is greater than that of few."""

FEW = 32
"""The most names that are compared one by one."""
GAP = -1
"""A place without a victim."""
ODD = -1
"""The start of a pod whose start time is not in the API's form."""


@frozen(eq=False)
class Candidates:
    """k nodes where the pod would fit, and the pods that would have to leave each.

    ``criteria``: int64[4, k], the less the better: victims that a budget protects, the priority of the first
    victim, the sum of all priorities, the number of victims. ``started``: int64[k], the start of the first of
    the most important victims, 0 where that does not matter.
    """

    rows: Rows
    criteria: Ints
    started: Ints
    _names: list[str]
    """By row."""
    _ranks: Callable[[list[str]], Ints]
    """The ranks of the names of all rows: int64[rows]."""
    _entries: NDArray[np.object_]
    """list[Entry] of each node."""
    _places: Ints
    """int64[places, k], the places of the victims in those lists, in order, with gaps."""

    @classmethod
    def of(cls, potential: PotentialVictims, victim: Mask) -> Candidates:
        """The candidates where the pods of *victim*, bool[places, k], among all potential victims have to
        leave."""
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
        """The candidates on *rows*, with their victims at *places* in *layout*, among its *entries* there."""
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
        counts: Ints = self.criteria[0]
        return counts

    @property
    def has_victims(self) -> Mask:
        """The nodes with victims: bool[k]."""
        mask: Mask = self.criteria[3] > 0
        return mask

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
        own_values, other_values = (
            (candidates.rows, candidates.criteria, candidates.started, candidates.closed_up())
            for candidates in (self, other)
        )
        return all(map(np.array_equal, own_values, other_values))

    def pick(self) -> int:
        """The node whose victims matter least; among equals the first by name. There has to be one."""
        if not self.has_victims.all():
            return self._first_by_name(np.flatnonzero(~self.has_victims))
        best = np.arange(len(self))
        for criterion in self.criteria:
            values = criterion[best]
            best = best[values == values.min()]
        # Among these, the nodes whose first most important victim started last.
        started = self.started[best]
        if (started == ODD).any():
            texts = [_earliest_start(self.victims(i)) for i in best.tolist()]
            return self._first_by_name(best[[text == max(texts) for text in texts]])
        return self._first_by_name(best[started == started.max()])

    def _first_by_name(self, tied: Rows) -> int:
        """The first of *tied* by name."""
        if len(tied) > FEW:
            return int(tied[self._ranks(self._names)[self.rows[tied]].argmin()])
        names = [self._names[row] for row in self.rows[tied].tolist()]
        return int(tied[names.index(min(names))])


def pick_one_node(candidates: dict[str, Victims], by_start_time: bool) -> str:
    """As :meth:`Candidates.pick`, for the candidates that extenders left. They are looked at in their order,
    and the first of equals wins."""
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
