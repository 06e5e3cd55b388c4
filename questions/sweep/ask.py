"""Sweep: the question, and its view."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Annotated, Any, TypeAlias

import attrs

from ...algorithmprovider.catalogue import CATALOGUE
from ...api.reading.documents import PathLike
from ...api.reading.notices import ResultDocument, grouped
from ...api.record import Count, says
from ...api.view import DATA, PAGE, Column, Section, Table, View, columns_of, on_page
from ...api.words import brief, count_of
from ..asking import Observer, Result, Row, asked_by
from .options import SweepOptions
from .spec import WEIGHT, Best, SweepConfiguration, best_of, cell, configurations, read_spec
from .sweep import ERROR, RUN, Sweep

MOST_GROUPS = 3
MOST_NAMED = 2
"""Of configurations that are best in something, in a verdict."""
GivenSweep: TypeAlias = "PathLike | Mapping[str, Any]"
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


class SweepDocument(ResultDocument, kw_only=True):
    """The table of a sweep."""

    KIND = "Sweep"
    settings: tuple[str, ...]
    """The columns that say what a run was, in order."""
    objectives: tuple[str, ...]
    """The columns with the results of a run, in order."""
    failed: Count
    """How many runs have an error."""
    runs: Sequence[Run]
    """In the order of the grid."""


@attrs.frozen(eq=False, repr=False, kw_only=True, slots=False)
class SweepResult(Result):
    """The table of a sweep."""

    rows: tuple[Row, ...]
    """A row a run, in the order of the grid: ``run``, settings, objectives, ``error``."""
    settings: tuple[str, ...]
    """The columns that say what a run was."""
    objectives: tuple[str, ...]
    rules: Sequence[str]
    """Places of one's own rules."""

    @property
    def columns(self) -> tuple[str, ...]:
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
        # A row a run.
        columns = [Column(RUN, "count")]
        for key in self.settings:
            columns += [
                Column(key, "decimal", forms=("table", "csv")),
                Column(key, forms=DATA),
                Column(key.removeprefix(WEIGHT), "name", filter=not key.startswith(WEIGHT), forms=PAGE),
            ]
        for name in self.objectives:
            columns += [
                Column(name, "decimal", forms=("table", "data", "csv")),
                Column(name, "count", forms=PAGE),
            ]
        columns.append(Column(ERROR, forms=("table", "data", "csv") if self.failed else ("data", "csv")))
        rows = []
        failed = []
        for row in self.rows:
            given = [row.get(key) for key in self.settings]
            settings = [(cell(value), value, None if value is None else str(cell(value))) for value in given]
            objectives = (value for name in self.objectives for value in (row.get(name),) * 2)
            rows.append([row[RUN], *chain.from_iterable(settings), *objectives, row[ERROR]])
            if row[ERROR]:
                failed.append([row[RUN], *(text for _, _, text in settings), row[ERROR]])
        bests = [[one.objective, brief(one.value), winners(one.names)] for one in self.bests]
        heads = columns_of("objective | name; best; of | name")
        lacking = (Column(RUN, "count"), *(Column(key) for key in self.settings), Column(ERROR))
        note = on_page("They are in no mean." if self.failed else "", look="note")
        return View(
            verdict=_verdict(self),
            facts={"runs": len(self.rows), "failed": self.failed or None},
            sections=[
                Section(
                    "Which is best in what",
                    [Table("bests", heads, bests, forms=PAGE)],
                    "Over several seeds it is the mean.",
                ),
                Section(
                    "Every run",
                    [Table("runs", columns, rows, noun="run", forms=("table", "page", "data", "csv"))],
                ),
                Section(
                    "Runs that failed", [*note, Table("failed", lacking, failed, noun="run", forms=PAGE)]
                ),
            ],
            main="runs",
        )


@asked_by(SweepOptions, "spec", opens=lambda given, options: given)
def sweep(spec: GivenSweep, options: SweepOptions, observer: Observer) -> SweepResult:
    """Run each combination of a grid, and tell what each comes to.

    *spec* is the path of a file, as ``docs/guides/sweep.md`` describes it, or its content as a dict, in which
    a cluster may also be a Cluster. A run that fails is a row with its ``error``.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> found = sweep({"cluster": [node, {"kind": "Pod", "metadata": {"name": "web"}}], "grid": {"release": ["1.12", "1.16"]}})
    >>> found, [row["placed"] for row in found.rows]
    (<SweepResult: runs 2>, [1, 1])
    """
    wanted = read_spec(spec)
    with observer.working("sweeping", "runs") as at:
        told = options.on_progress or at
        made = Sweep(
            wanted, options.catalogue or CATALOGUE, options.plugins, options.rules, options.executor, told
        )
        points = list(made.points())
        rows = tuple(made.rows(points))
        settings = tuple(dict.fromkeys(key for point in points for key in point))
    return SweepResult(
        rows=rows,
        settings=settings,
        objectives=wanted.objectives,
        warnings=grouped(made.notices()),
        rules=options.rules,
    )


# --- in words -----------------------------------------------------------------------------------------------


def _verdict(found: SweepResult) -> str:
    """The best configuration, and its objective, in one sentence."""
    compared = found.compared
    groups = defaultdict[tuple[str, ...], list[Best]](list)
    if not compared:
        return f"All {len(found.rows):,} runs failed."
    if len(compared) == 1:
        return "One configuration: nothing to compare it with."
    for one in found.bests:
        groups[one.names].append(one)
    if not groups:
        return f"{len(compared):,} configurations have the same result."
    said = list[str]()
    for names, won in list(groups.items())[:MOST_GROUPS]:
        verb = "" if said else " is best" if len(names) == 1 else " are best"
        values = " and ".join([f"{one.objective} ({brief(one.value)})" for one in won])
        said.append(f"{winners(names)}{verb} in {values}")
    return f"{'; '.join(said)}."


def winners(names: Sequence[str]) -> str:
    """The first of *names*, and how many more there are."""
    more = len(names) - MOST_NAMED
    shown = [f"“{name}”" for name in names[: MOST_NAMED if more > 0 else None]]
    return " and ".join([*shown, *([f"{more:,} more"] if more > 0 else [])])
