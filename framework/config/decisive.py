"""The gates that the scheduler asks, of all releases of the framework: what each decides, and which of them change no answer here.

Upstream: every gate that pkg/scheduler and what it calls look at.
"""

from __future__ import annotations

from collections.abc import Mapping

DECIDING: Mapping[str, str] = {
    "CSIMigrationGCE": "whether volumes of GCE disks can count for their CSI driver",
    "CSIMigrationPortworx": "whether volumes of Portworx can count for their CSI driver",
    "CSIMigrationRBD": "whether volumes of RBD can count for their CSI driver",
    "DRAAdminAccess": "whether a claim may ask for devices that are in use",
    "DRAPrioritizedList": "whether a request may list alternatives",
    "DynamicResourceAllocation": "whether claims for devices are looked at",
    "InPlacePodVerticalScaling": "whether the resources in a pod's status count",
    "MatchLabelKeysInPodTopologySpread": "whether matchLabelKeys of spread constraints count",
    "MinDomainsInPodTopologySpread": "whether minDomains of spread constraints counts",
    "NodeInclusionPolicyInPodTopologySpread": "whether the two inclusion policies of spread constraints count",
    "PodDisruptionConditions": "whether pods that leave for another reason keep a pod from preempting again",
    "PodLevelResources": "whether the requests of the pod as a whole count",
    "PodSchedulingReadiness": "whether pods with scheduling gates are held back",
    "ReadWriteOncePod": "whether a claim with that access mode keeps a second pod out",
    "SchedulerAsyncPreemption": "whether a pod waits until its victims are being deleted",
    "SchedulerPopFromBackoffQ": "whether pods that wait after a failure are tried once no other is left",
    "SchedulerQueueingHints": "which events make a pod that failed be tried again",
    "SidecarContainers": "whether pods with restartable init containers are taken",
    "StorageCapacityScoring": "whether nodes are preferred by the storage that is left",
    "VolumeAttributesClass": "whether claims and volumes with a class of attributes match",
    "VolumeCapacityPriority": "whether volumes are preferred that are hardly larger than their claims",
}
"""Gate that an answer may depend on -> what it decides."""

IDLE: Mapping[str, str] = {
    "ClearingNominatedNodeNameAfterBinding": "the API server alone asks it",
    "DRAControlPlaneController": "it means nothing without DynamicResourceAllocation, which is not modelled where it is known",
    "DRAResourceClaimDeviceStatus": "drivers alone write what it guards; all allocators give the same devices",
    "DRASchedulerFilterTimeout": "a search for devices takes no time here that upstream would cut short",
    "MatchLabelKeysInPodAffinity": "the API server alone asks it, as a pod is created",
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": "the API server alone asks it; a requirement counts the same if it is there twice",
    "PodObservedGenerationTracking": "it adds a number to the conditions of pods, which decides nothing",
    "SchedulerAsyncAPICalls": "calls to the API server are not awaited either way",
}
"""Gate that changes no answer here -> why."""

DECISIVE = frozenset((*DECIDING, *IDLE))
"""The gates that ``releases`` shows, besides those that are not modelled."""
