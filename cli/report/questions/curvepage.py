"""How many pods of each size fit, as a page: a line or a table of sizes, and what runs out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ....api.words import rounded, short_name
from ....questions.capacitycurve import CapacityCurveResult
from ..page.about import About
from ..page.charts import Chart, ChartSeries
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, counted, derived, named, number, sentence, spoken
from ..page.parts import BAD, GOOD, Section, card, fact, facts, plain_table, section, soft, track
from ..page.tables import amount_told, amount_with_unit, list_html, unit_of

Record = dict[str, Any]
MOST_LINES = 6
"""A chart with more lines is hard to read: then it has some of them, and the table has all."""


def curve_html(found: CapacityCurveResult, about: About) -> str:
    """*found* as a page."""
    record, view = found.record(), found.view()
    axes = " and ".join(short_name(axis.resource) for axis in found.axes)
    sections = [*_pictures(record), section("Every size", list_html(view.table("sizes")))]
    return page_html(Page(f"kubeclassic capacity --curve: {axes}", spoken(view.verdict), about, sections, lead=_lead(record)))


def _lead(record: Record) -> Markup:
    limits = Counter(point["limitedBy"] for point in record["points"])
    cards = [fact(counted(record, "points.length"), "sizes of a pod")]
    cards += [
        fact(derived(number(often)), sentence("sizes of which ", named(short_name(name)), " runs out first"))
        for name, often in limits.most_common()
        if name
    ]
    none = sum(not point["fits"] for point in record["points"])
    return facts(*cards, *([fact(derived(number(none)), "sizes of which none fits", BAD)] if none else []))


# --- pictures -------------------------------------------------------------------------------------------------------


def _pictures(record: Record) -> Iterator[Section]:
    axes = record["axes"]
    if len(axes) == 1:
        yield section("How many fit", card("", _line(record).html()))
    if len(axes) == 2:
        yield section(
            "How many fit", card("", _lines(record).html()), card("Every pair of sizes", _grid(record)), soft(_words_of_grid(axes))
        )


def _line(record: Record) -> Chart:
    (axis,) = record["axes"]
    series = _line_of(record, "pods that fit", range(len(record["points"])), 0)
    return Chart(
        title="Pods that fit", description=f"the larger a pod's {short_name(axis['resource'])}, the fewer fit", kind="lines",
        labels=_scaled(axis), series=[series], across=_title(axis), up="pods that fit", wide=True,
    )  # fmt: skip


def _lines(record: Record) -> Chart:
    """Over the first resource, a line for each size of the second one, or for some of them."""
    down, across = record["axes"]
    chosen = _some(range(len(across["values"])))
    name, sizes, count = across["resource"], across["values"], len(record["points"])
    names = {place: f"{short_name(name)} {rounded(name, sizes[place])}{unit_of(name)}" for place in chosen}
    series = [_line_of(record, names[place], range(place, count, len(sizes)), at) for at, place in enumerate(chosen)]
    return Chart(
        title="Pods that fit", description=f"over a pod's {short_name(down['resource'])}, by its {short_name(across['resource'])}",
        kind="lines", labels=_scaled(down), series=series, across=_title(down), up="pods that fit", wide=True,
    )  # fmt: skip


def _line_of(record: Record, name: str, points: Sequence[int], colour: int) -> ChartSeries:
    """How many fit at these *points*."""
    return ChartSeries(name, [record["points"][at]["fits"] for at in points], [f"points.{at}.fits" for at in points], colour)


def _some(places: Sequence[int]) -> list[int]:
    """The first, the last, and some between, in even steps.

    >>> _some(range(3)), _some(range(21))
    ([0, 1, 2], [0, 4, 8, 12, 16, 20])
    """
    if len(places) <= MOST_LINES:
        return list(places)
    return [places[round(at * (len(places) - 1) / (MOST_LINES - 1))] for at in range(MOST_LINES)]


def _scaled(axis: Record) -> list[float]:
    """The sizes in cores, GiB or pieces."""
    unit = {"millicores": 1000, "bytes": 1 << 30}.get(axis["unit"], 1)
    return [round(value / unit, 3) for value in axis["values"]]


def _title(axis: Record) -> str:
    unit = {"millicores": "cores", "bytes": "GiB"}.get(axis["unit"], "pieces")
    return f"a pod's {short_name(axis['resource'])} ({unit})"


def _grid(record: Record) -> Markup:
    down, across = record["axes"]
    width, most = len(across["values"]), max(1, *(point["fits"] for point in record["points"]))
    heads: list[Text] = [f"{short_name(down['resource'])} \\ {short_name(across['resource'])}"]
    heads += [amount_told(f"axes.1.values.{at}", across["resource"], value) or "" for at, value in enumerate(across["values"])]
    rows = [
        [amount_with_unit(f"axes.0.values.{row}", down["resource"], value), *(_cell(record, row * width + at, most) for at in range(width))]
        for row, value in enumerate(down["values"])
    ]
    return plain_table(heads, rows, "Pods that fit of each pair of sizes")


def _cell(record: Record, at: int, most: int) -> Markup:
    return sentence(counted(record, f"points.{at}.fits"), track(record["points"][at]["fits"] / most, GOOD))


def _words_of_grid(axes: Sequence[Record]) -> str:
    return f"A row for each size of {short_name(axes[0]['resource'])}, a column for each size of {short_name(axes[1]['resource'])}."
