"""A sweep from beginning to end: which runs are there, which are known already, and the rows of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from ...api.reading.notices import Notice
from ...exceptions import KubeclassicError
from ..processes.executors import Executor
from .plan import Planner, Settings
from .sweepfolder import RunJournal
from .tasks import Done, Place, Shared, Task

Row = dict[str, Any]
RUN, ERROR = "run", "error"
Progress = Callable[[int, int], None]
"""Gets how many runs are finished, and how many there are."""


@attrs.define(eq=False, repr=False)
class Sweep:
    """The runs of a plan. :meth:`rows` may be called several times: what ran once is known."""

    planner: Planner
    executor: Executor
    journal: RunJournal
    progress: Progress = attrs.field(default=lambda done, total: None)
    shared: Shared = attrs.field(init=False)
    expected: int = 0
    """How many rows there will be in all, if :meth:`rows` is called several times."""
    ran: int = 0
    """How many runs were not known before."""
    _numbered: int = 0
    _planned: dict[tuple[Place, str, str], Task] = attrs.field(factory=dict)
    """A task for each input, release and gates."""

    def __attrs_post_init__(self) -> None:
        self.shared = Shared(self.planner.spec.inputs)

    def rows(self, points: Sequence[Settings]) -> list[Row]:
        """A row a point, in order: its number, settings, objectives and error.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` if none of them can even begin.
        """
        planned = [self.planner.task(point) for point in points]
        refused = [task for task in planned if isinstance(task, Done)]
        if planned and len(refused) == len(planned):
            raise KubeclassicError(f"none of {len(planned)} runs can begin; the first one: {refused[0].error}")
        tasks = {task.key: task for task in planned if isinstance(task, Task)}
        for task in tasks.values():
            self._planned.setdefault((task.place, task.scheduler_spec.version, task.scheduler_spec.switches), task)
        found = self._done(tasks)
        return [self._row(point, task, found) for point, task in zip(points, planned, strict=True)]

    def notices(self) -> list[Notice]:
        """What is odd in the inputs, and what of them some release of the runs does not read."""
        found: list[Notice] = []
        for task in self._planned.values():
            self.shared.take(task.place)
            found += self.shared.notices(task)
        return list(dict.fromkeys(found))

    def _done(self, tasks: Mapping[str, Task]) -> dict[str, Done]:
        found = {key: self.journal.known[key] for key in tasks if key in self.journal.known}
        missing = [task for key, task in tasks.items() if key not in found]
        self._tell(len(found), len(tasks))
        for task in missing:
            self.shared.take(task.place)
        for task, done in self.executor.run(missing, self.shared) if missing else ():
            self.journal.note(task.key, done)
            found[task.key] = done
            self.ran += 1
            self._tell(len(found), len(tasks))
        return found

    def _tell(self, done: int, total: int) -> None:
        """Tell how far this call is, those before it included."""
        self.progress(self._numbered + done, max(self._numbered + total, self.expected))

    def _row(self, point: Settings, task: Task | Done, found: Mapping[str, Done]) -> Row:
        self._numbered += 1
        done = task if isinstance(task, Done) else found[task.key]
        measures = done.measures or {}
        values = {name: measures.get(name) for name in self.planner.spec.objectives}
        return {RUN: self._numbered, **point, **values, ERROR: done.error}
