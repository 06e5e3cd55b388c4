"""How many pods of each size fit, as a picture: a line for one resource, a map for two. It needs matplotlib (the extra ``plot``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ....api.words import BYTES, short_name
from ....core.pods.requests import CPU
from ....simulation.capacity.curve import CurveAxis, CurvePoint
from ..plots.plotfiles import PlotError, check_place, save

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
