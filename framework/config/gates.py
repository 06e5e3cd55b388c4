"""The feature gates of the framework's release, and how they may be set.

Upstream: pkg/features/kube_features.go, with the gates of the API server and of component-base, which are registered too.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...algorithmprovider.gates import parse_gates
from ...core.release import Gate, Gates
from ...exceptions import PolicyError

ALL_OF_STAGE = {"AllAlpha": "ALPHA", "AllBeta": "BETA"}
"""Gates that set all gates of a stage, except those set by themselves."""

_ALPHA = """
    AdmissionWebhookMatchConditions AllAlpha CPUManagerPolicyAlphaOptions CSIMigrationRBD CSIVolumeHealth
    CloudControllerManagerWebhook CloudDualStackNodeIPs ClusterTrustBundle ContainerCheckpoint ContextualLogging
    CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod DisableCloudProviders DisableKubeletCloudCredentialProviders
    DynamicResourceAllocation EventedPLEG HPAScaleToZero HonorPVReclaimPolicy InPlacePodVerticalScaling
    InTreePluginAWSUnregister InTreePluginAzureDiskUnregister InTreePluginAzureFileUnregister InTreePluginGCEUnregister
    InTreePluginOpenStackUnregister InTreePluginPortworxUnregister InTreePluginRBDUnregister InTreePluginvSphereUnregister
    KubeletInUserNamespace KubeletPodResourcesDynamicResources KubeletPodResourcesGet
    LocalStorageCapacityIsolationFSQuotaMonitoring LoggingAlphaOptions MaxUnavailableStatefulSet MemoryQoS
    MultiCIDRRangeAllocator MultiCIDRServiceAllocator NetworkPolicyStatus NodeLogQuery NodeSwap PodAndContainerStatsFromCRI
    PodHasNetworkCondition ProcMountType QOSReserved RecoverVolumeExpansionFailure SecurityContextDeny
    ServiceNodePortStaticSubrange TopologyManagerPolicyAlphaOptions TopologyManagerPolicyOptions
    UserNamespacesStatelessPodsSupport ValidatingAdmissionPolicy VolumeCapacityPriority WinDSR
"""
_ALPHA_ON = "WindowsHostNetwork"
_BETA = """
    APIListChunking APIPriorityAndFairness APIResponseCompression APISelfSubjectReview AggregatedDiscoveryEndpoint
    AnyVolumeDataSource AppArmor CPUManagerPolicyBetaOptions CPUManagerPolicyOptions CSINodeExpandSecret ComponentSLIs
    CustomResourceValidationExpressions ElasticIndexedJob ExpandedDNSConfig GracefulNodeShutdown
    GracefulNodeShutdownBasedOnPodPriority HPAContainerMetrics IPTablesOwnershipCleanup JobPodFailurePolicy JobReadyPods
    KubeletPodResources KubeletPodResourcesGetAllocatable KubeletTracing LegacyServiceAccountTokenTracking LogarithmicScaleDown
    LoggingBetaOptions MatchLabelKeysInPodTopologySpread MemoryManager MinDomainsInPodTopologySpread MinimizeIPTablesRestore
    NodeInclusionPolicyInPodTopologySpread NodeOutOfServiceVolumeDetach OpenAPIEnums PDBUnhealthyPodEvictionPolicy
    PodDeletionCost PodDisruptionConditions PodSchedulingReadiness ProbeTerminationGracePeriod ProxyTerminatingEndpoints
    ReadWriteOncePod RetroactiveDefaultStorageClass RotateKubeletServerCertificate SizeMemoryBackedVolumes
    StableLoadBalancerNodeSet StatefulSetAutoDeletePVC StatefulSetStartOrdinal TopologyAwareHints WinOverlay
"""
_BETA_OFF = """
    AllBeta CSIMigrationPortworx ExperimentalHostUserNamespaceDefaulting NewVolumeManagerReconstruction
    SELinuxMountReadWriteOncePod TopologyManagerPolicyBetaOptions UnauthenticatedHTTP2DOSMitigation
    WatchFromStorageWithoutResourceVersion
"""
_GA = "ConsistentHTTPGetHandlers ExecProbeTimeout"
_LOCKED = """
    AdvancedAuditing CPUManager CSIMigrationAzureFile CSIMigrationGCE CSIMigrationvSphere CSIStorageCapacity CronJobTimeZone
    DelegateFSGroupToCSIDriver DevicePlugins DisableAcceleratorUsageMetrics DownwardAPIHugePages DryRun
    EndpointSliceTerminatingCondition GRPCContainerProbe JobMutableNodeSchedulingDirectives JobTrackingWithFinalizers
    KubeletCredentialProviders LegacyServiceAccountTokenNoAutoGeneration MixedProtocolLBService OpenAPIV3 PodSecurity
    SeccompDefault ServerSideApply ServerSideFieldValidation ServiceIPStaticSubrange ServiceInternalTrafficPolicy
    TopologyManager WindowsHostProcessContainers
"""


def _known() -> Mapping[str, Gate]:
    kinds = (
        (Gate(False), _ALPHA),
        (Gate(True), _ALPHA_ON),
        (Gate(True, "BETA"), _BETA),
        (Gate(False, "BETA"), _BETA_OFF),
        (Gate(True, ""), _GA),
        (Gate(True, "", locked=True), _LOCKED),
    )
    return MappingProxyType(dict(sorted((name, gate) for gate, names in kinds for name in names.split())))


GATES: Mapping[str, Gate] = _known()


def resolved_gates(wanted: Mapping[str, bool] | str | None = None, gates: Mapping[str, Gate] = GATES) -> Gates:
    """Every one of *gates* and whether it is on; *wanted* are the changes to the defaults, as a mapping or in the form of the flag.

    Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text. Upstream: featuregate SetFromMap.
    """
    settings = parse_gates(wanted) if isinstance(wanted, str) else dict(wanted or {})
    for name, value in settings.items():
        _check(name, value, gates)
    found = {name: gate.default for name, gate in gates.items()}
    for everything, stage in ALL_OF_STAGE.items():
        if everything in settings:
            found.update({name: settings[everything] for name, gate in gates.items() if gate.stage == stage})
    return MappingProxyType(found | settings)


def _check(name: str, value: bool, gates: Mapping[str, Gate]) -> None:
    gate = gates.get(name)
    if gate is None:
        raise PolicyError(f"unrecognized feature gate: {name}")
    if gate.locked and gate.default != value:
        wanted, kept = (str(setting).lower() for setting in (value, gate.default))
        raise PolicyError(f"cannot set feature gate {name} to {wanted}, feature is locked to {kept}")
