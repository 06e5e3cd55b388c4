"""Pods on their way from column to column: where each band of the picture begins, and how high it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....api.view import Bands

WIDTH, MOST, BAR, HEIGHT, TOP, GAP = 860, 120, 10, 260, 26, 8
"""Pixels: from the first column to the last, from column to column at most, the width of a column, the height of all pods, the room for
names, between two states."""
LEAST = 1.5
"""The height of a band of one pod, that it can be seen."""


def drawn_bands(found: Bands) -> dict[str, Any]:
    """The picture of *found*."""
    across = min(MOST, WIDTH // max(1, len(found.names) - 1))
    lefts = [20 + at * across for at in range(len(found.names))]
    names = [{"left": left, "text": name} for left, name in zip(lefts, found.names, strict=True)]
    scale = HEIGHT / max(1, sum(found.counts[0].values()))
    columns, bands = _columns(found, lefts, scale), _bands(found, lefts, scale)
    return {"width": lefts[-1] + BAR + 40, "height": HEIGHT + TOP + 3 * GAP, "names": names, "columns": columns, "bands": bands}


def _tops(found: Bands, at: int, scale: float) -> dict[str, float]:
    """State -> where it begins in the column *at*."""
    tops, top = {}, float(TOP)
    for state in found.colours:
        tops[state] = top
        top += found.counts[at].get(state, 0) * scale + GAP
    return tops


def _columns(found: Bands, lefts: list[int], scale: float) -> Iterator[dict[str, Any]]:
    for at, name in enumerate(found.names):
        for state, top in _tops(found, at, scale).items():
            if count := found.counts[at].get(state, 0):
                height, said = max(LEAST, count * scale), f"{name}: {count:,} {state}"
                yield {"left": lefts[at], "top": f"{top:.1f}", "height": f"{height:.1f}", "colour": found.colours[state], "said": said}


def _bands(found: Bands, lefts: list[int], scale: float) -> Iterator[dict[str, Any]]:
    for at, flows in enumerate(found.flows):
        starts, ends = _tops(found, at, scale), _tops(found, at + 1, scale)
        left, right = lefts[at] + BAR, lefts[at + 1]
        middle = (left + right) / 2
        for before in found.colours:
            for after in found.colours:
                count = flows.get((before, after), 0)
                if not count:
                    continue
                y, z, shown = starts[before], ends[after], max(LEAST, count * scale)
                starts[before], ends[after] = y + count * scale, z + count * scale
                path = (
                    f"M{left} {y:.1f}C{middle} {y:.1f} {middle} {z:.1f} {right} {z:.1f}V{z + shown:.1f}"
                    f"C{middle} {z + shown:.1f} {middle} {y + shown:.1f} {left} {y + shown:.1f}Z"
                )
                opacity, said = "0.35" if before == after else "0.75", f"{count:,} from {before} to {after}"
                yield {"path": path, "colour": found.colours[after], "opacity": opacity, "said": said}
