"""A comparison as data: each configuration, each beside the first, and each cycle in which they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from ...api.reading.notices import ResultDocument
from ...api.record import Count, Meta, Record, says
from ...core.decision.fiterror import reasons_in
from ...simulation.reasons import EVICTED, FAULT, GATES, NO_ROOM, UNSEEN, about
from ...simulation.summary import Summary
from .agreement import AgreementCounts, Verdict
from .causes import ERROR, GATED, PREDICATE, SAMPLING, Cause, CauseKind
from .contestants import JudgedNode


class Loss(Record):
    """A pod that finds a node under one configuration, and none under the other."""

    pod: str
    node: Annotated[str, says("Where the one puts it.")]
    reason: Annotated[
        str,
        says("What keeps the other one from it, in a word or two: a resource, spread constraint, taints and the like, or a rule."),
    ]
    text: Annotated[str, says("What the other one says.")]


class LossReason(Record):
    """How many pods have no node for one reason."""

    reason: str
    pods: Annotated[int, says("How many pods.", ge=1)]


class Losses(Record):
    """Pods that find a node under one configuration, and none under the other."""

    pods: tuple[Loss, ...]
    reasons: Annotated[tuple[LossReason, ...], says("How many pods for which reason, the most frequent first.")]


Told = tuple[Cause, str]
"""Why two decisions differ, and the error of the one that found no node."""


def losses(moved: Iterable[tuple[str, str]], why: Mapping[str, Told], loser: str, evicted: Mapping[str, str]) -> Losses:
    """Why *loser* has no node for pods that the other one puts on nodes; *moved*: pods, with these nodes.

    *why*: of the last decision on each pod in which the two differ; *evicted*: pods that *loser* evicted, and for whom.
    """
    pods = tuple(_loss(pod, node, why.get(pod), loser, evicted.get(pod)) for pod, node in moved)
    return Losses(pods, tuple(LossReason(*counted) for counted in Counter(loss.reason for loss in pods).most_common()))


def _loss(pod: str, node: str, why: Told | None, loser: str, evicted_for: str | None) -> Loss:
    if evicted_for is not None:
        return Loss(pod, node, EVICTED, f"evicted to make room for {evicted_for}")
    if why is None:
        return Loss(pod, node, NO_ROOM, "")
    cause, error = why
    if cause.kind == PREDICATE and cause.side == loser:
        return Loss(pod, node, main_reason(cause.text.split("; "), error, cause.rule), error or cause.text)
    return Loss(pod, node, {SAMPLING: UNSEEN, ERROR: FAULT, GATED: GATES}.get(cause.kind, NO_ROOM), error or cause.text)


def main_reason(reasons: Iterable[str], error: str, rule: str | None = None) -> str:
    """What *reasons*, for which one node was turned down, are about: the one that most nodes were turned down for, as *error* counts them.

    >>> main_reason(["Insufficient cpu", "Insufficient memory"], "0/9 nodes are available: 3 Insufficient cpu, 8 Insufficient memory.")
    'memory'
    >>> main_reason(["node(s) had taints that the pod didn't tolerate"], "")
    'taints'
    """
    counts = reasons_in(error)
    text = max(reasons, key=lambda reason: counts.get(reason, 0), default="")
    return about(text, rule)


class ComparedConfiguration(Record):
    """One configuration, and how its pods and nodes end. In mode locked the nodes are the same for all."""

    name: Annotated[str, says("a to h, as on the command line.")]
    text: Annotated[str, says("As it was asked for.")]
    release: str
    summary: Summary
    fragmentation: Annotated[Mapping[str, float], says("Resource -> the share of the free room on nodes where a waiting pod does not fit.")]
    nodes_by_use: Annotated[
        Mapping[str, Annotated[list[Count], Meta(min_length=10, max_length=10)]],
        says("Resource -> how many nodes are how full, in tenths."),
    ]
    hosts: Annotated[Mapping[str, str | None], says("Pod -> its node in the end.")]
    evicted: Annotated[Mapping[str, str], says("Pod that had to leave -> the pod that took its place.")]


class ComparedPod(Record):
    """Where a pod is in the end in both."""

    pod: str
    first: str | None
    second: str | None


class FirstDifference(Record):
    """The first cycle in which the two differ. In mode free all later ones can follow from it."""

    pod: str
    number: Count
    retry: bool
    first: Annotated[str | None, says("The node that the first one chose.")]
    second: str | None
    verdict: Verdict
    cause: Cause


class CauseCount(Record):
    """How often a cause came with a verdict."""

    verdict: Verdict
    kind: CauseKind
    rule: str | None
    side: str | None
    decisions: Count


class ConfigurationPair(Record):
    """The first configuration and another one: the pods, where they end, and the decisions that both took."""

    first: str
    second: str
    alike: Annotated[Count, says("Pods that end on the same node, or on none in both.")]
    elsewhere: Annotated[tuple[ComparedPod, ...], says("Pods that end on another node.")]
    first_alone: Annotated[tuple[ComparedPod, ...], says("Placed by the first alone.")]
    second_alone: Annotated[tuple[ComparedPod, ...], says("Placed by the second alone.")]
    gated: Annotated[tuple[ComparedPod, ...], says("Placed by one, not tried by the other.")]
    lost: Annotated[Losses, says("The pods of firstAlone: why the second one has no node for them.")]
    gained: Annotated[Losses, says("The pods of secondAlone: why the first one has no node for them.")]
    first_difference: FirstDifference | None
    differing_decisions: Count
    agreement: AgreementCounts
    causes: Annotated[tuple[CauseCount, ...], says("The most frequent first.")]


class ComparedDecision(Record):
    """What one configuration decides."""

    host: str | None
    error: Annotated[str | None, says("The scheduler's own message.")]
    room_on: Annotated[str | None, says("Where it makes room by preemption.")]
    victims: tuple[str, ...]
    gated: Annotated[bool, says("It does not try the pod, for its scheduling gates.")]
    nodes: Annotated[tuple[JudgedNode, ...], says("How it judges each node in question.")]


class DifferenceCause(Cause, kw_only=True):
    """Why a configuration decides otherwise than the first one, and how much that matters."""

    verdict: Verdict


class DifferingCycle(Record):
    """A cycle in which not all decide the same."""

    pod: str
    number: Annotated[Count, says("Which decision, from 0.")]
    retry: Annotated[bool, says("It is the pod's second try, after it made room.")]
    decisions: Annotated[Mapping[str, ComparedDecision], says("By configuration; one that did not try the pod again is missing.")]
    causes: Annotated[Mapping[str, DifferenceCause], says("By configuration, for those that differ from the first.")]


class ComparisonDocument(ResultDocument, kw_only=True):
    """The same pods through two or more configurations; the others are compared with the first one."""

    KIND = "Comparison"
    mode: Annotated[
        Literal["locked", "free"],
        says("locked: all decide on the same state each time, that of the first one; free: each has its own cluster."),
    ]
    same: Annotated[bool, says("Whether all decisions are the same.")]
    pods: Annotated[Count, says("Pods that were to be scheduled.")]
    decisions: Annotated[Count, says("Tries after a preemption among them.")]
    configurations: Annotated[tuple[ComparedConfiguration, ...], Meta(min_length=1)]
    against: Annotated[tuple[ConfigurationPair, ...], says("Each configuration but the first, beside the first.")]
    differences: Annotated[tuple[DifferingCycle, ...], says("Those in which not all decide the same, in order.")]
