"""A sweep: from what it asks for to its runs, in the order of the table, and the rows of all of them."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from itertools import product
from typing import Any

import attrs

from ...algorithmprovider.catalogue import Catalogue
from ...algorithmprovider.policy import Registry
from ...api.reading.notices import Notice
from ...core.engine import Engine
from ...exceptions import KubeclassicError, UnknownNameError, did_you_mean
from ...framework.config.configuration import PluginEntry, PluginSet
from ...framework.copying import Frozen, freeze_spec, thaw_spec
from ...framework.options import options_of, version_of
from ...framework.plugin import Plugin
from ...framework.registry import registry_of
from ...framework.releases import FRAMEWORK_RELEASES
from ...framework.schedulerspec import ConfigMaps, SchedulerSpec
from ...framework.userrules import execute_files, names_catalogue, rule_files
from ...simulation.executors import run_on
from ...simulation.input import edits_of, objects_of, paths_among, scenario_of, spec_of
from ...simulation.releasenotes import input_notices, with_release_notices
from ...simulation.scenario import Scenario
from ...simulation.sides import SUCCESSORS
from ...simulation.simulate import Simulation
from ..replay.inputs.inputs import InputOptions, Inputs, read_inputs
from ..replay.replay import Replay
from .spec import (
    EDITS,
    FILES,
    OPTIONS,
    ORDER,
    RULES,
    SEED,
    SHUFFLED,
    WEIGHT,
    Measures,
    Spec,
    replay_measures,
    simulation_measures,
)

Weights = Mapping[str, int]
"""Name -> weight; 0: the rule does not count at all."""


def _unknown(name: str, version: str, known: Iterable[str]) -> UnknownNameError:
    names = list(known)
    instead = next((successor for successor in SUCCESSORS.get(name, ()) if successor in names), None)
    hint = f"; {instead} took its place" if instead else did_you_mean(name, names)
    return UnknownNameError(f"weights.{name}: release {version} has no rule by that name that scores{hint}")


Settings = Mapping[str, Any]
"""Key of the grid -> value; also ``name``."""
Row = dict[str, Any]
RUN = "run"
ERROR = "error"


# --- one run ------------------------------------------------------------------------------------------------


Place = tuple[frozenset[str], bool, tuple[str, ...]]
"""What of a configuration counts when the input is read: names of schedulers, gate PodPriority, and edits."""


@attrs.frozen(eq=False, repr=False)
class Task:
    """One run, as it is handed to whatever runs it."""

    scheduler_spec: SchedulerSpec
    settings: Settings

    def __reduce__(self) -> tuple[Any, ...]:
        return _thawed, (freeze_spec(self.scheduler_spec), dict(self.settings))

    @property
    def place(self) -> Place:
        """The place of the input."""
        spec = self.scheduler_spec
        return spec.scheduler_names, spec.keeps_priorities, edits_of(self.settings.get(EDITS) or ())

    def engine(self, config_maps: ConfigMaps) -> Engine:
        """A new scheduler. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what the release
        refuses."""
        spec = self.scheduler_spec.settled(config_maps)
        weights = {
            key.removeprefix(WEIGHT): value for key, value in self.settings.items() if key.startswith(WEIGHT)
        }
        if not weights:
            return spec.engine(config_maps)
        if spec.profiles is not None:
            # These weights in each of its profiles.
            there = (*registry_of(spec.profiles.release), *(plugin.name for plugin in spec.plugins))
            for name in weights:
                if name not in there:
                    raise _unknown(name, spec.version, there)
            profiles = []
            for profile in spec.profiles.profiles:
                score = profile.at("score")
                # What a point enables or disables itself counts before multiPoint.
                enabled = [plugin for plugin in score.enabled if plugin.name not in weights]
                disabled = [plugin for plugin in score.disabled if plugin.name not in weights]
                enabled += [PluginEntry(name, weight) for name, weight in weights.items() if weight]
                disabled += [PluginEntry(name) for name, weight in weights.items() if not weight]
                plugin_sets = {**profile.plugins, "score": PluginSet(tuple(enabled), tuple(disabled))}
                profiles.append(attrs.evolve(profile, plugins=plugin_sets))
            return spec.engine_of(attrs.evolve(spec.profiles, profiles=tuple(profiles)))
        # A priority that the algorithm does not have comes on top.
        algorithm = spec.algorithm(config_maps)
        known = Registry.of(algorithm.release, algorithm.gates, spec.catalogue).priorities
        found = {priority.name: (priority, weight) for priority, weight in algorithm.priorities}
        for name, weight in weights.items():
            if name not in found and name not in known:
                raise _unknown(name, algorithm.release.version, {**found, **known})
            found[name] = (found[name][0] if name in found else known[name](), weight)
        weighed = tuple(found[name] for name in sorted(found) if found[name][1])
        return spec.engine_of(attrs.evolve(algorithm, priorities=weighed))


def _thawed(scheduler_spec: Frozen, settings: Settings) -> Task:
    return Task(thaw_spec(scheduler_spec), settings)


@attrs.define(eq=False, repr=False)
class Shared:
    """The input that runs have in common, handed over once for all of them and read once a place."""

    until: float | None
    read: dict[Place, Scenario | Inputs | str] = attrs.Factory(dict)
    """A text is the error that reading it came to."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _shared, (rule_files(), self.until, self.read)

    def take(self, spec: Spec, place: Place) -> None:
        """Read the input of *spec* for *place*, if that has not been done yet."""
        names, priorities, edits = place
        if place in self.read:
            return
        try:
            if not spec.trace:
                self.read[place] = scenario_of(
                    spec.cluster, spec.pods, scheduler_names=names, edits=edits, priorities=priorities
                )
            elif edits:
                self.read[place] = f"{EDITS}: expected a cluster, got {edits[0]!r} for a trace"
            else:
                choice = InputOptions(priorities=priorities, scheduler_names=names)
                objects = objects_of("trace", spec.trace, defaults=True)
                self.read[place] = read_inputs(paths_among("trace", spec.trace), choice, objects=objects)
        except KubeclassicError as error:
            self.read[place] = str(error)

    def notices(self, task: Task) -> Sequence[Notice]:
        """The notices about the input of *task*, and the parts of it that do not count."""
        given = self.read[task.place]
        if isinstance(given, str):
            return ()
        try:
            algorithm = task.engine(given.config_maps).algorithm
        except KubeclassicError:  # its row says why
            return given.warnings
        if isinstance(given, Scenario):
            return with_release_notices(given, [algorithm]).warnings
        return (*given.warnings, *input_notices(given.objects, algorithm, task.scheduler_spec.version))

    def run(self, task: Task) -> Measures | str:
        """The measures of *task*, or the error that it came to."""
        given = self.read[task.place]
        settings = task.settings
        spec = task.scheduler_spec
        try:
            if isinstance(given, str):
                return given
            engine = task.engine(given.config_maps)
            if isinstance(given, Inputs):
                replay = Replay(
                    given, engine, seed=spec.seed, scheduler_name=spec.first_scheduler_name, until=self.until
                )
                for _ in replay.run():
                    pass
                return replay_measures(replay)
            order = settings.get(ORDER, "input")
            if order == SHUFFLED:
                order = "input"
                pending = list(given.pending)
                random.Random(settings.get(SEED, 0)).shuffle(pending)
                given = attrs.evolve(given, pending=tuple(pending))
            simulation = Simulation(given, engine, order)
            simulation.finish()
            return simulation_measures(simulation)
        except KubeclassicError as error:
            return str(error)
        except Exception as error:  # a run that fails is a row of the table; the others go on
            return f"{type(error).__name__}: {error}"


def _shared(
    files: Mapping[str, str], until: float | None, read: dict[Place, Scenario | Inputs | str]
) -> Shared:
    execute_files(files)
    return Shared(until, read)


# --- all runs -----------------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class Sweep:
    """The runs of *spec* with a user's own rules; *executor*: what runs them, None: this process."""

    spec: Spec
    catalogue: Catalogue
    plugins: Sequence[type[Plugin]]
    rules: Sequence[str]
    """Places of more of them; each release takes those of its kind."""
    executor: Executor | None
    progress: Callable[[int, int], None]
    """Gets how many runs are finished, and how many there are."""
    shared: Shared = attrs.field(init=False)
    _planned: dict[tuple[Place, str, str], Task] = attrs.field(factory=dict, init=False)
    """A task for each place, release and gates."""

    @shared.default
    def _inputs(self) -> Shared:
        return Shared(self.spec.until)

    def points(self) -> Iterator[Settings]:
        """Each combination: runs, then the grid, whose last key changes fastest."""
        for run in self.spec.runs or ({},):
            for values in product(*self.spec.grid.values()):
                yield {**run, **dict(zip(self.spec.grid, values, strict=True))}

    def rows(self, points: Sequence[Settings]) -> list[Row]:
        """A row a point, in order: its number, settings, objectives and error.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` if none of them can even begin.
        """
        found = dict[int, Measures | str]()
        tasks = dict[int, Task]()
        for number, point in enumerate(points):
            task = self._task(point)
            if isinstance(task, str):
                found[number] = task
                continue
            tasks[number] = task
            self._planned.setdefault(
                (task.place, task.scheduler_spec.version, task.scheduler_spec.switches), task
            )
            self.shared.take(self.spec, task.place)
        if points and not tasks:
            raise KubeclassicError(f"none of {len(points)} runs can begin; the first one: {found[0]}")
        numbers = list(tasks)
        for at, done in run_on(self.executor, self.shared.run, list(tasks.values())):
            found[numbers[at]] = done
            self.progress(len(found), len(points))
        rows = []
        for number, point in enumerate(points):
            result = found[number]
            measures, error = ({}, result) if isinstance(result, str) else (result, None)
            rows.append(
                {
                    RUN: number + 1,
                    **point,
                    **{name: measures.get(name) for name in self.spec.objectives},
                    ERROR: error,
                }
            )
        return rows

    def notices(self) -> list[Notice]:
        """The notices about the input, and the parts of it that some release of the runs does not read."""
        return list(
            dict.fromkeys(notice for task in self._planned.values() for notice in self.shared.notices(task))
        )

    def _task(self, settings: Settings) -> Task | str:
        """The run of *settings*, or why it cannot begin."""
        try:
            # A scheduler with these settings, and the rules that its release can have.
            options = {
                OPTIONS[key]: str(self.spec.folder / value) if key in FILES else value
                for key, value in settings.items()
                if key in OPTIONS and value is not None
            }
            given = edits_of(options.pop(RULES, ()))
            own = [os.path.join(self.spec.folder, place) if ".py:" in place else place for place in given]
            places = {place: names_catalogue([place]) for place in (*self.rules, *own)}
            is_framework = version_of({**options, RULES: own}) in FRAMEWORK_RELEASES
            options[RULES] = [place for place, is_catalogue in places.items() if is_catalogue != is_framework]
            options |= {"plugins": tuple(self.plugins)} if is_framework else {"catalogue": self.catalogue}
            spec = spec_of(options_of(options))
            order = settings.get(ORDER, "input")
            if self.spec.trace and order != "input":
                return f"{ORDER}: got {order} for a trace, whose pods come in their own order"
            return Task(spec, settings)
        except KubeclassicError as error:
            return str(error)
