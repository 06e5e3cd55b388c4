"""All about one node: what each predicate or plugin says of it, how much room it has, and what it scores or would score."""

from __future__ import annotations

from typing import Annotated, Literal

from ...api.record import UNSET, Count, Names, Record, UnsetType, derive, field, says
from ...core.devices.accounts import DeviceAccount
from .choice import Lead
from .eviction import Victim
from .values import Scores

Place = Annotated[int, says("From 1 on.", ge=1)]
Verdict = Literal["passes", "fails", "not asked"]


class RuleVerdict(Record):
    """What one predicate or plugin says of the node."""

    rule: str
    outcome: Annotated[Verdict, says("not asked: an earlier rule failed.")]
    reasons: Annotated[Names, says("Why it fails, or would fail if it were asked.")] = ()
    concerned: Annotated[bool, says("False where the pod wants nothing that the rule looks at.")] = True


class RequestedResource(Record):
    """How much of one resource the pod requests and the node has, in millicores, bytes or pieces."""

    resource: str
    asked: int
    free: int
    allocatable: int
    missing: Annotated[Count, says("How much more would do; 0 if there is enough.")] = 0

    def __post_init__(self) -> None:
        derive(self, missing=max(self.asked - self.free, 0))


class CloseUp(Record):
    """One node, in full."""

    node: str
    fits: bool
    whole_pod: Annotated[Names, says("What was decided before the node was asked: why the pod was turned down, or the node left out.")] = ()
    verdicts: Annotated[tuple[RuleVerdict, ...], says("In running order.")] = ()
    room: Annotated[tuple[RequestedResource, ...], says("Of each resource that the pod requests, and of places for pods.")] = ()
    devices: Annotated[
        tuple[DeviceAccount, ...] | UnsetType,
        says("Where claims to devices cannot be served: the devices that the node reaches, by request or alternative."),
    ] = UNSET
    scores: Scores = field(default_factory=dict)
    total: int | None = None
    would_score: Annotated[bool, says("The scores are those that the node would have if it fitted and was reached.")] = False
    place: Annotated[Place | None, says("1 for the best total; null: it is not among the nodes that were scored.")] = None
    out_of: Annotated[Count, says("How many nodes were scored.")] = 0
    against: Annotated[str | None, says("The host, or for the host itself the next best node.")] = None
    leads: Annotated[tuple[Lead, ...], says("How this node's scores differ from those of that one.")] = ()
    victims: Annotated[tuple[Victim, ...] | None, says("Who would have to leave; null if that does not help, or is not needed.")] = None
    no_room: Annotated[str | None, says("Why evicting pods makes no room here.")] = None

    @property
    def reasons(self) -> Names:
        """Why the node does not fit, each reason once."""
        return tuple(dict.fromkeys([*self.whole_pod, *(reason for verdict in self.verdicts for reason in verdict.reasons)]))
