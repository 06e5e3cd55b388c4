"""The parts of an explanation that are about nodes: what is short, what stands against a node, how it scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ...core.devices.accounts import DeviceAccount

Json = dict[str, Any]


@attrs.frozen
class Shortage:
    """A resource of which a node has less left than the pod requests, in millicores, bytes or pieces."""

    resource: str
    asked: int
    free: int

    @property
    def missing(self) -> int:
        """How much more would do."""
        return self.asked - self.free

    def record(self) -> Json:
        """As plain data."""
        return {**attrs.asdict(self), "missing": self.missing}


@attrs.frozen
class Score:
    """A node's score by a priority or plugin: ``raw`` as computed, ``reduced`` to 0 to 10 or 0 to 100, and the weight."""

    raw: int
    reduced: int
    weight: int

    @property
    def total(self) -> int:
        """Its part of the node's total."""
        return self.reduced * self.weight

    def record(self) -> Json:
        """As plain data."""
        return {**attrs.asdict(self), "total": self.total}


@attrs.frozen
class Objection:
    """What one predicate or plugin has against a node."""

    rule: str
    reasons: tuple[str, ...]
    evictable: bool
    """Whether it can go away with pods that leave the node."""
    counted: bool = True
    """False where an earlier rule failed, so that the scheduler did not come to this one."""


@attrs.frozen
class NodeReport:
    """One node's part in a decision."""

    name: str
    fits: bool
    visited: bool
    """False if the search found enough nodes before it reached this one."""
    rules: tuple[str, ...] = ()
    """The predicates, or the plugin, that turned the node down."""
    reasons: tuple[str, ...] = ()
    """Why, in the scheduler's words."""
    shortages: tuple[Shortage, ...] = ()
    scores: Mapping[str, Score] = attrs.field(factory=dict)
    """By priority or plugin; empty if the node was not scored."""
    total: int | None = None
    code: str | None = None
    """The code of the plugin's status; None if the node fits, and for a release without plugins."""
    devices: tuple[DeviceAccount, ...] = ()
    """Of a node where claims to devices cannot be served: what stands against each device."""
    objections: tuple[Objection, ...] = ()
    """Of every predicate or plugin, also of those that the scheduler did not come to."""

    @property
    def obstacles(self) -> int:
        """How many things stand against the node."""
        return sum(len(objection.reasons) for objection in self.objections) or len(self.reasons)

    @property
    def nearness(self) -> tuple[int, bool, float]:
        """A key that sorts the nodes that do not fit: first by number of obstacles, then what is least short."""
        lacking = [short.missing / max(short.asked, 1) for short in self.shortages]
        return self.obstacles, self.obstacles > len(lacking), max(lacking, default=0.0)

    def record(self, *, by_plugins: bool = False) -> Json:
        """As plain data; *by_plugins*: the rules are plugins, whose answers have a code."""
        return {
            "node": self.name,
            "fits": self.fits,
            "visited": self.visited,
            ("plugins" if by_plugins else "predicates"): list(self.rules),
            "reasons": list(self.reasons),
            "objections": [objection_record(objection) for objection in self.objections],
            "shortages": [short.record() for short in self.shortages],
            "scores": scores_record(self.scores),
            "total": self.total,
            **({"code": self.code} if by_plugins else {}),
            **({"devices": [account.record() for account in self.devices]} if self.devices else {}),
        }


def objection_record(objection: Objection) -> Json:
    """As plain data."""
    return {**attrs.asdict(objection), "reasons": list(objection.reasons)}


def scores_record(scores: Mapping[str, Score]) -> Json:
    """As plain data."""
    return {name: score.record() for name, score in scores.items()}


# --- nodes in groups ------------------------------------------------------------------------------------------------


@attrs.frozen
class ReasonGroup:
    """The nodes that have one reason against them, the nearest to fitting first."""

    reason: str
    rules: tuple[str, ...]
    nodes: tuple[NodeReport, ...]
    evictable: bool
    """Whether it can go away with pods that leave a node."""

    @property
    def alone(self) -> int:
        """On how many of the nodes nothing else stands against the pod."""
        return sum(node.obstacles == 1 for node in self.nodes)

    @property
    def least_short(self) -> tuple[str, Shortage] | None:
        """The node where least of the group's resource is missing, and how much; None for a reason of another kind."""
        short = [(node.name, lack) for node in self.nodes for lack in node.shortages if shortage_of(self.reason) == lack.resource]
        return min(short, key=lambda found: found[1].missing, default=None)

    def record(self) -> Json:
        """As plain data."""
        least = self.least_short
        return {
            "reason": self.reason,
            "rules": list(self.rules),
            "count": len(self.nodes),
            "alone": self.alone,
            "evictable": self.evictable,
            "leastShort": None if least is None else {"node": least[0], **least[1].record()},
            "nodes": [node.name for node in self.nodes],
        }


INSUFFICIENT = "Insufficient "
TOO_MANY = "Too many pods"
"""The framework's text for too few free places for pods."""


def shortage_of(reason: str) -> str | None:
    """The resource that *reason* calls short; None for a reason of another kind.

    >>> shortage_of("Insufficient cpu"), shortage_of("Too many pods"), shortage_of("node(s) were unschedulable")
    ('cpu', 'pods', None)
    """
    if reason == TOO_MANY:
        return "pods"
    return reason.removeprefix(INSUFFICIENT) if reason.startswith(INSUFFICIENT) else None


def in_groups(nodes: Iterable[NodeReport]) -> tuple[ReasonGroup, ...]:
    """The nodes that were visited and do not fit, by reason; the group with the nearest node comes first, each node nearest first."""
    turned_down = sorted((node for node in nodes if node.visited and not node.fits), key=lambda node: node.nearness)
    found: dict[str, list[NodeReport]] = {}
    for node in turned_down:
        for reason in dict.fromkeys(node.reasons):
            found.setdefault(reason, []).append(node)
    return tuple(_group(reason, members) for reason, members in found.items())


def _group(reason: str, nodes: list[NodeReport]) -> ReasonGroup:
    objections = [objection for node in nodes for objection in node.objections if objection.counted and reason in objection.reasons]
    rules = dict.fromkeys(objection.rule for objection in objections)
    named = rules or dict.fromkeys(rule for node in nodes for rule in node.rules)
    return ReasonGroup(reason, tuple(named), tuple(nodes), bool(objections) and all(objection.evictable for objection in objections))
