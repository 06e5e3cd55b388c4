"""The feature gates of each release, by maturity: what it changes over the release before. Only ``releases.py`` reads them.

Upstream: pkg/features/kube_features.go, with the gates of the API server that it registers too.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..core.release import FeatureGate

Gates = Mapping[str, FeatureGate]

KINDS = {
    "alpha": FeatureGate(False),
    "alpha_on": FeatureGate(True),
    "beta": FeatureGate(True, "BETA"),
    "beta_off": FeatureGate(False, "BETA"),
    "ga": FeatureGate(True, ""),
    "locked": FeatureGate(True, "", locked=True),
    "deprecated": FeatureGate(True, "DEPRECATED"),
}
"""What the arguments of this file's lists mean: ``alpha`` is off and ``beta`` is on unless the argument says otherwise."""


def _gates(before: Gates | None = None, *, removed: str = "", **kinds: str) -> Gates:
    kept = {name: gate for name, gate in (before or {}).items() if name not in removed.split()}
    kept.update({name: KINDS[kind] for kind, names in kinds.items() for name in names.split()})
    return MappingProxyType(dict(sorted(kept.items())))


GATES_1_12 = _gates(
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

GATES_1_13 = _gates(
    GATES_1_12,
    alpha="BoundServiceAccountTokenVolume CustomResourceWebhookConversion DynamicAuditing KubeletPodResources",
    beta="BlockVolume DryRun TaintBasedEvictions",
    ga="CSIPersistentVolume GCERegionalPersistentDisk KubeletPluginsWatcher VolumeScheduling",
)

GATES_1_14 = _gates(
    GATES_1_13,
    removed="EnableEquivalenceClassCache Initializers MountPropagation",
    alpha="""
        CSIMigration CSIMigrationAWS CSIMigrationGCE CSIMigrationOpenStack ServerSideApply SupportNodePidsLimit WindowsGMSA
    """,
    beta="CSIBlockVolume CSIDriverRegistry CSINodeInfo NodeLease RunAsGroup SupportPodPidsLimit ValidateProxyRedirects",
    ga="PodPriority",
    locked="CSIPersistentVolume CustomPodDNS HugePages KubeletPluginsWatcher PersistentLocalVolumes VolumeScheduling",
)

GATES_1_15 = _gates(
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

GATES_1_16 = _gates(
    GATES_1_15,
    removed="""
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
    deprecated="EnableAggregatedDiscoveryTimeout",
)
