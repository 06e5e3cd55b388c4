"""What became of each predicate and priority: the plugins that do its work, and in what they differ.

Upstream: pkg/scheduler/framework/plugins/legacy_registry.go of 1.19 to 1.22, which translated Policies until they were removed.
"""

from __future__ import annotations

from collections.abc import Mapping

GENERAL = ("NodeName", "NodeAffinity", "NodePorts", "NodeResourcesFit")
BY_TAINTS = ("NodeUnschedulable", "TaintToleration")

FILTERS: Mapping[str, tuple[str, ...]] = {
    "CheckNodeCondition": BY_TAINTS,
    "CheckNodeMemoryPressure": BY_TAINTS[1:],
    "CheckNodeDiskPressure": BY_TAINTS[1:],
    "CheckNodePIDPressure": BY_TAINTS[1:],
    "CheckNodeUnschedulable": BY_TAINTS[:1],
    "GeneralPredicates": GENERAL,
    "HostName": ("NodeName",),
    "PodFitsHostPorts": ("NodePorts",),
    "MatchNodeSelector": ("NodeAffinity",),
    "PodFitsResources": ("NodeResourcesFit",),
    "NoDiskConflict": ("VolumeRestrictions",),
    "PodToleratesNodeTaints": BY_TAINTS[1:],
    "PodToleratesNodeNoExecuteTaints": BY_TAINTS[1:],
    "MaxEBSVolumeCount": ("EBSLimits",),
    "MaxGCEPDVolumeCount": ("GCEPDLimits",),
    "MaxCSIVolumeCountPred": ("NodeVolumeLimits",),
    "MaxAzureDiskVolumeCount": ("AzureDiskLimits",),
    "MaxCinderVolumeCount": ("CinderLimits",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "NoVolumeZoneConflict": ("VolumeZone",),
    "EvenPodsSpread": ("PodTopologySpread",),
    "MatchInterPodAffinity": ("InterPodAffinity",),
}
"""Predicate -> the plugins that filter in its place, in order."""

SCORES: Mapping[str, str] = {
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "InterPodAffinityPriority": "InterPodAffinity",
    "NodeAffinityPriority": "NodeAffinity",
    "TaintTolerationPriority": "TaintToleration",
    "ImageLocalityPriority": "ImageLocality",
}
"""Priority -> the plugin that scores in its place; those that share a plugin, or have none, are not here."""

PRE_SCORERS = frozenset({
    "InterPodAffinity", "NodeAffinity", "NodeResourcesBalancedAllocation", "NodeResourcesFit", "PodTopologySpread", "TaintToleration",
})  # fmt: skip
"""The plugins that prepare their scores."""

GONE: Mapping[str, str] = {
    "EqualPriority": "left out: it gave every node the same",
    "NodePreferAvoidPodsPriority": (
        "left out: nothing reads the annotation scheduler.alpha.kubernetes.io/preferAvoidPods any more;"
        " taint such nodes with effect PreferNoSchedule"
    ),
    "ResourceLimitsPriority": "left out: nothing looks at limits any more",
}
"""Priority -> why there is nothing in its place."""

_CONDITIONS = "conditions are not looked at: TaintToleration turns down the nodes that the node lifecycle controller has tainted for them"
_REFUSED = "refuses the predicate, so that a Policy of an older release would not start"

DIFFERENCES: Mapping[str, str] = {
    "CheckNodeCondition": _CONDITIONS,
    "CheckNodeMemoryPressure": f"{_CONDITIONS}, whatever the pod's quality of service",
    "CheckNodeDiskPressure": _CONDITIONS,
    "CheckNodePIDPressure": _CONDITIONS,
    "PodToleratesNodeNoExecuteTaints": "TaintToleration also turns nodes down for taints with effect NoSchedule",
    "GeneralPredicates": "of its four plugins only the first that fails is told",
    "NoDiskConflict": "claims with access mode ReadWriteOncePod are kept apart too, and a claim that is missing turns the pod down",
    "MaxEBSVolumeCount": "nodes with a CSINode have no limit here, NodeVolumeLimits alone looks after them",
    "MaxGCEPDVolumeCount": "nodes with a CSINode have no limit here, NodeVolumeLimits alone looks after them",
    "MaxAzureDiskVolumeCount": "nodes with a CSINode have no limit here, NodeVolumeLimits alone looks after them",
    "MaxCinderVolumeCount": "nodes with a CSINode have no limit here, NodeVolumeLimits alone looks after them",
    "MaxCSIVolumeCountPred": "volumes of built-in drivers that moved to CSI count too",
    "CheckVolumeBinding": "storage capacity counts, and an unbound or lost claim turns the pod down instead of failing its cycle",
    "NoVolumeZoneConflict": "a node must have each zone label that the volume has, and the newer topology labels count too",
    "EvenPodsSpread": "terminating pods do not count, and minDomains, matchLabelKeys and the two inclusion policies are honoured",
    "MatchInterPodAffinity": "the first pod of a group needs a node with the topology key, and namespaceSelector is honoured",
    "LeastRequestedPriority": "finer steps, a resource of which a node has nothing is left out, init containers and overhead count",
    "MostRequestedPriority": "finer steps, and a node that is asked for more than it has counts as full instead of empty",
    "SelectorSpreadPriority": (
        "another formula: pods of the same services and controller per host and zone, by the default constraints of PodTopologySpread"
    ),
    "ServiceSpreadingPriority": "controllers count besides services, and zones besides hosts, by the defaults of PodTopologySpread",
    "EvenPodsSpreadPriority": "domains are weighed by their number, pods of other namespaces do not count, and terminating ones neither",
    "InterPodAffinityPriority": "scores are stretched over the whole range, also where all nodes have some",
    "NodeAffinityPriority": "preferences on fields count too",
    "ImageLocalityPriority": "the upper threshold grows with the number of containers",
}
"""Rule -> how its plugins decide otherwise."""

UPSTREAM: Mapping[str, str] = {
    "CheckNodeCondition": _REFUSED,
    "CheckNodeMemoryPressure": _REFUSED,
    "CheckNodeDiskPressure": _REFUSED,
    "CheckNodePIDPressure": _REFUSED,
    "PodToleratesNodeNoExecuteTaints": _REFUSED,
    "ResourceLimitsPriority": "refuses the priority, so that a Policy of an older release would not start",
    "GeneralPredicates": (
        "asks for resources first; here they come last, as the old predicate told all of its reasons, so that"
        " a node that no eviction can make fit is no candidate for preemption"
    ),
}
"""Rule -> how upstream's own translation treats it otherwise, and why not here."""
