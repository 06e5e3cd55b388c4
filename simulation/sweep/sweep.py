"""A sweep: from what it asks for to its runs, in the order of the table; which are known already, and the rows of all of them."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
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
from ..input import edits_of, spec_of
from ..processes.executors import Executor
from .axes import EDITS, FILES, INPUT, NODES, OPTIONS, ORDER, PODS, SEED, SHUFFLED, WEIGHT
from .inputspec import file_bytes
from .measures import MEASURED
from .spec import NAME, Spec
from .sweepfolder import RunJournal
from .tasks import Done, Place, Shared, Task

VERSION = str(import_module(__name__.partition(".")[0]).__version__)
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

    def digest(self) -> list[str]:
        """The name of each rule, and a hash of the file that it stands in."""
        added = [self.catalogue.predicates[name] for name in self.catalogue.added_predicates]
        weighed = [(self.catalogue.priorities[name], weight) for name, weight in self.catalogue.added_priorities.items()]
        homes = [(rule.name, _home(getattr(rule, "declared", rule), "check")) for rule in added]
        homes += [(f"{rule.name} {weight}", _home(getattr(rule, "declared", rule), "score")) for rule, weight in weighed]
        homes += [(plugin.name, plugin.__module__) for plugin in self.plugins]
        return [f"{name}: {_hash_of_module(home)}" for name, home in homes]


def _home(rule: object, function: str) -> str:
    return str(getattr(getattr(rule, function), "__module__", ""))


def _hash_of_module(name: str) -> str:
    """A hash of the file of a module; of one without a file, its name."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return name if file is None else hashlib.sha256(file_bytes(file)).hexdigest()


@attrs.define(repr=False)
class Planner:
    """Makes the runs of *spec*."""

    spec: Spec
    rules: Rules = attrs.field(factory=Rules)
    _digests: dict[str, str] = attrs.field(factory=dict)

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
            key=self.key(settings), scheduler_spec=spec, place=place, weights=weights, order="input" if order == SHUFFLED else order,
            shuffle=settings.get(SEED, 0) if order == SHUFFLED else None, nodes=settings.get(NODES, 1), pods=settings.get(PODS, 1),
        )  # fmt: skip

    def _scheduler_spec(self, settings: Settings) -> SchedulerSpec:
        options = {OPTIONS[key]: self._value(key, settings) for key in settings if key in OPTIONS and settings[key] is not None}
        return spec_of(options_of({**options, **self.rules.options(version_of(options) in FRAMEWORK_RELEASES)}))

    def _value(self, key: str, settings: Settings) -> Any:
        return str(self.spec.folder / settings[key]) if key in FILES else settings[key]

    def key(self, settings: Settings) -> str:
        """A hash of all that the result of a run depends on: settings, the content of files, the user's rules, our version."""
        known = {key: value for key, value in settings.items() if key != NAME}
        files = {key: hashlib.sha256(file_bytes(self._value(key, known))).hexdigest() for key in FILES if known.get(key)}
        ours = {"measured": MEASURED, "version": VERSION, "rules": self.rules.digest()}
        told = {**known, **files, **ours, INPUT: self._digest(settings[INPUT])}
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()[:32]

    def _digest(self, name: str) -> str:
        if name not in self._digests:
            self._digests[name] = self.spec.inputs[name].digest()
        return self._digests[name]


# --- the rows ---------------------------------------------------------------------------------------------------------


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
