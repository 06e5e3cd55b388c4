"""The subjects of upstream's reasons, in words and in sentences, and the leading one of several."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..api.words import short_name

INSUFFICIENT = "Insufficient "
TOO_MANY = "Too many pods"
"""The framework's text for too few free places for pods."""
EVICTED = "eviction"
UNSEEN = "unseen nodes"
FAULT = "error"
GATES = "scheduling gates"
NO_ROOM = "preemption"
REASONS = (
    (
        r"allocate all claims|allocat(e|ing) devices|resource pools|fit resource|[Rr]esource ?[Cc]laim|extended resource claim",
        "devices",
    ),
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
"""Pattern in upstream's reason -> its subject; the first match counts."""
PHRASES = {
    "devices": ("devices for its claims", "devices for their claims"),
    "spread constraint": ("its spread constraint", "their spread constraints"),
    "pod anti-affinity": ("pod anti-affinity", "pod anti-affinity"),
    "node affinity": ("its node affinity", "their node affinity"),
    "host ports": ("a host port", "host ports"),
    "pods": ("the number of pods", "the number of pods"),
    "volumes": ("its volumes", "their volumes"),
    "node name": ("the node that it names", "the nodes that they name"),
    EVICTED: ("other pods, which evict it", "other pods, which evict them"),
    UNSEEN: ("nodes that are not looked at", "nodes that are not looked at"),
    FAULT: ("an error", "errors"),
    GATES: ("its scheduling gates", "their scheduling gates"),
    NO_ROOM: ("room that is not made", "room that is not made"),
}
"""Subject -> the words after "1 for" and after "2 for" in a sentence; other subjects stay as they are."""


def shortage_of(reason: str) -> str | None:
    """The resource that *reason* calls short; None for a reason of another kind.

    >>> shortage_of("Insufficient cpu"), shortage_of("Too many pods"), shortage_of("node(s) were unschedulable")
    ('cpu', 'pods', None)
    """
    if reason == TOO_MANY:
        return "pods"
    return reason.removeprefix(INSUFFICIENT) if reason.startswith(INSUFFICIENT) else None


def about(reason: str, rule: str | None = None) -> str:
    """The subject of upstream's *reason*: a resource, or a word of :data:`REASONS`; else the *rule* that gave
    it.

    >>> about("Insufficient nvidia.com/gpu"), about("Too many pods"), about("made up", "Mine")
    ('nvidia.com/gpu', 'pods', 'Mine')
    """
    return shortage_of(reason) or next(
        (name for pattern, name in REASONS if re.search(pattern, reason)), rule or reason
    )


def phrase(reason: str, pods: int) -> str:
    """The words for a reason in a sentence.

    >>> phrase("spread constraint", 1), phrase("spread constraint", 2), phrase("nvidia.com/gpu", 2)
    ('its spread constraint', 'their spread constraints', 'gpu')
    """
    return PHRASES[reason][pods != 1] if reason in PHRASES else short_name(reason)


def leading(reasons: Mapping[str, int], alone: Mapping[str, int]) -> list[str]:
    """*reasons* against nodes, first those that *alone* keep a pod from nodes, which would fit without the
    reason.

    Among these, reasons by which the pod wants other nodes come last, and before them reasons by which nodes
    keep pods away: a lack on nodes that are meant for the pod is nearer to the point.

    >>> alone = {"didn't match node selector": 7, "untolerated taint {a: b}": 3, "cannot allocate all claims": 2}
    >>> leading({"Insufficient cpu": 9, **alone}, alone)
    ['cannot allocate all claims', 'untolerated taint {a: b}', "didn't match node selector", 'Insufficient cpu']
    """

    def rank(reason: str) -> tuple[bool, bool, bool, int, int]:
        away = about(reason) in ("taints", "cordoned nodes", "node conditions")
        return not alone.get(reason), wants_others(reason), away, -alone.get(reason, 0), -reasons[reason]

    return sorted(reasons, key=rank)


def wants_others(reason: str) -> bool:
    """Whether *reason* says that the pod, or its volume, wants other nodes."""
    return any(
        part in reason
        for part in ("node selector", "node affinity", "requested hostname", "requested node name")
    )
