"""The deviations from upstream's own translation of Policies. Each has a name, can be undone, and its effect can be measured.

Upstream: pkg/scheduler/framework/plugins/legacy_registry.go and pkg/scheduler/factory.go of 1.19 to 1.22, the last releases with Policies.
Where upstream used a plugin that was removed later, undoing a deviation leaves the rule out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from ...exceptions import UnknownNameError, did_you_mean

ALL = "all"
OLDER_RULES, NEVER_RUN, OWN_DEFAULTS = "older-rules", "never-run", "own-defaults"
LABEL_PRESENCE, LABEL_PREFERENCE, ANTI_AFFINITY = "label-presence", "label-preference", "service-anti-affinity"
RATIO_RESOURCES, ONE_STRATEGY, DOUBLE_BALANCE = "ratio-resources", "one-strategy", "double-balance"
HEAVIER_SPREAD, PREEMPTION_OFF, DISK_LIMITS = "heavier-spread", "preemption-off", "disk-limits"


@attrs.frozen(repr=False)
class Deviation:
    """One point in which the translation is not upstream's."""

    name: str
    ours: str
    upstream: str


@attrs.frozen(repr=False)
class Note:
    """One part of a Policy without an exact equivalent, and what replaces it."""

    subject: str
    """A predicate, a priority, a plugin, or a field of the Policy."""
    text: str
    deviation: Deviation | None = None
    """Set if upstream's own translation treats it differently."""

    def __str__(self) -> str:
        if self.deviation is None:
            return f"{self.subject}: {self.text}"
        return f"{self.subject}: {self.text} ({self.deviation.name}: upstream's translation {self.deviation.upstream})"


_POINTS = (
    Deviation(
        OLDER_RULES,
        "takes predicates and priorities that only older releases have, and label preferences of unlike weights",
        "refuses them, so that a Policy of an older release would not start",
    ),
    Deviation(NEVER_RUN, "leaves out what the release accepts and never runs", "runs it, so that pods would find fewer nodes"),
    Deviation(
        OWN_DEFAULTS,
        "takes the default rules of the release that runs the Policy where it has no list",
        "takes those of its own release, constraints of topology spread among them, PodTopologySpread with weight 2",
    ),
    Deviation(
        LABEL_PRESENCE,
        "makes labels that nodes must have required terms of addedAffinity",
        "has plugin NodeLabel, which was removed in 1.23",
    ),
    Deviation(
        LABEL_PREFERENCE,
        "makes labels that are preferred preferred terms of addedAffinity",
        "has plugin NodeLabel, which was removed in 1.23",
    ),
    Deviation(
        ANTI_AFFINITY,
        "makes labels to spread over default constraints of PodTopologySpread",
        "has plugin ServiceAffinity, which was removed in 1.23",
    ),
    Deviation(
        RATIO_RESOURCES,
        "leaves out the resources of requestedToCapacityRatioArguments where the release ignores them",
        "counts them, so that nodes would score otherwise",
    ),
    Deviation(
        ONE_STRATEGY,
        "adds priorities about the use of resources up to one line",
        "has a plugin for each; a profile has one strategy since 1.23, which leaves the heaviest",
    ),
    Deviation(
        DOUBLE_BALANCE,
        "doubles the weight of BalancedResourceAllocation, whose scores range over 50 to 100 only",
        "keeps the weight, so that balance would count half",
    ),
    Deviation(
        HEAVIER_SPREAD,
        "gives PodTopologySpread the greater weight where two priorities share it",
        "takes the weight of EvenPodsSpreadPriority for both",
    ),
    Deviation(
        DISK_LIMITS,
        "has plugin NodeVolumeLimits in place of the limits of built-in disks, where the release has none of these plugins",
        "has plugins EBSLimits, GCEPDLimits, AzureDiskLimits and CinderLimits, which were removed in 1.32",
    ),
    Deviation(PREEMPTION_OFF, "leaves DefaultPreemption out under disablePreemption", "has no such switch and preempts"),
)
DEVIATIONS: Mapping[str, Deviation] = {point.name: point for point in _POINTS}
"""Name -> deviation."""


def named(names: Iterable[str]) -> frozenset[str]:
    """The names of deviations in *names*; ``all`` means every one.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for an unknown name.

    >>> sorted(named([NEVER_RUN]))
    ['never-run']
    """
    found = set(names)
    for name in found - {ALL}:
        if name not in DEVIATIONS:
            wanted = f"{ALL}, {', '.join(DEVIATIONS)}{did_you_mean(name, DEVIATIONS)}"
            raise UnknownNameError(f'deviation: got "{name}", wanted {wanted}')
    return frozenset(DEVIATIONS) if ALL in found else frozenset(found)
