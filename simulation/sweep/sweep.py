"""A sweep: from what it asks for to its runs, in the order of the table, and the rows of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from itertools import product
from typing import Any

import attrs

from ...algorithmprovider.catalogue import CATALOGUE, Catalogue
from ...api.reading.notices import Notice
from ...exceptions import KubeclassicError, UnknownNameError
from ...framework.options import options_of, version_of
from ...framework.plugin import Plugin
from ...framework.releases import FRAMEWORK_RELEASES
from ...framework.schedulerspec import SchedulerSpec
from ..executors import run_on
from ..input import edits_of, spec_of
from .axes import EDITS, FILES, INPUT, OPTIONS, ORDER, SEED, SHUFFLED, WEIGHT
from .spec import Spec
from .tasks import Done, Place, Shared, Task

Settings = Mapping[str, Any]
"""Key of the grid -> value; also ``input`` and ``name``."""


@attrs.frozen(repr=False)
class Rules:
    """A user's own rules: priorities and predicates for older releases, plugins for newer ones."""

    catalogue: Catalogue = CATALOGUE
    plugins: Sequence[type[Plugin]] = ()

    def options(self, is_framework: bool) -> dict[str, Any]:
        """The option of a scheduler that they are."""
        return {"plugins": tuple(self.plugins)} if is_framework else {"catalogue": self.catalogue}


@attrs.frozen(repr=False)
class Planner:
    """Makes the runs of *spec*."""

    spec: Spec
    rules: Rules = attrs.field(factory=Rules)

    def points(self) -> Iterator[Settings]:
        """Each combination: inputs, then runs, then the grid, whose last key changes fastest."""
        keys = list(self.spec.grid)
        for name in self.spec.inputs:
            for run in self.spec.runs or ({},):
                for values in product(*self.spec.grid.values()):
                    yield {INPUT: name, **run, **dict(zip(keys, values, strict=True))}

    def columns(self, points: Sequence[Settings]) -> tuple[str, ...]:
        """The columns of the table that say what a run was: an input or a name only where there are several."""
        found = dict.fromkeys(key for point in points for key in point)
        return tuple(key for key in found if key != INPUT or len(self.spec.inputs) > 1)

    def task(self, settings: Settings) -> Task | Done:
        """The run of *settings*, or why it cannot begin."""
        try:
            return self._task(settings)
        except KubeclassicError as error:
            return Done(error=str(error))

    def _task(self, settings: Settings) -> Task:
        spec = self._scheduler_spec(settings)
        is_trace, order = self.spec.inputs[settings[INPUT]].is_trace, settings.get(ORDER, "input")
        if is_trace and order != "input":
            raise UnknownNameError(f"{ORDER}: got {order} for a trace, whose pods come in their own order")
        edits = edits_of(settings.get(EDITS) or ())
        place = Place(settings[INPUT], spec.scheduler_names, spec.keeps_priorities, edits)
        weights = {key.removeprefix(WEIGHT): value for key, value in settings.items() if key.startswith(WEIGHT)}
        return Task(
            scheduler_spec=spec, place=place, weights=weights, order="input" if order == SHUFFLED else order,
            shuffle=settings.get(SEED, 0) if order == SHUFFLED else None,
        )  # fmt: skip

    def _scheduler_spec(self, settings: Settings) -> SchedulerSpec:
        options = {OPTIONS[key]: self._value(key, settings) for key in settings if key in OPTIONS and settings[key] is not None}
        return spec_of(options_of({**options, **self.rules.options(version_of(options) in FRAMEWORK_RELEASES)}))

    def _value(self, key: str, settings: Settings) -> Any:
        return str(self.spec.folder / settings[key]) if key in FILES else settings[key]


# --- the rows ---------------------------------------------------------------------------------------------------------


Row = dict[str, Any]
RUN, ERROR = "run", "error"
Progress = Callable[[int, int], None]
"""Gets how many runs are finished, and how many there are."""


@attrs.frozen(eq=False, repr=False)
class Sweep:
    """The runs of a plan; *executor*: what runs them, None: this process."""

    planner: Planner
    executor: Executor | None = None
    progress: Progress = attrs.field(default=lambda done, total: None)
    shared: Shared = attrs.field(init=False)
    _planned: dict[tuple[Place, str, str], Task] = attrs.field(factory=dict)
    """A task for each input, release and gates."""

    @shared.default
    def _inputs(self) -> Shared:
        return Shared(self.planner.spec.inputs)

    def rows(self, points: Sequence[Settings]) -> list[Row]:
        """A row a point, in order: its number, settings, objectives and error.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` if none of them can even begin.
        """
        planned = [self.planner.task(point) for point in points]
        refused = [task for task in planned if isinstance(task, Done)]
        if planned and len(refused) == len(planned):
            raise KubeclassicError(f"none of {len(planned)} runs can begin; the first one: {refused[0].error}")
        tasks = {number: task for number, task in enumerate(planned) if isinstance(task, Task)}
        for task in tasks.values():
            self._planned.setdefault((task.place, task.scheduler_spec.version, task.scheduler_spec.switches), task)
            self.shared.take(task.place)
        found = {number: task for number, task in enumerate(planned) if isinstance(task, Done)}
        numbers = list(tasks)
        for at, done in run_on(self.executor, self.shared, list(tasks.values())):
            found[numbers[at]] = done
            self.progress(len(found), len(planned))
        return [self._row(number, point, found[number]) for number, point in enumerate(points)]

    def notices(self) -> list[Notice]:
        """What is odd in the inputs, and what of them some release of the runs does not read."""
        found = [notice for task in self._planned.values() for notice in self.shared.notices(task)]
        return list(dict.fromkeys(found))

    def _row(self, number: int, point: Settings, done: Done) -> Row:
        measures = done.measures or {}
        values = {name: measures.get(name) for name in self.planner.spec.objectives}
        return {RUN: number + 1, **point, **values, ERROR: done.error}
