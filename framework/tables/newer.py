"""The releases 1.27 to 1.36: 1.27 from the last with predicates, and the others by their facts.

Here are the cells besides those that a fact tells (``facts/newer.py``): which plugins, arguments and gates there are, and what is around
a decision: the queue and its events, the clients of the API server.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from ...algorithmprovider import cells
from ...algorithmprovider.releases import RELEASES
from ...api.meaning.labels import TOPOLOGY_ZONE
from ...core.pods import requests, resized
from ...core.release import ConfigurationCells, ExtenderCells, Release
from ...core.release.fact import Cells, also, changed_by
from ...core.volumes import intree
from ..config.gatetable import gates_of, needs_of, settled_by
from ..facts.groups import CLOUD_DISKS
from ..facts.newer import NEWER_FACTS
from . import versions

_LAST = next(reversed(RELEASES.values()))
_DEFAULTS = {
    "PrioritySort": 0, "NodeUnschedulable": 0, "NodeName": 0, "TaintToleration": 3, "NodeAffinity": 2, "NodePorts": 0,
    "NodeResourcesFit": 1, "VolumeRestrictions": 0, "EBSLimits": 0, "GCEPDLimits": 0, "NodeVolumeLimits": 0, "AzureDiskLimits": 0,
    "VolumeBinding": 0, "VolumeZone": 0, "PodTopologySpread": 2, "InterPodAffinity": 2, "DefaultPreemption": 0,
    "NodeResourcesBalancedAllocation": 1, "ImageLocality": 1, "DefaultBinder": 0,
}  # fmt: skip
_BY_POINT = {
    "queueSort": "PrioritySort",
    "preFilter": "NodeResourcesFit NodePorts VolumeRestrictions PodTopologySpread InterPodAffinity VolumeBinding VolumeZone NodeAffinity",
    "filter": "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions EBSLimits GCEPDLimits"
    " NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity",
    "postFilter": "DefaultPreemption",
    "preScore": "InterPodAffinity PodTopologySpread TaintToleration NodeAffinity NodeResourcesFit NodeResourcesBalancedAllocation",
    "score": "NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesFit=1 NodeAffinity=1 PodTopologySpread=2"
    " TaintToleration=1 +VolumeCapacityPriority:VolumeBinding=1",
    "reserve": "VolumeBinding",
    "preBind": "VolumeBinding",
    "bind": "DefaultBinder",
    "preEnqueue": "+PodSchedulingReadiness:SchedulingGates",
}
_OLDER = frozenset(
    {
        "DefaultPodTopologySpread", "NodeLabel", "NodePreferAvoidPods", "NodeResourceLimits", "NodeResourcesLeastAllocated",
        "NodeResourcesMostAllocated", "RequestedToCapacityRatio",
        "RequestedToCapacityRatioPriority", "ResourceLimitsPriority", "ServiceAffinity", "ServiceSpreadingPriority",
    }
)  # fmt: skip
_GROUPS = "pods that are scheduled as a group"
_DEVICES = {"DynamicResourceAllocation": ("DynamicResources", "DefaultPreemption")}

V1_27: Release = replace(
    _LAST,
    version="1.27",
    ordering=(),
    predicates=(),
    default_predicates=(),
    mandatory_predicates=(),
    priorities=(),
    default_priorities=MappingProxyType({}),
    gates=gates_of("1.27"),
    gate_effects=(),
    ignorable_extenders_last=True,
    policy_form="strict",
    extenders=ExtenderCells(
        adds_nodes=False,
        unknown_node='extender "{url}" claims a filtered node "{node}" which is not found in the input node list',
        unknown_candidate='nodeinfo not found for node name "{node}"',
        keeps_violations=True,
        failure="failed {verb} with extender at URL {url}, code {code}",
        reads_unresolvable=True,
    ),
    incoming=requests.exact_sums,
    footprint=requests.exact_sums,
    incoming_nonzero=requests.exact_sums_with_defaults,
    footprint_nonzero=requests.nonzero_with_any_overhead,
    resized=resized.by_allocated,
    zone_key=cells.zone_key,
    snapshot_keeps_nodeless=False,
    transient_reset_all=False,
    snapshot_drops_nodeless=True,
    cache_replaces_confirmed=True,
    selects_namespaces=True,
    nodes_to_find=cells.adaptive_share,
    pick_host=cells.first_best,
    binding_failed_reason="SchedulerError",
    volumes=replace(
        _LAST.volumes,
        unbound_claim_text="PersistentVolume had no name",
        binding_gate=False,
        checks_phase=True,
        volume_mode="always",
        matches_by_beta_class=True,
        groups_by_beta_class=True,
        ephemeral_claims=True,
        missing_claim_errs=True,
        limits_gate="",
        instance_type_labels=(*_LAST.volumes.instance_type_labels, "node.kubernetes.io/instance-type"),
        zone_labels=(*_LAST.volumes.zone_labels, TOPOLOGY_ZONE),
        migration_gate="",
        always_migrated=frozenset({intree.AWS_EBS, intree.AZURE_DISK, intree.CINDER}),
        migratable=intree.MIGRATABLE | {intree.PORTWORX, intree.RBD, "kubernetes.io/vsphere-volume"},
        inline_migrates=True,
        translates_bound_volumes=True,
        missing_volume_is_reason=True,
        checks_storage_capacity=True,
    ),
    queue=replace(
        _LAST.queue,
        backoff_forget_after=None,
        update_ends_backoff=False,
        parked_at_most=300.0,
        finalizers_count=False,
        refusals=(
            "Pod {} is already present in unschedulable queue",
            "Pod {} is already present in the active queue",
            "Pod {} is already present in the backoff queue",
        ),
    ),
    preemption=replace(_LAST.preemption, extender_names_victims=True),
    nominations=replace(_LAST.nominations, empty_name_counts=True, asks_lister=True),
    client=cells.CLIENT_WITH_GROWING_PAUSES,
    live=replace(
        _LAST.live,
        preempted_text="Preempted by a pod on node {node}",
        assumed_pods_expire=None,
        wrong_node_text='provisioning failed for PVC "{claim}"',
    ),
    configuration=versions.with_versions(
        ConfigurationCells(
            default_plugins=MappingProxyType(_DEFAULTS),
            point_plugins=MappingProxyType(_BY_POINT),
            gated_plugins=MappingProxyType({"PodSchedulingReadiness": ("SchedulingGates", ""), **_DEVICES}),
            gone_plugins=_OLDER | {"NodeDeclaredFeatures"},
            not_modelled=MappingProxyType({"DynamicResourceAllocation": "the allocation of claims by controllers"}),
            fields_lacked=versions.NEWEST | {"delayCacheUntilActive"},
            args_lacked=frozenset({"DynamicResources"}),
        )
    ),
)


def with_cells(release: Release, version: str, *values: Cells) -> Release:
    """*release* with other *values* of cells, as *version*, from which its gates follow."""
    found = changed_by(release, values)
    configuration = versions.with_versions(replace(found.configuration, settled_gates=settled_by(version)))
    return replace(found, version=version, gates=gates_of(version), configuration=configuration)


def _after(release: Release, version: str, more: Cells) -> Release:
    """The release after *release*: with what its facts say, and with *more* cells."""
    return with_cells(release, version, *(fact.now for fact in NEWER_FACTS if fact.release == version), more)



V1_28 = _after(V1_27, "1.28", {
    "configuration.fields_lacked": versions.NEWEST,
    "queueing.default_kinds": also("CSIDriver", "CSIStorageCapacity"),
    "queueing.skips_gated": True,
    "queueing.names_refusing_plugin": True,
    "queueing.without_hints": (
        *("NodePorts", "NodeResourcesFit", "NodeAffinity", "NodeUnschedulable", "PodTopologySpread", "InterPodAffinity"),
        *("TaintToleration", "NodeVolumeLimits", "VolumeBinding", "VolumeRestrictions", "VolumeZone"),
    ),
})  # fmt: skip
V1_29 = _after(V1_28, "1.29", {
    "queueing.errors_back_off": True,
    "queueing.only_rejecting_plugins": True,
    "queueing.without_hints": also(but=("NodePorts",)),
})  # fmt: skip
V1_30 = _after(V1_29, "1.30", {
    "configuration.default_plugins": {"SchedulingGates": 0, **_DEFAULTS},
    "configuration.gated_plugins": _DEVICES,
    "queueing.default_kinds": also("ResourceClaim"),
    "queueing.each_node_change": True,
    "queueing.drops_unwanted": True,
    "queueing.taints_wake": True,
    "queueing.limits_wait_for": ("new claims",),
    "queueing.without_hints": also(but=("NodeResourcesFit", "NodeAffinity", "NodeUnschedulable", "PodTopologySpread")),
})  # fmt: skip
V1_31 = _after(V1_30, "1.31", {
    **{f"configuration.default_plugins.{name}": None for name in CLOUD_DISKS},
    "queueing.default_kinds": also("DeviceClass"),
    "queueing.pod_changes": ("labels", "smaller requests"),
    "queueing.narrow_claim_events": True,
    "queueing.spread_is_woken": True,
    "queueing.hints_for_pods": True,
    "queueing.keeps_nominations": True,
    "queueing.without_hints": (),
})  # fmt: skip
V1_32 = _after(V1_31, "1.32", {
    "client": cells.CLIENT_WITH_ATTACHMENTS,
    "queueing.node_delete": True,
    "queueing.pod_changes": also("scheduling gates", "tolerations", "claims"),
    "queueing.full_labels": True,
    "queueing.narrow_events": True,
    "queueing.limits_wait_for": also("VolumeAttachments that go"),
    "queueing.comparing_hints": ("NodeAffinity", "NodeResourcesFit", "NodeUnschedulable", "PodTopologySpread"),
    "queueing.hints_replace_checks": True,
    "queueing.gated_back_off": True,
    "queueing.activates_tried_pods": True,
})  # fmt: skip
V1_33 = _after(V1_32, "1.33", {
    "configuration.not_modelled": {
        "DRADeviceTaints": "taints of devices", "DRAPartitionableDevices": "devices that share counters",
    },
    "queueing.nomination_ends": True,
    "queueing.limits_wait_for": also("changed CSINodes"),
    "queueing.comparing_hints": also("InterPodAffinity"),
    "queueing.backs_off_to_the_end": True,
})  # fmt: skip
V1_34 = _after(V1_33, "1.34", {
    "client.device_api": "resource.k8s.io/v1",
    "configuration.not_modelled.DRAConsumableCapacity": "devices that several claims share",
    "configuration.not_modelled.DRADeviceBindingConditions": "conditions of devices before a binding",
    "configuration.not_modelled.DRAExtendedResource": "extended resources that devices provide",
    "queueing.amounts_wake_claims": True,
    "queueing.holder_decides": True,
    "queueing.counts_rejections": True,
})  # fmt: skip
V1_35 = _after(V1_34, "1.35", {
    "client.names_device_requests": True,
    "configuration.gated_plugins.DynamicResourceAllocation": ("DynamicResources=2", "DefaultPreemption"),
    "configuration.gate_needs": needs_of("1.35"),
    "configuration.not_modelled": dict.fromkeys(("GangScheduling", "GenericWorkload"), _GROUPS),
    "queueing.declared_features_wake": True,
    "queueing.gates_asked_once": True,
    "queueing.drops_recreated": True,
})  # fmt: skip
V1_36 = _after(V1_35, "1.36", {
    "configuration.gate_needs": needs_of("1.36"),
    "configuration.not_modelled": {
        "DRADeviceTaintRules": "rules that taint devices",
        "DRAListTypeAttributes": "lists in attributes of devices",
        "DRANodeAllocatableResources": "devices that use resources of their node",
        "DRAWorkloadResourceClaims": "claims of groups of pods",
        **dict.fromkeys(("TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption", "GangScheduling", "GenericWorkload"), _GROUPS),
    },
    "queueing.wider_pod_hints": True,
})  # fmt: skip

NEWER: Mapping[str, Release] = MappingProxyType(
    {
        "1.27.14": V1_27, "1.28.14": V1_28, "1.29.9": V1_29, "1.30.14": V1_30, "1.31.13": V1_31, "1.32.2": V1_32, "1.33.0": V1_33,
        "1.34.1": V1_34, "1.35.6": V1_35, "1.36.3": V1_36,
    }
)  # fmt: skip
"""Patch level -> the release that is like it."""
