"""Which rule is behind the message with which another scheduler refuses a pod: it has reasons and counts, but neither rules nor nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable

_FIT_ERROR = re.compile(r"nodes are available: (?P<reasons>.*?)\.?( preemption: .*)?$", re.DOTALL)
_BETWEEN_REASONS = re.compile(r", (?=\d+ )")
_RULES = tuple(
    (re.compile(pattern), tuple(names.split()))
    for pattern, names in (
        (r"Insufficient |Too many pods", "GeneralPredicates PodFitsResources NodeResourcesFit"),
        (r"ReadWriteOncePod|no available disk", "NoDiskConflict VolumeRestrictions"),
        (r"free ports", "GeneralPredicates PodFitsHostPorts PodFitsPorts NodePorts"),
        (r"volume node affinity|PersistentVolume|persistent volume|free storage|pvc\(s\)", "CheckVolumeBinding VolumeBinding"),
        (r"volume zone", "NoVolumeZoneConflict VolumeZone"),
        (r"max volume count", "MaxCSIVolumeCountPred MaxEBSVolumeCount MaxGCEPDVolumeCount NodeVolumeLimits"),
        (r"node selector|node affinity", "GeneralPredicates MatchNodeSelector NodeAffinity"),
        (r"affinity", "MatchInterPodAffinity InterPodAffinity"),
        (r"topology spread", "EvenPodsSpread PodTopologySpread"),
        (r"taint", "PodToleratesNodeTaints TaintToleration"),
        (r"unschedulable", "CheckNodeUnschedulable NodeUnschedulable"),
        (r"requested hostname|requested node name", "GeneralPredicates HostName NodeName"),
        (r"memory pressure", "CheckNodeMemoryPressure"),
        (r"disk pressure", "CheckNodeDiskPressure"),
        (r"pid pressure", "CheckNodePIDPressure"),
        (r"not ready|out of disk|unavailable network", "CheckNodeCondition"),
        (r"resourceclaim|allocate all claims", "DynamicResources"),
    )
)
"""What a reason says in one release or another -> the rules that say it; the first pattern that is found counts."""


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
    rules = [(names, count) for reason, count in _reasons(message) if (names := _rules_of(reason))]
    counted = Counter(names for reason in ours if (names := _rules_of(reason)))
    names = max(rules, key=lambda each: each[1] - counted[each[0]], default=((), 0))[0]
    return next((name for name in names if name in known), names[-1] if names else None)


def _reasons(message: str) -> list[tuple[str, int]]:
    """The reasons of a message with their counts; of one without counts itself."""
    found = _FIT_ERROR.search(message)
    if found is None:
        return [(message, 1)]
    parts = [part.partition(" ") for part in _BETWEEN_REASONS.split(found["reasons"])]
    return [(reason, int(count)) for count, _, reason in parts if count.isdecimal()]


def _rules_of(reason: str) -> tuple[str, ...]:
    return next((names for pattern, names in _RULES if pattern.search(reason)), ())
