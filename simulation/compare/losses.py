"""Which pods find a node under one of two schedulers only, and for what the other one has none for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated

from ...api.record import Record, says
from ...core.decision.fiterror import reasons_in
from ..records import shortage_of
from .causes import ERROR, GATED, PREDICATE, SAMPLING, Cause

EVICTED, UNSEEN, FAULT, GATES, NO_ROOM = "eviction", "unseen nodes", "error", "scheduling gates", "preemption"
REASONS = (
    (r"topology spread", "spread constraint"),
    (r"anti-affinity", "pod anti-affinity"),
    (r"pod affinity", "pod affinity"),
    (r"service affinity", "service affinity"),
    (r"taint", "taints"),
    (r"unschedulable|cordoned", "cordoned nodes"),
    (r"ports", "host ports"),
    (r"[Vv]olume|disk(?! pressure)|pvc|free storage", "volumes"),
    (r"pressure|not ready|unavailable network", "node conditions"),
    (r"node affinity|node selector", "node affinity"),
    (r"hostname|node name", "node name"),
    (r"requested labels", "node labels"),
)
"""What upstream's reason has in it -> what it is about, the first that fits."""


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


def about(reason: str, rule: str | None = None) -> str:
    """What upstream's *reason* is about: a resource, or a word of :data:`REASONS`; else the *rule* that gave it.

    >>> about("Insufficient nvidia.com/gpu"), about("Too many pods"), about("made up", "Mine")
    ('nvidia.com/gpu', 'pods', 'Mine')
    """
    return shortage_of(reason) or next((name for pattern, name in REASONS if re.search(pattern, reason)), rule or reason)
