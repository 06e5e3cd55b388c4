"""Pictures, drawn by matplotlib as SVG that takes its colours and its font from the page; without matplotlib their numbers in a table."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from io import StringIO
from typing import Any

import attrs

from .markup import Markup, Text, element, named, number, sentence
from .parts import colour_of, dot, numbers_of, plain_table, soft

HOW_TO = "pip install 'kubeclassic[report]' draws this as a picture."
DOTS = 72
"""An inch: so one point of matplotlib is one pixel of the page."""
TEXT = 12.5
"""The size of all text in pixels; pictures are never shown smaller than they are."""
MOST_ROWS = 120
"""That many numbers of a line stand under it."""
MOST_TOLD = 12
"""Up to that many columns have their numbers above them, so that low ones are read beside high ones."""
_INKS = {"#010101": "var(--soft)", "#020202": "var(--line)", "#030303": "var(--ink)"}
"""Colours that matplotlib gets -> what the page has in their place."""
_SERIES = {f"#0{at + 1:01x}0000": colour_of(at) for at in range(8)}


@attrs.frozen(repr=False)
class ChartSeries:
    """A line, or the columns of one colour."""

    name: str
    values: Sequence[float | None]
    at: int = 0
    """Which of the page's colours for series."""


@attrs.frozen(kw_only=True, repr=False)
class Chart:
    """Columns beside each other, or lines over something that goes on."""

    title: str
    description: str
    """In a sentence what is to be seen, for those who do not see it."""
    kind: str = attrs.field(default="columns", validator=attrs.validators.in_(("columns", "lines", "steps")))
    labels: Sequence[Any] = ()
    """The names of the columns, or the numbers that lines are over."""
    series: Sequence[ChartSeries] = ()
    across: str = attrs.field(validator=attrs.validators.min_len(1))
    """What the labels are, with their unit."""
    up: str = attrs.field(validator=attrs.validators.min_len(1))
    """What the values are, with their unit."""
    percent: bool = False
    """Whether values are shares of 1."""
    wide: bool = False
    """Whether it wants half the width of a page; else it fits a telephone."""

    def html(self) -> Markup:
        """The picture, and its numbers folded; or the numbers, and how to get the picture."""
        names = [(one.at, one.name) for one in self.series] if len(self.series) > 1 else []
        size = (440, 220) if self.wide else (300, 200)
        return figure(self.title, self.description, self._table(), self._draw if self.series else None, size, names)

    # --- the numbers ------------------------------------------------------------------------------------------------

    def _table(self) -> Markup:
        heads = [self.across, *(one.name or self.up for one in self.series)]
        count = len(self.labels)
        places = range(count) if count <= MOST_ROWS else [at * (count - 1) // (MOST_ROWS - 1) for at in range(MOST_ROWS)]
        rows = [[named(str(self.labels[place])), *(self._text(one.values[place]) for one in self.series)] for place in places]
        some = [soft(f"{number(MOST_ROWS)} of {number(count)}, in even steps; -o json has them all.")] if count > MOST_ROWS else []
        return sentence(plain_table(heads, rows, caption=self.title), *some)

    def _text(self, value: float | None) -> str:
        if value is None:
            return "-"
        return f"{100 * value:.1f} %" if self.percent else number(value) if isinstance(value, int) else f"{value:,.1f}"

    # --- the picture ------------------------------------------------------------------------------------------------

    def _draw(self, pane: Any) -> None:
        if self.kind == "columns":
            self._columns(pane)
        else:
            self._lines(pane)
        pane.set(xlabel=self.across, ylabel=self.up)
        pane.grid(visible=True, axis="y")
        pane.set_axisbelow(True)
        if self.percent:
            pane.yaxis.set_major_formatter(lambda value, place: f"{100 * value:.0f} %")
        elif self.kind == "columns":
            pane.yaxis.set_major_formatter(lambda value, place: f"{value:,.0f}")

    def _columns(self, pane: Any) -> None:
        width = 0.84 / max(len(self.series), 1)
        for which, one in enumerate(self.series):
            lefts = [place - 0.42 + width * which for place in range(len(one.values))]
            bars = pane.bar(lefts, [value or 0 for value in one.values], width * 0.94, align="edge", color=ink(one.at))
            if len(self.series) * len(self.labels) <= MOST_TOLD:
                pane.bar_label(bars, [self._text(value) if value else "" for value in one.values], padding=1)
        step = max(1, -(-len(self.labels) // (12 if self.wide else 5)))
        pane.set_xticks(range(0, len(self.labels), step), [str(label) for label in self.labels[::step]])
        if not self.percent:
            pane.yaxis.get_major_locator().set_params(integer=all(isinstance(value, int) for one in self.series for value in one.values))

    def _lines(self, pane: Any) -> None:
        for one in self.series:
            places = [place for place, value in enumerate(one.values) if value is not None]
            across, up = [self.labels[place] for place in places], [one.values[place] for place in places]
            pane.plot(across, up, color=ink(one.at), linewidth=1.8, drawstyle="steps-post" if self.kind == "steps" else "default")
        pane.set_ylim(0, None)


def figure(
    title: str, description: str, table: Text, draw: Callable[[Any], None] | None, size: tuple[int, int], names: Sequence[tuple[int, str]]
) -> Markup:
    """The picture that *draw* makes, a legend of *names* by their colours, and the numbers folded; or they and how to get the picture."""
    caption = element("figcaption", element("b", title), f": {description}")
    if draw is None or find_spec("matplotlib") is None:
        return element("figure", caption, table, soft(HOW_TO), class_="chart")
    lines = [element("li", dot(colour_of(at)), name) for at, name in names]
    legend = element("ul", *lines, class_="legend") if lines else ""
    svg = Markup(picture(draw, size, f"{title}: {description}"))
    box = element("div", svg, class_="scroll", tabindex="0", role="group", aria_label=title)
    return element("figure", caption, legend, box, numbers_of(table) if table else "", class_="chart")


def picture(draw: Callable[[Any], None], size: tuple[int, int], description: str) -> str:
    """What *draw* draws into axes of matplotlib, as an SVG element of the page; *size* in pixels."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_settings()):
        figure = Figure(figsize=(size[0] / DOTS, size[1] / DOTS), dpi=DOTS, layout="constrained")
        draw(figure.subplots())
        stream = StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}, transparent=True)
    return _for_page(stream.getvalue(), size, description)


def ink(at: int) -> str:
    """What matplotlib gets for the page's colour of a series."""
    return list(_SERIES)[at % len(_SERIES)]


def _settings() -> Any:
    soft, line, ink = _INKS
    sizes = dict.fromkeys(("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize"), TEXT)
    colours = dict.fromkeys(("axes.labelcolor", "xtick.color", "ytick.color"), soft) | {"text.color": ink}
    colours |= {"axes.edgecolor": line, "grid.color": line}
    shapes = {"axes.spines.top": False, "axes.spines.right": False, "xtick.major.size": 0, "ytick.major.size": 0}
    return {"svg.fonttype": "none", "svg.hashsalt": "kubeclassic", **sizes, **colours, **shapes}


def _for_page(svg: str, size: tuple[int, int], description: str) -> str:
    """The SVG element alone, with the page's colours and font, a description, and no id that another picture has too."""
    inside = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    inside = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", inside, flags=re.DOTALL)
    inside = re.sub(r'<g id="[^"]*"', "<g", inside)
    inside = re.sub(r" *\n *", " ", re.sub(r" font-family: [^;]*;", "", inside))
    own = f"{zlib.crc32(description.encode()):08x}"
    inside = re.sub(r'id="|url\(#|href="#', lambda found: found[0] + own, inside)
    for colour, ours in {**_INKS, **_SERIES}.items():
        inside = inside.replace(colour, ours)
    box, least = f"0 0 {size[0]} {size[1]}", f"min-width:{size[0]}px;max-width:{round(1.3 * size[0])}px"
    return str(element("svg", Markup(inside), viewBox=box, style=least, role="img", aria_label=description))
