"""Pictures as SVG that takes its colours and its font from the page: charts, and pods on their way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import ceil, floor, log10

from ....api.objects import JsonDict
from ....api.view import Bands, Chart
from ....api.words import percent

MOST_ROWS = 120
"""That many numbers of a line stand under it."""
MOST_TOLD = 12
"""Up to that many columns have their numbers above them, so that low ones are read beside high ones."""
UP_STEPS = 5
ACROSS_STEPS = 6
NAMED = 5
"""Lines across, numbers below and names of columns, at most."""
ROOM = 16
"""Pixels above the highest value, for its number."""


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


def drawn_chart(found: Chart) -> JsonDict | None:
    """The picture of *found*; None where it has no values."""
    values = [value for each in found.series.values() for value in each if value is not None]
    if not values:
        return None
    is_columns = found.kind == "columns"
    width, height = (300, 200) if is_columns else (440, 220)
    right = width - 22
    foot = height - 44
    step = _step(max(values) / UP_STEPS, whole=all(isinstance(value, int) for value in values))
    count = max(ceil(max(values) / step), 1)

    def up(value: float) -> float:
        return round(foot - value * (foot - ROOM) / (step * count), 1)

    places = [at * step for at in range(count + 1)]
    texts = [f"{100 * place:.0f} %" if found.percent else f"{place:,.10g}" for place in places]
    left = 32 + 8 * max(map(len, texts))
    drawn: JsonDict = {"width": width, "height": height, "left": left, "right": right, "foot": foot}
    drawn["up"] = [(up(place), text) for place, text in zip(places, texts, strict=True)]
    if is_columns:
        return {**drawn, **_columns(found, left, right, foot, up)}
    first = float(found.labels[0])
    past = max(float(found.labels[-1]) - first, 1e-9)

    def across(value: float) -> float:
        return round(left + (value - first) * (right - left) / past, 1)

    along = _step(past / ACROSS_STEPS, whole=False)
    starts = ceil(first / along)
    drawn["across"] = [
        (across(at * along), f"{at * along:,.10g}") for at in range(starts, floor((first + past) / along) + 1)
    ]
    drawn["lines"] = []
    for series in found.series.values():
        points = zip(found.labels, series, strict=True)
        known = [(across(label), up(value)) for label, value in points if value is not None]
        between = "H{0}V{1}" if found.kind == "steps" else "L{0} {1}"
        path = "".join(between.format(*point) for point in known[1:])
        drawn["lines"].append(f"M{known[0][0]} {known[0][1]}{path}" if known else "")
    return drawn


def _columns(found: Chart, left: int, right: int, foot: int, up: Callable[[float], float]) -> JsonDict:
    """The columns of a chart with their numbers, where these are few, and the names of some."""
    count = max(len(found.labels), 1)
    slot = (right - left) / count
    width = 0.84 * slot / len(found.series)
    has_numbers = len(found.series) * count <= MOST_TOLD
    boxes = []
    for which, values in enumerate(found.series.values()):
        for at, value in enumerate(values):
            if value:
                text = _text(found, value) if has_numbers else ""
                x = round(left + slot * (at + 0.08) + width * which, 1)
                boxes.append((which, x, up(value), round(0.94 * width, 1), round(foot - up(value), 1), text))
    each = max(1, -(-count // NAMED))
    names = [(round(left + slot * (at + 0.5), 1), found.labels[at]) for at in range(0, count, each)]
    return {"columns": boxes, "across": names}


def _step(least: float, *, whole: bool) -> float:
    """The smallest of 1, 2 and 5, or of these with zeros, that is *least* or more."""
    power = 10.0 ** floor(log10(least)) if least > 0 else 1.0
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= least * (1 - 1e-9))
    return max(step, 1.0) if whole else step


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
