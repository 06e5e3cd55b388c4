"""Pictures, drawn by matplotlib as SVG that takes its colours and its font from the page; without matplotlib
their numbers in a table."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from importlib.util import find_spec
from io import StringIO
from itertools import product
from typing import Any

from markupsafe import Markup

from ....api.objects import JsonDict
from ....api.view import Bands, Chart
from ....api.words import percent

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
_SERIES = {f"#0{at + 1:01x}0000": f"var(--c{at})" for at in range(8)}


def numbers(found: Chart) -> tuple[list[str], list[list[str]]]:
    """The columns and rows of a table of all values; of many in even steps."""
    count = len(found.labels)
    places = (
        range(count)
        if count <= MOST_ROWS
        else [at * (count - 1) // (MOST_ROWS - 1) for at in range(MOST_ROWS)]
    )
    rows = [
        [str(found.labels[at]), *(_text(found, values[at]) for values in found.series.values())]
        for at in places
    ]
    return [found.across, *(name or found.up for name in found.series)], rows


def _text(found: Chart, value: float | None) -> str:
    if value is None:
        return "-"
    return (
        str(percent(value)) if found.percent else f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
    )


def picture(found: Chart) -> Markup | None:
    """The chart as an SVG element of the page; None where it has no values or matplotlib is not installed."""
    if not found.series or find_spec("matplotlib") is None:
        return None
    import matplotlib as mpl
    from matplotlib.figure import Figure

    size = (300, 200) if found.kind == "columns" else (440, 220)
    with mpl.rc_context(_settings()):
        figure = Figure(figsize=(size[0] / DOTS, size[1] / DOTS), dpi=DOTS, layout="constrained")
        pane: Any = figure.subplots()
        (_bars if found.kind == "columns" else _lines)(found, pane)
        pane.set(xlabel=found.across, ylabel=found.up)
        pane.grid(visible=True, axis="y")
        pane.set_axisbelow(True)
        if found.percent:
            pane.yaxis.set_major_formatter(lambda value, place: f"{100 * value:.0f} %")
        elif found.kind == "columns":
            pane.yaxis.set_major_formatter(lambda value, place: f"{value:,.0f}")
        stream = StringIO()
        figure.savefig(
            stream,
            format="svg",
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
            transparent=True,
        )
    return _for_page(stream.getvalue(), size, f"{found.title}: {found.description}")


def _bars(found: Chart, pane: Any) -> None:
    width = 0.84 / max(len(found.series), 1)
    for which, values in enumerate(found.series.values()):
        lefts = [place - 0.42 + width * which for place in range(len(values))]
        bars = pane.bar(lefts, [value or 0 for value in values], width * 0.94, align="edge", color=ink(which))
        if len(found.series) * len(found.labels) <= MOST_TOLD:
            pane.bar_label(bars, [_text(found, value) if value else "" for value in values], padding=1)
    step = max(1, -(-len(found.labels) // 5))
    pane.set_xticks(range(0, len(found.labels), step), [str(label) for label in found.labels[::step]])
    if not found.percent:
        whole = all(isinstance(value, int) for values in found.series.values() for value in values)
        pane.yaxis.get_major_locator().set_params(integer=whole)


def _lines(found: Chart, pane: Any) -> None:
    for which, values in enumerate(found.series.values()):
        places = [place for place, value in enumerate(values) if value is not None]
        across = [found.labels[place] for place in places]
        up = [values[place] for place in places]
        pane.plot(
            across,
            up,
            color=ink(which),
            linewidth=1.8,
            drawstyle="steps-post" if found.kind == "steps" else "default",
        )
    pane.set_ylim(0, None)


def ink(at: int) -> str:
    """The colour of a page's series, for matplotlib."""
    return list(_SERIES)[at % len(_SERIES)]


def _settings() -> Any:
    soft, line, ink = _INKS
    sizes = dict.fromkeys(("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize"), TEXT)
    colours = dict.fromkeys(("axes.labelcolor", "xtick.color", "ytick.color"), soft) | {"text.color": ink}
    colours |= {"axes.edgecolor": line, "grid.color": line}
    shapes = {
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.major.size": 0,
        "ytick.major.size": 0,
    }
    return {"svg.fonttype": "none", "svg.hashsalt": "kubeclassic", **sizes, **colours, **shapes}


def _for_page(svg: str, size: tuple[int, int], description: str) -> Markup:
    """The SVG element alone, with the page's colours and font, a description, and no id that another picture
    has too."""
    inside = svg[svg.index(">", svg.index("<svg")) + 1 : svg.rindex("</svg>")]
    inside = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", inside, flags=re.DOTALL)
    inside = re.sub(r'<g id="[^"]*"', "<g", inside)
    inside = re.sub(r" *\n *", " ", re.sub(r" font-family: [^;]*;", "", inside))
    own = f"{zlib.crc32(description.encode()):08x}"
    inside = re.sub(r'id="|url\(#|href="#', lambda found: found[0] + own, inside)
    for colour, ours in {**_INKS, **_SERIES}.items():
        inside = inside.replace(colour, ours)
    box = f"0 0 {size[0]} {size[1]}"
    least = f"min-width:{size[0]}px;max-width:{round(1.3 * size[0])}px"
    made = Markup('<svg viewBox="{}" style="{}" role="img" aria-label="{}">{}</svg>')
    return made.format(box, least, description, Markup(inside))


WIDTH = 860
MOST = 120
BAR = 10
HEIGHT = 260
TOP = 26
GAP = 8
"""Pixels: from the first column to the last, from column to column at most, the width of a column, the height
of all pods, the room for names, between two states."""
LEAST = 1.5
"""The height of a band of one pod, that it can be seen."""


# Pods on their way from column to column: where each band of the picture begins, and how high it is.


def drawn_bands(found: Bands) -> JsonDict:
    """The picture of *found*."""
    across = min(MOST, WIDTH // max(1, len(found.names) - 1))
    scale = HEIGHT / max(1, sum(found.counts[0].values()))
    names = list[JsonDict]()
    columns = list[JsonDict]()
    tops = list[dict[str, float]]()
    for at, name in enumerate(found.names):
        left = 20 + at * across
        top = float(TOP)
        names.append({"left": left, "text": name})
        tops.append({})  # state -> where it begins in the column
        for state, colour in found.colours.items():
            tops[at][state], count = top, found.counts[at].get(state, 0)
            if count:
                height = max(LEAST, count * scale)
                said = f"{name}: {count:,} {state}"
                columns.append(
                    {
                        "left": left,
                        "top": f"{top:.1f}",
                        "height": f"{height:.1f}",
                        "colour": colour,
                        "said": said,
                    }
                )
            top += count * scale + GAP
    width = names[-1]["left"] + BAR + 40
    bands = list(_bands(found, [name["left"] for name in names], tops, scale))
    return {
        "width": width,
        "height": HEIGHT + TOP + 3 * GAP,
        "names": names,
        "columns": columns,
        "bands": bands,
    }


def _bands(found: Bands, lefts: list[int], tops: list[dict[str, float]], scale: float) -> Iterator[JsonDict]:
    for at, flows in enumerate(found.flows):
        starts = {**tops[at]}
        ends = {**tops[at + 1]}
        left = lefts[at] + BAR
        right = lefts[at + 1]
        middle = (left + right) / 2
        for before, after in product(found.colours, repeat=2):
            count = flows.get((before, after), 0)
            if not count:
                continue
            y = starts[before]
            z = ends[after]
            shown = max(LEAST, count * scale)
            starts[before], ends[after] = y + count * scale, z + count * scale
            path = (
                f"M{left} {y:.1f}C{middle} {y:.1f} {middle} {z:.1f} {right} {z:.1f}V{z + shown:.1f}"
                f"C{middle} {z + shown:.1f} {middle} {y + shown:.1f} {left} {y + shown:.1f}Z"
            )
            opacity = "0.35" if before == after else "0.75"
            said = f"{count:,} from {before} to {after}"
            yield {"path": path, "colour": found.colours[after], "opacity": opacity, "said": said}
