"""``kubeclassic.sweep``: many configurations, one table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import attrs

from ..algorithmprovider.catalogue import CATALOGUE, Catalogue
from ..api.reading.notices import NoticeGroup, ResultDocument, grouped
from ..api.record import Count, as_document, says
from ..api.view import View, table_of
from ..exceptions import KubeclassicError, wrong_type
from ..framework.plugin import Plugin
from ..simulation.sweep.asked.spec import Spec, read_spec
from ..simulation.sweep.confidence import over_seeds
from ..simulation.sweep.journal import RunJournal
from ..simulation.sweep.plan import Planner, Rules, Settings
from ..simulation.sweep.processes.executors import Executor, InProcesses, InThisProcess
from ..simulation.sweep.search import TRIAL, WeightSearchResult
from ..simulation.sweep.search import search as find_weights
from ..simulation.sweep.sweep import ERROR, RUN, Sweep
from ..simulation.sweep.table import write_folder
from .result import Result, Row

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


@attrs.frozen(eq=False, repr=False, kw_only=True)
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

    def view(self) -> View:
        tables = [table_of("runs", self.rows, self.columns), table_of("confidence", self.confidence)]
        if self.found is not None:
            tables += [table_of("front", self.found.front), table_of("trials", self.found.trials)]
        runs = "1 run" if len(self.rows) == 1 else f"{len(self.rows):,} runs"
        return View(
            title=type(self).__name__,
            verdict=f"{runs}, {self.failed:,} with an error." if self.failed else f"{runs}, none with an error.",
            facts={
                "runs": len(self.rows), "failed": self.failed or None, "trials": None if self.found is None else len(self.found.trials),
                "front": len(self.front) or None,
            },
            tables=tables,
        )  # fmt: skip


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
    with RunJournal(folder) as journal, _executor(jobs, dask, len(points) if not search else None) as executor:
        made = Sweep(planner, executor, journal, on_progress or _ignore)
        result = _searched(made, points, wanted) if search else _of_grid(made, points, wanted)
    result = attrs.evolve(result, warnings=grouped(made.notices()))
    if folder is None:
        return result
    notes = write_folder(folder, result.columns, result.rows, as_document(result.document))
    return attrs.evolve(result, notes=tuple(notes))


def _ignore(done: int, total: int) -> None:
    """Progress is not reported."""


def _executor(jobs: object, dask: str | None, runs: int | None) -> Executor:
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise wrong_type("jobs", jobs, "a whole number above 0")
    if dask is not None:
        from ..simulation.sweep.processes.ondask import OnDask  # an extra that few have

        return OnDask(dask)
    several = jobs if runs is None else min(jobs, runs)
    return InThisProcess() if several == 1 else InProcesses(several)


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
