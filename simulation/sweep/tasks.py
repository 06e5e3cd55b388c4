"""A run of a sweep, as it is handed to whatever runs it, and what is handed over once for all runs: the inputs as they were read."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ...api.reading.notices import Notice
from ...core.engine import Engine
from ...exceptions import KubeclassicError
from ...framework.copying import Frozen, freeze_spec, thaw_spec
from ...framework.schedulerspec import ConfigMaps, SchedulerSpec
from ...framework.userrules import execute_files, rule_files
from ..releasenotes import input_notices, with_release_notices
from ..replay.inputs.inputs import Inputs
from ..replay.replay import Replay
from ..scenario import Scenario
from ..simulate import Simulation
from .inputspec import InputSpec, TraceInput
from .measures import Measures, OverTime, replay_measures, simulation_measures
from .weights import Weights, weighed_algorithm, weighed_profiles


@attrs.frozen(repr=False)
class Place:
    """Which input, and what of the configuration counts when it is read."""

    input: str
    scheduler_names: frozenset[str]
    priorities: bool = True
    """Gate PodPriority is on."""
    edits: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Task:
    """One run."""

    scheduler_spec: SchedulerSpec
    place: Place
    weights: Weights = attrs.field(factory=dict)
    order: str = "input"
    shuffle: int | None = None
    """The seed by which waiting pods are shuffled first."""

    def __reduce__(self) -> tuple[Any, ...]:
        values = {field.name: getattr(self, field.name) for field in attrs.fields(Task)}
        return _thawed, (freeze_spec(values.pop("scheduler_spec")), values)

    def engine(self, config_maps: ConfigMaps) -> Engine:
        """A new scheduler. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what the release refuses."""
        spec = self.scheduler_spec.settled(config_maps)
        if not self.weights:
            return spec.engine(config_maps)
        if spec.profiles is not None:
            return spec.engine_of(weighed_profiles(spec.profiles, self.weights, spec.plugins, spec.version))
        return spec.engine_of(weighed_algorithm(spec.algorithm(config_maps), self.weights, spec.catalogue))


def _shared(files: Mapping[str, str], specs: Mapping[str, InputSpec], read: dict[Place, Scenario | Inputs | str]) -> Shared:
    execute_files(files)
    return Shared(specs, read)


def _thawed(scheduler_spec: Frozen, values: dict[str, Any]) -> Task:
    return Task(scheduler_spec=thaw_spec(scheduler_spec), **values)


@attrs.frozen(repr=False)
class Done:
    """What became of a run: its measures, or its error."""

    measures: Measures | None = None
    error: str | None = None


@attrs.define(eq=False, repr=False)
class Shared:
    """What runs have in common: the inputs, read once, by place. """

    specs: Mapping[str, InputSpec]
    read: dict[Place, Scenario | Inputs | str] = attrs.field(factory=dict)
    """A text is the error that reading it came to."""

    def __reduce__(self) -> tuple[Any, ...]:
        specs = {name: attrs.evolve(spec, trace=()) for name, spec in self.specs.items() if isinstance(spec, TraceInput)}
        return _shared, (rule_files(), specs, self.read)

    def take(self, place: Place) -> None:
        """Read the input of *place*, if that has not been done yet."""
        if place in self.read:
            return
        try:
            self.read[place] = self.specs[place.input].load(place.scheduler_names, place.priorities, place.edits)
        except KubeclassicError as error:
            self.read[place] = str(error)

    def notices(self, task: Task) -> Sequence[Notice]:
        """What is odd in the input of *task*, and what of it does not count."""
        given = self.read[task.place]
        if isinstance(given, str):
            return ()
        try:
            algorithm = task.engine(given.config_maps).algorithm
        except KubeclassicError:  # its row says why
            return given.warnings
        if isinstance(given, Scenario):
            return with_release_notices(given, [algorithm]).warnings
        return input_notices(given, algorithm, task.scheduler_spec.version)

    def run(self, task: Task) -> Done:
        """Run *task*; whatever goes wrong is in its result."""
        try:
            given = self.read[task.place]
            if isinstance(given, str):
                return Done(error=given)
            return Done(_simulated(task, given) if isinstance(given, Scenario) else self._replayed(task, given))
        except KubeclassicError as error:
            return Done(error=str(error))
        except Exception as error:  # a run that fails is a row of the table; the others go on
            return Done(error=f"{type(error).__name__}: {error}")

    def _replayed(self, task: Task, inputs: Inputs) -> Measures:
        spec = self.specs[task.place.input]
        assert isinstance(spec, TraceInput)
        name, seed = next(iter(task.scheduler_spec.scheduler_names)), task.scheduler_spec.seed
        replay = Replay(inputs, task.engine(inputs.config_maps), spec.delays, seed, name, spec.recreate, spec.until)
        over_time = OverTime(replay)
        for _ in replay.run():
            pass
        return replay_measures(replay, over_time)


def _simulated(task: Task, scenario: Scenario) -> Measures:
    if task.shuffle is not None:
        pending = list(scenario.pending)
        random.Random(task.shuffle).shuffle(pending)
        scenario = attrs.evolve(scenario, pending=tuple(pending))
    simulation = Simulation(scenario, task.engine(scenario.config_maps), task.order)
    for _ in simulation.decisions():
        pass
    return simulation_measures(simulation)
