"""Nodes as tiles with their pods, or many as squares: grouped by zone or another label, coloured by use, before and after side by side.

Squares stand in the HTML as one path of SVG for each colour, those in use the most first; ``assets/clustermap.js`` draws the map again for
the width that there is, for another label or resource, and shows a node's name, use and pods.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, floor
from typing import Any

import attrs

from ....api.meaning.labels import ZONES
from ....api.words import count_of
from .markup import Markup, Text, data_script, element, html, number
from .parts import dot, tag

FEW = 60
"""Up to that many nodes are tiles."""
SHOWN = 8
"""That many pods stand in a tile; the others are counted."""
TAIL = 8
"""The characters at the end of a name that are always there; where there is little room the middle is left out."""
CAME, STAYED, LEFT = "came", "stayed", "left"


@attrs.frozen
class Tile:
    """One node in one state of the cluster."""

    row: int
    name: str
    share: float | None
    """Of the resource that is shown."""
    pods: Sequence[str] = ()
    before: Sequence[str] | None = None
    """The pods on it in the state before; None where there is none."""
    state: str = ""
    colour: str = ""
    note: str = ""

    def html(self, scale: UseScale) -> Markup:
        """The tile as it shows before scripts run."""
        use = "-" if self.share is None else f"{100 * self.share:.1f} %"
        width = f"width:{min(100.0, 100 * (self.share or 0)):.1f}%"
        bar = element("span", element("i", class_=scale.css_class(self.share), style=width), class_="track", aria_hidden="true")
        marks = [tag(self.state, self.colour or "var(--line)")] if self.state else []
        notes = [element("small", self.note)] if self.note else []
        head = element("div", cut(self.name), element("span", use, class_="use"), class_="head")
        pods = element("ol", *self._pods(), class_="pods") if self.pods or self.before else ""
        return element("li", head, bar, *marks, *notes, pods, class_="tile", data_node=f"{self.row}")

    def _pods(self) -> Iterator[Text]:
        found = marked(self.pods, self.before)
        for pod, mark in found[:SHOWN]:
            yield element("li", cut(pod.rpartition("/")[2], pod), class_=mark)
        if len(found) > SHOWN:
            yield element("li", f"+ {number(len(found) - SHOWN)} more", class_="rest")


def marked(pods: Sequence[str], before: Sequence[str] | None) -> list[tuple[str, str]]:
    """Each pod with what became of it, those that came first, then those that left.

    >>> marked(["a", "c"], ["a", "b"])
    [('c', 'came'), ('b', 'left'), ('a', 'stayed')]
    """
    if before is None:
        return [(pod, STAYED) for pod in pods]
    earlier, now = set(before), set(pods)
    came, stayed = [pod for pod in pods if pod not in earlier], [pod for pod in pods if pod in earlier]
    return [*((pod, CAME) for pod in came), *((pod, LEFT) for pod in before if pod not in now), *((pod, STAYED) for pod in stayed)]


def cut(name: str, whole: str = "") -> Markup:
    """*name*, of which the middle is left out where there is little room; *whole* shows where it is pointed at.

    >>> cut("storefront-abcdefg-0")
    '<span class="cut" title="storefront-abcdefg-0"><span>storefront-a</span><span>bcdefg-0</span></span>'
    """
    if len(name) <= 2 * TAIL:
        return element("span", html(name), class_="name", title=whole or None)
    return element("span", element("span", name[:-TAIL]), element("span", name[-TAIL:]), class_="cut", title=whole or name)


STEPS = 10
"""Colours between the lowest and the highest share; ``u0`` is nothing, ``u11`` more than there is."""
ROUND, LEAST = 5, 10
"""The ends are multiples of the first number, and at least the second one apart, both in percent."""


@attrs.frozen
class UseScale:
    """Which colour a share of 1 has; *low* and *high* are percent. ``assets/nodetiles.js`` has the same."""

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
        within = [one for one in thousandths if 0 < one <= 1000]
        low = floor(min(within, default=0) / (10 * ROUND)) * ROUND
        high = ceil(max(within, default=1000) / (10 * ROUND)) * ROUND
        low = min(low, 100 - LEAST)
        return cls(low, max(high, low + LEAST), any(one <= 0 for one in thousandths), any(one > 1000 for one in thousandths))

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
        found = self.level(share)
        return "none" if found is None else f"u{found}"

    def html(self) -> Markup:
        """The legend: the colours that occur, with the ends of the range."""
        steps = [element("span", class_=f"u{at}") for at in range(1, STEPS + 1)]
        nothing = [element("span", class_="u0"), "nothing, "] if self.has_nothing else []
        too_much = [", ", element("span", class_="u11"), "over 100 %"] if self.has_too_much else []
        return element("span", *nothing, f"{self.low} %", *steps, f"{self.high} %", *too_much, class_="scale")


SIZE, GAP, ACROSS = 9, 2, 28
"""A square's side and the room around it in pixels; squares in a line before scripts run, which fit a telephone."""


@attrs.frozen(repr=False)
class MapSide:
    """One state of the cluster; lists have an entry for each node of the map."""

    title: str
    uses: Mapping[str, Sequence[float | None]]
    """Resource -> the share of each node's capacity in use; None where the node has none of it."""
    pods: Sequence[Sequence[str]] = ()
    """The pods on each node, or nothing where they are not told."""
    states: Sequence[str] = ()
    """A word on each node, such as ``drained``; empty for nodes without."""
    notes: Sequence[str] = ()
    """What else is said of each node, such as ``3 copies``; empty for nothing."""


@attrs.frozen(repr=False)
class ClusterMap:
    """Nodes in one or more states."""

    name: str
    """Its id."""
    nodes: Sequence[str]
    sides: Sequence[MapSide]
    labels: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    """Label -> its value on each node, empty where it has none: people choose by which of them nodes are grouped."""
    colours: Mapping[str, str] = attrs.field(factory=dict, kw_only=True)
    """State -> the colour of its mark."""
    note: str = attrs.field(default="", kw_only=True)
    follows: bool = attrs.field(default=False, kw_only=True)
    """Whether each side is what became of the one before it. Of two, tiles show the last one alone, with what came and what left."""

    @property
    def is_tiled(self) -> bool:
        """Whether nodes are tiles with their pods."""
        return len(self.nodes) <= FEW and any(any(side.pods) for side in self.sides)

    @property
    def drawn(self) -> list[int]:
        """The sides that are drawn."""
        return list(range(len(self.sides)))[1 if self.follows and self.is_tiled and len(self.sides) == 2 else 0 :]

    @property
    def resources(self) -> list[str]:
        """What squares can be coloured by; the first one is at first."""
        return list(dict.fromkeys(resource for side in self.sides for resource in side.uses))

    @property
    def group_by(self) -> str:
        """The label that nodes are grouped by at first; empty: none."""
        return next((label for label in ZONES if label in self.labels), "")

    def html(self) -> Markup:
        """The map, with its data."""
        sides = element("div", *map(self._side, self.drawn), class_="maps")
        hint = f"Point at a {'tile' if self.is_tiled else 'square'}, or use the arrow keys, to see a node."
        told = element("p", hint, class_="soft told", aria_live="polite", hidden="")
        bar = element("div", class_="bar", hidden="")
        notes = [element("p", self.note, class_="soft")] if self.note else []
        parts = (bar, *notes, sides, self._legend(), told, data_script(f"{self.name}-data", self.data()))
        return element("div", *parts, class_="card map", id=self.name, data_part="map")

    def still(self) -> Markup:
        """The map as it shows before scripts run, without its data: for notebooks."""
        return element("div", element("div", *map(self._side, self.drawn), class_="maps"), self._legend(), class_="card map")

    def data(self) -> dict[str, Any]:
        """What the script reads; shares are in thousandths, -1 for none, and pods stand by number."""
        names: dict[str, int] = {}
        sides = [
            {
                "title": side.title,
                "uses": {resource: [_thousandths(value) for value in values] for resource, values in side.uses.items()},
                "pods": [[names.setdefault(pod, len(names)) for pod in pods] for pods in side.pods],
                "states": list(side.states),
                "notes": list(side.notes),
            }
            for side in self.sides
        ]
        labels = {label: _numbered(values) for label, values in self.labels.items()}
        choices = {"groupBy": self.group_by, "resources": self.resources, "colours": dict(self.colours)}
        drawn = {"still": True, "tiles": self.is_tiled, "follows": self.follows, "drawn": self.drawn}
        return {"nodes": list(self.nodes), "labels": labels, **choices, **drawn, "sides": sides, "names": list(names)}

    # --- what shows before scripts run ------------------------------------------------------------------------------

    @property
    def scale(self) -> UseScale:
        """The colours of the first resource, over all sides."""
        return UseScale.of(share for side in self.sides for share in self._shares(side))

    def _shares(self, side: MapSide) -> Sequence[float | None]:
        values = side.uses.get(self.resources[0]) if self.resources else None
        return [None] * len(self.nodes) if values is None else values

    def _side(self, at: int) -> Markup:
        side = self.sides[at]
        heading = [element("h3", side.title)] if side.title else []
        draw = self._tiles if self.is_tiled else self._squares
        groups = (element("figure", self._caption(name, rows), draw(at, rows)) for name, rows in self._groups().items())
        return element("div", *heading, element("div", *groups, class_="groups"), class_="side")

    def _groups(self) -> dict[str, list[int]]:
        """The nodes of each group; squares by use, those in use the most first."""
        found: dict[str, list[int]] = defaultdict(list)
        values, shares = self.labels.get(self.group_by), self._shares(self.sides[-1])
        rows = range(len(self.nodes))
        for row in rows if self.is_tiled else sorted(rows, key=lambda row: -_thousandths(shares[row])):
            found[values[row] if values is not None else ""].append(row)
        return dict(sorted(found.items()))

    def _caption(self, name: str, rows: Sequence[int]) -> Markup:
        return element("figcaption", f"{name or ('no zone' if self.group_by else 'all')}: {count_of(len(rows), 'node')}")

    def _tiles(self, at: int, rows: Sequence[int]) -> Markup:
        side, scale, shares = self.sides[at], self.scale, self._shares(self.sides[at])
        earlier = self._earlier(at)

        def tile(row: int) -> Markup:
            before = None if earlier is None else earlier[row]
            state, note = side.states[row] if side.states else "", side.notes[row] if side.notes else ""
            pods = side.pods[row] if side.pods else ()
            return Tile(row, self.nodes[row], shares[row], pods, before, state, self.colours.get(state, ""), note).html(scale)

        return element("ul", *map(tile, rows), class_="tiles")

    def _earlier(self, at: int) -> Sequence[Sequence[str]] | None:
        """The pods with which those of the side *at* are compared; None where either is not told."""
        told = [side.pods for side in self.sides[:at] if side.pods]
        return (told[-1] if self.follows else told[0]) if told and self.sides[at].pods else None

    def _changes(self) -> set[str]:
        """What became of any pod of the tiles."""
        pairs = ((self._earlier(at), self.sides[at].pods) for at in self.drawn)
        rows = ((now, before[row]) for before, pods in pairs if before is not None for row, now in enumerate(pods))
        return {mark for now, before in rows for _, mark in marked(now, before)}

    def _squares(self, at: int, rows: Sequence[int]) -> Markup:
        step = SIZE + GAP
        width, height = step * min(ACROSS, len(rows)), step * -(-len(rows) // ACROSS)
        zoom = 2 if len(self.nodes) <= FEW else 1
        size = {"viewBox": f"0 0 {width} {height}", "width": f"{zoom * width}", "height": f"{zoom * height}"}
        return element("svg", *self._paths(self.sides[at], rows), aria_hidden="true", **size)

    def _paths(self, side: MapSide, rows: Sequence[int]) -> Iterator[Markup]:
        step, places, scale, shares = SIZE + GAP, defaultdict[str, list[str]](list), self.scale, self._shares(side)
        for place, row in enumerate(rows):
            left, top = step * (place % ACROSS), step * (place // ACROSS)
            places[scale.css_class(shares[row])].append(f"M{left} {top}h{SIZE}v{SIZE}h-{SIZE}z")
        for colour, shapes in sorted(places.items()):
            yield element("path", class_=colour, d="".join(shapes))

    def _legend(self) -> Markup:
        words = f"Colour: the share of {self.resources[0]} in use. " if self.resources else ""
        states = (element("span", dot(colour), state, class_="state") for state, colour in self.colours.items())
        marks = (element("b", f"pod {what}", class_=what) for what in (CAME, LEFT) if self.is_tiled and what in self._changes())
        scale = self.scale.html() if self.resources else ""
        return element("p", element("span", words, class_="what"), scale, *states, *marks, class_="soft legend-of-use")


def _thousandths(share: float | None) -> int:
    return -1 if share is None else round(1000 * share)


def _numbered(values: Sequence[str]) -> dict[str, Any]:
    places: dict[str, int] = {}
    found = [places.setdefault(value, len(places)) for value in values]
    return {"texts": list(places), "values": found}
