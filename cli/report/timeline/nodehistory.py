"""The nodes of a replay for its map: after the first instant, when most is in use, and at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ....simulation.nodesbyuse import grouped
from ..page.clustermap import ClusterMap, MapSide
from ..page.parts import BAD
from ..questions.nodemap import labels_of
from .collected import Collected, Moment

ABSENT = "not there"


def replay_map(collected: Collected, resources: Sequence[str]) -> ClusterMap:
    """All nodes that there were, at two or three times."""
    names = list(collected.nodes)
    sides = [_side(title, moment, names, resources) for title, moment in _moments(collected)]
    colours = {ABSENT: BAD} if any(ABSENT in side.states for side in sides) else {}
    return ClusterMap("map", names, sides, labels_of(list(collected.nodes.values())), colours=colours)


def _moments(collected: Collected) -> Iterator[tuple[str, Moment]]:
    first, fullest, last = collected.first, collected.fullest, collected.last
    if first is not None:
        yield f"at the start, {first.time:,.1f} s", first
    if fullest is not None and first is not None and last is not None and first.time < fullest.time < last.time:
        yield f"when most is in use, {fullest.time:,.1f} s", fullest
    if last is not None:
        yield f"at the end, {last.time:,.1f} s", last


def _side(title: str, moment: Moment, names: Sequence[str], resources: Sequence[str]) -> MapSide:
    known = moment.allocatable.shape[1]
    uses: dict[str, list[float | None]] = {}
    for row, resource in enumerate(resources):
        has, used = moment.allocatable[row].tolist(), moment.used[row].tolist()
        uses[resource] = [used[at] / has[at] if at < known and has[at] else None for at in range(len(names))]
    there = set(np.flatnonzero(moment.allocatable.sum(axis=0)).tolist())
    states = ["" if at in there else ABSENT for at in range(len(names))]
    pods = () if moment.pods is None else grouped(((pod, names[row]) for pod, row in moment.pods.items()), names)
    return MapSide(title, uses, pods, states if any(states) else ())
