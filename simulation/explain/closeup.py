"""All about one node: what each predicate or plugin says of it, how much room it has, and what it scores or would score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ...core.devices.accounts import DeviceAccount
from .choice import Lead
from .eviction import Victim
from .values import Score, scores_record

PASSES, FAILS, NOT_ASKED = "passes", "fails", "not asked"


@attrs.frozen
class Verdict:
    """What one predicate or plugin says of the node."""

    rule: str
    outcome: str
    """``passes``, ``fails``, or ``not asked`` where an earlier rule failed."""
    reasons: tuple[str, ...] = ()
    """Why it fails; or, if it was not asked, why it would fail too."""
    concerned: bool = True
    """False where the pod wants nothing that the rule looks at."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {**attrs.asdict(self), "reasons": list(self.reasons)}


@attrs.frozen
class Room:
    """How much of one resource the pod requests and the node has, in millicores, bytes or pieces."""

    resource: str
    asked: int
    free: int
    allocatable: int

    @property
    def missing(self) -> int:
        """How much more would do; 0 if there is enough."""
        return max(self.asked - self.free, 0)

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {**attrs.asdict(self), "missing": self.missing}


@attrs.frozen
class CloseUp:
    """One node, in full."""

    node: str
    fits: bool
    whole_pod: tuple[str, ...] = ()
    """What was decided before any node was asked: why the pod was turned down as a whole, or why this node was left out."""
    verdicts: tuple[Verdict, ...] = ()
    """Of every predicate or filter plugin, in running order."""
    room: tuple[Room, ...] = ()
    """Of each resource that the pod requests, and of places for pods."""
    devices: tuple[DeviceAccount, ...] = ()
    """What stands against each device, where claims to devices cannot be served."""
    scores: Mapping[str, Score] = attrs.field(factory=dict)
    total: int | None = None
    would_score: bool = False
    """The scores are those that the node would have if it fitted and was reached."""
    place: int | None = None
    """1 for the node with the best total, and so on; None if it is not among the nodes that were scored."""
    out_of: int = 0
    """How many nodes were scored."""
    against: str | None = None
    """The host, or for the host itself the next best node."""
    leads: tuple[Lead, ...] = ()
    """How this node's scores differ from those of that one."""
    victims: tuple[Victim, ...] | None = None
    """Who would have to leave so that the pod fits here; None if that does not help, or is not needed."""
    no_room: str = ""
    """Why evicting pods makes no room here; empty if it does, or is not needed."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "node": self.node,
            "fits": self.fits,
            "wholePod": list(self.whole_pod),
            "verdicts": [verdict.record() for verdict in self.verdicts],
            "room": [room.record() for room in self.room],
            **({"devices": [account.record() for account in self.devices]} if self.devices else {}),
            "scores": scores_record(self.scores),
            "total": self.total,
            "wouldScore": self.would_score,
            "place": self.place,
            "outOf": self.out_of,
            "against": self.against,
            "leads": [lead.record() for lead in self.leads],
            "victims": None if self.victims is None else [attrs.asdict(victim) for victim in self.victims],
            "noRoom": self.no_room or None,
        }
