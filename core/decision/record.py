"""A decision as data for programs: what ``-o jsonl`` prints of a cycle, and what Python's ``record()`` returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from ...api.record import UNSET, Count, Names, PodKey, Record, UnsetType, says


class NodeVictims(Record):
    """The pods that would have to leave a node."""

    victims: tuple[PodKey, ...]
    pdb_violations: Count


class PreemptionRecord(Record):
    """What preemption found."""

    node: Annotated[str | None, says("Where room was made; null if that helps on no node.")]
    victims: Annotated[tuple[PodKey, ...], says("The pods that had to leave.")]
    clear_nominations: Annotated[tuple[PodKey, ...], says("Pods that lose their nomination to this node.")]
    candidates: Annotated[Mapping[str, NodeVictims], says("Node -> the pods that would have to leave it.")]
    error: Annotated[str | UnsetType, says("Why preemption failed.")] = UNSET


class RejectedNode(Record):
    """The plugin that rejected a node, and its code."""

    plugin: Annotated[str | None, says("null where PreFilter left the node out.")]
    code: str


class DecisionRecord(Record, kw_only=True):
    """A decision."""

    pod: PodKey
    host: Annotated[str | None, says("The node; null if the pod got none in this decision.")]
    error: Annotated[str | None, says("Upstream's message if the pod got no node.")]
    feasible: Annotated[Names | UnsetType, says("--details: the nodes that fit, in visiting order.")] = UNSET
    failed: Annotated[Mapping[str, Names] | UnsetType, says("--details: node -> why it does not fit.")] = UNSET
    priorities: Annotated[Mapping[str, Mapping[str, int]] | UnsetType, says("--details: priority or plugin -> node -> score.")] = UNSET
    scores: Annotated[Mapping[str, int] | UnsetType, says("--details: node -> weighted sum.")] = UNSET
    preemption: Annotated[PreemptionRecord | None, says("What preemption found; null if it was not tried.")] = None
    allocations: Annotated[
        Mapping[str, Names] | UnsetType, says("Of a placed pod with claims to devices: claim -> its devices, as driver/pool/device.")
    ] = UNSET
    plugins: Annotated[Names | UnsetType, says("Releases with plugins: those that rejected nodes or the pod.")] = UNSET
    statuses: Annotated[
        Mapping[str, RejectedNode] | UnsetType,
        says("--details, releases with plugins: node -> the plugin that rejected it, and its code."),
    ] = UNSET
    post_filter: Annotated[str | UnsetType | None, says("--details, releases with plugins: the message of PostFilter.")] = UNSET


class CycleRecord(DecisionRecord, kw_only=True):
    """One decision, in order. With final, no other one follows for the pod; the preemption of a later one may still evict it."""

    waiting: Annotated[
        Literal[True] | UnsetType, says("Releases with plugins: the node is not final, as Permit plugins make the pod wait there.")
    ] = UNSET
    retry: Annotated[bool, says("The pod had made room in an earlier decision, and is tried once more.")]
    final: Annotated[bool, says("No other decision follows for this pod.")]
