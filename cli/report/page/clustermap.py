"""Nodes as squares: grouped by zone or another label, coloured by use, before and after side by side.

The map stands in the HTML as one path of SVG for each colour; ``assets/clustermap.js`` draws it again for the width that there is, for
another label or resource, and shows a node's name, use and pods.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ....api.words import count_of
from .markup import Markup, data_script, element

SIZE, GAP, ACROSS = 9, 2, 28
"""A square's side and the room around it in pixels; squares in a line before scripts run, which fit a telephone."""
FEW = 60
"""That many nodes have squares of twice that size."""
LEVELS = ("nothing", *(f"up to {10 * tenth} %" for tenth in range(1, 11)), "more than 100 %")
"""What each colour of use means; its class is ``u0``, ``u1`` and so on."""
ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
"""Labels by which nodes are grouped at first, if they have one."""


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
        sides = element("div", *(self._side(side) for side in self.sides), class_="maps")
        told = element("p", "Point at a square, or use the arrow keys, to see a node.", class_="soft told", aria_live="polite", hidden="")
        bar = element("div", class_="bar", hidden="")
        notes = [element("p", self.note, class_="soft")] if self.note else []
        parts = (bar, *notes, sides, self._legend(), told, data_script(f"{self.name}-data", self.data()))
        return element("div", *parts, class_="card map", id=self.name, data_part="map")

    def still(self) -> Markup:
        """The map as it shows before scripts run, without its data: for notebooks."""
        return element("div", element("div", *map(self._side, self.sides), class_="maps"), self._legend(), class_="card map")

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
        return {"nodes": list(self.nodes), "labels": labels, **choices, "sides": sides, "names": list(names)}

    # --- what shows before scripts run ------------------------------------------------------------------------------

    def _side(self, side: MapSide) -> Markup:
        heading = [element("h3", side.title)] if side.title else []
        groups = (self._group(side, name, rows) for name, rows in self._groups().items())
        return element("div", *heading, element("div", *groups, class_="groups"), class_="side")

    def _groups(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        values = self.labels.get(self.group_by)
        for row in range(len(self.nodes)):
            found[values[row] if values is not None else ""].append(row)
        return dict(sorted(found.items()))

    def _group(self, side: MapSide, name: str, rows: Sequence[int]) -> Markup:
        step = SIZE + GAP
        width, height = step * min(ACROSS, len(rows)), step * -(-len(rows) // ACROSS)
        title = f"{name or ('no zone' if self.group_by else 'all')}: {count_of(len(rows), 'node')}"
        zoom = 2 if len(self.nodes) <= FEW else 1
        size = {"viewBox": f"0 0 {width} {height}", "width": f"{zoom * width}", "height": f"{zoom * height}"}
        return element("figure", element("figcaption", title), element("svg", *self._paths(side, rows), aria_hidden="true", **size))

    def _paths(self, side: MapSide, rows: Sequence[int]) -> Iterator[Markup]:
        step, places = SIZE + GAP, defaultdict[str, list[str]](list)
        for place, row in enumerate(rows):
            left, top = step * (place % ACROSS), step * (place // ACROSS)
            places[self._class(side, row)].append(f"M{left} {top}h{SIZE}v{SIZE}h-{SIZE}z")
        for colour, shapes in sorted(places.items()):
            yield element("path", class_=colour, d="".join(shapes))

    def _class(self, side: MapSide, row: int) -> str:
        values = side.uses.get(self.resources[0]) if self.resources else None
        return f"u{level(values[row])}" if values is not None and values[row] is not None else "none"

    def _legend(self) -> Markup:
        words = f"Colour: the share of {self.resources[0]} in use. " if self.resources else ""
        colours = [element("span", class_=f"u{at}", title=text) for at, text in enumerate(LEVELS)]
        scale = element("span", "0 %", *colours, "over 100 %", class_="scale", aria_hidden="true")
        return element("p", element("span", words, class_="what"), scale, class_="soft legend-of-use")


def level(share: float | None) -> int:
    """Which of :data:`LEVELS` a share of 1 is in.

    >>> level(0.0), level(0.05), level(0.1), level(1.0), level(1.2)
    (0, 1, 1, 10, 11)
    """
    if not share:
        return 0
    return min(-(-round(1000 * share) // 100) or 1, len(LEVELS) - 1)


def _thousandths(share: float | None) -> int:
    return -1 if share is None else round(1000 * share)


def _numbered(values: Sequence[str]) -> dict[str, Any]:
    places: dict[str, int] = {}
    found = [places.setdefault(value, len(places)) for value in values]
    return {"texts": list(places), "values": found}
