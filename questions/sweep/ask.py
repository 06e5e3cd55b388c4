"""Sweep: its runs, in the order of the table; the question, and its view."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import cached_property
from itertools import chain, product
from typing import Annotated, Any

import attrs

from ...algorithmprovider.catalogue import CATALOGUE, Catalogue
from ...algorithmprovider.policy import Registry
from ...api.meaning import ServerRules
from ...api.reading import Notice, PathLike, ResultDocument, grouped
from ...api.record import Count, Names, says
from ...api.view import Column, Section, Table, View, on_page
from ...api.words import brief, count_of
from ...core.engine import Engine
from ...exceptions import KubeclassicError, UnknownNameError, did_you_mean
from ...framework.config.profiles import PluginEntry, PluginSet
from ...framework.copying import Frozen, freeze_spec, thaw_spec
from ...framework.options import default_release, follows_nodes, options_of, version_of
from ...framework.plugin import Plugin
from ...framework.registry import registry_of
from ...framework.releases import FRAMEWORK_RELEASES
from ...framework.schedulerspec import ConfigMaps, SchedulerSpec
from ...framework.userrules import execute_files, names_catalogue, rule_files
from ...simulation.executors import run_on
from ...simulation.input import edits_of, loaded_of, paths_among, scenario_of, spec_of
from ...simulation.releasenotes import input_notices, with_release_notices
from ...simulation.sides import SUCCESSORS
from ...simulation.simulate import Scenario, Simulation
from ..asking import Observer, Result, Row, asked_by
from ..replay.inputs import InputOptions, Inputs, read_inputs
from ..replay.replay import Replay
from .options import SweepOptions
from .spec import (
    EDITS,
    FILES,
    OF_A_RESOURCE,
    OPTIONS,
    ORDER,
    RULES,
    SEED,
    SHUFFLED,
    WEIGHT,
    Best,
    Measures,
    Spec,
    SweepConfiguration,
    best_of,
    cell,
    configurations,
    read_spec,
    replay_measures,
    simulation_measures,
)

# --- runs ---------------------------------------------------------------------------------------------------


def _unknown(name: str, version: str, candidates: Iterable[str]) -> UnknownNameError:
    names = list(candidates)
    instead = next((successor for successor in SUCCESSORS.get(name, ()) if successor in names), None)
    hint = f"; {instead} took its place" if instead else did_you_mean(name, names)
    return UnknownNameError(f"weights.{name}: release {version} has no rule by that name that scores{hint}")


Settings = Mapping[str, Any]
"""Key of the grid -> value; also ``name``."""
RUN = "run"
ERROR = "error"


# --- one run ------------------------------------------------------------------------------------------------


Place = tuple[frozenset[str], ServerRules, Names]
"""The parts of a configuration that count when the input is read: names of schedulers, admission, edits."""


@attrs.frozen(eq=False, repr=False)
class Task:
    """One run, as it is handed to the executor."""

    scheduler_spec: SchedulerSpec
    settings: Settings

    def __reduce__(self) -> tuple[Any, ...]:
        return _thawed, (freeze_spec(self.scheduler_spec), dict(self.settings))

    @property
    def place(self) -> Place:
        """The place of the run's input."""
        spec = self.scheduler_spec
        return spec.scheduler_names, spec.server, edits_of(self.settings.get(EDITS) or ())

    def engine(self, config_maps: ConfigMaps) -> Engine:
        """A new scheduler. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for settings that the
        release refuses."""
        spec = self.scheduler_spec.settled(config_maps)
        weights = {
            key.removeprefix(WEIGHT): value for key, value in self.settings.items() if key.startswith(WEIGHT)
        }  # 0: the rule does not count at all
        if not weights:
            return spec.engine(config_maps)
        if spec.profiles is not None:
            # These weights in each of its profiles.
            plugins = {
                **registry_of(spec.profiles.release),
                **{plugin.name: plugin for plugin in spec.plugins},
            }
            for name in weights:
                if name not in plugins:
                    raise _unknown(name, spec.version, plugins)
            scored, prepared = (
                {
                    plugin.name
                    for profile in spec.engine(config_maps).profiles.values()
                    for plugin in profile.points[point]
                }
                for point in ("score", "preScore")
            )
            profiles = []
            for profile in spec.profiles.profiles:
                score = profile.at("score")
                # What a point enables or disables itself counts before multiPoint.
                enabled = [plugin for plugin in score.enabled if plugin.name not in weights]
                disabled = [plugin for plugin in score.disabled if plugin.name not in weights]
                enabled += [PluginEntry(name, weight) for name, weight in weights.items() if weight]
                disabled += [PluginEntry(name) for name, weight in weights.items() if not weight]
                plugin_sets = {**profile.plugins, "score": PluginSet(tuple(enabled), tuple(disabled))}
                # A plugin that is added brings its PreScore along, without which its scores are errors.
                added = [
                    PluginEntry(name)
                    for name, weight in weights.items()
                    if weight and name not in {*scored, *prepared} and "preScore" in plugins[name].joined()
                ]
                if added:
                    pre_score = profile.at("preScore")
                    plugin_sets["preScore"] = attrs.evolve(pre_score, enabled=(*pre_score.enabled, *added))
                profiles.append(attrs.evolve(profile, plugins=plugin_sets))
            return spec.engine_of(attrs.evolve(spec.profiles, profiles=tuple(profiles)))
        # A priority that the algorithm does not have is added.
        algorithm = spec.algorithm(config_maps)
        registry = Registry.of(algorithm.release, algorithm.gates, spec.catalogue).priorities
        priorities = {priority.name: (priority, weight) for priority, weight in algorithm.priorities}
        for name, weight in weights.items():
            if name not in priorities and name not in registry:
                raise _unknown(name, algorithm.release.version, {**priorities, **registry})
            priorities[name] = (priorities[name][0] if name in priorities else registry[name](), weight)
        weighed = tuple(priorities[name] for name in sorted(priorities) if priorities[name][1])
        return spec.engine_of(attrs.evolve(algorithm, priorities=weighed))


def _thawed(scheduler_spec: Frozen, settings: Settings) -> Task:
    return Task(thaw_spec(scheduler_spec), settings)


@attrs.define(eq=False, repr=False)
class SharedInput:
    """The input that runs share, handed over once for all of them and read once for each place."""

    until: float | None
    inputs: dict[Place, Scenario | Inputs | str] = attrs.Factory(dict)
    """Place -> the input, or the error of reading it as a text."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _shared, (rule_files(), self.until, self.inputs)

    def take(self, spec: Spec, place: Place) -> None:
        """Read the input of *spec* for *place*, if that has not been done yet."""
        names, server, edits = place
        if place in self.inputs:
            return
        try:
            if not spec.trace:
                self.inputs[place] = scenario_of(
                    spec.cluster, spec.pods, scheduler_names=names, edits=edits, server=server
                )
            elif edits:
                self.inputs[place] = f"{EDITS}: expected a cluster, got {edits[0]!r} for a trace"
            else:
                choice = InputOptions(scheduler_names=names)
                given = loaded_of("trace", spec.trace, defaults=True)
                self.inputs[place] = read_inputs(
                    paths_among("trace", spec.trace), choice, given=given, server=server
                )
        except KubeclassicError as error:
            self.inputs[place] = str(error)

    def notices(self, task: Task) -> Sequence[Notice]:
        """The notices about the input of *task*, and the parts of it that do not count."""
        inputs = self.inputs[task.place]
        if isinstance(inputs, str):
            return ()
        try:
            algorithm = task.engine(inputs.config_maps).algorithm
        except KubeclassicError:  # its row says why
            return inputs.warnings
        if isinstance(inputs, Scenario):
            return with_release_notices(inputs, [algorithm], named=[task.settings.get("release")]).warnings
        return (*inputs.warnings, *input_notices(inputs.objects, algorithm, task.scheduler_spec.version))

    def run(self, task: Task) -> Measures | str:
        """The measures of *task*, or its error."""
        inputs = self.inputs[task.place]
        settings = task.settings
        spec = task.scheduler_spec
        try:
            if isinstance(inputs, str):
                return inputs
            engine = task.engine(inputs.config_maps)
            if isinstance(inputs, Inputs):
                replay = Replay(
                    inputs, engine, seed=spec.seed, scheduler_name=spec.first_scheduler_name, until=self.until
                )
                for _ in replay.run():
                    pass
                return replay_measures(replay)
            order = settings.get(ORDER, "priority")
            if order == SHUFFLED:
                order = "input"
                pending = list(inputs.pending)
                random.Random(settings.get(SEED, 0)).shuffle(pending)
                inputs = attrs.evolve(inputs, pending=tuple(pending))
            simulation = Simulation(inputs, engine, order)
            simulation.finish()
            return simulation_measures(simulation)
        except KubeclassicError as error:
            return str(error)
        except Exception as error:  # a run that fails is a row of the table; the others go on
            return f"{type(error).__name__}: {error}"


def _shared(
    files: Mapping[str, str], until: float | None, inputs: dict[Place, Scenario | Inputs | str]
) -> SharedInput:
    execute_files(files)
    return SharedInput(until, inputs)


# --- all runs -----------------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class Sweep:
    """The runs of *spec* with a user's own rules, in the processes of *executor*; None: in this one."""

    spec: Spec
    catalogue: Catalogue
    plugins: Sequence[type[Plugin]]
    rules: Sequence[str]
    """Places of more rules; each release takes those of its kind."""
    executor: Executor | None
    progress: Callable[[int, int], None]
    """Called with the number of finished runs and of all."""
    shared: SharedInput = attrs.field(init=False)
    _planned: dict[tuple[Place, str, str, Any], Task] = attrs.field(factory=dict, init=False)
    """A task for each place, release, gates, and release as it was named."""

    @shared.default
    def _inputs(self) -> SharedInput:
        return SharedInput(self.spec.until)

    @cached_property
    def _kubelets(self) -> list[str]:
        """The versions of the nodes, for runs that name no release."""
        place = Task(spec_of(None), {}).place
        self.shared.take(self.spec, place)
        inputs = self.shared.inputs[place]
        return [] if isinstance(inputs, str) else [node.status.kubelet_version for node in inputs.nodes]

    def points(self) -> Iterator[Settings]:
        """Each combination: runs, then the grid, whose last key changes fastest."""
        for run in self.spec.runs or ({},):
            for values in product(*self.spec.grid.values()):
                yield {**run, **dict(zip(self.spec.grid, values, strict=True))}

    def rows(self, points: Sequence[Settings]) -> list[Row]:
        """A row for each point, in order: its number, settings, objectives and error.

        Raises :class:`~kubeclassic.exceptions.KubeclassicError` if none of them can even begin.
        """
        results = dict[int, Measures | str]()
        tasks = dict[int, Task]()
        for number, point in enumerate(points):
            task = self._task(point)
            if isinstance(task, str):
                results[number] = task
                continue
            tasks[number] = task
            scheduler = task.scheduler_spec
            self._planned.setdefault(
                (task.place, scheduler.version, scheduler.switches, point.get("release")), task
            )
            self.shared.take(self.spec, task.place)
        if points and not tasks:
            raise KubeclassicError(f"none of {len(points)} runs can begin; the first one: {results[0]}")
        numbers = list(tasks)
        for at, done in run_on(self.executor, self.shared.run, list(tasks.values())):
            results[numbers[at]] = done
            self.progress(len(results), len(points))
        rows = []
        for number, point in enumerate(points):
            result = results[number]
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
            rules = edits_of(options.pop(RULES, ()))
            own_rules = [
                os.path.join(self.spec.folder, place) if ".py:" in place else place for place in rules
            ]
            places = {place: names_catalogue([place]) for place in (*self.rules, *own_rules)}
            values = {**options, RULES: own_rules}
            if follows_nodes(values):
                options["release"] = values["release"] = default_release(values, self._kubelets)
            is_framework = version_of(values) in FRAMEWORK_RELEASES
            options[RULES] = [place for place, is_catalogue in places.items() if is_catalogue != is_framework]
            options |= {"plugins": tuple(self.plugins)} if is_framework else {"catalogue": self.catalogue}
            spec = spec_of(options_of(options))
            order = settings.get(ORDER, "input")
            if self.spec.trace and order != "input":
                return f"{ORDER}: got {order} for a trace, whose pods come in their own order"
            return Task(spec, settings)
        except KubeclassicError as error:
            return str(error)


# --- the question -------------------------------------------------------------------------------------------


MOST_GROUPS = 3
MOST_NAMED = 2
"""How many configurations that are best in something a verdict names."""
Value = str | float | bool | Names | None
Run = Annotated[
    Mapping[str, Value],
    says(
        "A row of a run: run, a value by setting, a number by objective, error.",
        extra_json_schema={
            "required": [RUN, ERROR],
            "properties": {
                RUN: {"type": "integer", "minimum": 1},
                ERROR: {"type": ["string", "null"], "description": "Why the run failed; null: it did not."},
            },
        },
    ),
]


class SweepDocument(ResultDocument, kw_only=True):
    """The table of a sweep."""

    KIND = "Sweep"
    settings: Names
    """The columns with the settings of a run, in order."""
    objectives: Names
    """The columns with the results of a run, in order."""
    failed: Count
    """How many runs have an error."""
    runs: Sequence[Run]
    """A row for each run, in the order of the grid."""


@attrs.frozen(eq=False, repr=False, kw_only=True, slots=False)
class SweepResult(Result):
    """The table of a sweep."""

    rows: tuple[Row, ...]
    """A row for each run, in the order of the grid: ``run``, settings, objectives, ``error``."""
    settings: Names
    """The columns with the settings of a run."""
    objectives: Names
    rules: Sequence[str]
    """Places of the user's own rules."""

    @property
    def columns(self) -> Names:
        """The columns of the table."""
        return (RUN, *self.settings, *self.objectives, ERROR)

    @property
    def failed(self) -> int:
        """The number of runs with an error."""
        return sum(row[ERROR] is not None for row in self.rows)

    @property
    def ok(self) -> bool:
        """Whether no run has an error."""
        return not self.failed

    @property
    def document(self) -> SweepDocument:
        """The document that the command prints."""
        return SweepDocument(
            warnings=self.told_warnings(),
            settings=self.settings,
            objectives=self.objectives,
            failed=self.failed,
            runs=[{column: row.get(column) for column in self.columns} for row in self.rows],
        )

    def origin(self) -> dict[str, Any]:
        unread = [group.text for group in self.warnings if group.is_unread]
        releases = [row["release"] for row in self.rows if row.get("release")]
        return {
            "releases": releases,
            "rules": self.rules,
            "warnings": [*map(str, self.warnings)],
            "unread": unread,
        }

    def asides(self, form: str) -> Iterator[str]:
        yield count_of(len(self.rows), "run") + (f", {self.failed} failed" if self.failed else "")
        yield from (f"{group.text}." if group.is_unread else f"warning: {group}" for group in self.warnings)

    @cached_property
    def compared(self) -> list[SweepConfiguration]:
        """The configurations, each with its means over seeds."""
        return configurations(self.rows, self.settings, self.objectives)

    @property
    def bests(self) -> list[Best]:
        """The best configurations of each objective in which some differ."""
        return best_of(self.compared, self.objectives)

    def _view(self) -> View:
        # A row for each run.
        columns = [Column(RUN, "count")]
        for key in self.settings:
            columns += [
                Column(key, "decimal", forms="table csv"),
                Column(key, forms="data"),
                Column(key.removeprefix(WEIGHT), "name", filter=not key.startswith(WEIGHT), forms="page"),
            ]
        for name in self.objectives:
            columns += [Column(name, "decimal", forms="table data csv"), Column(name, "count", forms="page")]
        columns.append(Column(ERROR, forms="table data csv" if self.failed else "data csv"))
        rows = []
        failed = []
        for row in self.rows:
            values = [row.get(key) for key in self.settings]
            settings = [(cell(value), value, None if value is None else str(cell(value))) for value in values]
            objectives = (value for name in self.objectives for value in (row.get(name),) * 2)
            rows.append([row[RUN], *chain.from_iterable(settings), *objectives, row[ERROR]])
            if row[ERROR]:
                failed.append([row[RUN], *(text for _, _, text in settings), row[ERROR]])
        bests = [[best.objective, brief(best.value), winners(best.names)] for best in self.bests]
        heads = "objective | name; best; of | name"
        lacking = (Column(RUN, "count"), *(Column(key) for key in self.settings), Column(ERROR))
        note = on_page("They are in no mean." if self.failed else "", look="note")
        return View(
            verdict=_verdict(self),
            facts={"runs": len(self.rows), "failed": self.failed or None},
            sections=[
                Section(
                    "Which is best in what",
                    [Table("bests", heads, bests, forms="page")],
                    "Over several seeds it is the mean.",
                ),
                Section("Every run", [Table("runs", columns, rows, noun="run", forms="table page data csv")]),
                Section(
                    "Runs that failed", [*note, Table("failed", lacking, failed, noun="run", forms="page")]
                ),
            ],
            main="runs",
        )


@asked_by(SweepOptions, "spec", opens=lambda given, options: given)
def sweep(
    spec: PathLike | Mapping[str, Any] | Spec, options: SweepOptions, observer: Observer
) -> SweepResult:
    """Run each combination of a grid; each has a row of results.

    *spec* is the path of a file, as ``docs/guides/sweep.md`` describes it, or its content as a dict, in which
    a cluster may also be a Cluster. A run that fails is a row with its ``error``.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> result = sweep({"cluster": [node, {"kind": "Pod", "metadata": {"name": "web"}}], "grid": {"release": ["1.12", "1.16"]}})
    >>> result, [row["placed"] for row in result.rows]
    (<SweepResult: runs 2>, [1, 1])
    """
    parsed = read_spec(spec)
    with observer.working("sweeping", "runs") as at:
        tell = options.on_progress or at
        sweeping = Sweep(
            parsed, options.catalogue or CATALOGUE, options.plugins, options.rules, options.executor, tell
        )
        points = list(sweeping.points())
        rows = tuple(sweeping.rows(points))
        settings = tuple(dict.fromkeys(key for point in points for key in point))
    for name in parsed.objectives if any(row[ERROR] is None for row in rows) else ():
        resource, _, what = name.rpartition(" ")
        if what in OF_A_RESOURCE and all(row[name] is None for row in rows):
            observer.doubt(f"objectives: {name}: no node has {resource}")
    return SweepResult(
        rows=rows,
        settings=settings,
        objectives=parsed.objectives,
        warnings=grouped(sweeping.notices()),
        rules=options.rules,
    )


# --- in words -----------------------------------------------------------------------------------------------


def _verdict(result: SweepResult) -> str:
    """The best configuration, and its objective, in one sentence."""
    compared = result.compared
    groups = defaultdict[Names, list[Best]](list)
    if not compared:
        return f"All {len(result.rows):,} runs failed."
    if len(compared) == 1:
        return "One configuration: nothing to compare it with."
    for best in result.bests:
        groups[best.names].append(best)
    if not groups:
        return f"{len(compared):,} configurations have the same result."
    sentences = list[str]()
    for names, won in list(groups.items())[:MOST_GROUPS]:
        verb = "" if sentences else " is best" if len(names) == 1 else " are best"
        values = " and ".join([f"{best.objective} ({brief(best.value)})" for best in won])
        sentences.append(f"{winners(names)}{verb} in {values}")
    return f"{'; '.join(sentences)}."


def winners(names: Sequence[str]) -> str:
    """The first of *names*, and how many more there are."""
    more = len(names) - MOST_NAMED
    shown = [f"“{name}”" for name in names[: MOST_NAMED if more > 0 else None]]
    return " and ".join([*shown, *([f"{more:,} more"] if more > 0 else [])])
