"""Nodes as tiles with their pods, or many as squares: grouped by zone or another label, coloured by use,
before and after side by side.

Squares stand in the HTML as one path of SVG for each colour, those in use the most first;
``assets/clustermap.js`` draws the map again for the width that there is, for another label or resource, and
shows a node's name, use and pods.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from math import ceil, floor

import attrs

from ....api.meaning import ZONES
from ....api.objects import JsonDict
from ....api.view import MapSide, NodeMap

FEW = 60
"""Up to that many nodes are tiles."""
SHOWN = 8
"""That many pods stand in a tile; the others are counted."""
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
        within = [one for one in thousandths if 0 < one <= 1000]
        low = floor(min(within, default=0) / (10 * ROUND)) * ROUND
        high = ceil(max(within, default=1000) / (10 * ROUND)) * ROUND
        low = min(low, 100 - LEAST)
        return cls(
            low,
            max(high, low + LEAST),
            any(one <= 0 for one in thousandths),
            any(one > 1000 for one in thousandths),
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
        found = self.level(share)
        return "none" if found is None else f"u{found}"


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
        told = [one.pods for one in self.found.sides[:at] if one.pods]
        earlier = (told[-1] if self.found.follows else told[0]) if told and side.pods else None
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
