"""The file of ``--plot``: what is checked before the work begins, and how a picture is written."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from ....exceptions import KubeclassicError

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
