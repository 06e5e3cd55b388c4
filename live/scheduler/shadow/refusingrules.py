"""Which rule is behind the message with which another scheduler refuses a pod: it has reasons and counts, but neither rules nor nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from ....simulation.compare.losses import about, nodes_by_reason
from ....simulation.records import shortage_of

_PODS = "MatchInterPodAffinity InterPodAffinity"
_BY_SUBJECT: Mapping[str, str] = {
    "spread constraint": "EvenPodsSpread PodTopologySpread", "pod anti-affinity": _PODS, "pod affinity": _PODS,
    "service affinity": "CheckServiceAffinity ServiceAffinity", "taints": "PodToleratesNodeTaints TaintToleration",
    "cordoned nodes": "CheckNodeUnschedulable NodeUnschedulable", "host ports": "GeneralPredicates PodFitsHostPorts PodFitsPorts NodePorts",
    "volumes": "CheckVolumeBinding VolumeBinding", "node conditions": "CheckNodeCondition",
    "node affinity": "GeneralPredicates MatchNodeSelector NodeAffinity", "node name": "GeneralPredicates HostName NodeName",
    "node labels": "CheckNodeLabelPresence NodeLabel",
}  # fmt: skip
"""What a reason is about -> the rules that say so in one release or another."""
_CLOSER = tuple(
    (re.compile(pattern), names)
    for pattern, names in (
        (r"ReadWriteOncePod|no available disk", "NoDiskConflict VolumeRestrictions"),
        (r"volume zone", "NoVolumeZoneConflict VolumeZone"),
        (r"max volume count", "MaxCSIVolumeCountPred MaxEBSVolumeCount MaxGCEPDVolumeCount NodeVolumeLimits"),
        (r"memory pressure", "CheckNodeMemoryPressure"),
        (r"disk pressure", "CheckNodeDiskPressure"),
        (r"pid pressure", "CheckNodePIDPressure"),
        (r"out of disk", "CheckNodeCondition"),
        (r"resourceclaim|allocate all claims", "DynamicResources"),
    )
)
"""Where several rules say something about the same: what the reason has in it besides."""
_RESOURCES = "GeneralPredicates PodFitsResources NodeResourcesFit"


def refusing_rule(message: str, ours: Iterable[str], known: Collection[str]) -> str | None:
    """The rule behind the reason that *message* has more often than *ours*, the reasons of the nodes that we refuse too; None: unknown.

    Of several names it is the first one that is among *known*, the rules that we have, or else the last one, of the newest releases.

    >>> message = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match Pod's node affinity/selector."
    >>> refusing_rule(message, ["Insufficient cpu"], ["MatchNodeSelector"])
    'MatchNodeSelector'
    >>> refusing_rule(message, ["Insufficient cpu"], [])
    'NodeAffinity'
    >>> refusing_rule("no idea", [], [])
    """
    rules = [(names, count) for reason, count in (nodes_by_reason(message) or {message: 1}).items() if (names := _rules_of(reason))]
    counted = Counter(names for reason in ours if (names := _rules_of(reason)))
    names, _ = max(rules, key=lambda each: each[1] - counted[each[0]], default=("", 0))
    found = names.split()
    return next((name for name in found if name in known), found[-1] if found else None)


def _rules_of(reason: str) -> str:
    """The names of the rules that say *reason*, oldest first, with blanks between them; empty: unknown."""
    if shortage_of(reason) is not None:
        return _RESOURCES
    return next((names for pattern, names in _CLOSER if pattern.search(reason)), "") or _BY_SUBJECT.get(about(reason), "")
