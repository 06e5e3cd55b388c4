"""The releases 1.12 to 1.16: the first in full, the others by their facts (``facts.py``). No other file compares version numbers.

Where a difference is behaviour, the cell holds the function that does it, named after what it does (``cells.py``). Here are, as changes
over the release before, its gates and the cells besides those that a fact tells: what is around a decision. Patch levels: 1.12.3, 1.13.0,
1.14.0, 1.15.11, 1.16.14; the queue and the nominations of 1.13 are those of its late patch releases, as of 1.13.5.
Upstream of the gates: pkg/features/kube_features.go, with the gates of the API server that it registers too.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from ..choices import DEFAULT_RELEASE as DEFAULT_RELEASE
from ..core.pods import requests
from ..core.release import (
    ConfigurationCells,
    ExtenderCells,
    FeatureGate,
    GateEffect,
    LiveCells,
    NominationCells,
    PreemptionCells,
    QueueCells,
    Release,
    VolumeCells,
    gates_after,
)
from ..core.release.fact import Cells, also, changed_by
from ..core.volumes.intree import MIGRATABLE
from ..exceptions import UnknownNameError
from . import cells
from .facts import CLASSIC_FACTS, NAMING_PLUGINS

GATES_1_12 = gates_after(
    {},
    alpha="""
        APIResponseCompression AllAlpha BalanceAttachedNodeVolumes BlockVolume CSIBlockVolume CSIDriverRegistry CSINodeInfo
        CustomCPUCFSQuotaPeriod DebugContainers DryRun EnableEquivalenceClassCache ExpandInUsePersistentVolumes
        ExperimentalCriticalPodAnnotation HyperVContainer Initializers MountContainers NodeLease ProcMountType QOSReserved
        ResourceLimitsPriorityFunction RunAsGroup RuntimeClass SCTPSupport ServiceNodeExclusion SupportPodPidsLimit
        TTLAfterFinished TaintBasedEvictions VolumeSnapshotDataSource VolumeSubpathEnvExpansion
    """,
    beta="""
        APIListChunking AppArmor AttachVolumeLimit CPUManager CRIContainerLogRotation CSIPersistentVolume CustomPodDNS
        CustomResourceSubresources CustomResourceValidation DevicePlugins DynamicKubeletConfig ExpandPersistentVolumes
        GCERegionalPersistentDisk HugePages KubeletPluginsWatcher LocalStorageCapacityIsolation PersistentLocalVolumes PodPriority
        PodReadinessGates PodShareProcessNamespace ResourceQuotaScopeSelectors RotateKubeletClientCertificate
        RotateKubeletServerCertificate ScheduleDaemonSetPods StreamingProxyRedirects Sysctls TaintNodesByCondition TokenRequest
        TokenRequestProjection VolumeScheduling
    """,
    beta_off="ExperimentalHostUserNamespaceDefaulting",
    ga="AdvancedAuditing MountPropagation StorageObjectInUseProtection SupportIPVSProxyMode VolumeSubpath",
)

GATES_1_13 = gates_after(
    GATES_1_12,
    alpha="BoundServiceAccountTokenVolume CustomResourceWebhookConversion DynamicAuditing KubeletPodResources",
    beta="BlockVolume DryRun TaintBasedEvictions",
    ga="CSIPersistentVolume GCERegionalPersistentDisk KubeletPluginsWatcher VolumeScheduling",
)

GATES_1_14 = gates_after(
    GATES_1_13,
    gone="EnableEquivalenceClassCache Initializers MountPropagation",
    alpha="""
        CSIMigration CSIMigrationAWS CSIMigrationGCE CSIMigrationOpenStack ServerSideApply SupportNodePidsLimit WindowsGMSA
    """,
    beta="CSIBlockVolume CSIDriverRegistry CSINodeInfo NodeLease RunAsGroup SupportPodPidsLimit ValidateProxyRedirects",
    ga="PodPriority",
    locked="CSIPersistentVolume CustomPodDNS HugePages KubeletPluginsWatcher PersistentLocalVolumes VolumeScheduling",
)

GATES_1_15 = gates_after(
    GATES_1_14,
    alpha="""
        CSIInlineVolume CSIMigrationAzureDisk CSIMigrationAzureFile CustomResourceDefaulting ExpandCSIVolumes
        LocalStorageCapacityIsolationFSQuotaMonitoring NonPreemptingPriority RequestManagement ServiceLoadBalancerFinalizer
        VolumePVCDataSource
    """,
    beta="""
        CustomResourcePublishOpenAPI CustomResourceWebhookConversion ExpandInUsePersistentVolumes KubeletPodResources RuntimeClass
        SupportNodePidsLimit VolumeSubpathEnvExpansion
    """,
    locked="GCERegionalPersistentDisk PodReadinessGates",
)

GATES_1_16 = gates_after(
    GATES_1_15,
    gone="""
        CSIPersistentVolume CustomPodDNS DebugContainers ExperimentalCriticalPodAnnotation HugePages KubeletPluginsWatcher
        PodReadinessGates VolumeScheduling
    """,
    alpha="""
        EndpointSlice EphemeralContainers EvenPodsSpread HPAScaleToZero IPv6DualStack NodeDisruptionExclusion PodOverhead
        StartupProbe TopologyManager WindowsRunAsUserName
    """,
    alpha_on="LegacyNodeRoleBehavior",
    beta="""
        APIResponseCompression CSIInlineVolume CustomResourceDefaulting ExpandCSIVolumes ServerSideApply
        ServiceLoadBalancerFinalizer VolumePVCDataSource WindowsGMSA
    """,
    locked="""
        CustomResourcePublishOpenAPI CustomResourceSubresources CustomResourceValidation CustomResourceWebhookConversion
        PodPriority
    """,
    deprecated_on="EnableAggregatedDiscoveryTimeout",
)


PRESSURE = ("CheckNodeMemoryPressure", "CheckNodePIDPressure", "CheckNodeDiskPressure")

TAINT_NODES_BY_CONDITION = GateEffect(
    gate="TaintNodesByCondition",
    registers=("CheckNodeUnschedulable",),
    unregisters=("CheckNodeCondition", *PRESSURE),
    adds=("PodToleratesNodeTaints", "CheckNodeUnschedulable"),
    mandatory=("PodToleratesNodeTaints", "CheckNodeUnschedulable"),
)
RESOURCE_LIMITS = GateEffect(gate="ResourceLimitsPriorityFunction", registers_priority="ResourceLimitsPriority")
EVEN_PODS_SPREAD = GateEffect(
    gate="EvenPodsSpread",
    registers=("EvenPodsSpread",),
    adds=("EvenPodsSpread",),
    registers_priority="EvenPodsSpreadPriority",
    adds_priority=True,
)

USUAL_PREDICATES = (
    "NoVolumeZoneConflict",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxAzureDiskVolumeCount",
    "MaxCSIVolumeCountPred",
    "MatchInterPodAffinity",
    "NoDiskConflict",
    "GeneralPredicates",
    "CheckNodeCondition",
    *PRESSURE,
    "PodToleratesNodeTaints",
    "CheckVolumeBinding",
)
USUAL_PRIORITIES = {
    "SelectorSpreadPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodePreferAvoidPodsPriority": 10000,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
    "ImageLocalityPriority": 1,
}

V1_12 = Release(
    version="1.12",
    ordering=(
        "CheckNodeCondition",
        "CheckNodeUnschedulable",
        "GeneralPredicates",
        "HostName",
        "PodFitsHostPorts",
        "MatchNodeSelector",
        "PodFitsResources",
        "NoDiskConflict",
        "PodToleratesNodeTaints",
        "PodToleratesNodeNoExecuteTaints",
        "CheckNodeLabelPresence",
        "CheckServiceAffinity",
        "MaxEBSVolumeCount",
        "MaxGCEPDVolumeCount",
        "MaxCSIVolumeCountPred",
        "MaxAzureDiskVolumeCount",
        "CheckVolumeBinding",
        "NoVolumeZoneConflict",
        *PRESSURE,
        "MatchInterPodAffinity",
    ),
    predicates=("PodFitsPorts", "PodFitsHostPorts", "PodFitsResources", "HostName", "MatchNodeSelector", *USUAL_PREDICATES),
    default_predicates=USUAL_PREDICATES,
    mandatory_predicates=("CheckNodeCondition",),
    priorities=(
        *USUAL_PRIORITIES,
        "ServiceSpreadingPriority",
        "EqualPriority",
        "MostRequestedPriority",
        "RequestedToCapacityRatioPriority",
    ),
    default_priorities=MappingProxyType(USUAL_PRIORITIES),
    gates=GATES_1_12,
    configuration=ConfigurationCells(
        fields_lacked=frozenset({*NAMING_PLUGINS, "leaderElection.resourceName", "leaderElection.resourceNamespace"})
    ),
    gate_effects=(TAINT_NODES_BY_CONDITION, RESOURCE_LIMITS),
    default_percentage=50,
    texts=MappingProxyType(
        {
            "predicate": 'Invalid predicate name "{name}" specified - no corresponding function found',
            "priority": "Invalid priority name {name} specified - no corresponding function found",
            "overflow": "Total priority of priority functions has overflown",
        }
    ),
    policy_form="JSON",
    ignorable_extenders_last=False,
    extenders=ExtenderCells(
        adds_nodes=True,
        unknown_node='extender "{url}" claims a filtered node "{node}" which is not found in nodeNameToInfo map',
        unknown_candidate="extender: {url} claims to preempt on node: {node} but the node is not found in nodeNameToInfo map",
        keeps_violations=False,
        failure="Failed {verb} with extender at URL {url}, code {code}",
    ),
    equivalence_cache=True,
    incoming=requests.of_all_containers,
    footprint=requests.of_containers,
    incoming_nonzero=requests.nonzero_of_containers,
    footprint_nonzero=requests.nonzero_of_containers,
    zone_key=cells.beta_zone_key,
    snapshot_keeps_nodeless=True,
    transient_reset_all=True,
    nodes_to_find=cells.fixed_share,
    pick_host=cells.round_robin,
    error_joiner=cells.listed,
    binding_failed_reason="BindingRejected",
    reads_out_of_disk=True,
    best_effort_sees_init_containers=False,
    affinity_texts=MappingProxyType(
        {
            "existing": "Failed to get all terms that pod {pod} matches, err: {error}",
            "affinity": "Cannot schedule pod {pod} onto node {node}, because of PodAffinity, err: {error}",
        }
    ),
    spread_matches_any_selector=True,
    ratio_mean=cells.truncated_mean,
    ratio_reads_resources=False,
    selector_text=cells.without_key,
    interpod_counts_by_name=True,
    volumes=VolumeCells(
        migratable=MIGRATABLE,
        counts_unresolved_claims=True,
        csi_reads_unbound_claims=False,
        csi_reads_migration=False,
        unbound_claim_text="PersistentVolumeClaim is not bound: {}",
        zone_needs_scheduling_gate=True,
        binding_gate=True,
        selected_node_is_immediate=True,
        keeps_stale_decisions=True,
        claim_text_has_namespace=False,
        checks_phase=False,
        volume_mode="strict",
        matches_by_beta_class=False,
    ),
    preemption=PreemptionCells(
        refreshes_snapshot=True,
        never_policy=False,
        by_start_time=False,
        needs_priority_gate=True,
        excludes_self=False,
        nominates_before_api=False,
        extender_names_victims=False,
    ),
    queue=QueueCells(
        by_timestamp=False,
        pod_timestamps=False,
        has_backoff=False,
        backoff_forget_after=None,
        update_ends_backoff=True,
        parked_at_most=None,
        move_marker="flag",
        pop_removes_nomination=True,
        parks_by_condition=True,
        finalizers_count=True,
        refusals=(
            "pod is already present in unschedulableQ",
            "pod is already present in the activeQ",
            "pod is already present in the backoffQ",
        ),
        fifo_without_priority=True,
        fifo_wait_doubles=True,
        node_update_filter=False,
        csi_node_events=False,
        skips_condition_updates=False,
        probe_times=False,
    ),
    nominations=NominationCells(by_uid=False, keeps_on_update=False, empty_name_counts=False, asks_lister=False),
    client=cells.FIRST_CLIENT,
    live=LiveCells(binding_failure_texts=False),
)


def _after(release: Release, version: str, gates: Mapping[str, FeatureGate], more: Cells) -> Release:
    """The release after *release*: with what its facts say, its *gates*, and *more* cells."""
    facts = (fact.now for fact in CLASSIC_FACTS if fact.release == version)
    return changed_by(release, (*facts, {"version": version, "gates": gates}, more))


V1_13 = _after(V1_12, "1.13", GATES_1_13, {
    "gate_effects": (TAINT_NODES_BY_CONDITION, replace(RESOURCE_LIMITS, adds_priority=True)),
    "queue.by_timestamp": True,
    "queue.pod_timestamps": True,
    "queue.parked_at_most": 60.0,
    "queue.move_marker": "cycle",
    "queue.pop_removes_nomination": False,
    "queue.node_update_filter": True,
    "queue.probe_times": True,
    "nominations.by_uid": True,
    "client": cells.CLIENT_WITH_DURATIONS,
})  # fmt: skip
V1_14 = _after(V1_13, "1.14", GATES_1_14, {
    "ordering": tuple(" ".join(V1_13.ordering).replace("CheckVolumeBinding", "MaxCinderVolumeCount CheckVolumeBinding").split()),
    "queue.pod_timestamps": False,
    "queue.has_backoff": True,
    "queue.backoff_forget_after": 10.0,
    "queue.parks_by_condition": False,
    "queue.fifo_wait_doubles": False,
    "queue.probe_times": False,
    "live": LiveCells(),
})  # fmt: skip
V1_15 = _after(V1_14, "1.15", GATES_1_15, {
    "queue.fifo_without_priority": False,
    "queue.backoff_forget_after": 20.0,
    "nominations.keeps_on_update": True,
})  # fmt: skip
V1_16 = _after(V1_15, "1.16", GATES_1_16, {
    "ordering": (*V1_15.ordering[:-1], "EvenPodsSpread", "MatchInterPodAffinity"),
    "gate_effects": also(EVEN_PODS_SPREAD),
    "queue.csi_node_events": True,
    "queue.skips_condition_updates": True,
    "client": cells.CLIENT_WITH_BOOKMARKS,
    "live.preempted_text": "Preempted by {pod} on node {node}",
})  # fmt: skip

RELEASES: dict[str, Release] = {release.version: release for release in (V1_12, V1_13, V1_14, V1_15, V1_16)}
"""The releases by version, oldest first."""

PATCH_LEVELS = dict(zip(RELEASES, ("1.12.3", "1.13.0, queue of 1.13.5", "1.14.0", "1.15.11", "1.16.14"), strict=True))
"""Release -> the patch level that it is like."""


def find_release(name: str) -> Release:
    """The release called *name*: ``1.16``, ``v1.16`` or, with any patch level, ``1.16.14``.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for any other.

    >>> find_release("v1.15.3").version
    '1.15'
    """
    version = ".".join(name.removeprefix("v").split(".")[:2])
    if version not in RELEASES:
        raise UnknownNameError(f'release: got "{name}", wanted {", ".join(RELEASES)}')
    return RELEASES[version]
