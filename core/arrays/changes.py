"""The log of what happened to the rows of a table: the input from which all that is kept between cycles is brought up to date."""

from __future__ import annotations

from collections.abc import Hashable
from operator import itemgetter
from typing import Any

import attrs

from ..pods.template import Template
from ..rebuilt import rebuilt_from
from .trail import Revisions, distinct
from .types import Rows

Event = tuple[int, Template | None]
"""A row that changed, and the template of the pod that came, where that is all."""


@rebuilt_from()
@attrs.define(eq=False, repr=False)
class Derived:
    """What was worked out of a table and can be worked out again: a copy begins empty."""

    kept: dict[Hashable, Any] = attrs.field(factory=dict)


@attrs.define(eq=False, repr=False)
class ChangeLog(Revisions[Event]):
    """A :class:`~.trail.Trail` of the table with one row a step, which also tells which pod came."""

    limit: int = 100_000
    node_revision: int = 0
    """Moves when a node object changes, or something that only rules see which look behind the table."""
    _latest: tuple[tuple[int, int], Rows] | None = None
    """The answer to the latest question, as many readers ask the same one."""

    def node_changed(self, row: int) -> None:
        """The node object of *row* changed, or its whole content."""
        self.node_revision += 1
        self._add((row, None))

    def pod_came(self, row: int, template: Template) -> None:
        """A pod of *template* was put on *row*."""
        self._add((row, template))

    def pod_left(self, row: int) -> None:
        """A pod was taken off *row*."""
        self._add((row, None))

    def unseen_changed(self) -> None:
        """Something changed that no row shows, for rules that look behind the table."""
        self.node_revision += 1

    def since(self, revision: int) -> Rows | None:
        """The rows that changed after *revision*, each once, ascending: intp[k]; None: look at all."""
        if self._latest is None or self._latest[0] != (revision, self.revision):
            events = self.steps_since(revision)
            if events is None:
                return None
            self._latest = (revision, self.revision), distinct(list(map(itemgetter(0), events)))
        return self._latest[1]
