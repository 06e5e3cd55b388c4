"""Which reasons against a node stay, whatever other pods are placed: such a node never takes the pod.

The words are those of all releases: where they differ, each is the value of a cell in the table of its release.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from ...core.volumes.volumesearch import UNBOUND_IMMEDIATE
from ...framework.plugins.nodeaffinity import NOT_ENFORCED
from ...framework.plugins.noderesources import SIDECARS_ARE_OFF
from ...framework.plugins.volumebinding import TOO_LITTLE_STORAGE
from ...framework.releases import FRAMEWORK_RELEASES
from ...predicates import reasons
from ..capacity.room import short_of

_CELLS = [release.framework for release in FRAMEWORK_RELEASES.values()]
_OF_THE_NODE = frozenset(
    reason.text
    for reason in (
        reasons.VOLUME_ZONE_CONFLICT, reasons.NODE_SELECTOR_NOT_MATCH, reasons.TAINTS_TOLERATIONS_NOT_MATCH,
        reasons.POD_NOT_MATCH_HOST_NAME, reasons.NODE_LABEL_PRESENCE_VIOLATED, reasons.NODE_UNDER_MEMORY_PRESSURE,
        reasons.NODE_UNDER_DISK_PRESSURE, reasons.NODE_UNDER_PID_PRESSURE, reasons.NODE_OUT_OF_DISK, reasons.NODE_NOT_READY,
        reasons.NODE_NETWORK_UNAVAILABLE, reasons.NODE_UNSCHEDULABLE, reasons.VOLUME_NODE_CONFLICT, reasons.VOLUME_BIND_CONFLICT,
        NOT_ENFORCED, TOO_LITTLE_STORAGE,
    )
).union(*(
    (cells.node_name_text, cells.node_affinity_text, cells.volume_node_text, cells.missing_volume_text) for cells in _CELLS
))  # fmt: skip
_OF_THE_POD = frozenset({UNBOUND_IMMEDIATE, *SIDECARS_ARE_OFF.reasons})
_ANTI_AFFINITY_ALONE = frozenset(cells.pod_affinity_text for cells in _CELLS if cells.one_reason)
"""What stands for anti-affinity where a release says the general reason of affinity alone; own affinity has another one there."""
_APART = frozenset(
    reason.text
    for reason in (
        reasons.POD_ANTI_AFFINITY_RULES_NOT_MATCH, reasons.EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH, reasons.POD_NOT_FITS_HOST_PORTS,
    )
)  # fmt: skip
_OF_PODS_THERE = frozenset(
    [reasons.DISK_CONFLICT.text, reasons.MAX_VOLUME_COUNT_EXCEEDED.text, *(cells.sole_user_text for cells in _CELLS)]
)
_LASTING = _OF_THE_NODE | _OF_THE_POD | _APART | _OF_PODS_THERE
_MISSING = re.compile(r'persistentvolumeclaim ".*" not found|request .*: device class .* does not exist')
"""Of an object that the pod needs and that is not there."""
_UNTOLERATED = [re.compile(".*".join(map(re.escape, cells.taint_text.format(key="\0", value="\0").split("\0")))) for cells in _CELLS]


def lasts(texts: Collection[str]) -> bool:
    """Whether a node with the reasons *texts* against a pod turns it down as long as the pods on it stay.

    Affinity to other pods and spread are left out: more pods elsewhere can change them. So is every reason of a user's own rule.

    >>> lasts(["Insufficient cpu"]), lasts(["node(s) didn't match pod affinity rules"])
    (True, False)
    """
    return keeps_apart(texts) or any(map(_is_lasting, texts))


def _is_lasting(text: str) -> bool:
    return text in _LASTING or bool(short_of([text])) or _is_of_taint(text) or _MISSING.fullmatch(text) is not None


def keeps_apart(texts: Collection[str]) -> bool:
    """Whether the reasons *texts* say that two pods of one shape do not go on one node."""
    return not _APART.isdisjoint(texts) or (len(texts) == 1 and not _ANTI_AFFINITY_ALONE.isdisjoint(texts))


def _is_of_taint(text: str) -> bool:
    return any(pattern.fullmatch(text) for pattern in _UNTOLERATED)
