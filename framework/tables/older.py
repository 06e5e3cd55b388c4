"""The releases 1.21 down to 1.17: in which cells each differs from the one after it.

Patch levels: 1.17 as cluster-autoscaler 1.17 has it, 1.18.2 with the requests of later patch levels, 1.19.0-rc.4, 1.20.15, 1.21.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from ...core.pods import requests
from ...core.release import Release
from ...core.volumes import intree
from ..config.gatetable import gates_of, settled_by
from ..config.versioncells import cells_in
from . import around, middle, policies, versions
from .middle import PRIORITIES, TO_COME, points

_IN_V1BETA1 = cells_in(middle.V1_22.configuration, "v1beta1").args_lacked
_OF_V1BETA1 = frozenset(
    {"NodeResourcesFit.ignoredResourceGroups", "NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "VolumeBinding"}
)
"""The arguments that came with v1beta1."""
_GONE_UP_TO_1_18 = PRIORITIES | TO_COME | {"SelectorSpread"}

V1_21 = attrs.evolve(
    middle.V1_22,
    version="1.21",
    **around.of("1.21"),
    gates=gates_of("1.21"),
    incoming=requests.gated_sums,
    footprint=requests.gated_sums,
    framework=attrs.evolve(
        middle.V1_22.framework,
        fit_scores_overhead=True,
        balance_of_two=True,
        pod_affinity_text="node(s) didn't match pod affinity/anti-affinity rules",
        lacking_resources_score=True,
        ratio_rounds_up=True,
        clears_itself=True,
        needs_victims=False,
        points_lacked=middle.V1_22.framework.points_lacked | {("VolumeRestrictions", "preFilter")},
        owners_by_selector=True,
    ),
    configuration=attrs.evolve(
        middle.V1_22.configuration,
        settled_gates=settled_by("1.21"),
        constraints_are_the_list=True,
        default_version="v1beta1",
        api_versions=("v1beta1",),
        versions=MappingProxyType({}),
        replaces_defaults=False,
        args_lacked=_IN_V1BETA1 | {"NodeResourcesBalancedAllocation", "NodeResourcesFit.scoringStrategy", "VolumeBinding.shape"},
        args_with_configuration=False,
        fills_ratio_weights=False,
        point_plugins=points(
            middle.V1_22,
            preFilter="NodeResourcesFit NodePorts PodTopologySpread InterPodAffinity VolumeBinding NodeAffinity",
            score=middle.OLD_SCORES,
        ),
        refusal_text="",
        refused_plugins=frozenset(),
        compares_sorters="as given",
    ),
    policies=policies.V1_21,
)

V1_20 = attrs.evolve(
    V1_21,
    version="1.20",
    **around.of("1.20"),
    gates=gates_of("1.20"),
    selects_namespaces=False,
    framework=attrs.evolve(
        V1_21.framework,
        node_name_text="node(s) didn't match the requested hostname",
        fit_sums_wrap=True,
        liking_includes_zero=True,
        node_affinity_text="node(s) didn't match Pod's node affinity",
        pod_affinity_text="node(s) didn't match pod affinity/anti-affinity",
        points_lacked=V1_21.framework.points_lacked | {("VolumeBinding", "score")},
        ephemeral_off_text="",
        plain_selector_faults=True,
        filter_error='running "{plugin}" filter plugin for pod "{pod}": {text}',
    ),
    configuration=attrs.evolve(
        V1_21.configuration,
        settled_gates=settled_by("1.20"),
        compares_sorters="as given, or not",
        plain_arg_faults=True,
        point_plugins=points(
            V1_21,
            preFilter="NodeResourcesFit NodePorts PodTopologySpread InterPodAffinity VolumeBinding",
            preScore="InterPodAffinity PodTopologySpread TaintToleration -DefaultPodTopologySpread:SelectorSpread",
        ),
    ),
    volumes=attrs.evolve(V1_21.volumes, zone_labels=(intree.ZONE,), beta_zones_alone=True, reads_maximum_size=False),
    policies=policies.V1_20,
)

V1_19 = attrs.evolve(
    V1_20,
    version="1.19",
    **around.of("1.19"),
    forgets_pods_with_node=True,
    gates=gates_of("1.19"),
    configuration=attrs.evolve(
        V1_20.configuration,
        settled_gates=settled_by("1.19"),
        plugin_prefix='error initializing plugin "{name}": ',
        fields_lacked=V1_20.configuration.fields_lacked | {"parallelism"},
        args_lacked=V1_20.configuration.args_lacked | {"DefaultPreemption", "NodeAffinity", "PodTopologySpread.defaultingType"},
        point_plugins=points(
            V1_20,
            filter="NodeUnschedulable NodeResourcesFit NodeName NodePorts NodeAffinity VolumeRestrictions TaintToleration EBSLimits"
            " GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity",
        ),
    ),
    framework=attrs.evolve(
        V1_20.framework,
        samples_candidates=False,
        no_domain_fits=True,
        system_needs_all_keys=True,
        balances_without_volumes=True,
        reads_preferred_fields=False,
        unreadable_terms_are_none=True,
        node_affinity_text="node(s) didn't match node selector",
        soft_constraints_text="error when calculating preScoreState: ",
        zone_faults_are_errors=True,
        zone_missing_class_text='StorageClass "{kind}" claimed by PersistentVolumeClaim "{claim}" not found',
        missing_claims_end_cycle=True,
        overfull_scores_zero=True,
        pre_score_error='error while running "{plugin}" prescore plugin for pod "{pod}": {text}',
        score_error='error while running score plugin for pod "{pod}": {text}',
        normalize_error='error while running normalize score plugin for pod "{pod}": normalize score plugin "{plugin}" failed with'
        " error {text}",
        range_error='error while applying score defaultWeights for pod "{pod}": score ',
        pre_filter_error='prefilter plugin "{plugin}" failed for pod "{pod}": {text}',
    ),
    incoming=requests.half_gated_sums,
    footprint=requests.half_gated_sums,
    volumes=attrs.evolve(V1_20.volumes, missing_volume_is_reason=False, groups_by_beta_class=False),
    policies=policies.V1_19,
)

V1_18 = attrs.evolve(
    V1_19,
    version="1.18",
    **around.of("1.18"),
    gates=gates_of("1.18"),
    configuration=versions.with_versions(
        attrs.evolve(
            V1_19.configuration,
            settled_gates=settled_by("1.18"),
            system_constraints=False,
            default_version="v1alpha2",
            gone_plugins=_GONE_UP_TO_1_18,
            api_versions=("v1alpha1", "v1alpha2"),
            fields_lacked=(V1_19.configuration.fields_lacked - versions.ALPHA - {versions.OLD_HTTPS})
            | {versions.POST_FILTER, versions.NEW_HTTPS},
            args_lacked=V1_19.configuration.args_lacked | _OF_V1BETA1,
            lenient_args=True,
            has_unreserve=True,
            fills_ratio_weights=True,
            point_plugins=points(
                V1_19,
                reserve="",
                preBind="",
                preFilter="NodeResourcesFit NodePorts InterPodAffinity +EvenPodsSpread:PodTopologySpread",
                filter="NodeUnschedulable NodeResourcesFit NodeName NodePorts NodeAffinity VolumeRestrictions TaintToleration EBSLimits"
                " GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone InterPodAffinity"
                " +EvenPodsSpread:PodTopologySpread",
                preScore="InterPodAffinity DefaultPodTopologySpread TaintToleration +EvenPodsSpread:PodTopologySpread"
                " +ResourceLimitsPriorityFunction:NodeResourceLimits",
                score="NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesLeastAllocated=1 NodeAffinity=1"
                " NodePreferAvoidPods=10000 DefaultPodTopologySpread=1 TaintToleration=1 +EvenPodsSpread:PodTopologySpread=1"
                " +ResourceLimitsPriorityFunction:NodeResourceLimits=1",
            ),
        ),
        "v1alpha1",
    ),
    framework=attrs.evolve(
        V1_19.framework,
        literal_pairs=False,
        image_bound_of_one=True,
        counts_without_labels=True,
        points_lacked=V1_19.framework.points_lacked | {("VolumeBinding", point) for point in ("preFilter", "reserve", "preBind")},
        assumes_volumes_first=True,
        newer_zone_labels=False,
        tries_idle_nodes=True,
        unresolvable_ends_wait=False,
        checks_pairs=True,
        spreads_by_share=True,
        counts_whole_domains=False,
        missing_key_is_uneven=True,
        edits_make_domains=True,
        existing_pods_refuse_first=True,
        first_pod_needs_keys=False,
        nominated_pods_lack_company=True,
        trial_terms_change_namespace=True,
        pre_filter_error='error while running "{plugin}" prefilter plugin for pod "{pod}": {text}',
        pre_filter_rejection_errs=True,
        pre_scores_one_node=True,
        never_needs_gate=True,
        reads_order_by_cursor="after changes",
        budgets="counted to the first",
    ),
    volumes=attrs.evolve(
        V1_19.volumes,
        ephemeral_claims=False,
        checks_storage_capacity=False,
        migratable=V1_19.volumes.migratable - {"kubernetes.io/vsphere-volume"},
    ),
    policies=policies.V1_18,
)

V1_17 = attrs.evolve(
    V1_18,
    version="1.17",
    **around.of("1.17"),
    gates=gates_of("1.17"),
    configuration=attrs.evolve(
        cells_in(V1_18.configuration, "v1alpha1"),
        settled_gates=settled_by("1.17"),
        versions=MappingProxyType({}),
        args_lacked=V1_18.configuration.args_lacked | {"InterPodAffinity", "NodeResourcesFit", "PodTopologySpread"},
        profile_prefix="error initializing the scheduling framework: ",
        adds_up_weights=False,
        adds_plugins_alone=True,
        first_args=True,
        sorters_first=False,
        sorters_text="only one queue sort plugin can be enabled",
        default_version="v1alpha1",
        api_versions=("v1alpha1",),
        gone_plugins=TO_COME | {"NodeResourceLimits", "SelectorSpread"},
        point_plugins=points(
            V1_18,
            filter="NodeUnschedulable NodeResourcesFit NodeName NodePorts NodeAffinity VolumeRestrictions TaintToleration EBSLimits"
            " GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone +EvenPodsSpread:PodTopologySpread InterPodAffinity",
            preScore="InterPodAffinity DefaultPodTopologySpread TaintToleration +EvenPodsSpread:PodTopologySpread",
            score="NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 NodeResourcesLeastAllocated=1 NodeAffinity=1"
            " NodePreferAvoidPods=10000 DefaultPodTopologySpread=1 TaintToleration=1 +EvenPodsSpread:PodTopologySpread=1"
            " +ResourceLimitsPriorityFunction:ResourceLimitsPriority=1",
        ),
    ),
    framework=attrs.evolve(
        V1_18.framework,
        peer_node_text='node "{node}" not found',
        first_peer_by_list=False,
        spreads_constrained_pods=True,
        zone_without_class_text='PersistentVolumeClaim was not found: "{claim}"',
        zone_missing_class_text='PersistentVolumeClaim was not found: "{claim}"',
        affinity_sums_in_32_bits=True,
        trial_terms_change_namespace=False,
        any_term_counts=True,
        one_reason=True,
        too_many_pods_text="Insufficient pods",
        taint_text="node(s) had taints that the pod didn't tolerate",
        gates_node_storage=False,
        terminating_peers_count=True,
        soft_peers_anywhere=True,
        filter_error='error while running "{plugin}" filter plugin for pod "{pod}": {text}',
        pre_score_error='error while running "{plugin}" postfilter plugin for pod "{pod}": {text}',
        reads_order_by_cursor="always",
        budgets="used up",
    ),
    volumes=attrs.evolve(V1_18.volumes, unbound_claim_text="PersistentVolumeClaim was not found: {}"),
    policies=policies.V1_17,
    incoming=requests.with_overhead,
    footprint=requests.with_overhead,
    forgets_pods_with_node=False,
)

OLDER: Mapping[str, Release] = MappingProxyType(
    {
        "1.17 of cluster-autoscaler": V1_17, "1.18.2, requests of later patches": V1_18, "1.19.0-rc.4": V1_19, "1.20.15": V1_20,
        "1.21.9": V1_21,
    }
)  # fmt: skip
"""Patch level -> the release that is like it."""
OTHER_PATCHES: Mapping[str, str] = MappingProxyType(
    {
        "1.19": "1.19.8 and later let pods preempt others under a Policy, too",
        "1.20": "1.20.0 to 1.20.2 let no pod preempt others under a Policy",
    }
)
"""Release -> what other patch levels of it are known to decide otherwise."""
