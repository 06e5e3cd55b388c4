"""The pods of each row as arrays, the most important first: what preemption goes through on thousands of rows at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from ..arrays.batch import Ints, Rows
from ..arrays.columns import grown
from ..arrays.table import NodeTable
from ..pods.template import Entry, Template

NOBODY = 2**62
"""The priority of a place that no pod takes: nobody preempts it."""
NEVER_STARTED = "9999-12-31T23:59:59Z"
"""When a pod without a start time counts as started."""
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def importance(by_start_time: bool) -> Callable[[Entry], tuple[Any, ...]]:
    """The sort key that puts the most important pod first: priority, then, where the release looks at it, who started earlier."""
    if by_start_time:
        return lambda entry: (-entry.priority, entry.pod.status.start_time or NEVER_STARTED)
    return lambda entry: (-entry.priority,)


@cache
def instant(text: str) -> int:
    """An RFC 3339 time in UTC as a number that grows with it; -1 where the text is of another form than the API's."""
    return int(re.sub(r"\D", "", text)) if _INSTANT.fullmatch(text) else -1


@attrs.define(eq=False)
class PodLayout:
    """Rows by places: ``priority``, ``template``, ``started``: int64[places, rows]; ``entries[row]`` in the same order.

    A row is laid out again when its pods have changed. Pods of equal importance keep the order of the node's own list.
    """

    table: NodeTable
    by_start_time: bool
    priority: Ints = attrs.field(factory=lambda: np.full((8, 8), NOBODY, np.int64))
    template: Ints = attrs.field(factory=lambda: np.zeros((8, 8), np.int64))
    started: Ints = attrs.field(factory=lambda: np.zeros((8, 8), np.int64))
    entries: dict[int, list[Entry]] = attrs.field(factory=dict)
    templates: list[Template] = attrs.field(factory=list)
    """By number; the arrays hold numbers."""
    _numbers: dict[Template, int] = attrs.field(factory=dict)
    _cursor: int = 0
    _laid: NDArray[np.bool_] = attrs.field(factory=lambda: np.zeros(8, np.bool_))
    """Rows that are laid out as they stand at the cursor."""

    def follow(self, rows: Rows) -> None:
        """Lay out those of *rows* whose pods have changed."""
        changed = self.table.changed.rows_since(self._cursor)
        self._cursor = self.table.changed.cursor
        if changed is None:
            self._laid[:] = False
        self._laid = grown(self._laid, self.table.size)
        if changed is not None:
            self._laid[changed] = False
        for row in rows[~self._laid[rows]].tolist():
            self._lay_out(row)
            self._laid[row] = True

    def _lay_out(self, row: int) -> None:
        entries = self.entries[row] = sorted(self.table.pods[row], key=importance(self.by_start_time))
        self._make_room(len(entries), row + 1)
        self.priority[:, row] = NOBODY
        self.priority[: len(entries), row] = [entry.priority for entry in entries]
        self.template[: len(entries), row] = [self._number(entry.template) for entry in entries]
        self.started[: len(entries), row] = [instant(entry.pod.status.start_time or NEVER_STARTED) for entry in entries]

    def _make_room(self, places: int, rows: int) -> None:
        for name, filler in (("priority", NOBODY), ("template", 0), ("started", 0)):
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

    def asked_of(self, measure: Callable[[Template], int], dtype: Any = np.int64) -> NDArray[Any]:
        """*measure* of every template, by number."""
        return np.fromiter((measure(template) for template in self.templates), dtype, len(self.templates))
