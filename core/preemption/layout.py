"""The pods of each row as arrays, the most important first: what preemption goes through on thousands of rows
at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from ..arrays import NO_INTS, Ints, Mask, NodeTable, Rows, grown
from ..pods import Entry, Template, rebuilt_from

NO_PRIORITY = 2**62
"""The priority of a place that no pod takes: it is never preempted."""
NEVER_STARTED = "9999-12-31T23:59:59Z"
"""When a pod without a start time counts as started."""
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def importance(by_start_time: bool) -> Callable[[Entry], tuple[Any, ...]]:
    """The sort key that puts the most important pod first: priority, then, where the release looks at it, who
    started earlier."""
    if by_start_time:
        return lambda entry: (-entry.priority, entry.pod.status.start_time or NEVER_STARTED)
    return lambda entry: (-entry.priority,)


@lru_cache(1 << 16)
def instant(text: str) -> int:
    """An RFC 3339 time in UTC as a number that grows with it; -1 where the text is of another form than the
    API's."""
    return int(re.sub(r"\D", "", text)) if _INSTANT.fullmatch(text) else -1


@rebuilt_from("table", "by_start_time", "sorts_again")
@attrs.define(eq=False, repr=False)
class PodLayout:
    """Rows by places: ``priority``, ``template``, ``started``: int64[places, rows]; ``entries``: the pods of
    a row as a list, by row.

    A row is laid out again when its pods have changed. Pods of equal importance keep the order of the node's
    own list.
    """

    table: NodeTable
    by_start_time: bool
    sorts_again: bool = False
    """Victims are sorted by importance at the end, too."""
    priority: Ints = attrs.field(factory=lambda: np.full((8, 8), NO_PRIORITY, np.int64))
    template: Ints = attrs.field(factory=lambda: np.zeros((8, 8), np.int64))
    started: Ints = attrs.field(factory=lambda: np.zeros((8, 8), np.int64))
    entries: NDArray[np.object_] = attrs.field(factory=lambda: np.zeros(8, np.object_))
    templates: list[Template] = attrs.Factory(list)
    """By number; the arrays hold numbers."""
    _numbers: dict[Template, int] = attrs.Factory(dict)
    _footprints: dict[str, Ints] = attrs.Factory(dict)
    _seen: int = 0
    """The revision of the table that the rows were laid out at."""
    _laid: Mask = attrs.field(factory=lambda: np.zeros(8, np.bool_))
    """Rows that are laid out as they are now."""
    _ranked: tuple[list[str], Ints] | None = None
    """Names that were compared, and their ranks."""

    def lower_than(self, priority: int, rows: Rows) -> PotentialVictims:
        """The pods of a lower priority on *rows*, laid out as they are now."""
        if min(self.table.priorities, default=priority) >= priority:
            return PotentialVictims.none(self, rows)
        # Lay out those rows whose pods have changed.
        changed = self.table.changed.since(self._seen)
        self._seen = self.table.changed.revision
        self._laid = grown(self._laid, self.table.size)
        self.entries = grown(self.entries, self.table.size)
        self._laid[slice(None) if changed is None else changed] = False
        for row in rows[~self._laid[rows]].tolist():
            entries = self.entries[row] = sorted(self.table.pods[row], key=importance(self.by_start_time))
            self._make_room(len(entries), row + 1)
            self.priority[:, row] = NO_PRIORITY
            self.priority[: len(entries), row] = [entry.priority for entry in entries]
            self.template[: len(entries), row] = [self._number(entry.template) for entry in entries]
            self.started[: len(entries), row] = [
                instant(entry.pod.status.start_time or NEVER_STARTED) for entry in entries
            ]
            self._laid[row] = True
        there = self.priority.take(rows, axis=1) < priority
        return PotentialVictims(self, rows, self.entries[rows], there, np.zeros_like(there))

    def begin_anew(self) -> None:
        """Lay all rows out again when they are asked for, and number the templates that they have then."""
        self.templates = []
        self._numbers = {}
        self._footprints = {}
        self._laid[:] = False

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
        """The order of *names*, those of all rows of the table: int64[rows]. They must not change any
        more."""
        if self._ranked is None or self._ranked[0] is not names:
            ranks = np.empty(len(names), np.int64)
            ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
            self._ranked = names, ranks
        return self._ranked[1]

    def footprint(self, resource: str) -> Ints:
        """The usage of *resource* by a pod of each template, by the template's number: int64[templates]."""
        known = self._footprints.get(resource, NO_INTS)
        if len(known) < len(self.templates):
            further = [template.footprint.get(resource, 0) for template in self.templates[len(known) :]]
            known = self._footprints[resource] = np.append(known, np.array(further, np.int64))
        return known


@attrs.frozen(eq=False)
class PotentialVictims:
    """The pods that may have to leave k rows, by place, in the order in which they are put back.

    ``there``: bool[places, k], where a place holds such a pod; ``protected``: bool[places, k], those whose
    eviction violates a budget. Valid until the layout is next brought up to date.
    """

    layout: PodLayout
    rows: Rows
    entries: NDArray[np.object_]
    """list[Entry] of each row, in the order of the layout."""
    there: Mask
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
        """The rows with any: bool[k]."""
        found: Mask = np.logical_or.reduce(self.there, axis=0)
        return found

    def some(self, at: Rows) -> PotentialVictims:
        """The potential victims of some of the rows, by index."""
        if len(at) == len(self.rows):
            return self
        return PotentialVictims(
            self.layout,
            self.rows[at],
            self.entries[at],
            self.there[:, at],
            self.protected[:, at],
            None if self.order is None else self.order[:, at],
        )

    def protecting(self, protected: Mask) -> PotentialVictims:
        """The same with the *protected* ones first: bool[places, k]."""
        if not protected.any():
            return self
        order = np.argsort(~protected, axis=0, kind="stable")
        there, protected = (np.take_along_axis(mask, order, axis=0) for mask in (self.there, protected))
        return attrs.evolve(self, there=there, protected=protected, order=order)

    def sorted_again(self, victim: Mask) -> tuple[PotentialVictims, Mask]:
        """The same by importance, protected or not, and *victim*, bool[places, k], in that order."""
        if self.order is None:
            return self, victim
        priority, started = (
            array[: len(self.there)].take(self.rows, axis=1)
            for array in (self.layout.priority, self.layout.started)
        )
        is_less = (priority[1:] != priority[:-1]) | (started[1:] != started[:-1])
        rank = np.pad(is_less.cumsum(axis=0), ((1, 0), (0, 0)))
        # Upstream: of equal importance the protected ones stay first.
        again = np.argsort(np.take_along_axis(rank, self.order, axis=0), axis=0, kind="stable")
        there, protected, victim = (
            np.take_along_axis(mask, again, axis=0) for mask in (self.there, self.protected, victim)
        )
        return attrs.evolve(
            self, there=there, protected=protected, order=np.take_along_axis(self.order, again, axis=0)
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
        found: Ints = array[self.order[places], self.rows]
        return found

    def entry(self, place: int, i: int) -> Entry:
        """The pod at *place* of row *i*."""
        found: Entry = self.entries[i][place if self.order is None else self.order[place, i]]
        return found
