"""The parts of an explanation that are about nodes: what is short, what rules out a node, how it scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from ...api.record import UNSET, Count, Names, Record, UnsetType, derive, field, says
from ...core.devices.accounts import DeviceAccount
from ..records import shortage_of


class NodeShortage(Record):
    """A resource of which a node has less left than the pod requests, in millicores, bytes or pieces."""

    resource: str
    asked: int
    free: int
    missing: Annotated[int, says("How much more would do.")] = 0
    has_none: Annotated[bool, says("The node has none of it at all.")] = False

    def __post_init__(self) -> None:
        derive(self, missing=self.asked - self.free)


class NearestShortage(Record):
    """The node where least of a resource is missing, and how much, in millicores, bytes or pieces."""

    node: str
    resource: str
    asked: int
    free: int
    missing: int


class NodeScore(Record):
    """A node's score by a priority or plugin."""

    raw: int
    reduced: Annotated[int, says("0 to 10; where plugins score 0 to 100.")]
    weight: int
    total: Annotated[int, says("reduced times weight")] = 0

    def __post_init__(self) -> None:
        derive(self, total=self.reduced * self.weight)


Scores = Annotated[Mapping[str, NodeScore], says("Priority or plugin -> score.")]


class Objection(Record):
    """What one predicate or plugin has against a node."""

    rule: str
    reasons: Names
    evictable: Annotated[bool, says("Whether it can go away with pods that leave the node.")]
    counted: Annotated[bool, says("False where an earlier rule failed, so that the scheduler did not ask this one.")] = True


class NodeReport(Record):
    """One node's part in a decision."""

    name: str = field(name="node")
    fits: bool
    visited: Annotated[bool, says("False if the search found enough nodes before it reached this one.")]
    predicates: Annotated[Names | UnsetType, says("1.12 to 1.16: those that turned the node down.")] = UNSET
    plugins: Annotated[Names | UnsetType, says("From 1.17 on: the one that turned the node down.")] = UNSET
    reasons: Annotated[Names, says("Why, in the scheduler's words.")] = ()
    causes: Annotated[Names, says("The selectors, terms and constraints of the pod that fail here, and the untolerated taints.")] = ()
    objections: Annotated[tuple[Objection, ...], says("Of every rule, asked or not.")] = ()
    shortages: tuple[NodeShortage, ...] = ()
    scores: Scores = field(default_factory=dict)
    total: Annotated[int | None, says("null if the node was not scored.")] = None
    code: Annotated[str | UnsetType | None, says("From 1.17 on: the code of its status.")] = UNSET
    devices: Annotated[
        tuple[DeviceAccount, ...] | UnsetType,
        says("Where claims to devices cannot be served: the devices that the node reaches, by request or alternative."),
    ] = UNSET

    @property
    def rules(self) -> Names:
        """The predicates, or the plugin, that turned the node down."""
        return self.plugins or self.predicates or ()

    @property
    def obstacles(self) -> int:
        """How many things rule out the node."""
        return sum(len(objection.reasons) for objection in self.objections) or len(self.reasons)

    @property
    def nearness(self) -> tuple[int, int, bool, float]:
        """A key that sorts the nodes that do not fit: by number of obstacles, those without a resource behind, then what is least short."""
        lacking = [short.missing / max(short.asked, 1) for short in self.shortages]
        without = sum(short.has_none for short in self.shortages)
        return self.obstacles, without, self.obstacles > len(lacking), max(lacking, default=0.0)


# --- nodes in groups ------------------------------------------------------------------------------------------------


class ReasonGroup(Record):
    """The nodes that have one reason against them, the nearest to fitting first."""

    reason: str
    rules: Names
    count: Count
    alone: Annotated[Count, says("Nodes with no other reason.")]
    evictable: Annotated[bool, says("Whether it can go away with pods that leave a node.")]
    least_short: Annotated[NearestShortage | None, says("Where least of the resource is missing that the reason calls short.")]
    nodes: Names


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
    short = [
        NearestShortage(node.name, lack.resource, lack.asked, lack.free, lack.missing)
        for node in nodes for lack in node.shortages if shortage_of(reason) == lack.resource
    ]  # fmt: skip
    return ReasonGroup(
        reason, tuple(named), len(nodes), sum(node.obstacles == 1 for node in nodes),
        bool(objections) and all(objection.evictable for objection in objections),
        min(short, key=lambda lack: lack.missing, default=None), tuple(node.name for node in nodes),
    )  # fmt: skip
