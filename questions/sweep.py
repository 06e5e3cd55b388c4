"""Which configuration is best? Many, in one table."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import attrs

from ..algorithmprovider.catalogue import CATALOGUE, Catalogue
from ..api.reading.notices import NoticeGroup, ResultDocument, grouped
from ..api.record import Count, as_document, says
from ..api.view import Column, Name, Number, Part, Table, View, Words, step, table_of
from ..api.words import brief, count_of, decimal, listed
from ..exceptions import KubeclassicError
from ..framework.plugin import Plugin
from ..simulation.processes.executors import executor_of
from ..simulation.sweep.axes import WEIGHT
from ..simulation.sweep.confidence import over_seeds
from ..simulation.sweep.search import TRIAL, WeightSearchResult
from ..simulation.sweep.search import search as find_weights
from ..simulation.sweep.spec import Spec, read_spec
from ..simulation.sweep.sweep import ERROR, RUN, Planner, Rules, Settings, Sweep
from ..simulation.sweep.sweepconfigurations import Best, SweepConfiguration, best_of, configurations
from ..simulation.sweep.sweepfolder import RunJournal, cell, write_folder
from .result import Result, Row, joined

MOST_GROUPS, MOST_NAMED = 3, 2
"""Of configurations that are best in something, in a verdict."""
ALONE = "One configuration: nothing to compare it with."
Value = str | float | bool | tuple[str, ...] | None
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
Means = Annotated[
    Mapping[str, Value],
    says(
        'Of each objective NAME: the mean, and as "NAME low" and "NAME high" the ends of its 95 % interval.',
        extra_json_schema={
            "required": ["seeds"],
            "properties": {"seeds": {"type": "integer", "minimum": 0, "description": "How many runs the means are of."}},
        },
    ),
]


class SweepDocument(ResultDocument, kw_only=True):
    """The table of a sweep; sweep.json of --output is the same."""

    KIND = "Sweep"
    settings: Annotated[tuple[str, ...], says("The columns that say what a run was, in order.")]
    objectives: Annotated[tuple[str, ...], says("The columns that say what it came to, in order.")]
    failed: Annotated[Count, says("How many runs have an error.")]
    runs: Annotated[Sequence[Run], says("In the order of the grid.")]
    confidence: Annotated[Sequence[Means], says("A row for each configuration that ran with several seeds.")]
    search: WeightSearchResult | None


@attrs.frozen(eq=False, repr=False, kw_only=True, slots=False)
class SweepResult(Result):
    """The table of a sweep."""

    rows: tuple[Row, ...]
    """A row a run, in the order of the grid: ``run``, settings, objectives, ``error``."""
    settings: tuple[str, ...]
    """The columns that say what a run was."""
    objectives: tuple[str, ...]
    confidence: tuple[Row, ...] = ()
    """A row for each configuration that ran with several seeds: means, and the ends of their 95 % intervals."""
    found: WeightSearchResult | None = None
    """What a search came to: ``trials``, and the ``front`` that no trial beats."""
    ran: int = 0
    """How many runs were made now; the others were known from an earlier time."""
    notes: tuple[str, ...] = ()
    warnings: tuple[NoticeGroup, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table."""
        return (RUN, *self.settings, *self.objectives, ERROR)

    @property
    def failed(self) -> int:
        """How many runs have an error."""
        return sum(row[ERROR] is not None for row in self.rows)

    @property
    def front(self) -> tuple[Row, ...]:
        """The trials of a search that no other one beats."""
        return tuple(self.found.front) if self.found is not None else ()

    @property
    def ok(self) -> bool:
        """Whether no run has an error."""
        return not self.failed

    @property
    def document(self) -> SweepDocument:
        """What the command prints."""
        return SweepDocument(
            warnings=tuple(group.record() for group in self.warnings), settings=self.settings, objectives=self.objectives,
            failed=self.failed, runs=[{column: row.get(column) for column in self.columns} for row in self.rows],
            confidence=self.confidence, search=self.found,
        )  # fmt: skip

    @property
    def summary(self) -> str:
        """What ran, in a line."""
        told = count_of(len(self.rows), "run")
        if self.ran < len(self.rows):
            told += f", {self.ran} of them now"
        if self.failed:
            told += f", {self.failed} failed"
        if self.found is not None:
            told = f"{len(self.found.trials)} trials, {len(self.front)} of them beaten by no other; {told}"
        return told

    @cached_property
    def compared(self) -> list[SweepConfiguration]:
        """The configurations that are compared; of a search none."""
        return configurations(self.record()) if self.found is None else []

    def view(self) -> View:
        trials = [] if self.found is None else _trials(self.found)
        tables = [_runs(self), _means(self), table_of("confidence", self.confidence), *trials, _failed(self)]
        return View(
            title=type(self).__name__,
            verdict=_verdict(self) if self.found is None else _search_verdict(self.found),
            facts={
                "runs": len(self.rows), "failed": self.failed or None, "trials": None if self.found is None else len(self.found.trials),
                "front": len(self.front) or None,
            },
            tables=tables,
            main="runs",
        )  # fmt: skip


# --- asking ---------------------------------------------------------------------------------------------------------


def sweep(
    spec: str | os.PathLike[str] | Mapping[str, Any], *, output: str | os.PathLike[str] | None = None, jobs: int = 1,
    dask: str | None = None, search: bool = False, catalogue: Catalogue = CATALOGUE, plugins: Sequence[type[Plugin]] = (),
    on_progress: Callable[[int, int], None] | None = None,
) -> SweepResult:  # fmt: skip
    """Run each combination of a grid, and tell what each comes to.

    :param spec: the path of a file, as ``docs/guides/sweep.md`` describes it, or its content as a dict, in which a cluster may also
        be a Cluster.
    :param output: a folder for ``results.csv``, ``results.parquet`` and ``sweep.json``. Each finished run is written there at once, and a
        run that is there already is not made again.
    :param jobs: how many processes of this machine.
    :param dask: the address of a Dask scheduler, which runs them instead.
    :param search: search for weights, as the spec says, instead of running the grid once.
    :param catalogue: predicates and priorities of your own, for releases that have them.
    :param plugins: plugins of your own, for releases of the framework.
    :param on_progress: gets how many runs are finished, and how many there are.

    A run that fails is a row with its ``error``. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> found = sweep({"cluster": [node, {"kind": "Pod", "metadata": {"name": "web"}}], "grid": {"release": ["1.12", "1.16"]}})
    >>> found, [row["placed"] for row in found.rows]
    (<SweepResult: runs 2>, [1, 1])
    """
    wanted, folder = read_spec(spec), None if output is None else Path(output)
    if search and wanted.search is None:
        raise KubeclassicError("search: the spec has none, wanted search: {weights: {NAME: 0..10}, maximise: [placed]}")
    planner = Planner(wanted, Rules(catalogue, plugins))
    points = list(planner.points())
    with RunJournal(folder) as journal, executor_of(jobs, dask, len(points) if not search else None) as executor:
        made = Sweep(planner, executor, journal, on_progress or _ignore)
        result = _searched(made, points, wanted) if search else _of_grid(made, points, wanted)
    result = attrs.evolve(result, warnings=grouped(made.notices()))
    if folder is None:
        return result
    notes = write_folder(folder, result.columns, result.rows, as_document(result.document))
    return attrs.evolve(result, notes=tuple(notes))


def _ignore(done: int, total: int) -> None:
    """Progress is not reported."""


def _of_grid(made: Sweep, points: Sequence[Settings], wanted: Spec) -> SweepResult:
    rows, settings = made.rows(points), made.planner.columns(points)
    averaged = over_seeds(rows, settings, wanted.objectives)
    return SweepResult(rows=tuple(rows), settings=settings, objectives=wanted.objectives, confidence=tuple(averaged), ran=made.ran)


def _searched(made: Sweep, points: Sequence[Settings], wanted: Spec) -> SweepResult:
    assert wanted.search is not None
    rows, found = find_weights(made, points, wanted.search)
    weights = (f"weights.{name}" for name in wanted.search.weights)
    settings = (TRIAL, *made.planner.columns(points), *weights)
    return SweepResult(rows=tuple(rows), settings=settings, objectives=wanted.objectives, found=found, ran=made.ran)


# --- in words -------------------------------------------------------------------------------------------------------


def _verdict(found: SweepResult) -> Words:
    """Which configuration is best, and in what, in one sentence."""
    compared = found.compared
    if not compared:
        return Words("All ", Number(len(found.rows), "runs.length"), " runs failed.")
    groups: dict[tuple[str, ...], list[Best]] = defaultdict(list)
    bests = best_of(compared, found.objectives)
    for one in (one for one in bests if not one.rivals):
        groups[tuple(each.name for each in one.best)].append(one)
    if not bests:
        number = Number(len(compared), "confidence.length" if found.confidence else "")
        return Words(number, " configurations come to the same.") if len(compared) > 1 else Words(ALONE)
    said = list[Words]()
    for names, won in list(groups.items())[:MOST_GROUPS]:
        verb = "" if said else " is best" if len(names) == 1 else " are best"
        said.append(Words(winners(names), verb, " in ", _won(won)))
    return Words(joined([*said, *_uncertain([one for one in bests if one.rivals], bool(said))], "; "), ".")


def _uncertain(bests: Sequence[Best], said: bool) -> Iterator[Words]:
    """In what no configuration is better for certain."""
    if bests:
        no = "no" if said else "No"
        yield Words(no, " configuration is best for certain in ", Name(listed([one.objective for one in bests])), ", as intervals overlap")


def winners(names: Sequence[str]) -> Words:
    """The first of *names*, and how many more there are."""
    more = len(names) - MOST_NAMED
    shown: list[Part] = [Name(f"“{name}”") for name in names[: MOST_NAMED if more > 0 else None]]
    return joined([*shown, *([Words(Number(more, ""), " more")] if more > 0 else [])], " and ")


def _won(won: Sequence[Best]) -> Words:
    return joined([Words(Name(one.objective), " (", value_of(one.best[0], one.objective), ")") for one in won], " and ")


def value_of(one: SweepConfiguration, name: str) -> Part:
    """A value of a configuration, with its place."""
    return _measure(one.value(name), f"{one.path}.{step(name)}")


def _measure(value: float | None, path: str) -> Part:
    return "-" if value is None else Number(value, path, text=brief(value))


def _search_verdict(found: WeightSearchResult) -> Words:
    """How far the trials that none beats lie apart, and what the weights of today come to."""
    trials, front, names = found.trials, found.front, searched(found)
    counts = Words(Number(len(front), "search.front.length"), " of ", Number(len(trials), "search.trials.length"), " trials")
    beaten = " is beaten by no other: " if len(front) == 1 else " are beaten by no other: "
    spans = joined([_span(name, front) for name in names])
    today = joined([trial_value("trials", 0, name, trials[0]) for name in names], " and ")
    among = ", also beaten by none," if trials[0] in front and len(front) > 1 else ""
    return Words(counts, beaten, spans, f"; the weights as they are{among} come to ", today, ".")


def _span(name: str, front: Sequence[Row]) -> Words:
    least, most = (pick(range(len(front)), key=lambda at: front[at][name]) for pick in (min, max))
    first = trial_value("front", least, name, front[least])
    if front[least][name] == front[most][name]:
        return Words(Name(name), " ", first)
    return Words(Name(name), " from ", first, " to ", trial_value("front", most, name, front[most]))


def trial_value(where: str, at: int, name: str, row: Mapping[str, Any]) -> Part:
    """A value of a trial, with its place."""
    return _measure(row[name], f"search.{where}.{at}.{step(name)}")


def searched(found: WeightSearchResult) -> list[str]:
    """The objectives that a search looked at."""
    return [key for key in found.trials[0] if key != TRIAL and not key.startswith(WEIGHT)]


# --- tables ---------------------------------------------------------------------------------------------------------


def _runs(found: SweepResult) -> Table:
    """A row a run."""
    failed = ("table",) if found.failed else ()
    columns = [Column(RUN, "count")]
    for key in found.settings:
        is_few = not key.startswith(WEIGHT) and key != TRIAL
        columns += [
            Column(key, "decimal", forms=("table", "csv")), Column(key, forms=("data",)),
            Column(key.removeprefix(WEIGHT), "name", filter=is_few, forms=("page",)),
        ]  # fmt: skip
    for name in found.objectives:
        columns += [Column(name, "decimal", forms=("table", "data", "csv")), Column(name, "count", forms=("page",))]
    columns.append(Column(ERROR, forms=(*failed, "data", "csv")))
    rows = []
    for row in found.rows:
        settings = (value for key in found.settings for value in (cell(row.get(key)), row.get(key), _text(row.get(key))))
        objectives = (value for name in found.objectives for value in (row.get(name),) * 2)
        rows.append([row[RUN], *settings, *objectives, row[ERROR]])
    text = ("table",) if found.found is None else ()
    return Table("runs", columns, rows, noun="run", forms=(*text, "page", "data", "csv"))


def _text(value: Any) -> str | None:
    """A setting as a cell of a page."""
    return None if value is None else str(cell(value))


def _means(found: SweepResult) -> Table:
    """A row a configuration: text has it with intervals."""
    settings = [key for key in found.settings if key != "seed"]
    text = [Column(key, "decimal", forms=("table",)) for key in (*settings, "seeds", *found.objectives)]
    page = [Column(name, "count", forms=("page",)) for name in found.objectives]
    columns = [*text, Column("configuration", "name", forms=("page",)), Column("seeds", "count", forms=("page",)), *page]
    rows = [
        [
            *(cell(one.row.get(key)) for key in settings), one.row["seeds"], *(_mean(one.row, name) for name in found.objectives),
            one.name, one.row["seeds"], *map(one.value, found.objectives),
        ]
        for one in (found.compared if found.confidence else ())
    ]  # fmt: skip
    return Table("means", columns, rows, noun="configuration", forms=("table", "page") if rows else ())


def _mean(row: Mapping[str, Any], name: str) -> str | None:
    """A mean with its interval: ``21.3 (20.9 to 21.7)``."""
    if row.get(name) is None:
        return None
    mean, low, high = (decimal(row[key]) for key in (name, f"{name} low", f"{name} high"))
    return mean if low == high else f"{mean} ({low} to {high})"


def _trials(found: WeightSearchResult) -> list[Table]:
    """Of a search: the trials that no other one beats, and below them trial 0; then every trial."""
    default, keys, best = found.trials[0], list(found.trials[0]), {row[TRIAL] for row in found.front}
    shown = [*found.front, *([] if default in found.front else [default])]
    first = [[row.get(key) for key in keys] for row in shown]
    columns = [Column(key.removeprefix(WEIGHT), "count", field=key) for key in keys]
    columns.append(Column("beaten", "tag", filter=True, forms=("page",)))
    rows = [[*row.values(), "no" if row[TRIAL] in best else "yes"] for row in found.trials]
    return [
        Table("front", [Column(key, "decimal") for key in keys], first, forms=("table",)), table_of("front", found.front),
        Table("trials", columns, rows, noun="trial", forms=("page", "data")),
    ]  # fmt: skip


def _failed(found: SweepResult) -> Table:
    """Runs that came to nothing."""
    columns = (Column(RUN, "count"), *(Column(key) for key in found.settings), Column(ERROR))
    rows = [[row[RUN], *(_text(row.get(key)) for key in found.settings), row[ERROR]] for row in found.rows if row[ERROR]]
    return Table("failed", columns, rows, noun="run", forms=("page",) if rows else ())
