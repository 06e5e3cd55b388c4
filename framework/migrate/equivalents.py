"""What the rules of a Policy became in the framework, as migrations tell it.

Upstream: pkg/scheduler/framework/plugins/legacy_registry.go of 1.19 to 1.22, which translated Policies until they were removed.
"""

from __future__ import annotations

import attrs

from ...core.release.fact import rule_facts

OLDER_RULES = "refuses it, so that a Policy of an older release would not start"
NEVER_RUN = "runs it, so that pods would find fewer nodes"
OWN_DEFAULTS = "takes those of its own release, constraints of topology spread among them, PodTopologySpread with weight 2"
NODE_LABEL = "has plugin NodeLabel, which was removed in 1.23"
SERVICE_AFFINITY = "has plugin ServiceAffinity, which was removed in 1.23"
RATIO_RESOURCES = "counts them, so that nodes would score otherwise"
ONE_STRATEGY = "has a plugin for each; a profile has one strategy since 1.23, which leaves the heaviest"
DOUBLE_BALANCE = "keeps the weight, so that balance would count half"
HEAVIER_SPREAD = "takes the weight of EvenPodsSpreadPriority for both"
DISK_LIMITS = "has plugins EBSLimits, GCEPDLimits, AzureDiskLimits and CinderLimits, which were removed in 1.32"
PREEMPTION_OFF = "has no such switch and preempts"


@attrs.frozen(repr=False)
class Note:
    """One part of a Policy without an exact equivalent, and what replaces it."""

    subject: str
    """A predicate, a priority, a plugin, or a field of the Policy."""
    text: str
    upstream: str = ""
    """What upstream's own translation does there, if it is something else."""

    def __str__(self) -> str:
        other = f" (upstream's translation {self.upstream})" if self.upstream else ""
        return f"{self.subject}: {self.text}{other}"


RULES = rule_facts()
"""Predicate, priority, or what was built in -> what it became."""
SELECTOR_SPREAD = "SelectorSpread"
"""The plugin with the formula of SelectorSpreadPriority."""
PRE_SCORERS = frozenset({
    "InterPodAffinity", "NodeAffinity", "NodeResourcesBalancedAllocation", "NodeResourcesFit", "PodTopologySpread", "TaintToleration",
})  # fmt: skip
"""The plugins with a PreScore."""
SCORERS = PRE_SCORERS | {"ImageLocality", "VolumeBinding"}
"""The plugins that score if they are enabled under multiPoint."""
OWN_CONSTRAINTS = "EvenPodsSpreadPriority"
PEER_SPREADING = ("SelectorSpreadPriority", "ServiceSpreadingPriority")
"""The priorities that prefer few peers."""


def left_out(rule: str) -> str:
    """Why no plugin replaces *rule*, for a migration that leaves it out."""
    return RULES[rule].sentence.replace("gone: ", "left out: ")


COUNTED_ELSEWHERE = "NodeVolumeLimits counts such volumes where they are migrated, up to the limit that the CSINode names"
"""What remains of the limits of built-in disks in releases without their plugins."""
