"""The runs of a sweep as a picture: a pane for each objective, a mark for each run; of a search, the trials by two objectives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from ....questions.sweep import SweepResult
from ....simulation.sweep.table import cell
from .plotfiles import PlotError, save

Row = Mapping[str, Any]
SEED = "seed"
MOST_NAMED = 40
"""Of more configurations only the numbers stand below the picture."""


def draw_runs(found: SweepResult, path: Path) -> None:
    """Draw *found* into the file *path*. Raises :class:`~.plotfiles.PlotError` where there is nothing to draw, or it cannot be written."""
    figure = _search(found) if found.found is not None else _grid(found)
    save(figure, path)


def configurations(found: SweepResult) -> dict[str, list[Row]]:
    """The runs of each configuration, by the settings that differ; runs that differ in their seed alone are of one."""
    settings = [name for name in found.settings if name != SEED]
    differing = [name for name in settings if len({str(row.get(name)) for row in found.rows}) > 1]
    runs: dict[str, list[Row]] = {}
    for row in found.rows:
        name = ", ".join(str(cell(row.get(setting))) for setting in differing if row.get(setting) is not None)
        runs.setdefault(name or "all", []).append(row)
    return runs


def _grid(found: SweepResult) -> Any:
    from matplotlib.figure import Figure

    objectives = [name for name in found.objectives if any(_is_number(row.get(name)) for row in found.rows)]
    if not objectives:
        raise PlotError("--plot: got no run with a number to draw")
    runs = configurations(found)
    wide = max(7.0, 0.35 * min(len(runs), MOST_NAMED) + 3)
    figure = Figure(figsize=(wide, 2.1 * len(objectives) + 1.5), layout="constrained")
    panes = figure.subplots(len(objectives), 1, sharex=True, squeeze=False)[:, 0]
    for pane, objective in zip(panes, objectives, strict=True):
        _draw_objective(pane, objective, list(runs.values()))
    if len(runs) <= MOST_NAMED:
        panes[-1].set_xticks(range(len(runs)), list(runs), rotation=30, ha="right", rotation_mode="anchor")
    else:
        panes[-1].set_xlabel("configuration, in the order of the table")
    return figure


def _draw_objective(pane: Any, objective: str, runs: Sequence[Sequence[Row]]) -> None:
    """A mark for each run, and a line at the mean where there are several."""
    for place, rows in enumerate(runs):
        values = [row[objective] for row in rows if _is_number(row.get(objective))]
        pane.plot([place] * len(values), values, "o", color="C0", alpha=0.6)
        if len(values) > 1:
            pane.plot([place - 0.3, place + 0.3], [fmean(values)] * 2, color="C1", linewidth=2)
    if not any(row.get(objective) for rows in runs for row in rows):
        pane.set_ylim(-0.05, 1)
    pane.set_ylabel(objective)
    pane.grid(visible=True, alpha=0.3)


def _search(found: SweepResult) -> Any:
    from matplotlib.figure import Figure

    assert found.found is not None
    trials = found.found.trials
    across, up = _two_objectives(found, trials)
    figure = Figure(figsize=(7, 5), layout="constrained")
    pane = figure.subplots()
    kinds = ((trials, "trials", "o"), (found.found.front, "no trial beats these", "D"), (trials[:1], "as configured", "*"))
    for rows, label, mark in kinds:
        pairs = [(row[across], row[up]) for row in rows if _is_number(row.get(across)) and _is_number(row.get(up))]
        pane.plot([one for one, _ in pairs], [other for _, other in pairs], mark, label=label, markersize=12 if mark == "*" else 6)
    pane.set(xlabel=across, ylabel=up)
    pane.grid(visible=True, alpha=0.3)
    pane.legend()
    return figure


def _two_objectives(found: SweepResult, trials: Sequence[Row]) -> tuple[str, str]:
    """The first two that a trial has; with one alone, that one over the number of the trial."""
    names = [name for name in found.objectives if any(_is_number(row.get(name)) for row in trials)]
    if not names:
        raise PlotError("--plot: got no trial with a number to draw")
    return (names[0], names[1]) if len(names) > 1 else (next(iter(trials[0])), names[0])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
