"""The runs of a sweep as a picture: a pane for each objective, a mark for each run; of a search, the trials by two objectives."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ...api.words import BYTES, short_name
from ...core.pods.requests import CPU
from ...exceptions import KubeclassicError
from ...questions.sweep import SweepResult
from ...simulation.capacity.curve import CurveAxis, CurvePoint
from ...simulation.sweep.sweepfolder import cell

UNITS = ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
"""The unit of the time is the largest of which there are two at least."""
COUNTS = {"pending": "pods that wait", "running": "pods on nodes"}
Columns = Mapping[str, Sequence[float]]


def read_series(path: Path) -> Columns:
    """The columns of a CSV file that ``--series`` wrote."""
    with path.open(encoding="utf-8", newline="") as stream:
        return columns_of(list(csv.DictReader(stream)))


def columns_of(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """The columns of *rows*, which are numbers, or texts of them."""
    return {name: [float(row[name]) for row in rows] for name in (rows[0] if rows else ())}


def draw_series(columns: Columns, path: Path) -> None:
    """Draw *columns* into the file *path*. Raises :class:`PlotError` where it cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    times, unit = _times(columns.get("time", ()))
    for name, label in COUNTS.items():
        above.step(times, columns.get(name, ()), where="post", label=label)
    above.set(ylabel="pods", ylim=(0, None))
    uses = uses_of(columns)
    for resource, shares in uses.items():
        below.step(times, shares, where="post", label=short_name(resource))
    below.set(xlabel=unit, ylabel="requested, % of all nodes", ylim=(0, None))
    for pane in (above, below) if uses else (above,):
        pane.grid(visible=True, alpha=0.3)
        pane.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False)
    save(figure, path)


def uses_of(columns: Columns) -> dict[str, list[float]]:
    """Resource -> the share in percent that pods on nodes request of what all nodes have, for resources that there are."""
    names = [name.removesuffix(".used") for name in columns if name.endswith(".used")]
    found = {name: list(zip(columns[f"{name}.used"], columns[f"{name}.capacity"], strict=True)) for name in names}
    return {name: [100 * used / there if there else 0.0 for used, there in pairs] for name, pairs in found.items() if any(map(max, pairs))}


def _times(seconds: Sequence[float]) -> tuple[list[float], str]:
    long = max(seconds, default=0.0)
    size, unit = next(((size, unit) for size, unit in UNITS if long >= 2 * size), UNITS[-1])
    return [second / size for second in seconds], unit


ENDINGS = (".svg", ".png", ".pdf")


class PlotError(KubeclassicError):
    """A picture that cannot be drawn."""


def check_place(path: Path) -> None:
    """Raise :class:`PlotError` where no picture can be written to *path*."""
    if path.suffix not in ENDINGS:
        raise PlotError(f"--plot: got {path}, wanted a name that ends in {', '.join(ENDINGS)}")
    if not path.parent.is_dir():
        raise PlotError(f"--plot: {path} cannot be written: no such file or directory")
    if find_spec("matplotlib") is None:
        raise PlotError("--plot: got no matplotlib, wanted it installed: pip install 'kubeclassic[plot]'")


def save(figure: Any, path: Path) -> None:
    """Write the matplotlib *figure* to *path*, the same bytes each time. Raises :class:`PlotError` where that cannot be done."""
    import matplotlib as mpl

    dated = {".svg": "Date", ".pdf": "CreationDate"}.get(path.suffix)
    picture = BytesIO()
    with mpl.rc_context({"svg.hashsalt": "kubeclassic"}):
        figure.savefig(picture, format=path.suffix[1:], metadata={dated: None} if dated else None)
    try:
        path.write_bytes(picture.getvalue())
    except OSError as error:
        raise PlotError(f"--plot: {path} cannot be written: {(error.strerror or str(error)).lower()}") from None


Row = Mapping[str, Any]
SEED = "seed"
MOST_NAMED = 40
"""Of more configurations only the numbers stand below the picture."""


def draw_runs(found: SweepResult, path: Path) -> None:
    """Draw *found* into the file *path*. Raises :class:`PlotError` where there is nothing to draw, or it cannot be written."""
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


GIB = 1 << 30


def check_plot(path: Path, axes: Sequence[CurveAxis]) -> None:
    """Raise :class:`PlotError` for what cannot be drawn, before anything is counted."""
    if len(axes) > 2:
        raise PlotError(f"--plot: got sizes of {len(axes)} resources, wanted one or two")
    check_place(path)


def draw(axes: Sequence[CurveAxis], points: Sequence[CurvePoint], path: Path) -> None:
    """Draw *points* into the file *path*. Raises :class:`PlotError` where it cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5))
    pane = figure.subplots()
    if len(axes) == 1:
        _line(pane, axes[0], points)
    else:
        _map(figure, pane, axes, points)
    figure.tight_layout()
    save(figure, path)


def _line(pane: Any, axis: CurveAxis, points: Sequence[CurvePoint]) -> None:
    pane.step(_scaled(axis), [point.fits for point in points], where="post", marker=".")
    pane.set(xlabel=f"a pod's {_title(axis)}", ylabel="pods that fit", ylim=(0, None))
    pane.grid(visible=True, alpha=0.3)


def _map(figure: Any, pane: Any, axes: Sequence[CurveAxis], points: Sequence[CurvePoint]) -> None:
    down, across = axes
    fits = np.array([point.fits for point in points]).reshape(len(down.values), len(across.values))
    shown = pane.pcolormesh(_scaled(across), _scaled(down), fits, shading="nearest", cmap="viridis")
    figure.colorbar(shown, ax=pane, label="pods that fit")
    pane.set(xlabel=f"a pod's {_title(across)}", ylabel=f"a pod's {_title(down)}")


def _scaled(axis: CurveAxis) -> list[float]:
    """The sizes in cores, GiB or pieces."""
    unit = 1000 if axis.resource == CPU else GIB if axis.resource in BYTES else 1
    return [value / unit for value in axis.values]


def _title(axis: CurveAxis) -> str:
    unit = "cores" if axis.resource == CPU else "GiB" if axis.resource in BYTES else "pieces"
    return f"{short_name(axis.resource)} ({unit})"
