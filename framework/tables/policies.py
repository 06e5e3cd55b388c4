"""What 1.17 to 1.22 make of a Policy: in which cells each differs from the one after it.

Upstream: pkg/scheduler/framework/plugins/legacy_registry.go; in 1.17 default_registry.go and pkg/scheduler/algorithm_factory.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from ...algorithmprovider.releases import USUAL_PREDICATES, USUAL_PRIORITIES
from ...core.release import PolicyCells

_PREDICATES = {
    "CheckNodeUnschedulable": "NodeUnschedulable", "GeneralPredicates": "NodeResourcesFit NodeName NodePorts NodeAffinity",
    "HostName": "NodeName", "PodFitsHostPorts": "NodePorts", "MatchNodeSelector": "NodeAffinity", "PodFitsResources": "NodeResourcesFit",
    "NoDiskConflict": "VolumeRestrictions", "PodToleratesNodeTaints": "TaintToleration", "CheckNodeLabelPresence": "NodeLabel",
    "CheckServiceAffinity": "ServiceAffinity", "MaxEBSVolumeCount": "EBSLimits", "MaxGCEPDVolumeCount": "GCEPDLimits",
    "MaxCSIVolumeCountPred": "NodeVolumeLimits", "MaxAzureDiskVolumeCount": "AzureDiskLimits", "MaxCinderVolumeCount": "CinderLimits",
    "CheckVolumeBinding": "VolumeBinding", "NoVolumeZoneConflict": "VolumeZone", "EvenPodsSpread": "PodTopologySpread",
    "MatchInterPodAffinity": "InterPodAffinity",
}  # fmt: skip
_PRIORITIES = {
    "SelectorSpreadPriority": "SelectorSpread", "InterPodAffinityPriority": "InterPodAffinity",
    "LeastRequestedPriority": "NodeResourcesLeastAllocated", "MostRequestedPriority": "NodeResourcesMostAllocated",
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation", "NodePreferAvoidPodsPriority": "NodePreferAvoidPods",
    "NodeAffinityPriority": "NodeAffinity", "TaintTolerationPriority": "TaintToleration", "ImageLocalityPriority": "ImageLocality",
    "EvenPodsSpreadPriority": "PodTopologySpread", "RequestedToCapacityRatio": "RequestedToCapacityRatio", "NodeLabel": "NodeLabel",
    "ServiceAffinity": "ServiceAffinity",
}  # fmt: skip
_DEFAULT_PREDICATES = (*(name for name in USUAL_PREDICATES if name in _PREDICATES), "CheckNodeUnschedulable", "EvenPodsSpread")
_DEFAULT_PRIORITIES = {**USUAL_PRIORITIES, "EvenPodsSpreadPriority": 2}
_FIRST_PRE_FILTERS = frozenset({"NodeResourcesFit", "NodePorts", "InterPodAffinity", "PodTopologySpread", "ServiceAffinity"})
_FIRST_PRE_SCORES = frozenset(
    {"DefaultPodTopologySpread", "InterPodAffinity", "NodeResourceLimits", "PodTopologySpread", "SelectorSpread", "TaintToleration"}
)
_AUTOSCALER = {"NodeResourcesLeastAllocated": "NodeResourcesMostAllocated"}
_PROVIDERS: Mapping[str, Mapping[str, str]] = {"DefaultProvider": {}, "ClusterAutoscalerProvider": _AUTOSCALER}

V1_22 = PolicyCells(
    predicates=MappingProxyType(_PREDICATES),
    priorities=MappingProxyType(_PRIORITIES),
    default_predicates=_DEFAULT_PREDICATES,
    default_priorities=MappingProxyType(_DEFAULT_PRIORITIES),
    pre_filters=_FIRST_PRE_FILTERS | {"NodeAffinity", "VolumeBinding"},
    pre_scores=_FIRST_PRE_SCORES | {"NodeAffinity"},
    spread_gate="DefaultPodTopologySpread",
)
LAST_POLICIES = V1_22
"""Those of the last release that reads Policies."""
V1_21 = replace(V1_22, fills_arguments=True, providers=MappingProxyType(_PROVIDERS), weight_is_argument=True)
V1_20 = replace(
    V1_21,
    pre_filters=_FIRST_PRE_FILTERS | {"VolumeBinding"},
    pre_scores=_FIRST_PRE_SCORES,
    unknown_predicate='Invalid configuration: Predicate type not found for "{name}"',
    unknown_priority='Invalid configuration: Priority type not found for "{name}"',
    two_arguments="Exactly 1 {kind} argument is required, numArgs: {number}, {Kind}: {name}",
)
V1_19 = replace(
    V1_20,
    spread_gate="",
    merges_plugins=False,
    preempts=False,
    bad_weight="Priority {name} should have a positive weight applied to it or it has overflown",
    no_argument="No priority arguments set for priority {name}",
    declared_again='Priority "{name}" redeclares custom priority "RequestedToCapacityRatio", from:"{first}"',
)
V1_18 = replace(
    V1_19,
    priorities=MappingProxyType(
        {**_PRIORITIES, "SelectorSpreadPriority": "DefaultPodTopologySpread", "ResourceLimitsPriority": "NodeResourceLimits"}
    ),
    rule_gates=MappingProxyType(
        {
            "EvenPodsSpread": "EvenPodsSpread", "EvenPodsSpreadPriority": "EvenPodsSpread",
            "ResourceLimitsPriority": "ResourceLimitsPriorityFunction",
        }
    ),
    default_priorities=MappingProxyType({**_DEFAULT_PRIORITIES, "EvenPodsSpreadPriority": 1, "ResourceLimitsPriority": 1}),
    pre_filters=_FIRST_PRE_FILTERS,
    fills_resources=True,
    plugin_reserves=False,
    preempts=True,
)  # fmt: skip
V1_17 = replace(
    V1_18,
    # Upstream: PodFitsPorts is registered, but it is in no order of rules, so it never runs.
    predicates=MappingProxyType({**_PREDICATES, "PodFitsPorts": ""}),
    priorities=MappingProxyType(
        {
            **V1_18.priorities, "ResourceLimitsPriority": "ResourceLimitsPriority", "ServiceSpreadingPriority": "ServiceSpreadingPriority",
            "RequestedToCapacityRatioPriority": "RequestedToCapacityRatioPriority",
        }
    ),
    aliases=MappingProxyType({}),
    arguments_first=True,
    checks_all=False,
    weight_of_configuration_counts=True,
    sums_weights_first=True,
    unknown_predicate="Invalid configuration: Predicate type not found for {name}",
    unknown_priority="Invalid configuration: Priority type not found for {name}",
    bad_affinity_weight="invalid hardPodAffinitySymmetricWeight: {weight}, must be in the range 1-100",
    older_extender_texts=True,
    least_affinity_weight=1,
)  # fmt: skip
