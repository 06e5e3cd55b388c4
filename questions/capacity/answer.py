"""The records of an answer: how many fit, where they are, what stops the next one, and what is left there that cannot be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Literal

from ...api.reading.notices import ResultDocument
from ...api.record import Amounts, Count, Counts, Record, field, says
from ...core.decision.decision import Decision
from ...simulation.summary import Unit
from .room import FreeRoom, short_of

LIMIT = "Maximum number of pods simulated: {}"
MOST_NAMED = 3


class CopyShortage(Record):
    """A resource of which nodes have too little for one more copy."""

    resource: str
    nodes: Annotated[Count, says("Nodes that have too little of it, and nothing else against the copy but shortages.")]
    examples: Annotated[tuple[str, ...], says("The first of these nodes.")]
    left: Annotated[int, says("What is free of it on these nodes together.")]


class Stop(Record, kw_only=True):
    """Why no more copies were placed."""

    message: Annotated[str, says("The scheduler's message about the first copy that found no place, or the API server's.")]
    reasons: Annotated[
        Counts, says("Reason -> nodes that have it against that copy, the most frequent first. A node can have several.")
    ] = field(default_factory=dict)
    kind: Annotated[
        Literal["Unschedulable", "LimitReached", "Forbidden", "SchedulingGated", "SchedulerError"],
        says("Forbidden: the API server refuses the copy. SchedulerError: something went wrong in the decision."),
    ]
    template: Annotated[str | None, says("The template of that copy; null: the limit was reached.")] = None
    shortages: Annotated[tuple[CopyShortage, ...], says("The resources that have run out, that of most nodes first.")] = ()
    stranded: Annotated[Amounts, says("Resource -> what is free on nodes that are short of something else.")] = field(default_factory=dict)
    out_of_reach: Annotated[
        Amounts, says("Resource -> what is free on nodes that do not take the copy for another reason than a shortage.")
    ] = field(default_factory=dict)


def at_limit(limit: int) -> Stop:
    """As many copies were placed as were wanted."""
    return Stop(kind="LimitReached", message=LIMIT.format(limit))


def after(decision: Decision, failed: Mapping[str, list[str]], template: str, room: FreeRoom) -> Stop:
    """The stop at *decision* on a copy that got no node; *failed*: node -> reasons; *room*: the nodes as they are then."""
    reasons = Counter(reason for found in failed.values() for reason in found)
    short = {name: missing for name, found in failed.items() if (missing := short_of(found))}
    stranded, out_of_reach = _left(room, short, failed)
    return Stop(
        kind=_kind(decision), message=decision.error or "", template=template, reasons=dict(reasons.most_common()),
        shortages=_shortages(room, short), stranded=stranded, out_of_reach=out_of_reach,
    )  # fmt: skip


def _kind(decision: Decision) -> Literal["Unschedulable", "SchedulingGated", "SchedulerError"]:
    if decision.is_fit_error:
        return "Unschedulable"
    return "SchedulingGated" if decision.is_gated else "SchedulerError"


def _shortages(room: FreeRoom, short: Mapping[str, tuple[str, ...]]) -> tuple[CopyShortage, ...]:
    nodes: dict[str, list[str]] = {}
    for name, missing in short.items():
        for resource in missing:
            nodes.setdefault(resource, []).append(name)
    free, at = room.free, {name: column for column, name in enumerate(room.names)}
    found = []
    for resource, names in nodes.items():
        row = room.resources.index(resource) if resource in room.resources else None
        left = 0 if row is None else int(free[row, [at[name] for name in names]].sum())
        found.append(CopyShortage(resource=resource, nodes=len(names), examples=tuple(names[:MOST_NAMED]), left=left))
    return tuple(sorted(found, key=lambda shortage: -shortage.nodes))


def _left(room: FreeRoom, short: Mapping[str, tuple[str, ...]], failed: Mapping[str, list[str]]) -> tuple[dict[str, int], dict[str, int]]:
    """What is stranded, and what is out of reach, by resource."""
    free, barred = room.free, room.at(failed) & ~room.at(short)
    stranded, out_of_reach = {}, {}
    for row, resource in enumerate(room.resources):
        others = room.at({name: missing for name, missing in short.items() if resource not in missing})
        if amount := int(free[row, others].sum()):
            stranded[resource] = amount
        if amount := int(free[row, barred].sum()):
            out_of_reach[resource] = amount
    return stranded, out_of_reach


# --- the whole answer -----------------------------------------------------------------------------------------------


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
