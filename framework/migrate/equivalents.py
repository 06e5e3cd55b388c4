"""The plugins that replace each predicate and priority, and how they differ from it.

Upstream: pkg/scheduler/framework/plugins/legacy_registry.go of 1.19 to 1.22, which translated Policies until they were removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from ...algorithmprovider.catalogue import CATALOGUE
from ..policy.policyrules import BY_ARGUMENT
from ..releases import LAST_POLICIES

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


TAINTS, CONDITIONS = ("TaintToleration",), ("CheckNodeMemoryPressure", "CheckNodeDiskPressure", "CheckNodePIDPressure")
FILTERS: Mapping[str, tuple[str, ...]] = {
    **{name: () if name in BY_ARGUMENT else tuple(plugins.split()) for name, plugins in LAST_POLICIES.predicates.items()},
    "CheckNodeCondition": ("NodeUnschedulable", *TAINTS),
    **dict.fromkeys((*CONDITIONS, "PodToleratesNodeNoExecuteTaints"), TAINTS),
    "PodFitsPorts": ("NodePorts",),
}
"""Predicate -> the filter plugins that replace it, in order; none where it is gone."""

SCORES: Mapping[str, str] = {
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "InterPodAffinityPriority": "InterPodAffinity",
    "NodeAffinityPriority": "NodeAffinity",
    "TaintTolerationPriority": "TaintToleration",
    "ImageLocalityPriority": "ImageLocality",
}
"""Priority -> the score plugin that replaces it; without priorities that share a plugin or have none."""

SELECTOR_SPREAD = "SelectorSpread"
"""The plugin with the formula of SelectorSpreadPriority."""

PRE_SCORERS = frozenset({
    "InterPodAffinity", "NodeAffinity", "NodeResourcesBalancedAllocation", "NodeResourcesFit", "PodTopologySpread", "TaintToleration",
})  # fmt: skip
"""The plugins with a PreScore."""

SCORERS = PRE_SCORERS | {"ImageLocality", "VolumeBinding"}
"""The plugins that score if they are enabled under multiPoint."""

GONE: Mapping[str, str] = {
    "EqualPriority": "left out: it gave every node the same score",
    "NodePreferAvoidPodsPriority": (
        "left out: nothing reads the annotation scheduler.alpha.kubernetes.io/preferAvoidPods since plugin NodePreferAvoidPods was removed"
        " in 1.23; taint such nodes with effect PreferNoSchedule"
    ),
    "ResourceLimitsPriority": "left out: no plugin reads limits any more",
}
"""Priority -> why no plugin replaces it."""

STRATEGIES = ("MostRequestedPriority", "RequestedToCapacityRatioPriority")
"""Priorities that became arguments of a plugin."""
USAGE, SPREAD = ("NodeResourcesFit",), ("PodTopologySpread",)
OWN_CONSTRAINTS = "EvenPodsSpreadPriority"
PEER_SPREADING = ("SelectorSpreadPriority", "ServiceSpreadingPriority")
"""The priorities that prefer few peers."""

PRIORITIES: Mapping[str, tuple[str, ...]] = {
    **{priority: (plugin,) for priority, plugin in SCORES.items()},
    **dict.fromkeys(("LeastRequestedPriority", *STRATEGIES), USAGE),
    **dict.fromkeys((*PEER_SPREADING, OWN_CONSTRAINTS), SPREAD),
    **dict.fromkeys(GONE, ()),
}
"""Priority -> the plugin that took its place."""

_CONDITIONS = "conditions are not looked at: TaintToleration turns down the nodes that the node lifecycle controller has tainted for them"

DIFFERENCES: Mapping[str, str] = {
    "CheckNodeCondition": _CONDITIONS,
    "CheckNodeMemoryPressure": f"{_CONDITIONS}, whatever the pod's quality of service",
    "CheckNodeDiskPressure": _CONDITIONS,
    "CheckNodePIDPressure": _CONDITIONS,
    "PodToleratesNodeNoExecuteTaints": "TaintToleration also turns nodes down for taints with effect NoSchedule",
    "GeneralPredicates": "only the first of its four plugins that fails is reported",
    "NoDiskConflict": "claims with access mode ReadWriteOncePod are checked too, and a missing claim rejects the pod",
    "MaxEBSVolumeCount": "nodes with a CSINode have no limit here, NodeVolumeLimits alone looks after them",
    "MaxGCEPDVolumeCount": "nodes with a CSINode have no limit here, NodeVolumeLimits alone looks after them",
    "MaxAzureDiskVolumeCount": "nodes with a CSINode have no limit here, NodeVolumeLimits alone looks after them",
    "MaxCinderVolumeCount": "nodes with a CSINode have no limit here, NodeVolumeLimits alone looks after them",
    "MaxCSIVolumeCountPred": "volumes of built-in drivers that moved to CSI count too",
    "CheckVolumeBinding": "storage capacity counts, and an unbound or lost claim rejects the pod instead of failing its cycle",
    "NoVolumeZoneConflict": "a node must have each zone label that the volume has, and the newer topology labels count too",
    "EvenPodsSpread": "terminating pods do not count, and minDomains, matchLabelKeys and the two inclusion policies are honoured",
    "MatchInterPodAffinity": "the first pod of a group needs a node with the topology key, and namespaceSelector is honoured",
    "LeastRequestedPriority": "finer steps, a resource that a node does not have is left out, init containers and overhead count",
    "MostRequestedPriority": "finer steps, and a node with more requested than it has counts as full instead of empty",
    "SelectorSpreadPriority": (
        "another formula: pods of the same services and controller per host and zone, by the default constraints of PodTopologySpread"
    ),
    "ServiceSpreadingPriority": "controllers count besides services, and zones besides hosts, by the defaults of PodTopologySpread",
    "EvenPodsSpreadPriority": "domains are weighted by their number, pods of other namespaces and terminating pods do not count",
    "InterPodAffinityPriority": "scores are scaled to the whole range, even if every node has some",
    "NodeAffinityPriority": "preferences on fields count too",
    "ImageLocalityPriority": "the upper threshold grows with the number of containers",
}
"""Rule -> how its plugins decide differently."""

SAME, SAME_SCALED = "the same", "the same, on a scale to 100"
WORDS: Mapping[str, str] = {
    "CheckNodeUnschedulable": SAME,
    "PodToleratesNodeTaints": "the same; the message names the first taint that is not tolerated",
    "HostName": "the same, in other words",
    "PodFitsHostPorts": SAME,
    "PodFitsPorts": "it was accepted and never ran; the plugin runs",
    "MatchNodeSelector": "a nodeSelector with an invalid value matches no node; it matched every node",
    "PodFitsResources": "quantities are added exactly and rounded once, overhead always counts, and the message for pods is another",
    "CheckNodeLabelPresence": "gone since 1.23; required terms of addedAffinity of NodeAffinity do the same",
    "CheckServiceAffinity": "gone since 1.23, and nothing does the same; write affinity into the pods",
    "BalancedResourceAllocation": "scores range over 50 to 100 only, and pods without requests count as asking for nothing",
    "RequestedToCapacityRatioPriority": "a profile has one strategy; utilization is rounded down instead of up",
    "TaintTolerationPriority": SAME_SCALED,
    "labelPreference": "plugin NodeLabel was removed in 1.23; preferred terms of addedAffinity come nearest",
    "serviceAntiAffinity": "plugin ServiceAffinity was removed in 1.23; a default constraint over the label comes nearest",
}
"""Rule -> what became different, where a migration need not be told of it."""

TOLD: Mapping[str, str] = {**{name: text.replace("left out: ", "gone: ") for name, text in GONE.items()}, **DIFFERENCES, **WORDS}
"""Rule -> what became different."""


def lacking(predicates: Iterable[str], priorities: Iterable[str]) -> list[str]:
    """What these tables do not say of rules: a sentence for each that has no plugins, or no words."""
    entered = [*((name, FILTERS, "FILTERS") for name in predicates), *((name, PRIORITIES, "SCORES or GONE") for name in priorities)]
    unentered = [f"{name} is in none of {table}" for name, known, table in entered if name not in known]
    return unentered + [f"{name} is not in DIFFERENCES, nor in WORDS" for name, *_ in entered if name not in TOLD]


if _lacking := lacking(CATALOGUE.predicates, CATALOGUE.priorities):
    raise LookupError(f"{__name__}: {'; '.join(_lacking)}")

COUNTED_ELSEWHERE = "NodeVolumeLimits counts such volumes where they are migrated, up to the limit that the CSINode names"
"""What remains of the limits of built-in disks in releases without their plugins."""

OLDER = frozenset({"CheckNodeCondition", *CONDITIONS, "PodToleratesNodeNoExecuteTaints", "ResourceLimitsPriority"})
"""Rules that upstream's own translation did not know any more."""
