"""How many pods of each size fit, for people: a row a size, or a row and a column for sizes of two resources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from ....simulation.capacity.curve import CurveAxis, CurvePoint
from ..tables import TextTable
from ..units import rounded, short_name


def write_curve(
    axes: Sequence[CurveAxis], points: Sequence[CurvePoint], stream: IO[str], *, wide: bool = False, headers: bool = True
) -> None:
    """Write the counts as a table; *wide*: always a row a size, with the message about the copy that found no place."""
    table = _grid(axes, points, headers) if len(axes) == 2 and not wide else _list(axes, points, wide, headers)
    table.write(stream)


def _list(axes: Sequence[CurveAxis], points: Sequence[CurvePoint], wide: bool, headers: bool) -> TextTable:
    names = [axis.resource for axis in axes]
    rows = []
    for point in points:
        sizes = [rounded(name, point.requests[name]) for name in names]
        rows.append([*sizes, point.fits, point.nodes, point.limited_by, *([point.message] if wide else [])])
    return TextTable([*map(short_name, names), "fits", "nodes", "limited by", *(["message"] if wide else [])], rows, headers)


def _grid(axes: Sequence[CurveAxis], points: Sequence[CurvePoint], headers: bool) -> TextTable:
    down, across = axes
    width = len(across.values)
    rows = [
        [rounded(down.resource, value), *(point.fits for point in points[at * width : (at + 1) * width])]
        for at, value in enumerate(down.values)
    ]
    corner = f"{short_name(down.resource)} \\ {short_name(across.resource)}"
    return TextTable([corner, *(rounded(across.resource, value) for value in across.values)], rows, headers)
