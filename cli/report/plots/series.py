"""The time series of a replay as a picture: pods that wait and pods on nodes, and below how much of each resource is in use."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ....api.words import short_name
from .plotfiles import save

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
    """Draw *columns* into the file *path*. Raises :class:`~.plotfiles.PlotError` where it cannot be written."""
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
