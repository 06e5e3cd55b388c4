"""The event log of a replay: one record for each event, in order of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from ...api.reading import InputWarning
from ...api.record import UNSET, Count, PodKey, Record, Size, UnsetType, says


class ReplayEvent(Record, kw_only=True):
    """The base of all events."""

    time: Size = 0
    """Seconds of virtual time."""


class NodeEvent(ReplayEvent, kw_only=True):
    """Something happened to a node."""

    event: Literal["NodeAdded", "NodeDeleted", "NodeFailed", "NodeDrained", "NodeRecovered"]
    node: str


class PodArrived(ReplayEvent, kw_only=True):
    """A pod waits for a node, or is gated by its scheduling gates."""

    event: Literal["Arrived"] = "Arrived"
    pod: PodKey
    gated: bool | UnsetType = UNSET


class PodScheduled(ReplayEvent, kw_only=True):
    """A pod got a node."""

    event: Literal["Scheduled"] = "Scheduled"
    pod: PodKey
    node: str
    wait: Size
    """Seconds from the pod's arrival."""
    attempts: Count


class PodWaitsOnPermit(ReplayEvent, kw_only=True):
    """The pod has a node, but is bound only when these Permit plugins allow it."""

    event: Literal["WaitingOnPermit"] = "WaitingOnPermit"
    pod: PodKey
    node: str
    plugins: list[str]


class PodFailedScheduling(ReplayEvent, kw_only=True):
    """A pod found no node, for another reason than before."""

    event: Literal["FailedScheduling"] = "FailedScheduling"
    pod: PodKey
    attempts: Count
    message: str


class PodPreempts(ReplayEvent, kw_only=True):
    """Room is made for a pod."""

    event: Literal["Preempting"] = "Preempting"
    pod: PodKey
    node: str
    victims: list[PodKey]


class PodPreempted(ReplayEvent, kw_only=True):
    """A pod leaves its node to make room for another one."""

    event: Literal["Preempted"] = "Preempted"
    pod: PodKey
    node: str
    by: PodKey


class PodEvicted(ReplayEvent, kw_only=True):
    """A pod leaves its node for another reason."""

    event: Literal["Evicted"] = "Evicted"
    pod: PodKey
    node: str
    reason: str


class PodOnNode(ReplayEvent, kw_only=True):
    """A pod is bound to its node, starts there, or has finished."""

    event: Literal["Bound", "Started", "Finished"]
    pod: PodKey
    node: str


class PodDeleted(ReplayEvent, kw_only=True):
    """A pod is gone."""

    event: Literal["Deleted"] = "Deleted"
    pod: PodKey
    node: str | UnsetType = UNSET


class VolumeBound(ReplayEvent, kw_only=True):
    """A claim has a volume."""

    event: Literal["VolumeBound"] = "VolumeBound"
    claim: str
    volume: str


class VolumeProvisioned(ReplayEvent, kw_only=True):
    """A volume was made for a claim."""

    event: Literal["VolumeProvisioned"] = "VolumeProvisioned"
    volume: str
    claim: str
    node: str | UnsetType = UNSET


class OperationBegun(ReplayEvent, kw_only=True):
    """An operation of a workload begins."""

    event: Literal["Operation"] = "Operation"
    opcode: str
    number: Count


class BarrierGivenUp(ReplayEvent, kw_only=True):
    """A barrier of a workload does not wait any longer."""

    event: Literal["BarrierGivenUp"] = "BarrierGivenUp"
    number: Count


class ReplaySummary(Record, kw_only=True):
    """The outcome of a replay."""

    warnings: tuple[InputWarning, ...]
    """The oddities of the input, and its parts that do not count."""
    arrived: Count
    scheduled: Count
    """How often a pod was given a node."""
    never_scheduled: Count
    """Pods that were deleted before they had a node."""
    finished: Count
    evicted: Count
    deleted: Count
    attempts: Count
    failed_attempts: Count
    preemptions: Count
    """Attempts that made room by evicting pods."""
    still_waiting: Count
    waits: Mapping[str, Size]
    """mean, percentiles (p50, ...) and max, in seconds; empty if no pod was scheduled."""
    mean_use: Mapping[str, Size]
    """Resource -> the share that was in use, averaged over time."""

    @property
    def ok(self) -> bool:
        """Whether every pod got a node, as the exit status says."""
        return not self.still_waiting and not self.never_scheduled


class ReplayEnded(ReplaySummary):
    """The last event."""

    time: Size
    event: Literal["Summary"]


ReplayLine = Annotated[
    NodeEvent
    | PodArrived
    | PodScheduled
    | PodWaitsOnPermit
    | PodFailedScheduling
    | PodPreempts
    | PodPreempted
    | PodEvicted
    | PodOnNode
    | PodDeleted
    | VolumeBound
    | VolumeProvisioned
    | OperationBegun
    | BarrierGivenUp
    | ReplayEnded,
    says("One event, in order of time; the last one is the Summary."),
]
EventData = dict[str, Any]
"""An event as plain data."""
Sink = Callable[[EventData], None]
