"""The answer as plain data: how many fit, where they are, what stops the next one, and what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import attrs

from ...api.objects import Node
from ..summary import UNITS
from .counting import Counted
from .question import Question

ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
Row = dict[str, Any]


@attrs.frozen(eq=False)
class Answer:
    """What was counted, with what was asked."""

    release: str
    counted: Counted
    zones: Mapping[str, str]
    """Node -> its zone, empty where it has none; in the order in which the nodes were given."""
    excluded: tuple[str, ...] = ()
    wanted: int | None = None
    """How many were asked for; None: as many as fit."""

    @classmethod
    def of(cls, release: str, counted: Counted, question: Question, wanted: int | None = None) -> Answer:
        """The answer to *question*."""
        zones = {node.name: zone_of(node) for node in question.scenario.nodes}
        return cls(release, counted, zones, question.excluded, wanted)

    @property
    def is_yes(self) -> bool:
        """Whether as many fit as were asked for; without such a number, whether any fits."""
        return self.counted.fits >= (self.wanted or 1)

    @property
    def by_zone(self) -> dict[str, int]:
        """Zone -> copies on its nodes; empty if no node has a zone."""
        found = Counter(dict.fromkeys((zone for zone in self.zones.values() if zone), 0))
        for node, number in self.counted.nodes.items():
            if any(self.zones.values()):
                found[self.zones.get(node, "")] += number
        return dict(found)

    def headroom(self) -> list[Row]:
        """A row a resource: what nodes have of it, what pods request before and after, and what is free after.

        ``copies`` is how many would fit if only this resource counted, on nodes that do not turn them down for something else. It is None
        if the copies do not request it, or are of several templates.
        """
        before, after, placed = self.counted.before, self.counted.after, self.counted.placed
        copies = before.copies(placed[0].requests, self.counted.barred) if len(placed) == 1 else {}
        requested = {name: int(before.requested[at].sum()) for at, name in enumerate(before.resources)}
        return [
            {
                "resource": name, "unit": UNITS.get(name, "pieces"), "allocatable": int(after.allocatable[at].sum()),
                "requestedBefore": requested.get(name, 0), "requested": int(after.requested[at].sum()),
                "free": int(after.free[at].sum()), "copies": copies.get(name),
            }
            for at, name in enumerate(after.resources)
        ]  # fmt: skip

    def node_rows(self) -> list[Row]:
        """A row a node: its zone, its copies, and what is free of each resource before and after."""
        before, after, nodes = self.counted.before, self.counted.after, self.counted.nodes
        rows = []
        earlier = {name: before.free[at] for at, name in enumerate(before.resources)}
        free = after.free
        for column, name in enumerate(after.names):
            left = {
                resource: {"freeBefore": int(earlier[resource][column]) if resource in earlier else 0, "free": int(free[at, column])}
                for at, resource in enumerate(after.resources)
            }
            rows.append({"node": name, "zone": self.zones.get(name, ""), "copies": nodes.get(name, 0), "resources": left})
        return rows

    def record(self) -> Row:
        """Everything but the single nodes' room."""
        counted = self.counted
        return {
            "release": self.release, "fits": counted.fits, "wanted": self.wanted,
            "templates": [
                {
                    "name": placed.template.name, "fits": placed.fits, "kind": placed.template.kind,
                    "namespace": placed.template.pod.namespace,
                    "requests": {name: number for name, number in placed.requests.items() if number}, "nodes": dict(placed.nodes),
                }
                for placed in counted.placed
            ],
            "nodes": counted.nodes, "zones": self.by_zone, "stop": counted.stop.record(), "headroom": self.headroom(),
            "excludedNodes": list(self.excluded), "pending": {"placedFirst": counted.pending, "waiting": counted.still_waiting},
            "evicted": dict(counted.evicted),
        }  # fmt: skip


def zone_of(node: Node) -> str:
    """The zone that the labels of *node* name, the newer label first; empty if they name none."""
    return next((node.labels[label] for label in ZONE_LABELS if node.labels.get(label)), "")
