"""What stops the next copy: the message, how many nodes have which reason against it, and what is left there that nobody can use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import attrs

from ...core.decision.decision import Decision
from .room import Room, short_of

UNSCHEDULABLE, LIMIT_REACHED, FORBIDDEN, GATED, ERROR = "Unschedulable", "LimitReached", "Forbidden", "SchedulingGated", "SchedulerError"
LIMIT = "Maximum number of pods simulated: {}"
MOST_NAMED = 3


@attrs.frozen(kw_only=True)
class Shortage:
    """A resource of which nodes have too little for one more copy."""

    resource: str
    nodes: int
    """How many nodes have too little of it, and nothing else against the copy but shortages."""
    examples: tuple[str, ...]
    """The first of these nodes."""
    left: int
    """What is free of it on these nodes together."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {"resource": self.resource, "nodes": self.nodes, "examples": list(self.examples), "left": self.left}


@attrs.frozen(kw_only=True)
class Stop:
    """Why no more copies were placed."""

    kind: str
    """``Unschedulable``: no node fits; ``LimitReached``; ``Forbidden``: the API server does not admit the copy; ``SchedulingGated``;
    ``SchedulerError``: something went wrong in the cycle."""
    message: str
    """Upstream's."""
    template: str | None = None
    """The template of the copy that found no place; None where the limit was reached."""
    reasons: Mapping[str, int] = attrs.field(factory=dict)
    """Reason -> nodes that have it against the copy, the most frequent first. A node can have several."""
    shortages: tuple[Shortage, ...] = ()
    """The resource of which most nodes are short comes first: that one has run out."""
    stranded: Mapping[str, int] = attrs.field(factory=dict)
    """Resource -> what is free on nodes that are short of something else."""
    out_of_reach: Mapping[str, int] = attrs.field(factory=dict)
    """Resource -> what is free on nodes that do not take the copy for another reason than a shortage."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "message": self.message, "reasons": dict(self.reasons), "kind": self.kind, "template": self.template,
            "shortages": [shortage.record() for shortage in self.shortages], "stranded": dict(self.stranded),
            "outOfReach": dict(self.out_of_reach),
        }  # fmt: skip


def at_limit(limit: int) -> Stop:
    """As many copies were placed as were wanted."""
    return Stop(kind=LIMIT_REACHED, message=LIMIT.format(limit))


def after(decision: Decision, failed: Mapping[str, list[str]], template: str, room: Room) -> Stop:
    """The stop at *decision* on a copy that got no node; *failed*: node -> reasons; *room*: the nodes as they are then."""
    kind = UNSCHEDULABLE if decision.is_fit_error else GATED if decision.is_gated else ERROR
    reasons = Counter(reason for found in failed.values() for reason in found)
    short = {name: missing for name, found in failed.items() if (missing := short_of(found))}
    stranded, out_of_reach = _left(room, short, failed)
    return Stop(
        kind=kind, message=decision.error or "", template=template, reasons=dict(reasons.most_common()),
        shortages=_shortages(room, short), stranded=stranded, out_of_reach=out_of_reach,
    )  # fmt: skip


def _shortages(room: Room, short: Mapping[str, tuple[str, ...]]) -> tuple[Shortage, ...]:
    nodes: dict[str, list[str]] = {}
    for name, missing in short.items():
        for resource in missing:
            nodes.setdefault(resource, []).append(name)
    free, at = room.free, {name: column for column, name in enumerate(room.names)}
    found = []
    for resource, names in nodes.items():
        row = room.resources.index(resource) if resource in room.resources else None
        left = 0 if row is None else int(free[row, [at[name] for name in names]].sum())
        found.append(Shortage(resource=resource, nodes=len(names), examples=tuple(names[:MOST_NAMED]), left=left))
    return tuple(sorted(found, key=lambda shortage: -shortage.nodes))


def _left(
    room: Room, short: Mapping[str, tuple[str, ...]], failed: Mapping[str, list[str]]
) -> tuple[dict[str, int], dict[str, int]]:
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
