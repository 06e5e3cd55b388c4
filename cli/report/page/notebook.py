"""Clusters, decisions and results in a notebook: the parts of pages, as far as they need no scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import attrs
from markupsafe import Markup

from ....api.view import LONGEST, MOST_ROWS, Amount, Chart, NodeMap, Table, View, shortened
from .document import asset, environment

STYLES = ("base", "parts", "pictures", "notebook")
MOST_SQUARES = 2_000
"""A map of more nodes would make a notebook's file large."""
MOST_POINTS = 200
"""Of a line."""
MOST_CELLS = 400
"""Of a table."""
LONG_FACT = 24
"""A fact with a longer text is a line of its own."""


def view_html(view: View) -> str:
    """*view* for a cell of a notebook: a ``div`` with its own style, light or dark as the notebook is."""
    told = {
        name: _plain(value, 10 * LONG_FACT)
        for name, value in view.facts.items()
        if value is not None and value != ""
    }
    short = {name: value for name, value in told.items() if len(str(value)) <= LONG_FACT}
    return (
        environment()
        .get_template("notebook.html")
        .render(
            view=view,
            style=_style(),
            short=short,
            long={name: value for name, value in told.items() if name not in short},
            pictures=list(_pictures(view)),
            tables=[_first(table) for table in view.tables_of("data") if table.rows],
            most_squares=MOST_SQUARES,
        )
    )


@cache
def _style() -> Markup:
    """The style of pages, which here holds for the inside of the ``div`` alone."""
    text = "".join(map(asset, (f"{name}.css" for name in STYLES)))
    return Markup(".kubeclassic {\n" + text.replace(":root {", "& {", 1) + "}\n")


def _pictures(view: View) -> Iterator[NodeMap | Chart]:
    """The last state of a map as squares, and charts of as many points as can be told apart."""
    for part in (part for section in view.sections for part in section.shown("data")):
        if isinstance(part, NodeMap) and part.sides:
            yield attrs.evolve(
                part, sides=[attrs.evolve(part.sides[-1], title="", pods=(), states=(), notes=())], colours={}
            )
        elif isinstance(part, Chart):
            count = len(part.labels)
            most = min(count, MOST_POINTS)
            places = sorted({round(at * (count - 1) / max(most - 1, 1)) for at in range(most)})
            series = {name: [values[at] for at in places] for name, values in part.series.items()}
            yield attrs.evolve(part, labels=[part.labels[at] for at in places], series=series)


def _first(found: Table) -> tuple[Table, int]:
    """The first rows of a table, and how many more there are."""
    most = min(MOST_ROWS, max(MOST_CELLS // max(len(found.columns), 1), 1))
    rows = [[_plain(value, LONGEST) for value in row] for row in found.rows[:most]]
    columns = []
    for at, column in enumerate(found.columns):
        # A column of numbers without a kind of its own is aligned at its right, too.
        values = [row[at] for row in rows if row[at] is not None]
        numbers = values and all(
            isinstance(value, int | float) and not isinstance(value, bool) for value in values
        )
        kind = column.kind if column.is_number else "count" if numbers else "text"
        columns.append(attrs.evolve(column, title=column.name, kind=kind))
    return attrs.evolve(found, columns=columns, rows=rows), len(found.rows) - len(rows)


def _plain(value: object, longest: int) -> object:
    """Numbers and what has a unit as they are, all else as a short text."""
    if value is None or isinstance(value, bool | int | float | Amount):
        return value
    return shortened(
        ", ".join(map(str, value))
        if isinstance(value, Sequence) and not isinstance(value, str)
        else str(value),
        longest,
    )
