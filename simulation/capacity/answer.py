"""The records of an answer: how many fit, where they are, what stops the next one, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from ...api.objects import Node
from ...api.reading.notices import ResultDocument
from ...api.record import Amounts, Count, Counts, Record, says
from ..summary import Unit
from .stop import Stop

ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")


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


def zone_of(node: Node) -> str:
    """The zone that the labels of *node* name, the newer label first; empty if they name none."""
    return next((node.labels[label] for label in ZONE_LABELS if node.labels.get(label)), "")
