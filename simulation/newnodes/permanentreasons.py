"""Which reasons against a node stay, whatever other pods are placed: such a node never takes the pod."""

from __future__ import annotations

from collections.abc import Collection

from ...framework.plugins.nodeaffinity import NOT_ENFORCED, NOT_MATCHING
from ...framework.plugins.nodename import DIFFERENT_NODE
from ...framework.plugins.volumebinding import MISSING_VOLUME, TOO_LITTLE_STORAGE
from ...predicates import reasons
from ..capacity.room import short_of

_UNTOLERATED = "node(s) had untolerated taint "
_OF_THE_NODE = frozenset(
    reason.text
    for reason in (
        reasons.VOLUME_ZONE_CONFLICT, reasons.NODE_SELECTOR_NOT_MATCH, reasons.TAINTS_TOLERATIONS_NOT_MATCH,
        reasons.POD_NOT_MATCH_HOST_NAME, reasons.NODE_LABEL_PRESENCE_VIOLATED, reasons.NODE_UNDER_MEMORY_PRESSURE,
        reasons.NODE_UNDER_DISK_PRESSURE, reasons.NODE_UNDER_PID_PRESSURE, reasons.NODE_OUT_OF_DISK, reasons.NODE_NOT_READY,
        reasons.NODE_NETWORK_UNAVAILABLE, reasons.NODE_UNSCHEDULABLE, reasons.VOLUME_NODE_CONFLICT, reasons.VOLUME_BIND_CONFLICT,
        NOT_MATCHING, NOT_ENFORCED, DIFFERENT_NODE, MISSING_VOLUME, TOO_LITTLE_STORAGE,
    )
)  # fmt: skip
APART = frozenset(
    reason.text
    for reason in (
        reasons.POD_ANTI_AFFINITY_RULES_NOT_MATCH, reasons.EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH, reasons.POD_NOT_FITS_HOST_PORTS,
    )
)  # fmt: skip
"""Why two pods of one shape do not go on one node."""
_LASTING = _OF_THE_NODE | APART | {reasons.DISK_CONFLICT.text, reasons.MAX_VOLUME_COUNT_EXCEEDED.text}


def lasts(texts: Collection[str]) -> bool:
    """Whether a node with the reasons *texts* against a pod turns it down as long as the pods on it stay.

    Affinity to other pods and spread are left out: more pods elsewhere can change them. So is every reason of a user's own rule.

    >>> lasts(["Insufficient cpu"]), lasts(["node(s) didn't match pod affinity rules"])
    (True, False)
    """
    return any(text in _LASTING or text.startswith(_UNTOLERATED) or short_of([text]) for text in texts)
