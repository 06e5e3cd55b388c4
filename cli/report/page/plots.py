"""Two more pictures by matplotlib: means with their intervals, and two measures against each other. :mod:`~.charts` has the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import attrs

from .charts import HOW_TO, ink, picture
from .markup import Markup, Text, element, named
from .parts import colour_of, dot, numbers_of, plain_table

LINE = 30
"""The height of a line of :class:`Intervals` in pixels."""
CHARACTER = 7


@attrs.frozen
class Interval:
    """A mean, and the ends of its interval."""

    name: str
    value: float
    low: float
    high: float
    told: Sequence[Text] = ()
    """The three as the table of numbers shows them."""


@attrs.frozen(kw_only=True)
class Intervals:
    """Means below each other, each with a line from one end of its interval to the other."""

    title: str
    description: str
    rows: Sequence[Interval]
    across: str
    """What the values are."""

    def html(self) -> Markup:
        """The picture, and its numbers folded; or the numbers, and how to get the picture."""
        heads = ["", self.across, "from", "to"]
        table = plain_table(heads, [[named(row.name), *row.told] for row in self.rows], caption=self.title)
        size = (max(300, min(460, 190 + CHARACTER * max(len(row.name) for row in self.rows))), 64 + LINE * len(self.rows))
        return _figure(self.title, self.description, table, self._draw, size)

    def _draw(self, pane: Any) -> None:
        places = list(range(len(self.rows)))[::-1]
        values = [row.value for row in self.rows]
        ends = [[row.value - row.low for row in self.rows], [row.high - row.value for row in self.rows]]
        pane.errorbar(values, places, xerr=ends, fmt="o", color=ink(0), ecolor=ink(0), elinewidth=2, capsize=4, markersize=7)
        pane.set_yticks(places, [row.name for row in self.rows])
        pane.set(xlabel=self.across, ylim=(-0.6, len(self.rows) - 0.4))
        pane.locator_params(axis="x", nbins=4)
        pane.grid(visible=True, axis="x")
        pane.set_axisbelow(True)


@attrs.frozen
class Spot:
    """A point of a :class:`Scatter`."""

    name: str
    x: float
    y: float
    group: int = 0
    """Which of the groups it belongs to."""


@attrs.frozen(kw_only=True)
class Scatter:
    """Two measures against each other; spots of the group *joined* are joined by a line."""

    title: str
    description: str
    spots: Sequence[Spot]
    across: str
    up: str
    groups: Sequence[str] = ("",)
    """The names of the groups of spots, for the legend."""
    joined: int | None = None
    numbers: Text = ""
    """A table of the spots."""

    def html(self) -> Markup:
        """The picture with its legend; without matplotlib its numbers."""
        lines = [element("li", dot(colour_of(at)), group) for at, group in enumerate(self.groups) if group]
        legend = element("ul", *lines, class_="legend") if lines else ""
        return _figure(self.title, self.description, self.numbers, self._draw, (330, 260), legend)

    def _draw(self, pane: Any) -> None:
        for at in range(len(self.groups)):
            spots = sorted((spot.x, spot.y) for spot in self.spots if spot.group == at)
            if spots:
                line = "-" if at == self.joined else "none"
                pane.plot(*zip(*spots, strict=True), linestyle=line, marker="o", color=ink(at), markersize=8, linewidth=1.4)
        for spot in self.spots:
            if spot.name:
                pane.annotate(spot.name, (spot.x, spot.y), xytext=(7, 5), textcoords="offset points")
        pane.margins(0.15)
        pane.set(xlabel=self.across, ylabel=self.up)
        pane.locator_params(axis="x", nbins=5)
        pane.grid(visible=True)
        pane.set_axisbelow(True)


def _figure(title: str, description: str, table: Text, draw: Callable[[Any], None], size: tuple[int, int], legend: Text = "") -> Markup:
    caption = element("figcaption", element("b", title), f": {description}")
    if find_spec("matplotlib") is None:
        return element("figure", caption, table, element("p", HOW_TO, class_="soft"), class_="chart")
    svg = Markup(picture(draw, size, f"{title}: {description}"))
    box = element("div", svg, class_="scroll", tabindex="0", role="group", aria_label=title)
    return element("figure", caption, legend, box, numbers_of(table) if table else "", class_="chart")
