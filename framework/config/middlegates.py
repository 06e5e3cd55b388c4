"""The feature gates of kube-scheduler from 1.17 to 1.26: each table says what is different from the one before.

Upstream: pkg/features/kube_features.go; the gates of apiserver and component-base, which are registered too.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...algorithmprovider.releases import GATES_1_16
from ...core.release import FeatureGate, gates_after

_V1_17 = gates_after(
    GATES_1_16,
    alpha="""
        APIPriorityAndFairness CSIMigrationAWSComplete CSIMigrationAzureDiskComplete CSIMigrationAzureFileComplete
        CSIMigrationGCEComplete CSIMigrationOpenStackComplete RemoveSelfLink ServiceTopology WinDSR WinOverlay
    """,
    beta_off="AllBeta CSIMigrationAWS CSIMigrationGCE EndpointSlice",
    beta="""
        AllowInsecureBackendProxy CSIMigration PodDisruptionBudget RemainingItemCount StorageVersionHash VolumeSnapshotDataSource
        WindowsRunAsUserName
    """,
    locked="""
        AttachVolumeLimit CSINodeInfo CustomResourceDefaulting NodeLease PodShareProcessNamespace ResourceQuotaScopeSelectors
        ScheduleDaemonSetPods ServiceLoadBalancerFinalizer TaintNodesByCondition VolumeSubpathEnvExpansion WatchBookmark
    """,
    gone="""
        EnableAggregatedDiscoveryTimeout GCERegionalPersistentDisk MountContainers PersistentLocalVolumes RequestManagement
    """,
)
_V1_18 = gates_after(
    _V1_17,
    alpha="""
        AnyVolumeDataSource ConfigurableFSGroupPolicy EndpointSliceProxying HugePageStorageMediumSize ImmutableEphemeralVolumes
        SelectorIndex ServiceAccountIssuerDiscovery ServiceAppProtocol
    """,
    beta_off="CSIMigrationOpenStack",
    beta="DefaultIngressClass EndpointSlice EvenPodsSpread PodOverhead StartupProbe TopologyManager",
    locked="""
        BlockVolume CSIBlockVolume CSIDriverRegistry TaintBasedEvictions VolumePVCDataSource WindowsGMSA WindowsRunAsUserName
    """,
    deprecated_on="StreamingProxyRedirects",
    ga_off="ExternalPolicyForExternalIP",
    gone="""
        CustomResourceDefaulting CustomResourcePublishOpenAPI CustomResourceSubresources CustomResourceValidation
        CustomResourceWebhookConversion PodPriority ResourceQuotaScopeSelectors ScheduleDaemonSetPods TaintNodesByCondition
    """,
)
_V1_19 = gates_after(
    _V1_18,
    alpha="""
        CSIStorageCapacity CSIVolumeFSGroupPolicy DefaultPodTopologySpread GenericEphemeralVolume SetHostnameAsFQDN
        WindowsEndpointSliceProxying
    """,
    beta_off="CSIMigrationAzureDisk CSIMigrationvSphere CSIMigrationvSphereComplete",
    beta="""
        EndpointSliceProxying HugePageStorageMediumSize ImmutableEphemeralVolumes LegacyNodeRoleBehavior NodeDisruptionExclusion
        NonPreemptingPriority SCTPSupport SelectorIndex ServiceAppProtocol ServiceNodeExclusion WarningHeaders
    """,
    ga="DryRun ExternalPolicyForExternalIP",
    locked="DefaultIngressClass EvenPodsSpread RotateKubeletClientCertificate",
    gone="DynamicAuditing PodShareProcessNamespace ResourceLimitsPriorityFunction VolumeSubpathEnvExpansion",
)
_V1_20 = gates_after(
    _V1_19,
    alpha="""
        APIServerIdentity CSIServiceAccountToken CronJobControllerV2 DownwardAPIHugePages EfficientWatchResumption
        EndpointSliceNodeName EndpointSliceTerminatingCondition GracefulNodeShutdown HPAContainerMetrics KubeletCredentialProviders
        MixedProtocolLBService ServiceLBNodePortControl SizeMemoryBackedVolumes StorageVersionAPI
    """,
    beta="""
        APIPriorityAndFairness CSIVolumeFSGroupPolicy ConfigurableFSGroupPolicy DefaultPodTopologySpread
        DisableAcceleratorUsageMetrics RemoveSelfLink RootCAConfigMap ServiceAccountIssuerDiscovery SetHostnameAsFQDN WinOverlay
    """,
    ga="ExecProbeTimeout",
    locked="""
        ExternalPolicyForExternalIP RuntimeClass SCTPSupport SelectorIndex ServiceAppProtocol StartupProbe SupportNodePidsLimit
        SupportPodPidsLimit TokenRequest TokenRequestProjection VolumeSnapshotDataSource
    """,
    deprecated="HyperVContainer",
    gone="DefaultIngressClass ServiceLoadBalancerFinalizer SupportIPVSProxyMode TaintBasedEvictions",
)
_V1_21 = gates_after(
    _V1_20,
    alpha="""
        CSIVolumeHealth DaemonSetUpdateSurge InTreePluginAWSUnregister InTreePluginAzureDiskUnregister
        InTreePluginAzureFileUnregister InTreePluginGCEUnregister InTreePluginOpenStackUnregister InTreePluginvSphereUnregister
        IndexedJob IngressClassNamespacedParams KubeletPodResourcesGetAllocatable LogarithmicScaleDown MemoryManager
        NetworkPolicyEndPort PodAffinityNamespaceSelector PodDeletionCost PreferNominatedNode ProbeTerminationGracePeriod
        ServiceInternalTrafficPolicy ServiceLoadBalancerClass SuspendJob TopologyAwareHints VolumeCapacityPriority
    """,
    beta_off="CSIMigrationAzureFile DownwardAPIHugePages",
    beta="""
        BoundServiceAccountTokenVolume CSIMigrationOpenStack CSIServiceAccountToken CSIStorageCapacity CronJobControllerV2
        EfficientWatchResumption GenericEphemeralVolume GracefulNodeShutdown IPv6DualStack NamespaceDefaultLabelName
        TTLAfterFinished WindowsEndpointSliceProxying
    """,
    locked="""
        AllowInsecureBackendProxy CRIContainerLogRotation EndpointSlice EndpointSliceNodeName ImmutableEphemeralVolumes
        LegacyNodeRoleBehavior NodeDisruptionExclusion PodDisruptionBudget RootCAConfigMap RunAsGroup ServiceAccountIssuerDiscovery
        ServiceNodeExclusion Sysctls
    """,
    gone="""
        AttachVolumeLimit BlockVolume CSIBlockVolume CSIDriverRegistry CSIMigrationAWSComplete CSIMigrationAzureDiskComplete
        CSIMigrationAzureFileComplete CSIMigrationGCEComplete CSIMigrationOpenStackComplete CSINodeInfo EvenPodsSpread
        HyperVContainer RotateKubeletClientCertificate TokenRequest TokenRequestProjection VolumePVCDataSource WindowsGMSA
        WindowsRunAsUserName
    """,
)
_V1_22 = gates_after(
    _V1_21,
    alpha="""
        APIServerTracing CPUManagerPolicyOptions DelegateFSGroupToCSIDriver DisableCloudProviders ExpandedDNSConfig
        JobTrackingWithFinalizers KubeletInUserNamespace MemoryQoS NodeSwap PodSecurity ProxyTerminatingEndpoints ReadWriteOncePod
        SeccompDefault StatefulSetMinReadySeconds WindowsHostProcessContainers
    """,
    beta_off="ProbeTerminationGracePeriod",
    beta="""
        CSRDuration ControllerManagerLeaderMigration DaemonSetUpdateSurge EndpointSliceTerminatingCondition IndexedJob
        IngressClassNamespacedParams LogarithmicScaleDown MemoryManager NetworkPolicyEndPort PodAffinityNamespaceSelector
        PodDeletionCost PreferNominatedNode ServiceInternalTrafficPolicy ServiceLBNodePortControl ServiceLoadBalancerClass
        SizeMemoryBackedVolumes SuspendJob
    """,
    ga="ServerSideApply",
    locked="""
        BoundServiceAccountTokenVolume CSIServiceAccountToken CronJobControllerV2 EndpointSliceProxying HugePageStorageMediumSize
        NamespaceDefaultLabelName SetHostnameAsFQDN WarningHeaders WindowsEndpointSliceProxying
    """,
    deprecated="DynamicKubeletConfig StreamingProxyRedirects",
    deprecated_on="ValidateProxyRedirects",
    gone="""
        BalanceAttachedNodeVolumes CRIContainerLogRotation CSIMigrationvSphereComplete ExternalPolicyForExternalIP
        LegacyNodeRoleBehavior NodeDisruptionExclusion RootCAConfigMap RunAsGroup SCTPSupport ServiceAppProtocol
        ServiceNodeExclusion ServiceTopology VolumeSnapshotDataSource
    """,
)
_V1_23 = gates_after(
    _V1_22,
    alpha="""
        CPUManagerPolicyAlphaOptions CSIMigrationPortworx CustomResourceValidationExpressions DisableKubeletCloudCredentialProviders
        GRPCContainerProbe GracefulNodeShutdownBasedOnPodPriority HonorPVReclaimPolicy IdentifyPodOS InTreePluginPortworxUnregister
        InTreePluginRBDUnregister JobReadyPods OpenAPIEnums OpenAPIV3 PodAndContainerStatsFromCRI RecoverVolumeExpansionFailure
        ServerSideFieldValidation StatefulSetAutoDeletePVC csiMigrationRBD
    """,
    beta_off="TopologyAwareHints",
    beta="""
        CPUManagerPolicyBetaOptions CPUManagerPolicyOptions CSIMigrationAWS CSIMigrationAzureDisk CSIMigrationGCE
        DelegateFSGroupToCSIDriver DownwardAPIHugePages EphemeralContainers JobMutableNodeSchedulingDirectives
        JobTrackingWithFinalizers KubeletPodResourcesGetAllocatable PodSecurity StatefulSetMinReadySeconds
        WindowsHostProcessContainers
    """,
    locked="""
        CSIVolumeFSGroupPolicy ConfigurableFSGroupPolicy GenericEphemeralVolume IPv6DualStack IngressClassNamespacedParams
        StorageObjectInUseProtection TTLAfterFinished VolumeSubpath
    """,
    gone="""
        AllowInsecureBackendProxy BoundServiceAccountTokenVolume CronJobControllerV2 NodeLease ServiceAccountIssuerDiscovery
        StartupProbe SupportNodePidsLimit SupportPodPidsLimit Sysctls
    """,
)
_V1_24 = gates_after(
    _V1_23,
    alpha="""
        CSIMigrationRBD ContextualLogging CronJobTimeZone MaxUnavailableStatefulSet MinDomainsInPodTopologySpread
        NetworkPolicyStatus NodeOutOfServiceVolumeDetach ServiceIPStaticSubrange
    """,
    beta_off="JobTrackingWithFinalizers",
    beta="""
        AnyVolumeDataSource CSIMigrationAzureFile GRPCContainerProbe GracefulNodeShutdownBasedOnPodPriority IdentifyPodOS
        JobReadyPods KubeletCredentialProviders LegacyServiceAccountTokenNoAutoGeneration MixedProtocolLBService OpenAPIEnums
        OpenAPIV3 TopologyAwareHints
    """,
    ga="CSIMigrationAzureDisk ExpandCSIVolumes ExpandInUsePersistentVolumes ExpandPersistentVolumes",
    locked="""
        CSIMigrationOpenStack CSIStorageCapacity CSRDuration ControllerManagerLeaderMigration DefaultPodTopologySpread
        EfficientWatchResumption IndexedJob NonPreemptingPriority PodAffinityNamespaceSelector PodOverhead PreferNominatedNode
        RemoveSelfLink ServiceLBNodePortControl ServiceLoadBalancerClass SuspendJob
    """,
    gone="""
        HugePageStorageMediumSize ImmutableEphemeralVolumes NamespaceDefaultLabelName RuntimeClass SetHostnameAsFQDN
        StreamingProxyRedirects ValidateProxyRedirects WarningHeaders csiMigrationRBD
    """,
)
_V1_25 = gates_after(
    _V1_24,
    alpha="""
        CSINodeExpandSecret ContainerCheckpoint IPTablesOwnershipCleanup JobPodFailurePolicy KMSv2 KubeletTracing
        LoggingAlphaOptions MatchLabelKeysInPodTopologySpread MultiCIDRRangeAllocator NodeInclusionPolicyInPodTopologySpread
        PodDisruptionConditions PodHasNetworkCondition RetroactiveDefaultStorageClass SELinuxMountReadWriteOncePod
        UserNamespacesStatelessPodsSupport
    """,
    beta_off="CSIMigrationPortworx MinDomainsInPodTopologySpread",
    beta="""
        CSIMigrationvSphere CronJobTimeZone CustomResourceValidationExpressions JobTrackingWithFinalizers LoggingBetaOptions
        ProbeTerminationGracePeriod SeccompDefault ServerSideFieldValidation ServiceIPStaticSubrange
    """,
    locked="""
        CSIInlineVolume CSIMigration CSIMigrationAWS CSIMigrationAzureDisk CSIMigrationGCE DaemonSetUpdateSurge
        DisableAcceleratorUsageMetrics EphemeralContainers IdentifyPodOS LocalStorageCapacityIsolation NetworkPolicyEndPort
        PodSecurity StatefulSetMinReadySeconds
    """,
    gone="""
        CSIServiceAccountToken CSIVolumeFSGroupPolicy ConfigurableFSGroupPolicy EndpointSlice EndpointSliceNodeName
        EndpointSliceProxying GenericEphemeralVolume IPv6DualStack IngressClassNamespacedParams PodDisruptionBudget SelectorIndex
        StorageObjectInUseProtection TTLAfterFinished VolumeSubpath WindowsEndpointSliceProxying
    """,
)
_V1_26 = gates_after(
    _V1_25,
    alpha="""
        APISelfSubjectReview AggregatedDiscoveryEndpoint ComponentSLIs CrossNamespaceVolumeDataSource DynamicResourceAllocation
        EventedPLEG LegacyServiceAccountTokenTracking MinimizeIPTablesRestore PDBUnhealthyPodEvictionPolicy PodSchedulingReadiness
        StatefulSetStartOrdinal TopologyManagerPolicyAlphaOptions TopologyManagerPolicyOptions ValidatingAdmissionPolicy
    """,
    alpha_on="WindowsHostNetwork",
    beta_off="TopologyManagerPolicyBetaOptions UnauthenticatedHTTP2DOSMitigation",
    beta="""
        APIServerIdentity ExpandedDNSConfig JobPodFailurePolicy NodeInclusionPolicyInPodTopologySpread NodeOutOfServiceVolumeDetach
        PodDisruptionConditions ProxyTerminatingEndpoints RetroactiveDefaultStorageClass
    """,
    ga="CSIMigrationAzureFile CSIMigrationvSphere ConsistentHTTPGetHandlers LegacyServiceAccountTokenNoAutoGeneration",
    locked="""
        CPUManager DelegateFSGroupToCSIDriver DevicePlugins DryRun EndpointSliceTerminatingCondition JobTrackingWithFinalizers
        KubeletCredentialProviders MixedProtocolLBService ServerSideApply ServiceIPStaticSubrange ServiceInternalTrafficPolicy
        WindowsHostProcessContainers
    """,
    gone="""
        CSIMigrationOpenStack CSRDuration DefaultPodTopologySpread DynamicKubeletConfig IndexedJob NonPreemptingPriority
        PodAffinityNamespaceSelector PodOverhead PreferNominatedNode ServiceLBNodePortControl ServiceLoadBalancerClass SuspendJob
    """,
)

MIDDLE_GATES: Mapping[str, Mapping[str, FeatureGate]] = MappingProxyType(
    {
        "1.17": _V1_17, "1.18": _V1_18, "1.19": _V1_19, "1.20": _V1_20, "1.21": _V1_21,
        "1.22": _V1_22, "1.23": _V1_23, "1.24": _V1_24, "1.25": _V1_25, "1.26": _V1_26,
    }
)  # fmt: skip
"""Version -> gate -> its default, its stage, and whether it is locked."""
