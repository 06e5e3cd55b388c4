"""The feature gates of kube-scheduler, release by release: each table says what is different from the one before.

Upstream: pkg/features/kube_features.go; the gates of apiserver, client-go and component-base, which are registered too.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...algorithmprovider.releases import GATES_1_16, RELEASES
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


Gatelist = Mapping[str, FeatureGate]
"""Gate -> its default, its stage, and whether it is locked."""

_V1_27 = gates_after(
    MIDDLE_GATES["1.26"],
    alpha="""
        AdmissionWebhookMatchConditions CloudControllerManagerWebhook CloudDualStackNodeIPs ClusterTrustBundle
        InPlacePodVerticalScaling KubeletPodResourcesDynamicResources KubeletPodResourcesGet MultiCIDRServiceAllocator NodeLogQuery
        SecurityContextDeny ServiceNodePortStaticSubrange WatchList
    """,
    beta_off="NewVolumeManagerReconstruction SELinuxMountReadWriteOncePod WatchFromStorageWithoutResourceVersion",
    beta="""
        APISelfSubjectReview APIServerTracing AggregatedDiscoveryEndpoint CSINodeExpandSecret ComponentSLIs ElasticIndexedJob
        HPAContainerMetrics IPTablesOwnershipCleanup KMSv2 KubeletTracing LegacyServiceAccountTokenTracking
        MatchLabelKeysInPodTopologySpread MinDomainsInPodTopologySpread MinimizeIPTablesRestore PDBUnhealthyPodEvictionPolicy
        PodSchedulingReadiness ReadWriteOncePod StableLoadBalancerNodeSet StatefulSetAutoDeletePVC StatefulSetStartOrdinal
    """,
    locked="""
        AdvancedAuditing CSIMigrationAzureFile CSIMigrationvSphere CronJobTimeZone DownwardAPIHugePages GRPCContainerProbe
        JobMutableNodeSchedulingDirectives LegacyServiceAccountTokenNoAutoGeneration OpenAPIV3 SeccompDefault
        ServerSideFieldValidation TopologyManager
    """,
    gone="""
        CSIInlineVolume CSIMigration CSIMigrationAWS CSIMigrationAzureDisk ControllerManagerLeaderMigration DaemonSetUpdateSurge
        EphemeralContainers ExpandCSIVolumes ExpandInUsePersistentVolumes ExpandPersistentVolumes IdentifyPodOS
        LocalStorageCapacityIsolation NetworkPolicyEndPort StatefulSetMinReadySeconds
    """,
)
_V1_28 = gates_after(
    _V1_27,
    alpha="""
        CRDValidationRatcheting ConsistentListFromCache DevicePluginCDIDevices JobBackoffLimitPerIndex JobPodReplacementPolicy
        KubeProxyDrainingTerminatingNodes KubeletCgroupDriverFromCRI LegacyServiceAccountTokenCleanUp
        PersistentVolumeLastPhaseTransitionTime PodHostIPs PodReadyToStartContainersCondition SidecarContainers
        SkipReadOnlyValidationGCE UnknownVersionInteroperabilityProxy UserNamespacesSupport
    """,
    beta_off="KMSv2KDF NodeSwap SchedulerQueueingHints ValidatingAdmissionPolicy",
    beta="""
        AdmissionWebhookMatchConditions CronJobsScheduledAnnotation NewVolumeManagerReconstruction PodIndexLabel
        SELinuxMountReadWriteOncePod SeparateCacheWatchRPC ServiceNodePortStaticSubrange TopologyManagerPolicyBetaOptions
        TopologyManagerPolicyOptions
    """,
    locked="""
        APISelfSubjectReview ExpandedDNSConfig IPTablesOwnershipCleanup KubeletPodResources KubeletPodResourcesGetAllocatable
        LegacyServiceAccountTokenTracking MinimizeIPTablesRestore NodeOutOfServiceVolumeDetach ProbeTerminationGracePeriod
        ProxyTerminatingEndpoints RetroactiveDefaultStorageClass
    """,
    deprecated_on="KMSv1",
    deprecated="CSIMigrationRBD DefaultHostNetworkHostPortsInPodTemplates InTreePluginRBDUnregister",
    deprecated_locked="ExperimentalHostUserNamespaceDefaulting",
    gone="""
        AdvancedAuditing CSIMigrationGCE CSIStorageCapacity DelegateFSGroupToCSIDriver DevicePlugins DisableAcceleratorUsageMetrics
        DryRun EndpointSliceTerminatingCondition KubeletCredentialProviders MixedProtocolLBService NetworkPolicyStatus
        PodHasNetworkCondition PodSecurity ServiceIPStaticSubrange ServiceInternalTrafficPolicy UserNamespacesStatelessPodsSupport
        WindowsHostProcessContainers
    """,
)
_V1_29 = gates_after(
    _V1_28,
    alpha="""
        ClusterTrustBundleProjection DisableNodeKubeProxyVersion ImageMaximumGCAge KubeletSeparateDiskGC LoadBalancerIPMode
        MatchLabelKeysInPodAffinity NFTablesProxyMode PodLifecycleSleepAction RuntimeClassInImageCriApi ServiceAccountTokenJTI
        ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
        StructuredAuthenticationConfiguration StructuredAuthorizationConfiguration TranslateStreamCloseWebsocketRequests
        UserNamespacesPodSecurityStandards VolumeAttributesClass
    """,
    beta_off="ZeroLimitedNominalConcurrencyShares",
    beta="""
        CloudDualStackNodeIPs DevicePluginCDIDevices DisableCloudProviders DisableKubeletCloudCredentialProviders
        JobBackoffLimitPerIndex JobPodReplacementPolicy LegacyServiceAccountTokenCleanUp PersistentVolumeLastPhaseTransitionTime
        PodHostIPs PodReadyToStartContainersCondition SeparateTaintEvictionController SidecarContainers
        UnauthenticatedHTTP2DOSMitigation
    """,
    locked="""
        APIListChunking APIPriorityAndFairness CSINodeExpandSecret CustomResourceValidationExpressions JobReadyPods KMSv2 KMSv2KDF
        ReadWriteOncePod RemainingItemCount ServiceNodePortStaticSubrange
    """,
    deprecated_on="SkipReadOnlyValidationGCE",
    deprecated="AllowServiceLBStatusOnNonLB KMSv1",
    gone="""
        CSIMigrationvSphere CronJobTimeZone DownwardAPIHugePages GRPCContainerProbe JobMutableNodeSchedulingDirectives
        JobTrackingWithFinalizers LegacyServiceAccountTokenNoAutoGeneration MultiCIDRRangeAllocator OpenAPIV3
        ProbeTerminationGracePeriod RetroactiveDefaultStorageClass SeccompDefault TopologyManager
    """,
)
_V1_30 = gates_after(
    _V1_29,
    alpha="""
        APIServingWithRoutine CustomResourceFieldSelectors InformerResourceVersion JobManagedBy JobSuccessPolicy
        MutatingAdmissionPolicy PortForwardWebsockets RecursiveReadOnlyMounts RelaxedEnvironmentVariableValidation RetryGenerateName
        SELinuxMount ServiceTrafficDistribution StorageVersionMigrator
    """,
    beta_off="""
        ContextualLogging NodeLogQuery OrderedNamespaceDeletion StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks
        UserNamespacesSupport WatchListClient
    """,
    beta="""
        AppArmorFields CRDValidationRatcheting ContainerCheckpoint ImageMaximumGCAge KubeProxyDrainingTerminatingNodes
        LoadBalancerIPMode NodeSwap PodLifecycleSleepAction ServiceAccountTokenJTI ServiceAccountTokenNodeBindingValidation
        ServiceAccountTokenPodNodeInfo StorageNamespaceIndex StructuredAuthenticationConfiguration
        StructuredAuthorizationConfiguration TranslateStreamCloseWebsocketRequests
    """,
    locked="""
        AdmissionWebhookMatchConditions AggregatedDiscoveryEndpoint CloudDualStackNodeIPs ConsistentHTTPGetHandlers
        HPAContainerMetrics LegacyServiceAccountTokenCleanUp MinDomainsInPodTopologySpread NewVolumeManagerReconstruction PodHostIPs
        PodSchedulingReadiness StableLoadBalancerNodeSet ValidatingAdmissionPolicy ZeroLimitedNominalConcurrencyShares
    """,
    gone="""
        APISelfSubjectReview CSIMigrationAzureFile ExpandedDNSConfig ExperimentalHostUserNamespaceDefaulting
        IPTablesOwnershipCleanup KubeletPodResources KubeletPodResourcesGetAllocatable LegacyServiceAccountTokenTracking
        MinimizeIPTablesRestore ProxyTerminatingEndpoints RemoveSelfLink SecurityContextDeny
    """,
)
_V1_31 = gates_after(
    _V1_30,
    alpha="""
        AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors CoordinatedLeaderElection
        DRAControlPlaneController DisableAllocatorDualWrite ImageVolume ResourceHealthStatus SupplementalGroupsPolicy
    """,
    beta_off="""
        ConcurrentWatchObjectDecode LocalStorageCapacityIsolationFSQuotaMonitoring MultiCIDRServiceAllocator ProcMountType
        VolumeAttributesClass WatchCacheInitializationPostStartHook
    """,
    beta="""
        CSIMigrationPortworx ConsistentListFromCache CustomResourceFieldSelectors HonorPVReclaimPolicy JobSuccessPolicy
        KubeletCgroupDriverFromCRI KubeletSeparateDiskGC MatchLabelKeysInPodAffinity NFTablesProxyMode PortForwardWebsockets
        RecursiveReadOnlyMounts ReloadKubeletServerCertificateFile ResilientWatchCacheInitialization RetryGenerateName
        ServiceAccountTokenNodeBinding ServiceTrafficDistribution
    """,
    locked="""
        AppArmor AppArmorFields DevicePluginCDIDevices DisableCloudProviders DisableKubeletCloudCredentialProviders
        ElasticIndexedJob JobPodFailurePolicy KubeProxyDrainingTerminatingNodes LogarithmicScaleDown PDBUnhealthyPodEvictionPolicy
        PersistentVolumeLastPhaseTransitionTime PodDisruptionConditions StatefulSetStartOrdinal
    """,
    deprecated="AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests DisableNodeKubeProxyVersion",
    gone="""
        APIPriorityAndFairness CSIMigrationRBD CSINodeExpandSecret ConsistentHTTPGetHandlers CustomResourceValidationExpressions
        DefaultHostNetworkHostPortsInPodTemplates InTreePluginAWSUnregister InTreePluginAzureDiskUnregister
        InTreePluginAzureFileUnregister InTreePluginGCEUnregister InTreePluginOpenStackUnregister InTreePluginRBDUnregister
        InTreePluginvSphereUnregister JobReadyPods ReadWriteOncePod ServiceNodePortStaticSubrange SkipReadOnlyValidationGCE
    """,
)
_V1_32 = gates_after(
    _V1_31,
    alpha="""
        AllowUnsafeMalformedObjectDeletion CBORServingAndStorage ClientsAllowCBOR ClientsPreferCBOR ComponentFlagz ComponentStatusz
        DRAAdminAccess DRAResourceClaimDeviceStatus ExternalServiceAccountTokenSigner InPlacePodVerticalScalingAllocatedStatus
        InPlacePodVerticalScalingExclusiveCPUs KubeletCrashLoopBackOffMax KubeletFineGrainedAuthz PodLevelResources
        PodLifecycleSleepActionAllowZero PodLogsQuerySplitStreams RelaxedDNSSearchValidation RemoteRequestHeaderUID
        SELinuxChangePolicy SchedulerAsyncPreemption WindowsCPUAndMemoryAffinity WindowsGracefulNodeShutdown
    """,
    beta_off="DynamicResourceAllocation ServiceAccountNodeAudienceRestriction",
    beta="""
        AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache JobManagedBy
        RecoverVolumeExpansionFailure RelaxedEnvironmentVariableValidation SchedulerQueueingHints SystemdWatchdog WatchList
    """,
    ga="TopologyManagerPolicyOptions",
    locked="""
        ComponentSLIs CronJobsScheduledAnnotation CustomResourceFieldSelectors LoadBalancerIPMode MemoryManager PodIndexLabel
        RetryGenerateName ServiceAccountTokenJTI ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
        SizeMemoryBackedVolumes StatefulSetAutoDeletePVC StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks
        StructuredAuthorizationConfiguration
    """,
    deprecated="AllowOverwriteTerminationGracePeriodSeconds KubeletRegistrationGetOnExistsOnly",
    deprecated_locked="AllowServiceLBStatusOnNonLB",
    gone="""
        CloudDualStackNodeIPs DRAControlPlaneController HPAContainerMetrics KMSv2 KMSv2KDF LegacyServiceAccountTokenCleanUp
        MinDomainsInPodTopologySpread NewVolumeManagerReconstruction NodeOutOfServiceVolumeDetach OrderedNamespaceDeletion
        PodHostIPs ServerSideApply ServerSideFieldValidation StableLoadBalancerNodeSet ValidatingAdmissionPolicy
        ZeroLimitedNominalConcurrencyShares
    """,
)
_V1_33 = gates_after(
    _V1_32,
    alpha="""
        ContainerStopSignals DRADeviceTaints DRAPartitionableDevices DRAPrioritizedList DeploymentReplicaSetTerminatingReplicas
        HPAConfigurableTolerance KubeletEnsureSecretPulledImages KubeletPSI KubeletServiceAccountTokenForCredentialProviders
        ListFromCacheSnapshot MutableCSINodeAllocatableCount PodObservedGenerationTracking PodTopologyLabelsAdmission
        PreferSameTrafficDistribution ReduceDefaultCrashLoopBackOffDecay StorageCapacityScoring StrictIPCIDRValidation
    """,
    beta_off="""
        ClusterTrustBundle ClusterTrustBundleProjection CoordinatedLeaderElection DeclarativeValidationTakeover
        DisableAllocatorDualWrite ImageVolume SELinuxMount WatchList
    """,
    beta="""
        AllowParsingUserUIDFromCertAuth ContextualLogging DRAResourceClaimDeviceStatus DeclarativeValidation
        DisableCPUQuotaWithExclusiveCPUs InOrderInformers InPlacePodVerticalScaling KubeletFineGrainedAuthz OrderedNamespaceDeletion
        PodLifecycleSleepActionAllowZero ProcMountType RelaxedDNSSearchValidation RemoteRequestHeaderUID SELinuxChangePolicy
        SchedulerAsyncPreemption SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction StreamingCollectionEncodingToJSON
        StreamingCollectionEncodingToProtobuf SupplementalGroupsPolicy UserNamespacesSupport WinDSR
    """,
    ga="MultiCIDRServiceAllocator",
    locked="""
        AnyVolumeDataSource BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIMigrationPortworx
        HonorPVReclaimPolicy JobBackoffLimitPerIndex JobSuccessPolicy MatchLabelKeysInPodAffinity NFTablesProxyMode
        NodeInclusionPolicyInPodTopologySpread RecursiveReadOnlyMounts ServiceAccountTokenNodeBinding ServiceTrafficDistribution
        SidecarContainers TopologyAwareHints
    """,
    deprecated_on="AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion StorageNamespaceIndex",
    deprecated="""
        GitRepoVolumeDriver InPlacePodVerticalScalingAllocatedStatus LegacySidecarContainers SeparateCacheWatchRPC
        WindowsHostNetwork
    """,
    deprecated_locked="WatchFromStorageWithoutResourceVersion",
    gone="""
        APIListChunking AdmissionWebhookMatchConditions AggregatedDiscoveryEndpoint AppArmor AppArmorFields CPUManager
        DisableCloudProviders DisableKubeletCloudCredentialProviders EfficientWatchResumption JobPodFailurePolicy
        KubeProxyDrainingTerminatingNodes PDBUnhealthyPodEvictionPolicy PersistentVolumeLastPhaseTransitionTime RemainingItemCount
        VolumeCapacityPriority WatchBookmark
    """,
)
_V1_34 = gates_after(
    _V1_33,
    alpha="""
        ClearingNominatedNodeNameAfterBinding ContainerRestartRules DRAConsumableCapacity DRADeviceBindingConditions
        DRAExtendedResource EnvFiles HostnameOverride InPlacePodVerticalScalingExclusiveMemory NominatedNodeNameForExpectation
        PodCertificateRequest RelaxedServiceNameValidation
    """,
    beta_off="MutableCSINodeAllocatableCount MutatingAdmissionPolicy",
    beta="""
        DRAAdminAccess DRAPrioritizedList DRASchedulerFilterTimeout DetectCacheInconsistency ExternalServiceAccountTokenSigner
        KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletServiceAccountTokenForCredentialProviders
        ListFromCacheSnapshot MatchLabelKeysInPodTopologySpreadSelectorMerge PodLevelResources PodObservedGenerationTracking
        PreferSameTrafficDistribution PreventStaticPodAPIReferences SchedulerAsyncAPICalls SizeBasedListCostEstimate
        StructuredAuthenticationConfigurationEgressSelector TokenRequestServiceAccountUIDValidation WatchList
        WindowsGracefulNodeShutdown
    """,
    ga="DisableAllocatorDualWrite DynamicResourceAllocation VolumeAttributesClass",
    locked="""
        APIServerTracing AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors
        ConsistentListFromCache JobPodReplacementPolicy KubeletCgroupDriverFromCRI KubeletTracing MultiCIDRServiceAllocator NodeSwap
        OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero ProbeHostPodSecurityStandards
        RecoverVolumeExpansionFailure RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
        ResilientWatchCacheInitialization SchedulerQueueingHints SeparateTaintEvictionController StreamingCollectionEncodingToJSON
        StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration WinDSR WinOverlay
    """,
    deprecated_on="KubeletPodResourcesListUseActivePods",
    gone="DevicePluginCDIDevices ElasticIndexedJob LegacySidecarContainers PodDisruptionConditions StatefulSetStartOrdinal",
)
_V1_35 = gates_after(
    _V1_34,
    alpha="""
        CloudControllerManagerWatchBasedRoutesReconciliation ConstrainedImpersonation DRADeviceTaintRules GangScheduling
        GenericWorkload InPlacePodLevelResourcesVerticalScaling MutablePVNodeAffinity MutablePodResourcesForSuspendedJobs
        MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures RestartAllContainersOnContainerExits
        TaintTolerationComparisonOperators UserNamespacesHostNetworkSupport VolumeLimitScaling
    """,
    beta_off="""
        CRDObservedGenerationTracking MaxUnavailableStatefulSet PodCertificateRequest SchedulerAsyncAPICalls StorageVersionMigrator
    """,
    beta="""
        AuthorizePodWebsocketUpgradeCreatePermission CSIServiceAccountTokenSecrets ClearingNominatedNodeNameAfterBinding
        ContainerRestartRules DeploymentReplicaSetTerminatingReplicas EnvFiles HPAConfigurableTolerance HostnameOverride ImageVolume
        InOrderInformersBatchProcess KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages MutableCSINodeAllocatableCount
        NominatedNodeNameForExpectation OpportunisticBatching PodTopologyLabelsAdmission StatefulSetSemanticRevisionComparison
        StructuredAuthenticationConfigurationJWKSMetrics WatchListClient
    """,
    ga="InformerResourceVersion",
    locked="""
        DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout ImageMaximumGCAge InPlacePodVerticalScaling
        JobManagedBy PodObservedGenerationTracking PreferSameTrafficDistribution SupplementalGroupsPolicy SystemdWatchdog
    """,
    deprecated="ChangeContainerStatusOnKubeletRestart",
    deprecated_locked="AllowOverwriteTerminationGracePeriodSeconds",
    deprecated_on_locked="AggregatedDiscoveryRemoveBetaType",
    gone="""
        AllowServiceLBStatusOnNonLB ComponentSLIs CronJobsScheduledAnnotation LoadBalancerIPMode PodIndexLabel
        ProbeHostPodSecurityStandards SizeMemoryBackedVolumes StatefulSetAutoDeletePVC StrictCostEnforcementForVAP
        StrictCostEnforcementForWebhooks UserNamespacesPodSecurityStandards
    """,
)
_V1_36 = gates_after(
    _V1_35,
    alpha="""
        CRIListStreaming ControllerManagerReleaseLeaderElectionLockOnExit DRAListTypeAttributes DRANodeAllocatableResources
        DRAResourcePoolStatus DRAWorkloadResourceClaims ImageVolumeWithDigest ManifestBasedAdmissionControlConfig NativeHistograms
        PersistentVolumeClaimUnusedSinceTime PodLevelResourceManagers PodsAPI ShardedListAndWatch TopologyAwareWorkloadScheduling
        WorkloadAwarePreemption WorkloadWithJob
    """,
    beta_off="DRADeviceTaintRules",
    beta="""
        AtomicFIFO CRDObservedGenerationTracking ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz ComponentStatusz
        ConstrainedImpersonation DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource
        DRAPartitionableDevices DRAResourceClaimGranularStatusAuthorization DeclarativeValidationBeta ExtendWebSocketsToKubelet
        InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingInitContainers MutablePodResourcesForSuspendedJobs
        MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures PLEGOnDemandRelist RelaxedServiceNameValidation
        ReloadKubeletClientCAFile ResourceHealthStatus ResourceHealthStatusMessage RestartAllContainersOnContainerExits
        StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
        StaleControllerConsistencyStatefulSet StrictIPCIDRValidation UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO
        WatchCacheInitializationPostStartHook
    """,
    ga="AllowServiceExternalIPs CustomCPUCFSQuotaPeriod DRAPrioritizedList MutatingAdmissionPolicy",
    locked="""
        CSIServiceAccountTokenSecrets DRAAdminAccess DeclarativeValidation ExternalServiceAccountTokenSigner ImageVolume
        InOrderInformers KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet
        MutableCSINodeAllocatableCount NodeLogQuery ProcMountType SELinuxChangePolicy SELinuxMountReadWriteOncePod
        TopologyManagerPolicyOptions UserNamespacesSupport VolumeAttributesClass
    """,
    deprecated_on="DisableCPUQuotaWithExclusiveCPUs ServiceCIDRStatusFieldWiping",
    deprecated="DeclarativeValidationTakeover",
    deprecated_locked="GitRepoVolumeDriver SeparateCacheWatchRPC",
    deprecated_on_locked="DisableNodeKubeProxyVersion",
    gone="""
        CSIMigrationPortworx HonorPVReclaimPolicy InPlacePodVerticalScalingAllocatedStatus InTreePluginPortworxUnregister
        MemoryManager ServiceTrafficDistribution StructuredAuthorizationConfiguration TopologyAwareHints
        WatchFromStorageWithoutResourceVersion
    """,
)

_BY_RELEASE: Mapping[str, Gatelist] = MappingProxyType(
    {
        **{version: release.gates for version, release in RELEASES.items()},
        **MIDDLE_GATES,
        "1.27": _V1_27, "1.28": _V1_28, "1.29": _V1_29, "1.30": _V1_30,
        "1.31": _V1_31, "1.32": _V1_32, "1.33": _V1_33, "1.34": _V1_34, "1.35": _V1_35,
        "1.36": _V1_36,
    }
)  # fmt: skip


def gates_of(version: str) -> Gatelist:
    """The gates of a release of the framework, for the tables of releases."""
    return _BY_RELEASE[version]


# --- gates that need gates -----------------------------------------------------------------------------------------

_NEEDS = """
    DRADeviceBindingConditions:DRAResourceClaimDeviceStatus DRADeviceTaintRules:DRADeviceTaints
    ClusterTrustBundleProjection:ClusterTrustBundle DeclarativeValidationTakeover:DeclarativeValidation GangScheduling:GenericWorkload
    GracefulNodeShutdownBasedOnPodPriority:GracefulNodeShutdown
    InPlacePodLevelResourcesVerticalScaling:PodLevelResources,NodeDeclaredFeatures
    MatchLabelKeysInPodTopologySpreadSelectorMerge:MatchLabelKeysInPodTopologySpread
    RestartAllContainersOnContainerExits:ContainerRestartRules,NodeDeclaredFeatures StorageVersionAPI:APIServerIdentity
    UnknownVersionInteroperabilityProxy:APIServerIdentity WindowsGracefulNodeShutdown:GracefulNodeShutdown
"""
_NEEDS_BY_RELEASE = {
    "1.35": f"{_NEEDS} ProcMountType:UserNamespacesSupport UserNamespacesHostNetworkSupport:UserNamespacesSupport",
    "1.36": f"""{_NEEDS}
        DRAResourceClaimGranularStatusAuthorization:DRAResourceClaimDeviceStatus DRAWorkloadResourceClaims:GenericWorkload
        DeclarativeValidationBeta:DeclarativeValidation ExtendWebSocketsToKubelet:NodeDeclaredFeatures
        InPlacePodVerticalScalingInitContainers:NodeDeclaredFeatures PodLevelResourceManagers:PodLevelResources
        ResourceHealthStatusMessage:ResourceHealthStatus TopologyAwareWorkloadScheduling:GenericWorkload
        UserNamespacesHostNetworkSupport:NodeDeclaredFeatures WorkloadAwarePreemption:GangScheduling WorkloadWithJob:GenericWorkload
    """,
}


def needs_of(version: str) -> Mapping[str, tuple[str, ...]]:
    """Gate of *version* -> the gates that it needs, but for those that are always on."""
    pairs = (word.partition(":") for word in _NEEDS_BY_RELEASE[version].split())
    return MappingProxyType({gate: tuple(needed.split(",")) for gate, _, needed in pairs})


def settled_by(version: str) -> frozenset[str]:
    """The gates of older releases that are gone in *version*, and were on: what they guarded is always there."""
    known = _BY_RELEASE[version]
    older = (gates for release, gates in _BY_RELEASE.items() if release < version)
    latest = {name: gate for gates in older for name, gate in gates.items()}
    return frozenset(name for name, gate in latest.items() if gate.default and name not in known)
