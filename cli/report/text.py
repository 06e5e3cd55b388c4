"""The cells of tables as text, in the manner of ``kubectl``."""

from __future__ import annotations

from ...api.words import Figure

GAP = "   "
NO_HOST = "<none>"
"""In place of a host that a pod does not have."""

Cell = object


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
