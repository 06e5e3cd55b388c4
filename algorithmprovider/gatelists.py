"""The feature gates of each release, by maturity: what it changes over the release before. Only ``releases.py`` reads them.

Upstream: pkg/features/kube_features.go, with the gates of the API server that it registers too.
"""

from __future__ import annotations

from ..core.release import gates_after

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
