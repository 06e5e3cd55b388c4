"""The answer as plain data: how many fit, where they are, what stops the next one, and what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

import attrs

from ...api.objects import Node
from ...api.reading.notices import InputWarning, ResultDocument
from ...api.record import Amounts, Count, Counts, Record, says
from ..summary import UNITS, Unit
from .counting import Counted, Placed
from .question import CapacityQuestion
from .stop import Stop

ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
Row = dict[str, Any]


class PlacedTemplate(Record):
    """A template, and where its copies are."""

    name: Annotated[str, says("The name of the pod, or of its workload.")]
    fits: Count
    kind: Annotated[str, says("Of what the template was read, such as Pod or Deployment.")]
    namespace: str
    requests: Annotated[Amounts, says("What one copy requests, as the release counts it.")]
    nodes: Counts


class Headroom(Record):
    """A resource over all nodes."""

    resource: str
    unit: Unit
    allocatable: int
    requested_before: int
    requested: Annotated[int, says("With the copies.")]
    free: Count
    copies: Annotated[
        int | None,
        says(
            "How many copies would fit if only this resource counted, on nodes that do not turn them down for something else. "
            "null: they do not request it, or are of several templates."
        ),
    ]


class PendingPods(Record):
    """Pods that waited in the cluster."""

    placed_first: Annotated[Count, says("Those that --pending-first placed.")]
    waiting: Annotated[Count, says("Those that were left out or found no place.")]


class CapacityDocument(ResultDocument, kw_only=True):
    """How many more copies of one or several pods fit into a cluster, where they go, and what stops the next one."""

    KIND = "Capacity"
    release: str
    fits: Annotated[Count, says("How many copies fit, of all templates together.")]
    wanted: Annotated[int | None, says("How many --pods wants; null: as many as fit.")]
    templates: tuple[PlacedTemplate, ...]
    nodes: Annotated[Counts, says("Node -> copies on it; nodes without any are left out. Most copies come first.")]
    zones: Annotated[Counts, says("Zone -> copies on its nodes; empty if no node has a zone.")]
    stop: Stop
    headroom: Annotated[tuple[Headroom, ...], says("Each resource over all nodes, pods last.")]
    excluded_nodes: tuple[str, ...]
    pending: PendingPods
    evicted: Annotated[Mapping[str, str], says("With --preemption: pod that had to leave -> the pod that took its place.")]


@attrs.frozen(eq=False)
class CapacityAnswer:
    """What was counted, with what was asked."""

    release: str
    counted: Counted
    zones: Mapping[str, str]
    """Node -> its zone, empty where it has none; in the order in which the nodes were given."""
    excluded: tuple[str, ...] = ()
    wanted: int | None = None
    """How many were asked for; None: as many as fit."""

    @classmethod
    def of(cls, release: str, counted: Counted, question: CapacityQuestion, wanted: int | None = None) -> CapacityAnswer:
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

    def headroom(self) -> tuple[Headroom, ...]:
        """A row a resource: what nodes have of it, what pods request before and after, and what is free after."""
        before, after, placed = self.counted.before, self.counted.after, self.counted.placed
        copies = before.copies(placed[0].requests, self.counted.barred) if len(placed) == 1 else {}
        requested = {name: int(before.requested[at].sum()) for at, name in enumerate(before.resources)}
        return tuple(
            Headroom(
                name, UNITS.get(name, "pieces"), int(after.allocatable[at].sum()), requested.get(name, 0), int(after.requested[at].sum()),
                int(after.free[at].sum()), copies.get(name),
            )
            for at, name in enumerate(after.resources)
        )  # fmt: skip

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

    def document(self, warnings: tuple[InputWarning, ...] = ()) -> CapacityDocument:
        """Everything but the single nodes' room."""
        counted = self.counted
        return CapacityDocument(
            warnings=warnings, release=self.release, fits=counted.fits, wanted=self.wanted, templates=tuple(map(_placed, counted.placed)),
            nodes=counted.nodes, zones=self.by_zone, stop=counted.stop, headroom=self.headroom(), excluded_nodes=self.excluded,
            pending=PendingPods(counted.pending, counted.still_waiting), evicted=counted.evicted,
        )  # fmt: skip


def _placed(placed: Placed) -> PlacedTemplate:
    template, requests = placed.template, {name: number for name, number in placed.requests.items() if number}
    return PlacedTemplate(template.name, placed.fits, template.kind, template.pod.namespace, requests, placed.nodes)


def zone_of(node: Node) -> str:
    """The zone that the labels of *node* name, the newer label first; empty if they name none."""
    return next((node.labels[label] for label in ZONE_LABELS if node.labels.get(label)), "")
