"""Nodes as tiles with their pods, or many as squares: grouped by zone or another label, coloured by use,
before and after side by side; and charts.

Squares stand in the HTML as one path of SVG for each colour, those in use the most first;
``assets/clustermap.js`` draws the map again for the width that there is, for another label or resource, and
shows a node's name, use and pods.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import product
from math import ceil, floor, log10

import attrs

from ....api.meaning import ZONES
from ....api.objects import JsonDict
from ....api.view import Bands, Chart, MapSide, NodeMap
from ....api.words import percent

FEW = 60
"""The most nodes that are shown as tiles."""
SHOWN = 8
"""The most pods in a tile; the others are counted."""
CAME = "came"
STAYED = "stayed"
LEFT = "left"


def marked(pods: Sequence[str], before: Sequence[str] | None) -> list[tuple[str, str]]:
    """Each pod with what became of it, those that came first, then those that left.

    >>> marked(["a", "c"], ["a", "b"])
    [('c', 'came'), ('b', 'left'), ('a', 'stayed')]
    """
    if before is None:
        return [(pod, STAYED) for pod in pods]
    earlier = set(before)
    now = set(pods)
    came = [pod for pod in pods if pod not in earlier]
    stayed = [pod for pod in pods if pod in earlier]
    return [
        *((pod, CAME) for pod in came),
        *((pod, LEFT) for pod in before if pod not in now),
        *((pod, STAYED) for pod in stayed),
    ]


STEPS = 10
"""Colours between the lowest and the highest share; ``u0`` is nothing, ``u11`` more than there is."""
ROUND = 5
LEAST = 10
"""The ends are multiples of the first number, and at least the second one apart, both in percent."""


@attrs.frozen
class UseScale:
    """The colours of shares of 1; *low* and *high* are percent. ``assets/nodetiles.js`` has the same."""

    low: int = 0
    high: int = 100
    has_nothing: bool = True
    """Whether a share of 0 occurs."""
    has_too_much: bool = True
    """Whether a share of more than 1 occurs."""

    @classmethod
    def of(cls, shares: Iterable[float | None]) -> UseScale:
        """The scale over the range of *shares*.

        >>> UseScale.of([0.214, 0.966, None])
        UseScale(low=20, high=100, has_nothing=False, has_too_much=False)
        >>> UseScale.of([0.0, 0.42, 1.2])
        UseScale(low=40, high=50, has_nothing=True, has_too_much=True)
        """
        thousandths = [round(1000 * share) for share in shares if share is not None]
        within = [thousandth for thousandth in thousandths if 0 < thousandth <= 1000]
        low = floor(min(within, default=0) / (10 * ROUND)) * ROUND
        high = ceil(max(within, default=1000) / (10 * ROUND)) * ROUND
        low = min(low, 100 - LEAST)
        return cls(
            low,
            max(high, low + LEAST),
            any(thousandth <= 0 for thousandth in thousandths),
            any(thousandth > 1000 for thousandth in thousandths),
        )

    def level(self, share: float | None) -> int | None:
        """The number of the colour of *share*; None where there is none.

        >>> [UseScale(20, 100).level(share) for share in (None, 0.0, 0.2, 0.28, 0.5, 1.0, 1.001)]
        [None, 0, 1, 1, 4, 10, 11]
        """
        if share is None:
            return None
        thousandths = round(1000 * share)
        if thousandths <= 0:
            return 0
        if thousandths > 1000:
            return STEPS + 1
        return max(1, ceil((thousandths - 10 * self.low) * STEPS / (10 * (self.high - self.low))))

    def css_class(self, share: float | None) -> str:
        """The class of what is drawn for *share*."""
        level = self.level(share)
        return "none" if level is None else f"u{level}"


SIZE = 9
GAP = 2
ACROSS = 28
"""A square's side and the room around it in pixels; squares in a line before scripts run, which fit a
telephone."""


@attrs.frozen(repr=False, slots=False)
class DrawnMap:
    """A map as it is drawn: what shows before scripts run, and what the script reads."""

    found: NodeMap

    @cached_property
    def is_tiled(self) -> bool:
        """Whether nodes are tiles with their pods."""
        return len(self.found.nodes) <= FEW and any(any(side.pods) for side in self.found.sides)

    @property
    def drawn(self) -> list[int]:
        """The sides that are drawn."""
        return list(range(len(self.found.sides)))[
            1 if self.found.follows and self.is_tiled and len(self.found.sides) == 2 else 0 :
        ]

    @cached_property
    def resources(self) -> list[str]:
        """The resources that can colour squares; the first one does at first."""
        return list(dict.fromkeys(resource for side in self.found.sides for resource in side.uses))

    @property
    def group_by(self) -> str:
        """The label that nodes are grouped by at first; empty: none."""
        return next((label for label in ZONES if label in self.found.labels), "")

    @cached_property
    def scale(self) -> UseScale:
        """The colours of the first resource, over all sides."""
        return UseScale.of(share for side in self.found.sides for share in self._shares(side))

    @property
    def changes(self) -> list[str]:
        """The changes of pods of the tiles, for the legend."""
        marks = {
            mark
            for side in self.drawn_sides
            for group in side["groups"]
            for tile in group["tiles"]
            for _, mark in tile["pods"]
        }
        return [mark for mark in (CAME, LEFT) if mark in marks]

    def data(self) -> JsonDict:
        """The data of the script; shares are in thousandths, -1 for none, and pods and values of labels stand
        by number."""
        names = dict[str, int]()
        sides = []
        for side in self.found.sides:
            uses = {
                resource: [_thousandths(value) for value in values] for resource, values in side.uses.items()
            }
            pods = [[names.setdefault(pod, len(names)) for pod in pods] for pods in side.pods]
            sides.append(
                {
                    "title": side.title,
                    "uses": uses,
                    "pods": pods,
                    "states": list(side.states),
                    "notes": list(side.notes),
                }
            )
        labels = {}
        for label, values in self.found.labels.items():
            places = dict[str, int]()
            numbers = [places.setdefault(value, len(places)) for value in values]
            labels[label] = {"texts": list(places), "values": numbers}
        choices = {"groupBy": self.group_by, "resources": self.resources, "colours": dict(self.found.colours)}
        drawn = {"still": True, "tiles": self.is_tiled, "follows": self.found.follows, "drawn": self.drawn}
        return {
            "nodes": list(self.found.nodes),
            "labels": labels,
            **choices,
            **drawn,
            "sides": sides,
            "names": list(names),
        }

    # --- what shows before scripts run ----------------------------------------------------------------------

    @cached_property
    def drawn_sides(self) -> list[JsonDict]:
        """Each side with its groups of nodes; squares by use, those in use the most first."""
        shares = self._shares(self.found.sides[-1])
        values = self.found.labels.get(self.group_by)
        rows = range(len(self.found.nodes))
        groups = defaultdict[str, list[int]](list)
        for row in rows if self.is_tiled else sorted(rows, key=lambda row: -_thousandths(shares[row])):
            groups[values[row] if values is not None else ""].append(row)
        drawn = []
        for at in self.drawn:
            parts = []
            for name, inside in sorted(groups.items()):
                tiles = [self._tile(at, row) for row in inside if self.is_tiled]
                squares = None if self.is_tiled else self._squares(self.found.sides[at], inside)
                title = name or ("no zone" if self.group_by else "all")
                parts.append({"name": title, "count": len(inside), "tiles": tiles, "squares": squares})
            drawn.append({"title": self.found.sides[at].title, "groups": parts})
        return drawn

    def _shares(self, side: MapSide) -> Sequence[float | None]:
        values = side.uses.get(self.resources[0]) if self.resources else None
        return [None] * len(self.found.nodes) if values is None else values

    def _tile(self, at: int, row: int) -> JsonDict:
        side = self.found.sides[at]
        share = self._shares(side)[row]
        state = side.states[row] if side.states else ""
        pods = [other_side.pods for other_side in self.found.sides[:at] if other_side.pods]
        earlier = (pods[-1] if self.found.follows else pods[0]) if pods and side.pods else None
        return {
            "row": row,
            "name": self.found.nodes[row],
            "share": share,
            "level": self.scale.css_class(share),
            "state": state,
            "pods": marked(side.pods[row] if side.pods else (), None if earlier is None else earlier[row]),
            "colour": self.found.colours.get(state, "var(--line)"),
            "note": side.notes[row] if side.notes else "",
        }

    def _squares(self, side: MapSide, rows: Sequence[int]) -> JsonDict:
        step = SIZE + GAP
        places = defaultdict[str, list[str]](list)
        shares = self._shares(side)
        for place, row in enumerate(rows):
            left = step * (place % ACROSS)
            top = step * (place // ACROSS)
            places[self.scale.css_class(shares[row])].append(f"M{left} {top}h{SIZE}v{SIZE}h-{SIZE}z")
        return {
            "width": step * min(ACROSS, len(rows)),
            "height": step * -(-len(rows) // ACROSS),
            "zoom": 2 if len(self.found.nodes) <= FEW else 1,
            "paths": [(level, "".join(shapes)) for level, shapes in sorted(places.items())],
        }


def _thousandths(share: float | None) -> int:
    return -1 if share is None else round(1000 * share)


# --- pictures as SVG that takes its colours and its font from the page: charts, and pods on their way -------


MOST_ROWS = 120
"""The most rows of numbers under a chart of lines."""
MOST_NUMBERS = 12
"""The most columns with their numbers above them, so that low ones are read beside high ones."""
UP_STEPS = 5
ACROSS_STEPS = 6
NAMED = 5
"""Lines across, numbers below and names of columns, at most."""
ROOM = 16
"""Pixels above the highest value, for its number."""


def numbers(chart: Chart) -> tuple[list[str], list[list[str]]]:
    """The columns and rows of a table of all values; of many in even steps."""
    count = len(chart.labels)
    places = (
        range(count)
        if count <= MOST_ROWS
        else [at * (count - 1) // (MOST_ROWS - 1) for at in range(MOST_ROWS)]
    )
    rows = [
        [str(chart.labels[at]), *(_text(chart, values[at]) for values in chart.series.values())]
        for at in places
    ]
    return [chart.across, *(name or chart.up for name in chart.series)], rows


def _text(chart: Chart, value: float | None) -> str:
    if value is None:
        return "-"
    return (
        str(percent(value)) if chart.percent else f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
    )


def drawn_chart(chart: Chart) -> JsonDict | None:
    """The picture of *chart*; None where it has no values."""
    values = [value for series in chart.series.values() for value in series if value is not None]
    if not values:
        return None
    is_columns = chart.kind == "columns"
    width, height = (300, 200) if is_columns else (440, 220)
    right = width - 22
    foot = height - 44
    step = _axis_step(max(values) / UP_STEPS, whole=all(isinstance(value, int) for value in values))
    count = max(ceil(max(values) / step), 1)

    def up(value: float) -> float:
        return round(foot - value * (foot - ROOM) / (step * count), 1)

    places = [at * step for at in range(count + 1)]
    texts = [f"{100 * place:.0f} %" if chart.percent else f"{place:,.10g}" for place in places]
    left = 32 + 8 * max(map(len, texts))
    drawn: JsonDict = {"width": width, "height": height, "left": left, "right": right, "foot": foot}
    drawn["up"] = [(up(place), text) for place, text in zip(places, texts, strict=True)]
    if is_columns:
        return {**drawn, **_columns(chart, left, right, foot, up)}
    start = float(chart.labels[0])
    past = max(float(chart.labels[-1]) - start, 1e-9)

    def across(value: float) -> float:
        return round(left + (value - start) * (right - left) / past, 1)

    along = _axis_step(past / ACROSS_STEPS, whole=False)
    starts = ceil(start / along)
    drawn["across"] = [
        (across(at * along), f"{at * along:,.10g}") for at in range(starts, floor((start + past) / along) + 1)
    ]
    drawn["lines"] = []
    for series in chart.series.values():
        points = zip(chart.labels, series, strict=True)
        drawn_points = [(across(label), up(value)) for label, value in points if value is not None]
        between = "H{0}V{1}" if chart.kind == "steps" else "L{0} {1}"
        path = "".join(between.format(*point) for point in drawn_points[1:])
        drawn["lines"].append(f"M{drawn_points[0][0]} {drawn_points[0][1]}{path}" if drawn_points else "")
    return drawn


def _columns(chart: Chart, left: int, right: int, foot: int, up: Callable[[float], float]) -> JsonDict:
    """The columns of a chart with their numbers, where these are few, and the names of some."""
    count = max(len(chart.labels), 1)
    slot = (right - left) / count
    width = 0.84 * slot / len(chart.series)
    has_numbers = len(chart.series) * count <= MOST_NUMBERS
    boxes = []
    for which, values in enumerate(chart.series.values()):
        for at, value in enumerate(values):
            if value:
                text = _text(chart, value) if has_numbers else ""
                x = round(left + slot * (at + 0.08) + width * which, 1)
                boxes.append((which, x, up(value), round(0.94 * width, 1), round(foot - up(value), 1), text))
    stride = max(1, -(-count // NAMED))
    names = [(round(left + slot * (at + 0.5), 1), chart.labels[at]) for at in range(0, count, stride)]
    return {"columns": boxes, "across": names}


def _axis_step(least: float, *, whole: bool) -> float:
    """The smallest of 1, 2 and 5, or of these with zeros, that is *least* or more."""
    power = 10.0 ** floor(log10(least)) if least > 0 else 1.0
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= least * (1 - 1e-9))
    return max(step, 1.0) if whole else step


WIDTH = 860
MOST = 120
BAR = 10
HEIGHT = 260
TOP = 26
APART = 8
"""Pixels: from the first column to the last, from column to column at most, the width of a column, the height
of all pods, the room for names, between two states."""
LOWEST = 1.5
"""The height of a band of one pod, that it can be seen."""


# Pods on their way from column to column: where each band of the picture begins, and how high it is.


def drawn_bands(part: Bands) -> JsonDict:
    """The picture of the bands of *part*."""
    across = min(MOST, WIDTH // max(1, len(part.names) - 1))
    scale = HEIGHT / max(1, sum(part.counts[0].values()))
    names = list[JsonDict]()
    columns = list[JsonDict]()
    tops = list[dict[str, float]]()
    for at, name in enumerate(part.names):
        left = 20 + at * across
        top = float(TOP)
        names.append({"left": left, "text": name})
        tops.append({})  # state -> where it begins in the column
        for state, colour in part.colours.items():
            tops[at][state], count = top, part.counts[at].get(state, 0)
            if count:
                height = max(LOWEST, count * scale)
                text = f"{name}: {count:,} {state}"
                columns.append(
                    {
                        "left": left,
                        "top": f"{top:.1f}",
                        "height": f"{height:.1f}",
                        "colour": colour,
                        "said": text,
                    }
                )
            top += count * scale + APART
    width = names[-1]["left"] + BAR + 40
    bands = list(_bands(part, [name["left"] for name in names], tops, scale))
    return {
        "width": width,
        "height": HEIGHT + TOP + 3 * APART,
        "names": names,
        "columns": columns,
        "bands": bands,
    }


def _bands(part: Bands, lefts: list[int], tops: list[dict[str, float]], scale: float) -> Iterator[JsonDict]:
    for at, flows in enumerate(part.flows):
        starts = {**tops[at]}
        ends = {**tops[at + 1]}
        left = lefts[at] + BAR
        right = lefts[at + 1]
        middle = (left + right) / 2
        for before, after in product(part.colours, repeat=2):
            count = flows.get((before, after), 0)
            if not count:
                continue
            y = starts[before]
            z = ends[after]
            shown = max(LOWEST, count * scale)
            starts[before], ends[after] = y + count * scale, z + count * scale
            path = (
                f"M{left} {y:.1f}C{middle} {y:.1f} {middle} {z:.1f} {right} {z:.1f}V{z + shown:.1f}"
                f"C{middle} {z + shown:.1f} {middle} {y + shown:.1f} {left} {y + shown:.1f}Z"
            )
            opacity = "0.35" if before == after else "0.75"
            text = f"{count:,} from {before} to {after}"
            yield {"path": path, "colour": part.colours[after], "opacity": opacity, "said": text}
