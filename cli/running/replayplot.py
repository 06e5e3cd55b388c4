"""``kubeclassic replay --plot``: the time series as a picture, once the replay is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import click

from ...simulation.replay.settings import Places
from ..report.plots.plotfiles import check_place
from ..report.plots.series import draw_series, read_series


def plotted(plot: Path | None, places: Places, run: Callable[[Places], int]) -> int:
    """Run what gives the time series in *places*, and draw it into *plot*; the exit status of *run*.

    Without ``--series`` it is written to a file that is there for the run alone. Raises :class:`~..report.plots.plotfiles.PlotError`
    before the run where nothing could be drawn.
    """
    if plot is None:
        return run(places)
    check_place(plot)
    with _with_series(places) as found:
        status = run(found)
        assert found.series is not None
        draw_series(read_series(found.series), plot)
    return status


@contextmanager
def _with_series(places: Places) -> Iterator[Places]:
    if places.series is not None:
        if places.series.suffix == ".parquet":
            raise click.UsageError("--plot: got --series with a name that ends in .parquet, wanted a CSV file")
        yield places
        return
    if places.checkpoint is not None:
        raise click.UsageError("--plot with --checkpoint needs --series FILE: a replay that goes on draws all of it")
    with TemporaryDirectory(prefix="kubeclassic-") as folder:
        yield attrs.evolve(places, series=Path(folder, "series.csv"))
