"""The releases 1.27 to 1.34: in which cells each differs from the one before, and 1.27 from the last with predicates."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from ...algorithmprovider import cells
from ...algorithmprovider.releases import RELEASES
from ...core.pods import podsums, requests, resized
from ...core.release import ConfigurationCells, ExtenderCells, Release
from ...core.volumes import intree
from ..config.gatetable import gates_of, settled_by
from ..queue.releasetable import QUEUEING
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
_DISK_LIMITS = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
_DEVICES = {"DynamicResourceAllocation": ("DynamicResources", "DefaultPreemption")}
_CLASSIC_DEVICES = {"DynamicResourceAllocation": "the allocation of claims by controllers"}
_DEVICE_TAINTS = {"DRADeviceTaints": "taints of devices", "DRAPartitionableDevices": "devices that share counters"}

V1_27: Release = attrs.evolve(
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
    extenders=ExtenderCells(
        adds_nodes=False,
        unknown_node='extender "{url}" claims a filtered node "{node}" which is not found in the input node list',
        unknown_candidate='nodeinfo not found for node name "{node}"',
        keeps_violations=True,
        failure="failed {verb} with extender at URL {url}, code {code}",
        package="v1",
        integer="int64",
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
    volumes=attrs.evolve(
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
        zone_labels=(*_LAST.volumes.zone_labels, cells.TOPOLOGY_ZONE),
        migration_gate="",
        always_migrated=frozenset({intree.AWS_EBS, intree.AZURE_DISK, intree.CINDER}),
        migratable=intree.MIGRATABLE | {intree.PORTWORX, intree.RBD, "kubernetes.io/vsphere-volume"},
        inline_migrates=True,
        translates_bound_volumes=True,
        missing_volume_is_reason=True,
        checks_storage_capacity=True,
    ),
    queue=attrs.evolve(
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
    preemption=attrs.evolve(_LAST.preemption, extender_names_victims=True),
    nominations=attrs.evolve(_LAST.nominations, empty_name_counts=True, asks_lister=True),
    client=cells.CLIENT_WITH_GROWING_PAUSES,
    live=attrs.evolve(
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
            gone_plugins=_OLDER,
            not_modelled=MappingProxyType(_CLASSIC_DEVICES),
            fields_lacked=versions.NEWEST | {"delayCacheUntilActive"},
            args_lacked=frozenset({"DynamicResources"}),
        ),
        *("v1beta2", "v1beta3"),
    ),
)

V1_28 = attrs.evolve(
    V1_27,
    version="1.28",
    gates=gates_of("1.28"),
    queueing=QUEUEING["1.28"],
    configuration=versions.with_versions(
        attrs.evolve(
            V1_27.configuration, settled_gates=settled_by("1.28"), api_versions=("v1beta3", "v1"), fields_lacked=versions.NEWEST
        ),
        "v1beta3",
    ),
    incoming=podsums.with_sidecars,
    footprint=podsums.with_sidecars,
    incoming_nonzero=podsums.with_sidecars_and_defaults,
    footprint_nonzero=podsums.nonzero_of_uses,
    framework=attrs.evolve(
        V1_27.framework,
        outside_text=None,
        counts_outside=False,
        tries_without_status=False,
        index_of_all_nodes=True,
        fit_errors_after=frozenset({"Reserve", "Permit"}),
        faults_list_operators=True,
        skips_scoring=frozenset({"InterPodAffinity", "PodTopologySpread"}),
        points_lacked=frozenset({("VolumeBinding", "preScore")}),
        idle_restrictions_skip=True,
        rejects_sidecars="Filter",
        fit_checks_requested=True,
    ),
    volumes=attrs.evolve(
        V1_27.volumes,
        always_migrated=V1_27.volumes.always_migrated | {intree.GCE_PD},
    ),
)

V1_29 = attrs.evolve(
    V1_28,
    version="1.29",
    gates=gates_of("1.29"),
    queueing=QUEUEING["1.29"],
    configuration=attrs.evolve(
        V1_28.configuration,
        settled_gates=settled_by("1.29"),
        api_versions=("v1",),
        versions=MappingProxyType({}),
        gone_plugins=_OLDER | {"SelectorSpread"},
        refused_plugins=frozenset(),
    ),
    framework=attrs.evolve(
        V1_28.framework,
        post_filter_full_stop=False,
        fit_errors_after=frozenset({"Reserve", "Permit", "Wait"}),
        zone_labels_match=True,
        counts_images_late=True,
    ),
)

V1_30 = attrs.evolve(
    V1_29,
    version="1.30",
    gates=gates_of("1.30"),
    queueing=QUEUEING["1.30"],
    configuration=attrs.evolve(
        V1_29.configuration,
        settled_gates=settled_by("1.30"),
        default_plugins=MappingProxyType({"SchedulingGates": 0, **_DEFAULTS}),
        gated_plugins=MappingProxyType(_DEVICES),
        queue_sort_text="queueSort must be the same for all profiles",
        queue_sort_args_text="queueSort must be the same for all profiles",
    ),
    framework=attrs.evolve(
        V1_29.framework,
        rejection_ends_pre_filter=False,
        disjoint_is_unresolvable=True,
        one_is_enough=True,
        skips_scoring=V1_29.framework.skips_scoring | {"NodeAffinity", "VolumeBinding"},
        points_lacked=frozenset(),
        init_images_count=True,
        constraints_text="get constraints from pod: ",
        sorts_victims_again=True,
        narrows_to_local_volumes=False,
        rejects_sidecars="PreFilter",
    ),
    volumes=attrs.evolve(
        V1_29.volumes,
        missing_claim_is_reason=True,
    ),
)

V1_31 = attrs.evolve(
    V1_30,
    version="1.31",
    gates=gates_of("1.31"),
    queueing=QUEUEING["1.31"],
    configuration=attrs.evolve(
        V1_30.configuration,
        settled_gates=settled_by("1.31"),
        default_plugins=MappingProxyType(
            {name: weight for name, weight in V1_30.configuration.default_plugins.items() if name not in _DISK_LIMITS}
        ),
        refused_plugins=_DISK_LIMITS,
        shares_waiting_pods=True,
    ),
    framework=attrs.evolve(
        V1_30.framework,
        narrowing_rejects=True,
        disjoint_sorts_plugins=True,
        waits_for_preempted_alone=True,
    ),
    volumes=attrs.evolve(
        V1_30.volumes,
        migratable=V1_30.volumes.migratable - {intree.RBD},
        attributes_class_gate="VolumeAttributesClass",
    ),
)

V1_32 = attrs.evolve(
    V1_31,
    version="1.32",
    gates=gates_of("1.32"),
    queueing=QUEUEING["1.32"],
    client=cells.CLIENT_WITH_ATTACHMENTS,
    configuration=attrs.evolve(
        V1_31.configuration,
        settled_gates=settled_by("1.32"),
        gone_plugins=V1_31.configuration.gone_plugins | _DISK_LIMITS,
        gated_plugins=MappingProxyType(_DEVICES),
        not_modelled=MappingProxyType({}),
    ),
    incoming=podsums.of_pod,
    footprint=podsums.of_pod,
    incoming_nonzero=podsums.of_pod_with_defaults,
    footprint_nonzero=podsums.nonzero_of_pod,
    resized=resized.by_reported,
    framework=attrs.evolve(
        V1_31.framework,
        outside_text="node(s) didn't satisfy plugin(s) [{plugins}]",
        extender_replaces_reasons=True,
    ),
    volumes=attrs.evolve(
        V1_31.volumes,
        node_limits=False,
        counts_attachments=True,
    ),
)

V1_33 = attrs.evolve(
    V1_32,
    version="1.33",
    gates=gates_of("1.33"),
    queueing=QUEUEING["1.33"],
    configuration=attrs.evolve(
        V1_32.configuration,
        settled_gates=settled_by("1.33"),
        not_modelled=MappingProxyType(_DEVICE_TAINTS),
        capacity_gate="StorageCapacityScoring",
        capacity_shape=((0, 10), (100, 0)),
    ),
    incoming=podsums.of_pod_with_huge_pages,
    footprint=podsums.of_pod_with_huge_pages,
    incoming_nonzero=podsums.with_sidecars_and_defaults,
    footprint_nonzero=podsums.nonzero_of_pod_with_huge_pages,
    resized=resized.by_reported_and_allocated,
    framework=attrs.evolve(
        V1_32.framework,
        volume_node_text="node(s) didn't match PersistentVolume's node affinity",
        fit_scores_containers=True,
        counts_apart=True,
        skips_scoring=V1_32.framework.skips_scoring | {"NodeResourcesBalancedAllocation"},
    ),
    devices=attrs.evolve(
        V1_32.devices,
        alternatives=True,
        all_wants_one=True,
        all_stops=False,
        room="again",
        invalid_pool_errs=True,
        leaves_counter_slices=True,
        leaves_per_device_selection=True,
        speaks_without_claims=False,
    ),
)

V1_34 = attrs.evolve(
    V1_33,
    version="1.34",
    gates=gates_of("1.34"),
    queueing=QUEUEING["1.34"],
    client=attrs.evolve(V1_33.client, device_api="resource.k8s.io/v1"),
    configuration=attrs.evolve(
        V1_33.configuration,
        settled_gates=settled_by("1.34"),
        not_modelled=MappingProxyType(
            {
                **_DEVICE_TAINTS,
                "DRAConsumableCapacity": "devices that several claims share",
                "DRADeviceBindingConditions": "conditions of devices before a binding",
                "DRAExtendedResource": "extended resources that devices provide",
                "NominatedNodeNameForExpectation": "the nomination of a node before a binding",
            }
        ),
        args_lacked=frozenset(),
        queue_sort_text="must be the same for all profiles",
        shape_text="values must be sorted in increasing order",
    ),
    framework=attrs.evolve(
        V1_33.framework,
        leaving_victims_keep_nominations=True,
        sole_user_text="node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
        faults_as_json=True,
        sidecars_have_ports=True,
        too_small_is_unresolvable=True,
        keeps_namespace_selectors=True,
    ),
    devices=attrs.evolve(
        V1_33.devices,
        admin_takes_once=True,
        all_gives_back=True,
        room="left",
        distinct_attribute=True,
        leaves_counter_slices=False,
        leaves_counted_devices=True,
        leaves_binding_conditions=True,
        speaks_without_claims=True,
    ),
)

NEWER: Mapping[str, Release] = MappingProxyType(
    {
        "1.27.14": V1_27, "1.28.14": V1_28, "1.29.9": V1_29, "1.30.14": V1_30, "1.31.13": V1_31, "1.32.2": V1_32, "1.33.0": V1_33,
        "1.34.1": V1_34,
    }
)  # fmt: skip
"""Patch level -> the release that is like it."""
