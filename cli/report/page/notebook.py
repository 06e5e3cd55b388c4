"""What a notebook shows of clusters, decisions and results: the parts of pages, as far as they need no scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec

from ....api.meaning.labels import ZONES
from ....api.view import LONGEST, MEANINGS, MOST_ROWS, Amount, LineChart, NodeMap, Table, View, shortened
from ....api.words import rounded
from .charts import Chart, ChartSeries
from .clustermap import ClusterMap, MapSide
from .document import asset
from .markup import Markup, Text, cell_text, element, named, number
from .parts import StackItem, fact, facts, folded, plain_table, soft, stack

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
    return f'<div class="kubeclassic"><style>{_style()}</style>{"".join(_parts(view))}</div>'


@cache
def _style() -> str:
    """The style of pages, which here holds for the inside of the ``div`` alone."""
    text = "".join(map(asset, (f"{name}.css" for name in STYLES)))
    return ".kubeclassic {\n" + text.replace(":root {", "& {", 1) + "}\n"


def _parts(view: View) -> Iterator[Text]:
    yield element("p", view.title, class_="soft title")
    if view.verdict:
        yield element("p", str(view.verdict), class_="verdict")
    yield from _facts(view)
    if view.shares:
        yield _shares(view)
    if view.map is not None:
        yield _map(view.map)
    if view.lines is not None and find_spec("matplotlib") is not None:
        yield _chart(view.lines)
    for at, table in enumerate(view.tables_of("data")):
        if table.rows:
            yield folded(f"{table.name} ({number(len(table.rows))})", _table(table)) if at else _table(table)


def _facts(view: View) -> Iterator[Text]:
    """Short ones as cards, long ones as lines."""
    told = {name: cell_text(_cell(value, 10 * LONG_FACT)) for name, value in view.facts.items() if value is not None}
    short = {name: text for name, text in told.items() if len(text) <= LONG_FACT}
    if short:
        yield facts(*(fact(named(text), name) for name, text in short.items()))
    for name, text in told.items():
        if name not in short:
            yield element("p", element("b", name), ": ", text)


def _shares(view: View) -> Markup:
    return stack(view.title, [StackItem(one.name, one.count, MEANINGS[one.meaning]) for one in view.shares])


def _map(found: NodeMap) -> Text:
    if len(found.nodes) > MOST_SQUARES:
        return soft(f"The map is left out: it is for {number(MOST_SQUARES)} nodes at most, and here are {number(len(found.nodes))}.")
    labels = {ZONES[0]: found.zones} if any(found.zones) else {}
    return ClusterMap("nodes", found.nodes, (MapSide("", found.uses),), labels).still()


def _chart(found: LineChart) -> Text:
    places = _spread(len(found.places))
    series = [
        ChartSeries(name, [values[at] for at in places], at=at_colour) for at_colour, (name, values) in enumerate(found.values.items())
    ]
    described = f"{', '.join(found.values)} over {found.across}"
    chart = Chart(
        title=found.title, description=described, kind="steps", labels=[found.places[at] for at in places], series=series,
        across=found.across, up=found.up, wide=True,
    )  # fmt: skip
    return chart.html()


def _spread(count: int) -> list[int]:
    """At most :data:`MOST_POINTS` places out of *count*, the first and the last among them."""
    most = min(count, MOST_POINTS)
    return sorted({round(at * (count - 1) / max(most - 1, 1)) for at in range(most)})


def _table(found: Table) -> Text:
    most = min(MOST_ROWS, max(MOST_CELLS // max(len(found.columns), 1), 1))
    kinds = [column.kind for column in found.columns]
    rows = [[_cell(_measured(value, kind)) for value, kind in zip(row, kinds, strict=True)] for row in found.rows[:most]]
    more = len(found.rows) - most
    rest = [soft(f"and {number(more)} more")] if more > 0 else []
    return element("div", plain_table([column.name for column in found.columns], rows), *rest)


def _measured(value: object, kind: str) -> object:
    """Millicores and bytes as people write them; other values as they are."""
    if isinstance(value, Amount):
        return rounded(value.resource, value.number)
    resource = {"cores": "cpu", "bytes": "memory"}.get(kind)
    return value if resource is None or not isinstance(value, int) else rounded(resource, value)


def _cell(value: object, longest: int = LONGEST) -> object:
    """A plain value as it is, all else as a short text."""
    if value is None or value == "":
        return None
    if isinstance(value, Amount):
        return value.number
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return value
    if isinstance(value, Sequence) and not isinstance(value, str):
        return shortened(", ".join(map(str, value)), longest)
    return shortened(str(value), longest)
