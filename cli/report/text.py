"""Tables as aligned text, in the manner of ``kubectl``: for people, and for other programs to split into columns."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import IO

GAP = "   "
NO_HOST = "<none>"
"""In place of a host that a pod does not have."""

Cell = object


class Figure(str):
    """A number with its unit, such as ``8.0 TiB``: aligned at its right, and never cut."""


def format_table(headers: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Lines of aligned cells under *headers* in capitals; columns of numbers are aligned at their right, None is shown as ``-``.

    >>> print(format_table(["node", "score"], [["a", 7], ["node-2", 10]]))
    NODE     SCORE
    a            7
    node-2      10
    """
    body = [list(row) for row in rows]
    written = [[header.upper() for header in headers], *([shown(cell) for cell in row] for row in body)]
    widths = [max(len(row[column]) for row in written) for column in range(len(headers))]
    right = [bool(body) and all(is_number(row[column]) for row in body) for column in range(len(headers))]
    return "\n".join(_line(row, widths, right) for row in written)


def print_table(headers: Sequence[str], rows: Iterable[Sequence[Cell]], stream: IO[str] | None = None) -> None:
    """Write :func:`format_table` to *stream*, standard output unless told otherwise."""
    (stream or sys.stdout).write(format_table(headers, rows) + "\n")


def shown(cell: Cell) -> str:
    """A cell's text.

    >>> shown(None), shown(1.25), shown(7)
    ('-', '1.2', '7')
    """
    if cell is None or cell == "":
        return "-"
    return f"{cell:.1f}" if isinstance(cell, float) else str(cell)


def is_number(cell: Cell) -> bool:
    """Whether *cell* is a number, or nothing: columns of such are aligned at their right."""
    return cell is None or (isinstance(cell, int | float | Figure) and not isinstance(cell, bool))


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (cell.rjust(width) if to_right else cell.ljust(width) for cell, width, to_right in zip(cells, widths, right, strict=True))
    return GAP.join(padded).rstrip()
